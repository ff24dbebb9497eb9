//! The predicate index (PrInT): which cached entries does a write touch?
//!
//! Each entry is known by its query and by the interval it answers for. A write of `[20, 20]` touches the entry of
//! `[18, 22]` and not that of `[25, 30]`. An entry may be known here and be gone from the cache (evicted, never
//! installed): that costs a needless word to the cache. The converse would be a stale read, so an entry is known before
//! it is installed, and forgotten after it is gone.

use std::collections::BTreeMap;

use crate::interval::Interval;
use crate::query::{Query, Touched};
use crate::range_key::RangeKey;
use crate::tree::IntervalTree;

/// Cached entries by interval, for several domains.
///
/// ```
/// use lacuna_range_cache::{Interval, PredicateIndex, Query};
///
/// let ages = |lo: u64, hi: u64| Interval::closed(lo.into(), hi.into()).expect("lo <= hi");
/// let mut index = PredicateIndex::new(1);
/// let young = Query::all(0, ages(18, 22));
/// index.insert(&young, ages(18, 22));
/// assert_eq!(index.touched(&[(0, ages(20, 20))]), [young]);
/// assert!(index.touched(&[(0, ages(23, 23))]).is_empty());
/// ```
#[derive(Debug, Clone)]
pub struct PredicateIndex {
    domains: Vec<IntervalTree<RangeKey, u32>>,
    numbers: BTreeMap<Query, u32>,
    entries: Vec<Option<Known>>,
    free: Vec<u32>,
}

/// An entry, and what it answers for: the query's interval, or less for a query with a limit.
#[derive(Debug, Clone)]
struct Known {
    query: Query,
    covered: Interval<RangeKey>,
}

impl PredicateIndex {
    /// An index over `domain_count` domains.
    pub fn new(domain_count: usize) -> Self {
        let domains = (0..domain_count).map(|_| IntervalTree::new()).collect();
        Self { domains, numbers: BTreeMap::new(), entries: Vec::new(), free: Vec::new() }
    }

    /// Notes that the result of `query` may be cached and answers for `covered`; replaces what was known of it.
    pub fn insert(&mut self, query: &Query, covered: Interval<RangeKey>) {
        self.remove(query);
        let number = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            u32::try_from(self.entries.len() - 1).expect("an owner knows less than 2^32 entries")
        });
        self.domains[query.domain].insert(covered.clone(), number);
        self.numbers.insert(query.clone(), number);
        self.entries[number as usize] = Some(Known { query: query.clone(), covered });
    }

    /// Forgets an entry that is gone from the cache.
    pub fn remove(&mut self, query: &Query) {
        let Some(number) = self.numbers.remove(query) else { return };
        let known = self.entries[number as usize].take().expect("numbers in use have an entry");
        self.domains[query.domain].remove(&known.covered, number);
        self.free.push(number);
    }

    /// The entries that a write may change, each once, in order.
    pub fn touched(&self, touched: &[Touched]) -> Vec<Query> {
        let numbers =
            touched.iter().flat_map(|(domain, interval)| self.domains[*domain].overlapping(interval));
        let mut queries: Vec<Query> =
            numbers.filter_map(|entry| self.known(entry.value)).map(|known| known.query.clone()).collect();
        queries.sort_unstable();
        queries.dedup();
        queries
    }

    fn known(&self, number: u32) -> Option<&Known> {
        self.entries[number as usize].as_ref()
    }

    /// What an entry answers for.
    pub fn covered(&self, query: &Query) -> Option<&Interval<RangeKey>> {
        self.numbers.get(query).and_then(|number| self.known(*number)).map(|known| &known.covered)
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether no entry is known.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
}
