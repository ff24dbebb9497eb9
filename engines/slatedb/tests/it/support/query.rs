//! Random questions, and the same question put to a database and to a map.

use std::collections::BTreeMap;
use std::ops::Bound::{self, Excluded, Included, Unbounded};

use lacuna_base::ByteRange;
use lacuna_slatedb::{RangeFilters, prefix_range};
use lacuna_workload::Rng;
use slatedb::config::ScanOptions;
use slatedb::{DbReadOps, IterationOrder};

use super::database::rows;

pub(crate) type Model = BTreeMap<Vec<u8>, Vec<u8>>;
type Rows = Vec<(Vec<u8>, Vec<u8>)>;

#[derive(Debug)]
pub(crate) enum Query {
    Scan(Bound<Vec<u8>>, Bound<Vec<u8>>, bool),
    Prefix(Vec<u8>),
    Get(Vec<u8>),
}

impl Query {
    /// Any of the three near a key.
    pub(crate) fn draw(rng: &mut Rng, draw_key: fn(&mut Rng) -> Vec<u8>) -> Self {
        match rng.below(6) {
            0 => Self::Get(draw_key(rng)),
            1 => {
                let mut prefix = draw_key(rng);
                prefix.truncate(1 + rng.index(prefix.len()));
                Self::Prefix(prefix)
            }
            _ => Self::draw_scan(rng, draw_key),
        }
    }

    /// Ends near each other, so that empty ranges between keys are common.
    fn draw_scan(rng: &mut Rng, draw_key: fn(&mut Rng) -> Vec<u8>) -> Self {
        let mut lo = draw_key(rng);
        let mut hi = if rng.below(3) == 0 { draw_key(rng) } else { lo.clone() };
        nudge(rng, &mut lo);
        nudge(rng, &mut hi);
        if lo > hi {
            std::mem::swap(&mut lo, &mut hi);
        }
        Self::Scan(bound(rng, lo), bound(rng, hi), rng.below(2) == 0)
    }

    /// Asks a scan through the guard, so that nothing found is a hint.
    pub(crate) async fn hint<R: DbReadOps + Sync>(&self, lacuna: &RangeFilters, db: &R) {
        if let Self::Scan(lo, hi, _) = self {
            let _ = lacuna.scan(db, (slice(lo), slice(hi))).await.unwrap().next().await.unwrap();
        }
    }

    /// All three must say the same.
    pub(crate) async fn check<R: DbReadOps + Sync>(
        &self,
        filtered: &R,
        plain: &R,
        model: &Model,
        case: &str,
    ) {
        let Some(wanted) = self.answer_by(model) else { return };
        let (found, unfiltered) = (self.answer_of(filtered).await, self.answer_of(plain).await);
        assert_eq!(found, wanted, "{case}: {self:x?} with filters");
        assert_eq!(unfiltered, wanted, "{case}: {self:x?} without filters");
    }

    /// One batch about the ranges of `queries` must say which of them have rows.
    pub(crate) async fn check_batch<R: DbReadOps + Sync>(
        queries: &[Self],
        lacuna: &RangeFilters,
        db: &R,
        model: &Model,
        case: &str,
    ) {
        let has_row = |query: &Self| query.answer_by(model).is_some_and(|rows| !rows.is_empty());
        let wanted: Vec<bool> = queries.iter().map(has_row).collect();
        let found = lacuna.contains_ranges(db, queries.iter().map(Self::range)).await.unwrap();
        assert_eq!(found, wanted, "{case}: {queries:x?} in a batch");
    }

    fn range(&self) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
        match self {
            Self::Scan(lo, hi, _) => (lo.clone(), hi.clone()),
            Self::Prefix(prefix) => prefix_range(prefix),
            Self::Get(key) => (Included(key.clone()), Included(key.clone())),
        }
    }

    /// `None` for a range that SlateDB does not take.
    fn answer_by(&self, model: &Model) -> Option<Rows> {
        let row = |(key, value): (&Vec<u8>, &Vec<u8>)| (key.clone(), value.clone());
        Some(match self {
            Self::Scan(lo, hi, descending) => {
                let range = ByteRange::from_bounds(slice(lo), slice(hi))?;
                let mut rows: Rows = model.iter().filter(|(key, _)| range.contains(key)).map(row).collect();
                if *descending {
                    rows.reverse();
                }
                rows
            }
            Self::Prefix(prefix) => {
                model.iter().filter(|(key, _)| key.starts_with(prefix)).map(row).collect()
            }
            Self::Get(key) => model.get_key_value(key).map(row).into_iter().collect(),
        })
    }

    async fn answer_of<R: DbReadOps + Sync>(&self, db: &R) -> Rows {
        match self {
            Self::Scan(lo, hi, descending) => {
                let order = if *descending { IterationOrder::Descending } else { IterationOrder::Ascending };
                let options = ScanOptions { order, ..ScanOptions::default() };
                rows(db.scan_with_options((slice(lo), slice(hi)), &options).await.unwrap()).await
            }
            Self::Prefix(prefix) => rows(db.scan_prefix(prefix, ..).await.unwrap()).await,
            Self::Get(key) => {
                let value = db.get(key).await.unwrap();
                value.map(|value| (key.clone(), value.to_vec())).into_iter().collect()
            }
        }
    }
}

/// Moves an end a little: up or down in its last byte, longer, shorter, or not at all.
fn nudge(rng: &mut Rng, end: &mut Vec<u8>) {
    let last = end.len() - 1;
    match rng.below(8) {
        0..3 => end[last] = end[last].wrapping_add([1, 2, 3, 4, 5, 6][rng.index(6)]),
        3 => end[last] = end[last].wrapping_sub([1, 2, 3, 4, 5, 6][rng.index(6)]),
        4 => end.push([0, 1, 7, 0xFF][rng.index(4)]),
        5 => end.truncate(1 + rng.index(end.len())),
        _ => {}
    }
}

fn bound(rng: &mut Rng, end: Vec<u8>) -> Bound<Vec<u8>> {
    match rng.below(12) {
        0 => Unbounded,
        1..6 => Excluded(end),
        _ => Included(end),
    }
}

fn slice(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(Vec::as_slice)
}
