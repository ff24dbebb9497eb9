//! The search: predict, add up, leave out families that cannot be the cheapest.

use lacuna_base::{ErrorKind, KeyStatistics, Prediction, RateBound, Result};

use super::bounds::Bounds;
use super::candidates::{CandidateSpec, DesignKey};
use super::design::Candidate;
use crate::bucketing::{BucketingSpec, likely_cuts};
use crate::costs::CostModel;
use crate::grafite::GrafiteSpec;
use crate::ribbon::{RibbonSpec, likely_forms};
use crate::statistics::IntegerView;

/// A family that could be cheaper by this little at the very best is not modelled.
pub(super) const WORTHWHILE_NS: f64 = 5.0;
/// An exact filter is taken before one that is cheaper by no more than this many needless reads a query: the rate of the other is
/// that of the sampled queries, and the exact one has none whatever is asked.
const EXACT_IS_WORTH: f64 = 0.0015;

/// The cost model of a query, and the families that may be chosen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DesignRules {
    pub(crate) model: CostModel,
    /// Whether the chosen filter has to keep its rate for any queries, and the choice may use nothing but such rates.
    pub(crate) is_robust: bool,
    /// Whether filters that hash do so under the plan's secret, so that they keep their rate against those who know all but it. Only
    /// where the choice is robust: other families do not hash under one.
    pub(crate) is_keyed: bool,
    /// Whether Ribbon and the gaps that Bucketing leaves out take no part, as before there were any: what they gain is the
    /// difference.
    pub(crate) is_of_before: bool,
    /// Whether two prefix Bloom filters may be chosen, whose model costs more than all others together.
    #[cfg(feature = "baselines")]
    pub(crate) with_two_prefixes: bool,
}

impl DesignRules {
    /// Grafite, as these rules admit it.
    pub(super) fn grafite(&self) -> GrafiteSpec {
        if self.is_keyed { GrafiteSpec::new().with_secret() } else { GrafiteSpec::new() }
    }

    /// Ribbon, as these rules admit it.
    pub(super) fn ribbon<K: IntegerView + ?Sized>(&self, known: &KeyStatistics<'_, K>) -> Vec<RibbonSpec> {
        if self.is_of_before {
            return Vec::new();
        }
        likely_forms(known, if self.is_robust { self.with_a_bound() } else { RibbonSpec::default() })
    }

    /// Ribbon with a bound that does not depend on the sample.
    pub(super) fn with_a_bound(&self) -> RibbonSpec {
        let spec = RibbonSpec::unsampled();
        if self.is_keyed { spec.with_secret() } else { spec }
    }

    /// Bucketing, as these rules admit it.
    pub(super) fn bucketing<K: IntegerView + ?Sized>(
        &self,
        known: &KeyStatistics<'_, K>,
    ) -> Vec<BucketingSpec> {
        if self.is_of_before { vec![BucketingSpec::uncut()] } else { likely_cuts(known) }
    }
}

/// The candidates with their predictions, cheapest first but for an exact one, each with what builds it.
pub(super) type Ranking<K> = Vec<(Candidate, Box<dyn CandidateSpec<K>>)>;

/// Predicts every family that can still win by `worthwhile_ns`.
pub(super) fn rank<K: DesignKey + ?Sized>(
    known: &KeyStatistics<'_, K>,
    rules: &DesignRules,
    worthwhile_ns: f64,
) -> Result<Ranking<K>> {
    let mut ranking: Ranking<K> = Vec::new();
    let price_ns = rules.model.price_ns;
    let (asked, key_count) = (known.view(K::integers).asked(), known.keys().len());
    let payload_bytes = known.plan().budget().payload_bytes(key_count);
    let bounds = Bounds { key_space: K::ID, asked, key_count, payload_bytes, price_ns };
    // An event that none of n queries saw may still have a chance of 1 in 2n: a rate that the keys next to the sampled
    // queries decide is less certain than one that a hash decides.
    let doubt = asked * 0.5 / (known.queries().len() as f64 + 1.0);
    for family in K::candidate_families().0 {
        let best = ranking.iter().map(|(candidate, _)| candidate.cost_ns).fold(f64::INFINITY, f64::min);
        let exact_ns = if family.may_be_robust { EXACT_IS_WORTH * price_ns } else { 0.0 };
        let room_ns = best - worthwhile_ns - bounds.min_ns(&family) + exact_ns;
        let can_win = room_ns > 0.0 && room_ns > (family.min_rate)(known) * price_ns;
        // The lower bounds are made from the sample, which a robust choice must not follow.
        if !(if rules.is_robust { family.may_be_robust } else { can_win }) {
            continue;
        }
        for spec in (family.specs)(known, rules) {
            let prediction = match spec.predict(known) {
                Ok(prediction) => prediction,
                Err(problem) if matches!(problem.kind(), ErrorKind::BudgetTooSmall { .. }) => continue,
                Err(problem) => return Err(problem),
            };
            if prediction.is_robust() || !rules.is_robust {
                let doubt = if family.goes_by_neighbours { doubt * beyond(known, &prediction) } else { 0.0 };
                let cost_ns = match rules.is_robust {
                    true => rules.model.bound_cost_ns(&family.costs, &prediction),
                    false => rules.model.cost_ns(&family.costs, &prediction) + doubt * price_ns,
                };
                let question_ns = family.costs.question_ns(K::ID, &prediction);
                let candidate =
                    Candidate { spec: spec.text(), kind: family.kind, prediction, question_ns, cost_ns };
                ranking.push((candidate, spec));
            }
        }
    }
    // Stable: among equals the order of the table decides.
    ranking.sort_by(|(a, _), (b, _)| a.cost_ns.total_cmp(&b.cost_ns));
    if !rules.is_robust {
        take_exact(&mut ranking, price_ns);
    }
    Ok(ranking)
}

/// Share of the queries between keys of which the bound of a filter says nothing.
fn beyond<K: DesignKey + ?Sized>(known: &KeyStatistics<'_, K>, prediction: &Prediction) -> f64 {
    let (statistics, max_len) = (known.view(K::integers), prediction.bound.max_len);
    let beyond = statistics.inside.iter().filter(|query| query.range_len() > max_len).count();
    beyond as f64 / statistics.inside.len().max(1) as f64
}

/// Moves the cheapest exact candidate to the front, if little is gained by another.
fn take_exact<K: lacuna_base::KeySpace + ?Sized>(ranking: &mut Ranking<K>, price_ns: f64) {
    let max_ns = ranking.first().map_or(0.0, |(best, _)| best.cost_ns) + EXACT_IS_WORTH * price_ns;
    let is_taken =
        |candidate: &Candidate| candidate.prediction.bound == RateBound::EXACT && candidate.cost_ns <= max_ns;
    if let Some(place) = ranking.iter().position(|(candidate, _)| is_taken(candidate)) {
        ranking[..=place].rotate_right(1);
    }
}
