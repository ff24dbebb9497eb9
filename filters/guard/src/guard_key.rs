//! What a key space must offer so that guards can be built and opened over it.

use lacuna_base::{BuildPlan, DynFilter, DynSpec, KeySpace, Result, SortedKeys};
use lacuna_families::internal::judged_by;

use crate::shared_bytes::SharedBytes;

/// A key space that has filters: `u64` or `[u8]`.
pub trait GuardKey: KeySpace {
    /// The spec with this text.
    ///
    /// # Errors
    /// `InvalidInput` if no family reads the text; the message lists those there are.
    fn spec(text: &str) -> Result<Box<dyn DynSpec<Self>>>;

    /// Opens sealed bytes in O(1).
    ///
    /// # Errors
    /// `Unsupported` for bytes newer than this code, `Corrupt` for bytes that do not hold together.
    fn open(bytes: SharedBytes) -> Result<Box<DynFilter<Self>>>;

    /// A plan whose sample is what a filter is judged by, and what that is, in words: the sampled queries, or where none of them is
    /// empty, points and short ranges, half of them beside keys.
    fn judged_by(keys: SortedKeys<'_, Self>, plan: BuildPlan<Self>) -> (BuildPlan<Self>, &'static str);

    /// Sorts a column and drops repeats, for codecs that do not keep the order of the engine's keys.
    fn sort(column: &mut Self::OwnedColumn);
}

impl GuardKey for u64 {
    fn spec(text: &str) -> Result<Box<dyn DynSpec<Self>>> {
        lacuna_families::spec::<Self>(text)
    }
    fn open(bytes: SharedBytes) -> Result<Box<DynFilter<Self>>> {
        lacuna_families::open::<Self, _>(bytes)
    }
    fn judged_by(keys: SortedKeys<'_, Self>, plan: BuildPlan<Self>) -> (BuildPlan<Self>, &'static str) {
        judged_by(keys, plan)
    }
    fn sort(column: &mut Vec<u64>) {
        column.sort_unstable();
        column.dedup();
    }
}

impl GuardKey for [u8] {
    fn spec(text: &str) -> Result<Box<dyn DynSpec<Self>>> {
        lacuna_families::spec::<Self>(text)
    }
    fn open(bytes: SharedBytes) -> Result<Box<DynFilter<Self>>> {
        lacuna_families::open::<Self, _>(bytes)
    }
    fn judged_by(keys: SortedKeys<'_, Self>, plan: BuildPlan<Self>) -> (BuildPlan<Self>, &'static str) {
        judged_by(keys, plan)
    }
    fn sort(column: &mut lacuna_base::ByteColumn) {
        let mut keys: Vec<&[u8]> = column.iter().collect();
        keys.sort_unstable();
        keys.dedup();
        *column = keys.into_iter().collect();
    }
}
