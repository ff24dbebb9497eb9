//! Queries over more than one range: predicates over two domains, and what to load ahead.
//!
//! `18 < age < 20 and 100 < salary < 200` is answered from the domain that is expected to give fewer rows; the
//! other condition filters them. The expectation comes from earlier results: a result of `[10, 30]` with 40 rows
//! says that `[18, 20]` has at most 40. The answer is as consistent as its one read.
//!
//! `age < 20 or salary > 200` needs both results at one moment: a row that moves from one to the other in between
//! would be in neither. [`Event::ReadAll`](crate::Event::ReadAll) reads both under one lease, and [`union`] joins
//! them without duplicates.
//!
//! Report, section 8 ("conjunctive and disjunctive predicates", "bulk loading").

use std::collections::{BTreeMap, VecDeque};

use crate::interval::{Cut, Interval};
use crate::query::{DomainId, Query};
use crate::range_key::RangeKey;

/// Results that are remembered for each domain.
const REMEMBERED: usize = 64;

/// How many rows results of a domain had.
///
/// ```
/// use lacuna_cache_protocol::{Interval, Query, Selectivity};
///
/// let query = |domain, lo: u64, hi: u64| {
///     Query::all(domain, Interval::closed(lo.into(), hi.into()).expect("lo <= hi"))
/// };
/// let mut selectivity = Selectivity::new();
/// selectivity.learn(&query(0, 10, 30), 40);
/// selectivity.learn(&query(1, 0, 1_000), 7);
/// let (age, salary) = (query(0, 18, 20), query(1, 100, 200));
/// assert_eq!(selectivity.max_rows(&age), Some(40));
/// assert_eq!(selectivity.more_selective(&age, &salary), &salary);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Selectivity {
    results: BTreeMap<DomainId, VecDeque<(Interval<RangeKey>, usize)>>,
}

impl Selectivity {
    /// Without any earlier result.
    pub const fn new() -> Self {
        Self { results: BTreeMap::new() }
    }

    /// Notes that the result of a query had `rows` rows.
    pub fn learn(&mut self, query: &Query, rows: usize) {
        let results = self.results.entry(query.domain).or_default();
        results.retain(|(interval, _)| *interval != query.interval);
        results.push_back((query.interval.clone(), rows));
        if results.len() > REMEMBERED {
            results.pop_front();
        }
    }

    /// The fewest rows of a remembered result that contains the query's interval.
    pub fn max_rows(&self, query: &Query) -> Option<usize> {
        let results = self.results.get(&query.domain)?;
        results.iter().filter(|(interval, _)| interval.covers(&query.interval)).map(|(_, rows)| *rows).min()
    }

    /// The query to send; the other one filters. The first, if nothing is known.
    pub fn more_selective<'a>(&self, first: &'a Query, second: &'a Query) -> &'a Query {
        let rows = |query: &Query| self.max_rows(query).unwrap_or(usize::MAX);
        if rows(second) < rows(first) { second } else { first }
    }
}

/// The rows of two results, each once by its identity; of duplicates, the row of `first` stays.
///
/// ```
/// let rows = lacuna_cache_protocol::union(vec![(1, "anna"), (2, "berta")], vec![(2, "berta"), (3, "carla")], |row| row.0);
/// assert_eq!(rows, [(1, "anna"), (2, "berta"), (3, "carla")]);
/// ```
pub fn union<R, I: Ord>(first: Vec<R>, second: Vec<R>, identity: impl Fn(&R) -> I) -> Vec<R> {
    let mut rows = first;
    let known: std::collections::BTreeSet<I> = rows.iter().map(&identity).collect();
    rows.extend(second.into_iter().filter(|row| !known.contains(&identity(row))));
    rows
}

/// Queries to load ahead of requests, the most frequent first: those of a recorded log of queries, each once, at
/// most `max`.
pub fn prefetch_log(log: &[Query], max: usize) -> Vec<Query> {
    let mut counts: BTreeMap<&Query, usize> = BTreeMap::new();
    log.iter().for_each(|query| *counts.entry(query).or_default() += 1);
    let mut queries: Vec<(&Query, usize)> = counts.into_iter().collect();
    queries.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    queries.into_iter().take(max).map(|(query, _)| query.clone()).collect()
}

/// Queries to load ahead of requests, the heaviest first: the intervals between the ascending starts of the
/// buckets of a histogram, each with its weight, at most `max`. The last bucket has no end.
pub fn prefetch_histogram(domain: DomainId, buckets: &[(RangeKey, u64)], max: usize) -> Vec<Query> {
    let mut queries: Vec<(Query, u64)> = Vec::new();
    for (place, (start, weight)) in buckets.iter().enumerate() {
        let end = buckets.get(place + 1).map_or(Cut::Greatest, |(next, _)| Cut::Before(next.clone()));
        let interval = Interval::between(Cut::Before(start.clone()), end);
        queries.extend(interval.map(|interval| (Query::all(domain, interval), *weight)));
    }
    queries.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
    queries.into_iter().take(max).map(|(query, _)| query).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(domain: DomainId, lo: u64, hi: u64) -> Query {
        Query::all(domain, Interval::closed(lo.into(), hi.into()).unwrap())
    }

    #[test]
    fn the_best_bound_counts_and_old_results_are_forgotten() {
        let mut selectivity = Selectivity::new();
        selectivity.learn(&query(0, 0, 100), 90);
        selectivity.learn(&query(0, 10, 20), 5);
        assert_eq!(selectivity.max_rows(&query(0, 12, 13)), Some(5));
        assert_eq!(selectivity.max_rows(&query(0, 12, 30)), Some(90));
        assert_eq!(selectivity.max_rows(&query(1, 12, 13)), None);
        (0..64).for_each(|at| selectivity.learn(&query(0, 1_000 + at, 1_000 + at), 1));
        assert_eq!(selectivity.max_rows(&query(0, 12, 13)), None);
    }

    #[test]
    fn what_is_asked_most_is_fetched_first() {
        let log = [query(0, 1, 2), query(0, 5, 9), query(0, 5, 9), query(1, 5, 9)];
        assert_eq!(prefetch_log(&log, 2), [query(0, 5, 9), query(0, 1, 2)]);
        let buckets = [(0u64.into(), 5), (10u64.into(), 50), (20u64.into(), 1)];
        let queries = prefetch_histogram(0, &buckets, 2);
        assert!(queries[0].interval.contains(&19.into()) && !queries[0].interval.contains(&20.into()));
        assert!(queries[1].interval.contains(&0.into()));
    }
}
