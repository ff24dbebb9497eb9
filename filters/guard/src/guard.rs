//! A guard with its key space erased: the one type an adapter holds.

use std::ops::Bound;
use std::sync::Arc;

use lacuna_base::Error;

use crate::codec::GuardCodec;
use crate::counters::Counters;
use crate::guarded::{Guarded, open_or_scan};
use crate::learned_gaps::FileGaps;
use crate::shared_bytes::SharedBytes;

/// A filter over whichever key space its codec leads to, or "read always", with the bytes it came from.
///
/// ```
/// use lacuna_guard::{Counters, Guard, GuardCodec};
/// use std::ops::Bound::{Included, Unbounded};
/// use std::sync::Arc;
///
/// let counters = Arc::new(Counters::new());
/// let guard = Guard::open_or_scan(b"", &GuardCodec::bytes(), &counters);
/// assert!(guard.may_contain_bounds(Included(b"a"), Unbounded));
/// assert!(guard.problem().is_some());
/// assert_eq!(counters.snapshot().unfiltered, 1);
/// ```
#[derive(Debug)]
pub struct Guard {
    bytes: SharedBytes,
    space: Space,
}

#[derive(Debug)]
enum Space {
    Integers(Guarded<u64>),
    Strings(Guarded<[u8]>),
}

impl Guard {
    /// Opens a copy of `bytes`. Bytes that do not open are "read always", and are counted.
    pub fn open_or_scan(bytes: &[u8], codec: &GuardCodec, counters: &Arc<Counters>) -> Self {
        Self::open_shared(SharedBytes::copy_of(bytes), codec, counters)
    }

    /// As [`Guard::open_or_scan`], without a copy.
    pub fn open_shared(bytes: SharedBytes, codec: &GuardCodec, counters: &Arc<Counters>) -> Self {
        let space = match codec {
            GuardCodec::Integers { codec, .. } => {
                Space::Integers(open_or_scan(bytes.clone(), Arc::clone(codec), counters))
            }
            GuardCodec::Strings { codec } => {
                Space::Strings(open_or_scan(bytes.clone(), Arc::clone(codec), counters))
            }
        };
        Self { bytes, space }
    }

    /// Sets the level of the file, under which answers are counted.
    #[must_use]
    pub fn with_level(self, level: usize) -> Self {
        let space = match self.space {
            Space::Integers(guarded) => Space::Integers(guarded.with_level(level)),
            Space::Strings(guarded) => Space::Strings(guarded.with_level(level)),
        };
        Self { bytes: self.bytes, space }
    }

    /// Sets what is known of the file's gaps, to be asked after the filter said "maybe".
    #[must_use]
    pub fn with_gaps(self, gaps: Arc<FileGaps>) -> Self {
        let space = match self.space {
            Space::Integers(guarded) => Space::Integers(guarded.with_gaps(gaps)),
            Space::Strings(guarded) => Space::Strings(guarded.with_gaps(gaps)),
        };
        Self { bytes: self.bytes, space }
    }

    /// Whether the file may hold `key`; `false` proves that it does not.
    pub fn may_contain_key(&self, key: &[u8]) -> bool {
        self.may_contain_bounds(Bound::Included(key), Bound::Included(key))
    }

    /// Whether the file may hold a key between two bounds of any kind; `false` proves that it holds none.
    pub fn may_contain_bounds(&self, lo: Bound<&[u8]>, hi: Bound<&[u8]>) -> bool {
        match &self.space {
            Space::Integers(guarded) => guarded.may_contain_bounds(lo, hi),
            Space::Strings(guarded) => guarded.may_contain_bounds(lo, hi),
        }
    }

    /// Whether the file may hold a key that starts with `prefix`; `false` proves that it holds none. Copies the
    /// prefix once.
    pub fn may_contain_prefix(&self, prefix: &[u8]) -> bool {
        let (_, hi) = prefix_range(prefix);
        self.may_contain_bounds(Bound::Included(prefix), hi.as_ref().map(Vec::as_slice))
    }

    /// The bytes it was opened from; empty if none were stored.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// Why the file is always read; `None` if there is a filter.
    pub fn problem(&self) -> Option<&Error> {
        match &self.space {
            Space::Integers(guarded) => guarded.problem(),
            Space::Strings(guarded) => guarded.problem(),
        }
    }
}

/// The range of all keys that start with `prefix`.
///
/// ```
/// use lacuna_guard::prefix_range;
/// use std::ops::Bound::{Excluded, Included};
///
/// assert_eq!(prefix_range(b"user/7/"), (Included(b"user/7/".to_vec()), Excluded(b"user/70".to_vec())));
/// ```
pub fn prefix_range(prefix: &[u8]) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
    (Bound::Included(prefix.to_vec()), prefix_end(prefix).map_or(Bound::Unbounded, Bound::Excluded))
}

/// The smallest string above all strings with `prefix`; `None` if there is none.
fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte != 0xFF)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_prefix_is_above_all_its_strings() {
        assert_eq!(prefix_end(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(prefix_end(b"a\xFF\xFF"), Some(b"b".to_vec()));
        assert_eq!(prefix_end(b"\xFF"), None);
        assert_eq!(prefix_end(b""), None);
    }
}
