//! Asks a filter and holds every answer against the oracle.

use std::fmt::Display;
use std::ops::Bound::{self, Excluded, Included, Unbounded};

use lacuna_base::{DynFilter, KeyRange};

use crate::space::closed;
use crate::verdict::ensure;
use crate::{Oracle, TestSpace, Verdict};

/// A filter beside its truth.
pub(crate) struct Probe<'a, K: TestSpace + ?Sized> {
    filter: &'a DynFilter<K>,
    oracle: &'a Oracle<K>,
    place: &'a dyn Display,
}

impl<'a, K: TestSpace + ?Sized> Probe<'a, K> {
    /// Holds `filter` against `oracle`; `place` says in a fault which filter it was.
    pub(crate) fn new(filter: &'a DynFilter<K>, oracle: &'a Oracle<K>, place: &'a dyn Display) -> Self {
        Self { filter, oracle, place }
    }

    /// The truth.
    pub(crate) fn oracle(&self) -> &'a Oracle<K> {
        self.oracle
    }

    /// Asks for one key, as a point.
    pub(crate) fn point(&self, key: K::Ref<'_>) -> Verdict {
        ensure(self.filter.may_contain(key) || !self.oracle.contains(key), || {
            format!("{}: key {key:?} was added and is denied; {:?}", self.place, self.oracle)
        })
    }

    /// Asks for one range.
    pub(crate) fn range(&self, range: KeyRange<'_, K>) -> Verdict {
        ensure(self.filter.may_contain_range(range) || !self.oracle.holds_any(range), || {
            format!("{}: {range:?} holds a key and is denied; {:?}", self.place, self.oracle)
        })
    }

    /// Asks for the closed range between two keys, in whatever order they come.
    pub(crate) fn between(&self, one: &K::Owned, other: &K::Owned) -> Verdict {
        let range = closed::<K>(one.min(other), one.max(other)).expect("the smaller end comes first");
        self.range(range)
    }

    /// Asks between bounds; an empty or inverted pair must be denied, any other agree with its range.
    pub(crate) fn bounds(&self, lo: Bound<&K::Owned>, hi: Bound<&K::Owned>) -> Verdict {
        let answer = self.filter.may_contain_bounds(lo.map(K::borrow), hi.map(K::borrow));
        let range = K::range(lo.map(K::borrow), hi.map(K::borrow));
        let (oracle, place) = (self.oracle, self.place);
        match range {
            None => ensure(!answer, || {
                format!("{place}: {lo:?}, {hi:?} holds no key of the space and is `maybe`")
            }),
            Some(range) => {
                ensure(answer || !oracle.holds_any(range), || {
                    format!("{place}: {lo:?}, {hi:?} holds a key and is denied; {oracle:?}")
                })?;
                ensure(answer == self.filter.may_contain_range(range), || {
                    format!("{place}: {lo:?}, {hi:?} is {answer}, but {range:?} is not; {oracle:?}")
                })
            }
        }
    }

    /// Asks between every kind of bound at two keys.
    pub(crate) fn all_bounds(&self, lo: &K::Owned, hi: &K::Owned) -> Verdict {
        for lo in [Included(lo), Excluded(lo), Unbounded] {
            for hi in [Included(hi), Excluded(hi), Unbounded] {
                self.bounds(lo, hi)?;
            }
        }
        Ok(())
    }

    /// Asks for every key.
    pub(crate) fn every_key(&self) -> Verdict {
        self.oracle.keys().iter().try_for_each(|key| self.point(K::borrow(key)))
    }

    /// Asks for the keys, neighbours, ranges and bounds around at most `max_keys` keys, spread over the set.
    pub(crate) fn everything_near(&self, max_keys: usize) -> Verdict {
        self.every_key()?;
        let step = (self.oracle.len() / max_keys).max(1);
        for key in self.oracle.keys().iter().step_by(step).chain(self.oracle.keys().last()) {
            self.near(key)?;
        }
        Ok(())
    }

    /// Asks for neighbours of `key`, all ranges between two of them, and all bounds at the nearest.
    fn near(&self, key: &K::Owned) -> Verdict {
        let mut ends = K::neighbours(key);
        ends.extend([key.clone(), K::smallest(), K::largest()]);
        for (place, one) in ends.iter().enumerate() {
            self.point(K::borrow(one))?;
            self.all_bounds(key, one)?;
            self.all_bounds(one, key)?;
            ends[place..].iter().try_for_each(|other| self.between(one, other))?;
        }
        Ok(())
    }

    /// Batches of `ranges` answer as singles do, whatever the length of the batch.
    pub(crate) fn batches(&self, ranges: &[KeyRange<'_, K>]) -> Verdict {
        for len in [0, 1, 7, 1_024].map(|len: usize| len.min(ranges.len())) {
            for batch in ranges.chunks(len.max(1)) {
                self.batch(&batch[..len.min(batch.len())])?;
                self.pairs(&batch[..len.min(batch.len())])?;
            }
        }
        Ok(())
    }

    fn batch(&self, ranges: &[KeyRange<'_, K>]) -> Verdict {
        // Both fillings, so that an answer that was not written is seen.
        for filling in [false, true] {
            let mut answers = vec![filling; ranges.len()];
            self.filter.may_contain_ranges(ranges, &mut answers);
            for (place, (&range, &answer)) in ranges.iter().zip(&answers).enumerate() {
                self.range(range)?;
                ensure(answer == self.filter.may_contain_range(range), || {
                    format!(
                        "{}: {range:?} is {answer} at place {place} of a batch of {}, but not alone; {:?}",
                        self.place,
                        ranges.len(),
                        self.oracle
                    )
                })?;
            }
        }
        Ok(())
    }

    /// Pairs of the ends of `ranges` answer as their closed ranges do alone; every third pair is inverted, and denied.
    fn pairs(&self, ranges: &[KeyRange<'_, K>]) -> Verdict {
        let ends = ranges.iter().filter_map(|range| match K::ends(*range) {
            (lo, Some(hi)) => Some((lo, hi)),
            _ => None,
        });
        let turned =
            ends.enumerate().map(|(place, (lo, hi))| if place % 3 == 2 { (hi, lo) } else { (lo, hi) });
        let (los, his): (Vec<_>, Vec<_>) = turned.unzip();
        for filling in [false, true] {
            let mut answers = vec![filling; los.len()];
            self.filter.may_contain_pairs(&los, &his, &mut answers);
            for ((&lo, &hi), answer) in los.iter().zip(&his).zip(answers) {
                let alone = match K::range(Included(lo), Included(hi)) {
                    Some(range) => {
                        self.range(range)?;
                        self.filter.may_contain_range(range)
                    }
                    None => false,
                };
                ensure(answer == alone, || {
                    let (place, count) = (self.place, los.len());
                    format!(
                        "{place}: {lo:?} to {hi:?} is {answer} in a batch of {count} pairs, but not alone"
                    )
                })?;
            }
        }
        Ok(())
    }
}
