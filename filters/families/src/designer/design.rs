//! The chosen spec, the candidates and their costs.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use lacuna_base::{
    BuildPlan, ErrorKind, KeyStatistics, Prediction, RangeFilter as _, Result, Sample, Sealed, SortedKeys,
};

use super::assumed::{ASSUMPTION, Assumed};
use super::candidates::{CandidateSpec, DesignKey};
use super::deciding::known_for;
use super::mixed::Both;
use super::search::{DesignRules, Ranking, WORTHWHILE_NS, rank};
use crate::kind::Kind;

/// What a robust design goes by, in a sentence.
const BY_BOUNDS: &str =
    "robust: cost by the highest rate of any queries, mean of ranges of 1, 32 and 1,024 keys";

/// What it means that a plan has a secret, in a sentence.
const UNDER_A_SECRET: &str =
    "under the plan's secret: the rates hold for queries of those who know all but it";

/// Fewer sampled queries than this say little of those to come.
const FEW: usize = 100;

/// A spec with its prediction.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The spec as text; the registry reads it.
    pub spec: String,
    /// Its family.
    pub kind: Kind,
    /// Rate, probes and size.
    pub prediction: Prediction,
    /// Expected nanoseconds of a question, by the table of constants.
    pub question_ns: f64,
    /// Expected nanoseconds of a query: the question and the needless reads. Of a robust design: what a query costs at most,
    /// whatever is asked, on average over ranges of 1, 32 and 1,024 keys.
    pub cost_ns: f64,
}

/// The measured rate and size of a candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Share of "maybe" among the empty queries that it was asked.
    pub rate: f64,
    /// Size of the payload.
    pub payload_bytes: usize,
}

/// The candidates for one set of keys, cheapest first; the first is built. One that is exact is the first if another would save
/// less than three needless reads in 2,000 queries.
pub struct Design<'a, K: DesignKey + ?Sized> {
    keys: SortedKeys<'a, K>,
    plan: &'a BuildPlan<K>,
    rules: DesignRules,
    query_count: usize,
    /// Why predictions are made for assumed queries, if they are.
    assumed: Option<Assumed>,
    pub(super) ranking: Ranking<K>,
    candidates: Vec<Candidate>,
}

impl<'a, K: DesignKey + ?Sized> Design<'a, K> {
    pub(super) fn choose(
        keys: SortedKeys<'a, K>,
        plan: &'a BuildPlan<K>,
        rules: DesignRules,
    ) -> Result<Self> {
        let mut place = None;
        let otherwise = rules.is_robust.then_some(Assumed::AnyQueries);
        let (known, assumed) = known_for(keys, plan, otherwise, &mut place);
        let ranking = rank(&known, &rules, WORTHWHILE_NS)?;
        let candidates = ranking.iter().map(|(candidate, _)| candidate.clone()).collect();
        let query_count = known.queries().len();
        Ok(Self { keys, plan, rules, query_count, assumed, ranking, candidates })
    }

    /// The candidates that were modelled, cheapest first; families that could not win are not among them.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// The assumption about the queries, and why it is made; `None` if the sample decides.
    pub(crate) fn assumption(&self) -> Option<String> {
        self.assumed.map(|why| format!("{}: {ASSUMPTION}", why.in_words()))
    }

    /// What is predicted for the filter that is built: for the empty queries of the sample if it has any.
    ///
    /// # Errors
    /// `BudgetTooSmall` if none fits.
    pub(crate) fn prediction(&self) -> Result<Prediction> {
        let plan = self.build_plan();
        let known = || KeyStatistics::of_sample(self.keys, &plan, self.plan.sample());
        match (self.ranking.first(), self.assumed) {
            (Some((_, spec)), Some(Assumed::AnyQueries)) => spec.predict(&known()),
            (Some((candidate, _)), _) => Ok(candidate.prediction),
            (None, _) => {
                let known = known();
                self.smallest(&known).predict(&known)
            }
        }
    }

    /// Only robust families can all be too large. The first of the table is Grafite, the smallest of them, and says what it needs.
    fn smallest(&self, known: &KeyStatistics<'_, K>) -> Box<dyn CandidateSpec<K>> {
        (K::candidate_families().0.swap_remove(0).specs)(known, &self.rules).swap_remove(0)
    }

    /// What a bound and the rate of the sampled queries would take together; `None` if the chosen filter has both, or nothing is
    /// sampled.
    pub(super) fn both(&self) -> Option<Both> {
        let (chosen, spec) = self.ranking.first().filter(|_| !self.plan.sample().is_empty())?;
        Both::of(self.keys, self.plan, &self.rules, (chosen, &**spec))
    }

    /// Empty queries that the predictions are made for.
    #[cfg(test)]
    pub(crate) fn query_count(&self) -> usize {
        self.query_count
    }

    /// What is built with: the queries that the choice was made for. A robust filter does not depend on the sample, and nor do the
    /// integers that stand for byte strings.
    fn build_plan(&self) -> Cow<'_, BuildPlan<K>> {
        let sample = match self.assumed {
            _ if self.rules.is_robust => Sample::new(),
            Some(_) => K::assumed(self.keys),
            None => return Cow::Borrowed(self.plan),
        };
        Cow::Owned(self.plan.clone().with_sample(Arc::new(sample)))
    }

    /// Builds the cheapest candidate; where it needs more space than predicted, the next.
    ///
    /// # Errors
    /// `BudgetTooSmall` if none fits.
    pub fn build(&self) -> Result<Sealed> {
        let plan = self.build_plan();
        for (_, spec) in &self.ranking {
            match spec.build(self.keys, &plan) {
                Err(problem) if matches!(problem.kind(), ErrorKind::BudgetTooSmall { .. }) => {}
                built => return built,
            }
        }
        self.smallest(&KeyStatistics::new(self.keys, &plan)).build(self.keys, &plan)
    }

    /// Builds every candidate and asks it the sample's empty queries, or the assumed ones if it has none, in the order of [`candidates`](Self::candidates);
    /// `None` for one that does not fit. Takes as long as building them all.
    ///
    /// # Errors
    /// Any error of building except `BudgetTooSmall`.
    pub fn measure(&self) -> Result<Vec<Option<Measured>>> {
        let mut place = None;
        let (known, _) = known_for(self.keys, self.plan, None, &mut place);
        let measure = |sealed: Sealed| {
            let payload_bytes = sealed.payload().len();
            let filter = crate::open::<K, _>(sealed)?;
            let ranges = known.queries().iter().filter_map(|query| {
                K::range(std::ops::Bound::Included(query.lo), std::ops::Bound::Included(query.hi))
            });
            let maybes = ranges.filter(|range| filter.may_contain_range(*range)).count();
            Ok(Measured { rate: maybes as f64 / known.queries().len().max(1) as f64, payload_bytes })
        };
        let plan = self.build_plan();
        let measured = self.ranking.iter().map(|(_, spec)| match spec.build(self.keys, &plan) {
            Ok(sealed) => measure(sealed).map(Some),
            Err(problem) if matches!(problem.kind(), ErrorKind::BudgetTooSmall { .. }) => Ok(None),
            Err(problem) => Err(problem),
        });
        measured.collect()
    }
}

impl<K: DesignKey + ?Sized> fmt::Display for Design<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} empty queries, {} ns a needless read", self.query_count, self.rules.model.price_ns)?;
        if let Some(assumption) = self.assumption() {
            writeln!(f, "{assumption}")?;
        } else if self.query_count < FEW {
            writeln!(f, "fewer than {FEW} queries decide: with more, another candidate may be the cheapest")?;
        }
        if self.rules.is_robust {
            writeln!(f, "{BY_BOUNDS}")?;
        }
        if self.rules.is_keyed {
            writeln!(f, "{UNDER_A_SECRET}")?;
        }
        if let Some(both) = self.both() {
            write!(f, "{both}")?;
        }
        writeln!(
            f,
            "{:<32} {:>10} {:>12} {:>9} {:>9}",
            "candidate", "rate", "question ns", "cost ns", "bits/key"
        )?;
        for candidate in &self.candidates {
            let Candidate { spec, prediction, question_ns, cost_ns, .. } = candidate;
            let (rate, bits) = (prediction.rate, prediction.bits_per_key(self.keys.len()));
            writeln!(f, "{spec:<32} {rate:>10.6} {question_ns:>12.1} {cost_ns:>9.1} {bits:>9.2}")?;
        }
        Ok(())
    }
}

impl<K: DesignKey + ?Sized> fmt::Debug for Design<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Design")
            .field("candidates", &self.candidates)
            .field("assumed", &self.assumed)
            .finish_non_exhaustive()
    }
}
