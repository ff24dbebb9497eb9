//! The queries that decide: the sampled ones, or assumed ones where none of those shows what a filter should deny.

use std::sync::Arc;

use lacuna_base::{BuildPlan, KeyStatistics, SortedKeys};

use super::assumed::Assumed;
use super::candidates::DesignKey;

/// The rate above which a filter hardly answers.
pub const HARDLY: f64 = 0.5;

/// A plan whose sample is what a filter is judged by, and what that is, in words.
pub fn judged_by<K: DesignKey + ?Sized>(
    keys: SortedKeys<'_, K>,
    plan: BuildPlan<K>,
) -> (BuildPlan<K>, &'static str) {
    let assumed = Assumed::instead_of(&KeyStatistics::new(keys, &plan));
    match assumed {
        Some(_) => (with_assumed(keys, &plan), "points and short ranges"),
        None => (plan, "the sampled queries"),
    }
}

/// What is known of `keys` and the queries that decide, and why they are assumed, if they are: because the sampled ones show
/// nothing, or for the reason in `otherwise`. The plan with assumed queries is kept in `place`.
pub(super) fn known_for<'k, K: DesignKey + ?Sized>(
    keys: SortedKeys<'k, K>,
    plan: &'k BuildPlan<K>,
    otherwise: Option<Assumed>,
    place: &'k mut Option<BuildPlan<K>>,
) -> (KeyStatistics<'k, K>, Option<Assumed>) {
    let sampled = KeyStatistics::new(keys, plan);
    let assumed = Assumed::instead_of(&sampled).or(otherwise);
    let known = match assumed {
        Some(_) => KeyStatistics::new(keys, place.insert(with_assumed(keys, plan))),
        None => sampled,
    };
    (known, assumed)
}

fn with_assumed<K: DesignKey + ?Sized>(keys: SortedKeys<'_, K>, plan: &BuildPlan<K>) -> BuildPlan<K> {
    plan.clone().with_sample(Arc::new(K::assumed(keys)))
}

#[cfg(test)]
mod tests {
    use lacuna_base::{Budget, Sample};

    use super::*;

    #[test]
    fn sampled_queries_decide_if_one_lies_between_two_keys() {
        let column: Vec<u64> = (0..1_000).map(|number| number << 20).collect();
        let keys = SortedKeys::integers(&column).expect("ascending");
        let plan = |queries: &[(u64, u64)]| {
            let mut sample = Sample::<u64>::new();
            queries.iter().for_each(|&(lo, hi)| sample.push(lo, hi));
            BuildPlan::new(Budget::bits_per_key(10.0).expect("in range")).with_sample(Arc::new(sample))
        };
        let (judged, what) = judged_by(keys, plan(&[(0, 5), (7, 9)]));
        assert_eq!((judged.sample().len(), what), (2, "the sampled queries"));
        for queries in [&[][..], &[(0, 5)], &[(u64::MAX, u64::MAX)]] {
            let (judged, what) = judged_by(keys, plan(queries));
            assert!(judged.sample().len() > 1_000 && what == "points and short ranges", "{queries:?}");
        }
    }
}
