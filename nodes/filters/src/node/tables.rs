//! What the store tells a node: tables, writes, deletions, and what an acknowledgement waits for.

use lacuna_base::Result;

use super::{Barrier, Node};
use crate::buckets::Buckets;
use crate::config::Mode;
use crate::key_id::{KeyId, NodeId, TableId};
use crate::margins::{MARGIN, Side};
use crate::presence::{Deletion, NodeFilter, Presence};
use crate::publisher::{Brings, Saved, SavedFilter};
use crate::water_mark;

impl Node {
    /// Begins a filter for a table, or empties the one there is (truncation): until [`set_ready`](Self::set_ready) peers
    /// do not see it. Writes may come at once; what is in files is added by [`load`](Self::load).
    pub fn create_table(&mut self, table: TableId, capacity: u64, rate: f64, buckets: Option<Buckets>) {
        self.create_table_within(table, capacity, rate, buckets, self.config.max_table_bytes);
    }

    /// The same with other memory than [`Config::max_table_bytes`](crate::Config::max_table_bytes).
    pub fn create_table_within(
        &mut self,
        table: TableId,
        capacity: u64,
        rate: f64,
        buckets: Option<Buckets>,
        max_bytes: usize,
    ) {
        let filter = NodeFilter::within(capacity, rate, max_bytes);
        self.publisher.create(table, filter, buckets, max_bytes, self.config.slot_writes);
        self.limit_table(table, max_bytes);
    }

    /// Gives the filter of one table other memory.
    pub fn limit_table(&mut self, table: TableId, max_bytes: usize) {
        self.publisher.limit(table, max_bytes);
    }

    /// Lets slots of one table be open from other numbers of writes on than [`Config::slot_writes`](crate::Config::slot_writes).
    pub fn open_slots_at(&mut self, table: TableId, writes: u64) {
        self.publisher.open_slots_at(table, writes);
    }

    /// Forgets a table.
    pub fn drop_table(&mut self, table: TableId) {
        self.publisher.drop_table(table);
        self.wanted.remove(&table);
    }

    /// Adds a key that is in a file.
    pub fn load(&mut self, table: TableId, partition: KeyId, place: Option<u64>) {
        self.publisher.write(&self.config, table, partition, place, Brings::LifeOfFile);
    }

    /// Shows the filter to peers: everything that the node holds has been loaded or written.
    pub fn set_ready(&mut self, table: TableId) {
        if let Some(own) = self.publisher.tables.get_mut(&table) {
            own.is_ready = true;
        }
    }

    /// A ready table's filter for a file of the node's, from which its next life may [restore](Self::restore_table) it; `None`
    /// if it is not ready, or unknown. It holds every key that was loaded or written before this call. O(bytes).
    pub fn saved_table(&mut self, table: TableId) -> Option<Vec<u8>> {
        if !self.begin_saving(table) {
            return None;
        }
        self.do_undone(0);
        match self.take_saved(table) {
            Saved::Bytes(bytes) => Some(bytes),
            Saved::NotYet | Saved::Never => None,
        }
    }

    /// Begins to save a table: the work is [`undone`](Self::undone), and its result is [taken](Self::take_saved) once it has
    /// been done. `false` if there is nothing to save.
    pub fn begin_saving(&mut self, table: TableId) -> bool {
        self.publisher.begin_saving(table)
    }

    /// What [`begin_saving`](Self::begin_saving) has begun, once it is there.
    pub fn take_saved(&mut self, table: TableId) -> Saved {
        self.publisher.take_saved(table)
    }

    /// Puts what an earlier life of this node has [saved](Self::saved_table) into a table that was created just now; what came
    /// to be there since has to be loaded. With `keeps_dead` its dead keys and margins count too: only if everything that
    /// was there when it was saved still is, and everything else has been loaded or written since. `false`, and nothing changes, if
    /// the filter here holds something already.
    ///
    /// # Errors
    /// If the bytes are no filter.
    pub fn restore_table(&mut self, table: TableId, bytes: &[u8], keeps_dead: bool) -> Result<bool> {
        Ok(self.restore(table, SavedFilter::read(bytes, keeps_dead)?))
    }

    /// The same for bytes that were read already, without the node.
    pub fn restore(&mut self, table: TableId, saved: SavedFilter) -> bool {
        self.publisher.restore(table, saved)
    }

    /// Notes a change before it becomes visible: of a whole partition, or of a row at `place`. Its acknowledgement has to
    /// wait for the barrier: the last news of this partition. An overwrite has none of its own, but the write before it may
    /// not be known yet.
    pub fn write(&mut self, table: TableId, partition: KeyId, place: Option<u64>) -> Barrier {
        self.write_that(table, partition, place, Brings::Life)
    }

    /// The same for a row's deletion alone: it makes nothing alive, so margins and water marks stay as they are.
    pub fn write_deletion(&mut self, table: TableId, partition: KeyId, place: u64) -> Barrier {
        self.write_that(table, partition, Some(place), Brings::Death)
    }

    fn write_that(
        &mut self,
        table: TableId,
        partition: KeyId,
        place: Option<u64>,
        brings: Brings,
    ) -> Barrier {
        if is_flawed!(self.config, OverwritesAreKnown)
            && self.own_presence(table, partition) == Presence::Live
        {
            return Barrier(0);
        }
        self.publisher.write(&self.config, table, partition, place, brings);
        self.barrier_of(table, partition)
    }

    /// Where the acknowledgement of a write of one partition has to wait: for the deltas that announce it, or a whole change of
    /// its table, not for what other writes have brought. For a write that has been noted.
    pub fn barrier_of(&self, table: TableId, partition: KeyId) -> Barrier {
        match is_flawed!(self.config, PublishLate) {
            true => Barrier(self.publisher.version().sequence),
            false => Barrier(self.publisher.barrier_of(table, partition)),
        }
    }

    /// Where an acknowledgement has to wait if it may be of anything: for all news up to now.
    pub fn barrier(&self) -> Barrier {
        match is_flawed!(self.config, PublishLate) {
            true => Barrier(self.publisher.version().sequence),
            false => Barrier(self.publisher.barrier()),
        }
    }

    /// Once this barrier is passed, what has been written until now may be shown and acknowledged; a deletion brings no such
    /// news. See [`NewsFlag`](crate::NewsFlag).
    pub fn last_news(&self) -> Barrier {
        Barrier(self.publisher.last_news())
    }

    /// Whether an acknowledgement may leave this node.
    pub fn may_acknowledge(&self, now: u64, barrier: Barrier) -> bool {
        self.config.mode != Mode::Safe || self.publisher.may_acknowledge(&self.config, now, barrier.0)
    }

    /// Whether an acknowledgement would have to wait if this node were in safe mode; mode shadow counts them.
    pub fn would_wait(&self, now: u64, barrier: Barrier) -> bool {
        !self.publisher.may_acknowledge(&self.config, now, barrier.0)
    }

    /// The last barrier whose acknowledgements may leave, of those that there are now; `None` while none may. It stays true: a
    /// lease that is granted later begins with all of them, not with what is written afterwards.
    pub fn released(&self, now: u64) -> Option<Barrier> {
        let last = self.publisher.version().sequence;
        match self.config.mode {
            Mode::Safe => self.publisher.released(&self.config, now).map(|known| Barrier(known.min(last))),
            Mode::Shadow | Mode::Eventual => Some(Barrier(u64::MAX)),
        }
    }

    /// Whether what a read has found of a partition may leave this node: in safe mode every node that relies on it then knows
    /// that the partition, and every row that is there now, may be live. Holds because [`write`](Self::write) came first.
    pub fn may_reveal(&self, now: u64, table: TableId, partition: KeyId) -> bool {
        self.config.mode != Mode::Safe || self.publisher.may_reveal(&self.config, now, table, partition)
    }

    /// Enters a deleted partition if the deletion is a proof; `true` if it was.
    pub fn bury(&mut self, table: TableId, partition: KeyId, deletion: Deletion) -> bool {
        self.bury_id(table, partition, deletion)
    }

    /// Enters a bucket of rows that a deletion covers whole.
    pub fn bury_bucket(
        &mut self,
        table: TableId,
        partition: KeyId,
        (level, number): (u32, u64),
        deletion: Deletion,
    ) -> bool {
        self.bury_id(table, partition.bucket(level, number), deletion)
    }

    /// Enters all buckets that lie whole in `lo..=hi`, places of rows none of which is alive, the margins of the buckets at its
    /// ends, and how far the partition is dead from its first place on, or its last one back, if the stretch reaches it; how many were
    /// new. Of the whole buckets of a very long stretch only the beginning is entered.
    pub fn bury_rows(&mut self, table: TableId, partition: KeyId, lo: u64, hi: u64, time: u64) -> usize {
        let Some(buckets) = self.buckets(table) else { return 0 };
        let proven = Deletion { time, newest_in_files: None, newest_in_memory: None };
        let mut count = 0;
        for (level, number) in buckets.inside(lo, hi) {
            let is_known = self.own_presence(table, partition.bucket(level, number)) != Presence::Live;
            count += usize::from(!is_known && self.bury_bucket(table, partition, (level, number), proven));
        }
        count
            + self.bury_margins(table, partition, buckets, (lo, hi))
            + self.bury_water_marks(table, partition, (lo, hi))
    }

    /// As [`bury_rows`](Self::bury_rows) for a proof that has not read everything: it relies on the
    /// [water mark](Self::own_water_mark) `place` of this node at `side`, and has read from there on. The mark may have ended since, as when an
    /// SSTable that was not loaded yet has brought a row under it: then nothing is entered, and the answer is 0.
    pub fn bury_rows_beyond(
        &mut self,
        table: TableId,
        partition: KeyId,
        (side, place): (Side, u64),
        (lo, hi): (u64, u64),
        time: u64,
    ) -> usize {
        let is_there = self.own_water_mark(table, partition, side).is_some_and(|now| match side {
            Side::Start => now >= place,
            Side::End => now <= place,
        });
        if is_there { self.bury_rows(table, partition, lo, hi, time) } else { 0 }
    }

    /// Not in eventual mode, for the reason of margins.
    fn bury_water_marks(&mut self, table: TableId, partition: KeyId, (lo, hi): (u64, u64)) -> usize {
        if self.config.mode == Mode::Eventual || self.own_presence(table, partition) != Presence::Live {
            return 0;
        }
        let lo = if is_flawed!(self.config, WaterMarksBeyondProofs) { 0 } else { lo };
        water_mark::of_proof(lo, hi)
            .filter(|(side, pair)| {
                self.publisher.bury_stretch(table, partition.water_mark(*side), *side, *pair)
            })
            .count()
    }

    /// Not in eventual mode: a coordinator sees there what it writes itself, by the names of keys and buckets alone. An end of a
    /// bucket that is not live needs no margin.
    fn bury_margins(
        &mut self,
        table: TableId,
        partition: KeyId,
        buckets: Buckets,
        (lo, hi): (u64, u64),
    ) -> usize {
        if self.config.mode == Mode::Eventual {
            return 0;
        }
        let is_flawed = is_flawed!(self.config, MarginsBeyondProofs);
        let hi = if is_flawed { buckets.last_in(buckets.finest_of(hi)) } else { hi };
        let mut count = 0;
        for margin in buckets.margins(lo, hi) {
            let is_live = self.own_presence(table, partition.bucket(0, margin.bucket)) == Presence::Live;
            count += usize::from(is_live && self.publisher.bury_margin(table, partition, margin));
        }
        count
    }

    fn bury_id(&mut self, table: TableId, id: KeyId, deletion: Deletion) -> bool {
        // The highest bit says that a mark is a margin.
        let deletion = Deletion { time: deletion.time.min(MARGIN - 1), ..deletion };
        let deletion = match deletion {
            unproven if is_flawed!(self.config, BuryUnproven) => {
                Deletion { newest_in_files: None, newest_in_memory: None, ..unproven }
            }
            as_given => as_given,
        };
        self.publisher.bury(table, id, deletion);
        deletion.is_proof() && self.publisher.tables.contains_key(&table)
    }

    /// Begins to build a table's filter anew, for `capacity` keys; the old one serves until
    /// [`finish_rebuild`](Self::finish_rebuild). Due when much of what it holds was purged, and when it is
    /// [`outgrown`](NodeFilter::outgrown).
    pub fn begin_rebuild(&mut self, table: TableId, capacity: u64, rate: f64) {
        let Some(own) = self.publisher.tables.get(&table) else { return };
        let next = NodeFilter::within(capacity, rate, own.max_bytes);
        self.publisher.begin_rebuild(table, next);
    }

    /// Ends a rebuild that has failed: the old filter goes on to serve.
    pub fn cancel_rebuild(&mut self, table: TableId) {
        self.publisher.cancel_rebuild(table);
    }

    /// Adds a key of the files to the filter that is being rebuilt.
    pub fn rebuild_key(&mut self, table: TableId, partition: KeyId, place: Option<u64>) {
        let buckets = self.buckets(table);
        let Some((next, max_bytes)) = self.publisher.rebuilt(table) else { return };
        next.write(partition);
        if let (Some(buckets), Some(place)) = (buckets, place) {
            for (level, number) in buckets.of_row(place) {
                next.write(partition.bucket(level, number));
            }
        }
        next.shrink_to(max_bytes);
    }

    /// Puts the new filter in place of the old one.
    pub fn finish_rebuild(&mut self, table: TableId) {
        self.publisher.finish_rebuild(&self.config, table);
    }

    /// Notes that this node sends a write to `replicas`: it sees its own writes in their filters at once.
    pub fn forwarded(
        &mut self,
        now: u64,
        table: TableId,
        partition: KeyId,
        place: Option<u64>,
        replicas: &[NodeId],
    ) {
        let mut ids = vec![partition];
        if let (Some(buckets), Some(place)) = (self.buckets(table), place) {
            ids.extend(buckets.of_row(place).map(|(level, number)| partition.bucket(level, number)));
        }
        for replica in replicas {
            if let Some(peer) = self.peers.get_mut(replica) {
                peer.forwarded(&self.config, now, table, &ids);
            }
        }
    }
}
