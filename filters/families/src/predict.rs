//! Predictions of the families over integers: one for both key spaces.

use lacuna_base::{KeyStatistics, Prediction, RateBound, Result};

use crate::integer_build::{IntegerSpec, TooSmall, budget_too_small};
use crate::statistics::{IntegerStatistics, IntegerView};

/// An integer family that predicts what it would build.
pub(crate) trait PredictIntegers: IntegerSpec {
    /// Rate, probes and size of the body over at least three integers; the payload is counted as the body's bytes.
    fn predict_body(&self, statistics: &IntegerStatistics) -> Result<Prediction, TooSmall>;
}

/// The prediction for the filter of `spec`.
pub(crate) fn predict<K: IntegerView + ?Sized, S: PredictIntegers>(
    spec: &S,
    known: &KeyStatistics<'_, K>,
) -> Result<Prediction> {
    let statistics = known.view(K::integers);
    let beside_bytes = statistics.beside_bytes;
    if statistics.is_settled {
        return Ok(settled(&statistics));
    }
    let body = spec
        .predict_body(&statistics)
        .map_err(|small| budget_too_small::<S>(small.smallest_bytes + beside_bytes, known.keys().len()))?;
    Ok(Prediction { payload_bytes: body.payload_bytes + beside_bytes, ..body })
}

/// A filter without a body: the smallest and largest key say everything.
pub(crate) fn settled(statistics: &IntegerStatistics) -> Prediction {
    Prediction {
        rate: statistics.rate(|_| 0.0),
        probes: 0.0,
        fetches: 0.0,
        payload_bytes: statistics.beside_bytes,
        bound: RateBound::EXACT,
    }
}

/// The prediction of a family's own model for a filter over `key_count` keys; `fetches` as [`Prediction::fetches`].
pub(crate) fn modelled(
    rate: f64,
    probes: f64,
    fetches: f64,
    bits_per_key: f64,
    key_count: usize,
) -> Prediction {
    #[expect(clippy::cast_possible_truncation, reason = "a size in memory; casts saturate")]
    let payload_bytes = (bits_per_key * key_count as f64 / 8.0).round() as usize;
    Prediction { rate, probes, fetches, payload_bytes, bound: RateBound::NONE }
}

/// Gives a spec its predictions over both key spaces.
macro_rules! predicts_integers {
    ($spec:ty) => {
        impl lacuna_base::PredictRate<u64> for $spec {
            fn predict(
                &self,
                statistics: &lacuna_base::KeyStatistics<'_, u64>,
            ) -> lacuna_base::Result<lacuna_base::Prediction> {
                $crate::predict::predict(self, statistics)
            }
        }

        impl lacuna_base::PredictRate<[u8]> for $spec {
            fn predict(
                &self,
                statistics: &lacuna_base::KeyStatistics<'_, [u8]>,
            ) -> lacuna_base::Result<lacuna_base::Prediction> {
                $crate::predict::predict(self, statistics)
            }
        }
    };
}
pub(crate) use predicts_integers;
