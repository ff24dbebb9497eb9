//! The prediction that all families give, from the model's own.

use lacuna_base::{KeyStatistics, PredictRate, Prediction, Result};

use super::model::TwoPrefixRate;
use super::spec::TwoPrefixBloomSpec;
use crate::bloom::waits_for;
use crate::integer_sample::{InnerQuery, IntegerSample};
use crate::predict::modelled;

/// Bits that an absent prefix is asked for in a Bloom filter half of whose bits are ones.
const BITS_A_PREFIX: f64 = 2.0;

/// The design that the sample asks for, with its prediction; `None` without a query that a body would decide.
pub(crate) fn likely_design(sample: &IntegerSample<'_>) -> Option<(TwoPrefixBloomSpec, Prediction)> {
    let open = TwoPrefixBloomSpec::new();
    let design = open.chosen(sample)?;
    let spec = open.with_lengths(design.short_bits, design.long_bits);
    let spec = if design.short_bits > 0 { spec.with_share(design.share) } else { spec };
    Some((spec, open.prediction_of(design, sample)))
}

impl TwoPrefixBloomSpec {
    fn prediction(&self, sample: &IntegerSample<'_>) -> Prediction {
        match self.chosen(sample) {
            Some(design) => self.prediction_of(design, sample),
            None => modelled(sample.rate(0.0), 0.0, 0.0, sample.bits_per_key(0), sample.key_count),
        }
    }

    /// The design for the queries that the body decides.
    fn chosen(&self, sample: &IntegerSample<'_>) -> Option<TwoPrefixRate> {
        if sample.is_settled() {
            return None;
        }
        let ranges = sample.inner.iter().map(|query| (query.lo, query.hi)).collect();
        self.choose(&sample.integers, sample.max_bytes, sample.key_bits, ranges)
    }

    fn prediction_of(&self, design: TwoPrefixRate, sample: &IntegerSample<'_>) -> Prediction {
        let prefixes = self.prefixes(design, sample) / sample.empty_count.max(1) as f64;
        let rate = sample.rate(design.rate * sample.inner.len() as f64);
        let bits = sample.bits_per_key(sample.max_bytes);
        modelled(rate, prefixes * BITS_A_PREFIX, waits_for(prefixes), bits, sample.key_count)
    }

    /// Prefixes asked for, over all inner queries: the short ones, and the long ones of queries that share a short one
    /// with a key. Long prefixes below a short one that is "maybe" by its hash alone are left out.
    fn prefixes(&self, design: TwoPrefixRate, sample: &IntegerSample<'_>) -> f64 {
        let dropped = |bits: u32| sample.key_bits.saturating_sub(bits);
        let (short, long) = (dropped(design.short_bits), dropped(design.long_bits));
        let count = |query: &InnerQuery, dropped: u32| {
            ((query.hi >> dropped) - (query.lo >> dropped) + 1).min(self.max_probes()) as f64
        };
        let is_shared = |query: &InnerQuery| {
            let (below, above) = (sample.integers[query.next - 1], sample.integers[query.next]);
            below >> short == query.lo >> short || above >> short == query.hi >> short
        };
        let of_query = |query: &InnerQuery| match design.short_bits {
            0 => count(query, long),
            _ if is_shared(query) => count(query, short) + count(query, long),
            _ => count(query, short),
        };
        sample.inner.iter().map(of_query).sum()
    }
}

impl PredictRate<u64> for TwoPrefixBloomSpec {
    fn predict(&self, statistics: &KeyStatistics<'_, u64>) -> Result<Prediction> {
        Ok(self.prediction(&IntegerSample::of_integers(statistics.keys(), statistics.plan())))
    }
}

impl PredictRate<[u8]> for TwoPrefixBloomSpec {
    fn predict(&self, statistics: &KeyStatistics<'_, [u8]>) -> Result<Prediction> {
        Ok(self.prediction(&IntegerSample::of_strings(statistics.keys(), statistics.plan())))
    }
}
