//! The rate, cost and size of a filter, predicted from the keys and the sampled queries without building it.
//!
//! Whether an empty query is a "maybe" is decided by few facts: how long it is, how far the keys next to it are, and
//! how the keys lie among each other. With the keys 10, 20 and 1,000 and the query `12..=14`, a filter that
//! distinguishes keys by tens says "maybe", whatever its hash; one that hashes all bits says so if one of three hashes
//! collides. [`KeyStatistics`] holds those facts: the keys before and after each of the sampled queries, and runs of
//! neighbouring keys from all over the set, 50,000 keys at most. [`PredictRate`] turns them into a [`Prediction`].
//!
//! Guarantee: same keys and plan give the same prediction on every machine; no clock is read. Cost: one binary search
//! for each query, one look at each sampled key; nothing grows with the number of keys beyond that.
//!
//! Knorr and others, "Proteus", SIGMOD 2022, section 4, has the idea for prefix filters; here any family can implement it.

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::columns::SortedKeys;
use crate::error::Result;
use crate::hash::{IntegerHasher, reduce};
use crate::key::KeySpace;
use crate::places::{ABREAST, seek_abreast};
use crate::plan::{BuildPlan, Sample};

/// The prediction for a filter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Expected share of "maybe" among the empty queries of the sample; 0 without any.
    pub rate: f64,
    /// Probes of the family's own kind for an average query: bits of a Bloom filter, mini-trees, levels of a trie.
    pub probes: f64,
    /// Cache lines an average query waits for, one after the other.
    pub fetches: f64,
    /// Size of the payload.
    pub payload_bytes: usize,
    /// What the rate stays below whatever is asked.
    pub bound: RateBound,
}

/// A rate that holds for every range chosen without the seed, in proportion to its length: what `rate_bound` of the filter
/// says, before it is built.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateBound {
    /// The rate for each key of a range's length.
    pub unit_rate: f64,
    /// Length of the longest range that it holds for, in keys.
    pub max_len: f64,
}

impl RateBound {
    /// No bound.
    pub const NONE: Self = Self { unit_rate: 1.0, max_len: 0.0 };
    /// Every key is stored: no empty range is a "maybe".
    pub const EXACT: Self = Self { unit_rate: 0.0, max_len: f64::INFINITY };

    /// The bound for a range of `len` keys.
    pub fn rate(self, len: f64) -> f64 {
        if len <= self.max_len { (len * self.unit_rate).min(1.0) } else { 1.0 }
    }
}

impl Prediction {
    /// Whether some rate holds for any queries chosen without the seed.
    pub fn is_robust(&self) -> bool {
        self.bound != RateBound::NONE
    }

    /// Size in bits for each of `key_count` keys.
    pub fn bits_per_key(&self, key_count: usize) -> f64 {
        self.payload_bytes as f64 * 8.0 / key_count.max(1) as f64
    }
}

/// A spec that can predict what it would build.
pub trait PredictRate<K: KeySpace + ?Sized> {
    /// Rate on the sample, probes and size of the filter over the keys and plan that `statistics` was made from.
    ///
    /// # Errors
    /// `BudgetTooSmall` if building would say so.
    fn predict(&self, statistics: &KeyStatistics<'_, K>) -> Result<Prediction>;
}

/// A sampled query that holds no key, and where it stands among the keys.
#[derive(Debug)]
pub struct PlacedQuery<'a, K: KeySpace + ?Sized> {
    /// Smallest key asked for.
    pub lo: K::Ref<'a>,
    /// Largest key asked for.
    pub hi: K::Ref<'a>,
    /// Keys below the query: the key at this position is the first above it.
    pub place: usize,
}

impl<K: KeySpace + ?Sized> Clone for PlacedQuery<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: KeySpace + ?Sized> Copy for PlacedQuery<'_, K> {}

/// The facts that predictions are made from; see the module page.
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, KeyStatistics, Sample, SortedKeys};
/// use std::sync::Arc;
///
/// let mut sample = Sample::<u64>::new();
/// sample.push(12, 14);
/// sample.push(15, 25);
/// let plan = BuildPlan::new(Budget::bits_per_key(14.0)?).with_sample(Arc::new(sample));
/// let statistics = KeyStatistics::new(SortedKeys::integers(&[10, 20, 1_000])?, &plan);
/// assert_eq!(statistics.queries().len(), 1, "the other one holds a key");
/// assert_eq!(statistics.queries()[0].place, 1);
/// assert_eq!(statistics.neighbours().count(), 2);
/// # Ok::<(), lacuna_base::Error>(())
/// ```
pub struct KeyStatistics<'a, K: KeySpace + ?Sized> {
    keys: SortedKeys<'a, K>,
    plan: &'a BuildPlan<K>,
    queries: Vec<PlacedQuery<'a, K>>,
    views: Mutex<Vec<Arc<dyn Any + Send + Sync>>>,
}

impl<'a, K: KeySpace + ?Sized> KeyStatistics<'a, K> {
    /// Most neighbouring pairs of keys that are looked at.
    pub const MAX_PAIRS: usize = 50_000;
    /// Pairs in a run: keys that lie side by side in memory.
    const RUN: usize = 32;
    /// Fewest and most queries that are looked at, and keys for each further one: as many as building leaves time for.
    const QUERIES: Range<usize> = 2_000..20_000;
    const KEYS_A_QUERY: usize = 2_000;

    /// The facts about `keys` and the sample of `plan`; of a large sample a part is taken.
    pub fn new(keys: SortedKeys<'a, K>, plan: &'a BuildPlan<K>) -> Self {
        Self::of_sample(keys, plan, plan.sample())
    }

    /// The same with the queries of another sample than `plan` builds for.
    pub fn of_sample(keys: SortedKeys<'a, K>, plan: &'a BuildPlan<K>, sample: &'a Sample<K>) -> Self {
        let max = (Self::QUERIES.start + keys.len() / Self::KEYS_A_QUERY).min(Self::QUERIES.end);
        let mut sampled = sample.iter();
        let mut next = 0;
        let chosen = thinned(sampled.len(), max).filter_map(|index| {
            let query = sampled.nth(index - next);
            next = index + 1;
            query
        });
        let queries = placed(keys, &chosen.collect::<Vec<_>>());
        Self { keys, plan, queries, views: Mutex::default() }
    }

    /// All keys.
    pub fn keys(&self) -> SortedKeys<'a, K> {
        self.keys
    }

    /// The plan.
    pub fn plan(&self) -> &'a BuildPlan<K> {
        self.plan
    }

    /// The chosen queries that hold no key, in the order of the sample.
    pub fn queries(&self) -> &[PlacedQuery<'a, K>] {
        &self.queries
    }

    /// Whether one of the queries lies between two keys. Those below the smallest key or above the largest show nothing: every
    /// filter denies them.
    pub fn has_query_between_keys(&self) -> bool {
        self.queries.iter().any(|query| 0 < query.place && query.place < self.keys.len())
    }

    /// Positions of keys that stand for all: runs of neighbours, ascending, without overlap.
    pub fn runs(&self) -> impl Iterator<Item = Range<usize>> + use<K> {
        let pairs = self.pair_count();
        let (run, count) = match pairs <= Self::MAX_PAIRS {
            true => (pairs, usize::from(pairs > 0)),
            false => (Self::RUN, Self::MAX_PAIRS / Self::RUN),
        };
        (0..count).map(move |number| {
            // Spread from the first pair to the last; with one run the quotient is not looked at.
            let spread = (pairs - run) as u128 * number as u128 / (count.max(2) - 1) as u128;
            let start = usize::try_from(spread).expect("at most the number of pairs");
            start..start + run + 1
        })
    }

    /// Neighbouring keys, in order, from all [`runs`](Self::runs).
    pub fn neighbours(&self) -> impl Iterator<Item = (K::Ref<'a>, K::Ref<'a>)> {
        let keys = self.keys;
        let pairs = self.runs().flat_map(|run| run.start + 1..run.end);
        pairs.map(move |index| (keys.get(index - 1), keys.get(index)))
    }

    /// How many pairs of neighbours each pair of [`neighbours`](Self::neighbours) stands for.
    pub fn weight(&self) -> f64 {
        let seen: usize = self.runs().map(|run| run.len() - 1).sum();
        self.pair_count() as f64 / seen.max(1) as f64
    }

    fn pair_count(&self) -> usize {
        self.keys.len().saturating_sub(1)
    }

    /// The value that `make` derives from these statistics, once for all families that ask for the same type.
    pub fn view<T: Any + Send + Sync>(&self, make: impl FnOnce(&Self) -> T) -> Arc<T> {
        let views = || self.views.lock().unwrap_or_else(PoisonError::into_inner);
        let known = views().iter().find_map(|view| Arc::clone(view).downcast().ok());
        known.unwrap_or_else(|| {
            // Not under the lock, so that views may be derived from views.
            let view = Arc::new(make(self));
            views().push(Arc::<T>::clone(&view));
            view
        })
    }
}

/// At most `most` of the numbers below `len`, ascending: one of each of as many equal runs, at a place that a hash of the
/// run's number picks, so that a sample that repeats itself is not always caught at the same place.
///
/// ```
/// let some: Vec<usize> = lacuna_base::internal::thinned(1_000, 100).collect();
/// assert!(some.len() == 100 && some.is_sorted() && some[99] >= 990);
/// assert_eq!(lacuna_base::internal::thinned(3, 100).collect::<Vec<_>>(), [0, 1, 2]);
/// ```
pub fn thinned(len: usize, max: usize) -> impl Iterator<Item = usize> {
    let runs = len.min(max);
    let hasher = IntegerHasher::new(0);
    let start = move |run: usize| {
        let start = len as u128 * run as u128 / runs.max(1) as u128;
        usize::try_from(start).expect("at most `len`")
    };
    (0..runs).map(move |run| {
        let room = start(run + 1) - start(run);
        let offset = reduce(hasher.hash(run as u64), room as u64);
        start(run) + usize::try_from(offset).expect("below the length of a run")
    })
}

/// The queries that hold no key, each with its place.
fn placed<'a, K: KeySpace + ?Sized>(
    keys: SortedKeys<'a, K>,
    queries: &[(K::Ref<'a>, K::Ref<'a>)],
) -> Vec<PlacedQuery<'a, K>> {
    let mut found = Vec::with_capacity(queries.len());
    for some in queries.chunks(ABREAST) {
        let mut places = [0; ABREAST];
        let places = &mut places[..some.len()];
        seek_abreast(places, 0..keys.len(), |query, place| keys.get(place) < some[query].0);
        let placed = some.iter().zip(places).map(|(&(lo, hi), place)| PlacedQuery { lo, hi, place: *place });
        found.extend(placed.filter(|query| query.place == keys.len() || keys.get(query.place) > query.hi));
    }
    found
}

impl<K: KeySpace + ?Sized> fmt::Debug for KeyStatistics<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyStatistics")
            .field("keys", &self.keys.len())
            .field("queries", &self.queries.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Budget, Sample};

    fn plan(sample: Sample<u64>) -> BuildPlan<u64> {
        BuildPlan::new(Budget::bits_per_key(10.0).expect("in range")).with_sample(Arc::new(sample))
    }

    #[test]
    fn runs_stay_apart_and_reach_both_ends() {
        for count in [0usize, 1, 2, 33, 49_999, 50_001, 50_002, 50_100, 250_000] {
            let keys: Vec<u64> = (0..count as u64).collect();
            let plan = plan(Sample::new());
            let statistics = KeyStatistics::new(SortedKeys::integers(&keys).expect("ascending"), &plan);
            let pairs: Vec<(u64, u64)> = statistics.neighbours().collect();
            assert!(pairs.len() <= KeyStatistics::<u64>::MAX_PAIRS, "{count} keys");
            assert!(pairs.is_sorted_by(|a, b| a.1 <= b.0), "{count} keys");
            if count > 1 {
                let ends = (pairs[0].0, pairs[pairs.len() - 1].1);
                assert_eq!(ends, (0, count as u64 - 1), "{count} keys");
                let all = statistics.weight() * pairs.len() as f64;
                assert!((all - (count as f64 - 1.0)).abs() < 1e-6, "{count} keys: {all}");
            }
        }
    }

    #[test]
    fn large_samples_are_thinned() {
        let mut sample = Sample::new();
        (0..20_000).for_each(|lo| sample.push(2 * lo + 1, 2 * lo + 1));
        let keys: Vec<u64> = (0..1_000).map(|key| key * 2).collect();
        let plan = plan(sample);
        let statistics = KeyStatistics::new(SortedKeys::integers(&keys).expect("ascending"), &plan);
        let lows: Vec<u64> = statistics.queries().iter().map(|query| query.lo).collect();
        // Keys are below 2,000, so all queries are empty.
        assert_eq!(lows.len(), 2_000);
        let odd = lows.iter().filter(|&&lo| lo / 2 % 2 == 1).count();
        assert!((900..1_100).contains(&odd), "{odd} of every other query");
    }

    #[test]
    fn views_are_made_once() {
        let plan = plan(Sample::new());
        let statistics = KeyStatistics::new(SortedKeys::integers(&[1, 2]).expect("ascending"), &plan);
        assert_eq!(*statistics.view(|_| 5u8), 5);
        assert_eq!(*statistics.view(|_| 7u16), 7);
        assert_eq!(*statistics.view(|_| 6u8), 5);
    }
}
