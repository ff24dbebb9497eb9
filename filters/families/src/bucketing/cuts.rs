//! Where the span is cut: gaps that are left out, so that all buckets lie where keys are.
//!
//! A gap that is left out costs an entry of the table and saves the buckets in it. All gaps of a size and above are left
//! out together; of the powers of two, that size is taken which leaves the finest buckets. Finer buckets are better for every
//! query, so nothing need be known of the queries.

use lacuna_succinct::elias_fano::{Geometry, encoded_len};

use super::codec::{ENTRY_BYTES, HEADER_BYTES};
use super::spec::BucketingSpec;
use crate::largest::largest_within;
use crate::statistics::GapCounts;

/// Buckets that a cut costs: one for the gap, and one because the bucket of a segment's last key is rounded down.
pub(super) const BUCKETS_A_CUT: u64 = 2;
/// The size of gaps of which there are none, as a power of two.
pub(super) const NO_CUT: u32 = 64;
/// Cuts must make buckets finer by this factor: each makes the search longer.
const WORTHWHILE: f64 = 1.1;

/// Which gaps are left out, and how many buckets the rest is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cuts {
    /// Gaps from this size on, as a power of two; none if it is [`NO_CUT`].
    pub(super) gap_log2: u32,
    pub(super) count: u64,
    /// Distances between keys, added up without the gaps left out.
    pub(super) covered: u64,
    /// Last bucket, before those that the cuts cost; one for each key if it is `covered`.
    pub(super) last: u64,
    pub(super) bytes: usize,
}

impl Cuts {
    /// The cuts that make the finest buckets for keys with these `gaps` over `span`; `None` if nothing fits.
    pub(super) fn finest(spec: BucketingSpec, gaps: &GapCounts, span: u64, max_bytes: usize) -> Option<Self> {
        let with = |gap_log2| Self::of(gaps, gap_log2, span, spec.geometry(), max_bytes);
        if let Some(gap_log2) = spec.gap_log2() {
            return with(gap_log2);
        }
        let finer = |best: Option<Self>, cuts: Self| match best {
            Some(best) if best.is_exact() => Some(best),
            Some(best) if !cuts.is_exact() && cuts.fineness() <= best.fineness() * WORTHWHILE => Some(best),
            _ => Some(cuts),
        };
        // A size that no gap has leaves out what the next larger one does.
        let is_of_a_gap = |&gap_log2: &u32| gaps.without(gap_log2).0 > gaps.without(gap_log2 + 1).0;
        (2..NO_CUT).rev().filter(is_of_a_gap).filter_map(with).fold(with(NO_CUT), finer)
    }

    fn of(gaps: &GapCounts, gap_log2: u32, span: u64, geometry: Geometry, max_bytes: usize) -> Option<Self> {
        let (count, covered) = match gap_log2 {
            NO_CUT => (0, span),
            _ => gaps.without(gap_log2),
        };
        let bytes = |last: u64| body_bytes(count, occupied(gaps, covered, last), last, geometry);
        let last = largest_within(covered, |last| bytes(last) <= max_bytes)?;
        Some(Self { gap_log2, count, covered, last, bytes: bytes(last) })
    }

    /// Whether each key has a bucket of its own.
    pub(super) fn is_exact(&self) -> bool {
        self.last == self.covered
    }

    /// Buckets a key.
    fn fineness(&self) -> f64 {
        (self.last as f64 + 1.0) / (self.covered as f64 + 1.0)
    }

    /// Buckets that hold a key.
    pub(super) fn occupied(&self, gaps: &GapCounts) -> u64 {
        occupied(gaps, self.covered, self.last)
    }
}

/// Bytes of a body with `cuts` cuts and `occupied` buckets up to `last` and those that the cuts cost.
pub(super) fn body_bytes(cuts: u64, occupied: u64, last: u64, geometry: Geometry) -> usize {
    let last = last_with(cuts, last);
    // There cannot be more occupied buckets than buckets.
    let sequence = encoded_len(occupied.min(last.saturating_add(1)), last, geometry);
    let table = usize::try_from(cuts).unwrap_or(usize::MAX).saturating_mul(ENTRY_BYTES);
    HEADER_BYTES.saturating_add(table).saturating_add(sequence)
}

/// Fewest bytes of a body in which each of `keys` keys has a bucket of its own.
pub(crate) fn exact_bytes(gaps: &GapCounts, span: u64, keys: u64) -> usize {
    let with = |gap_log2| {
        let (count, covered) = if gap_log2 == NO_CUT { (0, span) } else { gaps.without(gap_log2) };
        body_bytes(count, keys, covered, BucketingSpec::new().geometry())
    };
    (2..=NO_CUT).map(with).min().expect("there are sizes of gaps")
}

/// The last bucket with those that `cuts` cuts cost.
pub(super) fn last_with(cuts: u64, last: u64) -> u64 {
    last.saturating_add(cuts * BUCKETS_A_CUT)
}

/// Buckets up to `last` over `covered` keys that hold one: as many as stretches of a bucket's width after all keys.
fn occupied(gaps: &GapCounts, covered: u64, last: u64) -> u64 {
    let width = (covered as f64 + 1.0) / (last as f64 + 1.0);
    #[expect(clippy::cast_possible_truncation, reason = "at most the number of keys; casts saturate")]
    let occupied = (gaps.covered(width) / width + 1.0).round() as u64;
    occupied.max(1)
}
