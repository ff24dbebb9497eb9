//! Building Bucketing: as many buckets as the budget holds, counting shared ones once.

use lacuna_base::testing::cross;

use super::codec::{Map, Scale, Segment};
use super::cuts::{BUCKETS_A_CUT, Cuts, NO_CUT, body_bytes, last_with};
use super::spec::BucketingSpec;
use crate::geometry::body_of;
use crate::integer_build::TooSmall;
use crate::largest::largest_within;
use crate::statistics::GapCounts;

/// Passes over the keys that may be spent on buckets that keys share.
const MAX_PASSES: usize = 12;
/// A further pass must promise at least this many times the buckets.
const WORTHWHILE: f64 = 1.02;

/// Writes the body for at least two ascending `keys`.
pub(crate) fn write_body(spec: BucketingSpec, keys: &[u64], max_bytes: usize) -> Result<Vec<u8>, TooSmall> {
    let span = keys[keys.len() - 1] - keys[0];
    let gaps = GapCounts::of(keys.windows(2).map(|pair| pair[1] - pair[0]), 1.0);
    let cuts = Cuts::finest(spec, &gaps, span, max_bytes).filter(|cuts| cuts.count > 0);
    let cut = cuts.and_then(|cuts| Search::new(spec, keys, cuts.gap_log2, max_bytes).finest());
    // The size was chosen by an estimate of the buckets that keys share: where that was wrong, nothing is left out.
    match cut.or_else(|| Search::new(spec, keys, NO_CUT, max_bytes).finest()) {
        Some(body) => Ok(body),
        None => Err(TooSmall { smallest_bytes: body_bytes(0, 1, 0, spec.geometry()) }),
    }
}

struct Search<'a> {
    spec: BucketingSpec,
    /// The keys, cut at the gaps that are left out.
    segments: Vec<&'a [u64]>,
    /// Distances between the keys of each segment, added up.
    covered: u64,
    max_bytes: usize,
}

impl<'a> Search<'a> {
    fn new(spec: BucketingSpec, keys: &'a [u64], gap_log2: u32, max_bytes: usize) -> Self {
        let is_near = |key: &u64, next: &u64| (next - key).checked_shr(gap_log2).unwrap_or(0) == 0;
        let segments: Vec<&[u64]> = keys.chunk_by(is_near).collect();
        let covered = segments.iter().map(|keys| keys[keys.len() - 1] - keys[0]).sum();
        Self { spec, segments, covered, max_bytes }
    }

    /// The body with the finest buckets that fit.
    fn finest(&self) -> Option<Vec<u8>> {
        let key_count = self.segments.iter().map(|keys| keys.len() as u64).sum();
        let sure = self.last_for(key_count).or_else(|| self.fits(0).then_some(0))?;
        Some(self.body(self.widen(sure)))
    }

    fn cuts(&self) -> u64 {
        self.segments.len() as u64 - 1
    }

    fn body_bytes(&self, occupied: u64, last: u64) -> usize {
        body_bytes(self.cuts(), occupied, last, self.spec.geometry())
    }

    /// The largest last bucket within the budget if `occupied` buckets are occupied.
    fn last_for(&self, occupied: u64) -> Option<u64> {
        largest_within(self.covered, |last| self.body_bytes(occupied, last) <= self.max_bytes)
    }

    fn scale(&self, last: u64) -> Scale {
        if last == self.covered { Scale::EXACT } else { Scale::new(self.covered, last) }
    }

    /// How many buckets up to `last` are occupied: one pass.
    fn occupied(&self, last: u64) -> u64 {
        let scale = self.scale(last);
        let in_segment = |keys: &&[u64]| {
            let buckets = keys.iter().map(|key| scale.bucket(key - keys[0]));
            let count = |(before, count): (u64, u64), bucket| (bucket, count + u64::from(bucket != before));
            buckets.fold((u64::MAX, 0), count).1
        };
        self.segments.iter().map(in_segment).sum()
    }

    /// Whether the buckets up to `last` that are occupied fit.
    fn fits(&self, last: u64) -> bool {
        self.body_bytes(self.occupied(last), last) <= self.max_bytes
    }

    /// The body with buckets up to `last` and those that the cuts cost.
    fn body(&self, last: u64) -> Vec<u8> {
        let scale = self.scale(last);
        let smallest = self.segments[0][0];
        let mut table = Vec::with_capacity(self.segments.len());
        let mut buckets = Vec::new();
        let mut first_bucket = 0;
        for keys in &self.segments {
            table.push(Segment { start: keys[0] - smallest, first_bucket });
            buckets.extend(keys.iter().map(|key| first_bucket + scale.bucket(key - keys[0])));
            // The number after the last segment is not used, and may be larger than any.
            first_bucket = first_bucket
                .saturating_add(scale.bucket(keys[keys.len() - 1] - keys[0]))
                .saturating_add(BUCKETS_A_CUT);
        }
        if self.cuts() > 0 {
            cross("bucketing: gaps left out");
        }
        buckets.dedup();
        let last = last_with(self.cuts(), last);
        body_of(&Map::encode(scale, &table[1..]), &buckets, last, self.spec.geometry(), self.max_bytes)
    }

    /// Grows `sure`, which fits whatever the keys share, towards the largest last bucket that fits what they do share.
    fn widen(&self, sure: u64) -> u64 {
        let mut fitting = sure;
        let mut beyond = None;
        for _ in 0..MAX_PASSES {
            let promised = match beyond {
                // Half way on a logarithmic scale.
                Some(beyond) => geometric_middle(fitting, beyond),
                None => self.last_for(self.occupied(fitting)).unwrap_or(fitting),
            };
            // A bucket for each key is worth any number of them: the rate is 0 then.
            let is_exact = fitting < promised && promised == self.covered;
            if promised as f64 <= fitting as f64 * WORTHWHILE && !is_exact {
                break;
            }
            cross("bucketing: shared buckets");
            if self.fits(promised) {
                fitting = promised;
            } else {
                beyond = Some(promised);
            }
        }
        fitting
    }
}

fn geometric_middle(low: u64, high: u64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a mean of two u64 is below 2^64, and the cast saturates"
    )]
    let middle = ((low as f64).sqrt() * (high as f64).sqrt()) as u64;
    middle.clamp(low, high)
}
