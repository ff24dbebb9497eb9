//! Everything together, and who breaks it.

use std::collections::{BTreeMap, BTreeSet};

use lacuna_cache_protocol::{
    CacheCall, CacheModel, CacheReply, Cut, Flaw, Policy, Query, RangeId, RangeTable, StoreCall, StoreReply,
};
use lacuna_workload::Rng;

use super::client::Client;
use super::coordinator::Coordinator;
use super::dendrite::Dendrite;
use super::history::{Checker, Moment};
use super::joined::{is_join, is_stamp, parted};
use super::network::{Envelope, Message, Network, Node};
use super::store::{LogServer, Store};
use super::table::{Change, WriteId, closed, encode, settle};

/// What to run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) policy: Policy,
    pub(crate) domains: usize,
    pub(crate) ranges: u32,
    pub(crate) read_percent: u64,
    /// Of a thousand writes, how many the store refuses for good.
    pub(crate) forbidden: u64,
    pub(crate) beta: u8,
    /// Entries that an owner knows of, at most.
    pub(crate) max_entries: usize,
    /// Whether every other owner has 0 in its place, and finds the entries of one that had more.
    pub(crate) beta_varies: bool,
    /// Whether most keys have no row.
    pub(crate) is_sparse: bool,
    /// Whether owners take entries over from those before them.
    pub(crate) is_warm: bool,
    /// Of a hundred writes, how many have a condition.
    pub(crate) conditional_percent: u64,
    /// Of a hundred writes, how many are transactions under a lease.
    pub(crate) transaction_percent: u64,
    /// Of a hundred operations, how many concern two ranges, if there are two.
    pub(crate) across_percent: u64,
    /// Of a hundred reads, how many join all other ranges to the first.
    pub(crate) joined_percent: u64,
    /// Whether some owners wait longer for an answer than requests wait, as those of a runtime do.
    pub(crate) waits_long: bool,
    /// Whether ranges are split and merged.
    pub(crate) recuts: bool,
    /// Whether owners crash where they seldom crashed before.
    pub(crate) hunts: bool,
    /// Whether anything is broken on purpose, and every how many steps.
    pub(crate) faults: bool,
    pub(crate) fault_every: u64,
    pub(crate) flaw: Option<Flaw>,
}

/// What happened, to show that the run meant something.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) reads: BTreeMap<String, u64>,
    pub(crate) writes: BTreeMap<String, u64>,
    pub(crate) endings: BTreeMap<String, u64>,
    /// Answers of the store to transactions.
    pub(crate) transactions: BTreeMap<String, u64>,
    pub(crate) faults: BTreeMap<&'static str, u64>,
    /// Reads through the cache that found no row.
    pub(crate) empty: u64,
    pub(crate) unknown: u64,
    pub(crate) fenced_hits: u64,
    pub(crate) set_aside: u64,
    pub(crate) logs_lost: u64,
    pub(crate) write_through: u64,
    /// Misses of a query that was read before, and written behind.
    pub(crate) behind_writes: u64,
    pub(crate) bypasses: u64,
    /// Durable writes that were answered by the next tenure.
    pub(crate) durable: u64,
    pub(crate) redirects: u64,
    /// Answers of owners to each other.
    pub(crate) peers: BTreeMap<String, u64>,
    /// What owners were doing when they crashed.
    pub(crate) crash_points: BTreeMap<String, u64>,
    /// Tenures that began with entries.
    pub(crate) warm: u64,
    /// Changes of entries for which the cache server had no memory.
    pub(crate) full: u64,
    /// Hits that only the store could make a result of.
    pub(crate) unsettled: u64,
    /// Hits that were put together from several entries.
    pub(crate) fused: u64,
    /// Reads of several tables, and how often one began again.
    pub(crate) joins: u64,
    pub(crate) joins_again: u64,
    pub(crate) steps: u64,
    /// Entries that cache servers held, summed over every hundredth step.
    pub(crate) held: u64,
}

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) setup: Setup,
    pub(crate) now: u64,
    pub(crate) rng: Rng,
    pub(crate) network: Network,
    pub(crate) store: Store,
    pub(crate) logs: Vec<LogServer>,
    pub(crate) caches: Vec<CacheModel>,
    pub(crate) snapshots: Vec<CacheModel>,
    pub(crate) coordinator: Coordinator,
    pub(crate) dendrites: Vec<Dendrite>,
    pub(crate) clients: Vec<Client>,
    pub(crate) history: Vec<Moment>,
    pub(crate) counts: Counts,
    pub(crate) set_aside: BTreeSet<WriteId>,
    /// Keys that showed a write that was set aside.
    pub(crate) excused: BTreeSet<u64>,
    pub(crate) is_working: bool,
    pub(crate) last_seen: BTreeMap<Query, u64>,
    pub(crate) last_written: BTreeMap<RangeId, u64>,
    pub(crate) down: BTreeMap<Node, u64>,
    next_number: u64,
    pub(crate) next_hunt: u64,
}

const KEYS: u64 = 8;
const CLIENTS: usize = 6;
pub(crate) const DENDRITES: usize = 3;
/// Log servers.
pub(crate) const SERVERS: usize = 3;
/// Few, so that a range soon comes back to one it was on.
pub(crate) const CACHES: usize = 2;

/// So many ranges in domain 0; other domains belong to the first.
fn table_of(ranges: u32, domains: usize) -> RangeTable {
    (1..u64::from(ranges)).fold(RangeTable::new(domains), |table, range| {
        table.split(0, Cut::Before((KEYS * range).into())).unwrap()
    })
}

impl World {
    pub(crate) fn new(setup: Setup, seed: u64) -> Self {
        let cache = CacheModel::new(12).with_flaw(setup.flaw);
        let mut world = Self {
            now: 0,
            rng: Rng::new(seed),
            network: Network::default(),
            store: Store::new(setup.flaw, setup.policy == Policy::WriteBack),
            logs: (0..SERVERS).map(|_| LogServer::default()).collect(),
            caches: vec![cache.clone(); CACHES],
            snapshots: vec![cache; CACHES],
            coordinator: Coordinator::new(CACHES, table_of(setup.ranges, setup.domains)),
            dendrites: (0..DENDRITES).map(|_| Dendrite::default()).collect(),
            clients: (0..CLIENTS).map(|_| Client::default()).collect(),
            history: Vec::new(),
            counts: Counts::default(),
            set_aside: BTreeSet::new(),
            excused: BTreeSet::new(),
            is_working: true,
            last_seen: BTreeMap::new(),
            last_written: BTreeMap::new(),
            down: BTreeMap::new(),
            next_number: 1_000,
            next_hunt: 0,
            setup,
        };
        if setup.faults {
            (world.network.loss, world.network.delay) = (4, 8);
        }
        let nodes = (0..DENDRITES).map(Node::Dendrite).chain((0..CLIENTS).map(Node::Client));
        for (time, node) in (1..).zip(nodes) {
            world.network.send_at(time, node, node, Message::Alarm);
        }
        for key in 0..KEYS * u64::from(setup.ranges) {
            let write = Change::Put { key, other: key % 5 }.write(u32::try_from(key).unwrap() + 1, false);
            world.history.push(Moment::WriteBegan(u32::try_from(key).unwrap() + 1));
            world.store.write(&write.command);
        }
        world
    }

    pub(crate) fn key_count(&self) -> u64 {
        KEYS * u64::from(self.setup.ranges)
    }

    pub(crate) fn keys_of(&self, range: RangeId) -> (u64, u64) {
        let first = KEYS * u64::from(range.0);
        (first, first + KEYS - 1)
    }

    pub(crate) fn range_of(&self, query: &Query) -> u32 {
        let ranges = 0..self.setup.ranges;
        let holds = |range: &u32| {
            query.interval.overlaps(&closed(KEYS * u64::from(*range), KEYS * u64::from(*range + 1) - 1))
        };
        ranges.clone().find(|range| query.domain == 0 && holds(range)).unwrap_or(0)
    }

    pub(crate) const fn new_number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    pub(crate) fn send(&mut self, from: Node, to: Node, message: Message) {
        self.network.send(self.now, &mut self.rng, from, to, message);
    }

    /// Runs so many steps under faults, lets everything settle, and checks what was seen.
    pub(crate) fn run(&mut self, steps: u64) -> Result<(), String> {
        for _ in 0..steps {
            self.step();
            if self.counts.steps.is_multiple_of(100) {
                self.counts.held += self.held();
            }
            if self.setup.hunts {
                self.crash_where_it_is_rare();
            }
            if self.setup.faults && self.rng.below(self.setup.fault_every) == 0 {
                self.break_something();
            }
        }
        self.settle()?;
        self.check()
    }

    /// How many entries the cache servers hold.
    fn held(&self) -> u64 {
        let ranges = self.coordinator.table.ranges();
        let of =
            |cache: &CacheModel| ranges.iter().map(|range| cache.entries(*range).count() as u64).sum::<u64>();
        self.caches.iter().map(of).sum()
    }

    fn settle(&mut self) -> Result<(), String> {
        (self.network.loss, self.network.delay, self.is_working) = (0, 0, false);
        self.logs.iter_mut().for_each(|log| log.is_full = false);
        self.setup.faults = false;
        for _ in 0..200_000 {
            if self.is_settled() && self.clients.iter().all(Client::is_idle) {
                return Ok(());
            }
            self.step();
        }
        Err("it does not come to rest".to_owned())
    }

    fn check(&self) -> Result<(), String> {
        let keys = KEYS * u64::from(self.setup.ranges);
        let mut checker = Checker::new(&self.store, keys, self.is_store_current());
        checker.set_aside.clone_from(&self.set_aside);
        checker.excused.clone_from(&self.excused);
        checker.refusals_have_reasons = self.setup.forbidden == 0;
        checker.check(&self.history)?;
        if self.setup.forbidden == 0 && self.counts.set_aside > 0 {
            return Err(format!("acknowledged writes were set aside: {:?}", self.set_aside));
        }
        let may_doubt = self.setup.policy == Policy::WriteBack && self.setup.forbidden > 0;
        if self.counts.bypasses > 0 && !may_doubt {
            return Err("somebody was said to write past the cache".to_owned());
        }
        for range in self.coordinator.table.ranges() {
            let route = self.coordinator.route(range).ok_or("a range without an owner")?;
            for (query, value) in self.caches[route.cache].entries(range) {
                let seat = &self.dendrites[route.owner].seats[&range];
                let here = [(query.domain, query.interval.clone())];
                if !seat.owner.index().touched(&here).contains(query) {
                    return Err(format!("the owner of {range:?} does not know the entry {query:?}"));
                }
                if !self.is_to_be_fresh(query, &value) {
                    continue;
                }
                let Some(cached) = settle(&value).map(|rows| parted(&encode(&rows)).1) else { continue };
                let fresh = self.store.fresh(query);
                if cached != fresh {
                    return Err(format!(
                        "at rest the cache has {cached:?} for {query:?}, the store {fresh:?}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// A stamp is only what it is, and a result under former stamps is not read.
    fn is_to_be_fresh(&self, query: &Query, value: &lacuna_cache_protocol::Value) -> bool {
        let entries = |range| {
            let route = self.coordinator.route(range)?;
            Some(self.caches[route.cache].entries(range))
        };
        let all = self.coordinator.table.ranges().into_iter().filter_map(entries).flatten();
        let stamps: Vec<u64> =
            all.filter(|(query, _)| is_stamp(query)).flat_map(|(_, value)| parted(&value).0).collect();
        !is_stamp(query) && (!is_join(query) || parted(value).0.iter().all(|stamp| stamps.contains(stamp)))
    }

    fn step(&mut self) {
        let (time, envelope) = self.network.next().expect("alarms never end");
        self.now = self.now.max(time);
        self.counts.steps += 1;
        if self.down.get(&envelope.to).is_some_and(|until| *until > self.now) {
            if matches!(envelope.message, Message::Alarm) {
                self.network.hold(self.down[&envelope.to], envelope);
            }
            return;
        }
        if let Node::Dendrite(dendrite) = envelope.to
            && self.dendrites[dendrite].paused_until > self.now
        {
            return self.network.hold(self.dendrites[dendrite].paused_until, envelope);
        }
        self.deliver(envelope);
    }

    fn deliver(&mut self, Envelope { from, to, message, .. }: Envelope) {
        match to {
            Node::Client(client) => self.client_hears(client, message),
            Node::Dendrite(dendrite) => self.dendrite_hears(dendrite, from, message),
            Node::Cache(cache) => self.cache_hears(cache, from, message),
            Node::Log(log) => {
                if let Message::Log(call, what) = message {
                    let reply = self.logs[log].call(call.0, call.1, &what);
                    self.send(to, from, Message::LogReply(call, reply));
                }
            }
            Node::Store => self.store_hears(from, message),
            Node::Coordinator => self.coordinator_hears(from, message),
        }
    }

    fn cache_hears(&mut self, cache: usize, from: Node, message: Message) {
        let here = Node::Cache(cache);
        match message {
            Message::Get(range, query, ticket) => {
                let found = self.caches[cache].get(range, &query);
                self.send(here, from, Message::Got(ticket, found));
            }
            Message::GetTogether(range, parts, mut read, ticket) => {
                let is_apart = self.setup.flaw == Some(Flaw::ReadPartsApart);
                let now = if is_apart { &parts[read.len()..=read.len()] } else { &parts[..] };
                let found = self.caches[cache].get_together(range, now);
                let found = found.map(|(fence, values)| {
                    read.extend(values);
                    (fence, read)
                });
                match found {
                    Some((_, read)) if read.len() < parts.len() => {
                        let rest = Message::GetTogether(range, parts, read, ticket);
                        // Long enough for a write to hide entries, change and show them in between.
                        let time = self.now + 20 + self.rng.below(80);
                        self.network.send_at(time, from, here, rest);
                    }
                    found => self.send(here, from, Message::GotTogether(ticket, parts, found)),
                }
            }
            Message::Cache(call, what) => {
                // A server without memory refuses before it looks at the fence.
                let is_full =
                    matches!(what, CacheCall::Patch(..)) && self.setup.faults && self.rng.below(100) == 0;
                self.counts.full += u64::from(is_full);
                let reply =
                    if is_full { CacheReply::Full } else { self.caches[cache].call(call.0, call.1, &what) };
                self.send(here, from, Message::CacheReply(call, reply));
            }
            _ => {}
        }
    }

    fn store_hears(&mut self, from: Node, message: Message) {
        match message {
            Message::Store(call, what) => {
                // A store that is busy keeps writes buffered: what waits for them is seldom met otherwise.
                let every = if self.setup.hunts { 3 } else { 50 };
                let hiccup = self.setup.faults && self.rng.below(every) == 0;
                let reply = self.store.call(call.0, call.1, &what, hiccup);
                self.send(Node::Store, from, Message::StoreReply(call, reply));
            }
            Message::Transaction(fences, change, command, ticket) => {
                let (rows, reply) = self.transact(&fences, change, command);
                self.send(Node::Store, from, Message::Committed(ticket, reply, rows));
            }
            Message::DirectQuery(query, ticket) => {
                let reply = self.store.call(
                    RangeId(0),
                    lacuna_cache_protocol::Epoch(0),
                    &StoreCall::Query(query),
                    false,
                );
                let StoreReply::Rows(rows) = reply else { unreachable!("queries are answered") };
                self.send(Node::Store, from, Message::DirectRows(ticket, rows.value));
            }
            _ => {}
        }
    }

    fn coordinator_hears(&mut self, from: Node, message: Message) {
        let here = Node::Coordinator;
        match (message, from) {
            (Message::AskRoute(range, asked), _) => {
                let route = self.coordinator.route(range);
                let table = self.coordinator.table.clone();
                self.send(here, from, Message::Route(range, asked, route, table));
            }
            (Message::Claim(range, lost), Node::Dendrite(owner)) => {
                if let Some(claim) = self.coordinator.claim(self.now, range, owner, lost) {
                    self.send(here, from, Message::Claimed(range, claim));
                }
            }
            (Message::Stopped(range, epoch), _) => self.coordinator.has_stopped(self.now, range, epoch),
            (Message::Renew(range, epoch), Node::Dendrite(owner)) => {
                let is_his = self.coordinator.renew(self.now, range, owner, epoch);
                let table = self.coordinator.table.clone();
                self.send(here, from, Message::Renewed(range, epoch, is_his, table));
            }
            _ => {}
        }
    }
}
