//! Reads that begin at an end of a partition: their coordinators ask one replica for what lies beyond the water mark.

use lacuna_node_filters::{Asked, Flaw, NodeId, Side, WaterMark};

use super::network::Letter;
use super::replica::{ROWS, TABLE, id_of};
use super::world::World;

/// A read that was narrowed, from its decision to its answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    /// The first key of the partition.
    pub(crate) first: u64,
    pub(crate) side: Side,
    mark: WaterMark,
    /// When the replica read.
    looked_at: u64,
}

impl Head {
    /// The keys that the read left out.
    fn left_out(&self) -> impl Iterator<Item = u64> {
        let (first, mark) = (self.first, self.mark);
        (0..ROWS).filter(move |row| mark.covers(*row)).map(move |row| first + row)
    }
}

impl World {
    /// The coordinator decides, and asks one owner for the rest, which may take its time.
    pub(super) fn read_head(
        &mut self,
        to: usize,
        clock: u64,
        (first, side): (u64, Side),
        began: u64,
    ) -> Result<(), String> {
        let owners = self.rings.readers(self.replicas[to].ring, self.names().partition(first)).to_vec();
        self.counts.heads += 1;
        let mark = self.mark(to, clock, first, side);
        let owner = owners[self.rng.index(owners.len())];
        if let Some(mark) = mark {
            let head = Head { first, side, mark, looked_at: 0 };
            self.is_not_denied(to, &head, began)?;
            self.post(to, owner, Letter::LookBeyond { head, from: to });
        }
        for owner in owners {
            self.post(to, owner, Letter::ProveEnd { first, side });
        }
        Ok(())
    }

    fn mark(&self, at: usize, clock: u64, first: u64, side: Side) -> Option<WaterMark> {
        let owners = self.rings.readers(self.replicas[at].ring, self.names().partition(first));
        let replicas: Vec<NodeId> = owners.iter().copied().map(id_of).collect();
        let asked = Asked { partition: self.names().id(first), slice: None, replicas: &replicas };
        self.replicas[at].node.water_mark(clock, TABLE, &asked, side)
    }

    /// A replica reads what lies beyond the mark; its answer leaves when what it has shown is known.
    pub(super) fn look_beyond(&mut self, at: usize, head: Head, from: usize) {
        let left_out: Vec<u64> = head.left_out().collect();
        for key in (head.first..head.first + ROWS).filter(|key| !left_out.contains(key)) {
            self.replicas[at].look(key);
        }
        self.replicas[at].heads.push((Head { looked_at: self.now, ..head }, from));
    }

    /// The answers that may leave.
    pub(super) fn carry_heads(&mut self, at: usize) {
        let clock = self.replicas[at].clock(self.now);
        for (head, from) in self.replicas[at].free_heads(clock) {
            self.post(at, from, Letter::Head { head });
        }
    }

    /// The answer is there: it counts if nothing of the mark has ended meanwhile. Then nothing that was acknowledged, or shown, by the time
    /// at which the replica read may be missing from what was left out.
    pub(super) fn take_head(&mut self, at: usize, clock: u64, head: Head) -> Result<(), String> {
        let now = self.mark(at, clock, head.first, head.side);
        let counts_always = self.setup.config.flaw == Some(Flaw::WaterMarksAskedOnce);
        if !counts_always && !now.is_some_and(|now| now.confirms(head.mark)) {
            self.counts.heads_repeated += 1;
            return Ok(());
        }
        self.counts.heads_narrowed += 1;
        self.is_not_denied(at, &head, head.looked_at)
    }

    fn is_not_denied(&mut self, at: usize, head: &Head, before: u64) -> Result<(), String> {
        match head.left_out().find_map(|key| Some((key, self.denied(key, before)?))) {
            None => Ok(()),
            Some((key, acknowledged_at)) => Err(format!(
                "node {at} left key {key} out at {}, which was acknowledged at {acknowledged_at}, before {before}: {head:?}",
                self.now
            )),
        }
    }
}
