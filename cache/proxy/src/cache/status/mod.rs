//! What is in the cache, for people: the intervals of each column that are there, and the entries that are asked for most.
//!
//! Entries are walked a few at a time, so the parts of a picture may be some milliseconds apart.

mod segments;

use std::collections::HashMap;
use std::time::Duration;

use super::Cache;
use super::catalogue::{Catalogue, Kind};
use super::results::Walked;
use super::shown::shown;
pub use segments::Segment;
use segments::{Covered, segments};

/// Most hot ranges that are shown, and entries that are remembered until all were seen.
const MAX_HOT: usize = 20;
const MAX_CANDIDATES: usize = 2_000;

/// What is in a cache.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CacheStatus {
    /// Most bytes of all replies.
    pub max_bytes: usize,
    /// The registered columns, in their order.
    pub columns: Vec<ColumnStatus>,
    /// The entries that were asked for most since they are there, the hottest first.
    pub hottest: Vec<HotRange>,
}

/// What is there of a registered column.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ColumnStatus {
    /// Schema, table and column.
    pub column: String,
    /// Replies that are kept.
    pub entries: usize,
    /// Bytes that they take, nearly.
    pub bytes: usize,
    /// How often they were asked for.
    pub hits: u64,
    /// The intervals that they cover, from left to right.
    pub segments: Vec<Segment>,
}

/// An interval that is asked for often.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HotRange {
    /// Schema, table and column.
    pub column: String,
    /// The first and the last value.
    pub interval: (String, String),
    /// The statement without its constants.
    pub shape: String,
    /// How often it was asked for.
    pub hits: u64,
    /// Bytes that it takes, nearly.
    pub bytes: usize,
    /// Time that the server took for it.
    pub took: Duration,
}

impl Cache {
    /// What is there now.
    pub(crate) fn status(&self) -> CacheStatus {
        let catalogue = self.reading().catalogue;
        let mut seen = Seen::default();
        self.results.walk(|entry| seen.add(entry));
        seen.status(&catalogue, self.max_bytes)
    }
}

/// What was walked so far.
#[derive(Debug, Default)]
struct Seen {
    columns: HashMap<usize, (ColumnStatus, Vec<Covered>)>,
    candidates: Vec<Walked>,
}

impl Seen {
    fn add(&mut self, entry: Walked) {
        let (status, covered) = self.columns.entry(entry.column).or_default();
        status.entries += 1;
        status.bytes += entry.bytes;
        status.hits += entry.hits;
        let (first, hits) = (entry.spans.hull().low, entry.hits);
        // An entry of several intervals counts in its first one.
        covered.extend(entry.spans.iter().map(|span| {
            if span.low == first {
                Covered { span, entries: 1, hits }
            } else {
                Covered { span, entries: 0, hits: 0 }
            }
        }));
        if entry.hits > 0 {
            self.candidates.push(entry);
        }
        if self.candidates.len() > 2 * MAX_CANDIDATES {
            self.keep_the_hottest();
        }
    }

    fn keep_the_hottest(&mut self) {
        self.candidates.sort_by_key(|entry| std::cmp::Reverse(entry.hits));
        self.candidates.truncate(MAX_CANDIDATES);
    }

    fn status(mut self, catalogue: &Catalogue, max_bytes: usize) -> CacheStatus {
        let hottest = self.hottest(catalogue);
        let columns = catalogue.registered_columns().into_iter().filter_map(|number| {
            let (column, kind) = catalogue.registered(number)?;
            let (status, covered) = self.columns.remove(&number).unwrap_or_default();
            Some(ColumnStatus { column, segments: segments(covered, kind), ..status })
        });
        CacheStatus { max_bytes, columns: columns.collect(), hottest }
    }

    /// Entries of one statement that differ in their role or their form are one.
    fn hottest(&mut self, catalogue: &Catalogue) -> Vec<HotRange> {
        self.keep_the_hottest();
        let mut merged: Vec<Walked> = Vec::new();
        let mut places = HashMap::new();
        for entry in self.candidates.drain(..) {
            let place = *places
                .entry((entry.column, entry.spans.clone(), entry.shape.clone()))
                .or_insert(merged.len());
            match merged.get_mut(place) {
                Some(known) => {
                    known.hits += entry.hits;
                    known.bytes += entry.bytes;
                }
                None => merged.push(entry),
            }
        }
        merged.sort_by_key(|entry| std::cmp::Reverse(entry.hits));
        merged.truncate(MAX_HOT);
        merged.into_iter().map(|entry| hot(&entry, catalogue)).collect()
    }
}

fn hot(Walked { column, spans, shape, took, hits, bytes }: &Walked, catalogue: &Catalogue) -> HotRange {
    let (name, kind) = catalogue.registered(*column).unwrap_or(("a column".to_owned(), Kind::Integer));
    HotRange {
        column: name,
        interval: shown(kind, spans.hull()),
        shape: shape.to_string(),
        hits: *hits,
        bytes: *bytes,
        took: *took,
    }
}
