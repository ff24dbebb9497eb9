//! The filter of one table, whole in its property or in partitions.

use std::ops::Bound;

use lacuna_base::{Error, Result};

use crate::in_place::{InPlace, ask_in_place};
use crate::partitions::PartitionedFilter;
use crate::partitions::directory::{self, Directory};
use crate::property::Property;
use crate::table_guard::TableGuard;

/// What a property lets ask.
#[derive(Clone, Copy)]
pub(crate) enum TableFilter<'a> {
    Whole(InPlace<'a>),
    Partitions(PartitionedFilter<'a>),
}

/// Opens the filter of a property in O(1), after its first question, and shows it to `ask` with the level that its table was
/// written for.
///
/// # Errors
/// `Unsupported` for bytes newer than this code, of another codec, or in partitions that the guard has no store for;
/// `Corrupt` for bytes that are not those that were written.
pub(crate) fn ask_table<T>(
    property: &[u8],
    guard: &TableGuard,
    ask: impl FnOnce(Option<usize>, &TableFilter<'_>) -> T,
) -> Result<T> {
    let codec = guard.codec();
    if property.first() != Some(&directory::VERSION) {
        let property = Property::parse(property)?;
        property.verify()?;
        return ask_in_place(property, codec, |filter| ask(property.level, &TableFilter::Whole(filter)));
    }
    let directory = Directory::parse(property, codec)?;
    let unnamed =
        || Error::unsupported("the filter is in partitions; name their folder by `with_partitions`");
    let store = guard.partitions().ok_or_else(unnamed)?;
    Ok(ask(directory.level, &TableFilter::Partitions(PartitionedFilter { directory, store, codec })))
}

impl TableFilter<'_> {
    /// Whether a key can lie between the bounds; `false` proves that none does.
    pub(crate) fn may_contain_bounds(&self, lo: Bound<&[u8]>, hi: Bound<&[u8]>) -> bool {
        match self {
            Self::Whole(filter) => filter.may_contain_bounds(lo, hi),
            Self::Partitions(filter) => filter.may_contain_bounds(lo, hi),
        }
    }

    /// As [`may_contain_bounds`](Self::may_contain_bounds), of many ranges in one batch.
    pub(crate) fn may_contain_many<'b>(
        &self,
        bounds: impl Iterator<Item = (Bound<&'b [u8]>, Bound<&'b [u8]>)>,
    ) -> Vec<bool> {
        match self {
            Self::Whole(filter) => filter.may_contain_many(bounds),
            Self::Partitions(filter) => filter.may_contain_many(bounds),
        }
    }
}
