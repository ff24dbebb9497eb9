//! Building Bucketing: as many buckets as the budget holds, counting shared ones once.

use lacuna_base::testing::cross;
use lacuna_succinct::elias_fano::encoded_len;

use super::codec::{HEADER_BYTES, Scale};
use super::spec::BucketingSpec;
use crate::geometry::body_of;
use crate::integer_build::TooSmall;
use crate::largest::largest_within;

/// Passes over the keys that may be spent on buckets that keys share.
const MAX_PASSES: usize = 12;
/// A further pass must promise at least this many times the buckets.
const WORTHWHILE: f64 = 1.02;

/// Writes the body for at least two ascending `keys`.
pub(crate) fn write_body(spec: BucketingSpec, keys: &[u64], max_bytes: usize) -> Result<Vec<u8>, TooSmall> {
    let search = Search { spec, keys, span: keys[keys.len() - 1] - keys[0], max_bytes };
    let sure =
        search.last_for(keys.len() as u64).ok_or(TooSmall { smallest_bytes: search.body_bytes(1, 0) })?;
    let last = search.widen(sure);
    let scale = search.scale(last);
    let mut buckets: Vec<u64> = keys.iter().map(|key| scale.bucket(key - keys[0])).collect();
    buckets.dedup();
    Ok(body_of(&scale.encode(), &buckets, last, spec.geometry(), max_bytes))
}

struct Search<'a> {
    spec: BucketingSpec,
    keys: &'a [u64],
    span: u64,
    max_bytes: usize,
}

impl Search<'_> {
    fn body_bytes(&self, occupied: u64, last: u64) -> usize {
        // There cannot be more occupied buckets than buckets.
        HEADER_BYTES + encoded_len(occupied.min(last.saturating_add(1)), last, self.spec.geometry())
    }

    /// The largest last bucket within the budget if `occupied` buckets are occupied.
    fn last_for(&self, occupied: u64) -> Option<u64> {
        largest_within(self.span, |last| self.body_bytes(occupied, last) <= self.max_bytes)
    }

    fn scale(&self, last: u64) -> Scale {
        if last == self.span { Scale::EXACT } else { Scale::new(self.span, last) }
    }

    /// How many buckets up to `last` are occupied: one pass.
    fn occupied(&self, last: u64) -> u64 {
        let scale = self.scale(last);
        let smallest = self.keys[0];
        let buckets = self.keys.iter().map(|key| scale.bucket(key - smallest));
        let changes = buckets
            .fold((u64::MAX, 0u64), |(before, count), bucket| (bucket, count + u64::from(bucket != before)));
        changes.1
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
            if (promised as f64) < fitting as f64 * WORTHWHILE {
                break;
            }
            cross("bucketing: shared buckets");
            if self.body_bytes(self.occupied(promised), promised) <= self.max_bytes {
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
