//! Bucketing's rate, from the gaps between keys: how many buckets fit, and which queries stand in one with a key.
//!
//! Buckets of a width are occupied as often as the stretches of that width after all keys cover the span, so one sum
//! over the gaps replaces the builder's passes over the keys.

use lacuna_base::Prediction;
use lacuna_succinct::elias_fano::encoded_len;

use super::codec::{HEADER_BYTES, Scale};
use super::spec::BucketingSpec;
use crate::integer_build::TooSmall;
use crate::largest::largest_within;
use crate::predict::{PredictIntegers, predicts_integers};
use crate::statistics::{EmptyQuery, IntegerStatistics};

impl PredictIntegers for BucketingSpec {
    fn predict_body(&self, statistics: &IntegerStatistics) -> Result<Prediction, TooSmall> {
        let span = statistics.span();
        let body_bytes = |last: u64| {
            let occupied = occupied(statistics, last).min(last.saturating_add(1));
            HEADER_BYTES + encoded_len(occupied, last, self.geometry())
        };
        let last = largest_within(span, |last| body_bytes(last) <= statistics.max_bytes)
            .ok_or_else(|| TooSmall { smallest_bytes: HEADER_BYTES + encoded_len(1, 0, self.geometry()) })?;
        let scale = if last == span { Scale::EXACT } else { Scale::new(span, last) };
        let bucket = |key: u64| scale.bucket(key.saturating_sub(statistics.smallest));
        let is_crowded = |query: &EmptyQuery| query.is_crowded(bucket);
        let slices = Slices::of(occupied(statistics, last), last, span);
        Ok(Prediction {
            rate: statistics.rate(|query| f64::from(u8::from(is_crowded(query)))),
            probes: statistics.mean(|query| slices.looks(query).probes),
            fetches: statistics.mean(|query| slices.looks(query).fetches),
            payload_bytes: body_bytes(last),
            is_robust: last == span,
        })
    }
}

/// The slices of the sequence that queries fall into.
struct Slices {
    /// Keys that a slice of average filling spans.
    width: f64,
    /// Keys that a bucket spans.
    bucket: f64,
}

/// The probes and fetches of a query.
struct Looks {
    probes: f64,
    fetches: f64,
}

impl Slices {
    /// High parts in a slice, with about one bucket each.
    const HIGHS: f64 = 128.0;
    /// Most buckets of a slice that is not spilled.
    const MAX: f64 = 2_047.0;

    fn of(occupied: u64, last: u64, span: u64) -> Self {
        let width = Self::HIGHS * span as f64 / occupied as f64;
        Self { width, bucket: (span as f64 + 1.0) / (last as f64 + 1.0) }
    }

    /// Where keys are as far apart as on average, a query reads one line; in an empty slice, which many queries share,
    /// half of them read a line that another query has fetched; a spilled slice is searched for, and its table and
    /// values stand apart.
    fn looks(&self, query: &EmptyQuery) -> Looks {
        let (Some(below), Some(above)) = (query.below, query.above) else {
            return Looks { probes: 1.0, fetches: 1.0 };
        };
        let gap = (above.abs_diff(below) as f64).max(self.bucket);
        match self.width / gap {
            filling if filling < 1.0 => Looks { probes: 1.0, fetches: 0.5 },
            filling if filling > Self::MAX => Looks { probes: 8.0, fetches: 2.0 },
            _ => Looks { probes: 1.0, fetches: 1.0 },
        }
    }
}

/// Buckets up to `last` that hold a key.
fn occupied(statistics: &IntegerStatistics, last: u64) -> u64 {
    let width = (statistics.span() as f64 + 1.0) / (last as f64 + 1.0);
    #[expect(clippy::cast_possible_truncation, reason = "at most the number of keys; casts saturate")]
    let occupied = (statistics.gaps.covered(width) / width + 1.0).round() as u64;
    occupied.clamp(1, statistics.place_count())
}

predicts_integers!(BucketingSpec);
