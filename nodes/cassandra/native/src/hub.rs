//! The filters of one Cassandra node: a node of the exchange for each mode, and what goes between them and Java.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;
use std::time::Duration;

use lacuna_node_filters::{
    Barrier, Buckets, Config, KeyId, Mode, NewsFlag, Node, NodeFilter, NodeId, Saved, SavedFilter, TableId,
    Undone, WaterMark,
};

use crate::{clock, question};

/// What both sides must agree on: raised with every change of a function or of its meaning.
pub const VERSION: i64 = 8;

/// The answer of a call that met a panic, or a mode whose earlier call did.
pub const FAILED: i64 = i64::MIN;

/// Shadow, eventual, safe: a mode's number is its place.
const MODES: [Mode; 3] = [Mode::Shadow, Mode::Eventual, Mode::Safe];
const SHADOW: i64 = 0;
const SAFE: i64 = 2;

/// Levels of buckets above the finest, and how much wider each is, as a power of two: slices of up to four million finest
/// buckets are cut into at most 64.
const LEVELS: u32 = 5;
const STEP_LOG2: u32 = 4;

/// Deltas kept for peers that missed some: those of many new keys while a large filter is fetched.
const LOG_BYTES: usize = 16 << 20;

/// Of the numbers about a filter: how many slots are open for streams of new keys.
const OPEN_SLOTS: i64 = 7;

/// Looks, a millisecond apart, for a filter that another thread writes to bytes: if that thread has panicked, there is none.
const MAX_LOOKS: u32 = 60_000;

/// A frame for another node: the mode's number, the node, the bytes.
pub type Outgoing = (u8, NodeId, Vec<u8>);

/// A node that many calls may look at, or one may change. One that looks begins after all changes that have ended before it, and no change
/// ends during it: so a decision is made by all deltas that this node has confirmed until then.
#[derive(Debug)]
struct Shared {
    node: RwLock<Node>,
    /// A lock notices a panic of the call that has it alone.
    is_shut: AtomicBool,
}

impl Shared {
    fn new(node: Node) -> Self {
        Self { node: RwLock::new(node), is_shut: AtomicBool::new(false) }
    }

    fn read(&self) -> Option<RwLockReadGuard<'_, Node>> {
        if self.is_shut.load(Ordering::Acquire) { None } else { self.node.read().ok() }
    }

    fn write(&self) -> Option<RwLockWriteGuard<'_, Node>> {
        if self.is_shut.load(Ordering::Acquire) { None } else { self.node.write().ok() }
    }

    fn shut(&self) {
        self.is_shut.store(true, Ordering::Release);
    }
}

/// All that the library keeps for one Cassandra node.
#[derive(Debug)]
pub struct Hub {
    nodes: [Shared; 3],
    outgoing: Mutex<VecDeque<Outgoing>>,
    /// Of mode safe.
    news: NewsFlag,
}

impl Hub {
    /// A node that starts now (milliseconds of [`clock`](crate::clock)), with an incarnation that no earlier life had; the
    /// times between exchanges and of leases are milliseconds too. A lease is at most [`Config::max_lease`] long. Copies of
    /// others' filters take at most `copy_bytes` in each mode.
    pub fn new(id: NodeId, incarnation: u64, [now, interval, lease]: [u64; 3], copy_bytes: usize) -> Self {
        let config = |mode| Config {
            interval,
            lease,
            max_copy_bytes: copy_bytes,
            log_bytes: LOG_BYTES,
            ..Config::new(mode)
        };
        Self {
            nodes: MODES.map(|mode| Shared::new(Node::new(id, config(mode), incarnation, now))),
            outgoing: Mutex::default(),
            news: NewsFlag::default(),
        }
    }

    /// Runs `work` on the node of a mode, alone; [`FAILED`] if it panics, and ever after: a mode that saw a panic stays shut.
    pub fn with(&self, mode: i64, work: impl FnOnce(&mut Node) -> i64) -> i64 {
        self.caught(mode, |shared| {
            let Some(mut node) = shared.write() else { return FAILED };
            let answer = work(&mut node);
            if mode == SAFE {
                self.news.raise_if_news(&node);
            }
            answer
        })
    }

    /// As [`with`](Self::with) for what only looks: any number of such calls run at a time.
    pub fn read(&self, mode: i64, work: impl FnOnce(&Node) -> i64) -> i64 {
        self.caught(mode, |shared| shared.read().map_or(FAILED, |node| work(&node)))
    }

    fn caught(&self, mode: i64, work: impl FnOnce(&Shared) -> i64) -> i64 {
        let place = usize::try_from(mode).ok();
        let Some(shared) = place.and_then(|place| self.nodes.get(place)) else { return FAILED };
        catch_unwind(AssertUnwindSafe(|| work(shared))).unwrap_or_else(|_| {
            // What it has done before is not known.
            shared.shut();
            self.news.raise();
            FAILED
        })
    }

    /// As [`with`](Self::with), for calls after which all may know what was new.
    fn with_at(&self, mode: i64, now: u64, work: impl FnOnce(&mut Node) -> i64) -> i64 {
        self.with(mode, |node| {
            let answer = work(node);
            if mode == SAFE {
                self.news.lower_if_known(node, now);
            }
            answer
        })
    }

    /// Whether an answer in mode safe has to ask; the word that says so has an address of its own.
    pub fn news(&self) -> &NewsFlag {
        &self.news
    }

    /// Runs `work` on the nodes of all modes.
    pub fn with_all(&self, mut work: impl FnMut(&mut Node)) -> i64 {
        let each = |mode| {
            self.with(mode, |node| {
                work(node);
                0
            })
        };
        (0..=SAFE).map(each).min().unwrap_or(FAILED)
    }

    /// Lets the nodes of all modes do what is due.
    pub fn tick(&self, now: u64) -> i64 {
        let each = |mode| {
            self.with_at(mode, now, |node| {
                node.tick(now);
                0
            })
        };
        let ticked = (0..=SAFE).map(each).min().unwrap_or(FAILED);
        (0..=SAFE).for_each(|mode| self.do_undone(mode, now));
        ticked
    }

    /// A write of a partition, or of its row at `place`, seen by the filter before its acknowledgement: 1 if a node that relies
    /// on this one does not know it yet; in mode shadow, if one would rely on this one and does not.
    pub fn write(&self, mode: i64, table: TableId, key: KeyId, place: Option<u64>, now: u64) -> i64 {
        self.note(mode, now, |node| node.write(table, key, place))
    }

    /// The same for a row's deletion alone.
    pub fn write_deletion(&self, mode: i64, table: TableId, key: KeyId, place: u64, now: u64) -> i64 {
        self.note(mode, now, |node| node.write_deletion(table, key, place))
    }

    fn note(&self, mode: i64, now: u64, write: impl FnOnce(&mut Node) -> Barrier) -> i64 {
        self.with(mode, |node| {
            let barrier = write(node);
            let is_news = if mode == SHADOW {
                node.would_wait(now, barrier)
            } else {
                !node.may_acknowledge(now, barrier)
            };
            i64::from(is_news)
        })
    }

    /// 1 if a read may show what it has found of a partition; 0 if a node that relies on this one does not know the partition yet.
    pub fn may_reveal(&self, mode: i64, table: TableId, key: KeyId, now: u64) -> i64 {
        self.read(mode, |node| i64::from(node.may_reveal(now, table, key)))
    }

    /// As [`NodeFilter::new`]'s parameters, with rows in buckets of `2^finest` places if `finest` is given, in at most
    /// `max_bytes`; what a table held before is forgotten.
    pub fn create(
        &self,
        mode: i64,
        table: TableId,
        capacity: u64,
        rate: f64,
        finest: Option<u32>,
        max_bytes: usize,
    ) -> i64 {
        self.with(mode, |node| {
            let buckets = finest.map(|finest| Buckets::new(finest, STEP_LOG2, LEVELS)).transpose();
            let Ok(buckets) = buckets else { return FAILED };
            node.create_table_within(table, capacity, rate, buckets, max_bytes);
            0
        })
    }

    /// A ready filter of a table as bytes, for a file; `None` if there is none.
    pub fn saved(&self, mode: i64, table: TableId) -> Option<Vec<u8>> {
        if self.with(mode, |node| i64::from(node.begin_saving(table))) != 1 {
            return None;
        }
        let now = clock::now().unwrap_or(0);
        for _ in 0..MAX_LOOKS {
            self.do_undone(mode, now);
            let mut saved = Saved::Never;
            self.with(mode, |node| {
                saved = node.take_saved(table);
                0
            });
            match saved {
                Saved::Bytes(bytes) => return Some(bytes),
                Saved::Never => return None,
                // Another thread has it.
                Saved::NotYet => thread::sleep(Duration::from_millis(1)),
            }
        }
        None
    }

    /// Does what messages and files have left, the long parts without the lock.
    fn do_undone(&self, mode: i64, now: u64) {
        loop {
            let mut undone = Undone::Nothing;
            self.with(mode, |node| {
                undone = node.undone();
                0
            });
            let done = match undone {
                Undone::Nothing => return,
                Undone::Copied | Undone::Free(_) => 0,
                Undone::Encode(whole) => match catch_unwind(AssertUnwindSafe(|| whole.encode())) {
                    Ok(encoded) => self.with(mode, |node| {
                        node.encoded(now, encoded);
                        0
                    }),
                    Err(_) => FAILED,
                },
                Undone::Read(from, bytes) => match catch_unwind(AssertUnwindSafe(|| bytes.read())) {
                    Ok(fetched) => self.with(mode, |node| {
                        node.fetched(now, from, fetched);
                        0
                    }),
                    Err(_) => FAILED,
                },
            };
            if done == FAILED {
                return;
            }
        }
    }

    /// Puts such bytes into a filter that was created just now: 1, or 0 if they are none, or it holds something already.
    pub fn restore(&self, mode: i64, table: TableId, bytes: &[u8], keeps_dead: bool) -> i64 {
        // Without the lock.
        match catch_unwind(|| SavedFilter::read(bytes, keeps_dead)) {
            Ok(Ok(saved)) => self.with(mode, |node| i64::from(node.restore(table, saved))),
            Ok(Err(_)) => 0,
            Err(_) => FAILED,
        }
    }

    /// The ticket of an acknowledgement in safe mode that may be of anything; 0 if it may leave now.
    pub fn hold(&self, now: u64) -> i64 {
        self.read(SAFE, |node| ticket(node, now, node.barrier()))
    }

    /// The ticket of an acknowledgement of a write of one partition, for the news of this partition alone.
    pub fn hold_key(&self, table: TableId, key: KeyId, now: u64) -> i64 {
        self.read(SAFE, |node| ticket(node, now, node.barrier_of(table, key)))
    }

    /// All tickets up to this one may leave; 0 if none may.
    pub fn released(&self, now: u64) -> i64 {
        self.with_at(SAFE, now, |node| node.released(now).map_or(0, ticket_of))
    }

    /// What a coordinator does with a read: 0 answers "empty", every other number is a reason to ask the replicas.
    pub fn decide(&self, mode: i64, now: u64, words: &[u64]) -> i64 {
        self.read(mode, |node| question::to_code(question::decide(node, now, words)))
    }

    /// How far the partition of a question is known to hold no live row, from one end on: the place without its lowest bit, and the
    /// mark's stamp. -1 if nothing is known.
    pub fn water_mark(&self, mode: i64, now: u64, words: &[u64], side: i64) -> (i64, u64) {
        let mut stamp = 0;
        let pair = self.read(mode, |node| {
            let mark = question::water_mark(node, now, words, question::side(side));
            stamp = mark.map_or(0, WaterMark::stamp);
            mark.map_or(-1, |mark| question::to_pair(mark.place()))
        });
        (pair, stamp)
    }

    /// The same for this node's own filter alone.
    pub fn own_water_mark(&self, mode: i64, table: TableId, key: KeyId, side: i64) -> i64 {
        self.read(mode, |node| {
            node.own_water_mark(table, key, question::side(side)).map_or(-1, question::to_pair)
        })
    }

    /// Takes a frame of a peer.
    pub fn receive(&self, mode: i64, now: u64, from: NodeId, frame: &[u8]) -> i64 {
        let received = self.with_at(mode, now, |node| {
            node.receive_quickly(now, from, frame);
            0
        });
        self.do_undone(mode, now);
        received
    }

    /// The next frame to send.
    ///
    /// # Errors
    /// Its length, if that is more than `max` bytes: the frame waits for a larger buffer.
    pub fn take(&self, max: usize) -> Result<Option<Outgoing>, usize> {
        let Ok(mut outgoing) = self.outgoing.lock() else { return Ok(None) };
        if outgoing.is_empty() {
            for (number, shared) in (0..).zip(&self.nodes) {
                // Mostly there are none, and then no reader has to wait.
                if !shared.read().is_some_and(|node| node.has_messages()) {
                    continue;
                }
                let Some(mut node) = shared.write() else { continue };
                outgoing.extend(node.take_outbox().into_iter().map(|(to, frame)| (number, to, frame)));
            }
        }
        match outgoing.front() {
            Some((_, _, frame)) if frame.len() > max => Err(frame.len()),
            _ => Ok(outgoing.pop_front()),
        }
    }

    /// A number about this node's filter of a table, or about the copy of a peer's: keys, bytes, dead keys, expected
    /// rate in thousand millionths, whether it knows nothing, the capacity that it needs if it is outgrown (else 0), the keys that it held when
    /// it was given up, slots that are open. -1 if there is none.
    pub(crate) fn of_filter(&self, mode: i64, table: TableId, peer: Option<NodeId>, what: i64) -> i64 {
        self.read(mode, |node| {
            let filter = match peer {
                None => node.own_filter(table),
                Some(peer) => node.copy_of(peer, table),
            };
            match filter {
                None => -1,
                Some(_) if what == OPEN_SLOTS => {
                    i64::from(node.open_slots(peer.unwrap_or(node.id()), table).count())
                }
                Some(filter) => number_of(filter, what),
            }
        })
    }

    /// A counter of a mode: reads skipped, contradictions, damaged messages, bytes sent, slots opened, writes into open slots.
    pub(crate) fn counter(&self, mode: i64, what: i64) -> i64 {
        self.read(mode, |node| {
            let counters = node.counters();
            let number = match what {
                0 => counters.skipped,
                1 => counters.contradictions,
                2 => counters.malformed_messages,
                3 => counters.sent_bytes,
                4 => node.slots_opened(),
                5 => node.writes_streamed(),
                _ => return FAILED,
            };
            i64::try_from(number).unwrap_or(i64::MAX)
        })
    }

    /// A number about the exchange in a mode: bytes of copies, bytes of snapshots for peers, nodes that rely on this one, peers that this
    /// one asks, those of them that it may rely on.
    pub(crate) fn of_node(&self, mode: i64, now: u64, what: i64) -> i64 {
        self.read(mode, |node| {
            let number = match what {
                0 => node.copy_bytes(),
                1 => node.kept().0,
                2 => node.holder_count(now),
                3 => node.asked_peers().count(),
                4 => node.asked_peers().filter(|peer| node.may_rely_on(now, *peer)).count(),
                _ => return FAILED,
            };
            i64::try_from(number).unwrap_or(i64::MAX)
        })
    }
}

fn ticket(node: &Node, now: u64, barrier: Barrier) -> i64 {
    if node.may_acknowledge(now, barrier) { 0 } else { ticket_of(barrier) }
}

/// Above 0, and in the order of barriers; several acknowledgements may have the same.
fn ticket_of(barrier: Barrier) -> i64 {
    i64::try_from(barrier.number()).unwrap_or(i64::MAX).saturating_add(1)
}

fn number_of(filter: &NodeFilter, what: i64) -> i64 {
    let number = match what {
        0 => filter.key_count(),
        1 => filter.memory_bytes() as u64,
        2 => filter.dead_count() as u64,
        #[expect(clippy::cast_possible_truncation, reason = "a rate is at most 1")]
        3 => (filter.rate() * 1e9) as u64,
        4 => u64::from(filter.is_unknown()),
        6 => filter.given_up_at(),
        _ => filter.outgrown().unwrap_or(0),
    };
    i64::try_from(number).unwrap_or(i64::MAX)
}
