//! What changes in the filters of this node, and which of it goes into deltas: at once, or for a slot that is open at its end.

use crate::config::{Config, Mode};
use crate::key_id::{KeyId, TableId};
use crate::margins::{MARGIN, Margin, Side};
use crate::presence::Deletion;
use crate::slots::Slots;

use super::{Brings, Publisher};

impl Publisher {
    /// Makes a key live, and everything in it that `place` names. A deletion alone leaves stretches that are dead as they are.
    pub(crate) fn write(
        &mut self,
        config: &Config,
        table: TableId,
        partition: KeyId,
        place: Option<u64>,
        brings: Brings,
    ) {
        let Some(own) = self.tables.get_mut(&table) else { return };
        let mut ids = vec![(partition, false)];
        if let (Some(buckets), Some(place)) = (own.buckets, place) {
            ids.extend(buckets.of_row(place).map(|(level, number)| (partition.bucket(level, number), false)));
        }
        if brings != Brings::Death {
            ids.extend(own.margins_at(config, partition, place).into_iter().map(|id| (id, true)));
        }
        let (is_given_up, slot) = (own.filter.is_unknown(), Slots::of(partition));
        // The next delta announces what is written now; a key with a twin on its way is announced with the twin.
        let (next, opening) = (self.version.sequence + 1, own.ingest.opening(slot));
        let mut announced_by: Option<u64> = None;
        let mut has_news = false;
        for (id, is_margin) in ids {
            let is_new = own.write(config, id, is_margin);
            let name = own.filter.twin_name(id);
            if is_new {
                has_news = true;
                self.pending.take_mark_off(table, id);
            }
            match opening {
                // A holder that knows of the opening takes the whole slot for live, until the delta that closes it brings the news, too.
                Some(opening) => {
                    if is_new {
                        own.ingest.put_off(name, id.hash());
                    }
                    if own.ingest.has_put_off(name) || self.recent.barrier_of_name(table, name).is_some() {
                        announced_by = announced_by.max(opening.barrier(config));
                    }
                }
                None if is_new => {
                    announced_by = Some(next);
                    if config.mode == Mode::Safe {
                        self.recent.note_name(table, name, next);
                    }
                    self.pending.add_key(table, id.hash());
                }
                None => {
                    if !is_flawed!(config, PutOffTwinsAreKnown) {
                        for hash in own.ingest.take_twins(name) {
                            self.recent.note_name(table, name, next);
                            self.pending.add_key(table, hash);
                        }
                    }
                    announced_by = announced_by.max(self.recent.barrier_of_name(table, name));
                }
            }
        }
        if has_news && config.mode == Mode::Safe && brings != Brings::LifeOfFile {
            self.writes_streamed += u64::from(opening.is_some());
            if own.ingest.count(slot, next) {
                self.slots_opened += 1;
                self.pending.open(table, own.ingest.slots());
            }
        }
        let has_put_off_much = own.ingest.has_put_off_much();
        if own.shrink() || own.filter.is_unknown() != is_given_up {
            self.renew(table);
        }
        if let Some(barrier) = announced_by {
            self.recent.note(table, partition, barrier);
        }
        if has_put_off_much {
            self.announce_put_off(config, table);
        }
        self.close_if_large();
    }

    /// Puts what came to open slots of a table into the next deltas. Nothing waits for it, but for twins elsewhere.
    pub(super) fn announce_put_off(&mut self, config: &Config, table: TableId) {
        let Some(own) = self.tables.get_mut(&table) else { return };
        let put_off = own.ingest.take_all();
        if is_flawed!(config, SlotsCloseEmpty) {
            return;
        }
        for (name, hash) in put_off {
            self.recent.note_twins(table, name, self.version.sequence + 1);
            self.pending.add_key(table, hash);
            self.close_if_large();
        }
    }

    /// Makes a key dead, for peers too, if the deletion is a proof and there is room to keep it.
    pub(crate) fn bury(&mut self, table: TableId, id: KeyId, deletion: Deletion) {
        let Some(own) = self.tables.get_mut(&table) else { return };
        let is_new = own.filter.has_room_for_deletions(own.max_bytes) && own.filter.bury(id, deletion);
        // No peer has a copy of a filter that is not ready, and a snapshot has all its marks. A mark that a write takes off before then
        // would never be announced.
        if is_new && own.is_ready {
            self.announce_mark(table, id, deletion.time);
        }
    }

    /// Enters a proven margin of a partition's bucket, for peers too; `false` if it is known, or there is no room to keep it.
    pub(crate) fn bury_margin(&mut self, table: TableId, partition: KeyId, margin: Margin) -> bool {
        let Margin { side, bucket, inner } = margin;
        self.bury_stretch(table, partition.margin(side, bucket), side, inner)
    }

    /// The same for a margin, or a water mark, by its name.
    pub(crate) fn bury_stretch(&mut self, table: TableId, id: KeyId, side: Side, inner: u64) -> bool {
        let Some(own) = self.tables.get_mut(&table).filter(|own| own.is_ready) else { return false };
        let is_new =
            own.filter.has_room_for_deletions(own.max_bytes) && own.filter.enter_margin(id, side, inner);
        if is_new {
            self.announce_mark(table, id, inner | MARGIN);
        }
        is_new
    }

    fn announce_mark(&mut self, table: TableId, id: KeyId, number: u64) {
        // A key that was put off would take the mark off again, if it came after it.
        if let Some(own) = self.tables.get_mut(&table) {
            let name = own.filter.twin_name(id);
            if own.ingest.take(name, id.hash()) {
                self.recent.note_twins(table, name, self.version.sequence + 1);
                self.pending.add_key(table, id.hash());
            }
        }
        self.pending.add_mark(table, id, number);
        self.close_if_large();
    }
}
