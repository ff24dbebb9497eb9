//! The predicate index (`PrInT`): which cached entries does a write touch?
//!
//! Each entry is known by its query and by the interval it answers for. A write of `[20, 20]` touches the entry of
//! `[18, 22]` and not that of `[25, 30]`. An entry may be known here and be gone from the cache (evicted, never
//! installed): that costs a needless call to the cache. The converse would be a stale read, so an entry is known
//! before it is installed (P5), and forgotten after it is gone.
//!
//! Cost: one tree query or change. An entry takes a row of the tree (the only copy of its interval), 24 bytes for
//! the rest of the query, and a hash to find it by: less than 200 bytes with 8-byte keys.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::interval::{Cut, Interval};
use crate::query::{DomainId, Form, Query, Stamps, Touched};
use crate::range_key::RangeKey;
use crate::tree::{self, IntervalTree};

/// Cached entries by interval, for several domains.
///
/// ```
/// use lacuna_cache_protocol::{Interval, PredicateIndex, Query};
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
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// Hash of the query, number of the entry. The hash is of this process only.
    numbers: BTreeSet<(u64, u32)>,
}

/// A place in the order of domains and rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    domain: DomainId,
    /// The row before it: where that begins and ends, and its number.
    row: Option<(Cut<RangeKey>, Cut<RangeKey>, u32)>,
}

/// The part of a query that its row in the tree does not hold.
#[derive(Debug, Clone)]
enum Entry {
    Free,
    /// A query without a question that answers for its whole interval.
    Whole {
        fingerprint: u64,
        form: Form,
    },
    /// Any other query, and the interval it answers for.
    Part(Box<(Query, Interval<RangeKey>)>),
}

impl Entry {
    /// Whether it has all rows of its interval, of queries with this fingerprint.
    fn has_all_rows(&self, of: u64) -> bool {
        matches!(self, Self::Whole { fingerprint, form: Form::All } if *fingerprint == of)
    }
}

impl PredicateIndex {
    /// An index over `domain_count` domains.
    pub fn new(domain_count: usize) -> Self {
        let domains = (0..domain_count).map(|_| IntervalTree::new()).collect();
        Self { domains, entries: Vec::new(), free: Vec::new(), numbers: BTreeSet::new() }
    }

    /// Notes that the result of `query` may be cached and answers for `covered`; replaces the earlier note of this
    /// query, and returns the interval of that note.
    pub fn insert(&mut self, query: &Query, covered: Interval<RangeKey>) -> Option<Interval<RangeKey>> {
        let before = self.remove(query);
        let number = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Entry::Free);
            u32::try_from(self.entries.len() - 1).expect("an owner knows less than 2^32 entries")
        });
        self.domains[query.domain].insert(covered.clone(), number);
        self.numbers.insert((hash_of(query), number));
        self.entries[number as usize] = if covered == query.interval && query.question.is_none() {
            Entry::Whole { fingerprint: query.fingerprint, form: query.form }
        } else {
            Entry::Part(Box::new((query.clone(), covered)))
        };
        before
    }

    /// Forgets an entry that is gone from the cache, and returns the interval it answered for.
    pub fn remove(&mut self, query: &Query) -> Option<Interval<RangeKey>> {
        let number = self.number(query)?;
        let entry = std::mem::replace(&mut self.entries[number as usize], Entry::Free);
        let covered = if let Entry::Part(part) = entry { part.1 } else { query.interval.clone() };
        self.domains[query.domain].remove(&covered, number);
        self.numbers.remove(&(hash_of(query), number));
        self.free.push(number);
        Some(covered)
    }

    /// Whether an entry answers for exactly this interval.
    pub(crate) fn stands_at(&self, domain: DomainId, interval: &Interval<RangeKey>) -> bool {
        self.domains[domain]
            .covering(interval)
            .any(|entry| entry.lo == interval.lo() && entry.hi == interval.hi())
    }

    /// Whether an entry of exactly this query is known.
    pub fn knows(&self, query: &Query) -> bool {
        self.number(query).is_some()
    }

    /// Other entries for all rows that cover as much of a query for all rows as possible, from left to right, and the
    /// gaps between them. `None` without such entries, or if there are more entries or gaps than these limits.
    ///
    /// Cost: the walk ends where a limit is exceeded, or where the query ends.
    ///
    /// ```
    /// use lacuna_cache_protocol::{Interval, PredicateIndex, Query};
    ///
    /// let ages = |lo: u64, hi: u64| Interval::closed(lo.into(), hi.into()).expect("lo <= hi");
    /// let (young, old) = (Query::all(0, ages(18, 22)), Query::all(0, ages(25, 30)));
    /// let mut index = PredicateIndex::new(1);
    /// index.insert(&young, ages(18, 22));
    /// index.insert(&old, ages(25, 30));
    /// let (entries, gaps) = index.cover(&Query::all(0, ages(20, 28)), 16, 4).expect("it overlaps both");
    /// assert_eq!((entries, gaps.len()), (vec![young, old], 1));
    /// ```
    pub fn cover(
        &self,
        query: &Query,
        max_entries: usize,
        max_gaps: usize,
    ) -> Option<(Vec<Query>, Vec<Query>)> {
        let serves = |row: &tree::Entry<'_, RangeKey, u32>| {
            let is_itself = (row.lo, row.hi) == (query.interval.lo(), query.interval.hi());
            !is_itself && self.entries[row.value as usize].has_all_rows(query.fingerprint)
        };
        let part = |interval| Query { interval, ..query.clone() };
        let mut rest = self.domains[query.domain].overlapping(&query.interval).filter(serves).peekable();
        let (mut entries, mut gaps): (Vec<Query>, Vec<Query>) = (Vec::new(), Vec::new());
        let (mut from, end) = (query.interval.lo(), query.interval.hi());
        while from < end && entries.len() <= max_entries && gaps.len() <= max_gaps {
            let mut farthest: Option<tree::Entry<'_, RangeKey, u32>> = None;
            while let Some(next) = rest.next_if(|next| next.lo <= from) {
                if farthest.as_ref().is_none_or(|known| known.hi < next.hi) {
                    farthest = Some(next);
                }
            }
            if let Some(next) = farthest.filter(|next| next.hi > from) {
                from = next.hi;
                entries.push(part(next.interval()));
            } else {
                let to = rest.peek().map_or(end, |next| next.lo);
                gaps.extend(Interval::between(from.clone(), to.clone()).map(part));
                from = to;
            }
        }
        let is_within = !entries.is_empty() && entries.len() <= max_entries && gaps.len() <= max_gaps;
        is_within.then_some((entries, gaps))
    }

    /// Up to `count` entries from a place on, and after the last one the first again; the place moves on.
    ///
    /// Cost: a walk over these, and over rows before them that reach as far.
    pub(crate) fn after(&self, place: &mut Place, count: usize) -> Vec<Query> {
        let mut queries = Vec::new();
        for _ in 0..=self.domains.len() {
            let from = place.row.as_ref().map_or(Cut::Least, |(lo, ..)| lo.clone());
            let rest = Interval::between(from, Cut::Greatest).expect("rows begin before everything ends");
            for row in self.domains[place.domain].overlapping(&rest) {
                if place
                    .row
                    .as_ref()
                    .is_some_and(|(lo, hi, number)| (row.lo, row.hi, row.value) <= (lo, hi, *number))
                {
                    continue;
                }
                if queries.len() == count {
                    return queries;
                }
                place.row = Some((row.lo.clone(), row.hi.clone(), row.value));
                queries.extend(self.query_at(place.domain, row));
            }
            *place = Place { domain: (place.domain + 1) % self.domains.len(), row: None };
        }
        queries
    }

    /// The query of a row of the tree.
    fn query_at(&self, domain: DomainId, row: tree::Entry<'_, RangeKey, u32>) -> Option<Query> {
        match &self.entries[row.value as usize] {
            Entry::Free => None,
            Entry::Whole { fingerprint, form } => Some(Query {
                domain,
                interval: row.interval(),
                form: *form,
                fingerprint: *fingerprint,
                question: None,
                stamps: Stamps::NONE,
            }),
            Entry::Part(part) => Some(part.0.clone()),
        }
    }

    fn number(&self, query: &Query) -> Option<u32> {
        let hash = hash_of(query);
        let alike = self.numbers.range((hash, 0)..=(hash, u32::MAX)).map(|(_, number)| *number);
        alike.into_iter().find(|number| match &self.entries[*number as usize] {
            Entry::Free => false,
            Entry::Whole { fingerprint, form } => {
                let is_alike =
                    (*fingerprint, *form, None) == (query.fingerprint, query.form, query.question.as_ref());
                is_alike && self.domains[query.domain].contains(&query.interval, *number)
            }
            Entry::Part(part) => part.0 == *query,
        })
    }

    /// The entries that a write may change, each once, in order.
    pub fn touched(&self, touched: &[Touched]) -> Vec<Query> {
        let mut queries = Vec::new();
        for (domain, interval) in touched {
            let rows = self.domains[*domain].overlapping(interval);
            queries.extend(rows.filter_map(|row| self.query_at(*domain, row)));
        }
        queries.sort_unstable();
        queries.dedup();
        queries
    }

    /// Bytes of memory, approximately. A B-tree set of the standard library is at least half full, and two thirds
    /// full on average.
    pub fn memory_bytes(&self) -> usize {
        let numbers = self.numbers.len() * size_of::<(u64, u32)>() * 3 / 2;
        let entries = self.entries.capacity() * size_of::<Entry>();
        numbers + entries + self.domains.iter().map(IntervalTree::memory_bytes).sum::<usize>()
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

fn hash_of(query: &Query) -> u64 {
    let mut hasher = DefaultHasher::new();
    query.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn interval() -> impl Strategy<Value = Interval<RangeKey>> {
        (0u64..20, 0u64..8)
            .prop_map(|(lo, len)| Interval::closed(lo.into(), (lo + len).into()).expect("lo <= hi"))
    }

    fn query() -> impl Strategy<Value = Query> {
        let form = prop_oneof![Just(Form::All), Just(Form::First(2)), Just(Form::Last(2))];
        let question = prop::option::of((0u8..2).prop_map(|byte| std::sync::Arc::<[u8]>::from([byte])));
        let parts = (0usize..2, interval(), form, 0u64..2, question);
        parts.prop_map(|(domain, interval, form, fingerprint, question)| Query {
            domain,
            interval,
            form,
            fingerprint,
            question,
            stamps: Stamps::NONE,
        })
    }

    proptest! {
        #[test]
        fn a_write_finds_exactly_what_it_touches(
            steps in prop::collection::vec((any::<bool>(), query(), 0u64..20), 0..80),
            writes in prop::collection::vec(prop::collection::vec((0usize..2, interval()), 1..3), 1..8),
        ) {
            let (mut index, mut model) = (PredicateIndex::new(2), BTreeMap::new());
            for (insert, query, last) in steps {
                if insert {
                    let covered = query.covered(Some(&RangeKey::from(last)));
                    index.insert(&query, covered.clone());
                    model.insert(query, covered);
                } else {
                    index.remove(&query);
                    model.remove(&query);
                }
                prop_assert_eq!(index.len(), model.len());
            }
            for write in writes {
                let meets = |query: &Query, covered: &Interval<RangeKey>| {
                    write.iter().any(|(domain, interval)| *domain == query.domain && interval.overlaps(covered))
                };
                let touched: Vec<Query> = model.iter().filter(|(q, covered)| meets(q, covered)).map(|(q, _)| q.clone()).collect();
                prop_assert_eq!(index.touched(&write), touched);
            }
            model.keys().for_each(|query| drop(index.remove(query)));
            prop_assert!(index.is_empty());
        }
    }

    proptest! {
        #[test]
        fn entries_and_gaps_cover_a_query_from_left_to_right(
            known in prop::collection::vec(query(), 0..40),
            asked in interval(),
            limits in (0usize..6, 0usize..4),
        ) {
            let asked = Query::all(0, asked);
            let mut index = PredicateIndex::new(2);
            for query in &known {
                index.insert(query, query.interval.clone());
            }
            let may_serve = |other: &Query| {
                let is_alike = (other.domain, other.fingerprint) == (asked.domain, asked.fingerprint);
                other.is_all_rows() && is_alike && *other != asked
            };
            let whole = index.cover(&asked, usize::MAX - 1, usize::MAX - 1);
            let (entries, gaps) = whole.clone().unwrap_or_default();
            prop_assert_eq!(index.knows(&asked), known.contains(&asked));
            prop_assert!(entries.iter().all(|entry| known.contains(entry) && may_serve(entry)));
            let overlapping = known.iter().filter(|other| may_serve(other) && other.interval.overlaps(&asked.interval));
            let overlapping: Vec<&Query> = overlapping.collect();
            prop_assert_eq!(whole.is_none(), overlapping.is_empty());
            prop_assert!(gaps.iter().all(|gap| !overlapping.iter().any(|other| other.interval.overlaps(&gap.interval))));
            if whole.is_some() {
                let mut parts: Vec<&Query> = entries.iter().chain(&gaps).collect();
                parts.sort_by_key(|part| part.interval.lo().clone());
                let reached = parts.iter().try_fold(asked.interval.lo().clone(), |from, part| {
                    (*part.interval.lo() <= from && *part.interval.hi() > from).then(|| part.interval.hi().clone())
                });
                prop_assert!(reached.is_some_and(|reached| reached >= *asked.interval.hi()));
            }
            let is_within = entries.len() <= limits.0 && gaps.len() <= limits.1;
            prop_assert_eq!(index.cover(&asked, limits.0, limits.1), whole.filter(|_| is_within));
        }
    }

    #[test]
    fn an_entry_takes_less_than_200_bytes() {
        const COUNT: u64 = 100_000;
        let mut index = PredicateIndex::new(1);
        for entry in 0..COUNT {
            let start = entry.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 8;
            let interval = Interval::closed(start.into(), (start + 5).into()).unwrap();
            index.insert(&Query::all(0, interval.clone()), interval);
        }
        let bytes = index.memory_bytes() / index.len();
        assert!(bytes <= 200, "{bytes} bytes");
    }
}
