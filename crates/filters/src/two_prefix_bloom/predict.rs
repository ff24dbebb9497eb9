//! The prediction that all families give, from the model's own.

use lacuna_core::{KeyStatistics, PredictRate, Prediction, Result};

use super::model::TwoPrefixRate;
use super::spec::TwoPrefixBloomSpec;
use crate::integer_sample::IntegerSample;
use crate::predict::told;

/// Bits that an absent prefix is asked for in a Bloom filter half of whose bits are ones.
const BITS_A_PREFIX: f64 = 2.0;

/// The design that the sample asks for, with its prediction; `None` without a query that a body would decide.
pub(crate) fn likely_design(sample: &IntegerSample<'_>) -> Option<(TwoPrefixBloomSpec, Prediction)> {
    let open = TwoPrefixBloomSpec::new();
    let design = open.chosen(sample)?;
    let spec = open.with_lengths(design.short_bits, design.long_bits);
    let spec = if design.short_bits > 0 { spec.with_share(design.share) } else { spec };
    Some((spec, open.told_of(design, sample)))
}

impl TwoPrefixBloomSpec {
    fn told(&self, sample: &IntegerSample<'_>) -> Prediction {
        match self.chosen(sample) {
            Some(design) => self.told_of(design, sample),
            None => told(sample.rate(0.0), 0.0, 0.0, sample.bits_per_key(0), sample.key_count),
        }
    }

    /// The design for the queries that the body decides.
    fn chosen(&self, sample: &IntegerSample<'_>) -> Option<TwoPrefixRate> {
        if sample.is_settled() {
            return None;
        }
        let ranges = sample.inner.iter().map(|query| (query.lo, query.hi)).collect();
        self.choose(&sample.integers, sample.most_bytes, sample.key_bits, ranges)
    }

    fn told_of(&self, design: TwoPrefixRate, sample: &IntegerSample<'_>) -> Prediction {
        let prefixes = self.first_prefixes(design, sample) / sample.empty_count.max(1) as f64;
        let rate = sample.rate(design.rate * sample.inner.len() as f64);
        let bits = sample.bits_per_key(sample.most_bytes);
        told(rate, prefixes * BITS_A_PREFIX, prefixes, bits, sample.key_count)
    }

    /// Prefixes of the filter that is asked first, over all inner queries.
    fn first_prefixes(&self, design: TwoPrefixRate, sample: &IntegerSample<'_>) -> f64 {
        let first_bits = if design.short_bits > 0 { design.short_bits } else { design.long_bits };
        let dropped = sample.key_bits.saturating_sub(first_bits);
        let of_query = |lo: u64, hi: u64| ((hi >> dropped) - (lo >> dropped) + 1).min(self.most_probes());
        sample.inner.iter().map(|query| of_query(query.lo, query.hi) as f64).sum()
    }
}

impl PredictRate<u64> for TwoPrefixBloomSpec {
    fn predict(&self, statistics: &KeyStatistics<'_, u64>) -> Result<Prediction> {
        Ok(self.told(&IntegerSample::of_integers(statistics.keys(), statistics.plan())))
    }
}

impl PredictRate<[u8]> for TwoPrefixBloomSpec {
    fn predict(&self, statistics: &KeyStatistics<'_, [u8]>) -> Result<Prediction> {
        Ok(self.told(&IntegerSample::of_strings(statistics.keys(), statistics.plan())))
    }
}
