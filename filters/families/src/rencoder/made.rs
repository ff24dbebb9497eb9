//! Empty queries made from the keys themselves, for designs without a sample.
//!
//! Half of them start anywhere, where ranges are mostly far from all keys, half a little after a key. A builder makes
//! them from all keys, a prediction from pairs of neighbours that stand for all.

use lacuna_base::hash::{IntegerHasher, reduce};

use crate::statistics::EmptyQuery;

/// Lengths of the ranges that designs without a sample are made for, as in the paper's evaluation.
const SHORTEST: u64 = 2;
const LONGEST: u64 = 32;
/// Distance after a key of the correlated half of them.
const DISTANCE: u64 = 32;
/// Empty queries made from the keys, for designs without a sample.
pub(crate) trait MadeQueries {
    /// Queries anywhere between the smallest and the largest key.
    fn anywhere(&self) -> Vec<EmptyQuery>;
    /// Queries a little after a key.
    fn behind_keys(&self) -> Vec<EmptyQuery>;
}

/// Queries made from all keys.
pub(crate) struct AllKeys<'a>(pub(crate) &'a [u64]);

impl MadeQueries for AllKeys<'_> {
    fn anywhere(&self) -> Vec<EmptyQuery> {
        let (smallest, largest) = (self.0[0], self.0[self.0.len() - 1]);
        made(self.0, |random| smallest + reduce(random, largest - smallest))
    }

    fn behind_keys(&self) -> Vec<EmptyQuery> {
        made(self.0, |random| {
            #[expect(clippy::cast_possible_truncation, reason = "places lie within the keys")]
            let place = reduce(random, self.0.len() as u64) as usize;
            self.0[place].saturating_add(DISTANCE)
        })
    }
}

/// Empty queries that start at `start(random)`: fewer for fewer keys, so that small filters are built quickly.
fn made(keys: &[u64], start: impl Fn(u64) -> u64) -> Vec<EmptyQuery> {
    let hasher = IntegerHasher::new(0);
    let queries = (0..made_count(keys.len())).filter_map(|number| {
        let lo = start(hasher.hash(2 * number));
        EmptyQuery::among(keys, lo, lo.saturating_add(made_len(hasher, number) - 1))
    });
    queries.collect()
}

fn made_count(key_count: usize) -> u64 {
    (key_count as u64 / 16).clamp(4, 64)
}

fn made_len(hasher: IntegerHasher, number: u64) -> u64 {
    SHORTEST + reduce(hasher.hash(2 * number + 1), LONGEST - SHORTEST + 1)
}

/// Queries made from sampled pairs of neighbours: similar to those made from all keys, not the same.
pub(crate) struct SomePairs<'a>(pub(crate) &'a [(u64, u64)]);

impl MadeQueries for SomePairs<'_> {
    fn anywhere(&self) -> Vec<EmptyQuery> {
        let mut ends = Vec::with_capacity(self.0.len());
        let mut total = 0u128;
        for (below, above) in self.0 {
            total += u128::from(above - below);
            ends.push(total);
        }
        let total = u64::try_from(total).unwrap_or(u64::MAX);
        made_between(self.0, |random| {
            // A place in all gaps together, so that wide gaps are met as often as they are wide.
            let place = u128::from(reduce(random, total));
            let index = ends.partition_point(|&end| end <= place);
            let (below, above) = *self.0.get(index)?;
            let offset = u64::try_from(ends[index] - place).ok()?;
            Some((index, below + (above - below).checked_sub(offset)?))
        })
    }

    fn behind_keys(&self) -> Vec<EmptyQuery> {
        made_between(self.0, |random| {
            #[expect(clippy::cast_possible_truncation, reason = "places lie within the pairs")]
            let index = reduce(random, self.0.len() as u64) as usize;
            Some((index, self.0.get(index)?.0.saturating_add(DISTANCE)))
        })
    }
}

fn made_between(pairs: &[(u64, u64)], start: impl Fn(u64) -> Option<(usize, u64)>) -> Vec<EmptyQuery> {
    let hasher = IntegerHasher::new(0);
    let queries = (0..made_count(pairs.len())).filter_map(|number| {
        let (index, lo) = start(hasher.hash(2 * number))?;
        let hi = lo.saturating_add(made_len(hasher, number) - 1);
        let (below, above) = pairs[index];
        (below < lo && hi < above).then_some(EmptyQuery { lo, hi, below: Some(below), above: Some(above) })
    });
    queries.collect()
}
