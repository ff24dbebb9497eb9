//! The rate a filter promises is the rate it has, for uniform queries and for queries that start next to a key.
//!
//! A bound is held by statistics: over empty queries whose bounds add up to `E`, a count of false positives up to
//! `E + 3.3 sqrt(E)` passes; `E` is at least 64, in a long run 400. That rule needs queries that are independent.
//! Two queries next to the same key are not: what makes one a false positive makes the other one too. So each filter
//! gets one query for each cluster of keys, and the next queries go to a filter with another seed.

use lacuna_base::{DynFilter, KeyRange};
use lacuna_workload::Rng;

use crate::space::closed;
use crate::verdict::ensure;
use crate::{Fault, Oracle, Subject, TestSpace, Verdict, effort};

/// Random streams of the checks below.
const STREAM: u64 = 0xA00;
/// Budgets measured, in bits per key.
const BUDGETS: [f64; 6] = [3.0, 5.0, 8.0, 11.0, 14.0, 18.0];
/// Lengths of the ranges asked, in keys.
const RANGE_LENGTHS: [u64; 5] = [1, 2, 32, 100, 1_024];
/// Queries asked even where fewer would do: at high rates, 64 expected positives let an excess of two fifths pass.
const MIN_QUERIES: (f64, f64) = (40_000.0, 4e6);
/// Keys of every set.
const KEYS: u64 = 20_000;

/// Where a filter states a bound below one, it keeps it.
///
/// # Errors
/// A fault with the counts, if a bound is not within 0 to 1 or falls as ranges grow, or if none could be measured.
pub fn the_stated_rate_is_kept<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    let mut rng = effort::rng(STREAM);
    let (mut stated, mut measured) = (0, 0);
    for (name, clusters) in
        [("lone keys", Clusters::new(1, &mut rng)), ("close keys", Clusters::new(10, &mut rng))]
    {
        for bits in BUDGETS {
            let place =
                |fault: Fault| fault.within(format!("{} over {name} at {bits} bits per key", subject.text()));
            let mut cells = stated_cells(subject, &clusters, bits, &mut rng).map_err(place)?;
            stated += cells.len();
            while !cells.is_empty() {
                let filter = subject.filter(clusters.oracle.sorted(), bits, rng.next_u64()).map_err(place)?;
                let mut unfinished = Vec::new();
                for mut cell in cells {
                    match cell.ask(&*filter, &mut rng) {
                        Measured::NotYet => unfinished.push(cell),
                        Measured::Never => {}
                        Measured::Enough => {
                            cell.hold().map_err(place)?;
                            measured += 1;
                        }
                    }
                }
                cells = unfinished;
            }
        }
    }
    ensure(stated == 0 || measured > 0, || format!("{}: no stated bound could be measured", subject.text()))
}

/// A cell for each kind of query about which a filter of `bits` bits per key promises something.
fn stated_cells<'a, K: TestSpace + ?Sized>(
    subject: &Subject<K>,
    clusters: &'a Clusters<K>,
    bits: f64,
    rng: &mut Rng,
) -> Result<Vec<Cell<'a, K>>, Fault> {
    let filter = subject.filter(clusters.oracle.sorted(), bits, rng.next_u64())?;
    let cell = |len| [false, true].map(|near| Cell { clusters, len, near, count: Count::default() });
    Ok(stated_lengths(&*filter)?.into_iter().flat_map(cell).collect())
}

/// The lengths for which `filter` promises something; its bound never falls as ranges grow.
fn stated_lengths<K: TestSpace + ?Sized>(filter: &DynFilter<K>) -> Result<Vec<u64>, Fault> {
    let bounds = RANGE_LENGTHS.map(|len| filter.rate_bound(len));
    ensure(bounds.iter().all(|bound| (0.0..=1.0).contains(bound)), || format!("bounds are {bounds:?}"))?;
    ensure(bounds.is_sorted(), || format!("bounds fall as ranges grow: {bounds:?}"))?;
    Ok(RANGE_LENGTHS.into_iter().zip(bounds).filter(|(_, bound)| *bound < 1.0).map(|(len, _)| len).collect())
}

/// Keys in clusters far from one another, so that the answers about two clusters are independent.
struct Clusters<K: TestSpace + ?Sized> {
    members: Vec<Vec<K::Owned>>,
    oracle: Oracle<K>,
}

impl<K: TestSpace + ?Sized> Clusters<K> {
    /// Clusters of `size` keys, 40 apart.
    fn new(size: u64, rng: &mut Rng) -> Self {
        let cluster = |start: u64| (0..size).map(|step| K::number(start + 40 * step)).collect();
        let members: Vec<Vec<_>> = (0..KEYS / size).map(|_| cluster(rng.next_u64() >> 1)).collect();
        let oracle = Oracle::new(members.concat());
        Self { members, oracle }
    }
}

/// One length and kind of queries, of which each filter of one set and budget is asked some.
struct Cell<'a, K: TestSpace + ?Sized> {
    clusters: &'a Clusters<K>,
    len: u64,
    near: bool,
    count: Count,
}

/// Counts of the queries so far, and the false positives that their bounds allow.
#[derive(Default)]
struct Count {
    queries: f64,
    positives: f64,
    expected: f64,
}

/// How far the queries of a cell are enough to hold its bound.
enum Measured {
    NotYet,
    Enough,
    /// Too few of its ranges are empty, or too many would be needed.
    Never,
}

impl<K: TestSpace + ?Sized> Cell<'_, K> {
    /// Asks a filter that no query of this cell was asked yet, one query for each cluster.
    fn ask(&mut self, filter: &DynFilter<K>, rng: &mut Rng) -> Measured {
        let (min_expected, max_queries) = effort::short_or_long((64.0, 6e5), (400.0, 8e6));
        let min_queries = effort::short_or_long(MIN_QUERIES.0, MIN_QUERIES.1);
        let bound = filter.rate_bound(self.len);
        let wanted = if bound > 0.0 { min_queries.max(min_expected / bound) } else { min_queries };
        let before = self.count.queries;
        for members in &self.clusters.members {
            let near = self.near.then(|| &members[rng.index(members.len())]);
            let Some((lo, hi)) = K::draw_query(rng, near, self.len) else { continue };
            if let Some(range) = self.empty_range(&lo, &hi) {
                self.count.queries += 1.0;
                self.count.expected += bound;
                self.count.positives += f64::from(u8::from(filter.may_contain_range(range)));
            }
        }
        let gained = self.count.queries - before;
        // Longer ranges than the gaps leave hardly an empty one; between strings, lengths mean nothing.
        match () {
            () if wanted > max_queries || gained < 100.0 => Measured::Never,
            () if self.count.queries >= wanted => Measured::Enough,
            () => Measured::NotYet,
        }
    }

    fn empty_range<'r>(&self, lo: &'r K::Owned, hi: &'r K::Owned) -> Option<KeyRange<'r, K>> {
        closed::<K>(lo, hi).filter(|range| !self.clusters.oracle.holds_any(*range))
    }

    fn hold(&self) -> Verdict {
        let Count { queries, positives, expected } = &self.count;
        let max = expected + 3.3 * expected.sqrt();
        let (len, kind) = (self.len, if self.near { "next to keys" } else { "anywhere" });
        ensure(*positives <= max, || {
            format!(
                "{positives} false positives in {queries} empty ranges of {len} {kind}; at a bound of {} at most \
                 {max:.0} pass",
                expected / queries
            )
        })
    }
}
