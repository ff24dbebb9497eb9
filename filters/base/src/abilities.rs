//! Abilities of some filters beyond "may there be a key?": name the next possible key, count, take and forget keys.

use crate::error::Result;
use crate::filter::RangeFilter;
use crate::key::{KeyRange, KeySpace};

/// Facts about a candidate, the place that was written with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Whether a key surely lies at or beyond the place; without it, the set may hold no key in that direction.
    pub is_certain: bool,
    /// Whether the place itself is known to be free, so that keys lie strictly beyond it. Only candidates of
    /// [`SeekCandidate::last_candidate`] over byte strings need this: no largest string has a given prefix.
    pub is_excluded: bool,
}

/// Names the next key that may be there, so that an engine opens files in the order of their candidates.
///
/// A candidate bounds what the file can hold; it is seldom a key itself. The rule for an engine that looks for the
/// smallest key at or above `from` in many files: open files by ascending candidate; once the smallest confirmed key is
/// **below every candidate left**, stop. A candidate *equal* to the confirmed key is opened if equal keys of several
/// files matter (they do where files hold versions). This is right because a file left closed has no key
/// before its candidate, and the confirmed key is before that candidate.
pub trait SeekCandidate<K: KeySpace + ?Sized>: RangeFilter<K> {
    /// Writes to `candidate` a key `c >= from` such that no key lies in `from..c`; `None` proves that no key lies at or
    /// above `from`.
    fn first_candidate(&self, from: K::Ref<'_>, candidate: &mut K::Owned) -> Option<Candidate>;

    /// Writes to `candidate` a key `c` such that no key lies above `c` up to and including `from`, nor at `c` if it is
    /// excluded; `None` proves that no key lies at or below `from`. An excluded `c` is at most `from`.
    fn last_candidate(&self, from: K::Ref<'_>, candidate: &mut K::Owned) -> Option<Candidate>;
}

/// How many keys a range holds, from below and from above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountBounds {
    /// The range holds at least this many keys.
    pub min: u64,
    /// The range holds at most this many keys.
    pub max: u64,
}

/// Counts the keys of a range without reading them.
pub trait CountEstimate<K: KeySpace + ?Sized>: RangeFilter<K> {
    /// Bounds on the number of keys in `range`; both always hold, the family says how far apart they can be.
    fn count_range(&self, range: KeyRange<'_, K>) -> CountBounds;
}

/// Answers for all keys that start with the same bytes.
pub trait PrefixFilter: RangeFilter<[u8]> {
    /// Whether a key that starts with `prefix` may be there; `false` proves that none is.
    fn may_contain_prefix(&self, prefix: &[u8]) -> bool;
}

/// Takes further keys after it was built.
pub trait InsertKey<K: KeySpace + ?Sized>: RangeFilter<K> {
    /// Adds `key`: `true` if that changed the filter, `false` if the key is known to be there already. Either way the
    /// key is found from now on.
    ///
    /// # Errors
    /// `Full` if there is no room; the filter is as before.
    fn insert(&mut self, key: K::Ref<'_>) -> Result<bool>;
}

/// Forgets keys after it was built.
///
/// Two keys may look alike to a filter. Forgetting a key that was never added could then take another key's mark and
/// make a later "no" false, so an implementer says how it distinguishes them: by knowing its keys exactly, or by a
/// promise of the caller.
pub trait RemoveKey<K: KeySpace + ?Sized>: RangeFilter<K> {
    /// Forgets `key`: `true` if it was there, `false` if it is known never to have been, and nothing has changed. All
    /// other keys are still found.
    ///
    /// # Errors
    /// `Unsupported` if this key cannot be distinguished from others; the filter is as before.
    fn remove(&mut self, key: K::Ref<'_>) -> Result<bool>;
}
