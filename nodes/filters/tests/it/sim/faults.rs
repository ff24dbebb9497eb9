//! What breaks: nodes crash, are paused, or sleep with their machine; filters are rebuilt; the ring moves.

use lacuna_node_filters::Flaw;

use super::replica::{Replica, TABLE, id_of};
use super::ring::group_of;
use super::world::{NODES, World};

impl World {
    pub(super) fn break_something(&mut self) {
        let at = self.rng.index(NODES);
        let a_while = 50 + self.rng.below(2_000);
        let replica = &mut self.replicas[at];
        let what = match self.rng.below(7) {
            0 if replica.down_until == 0 => {
                // Now and then a restart so quick that no node notices.
                replica.down_until = self.now + if self.rng.below(2) == 0 { 5 } else { a_while };
                replica.held.clear();
                "crash"
            }
            1 | 2 if replica.paused_until <= self.now => {
                replica.paused_until = self.now + a_while;
                replica.is_asleep = self.rng.below(2) == 0;
                if replica.is_asleep && self.setup.config.flaw == Some(Flaw::ClockStopsAsleep) {
                    replica.offset -= a_while;
                }
                if replica.is_asleep { "sleep" } else { "pause" }
            }
            3 | 4 if replica.down_until == 0 => {
                replica.save();
                "filter saved"
            }
            _ => {
                replica.rebuild(300 + self.rng.below(200));
                "rebuild"
            }
        };
        *self.counts.faults.entry(what).or_default() += 1;
    }

    /// Lets a node learn of the newest ring, or goes one step on once all know it.
    pub(super) fn move_ring(&mut self) {
        let now = self.now;
        let is_well = |replica: &Replica| replica.down_until == 0 && replica.paused_until <= now;
        let newest = self.rings.version;
        if self.replicas.iter().all(|replica| is_well(replica) && replica.ring == newest) {
            if let Some((group, to)) = self.rings.advance(&mut self.rng, NODES) {
                self.stream(group, to);
            }
            *self.counts.faults.entry("ring step").or_default() += 1;
        }
        for replica in &mut self.replicas {
            if self.rng.below(3) == 0 && is_well(replica) && replica.ring < self.rings.version {
                replica.ring = self.rings.version;
                replica.node.set_ring(replica.ring, (0..NODES).map(id_of));
            }
        }
    }

    /// Copies a group's data from all its owners: file by file, without an acknowledgement.
    fn stream(&mut self, group: usize, to: usize) {
        let names = self.names();
        for from in self.rings.sources(group).to_vec() {
            let moved: Vec<_> = self.replicas[from]
                .cells
                .iter()
                .filter(|(key, _)| group_of(names.partition(**key)) == group)
                .map(|(k, c)| (*k, *c))
                .collect();
            let target = &mut self.replicas[to];
            for (key, cells) in moved {
                target.node.load(TABLE, names.id(key), names.place(key));
                let mine = target.cells.entry(key).or_default();
                mine.written = mine.written.max(cells.written);
                mine.deleted = mine.deleted.max(cells.deleted);
            }
        }
    }
}
