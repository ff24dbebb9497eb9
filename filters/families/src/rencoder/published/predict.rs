//! The prediction: that of the family's own layout, as if bits were independent, which the paper assumes.

use lacuna_base::Prediction;

use super::spec::PublishedRencoderSpec;
use crate::integer_build::TooSmall;
use crate::predict::{PredictIntegers, predicts_integers};
use crate::rencoder::RencoderSpec;
use crate::statistics::IntegerStatistics;

impl PredictIntegers for PublishedRencoderSpec {
    fn predict_body(&self, statistics: &IntegerStatistics) -> Result<Prediction, TooSmall> {
        let smallest_bytes = self.smallest_bytes();
        if statistics.max_bytes < smallest_bytes {
            return Err(TooSmall { smallest_bytes });
        }
        let own = RencoderSpec::new().with_tree_levels(self.tree_levels()).predict_body(statistics)?;
        Ok(Prediction { payload_bytes: statistics.max_bytes, ..own })
    }
}

predicts_integers!(PublishedRencoderSpec);
