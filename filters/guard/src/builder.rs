//! Builds the filter of one file and never fails the file.
//!
//! The engine hands over every key of every entry, in its order and with repeats. Whatever goes wrong (a key that the
//! codec does not take, keys out of order, a budget that nothing fits, a panic of ours) ends in a file without a
//! filter, which is read as it would have been before, and in a counter.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use lacuna_base::internal::KeyColumn;
use lacuna_base::{Error, KeyCodec, Result, Sample, Sealed, SortedKeys};

use crate::attempt::{Attempt, attempt};
use crate::codec::GuardCodec;
use crate::counters::Counters;
use crate::guard_key::GuardKey;
use crate::query_log::QueryLog;
use crate::spec::GuardSpec;

/// The limit that the error suggests for a file whose limit leaves no bits at all.
const MIN_BITS_PER_KEY: f64 = 1.0;

/// Takes an engine's keys and seals a filter over them, if one can be made.
///
/// Memory: 8 bytes a key for integers; their bytes and 8 more for byte strings.
///
/// ```
/// use lacuna_guard::{Counters, GuardBuilder, GuardSpec, QueryLog};
/// use std::sync::Arc;
///
/// let spec = Arc::new(GuardSpec::parse("bloom@10 codec=fixed_be:8")?);
/// let (log, counters) = (Arc::new(QueryLog::new(spec.codec())), Arc::new(Counters::new()));
/// let mut builder = GuardBuilder::new(spec, log, Arc::clone(&counters));
/// builder.add(b"eight by");
/// builder.add(b"nine byte");
/// assert!(builder.finish().is_none());
/// assert_eq!(counters.snapshot().build_failures, 1);
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug)]
pub struct GuardBuilder {
    spec: Arc<GuardSpec>,
    log: Arc<QueryLog>,
    counters: Arc<Counters>,
    keys: Keys,
    /// Whether a new filter is asked some queries, to find out if it hardly answers.
    is_checked: bool,
}

#[derive(Debug)]
enum Keys {
    /// Nothing is to be built.
    Off,
    /// Something went wrong; nothing will be stored.
    Failed(Error),
    Integers(Collected<u64>),
    Strings(Collected<[u8]>),
}

#[derive(Debug)]
struct Collected<K: GuardKey + ?Sized> {
    codec: Arc<dyn KeyCodec<K>>,
    column: K::OwnedColumn,
    keeps_order: bool,
}

impl GuardBuilder {
    /// A builder without keys.
    pub fn new(spec: Arc<GuardSpec>, log: Arc<QueryLog>, counters: Arc<Counters>) -> Self {
        let keys = Keys::none(&spec);
        Self { spec, log, counters, keys, is_checked: true }
    }

    /// Adds the next key; one equal to its predecessor is taken once. An error is kept for [`finish`](Self::finish).
    pub fn add(&mut self, key: &[u8]) {
        let keys = &mut self.keys;
        let added = catch_unwind(AssertUnwindSafe(|| match keys {
            Keys::Off | Keys::Failed(_) => Ok(()),
            Keys::Integers(collected) => collected.add(key),
            Keys::Strings(collected) => collected.add(key),
        }));
        let panicked = |_| Err(Error::corrupt("taking a key panicked; please report this"));
        if let Err(problem) = added.unwrap_or_else(panicked) {
            self.fail(problem);
        }
    }

    /// Leaves filters unasked from here on: for the later parts of a file whose first part was asked if it hardly answers.
    pub fn skip_check(&mut self) {
        self.is_checked = false;
    }

    /// Gives up on this file: [`finish`](Self::finish) will count `problem` and store nothing.
    pub fn fail(&mut self, problem: Error) {
        self.keys = Keys::Failed(problem);
    }

    /// Builds the filter and starts over; `None` if there is none, which is counted unless the spec is `off`.
    pub fn finish(&mut self) -> Option<Sealed> {
        self.finish_within(usize::MAX)
    }

    /// As [`finish`](Self::finish), with fewer bits per key if the sealed filter would otherwise exceed `max_bytes`;
    /// such a filter counts as coarsened.
    pub fn finish_within(&mut self, max_bytes: usize) -> Option<Sealed> {
        let keys = std::mem::replace(&mut self.keys, Keys::none(&self.spec));
        let built = catch_unwind(AssertUnwindSafe(|| self.build(keys, max_bytes)));
        let panicked = || Err(Error::corrupt("building the filter panicked; please report this"));
        match built.unwrap_or_else(|_| panicked()) {
            Ok(Some(attempt)) => {
                self.counters.count_built(attempt.sealed.as_bytes().len(), attempt.coarsened);
                attempt.doubt.into_iter().for_each(|doubt| self.counters.count_hardly_answering(doubt));
                Some(attempt.sealed)
            }
            Ok(None) => None,
            Err(problem) => {
                self.counters.count_not_built(&problem);
                None
            }
        }
    }

    fn build(&self, keys: Keys, max_bytes: usize) -> Result<Option<Attempt>> {
        let Some(family) = self.spec.family() else { return Ok(None) };
        let spec = self.spec.limited_to(max_bytes, keys.count());
        let spec = spec.ok_or_else(|| Error::budget_too_small(family, MIN_BITS_PER_KEY))?;
        let mut attempt = match keys {
            Keys::Off => return Ok(None),
            Keys::Failed(problem) => return Err(problem),
            Keys::Integers(collected) => {
                collected.build(family, &spec, self.log.integers(), self.is_checked)?
            }
            Keys::Strings(collected) => {
                collected.build(family, &spec, self.log.strings(), self.is_checked)?
            }
        };
        attempt.coarsened |= spec.budget() < self.spec.budget();
        Ok(Some(attempt))
    }
}

impl Keys {
    fn none(spec: &GuardSpec) -> Self {
        match spec.codec() {
            _ if spec.is_off() => Self::Off,
            GuardCodec::Integers { codec, keeps_order } => {
                Self::Integers(Collected::new(Arc::clone(codec), *keeps_order))
            }
            GuardCodec::Strings { codec } => Self::Strings(Collected::new(Arc::clone(codec), true)),
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Off | Self::Failed(_) => 0,
            Self::Integers(collected) => collected.key_count(),
            Self::Strings(collected) => collected.key_count(),
        }
    }
}

impl<K: GuardKey + ?Sized> Collected<K> {
    fn key_count(&self) -> usize {
        K::column(&self.column).key_count()
    }

    fn new(codec: Arc<dyn KeyCodec<K>>, keeps_order: bool) -> Self {
        Self { codec, column: K::OwnedColumn::default(), keeps_order }
    }

    fn add(&mut self, key: &[u8]) -> Result<()> {
        let key = self.codec.key(key)?;
        let column = K::column(&self.column);
        if let Some(last) = column.key_count().checked_sub(1) {
            let (last, next) = (column.key(last), K::shorten(key));
            if next == last {
                return Ok(());
            }
            if self.keeps_order && next < last {
                return Err(Error::invalid_input(format!("the engine gave key {next:?} after {last:?}")));
            }
        }
        K::push(&mut self.column, key);
        Ok(())
    }

    fn build(
        mut self,
        family: &str,
        spec: &GuardSpec,
        sample: Arc<Sample<K>>,
        is_checked: bool,
    ) -> Result<Attempt> {
        if !self.keeps_order {
            K::sort(&mut self.column);
        }
        let keys = SortedKeys::try_new(K::column(&self.column))?;
        attempt(family, spec, keys, sample, self.codec.id(), is_checked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Length of the sealed filter over 1,000 keys at 14 bits within `max_bytes`, and the counts.
    fn built_within(max_bytes: usize) -> (Option<usize>, u64, u64) {
        let spec = Arc::new(GuardSpec::parse("grafite@14 codec=fixed_be:8").unwrap());
        let (log, counters) = (Arc::new(QueryLog::new(spec.codec())), Arc::new(Counters::new()));
        let mut builder = GuardBuilder::new(spec, log, Arc::clone(&counters));
        (0..1_000u64).for_each(|number| builder.add(&(number << 30).to_be_bytes()));
        let built = builder.finish_within(max_bytes).map(|sealed| sealed.as_bytes().len());
        (built, counters.snapshot().coarsened, counters.snapshot().not_stored)
    }

    /// Files whose filter hardly answers, of those with these keys and this spec, and the last problem.
    fn hardly_answering(spec: &str, keys: impl Iterator<Item = u64>) -> (u64, Option<String>) {
        let spec = Arc::new(GuardSpec::parse(spec).unwrap());
        let (log, counters) = (Arc::new(QueryLog::new(spec.codec())), Arc::new(Counters::new()));
        let mut builder = GuardBuilder::new(spec, log, Arc::clone(&counters));
        keys.for_each(|key| builder.add(&key.to_be_bytes()));
        assert!(builder.finish().is_some());
        let counts = counters.snapshot();
        (counts.hardly_answering, counts.last_problem)
    }

    #[test]
    fn a_filter_that_answers_maybe_to_everything_is_counted_and_explained() {
        let keys = || (0..5_000u64).map(|number| number << 30);
        // Prefixes of four bits are all there.
        let (count, problem) = hardly_answering("prefix_bloom:bits=4@10 codec=fixed_be:8", keys());
        let problem = problem.unwrap_or_default();
        assert_eq!(count, 1, "{problem}");
        assert!(problem.contains("points and short ranges") && problem.contains("codec"), "{problem}");
        for good in ["grafite@14 codec=fixed_be:8", "auto@12 codec=fixed_be:8"] {
            assert_eq!(hardly_answering(good, keys()), (0, None), "{good}");
        }
        assert_eq!(
            hardly_answering("grafite@14 codec=fixed_be:8", 0..1_000),
            (0, None),
            "no gap to be denied"
        );
    }

    #[test]
    fn a_byte_limit_coarsens_and_holds() {
        assert!(matches!(built_within(usize::MAX), (Some(1_200..), 0, 0)));
        for max_bytes in [400, 700, 1_000, 1_300] {
            let (bytes, coarsened, _) = built_within(max_bytes);
            assert!(bytes.is_some_and(|bytes| bytes <= max_bytes), "{bytes:?} of {max_bytes}");
            assert_eq!(coarsened, 1, "{max_bytes}");
        }
        assert_eq!(built_within(100), (None, 0, 1));
    }
}
