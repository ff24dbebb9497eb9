//! Who holds what, while it moves.
//!
//! A move of one group from one node to another takes three steps, as in stock Cassandra: writes go to both (1); after the
//! data has been streamed, reads go to the new owner (2); writes stop at the old one (3, which is 0 of the next move).
//! Nodes learn of a step one by one; no node learns of the next one before all know this one.

use lacuna_workload::Rng;

pub(crate) const GROUPS: usize = 3;

/// The group of a partition.
pub(crate) fn group_of(key: u64) -> usize {
    (0..GROUPS).find(|group| key % GROUPS as u64 == *group as u64).unwrap()
}

#[derive(Debug, Clone)]
pub(crate) struct Rings {
    /// Owners of each group, before the move and after it.
    old: Vec<Vec<usize>>,
    new: Vec<Vec<usize>>,
    /// The newest step; 0 modulo 3 is a ring at rest.
    pub(crate) version: u64,
}

impl Rings {
    pub(crate) fn new(nodes: usize, copies: usize) -> Self {
        let owners: Vec<Vec<usize>> =
            (0..GROUPS).map(|group| (group..group + copies).map(|owner| owner % nodes).collect()).collect();
        Self { old: owners.clone(), new: owners, version: 3 }
    }

    /// Goes one step on; the node that data has to be streamed to now, and its group.
    pub(crate) fn advance(&mut self, rng: &mut Rng, nodes: usize) -> Option<(usize, usize)> {
        self.version += 1;
        if self.version % 3 == 1 {
            self.old = self.new.clone();
            let group = rng.index(GROUPS);
            let free: Vec<usize> = (0..nodes).filter(|node| !self.old[group].contains(node)).collect();
            let leaves = rng.index(self.new[group].len());
            self.new[group][leaves] = free[rng.index(free.len())];
        }
        if self.version % 3 != 2 {
            return None;
        }
        let moved = (0..GROUPS).find(|group| self.old[*group] != self.new[*group])?;
        let to = self.new[moved].iter().find(|node| !self.old[moved].contains(node))?;
        Some((moved, *to))
    }

    /// Owners that a node at `version` reads from.
    pub(crate) fn readers(&self, version: u64, key: u64) -> &[usize] {
        let group = group_of(key);
        if self.step(version) <= 1 { &self.old[group] } else { &self.new[group] }
    }

    /// Owners that a node at `version` writes to: a write counts once it is at one of each.
    pub(crate) fn writers(&self, version: u64, key: u64) -> [&[usize]; 2] {
        let group = group_of(key);
        match self.step(version) {
            0 => [&self.old[group]; 2],
            3 => [&self.new[group]; 2],
            _ => [&self.old[group], &self.new[group]],
        }
    }

    /// Owners before the move, whose data is streamed.
    pub(crate) fn sources(&self, group: usize) -> &[usize] {
        &self.old[group]
    }

    /// Step of the move that `version` is in; nodes lag by at most one step.
    fn step(&self, version: u64) -> u64 {
        let of_move = self.version - (self.version - 1) % 3;
        (version + 1).saturating_sub(of_move)
    }
}
