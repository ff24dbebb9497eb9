//! Water marks: up to where a partition holds no live row, from its first place on or from its last one back.
//!
//! The first row of a queue comes after all that were taken out of it, and a read of one row walks over their tombstones, at every
//! replica. So what a proof from the first place on has shown is kept for the partition as a whole: rows 0 to 1,999 are dead at one
//! replica, rows 0 to 2,400 at another; no row up to 1,999 can be in an answer, and all replicas can be asked from row 2,000 on.
//!
//! Guarantee: as for [margins](crate::margins), of which they are one more kind. A mark is entered by a proof that reaches the first (or
//! the last) place of all; a write at or before it ends it before the write is visible, and is announced like a new key.
//! Replicas are read after the decision, so the mark is looked up once more when their answer is there ([`confirms`](WaterMark::confirms)):
//! what a replica has shown by then, its lease holders know. If anything has ended meanwhile, the answer does not count.
//!
//! Cost: an exact mark of 24 bytes for each partition and end. Two places share a number, since numbers of marks have 63 bits: a mark may
//! end one place early.

use lacuna_base::hash::hash_bytes;

use crate::buckets::Buckets;
use crate::config::Mode;
use crate::key_id::{KeyId, NodeId, TableId};
use crate::margins::Side;
use crate::node::Node;
use crate::presence::Presence;
use crate::question::Asked;

/// Levels of the names of margins end below.
const LEVEL: u32 = 66;

/// Places are counted in pairs.
const LAST_PAIR: u64 = u64::MAX >> 1;

/// How far one end of a partition is known to hold no live row, at all replicas of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaterMark {
    side: Side,
    pair: u64,
    stamp: u64,
}

impl WaterMark {
    fn everything(side: Side) -> Self {
        let pair = match side {
            Side::Start => LAST_PAIR,
            Side::End => 0,
        };
        Self { side, pair, stamp: 0 }
    }

    /// As far as both reach.
    fn and(self, pair: u64, stamp: [u64; 5]) -> Self {
        let pair = if self.side.holds(pair, self.pair) { self.pair } else { pair };
        let bytes: Vec<u8> = stamp.iter().flat_map(|word| word.to_le_bytes()).collect();
        Self { pair, stamp: hash_bytes(&bytes, self.stamp), ..self }
    }

    /// The last place of the stretch, counted from its end of the partition: it and all before it (after it) hold no live row.
    #[must_use]
    pub fn place(self) -> u64 {
        match self.side {
            Side::Start => self.pair << 1 | 1,
            Side::End => self.pair << 1,
        }
    }

    /// Whether a row at this place lies in the stretch, so that it is not alive.
    #[must_use]
    pub fn covers(self, place: u64) -> bool {
        holds(self.side, self.pair, place)
    }

    /// What differs when anything that an earlier mark relied on has ended since.
    #[must_use]
    pub fn stamp(self) -> u64 {
        self.stamp
    }

    /// Whether an answer that was read since `before` was looked up has missed nothing.
    #[must_use]
    pub fn confirms(self, before: Self) -> bool {
        self.stamp == before.stamp && self.side == before.side && self.side.holds(self.pair, before.pair)
    }
}

/// The water marks that a proof of `lo..=hi` gives.
pub(crate) fn of_proof(lo: u64, hi: u64) -> impl Iterator<Item = (Side, u64)> {
    let start = if lo == 0 { last_whole_pair(hi) } else { None };
    let end = if hi == u64::MAX { first_whole_pair(lo) } else { None };
    [start.map(|pair| (Side::Start, pair)), end.map(|pair| (Side::End, pair))].into_iter().flatten()
}

fn last_whole_pair(hi: u64) -> Option<u64> {
    if hi == u64::MAX { Some(LAST_PAIR) } else { ((hi + 1) >> 1).checked_sub(1) }
}

fn first_whole_pair(lo: u64) -> Option<u64> {
    let pair = (lo >> 1) + (lo & 1);
    (pair <= LAST_PAIR).then_some(pair)
}

/// Whether a row at `place` lies in the stretch of a mark.
pub(crate) fn holds(side: Side, pair: u64, place: u64) -> bool {
    side.holds(pair, place >> 1)
}

impl KeyId {
    /// The name of the water mark at one end of this partition.
    #[must_use]
    pub(crate) fn water_mark(self, side: Side) -> Self {
        self.bucket(LEVEL + u32::from(side == Side::End), 0)
    }
}

impl Node {
    /// Up to where no replica of the partition holds a live row, from one end of it. In mode safe only.
    pub fn water_mark(&self, now: u64, table: TableId, asked: &Asked<'_>, side: Side) -> Option<WaterMark> {
        if !self.is_on() || self.config().mode != Mode::Safe || asked.replicas.is_empty() {
            return None;
        }
        let buckets = self.buckets(table)?;
        let mut mark = WaterMark::everything(side);
        for replica in asked.replicas {
            let (pair, stamp) = self.mark_at(now, table, (asked.partition, buckets), *replica, side)?;
            mark = mark.and(pair, stamp);
        }
        Some(mark)
    }

    /// How far this node's own filter says that a partition of its is dead from one end on.
    pub fn own_water_mark(&self, table: TableId, partition: KeyId, side: Side) -> Option<u64> {
        let pair = self.margin_at(self.id(), table, partition.water_mark(side))?;
        Some(WaterMark { pair, ..WaterMark::everything(side) }.place())
    }

    fn mark_at(
        &self,
        now: u64,
        table: TableId,
        (partition, buckets): (KeyId, Buckets),
        replica: NodeId,
        side: Side,
    ) -> Option<(u64, [u64; 5])> {
        if replica != self.id() && self.is_stale(now, replica).is_some()
            || self.is_open(replica, table, partition)
        {
            return None;
        }
        let name = partition.water_mark(side);
        let presence = self.presence_at(replica, table, partition);
        let pair = match presence {
            Presence::Absent | Presence::Dead => WaterMark::everything(side).pair,
            Presence::Live if self.has_buckets(replica, table, buckets) => {
                self.margin_at(replica, table, name)?
            }
            Presence::Live | Presence::Unknown => return None,
        };
        let is_own = replica == self.id();
        let filter = if is_own { self.own_filter(table) } else { self.copy_of(replica, table) }?;
        let [which, all, of_partition, of_mark] = filter.losses().of([partition, name]);
        Some((pair, [which, all, of_partition, of_mark, u64::from(presence == Presence::Live)]))
    }

    /// The slice without what water marks of one replica say is dead; `None` if nothing is left.
    pub(crate) fn without_water_marks(
        &self,
        replica: NodeId,
        table: TableId,
        partition: KeyId,
        (lo, hi): (u64, u64),
    ) -> Option<(u64, u64)> {
        let mark = |side: Side, place| {
            let pair = self.margin_at(replica, table, partition.water_mark(side));
            pair.filter(|pair| holds(side, *pair, place))
        };
        let from = match mark(Side::Start, lo) {
            Some(pair) => pair.checked_add(1).filter(|next| *next <= LAST_PAIR)? << 1,
            None => lo,
        };
        let to = match mark(Side::End, hi) {
            Some(pair) => (pair << 1).checked_sub(1)?,
            None => hi,
        };
        (from <= to).then_some((from, to))
    }
}

#[cfg(test)]
mod tests {
    use lacuna_workload::Rng;

    use super::*;

    #[test]
    fn a_proof_gives_marks_where_it_reaches_an_end_of_all() {
        let of = |lo, hi| of_proof(lo, hi).collect::<Vec<_>>();
        assert_eq!(of(0, 1_999), [(Side::Start, 999)]);
        assert_eq!(of(0, 2_000), [(Side::Start, 999)], "place 2,001 shares its number");
        assert_eq!(of(1, 1_999), []);
        assert_eq!(of(0, 0), []);
        assert_eq!(of(7, u64::MAX), [(Side::End, 4)]);
        assert_eq!(of(8, u64::MAX), [(Side::End, 4)]);
        assert_eq!(of(u64::MAX, u64::MAX), []);
        assert_eq!(of(0, u64::MAX), [(Side::Start, LAST_PAIR), (Side::End, 0)]);
    }

    #[test]
    fn marks_lie_inside_their_proof() {
        let mut rng = Rng::new(6);
        for round in 0..20_000 {
            let inner = rng.next_u64() >> rng.below(64);
            for (lo, hi) in [(0, inner), (inner, u64::MAX)] {
                for (side, pair) in of_proof(lo, hi) {
                    let beside =
                        [inner.saturating_sub(2), inner.saturating_add(2), rng.next_u64() >> rng.below(64)];
                    for place in beside.into_iter().flat_map(|near| [near, near ^ 1]) {
                        let is_held = holds(side, pair, place);
                        assert!(
                            !is_held || (lo..=hi).contains(&place),
                            "round {round}: {place} of {lo}..={hi}"
                        );
                        let is_near = place.abs_diff(inner) <= 1;
                        assert!(
                            is_held || is_near || !(lo..=hi).contains(&place),
                            "round {round}: {place} is left out"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_mark_has_a_name_of_its_own() {
        let partition = KeyId::of_partition(b"ada");
        let names = Side::BOTH.map(|side| partition.water_mark(side));
        let margins = Side::BOTH.map(|side| partition.margin(side, 0));
        assert!(
            names[0] != names[1]
                && !names.contains(&partition)
                && names.iter().all(|name| !margins.contains(name))
        );
    }
}
