//! The operations that benches need of a key space beyond its order.

use lacuna_base::{
    BuildPlan, ByteColumn, ByteRange, DynFilter, DynSpec, KeyRange, Prediction, Result, SortedKeys, U64Range,
};
use lacuna_families::DesignKey;
use lacuna_workload::{Keys, Queries, Workload, is_empty, is_empty_bytes};

use crate::Crowd;

/// Distance that the range around an integer key reaches to either side.
const AROUND: u64 = 16;

/// A key space that can be benched: `u64` or `[u8]`.
pub trait BenchKey: DesignKey {
    /// The spec that `text` names over this key space.
    ///
    /// # Errors
    /// As [`lacuna_families::spec`].
    fn spec(text: &str) -> Result<Box<dyn DynSpec<Self>>>;

    /// The prediction for the spec that `text` names.
    ///
    /// # Errors
    /// As [`lacuna_families::predict`].
    fn predict(text: &str, keys: SortedKeys<'_, Self>, plan: &BuildPlan<Self>) -> Result<Prediction>;

    /// The inserted keys, if they are of this key space.
    fn inserted(workload: &Workload) -> Option<&Self::OwnedColumn>;

    /// The queries as ranges; none if they are of the other key space.
    fn ranges(queries: &Queries) -> Vec<KeyRange<'_, Self>>;

    /// Whether no key of the ascending `keys` lies in `range`; one binary search.
    fn is_empty(keys: &Self::OwnedColumn, range: KeyRange<'_, Self>) -> bool;

    /// The keys that a filter over integers cannot tell apart, if they are many.
    fn crowd(_keys: &Self::OwnedColumn) -> Option<Crowd> {
        None
    }

    /// How many of `keys` the filter denies when asked for a short range around the key.
    fn count_denied_around(filter: &DynFilter<Self>, keys: &Self::OwnedColumn) -> u64;
}

impl BenchKey for u64 {
    fn spec(text: &str) -> Result<Box<dyn DynSpec<Self>>> {
        lacuna_families::spec::<u64>(text)
    }

    fn predict(text: &str, keys: SortedKeys<'_, Self>, plan: &BuildPlan<Self>) -> Result<Prediction> {
        lacuna_families::predict::<u64>(text, keys, plan)
    }

    fn inserted(workload: &Workload) -> Option<&Vec<u64>> {
        match &workload.inserted {
            Keys::U64(keys) => Some(keys),
            Keys::Bytes(_) => None,
        }
    }

    fn ranges(queries: &Queries) -> Vec<U64Range> {
        match queries {
            Queries::U64(ranges) => ranges.iter().filter_map(|&(lo, hi)| U64Range::new(lo, hi)).collect(),
            Queries::Bytes(_) => Vec::new(),
        }
    }

    fn is_empty(keys: &Vec<u64>, range: U64Range) -> bool {
        is_empty(keys, range.lo(), range.hi())
    }

    fn count_denied_around(filter: &DynFilter<Self>, keys: &Vec<u64>) -> u64 {
        let around = |key: u64| U64Range::new(key.saturating_sub(AROUND), key.saturating_add(AROUND));
        let denied = |key: &&u64| around(**key).is_some_and(|range| !filter.may_contain_range(range));
        keys.iter().filter(denied).count() as u64
    }
}

impl BenchKey for [u8] {
    fn spec(text: &str) -> Result<Box<dyn DynSpec<Self>>> {
        lacuna_families::spec::<[u8]>(text)
    }

    fn predict(text: &str, keys: SortedKeys<'_, Self>, plan: &BuildPlan<Self>) -> Result<Prediction> {
        lacuna_families::predict::<[u8]>(text, keys, plan)
    }

    fn inserted(workload: &Workload) -> Option<&ByteColumn> {
        match &workload.inserted {
            Keys::Bytes(keys) => Some(keys),
            Keys::U64(_) => None,
        }
    }

    fn ranges(queries: &Queries) -> Vec<ByteRange<'_>> {
        match queries {
            Queries::Bytes(ranges) => ranges.iter().filter_map(|(lo, hi)| ByteRange::new(lo, hi)).collect(),
            Queries::U64(_) => Vec::new(),
        }
    }

    fn is_empty(keys: &ByteColumn, range: ByteRange<'_>) -> bool {
        range.hi().is_some_and(|hi| is_empty_bytes(keys, range.lo(), hi))
    }

    fn crowd(keys: &ByteColumn) -> Option<Crowd> {
        Crowd::of(keys)
    }

    /// The range reaches from the key without its last byte to the key with a byte of ones after it.
    fn count_denied_around(filter: &DynFilter<Self>, keys: &ByteColumn) -> u64 {
        let mut above = Vec::new();
        let mut denied = 0;
        for key in keys.iter() {
            above.clear();
            above.extend_from_slice(key);
            above.push(0xFF);
            let below = &key[..key.len().saturating_sub(1)];
            let range = ByteRange::new(below, &above).expect("a prefix is not above its extension");
            denied += u64::from(!filter.may_contain_range(range));
        }
        denied
    }
}
