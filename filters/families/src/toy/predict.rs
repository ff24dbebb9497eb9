//! The prediction of the toy family, which promises nothing.

use lacuna_base::{Prediction, RateBound};

use super::codec::BODY_BYTES;
use super::spec::ToySpec;
use crate::integer_build::TooSmall;
use crate::predict::{PredictIntegers, predicts_integers};
use crate::statistics::IntegerStatistics;

impl PredictIntegers for ToySpec {
    fn predict_body(&self, statistics: &IntegerStatistics) -> Result<Prediction, TooSmall> {
        Ok(Prediction {
            rate: statistics.rate(|_| 1.0),
            probes: 1.0,
            fetches: 1.0,
            payload_bytes: BODY_BYTES,
            bound: RateBound::NONE,
        })
    }
}

predicts_integers!(ToySpec);
