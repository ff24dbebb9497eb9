//! Margins: the empty ends of buckets that hold rows elsewhere.
//!
//! A gap from row to row begins and ends inside buckets that hold a row, and such a bucket is "maybe" as a whole. So what a read
//! has proven of it is kept as a margin. With buckets of 16 places, rows 3 and 40, and a proof that nothing is alive from 4 to 39:
//! bucket 1 is empty, bucket 0 has a margin at its end from 4 on, bucket 2 one at its start up to 39. The slice 10 to 36 then
//! needs bucket 1 alone.
//!
//! Guarantee: a margin is entered only by a proof that reaches the border of the bucket, and a write into it takes it away
//! before it is visible, announced like a new key. A write elsewhere leaves it alone.
//!
//! Cost: an exact mark each, as of a dead key; nothing for writes while a filter has none.

use crate::buckets::Buckets;
use crate::key_id::KeyId;

/// Set in numbers of marks that are margins: no time of a deletion has it.
pub(crate) const MARGIN: u64 = 1 << 63;

/// Levels of buckets end below.
const FIRST_LEVEL: u32 = 64;

/// An end of a stretch of places: of a bucket with a margin, of a partition with a [water mark](crate::WaterMark).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// From the first place to one inside.
    Start,
    /// From a place inside to the last.
    End,
}

impl Side {
    pub(crate) const BOTH: [Self; 2] = [Self::Start, Self::End];

    /// Whether a margin that reaches `inner` holds `place`, both counted from the bucket's first place.
    pub(crate) fn holds(self, inner: u64, place: u64) -> bool {
        match self {
            Self::Start => place <= inner,
            Self::End => place >= inner,
        }
    }
}

/// A stretch at one end of a bucket that holds no live row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Margin {
    pub(crate) side: Side,
    pub(crate) bucket: u64,
    /// Its place that is farthest from the bucket's border, counted from the bucket's first place.
    pub(crate) inner: u64,
}

impl Buckets {
    /// The margins that a proof of `lo..=hi` gives: of the buckets at its ends, as far as it reaches a border of them.
    pub(crate) fn margins(self, lo: u64, hi: u64) -> impl Iterator<Item = Margin> {
        let (first, last) = (self.finest_of(lo), self.finest_of(hi));
        let is_at_end = self.first_in(first) < lo && hi >= self.last_in(first);
        let is_at_start = self.last_in(last) > hi && lo <= self.first_in(last);
        let at_end = Margin { side: Side::End, bucket: first, inner: lo - self.first_in(first) };
        let at_start = Margin { side: Side::Start, bucket: last, inner: hi - self.first_in(last) };
        [(is_at_end, at_end), (is_at_start, at_start)]
            .into_iter()
            .filter_map(|(is, margin)| is.then_some(margin))
    }
}

impl KeyId {
    /// The name of the margin at one end of bucket `bucket` of the finest level in this partition.
    #[must_use]
    pub(crate) fn margin(self, side: Side, bucket: u64) -> Self {
        self.bucket(FIRST_LEVEL + u32::from(side == Side::End), bucket)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed test panics")]
mod tests {
    use lacuna_workload::Rng;

    use super::*;

    #[test]
    fn a_proof_gives_margins_where_it_reaches_a_border() {
        let buckets = Buckets::new(4, 4, 2).unwrap();
        let of = |lo, hi| {
            buckets.margins(lo, hi).map(|m| (m.side == Side::End, m.bucket, m.inner)).collect::<Vec<_>>()
        };
        assert_eq!(of(4, 39), [(true, 0, 4), (false, 2, 7)]);
        assert_eq!(of(4, 14), [], "inside a bucket");
        assert_eq!(of(4, 15), [(true, 0, 4)]);
        assert_eq!(of(16, 20), [(false, 1, 4)]);
        assert_eq!(of(16, 47), [], "whole buckets");
        assert_eq!(of(u64::MAX - 3, u64::MAX), [(true, u64::MAX >> 4, 12)]);
        assert_eq!(of(0, 3), [(false, 0, 3)]);
    }

    /// Every place of a margin lies in the proof, and no place of an end bucket that the proof reaches is left out.
    #[test]
    fn margins_lie_inside_their_proof() {
        let mut rng = Rng::new(4);
        for round in 0..20_000 {
            let buckets = Buckets::new(u32::try_from(rng.below(40)).unwrap(), 4, 3).unwrap();
            let lo = rng.next_u64() >> rng.below(64);
            let hi = lo.saturating_add(rng.next_u64() >> rng.below(64));
            for Margin { side, bucket, inner } in buckets.margins(lo, hi) {
                let (first, last) = (buckets.first_in(bucket), buckets.last_in(bucket));
                let place = rng.between(first, last);
                let is_held = side.holds(inner, place - first);
                assert_eq!(is_held, (lo..=hi).contains(&place), "round {round}: {lo}..={hi}, place {place}");
            }
        }
    }

    #[test]
    fn a_margin_has_a_name_of_its_own() {
        let partition = KeyId::of_partition(b"ada");
        let names = Side::BOTH.map(|side| partition.margin(side, 7));
        assert!(names[0] != names[1] && (0..64).all(|level| !names.contains(&partition.bucket(level, 7))));
    }
}
