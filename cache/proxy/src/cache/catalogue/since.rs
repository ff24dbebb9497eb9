//! Since when tables and columns are what they are: a statement that was prepared before means something else.

use std::collections::BTreeMap;

use crate::cache::xids::whole;

/// Most names without a meaning that are remembered one by one.
const MAX_NAMES: usize = 4_096;

/// What was known at a moment: by the reading of this number, before which all transactions below another number had ended.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReadingMark {
    pub(crate) number: u64,
    pub(crate) oldest: u64,
}

/// Since when something is what it is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Since {
    /// The first reading that says it.
    reading: u64,
    /// Of a table that was registered while the proxy ran: the transaction that has written it last.
    written: Option<u64>,
}

impl Since {
    /// It is new or has changed.
    pub(super) const fn reading(number: u64) -> Self {
        Self { reading: number, written: None }
    }

    /// It is registered from now on. Before, it was written by transactions with these low halves, of which the last counts.
    pub(super) fn written(numbers: &[u32], mark: ReadingMark) -> Self {
        let numbers = numbers.iter().map(|number| whole(*number, mark.oldest).unwrap_or(u64::MAX));
        Self { reading: mark.number, written: numbers.max() }
    }

    /// Since all of them are what they are.
    pub(super) fn last(all: impl Iterator<Item = Self>) -> Self {
        all.fold(Self::default(), |one, other| Self {
            reading: one.reading.max(other.reading),
            written: one.written.max(other.written),
        })
    }

    pub(super) fn is_before(self, mark: ReadingMark) -> bool {
        self.reading <= mark.number || self.written.is_some_and(|written| written < mark.oldest)
    }
}

/// Names that had a meaning more, each with the first reading without it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Vanished {
    names: BTreeMap<String, u64>,
    /// All names that are not listed may have lost one in this reading.
    others: u64,
}

impl Vanished {
    pub(super) fn add(&mut self, name: &str, number: u64) {
        self.names.insert(name.to_owned(), number);
        if self.names.len() > MAX_NAMES {
            (self.names, self.others) = (BTreeMap::new(), number);
        }
    }

    /// The last reading in which the name lost a meaning; 0 if there is none.
    pub(super) fn last(&self, name: &str) -> u64 {
        self.names.get(name).copied().unwrap_or(self.others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_before_a_mark_is_before_it() {
        let mark = |number, oldest| ReadingMark { number, oldest };
        let seen = Since::reading(5);
        assert!(seen.is_before(mark(5, 0)) && !seen.is_before(mark(4, 1_000)));
        let registered = Since::written(&[700, 703], mark(5, 800));
        assert!(registered.is_before(mark(4, 704)) && !registered.is_before(mark(4, 703)));
        let newer = Since::written(&[700, 790], mark(5, 800));
        let both = Since::last([registered, newer].into_iter());
        assert!(both.is_before(mark(4, 791)) && !both.is_before(mark(4, 704)));
    }

    /// Tables that are made and dropped under ever new names, as loads of data do.
    #[test]
    fn names_that_vanish_take_bounded_memory_and_none_is_forgotten() {
        let mut vanished = Vanished::default();
        vanished.add("one", 2);
        assert_eq!([vanished.last("one"), vanished.last("two")], [2, 0]);
        for number in 3..20_000 {
            vanished.add(&format!("load {number}"), number);
            assert!(vanished.names.len() <= MAX_NAMES);
            assert_eq!(vanished.last(&format!("load {number}")), number);
        }
        assert!(vanished.last("one") >= 2 && vanished.last("load 3") >= 3);
    }
}
