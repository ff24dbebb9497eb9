//! Asks a filter and holds every answer against the oracle.

use std::fmt::Display;
use std::ops::Bound::{self, Excluded, Included, Unbounded};

use lacuna_base::{DynFilter, KeyRange};

use crate::space::closed;
use crate::verdict::ensure;
use crate::{Fault, Oracle, TestSpace, Verdict};

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
        self.answer(range).map(|_| ())
    }

    /// The answer to one range, which is denied only if it is empty.
    fn answer(&self, range: KeyRange<'_, K>) -> Result<bool, Fault> {
        let answer = self.filter.may_contain_range(range);
        ensure(answer || !self.oracle.holds_any(range), || {
            format!("{}: {range:?} holds a key and is denied; {:?}", self.place, self.oracle)
        })?;
        Ok(answer)
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

    /// Batches of `ranges`, and of pairs of their ends, answer as singles do, whatever the length of the batch; every third
    /// pair is inverted, and denied.
    pub(crate) fn batches(&self, ranges: &[KeyRange<'_, K>]) -> Verdict {
        let alone = ranges.iter().map(|range| self.answer(*range)).collect::<Result<Vec<_>, _>>()?;
        let ends = ranges.iter().zip(&alone).filter_map(|(range, &alone)| match K::ends(*range) {
            (lo, Some(hi)) => Some((lo, hi, alone)),
            _ => None,
        });
        // Inverted, a range of one key stays what it was.
        let turned = ends.enumerate().map(|(place, (lo, hi, alone))| match place % 3 {
            2 => ((hi, lo), alone && lo == hi),
            _ => ((lo, hi), alone),
        });
        let ((los, his), alone_of_pairs): ((Vec<_>, Vec<_>), Vec<_>) = turned.unzip();
        self.batch(&[], &[])?;
        self.pairs(&[], &[], &[])?;
        for len in [1, 7, 1_024] {
            let mut batches = ranges.chunks(len).zip(alone.chunks(len));
            batches.try_for_each(|(ranges, alone)| self.batch(ranges, alone))?;
            let mut batches = los.chunks(len).zip(his.chunks(len)).zip(alone_of_pairs.chunks(len));
            batches.try_for_each(|((los, his), alone)| self.pairs(los, his, alone))?;
        }
        Ok(())
    }

    fn batch(&self, ranges: &[KeyRange<'_, K>], alone: &[bool]) -> Verdict {
        // Both fillings, so that an answer that was not written is seen.
        for filling in [false, true] {
            let mut answers = vec![filling; ranges.len()];
            self.filter.may_contain_ranges(ranges, &mut answers);
            self.equal(&answers, alone, |place| format!("{:?}", ranges[place]), "ranges")?;
        }
        Ok(())
    }

    fn pairs<'k>(&self, los: &[K::Ref<'k>], his: &[K::Ref<'k>], alone: &[bool]) -> Verdict {
        for filling in [false, true] {
            let mut answers = vec![filling; los.len()];
            self.filter.may_contain_pairs(los, his, &mut answers);
            self.equal(&answers, alone, |place| format!("{:?} to {:?}", los[place], his[place]), "pairs")?;
        }
        Ok(())
    }

    /// Whether a batch of `kind` is answered as its questions are alone.
    fn equal(
        &self,
        answers: &[bool],
        alone: &[bool],
        question: impl Fn(usize) -> String,
        kind: &str,
    ) -> Verdict {
        let differs = answers.iter().zip(alone).position(|(answer, alone)| answer != alone);
        let Some(place) = differs else { return Ok(()) };
        let (at, asked, answer, count) = (self.place, question(place), answers[place], answers.len());
        Err(Fault::new(format!(
            "{at}: {asked} is {answer} at place {place} of a batch of {count} {kind}, but not alone; {:?}",
            self.oracle
        )))
    }
}
