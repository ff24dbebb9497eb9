//! The contest: predict, add up, leave out who cannot win.

use lacuna_base::{ErrorKind, KeySpaceId, KeyStatistics, Prediction, Result};

use super::costs::{Bounds, probe_ns};
use super::design::Candidate;
use super::entrants::{Contender, DesignKey};
use crate::kind::Kind;

/// A family that could be cheaper by this little at the very best is not modelled.
pub(super) const WORTHWHILE_NS: f64 = 5.0;

/// What a needless read costs, and who may take part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judge {
    pub(crate) key_space: KeySpaceId,
    pub(crate) price_ns: f64,
    pub(crate) is_robust: bool,
    /// Whether two prefix Bloom filters take part, whose model costs more than all others together.
    pub(crate) with_two_prefixes: bool,
}

impl Judge {
    fn question_ns(&self, kind: Kind, prediction: &Prediction) -> f64 {
        probe_ns(kind, self.key_space, prediction)
    }

    /// Expected cost of a query in nanoseconds: the question, and the needless reads.
    pub(crate) fn cost_ns(&self, kind: Kind, prediction: &Prediction) -> f64 {
        self.question_ns(kind, prediction) + prediction.rate * self.price_ns
    }
}

/// The candidates with their predictions, cheapest first, each with what builds it.
pub(super) type Ranking<K> = Vec<(Candidate, Box<dyn Contender<K>>)>;

/// Predicts every family that can still win by `worthwhile_ns`.
pub(super) fn rank<K: DesignKey + ?Sized>(
    known: &KeyStatistics<'_, K>,
    judge: &Judge,
    worthwhile_ns: f64,
) -> Result<Ranking<K>> {
    let mut ranking: Ranking<K> = Vec::new();
    let (asked, key_count) = (known.view(K::integers).asked(), known.keys().len());
    let payload_bytes = known.plan().budget().payload_bytes(key_count);
    let bounds = Bounds { key_space: K::ID, asked, key_count, payload_bytes, price_ns: judge.price_ns };
    // What happened to none of n queries is as likely as not to happen to one in 2n: what the keys next to the sampled
    // queries tell is less sure than what a hash does.
    let doubt = asked * 0.5 / (known.queries().len() as f64 + 1.0);
    for entrant in K::entrants().0 {
        let best = ranking.iter().map(|(candidate, _)| candidate.cost_ns).fold(f64::INFINITY, f64::min);
        let room_ns = best - worthwhile_ns - bounds.min_ns(entrant.kind);
        let can_win = room_ns > 0.0 && room_ns > (entrant.min_rate)(known) * judge.price_ns;
        if !can_win || judge.is_robust && !entrant.may_be_robust {
            continue;
        }
        for spec in (entrant.specs)(known, judge) {
            let prediction = match spec.predict(known) {
                Ok(prediction) => prediction,
                Err(problem) if matches!(problem.kind(), ErrorKind::BudgetTooSmall { .. }) => continue,
                Err(problem) => return Err(problem),
            };
            if prediction.is_robust || !judge.is_robust {
                let doubt = if entrant.goes_by_neighbours && !prediction.is_robust { doubt } else { 0.0 };
                let cost_ns = judge.cost_ns(entrant.kind, &prediction) + doubt * judge.price_ns;
                let question_ns = judge.question_ns(entrant.kind, &prediction);
                let candidate =
                    Candidate { spec: spec.text(), kind: entrant.kind, prediction, question_ns, cost_ns };
                ranking.push((candidate, spec));
            }
        }
    }
    // Stable: among equals the order of the table decides.
    ranking.sort_by(|(a, _), (b, _)| a.cost_ns.total_cmp(&b.cost_ns));
    Ok(ranking)
}
