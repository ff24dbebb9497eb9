//! Both at once: a bound for any queries, and the rate that a sample promises.
//!
//! A robust filter pays for the length of ranges: with m bits a key its rate is their length by 2^m, wherever they start. A learned
//! one has a low rate for long ranges like the sampled ones, and none next to keys. Where the robust filter says "maybe" to a share
//! r of the sampled queries and the learned one to a share e, the bound of the one and the rate of the other take `m + log2(r / e)`
//! bits a key at least ([`docs/design/designer.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/designer.md), "Robust and learned at once"). So a design that has only one of them says what both take.

use std::fmt;

use lacuna_base::{Budget, BuildPlan, KeySpaceId, KeyStatistics, Prediction, RateBound, SortedKeys};

use super::candidates::{CandidateSpec, DesignKey};
use super::design::Candidate;
use super::search::DesignRules;
use crate::bucketing::{BucketingSpec, exact_bytes};
use crate::predict::predict;
use crate::ribbon::{RibbonSpec, halves_that_promise, likely_forms};
use crate::statistics::IntegerStatistics;

/// A price is named where the robust rate is at least this many times the learned one.
const NAMED_FROM: f64 = 2.0;

/// A filter with a bound, one with a lower rate, and the price of both.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Both {
    /// The spec that keeps a bound, and its rate for the sampled queries.
    pub(super) bounded: (String, f64),
    /// The spec with the lower rate for them, and that rate.
    pub(super) learned: (String, f64),
    /// Bits a key below which no filter has both, if the sampled ranges may lie anywhere between keys.
    pub(super) min_bits: f64,
    pub(super) remedy: Remedy,
}

/// What has both.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Remedy {
    /// Nothing that is known.
    Unknown,
    /// With these bits a key every key is stored.
    Exact(f64),
    /// This spec with these bits a key.
    Halves(f64, String),
}

impl Both {
    /// What both would take beside `chosen`; `None` if it has both, if the sample decides nothing, or if the budget might do.
    pub(super) fn of<K: DesignKey + ?Sized>(
        keys: SortedKeys<'_, K>,
        plan: &BuildPlan<K>,
        rules: &DesignRules,
        (chosen, spec): (&Candidate, &dyn CandidateSpec<K>),
    ) -> Option<Self> {
        // A bound in integers says nothing of byte strings.
        if K::ID != KeySpaceId::U64 || (chosen.prediction.is_robust() && !rules.is_robust) {
            return None;
        }
        let known = KeyStatistics::of_sample(keys, plan, plan.sample());
        if !known.has_query_between_keys() {
            return None;
        }
        let with_a_bound = rules.with_a_bound();
        let (bounded, prediction) = match rules.is_robust {
            true => (chosen.spec.clone(), spec.predict(&known).ok()?),
            false => (with_a_bound.to_string(), predict(&with_a_bound, &known).ok()?),
        };
        let (learned, rate) = match rules.is_robust {
            true => lowest_rate(&known)?,
            false => (chosen.spec.clone(), chosen.prediction.rate),
        };
        // What none of n queries met may happen to one in 2n.
        let promised = rate.max(0.5 / (known.queries().len() as f64 + 1.0));
        let Prediction { rate: bounded_rate, bound, .. } = prediction;
        let has_both = bound == RateBound::EXACT || bounded_rate <= NAMED_FROM * promised;
        if has_both || bound == RateBound::NONE {
            return None;
        }
        let min_bits = libm::log2(bounded_rate / promised / bound.unit_rate);
        if min_bits <= plan.budget().as_bits_per_key() {
            return None;
        }
        let statistics = known.view(K::integers);
        let remedy = Remedy::of(&statistics, with_a_bound, bound.unit_rate, promised, keys.len());
        Some(Self { bounded: (bounded, bounded_rate), learned: (learned, rate), min_bits, remedy })
    }
}

/// The spec without a bound that has the lowest rate of the sampled queries.
fn lowest_rate<K: DesignKey + ?Sized>(known: &KeyStatistics<'_, K>) -> Option<(String, f64)> {
    let bucketing = BucketingSpec::new();
    let by_gaps = predict(&bucketing, known).ok().map(|prediction| (bucketing.to_string(), prediction));
    let by_cells = likely_forms(known, RibbonSpec::default());
    let by_cells =
        by_cells.into_iter().filter_map(|spec| Some((spec.to_string(), predict(&spec, known).ok()?)));
    let learned = by_gaps.into_iter().chain(by_cells).filter(|(_, prediction)| !prediction.is_robust());
    learned.map(|(spec, prediction)| (spec, prediction.rate)).min_by(|(_, a), (_, b)| a.total_cmp(b))
}

impl Remedy {
    /// The cheaper of all keys and of a half for each.
    fn of(
        statistics: &IntegerStatistics,
        with_a_bound: RibbonSpec,
        unit_rate: f64,
        promised: f64,
        key_count: usize,
    ) -> Self {
        let bits = |body_bytes: usize| Budget::smallest_for(body_bytes + statistics.beside_bytes, key_count);
        let exact_bits = bits(exact_bytes(&statistics.gaps, statistics.span(), statistics.place_count()));
        let near = (statistics.max_bytes, unit_rate);
        let halves = halves_that_promise(with_a_bound, statistics, near, promised);
        match halves.map(|(spec, bytes)| (bits(bytes), spec)) {
            Some((bits, spec)) if bits < exact_bits.min(Budget::MAX_BITS_PER_KEY) => {
                Self::Halves(bits, spec.to_string())
            }
            _ if exact_bits <= Budget::MAX_BITS_PER_KEY => Self::Exact(exact_bits),
            _ => Self::Unknown,
        }
    }
}

/// Rounded up, so that what is named is enough.
fn in_tenths(bits: f64) -> f64 {
    (bits * 10.0).ceil() / 10.0
}

impl fmt::Display for Both {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((bounded, bounded_rate), (learned, rate)) = (&self.bounded, &self.learned);
        writeln!(
            f,
            "`{learned}` has a rate of {rate:.6} for queries like the sampled ones, and no bound for others; `{bounded}` has a bound for any, and a rate of {bounded_rate:.6} for these"
        )?;
        let min_bits = self.min_bits;
        match &self.remedy {
            Remedy::Exact(bits) if *bits <= min_bits => {
                writeln!(
                    f,
                    "both take {:.1} bits a key, with which every key is stored: choose, or give them",
                    in_tenths(*bits)
                )
            }
            Remedy::Exact(bits) => writeln!(
                f,
                "both cannot be had below {min_bits:.1} bits a key: choose, or give {:.1}, with which every key is stored",
                in_tenths(*bits)
            ),
            Remedy::Halves(bits, spec) if *bits <= min_bits => writeln!(
                f,
                "both take {:.1} bits a key with `{spec}`: choose, or give them",
                in_tenths(*bits)
            ),
            Remedy::Halves(bits, spec) => writeln!(
                f,
                "both cannot be had below {min_bits:.1} bits a key: choose, or give {:.1} to `{spec}`",
                in_tenths(*bits)
            ),
            Remedy::Unknown => writeln!(f, "both cannot be had below {min_bits:.1} bits a key: choose"),
        }
    }
}
