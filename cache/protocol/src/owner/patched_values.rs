//! The values that an owner has patched, and of how many rows it remembers the places.
//!
//! A value stays here until its entry is deleted, compacted or forgotten, and remembers where each of its rows was last spoken of
//! (`patched_value.rs`). So the rows of all values together are bounded. Where there are too many, the next value in the order
//! of queries forgets all of its rows. That is always right: the next patches of these rows are added to the end.
//!
//! Cost: a search in a hash table for each edit, and one in a B-tree where a value gets its first row or loses its last one.

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use super::patched_value::{LastAddition, PatchedValue, PlacedRows, PlannedEdit};
use crate::call::Edited;
use crate::message::Session;
use crate::query::Query;

/// Rows of all values whose places are kept: about 15 MB with short keys.
const MAX_ROWS_OF_ALL: usize = 100_000;
/// Bytes before those of an `Arc<[u8]>`: its two counts.
const ARC_BYTES: usize = 2 * size_of::<usize>();

/// The values of entries that were changed since they were installed or compacted.
#[derive(Debug, Clone)]
pub(super) struct PatchedValues {
    values: HashMap<Query, PatchedValue>,
    /// Those that remember rows.
    with_rows: BTreeSet<Query>,
    /// The last of them that made room.
    hand: Option<Query>,
    /// The rows of all values.
    rows: PlacedRows,
    max_rows: usize,
}

impl Default for PatchedValues {
    fn default() -> Self {
        Self::new(MAX_ROWS_OF_ALL)
    }
}

impl PatchedValues {
    fn new(max_rows: usize) -> Self {
        Self {
            values: HashMap::new(),
            with_rows: BTreeSet::new(),
            hand: None,
            rows: PlacedRows::default(),
            max_rows,
        }
    }

    pub(super) fn get(&self, query: &Query) -> Option<&PatchedValue> {
        self.values.get(query)
    }

    pub(super) fn remove(&mut self, query: &Query) -> Option<PatchedValue> {
        let value = self.values.remove(query)?;
        self.has_changed(query, value.rows(), PlacedRows::default());
        Some(value)
    }

    /// Notes whether a value waits to be compacted once no write waits.
    pub(super) fn set_queued(&mut self, query: &Query, is_queued: bool) {
        if let Some(value) = self.values.get_mut(query) {
            value.is_queued = is_queued;
        }
    }

    /// As [`PatchedValue::was_edited`], of the value of this query.
    pub(super) fn was_edited(
        &mut self,
        query: &Query,
        session: Session,
        plan: PlannedEdit,
        edited: Edited,
        keeps_first: bool,
    ) {
        let value = match self.values.get_mut(query) {
            Some(value) => value,
            None => self.values.entry(query.clone()).or_default(),
        };
        let before = value.rows();
        value.was_edited(session, plan, edited, keeps_first);
        let after = value.rows();
        self.has_changed(query, before, after);
        self.make_room();
    }

    /// Keeps the sums, after the rows of one value have changed.
    fn has_changed(&mut self, query: &Query, before: PlacedRows, after: PlacedRows) {
        self.rows.count = self.rows.count + after.count - before.count;
        self.rows.bytes = self.rows.bytes + after.bytes - before.bytes;
        if after.count == 0 {
            self.with_rows.remove(query);
        } else if before.count == 0 {
            self.with_rows.insert(query.clone());
        }
    }

    fn make_room(&mut self) {
        while self.rows.count > self.max_rows {
            let from = self.hand.take().map_or(Bound::Unbounded, Bound::Excluded);
            let next = self.with_rows.range((from, Bound::Unbounded)).next();
            let Some(next) = next.or_else(|| self.with_rows.first()).cloned() else { return };
            if let Some(value) = self.values.get_mut(&next) {
                let before = value.rows();
                value.forget_rows();
                self.has_changed(&next, before, PlacedRows::default());
            }
            self.hand = Some(next);
        }
    }

    /// About the bytes of memory that they take, without the allocations of the queries.
    pub(super) fn memory_bytes(&self) -> usize {
        let values = self.values.capacity() * size_of::<(Query, PatchedValue)>();
        let row = size_of::<(Arc<[u8]>, LastAddition)>() * 3 / 2 + 2 * ARC_BYTES;
        let with_rows = self.with_rows.len() * size_of::<Query>() * 3 / 2;
        values + with_rows + self.rows.count * row + self.rows.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Piece;
    use crate::config::{About, Addition};
    use crate::interval::Interval;

    const MAX_ROWS: usize = 4;

    fn query(key: u64) -> Query {
        Query::all(0, Interval::point(key.into()))
    }

    /// Patches one row of a value, as a server does; returns the place that it took.
    fn edit(values: &mut PatchedValues, key: u64, row: u8) -> Option<usize> {
        let about = About { row: Arc::from(&[row][..]), part: Arc::from(&[1u8][..]) };
        let mut plan = PlannedEdit::default();
        plan.add(&Addition { bytes: Arc::from(&b"row"[..]), about: Some(about) }, values.get(&query(key)));
        let Some(Piece { place, .. }) = plan.pieces().pop() else { panic!("one piece") };
        let edited = Edited { is_as_expected: true, len: place.is_none().then_some(100) };
        values.was_edited(&query(key), Session(1), plan, edited, false);
        place
    }

    /// The sums are those of the values, and within the limit.
    fn check(values: &PatchedValues) {
        let sizes: Vec<PlacedRows> = values.values.values().map(PatchedValue::rows).collect();
        let (count, bytes) =
            (sizes.iter().map(|rows| rows.count).sum(), sizes.iter().map(|rows| rows.bytes).sum());
        assert_eq!(values.rows, PlacedRows { count, bytes });
        assert_eq!(values.with_rows.len(), sizes.iter().filter(|rows| rows.count > 0).count());
        assert!(count <= values.max_rows, "{count} rows");
    }

    #[test]
    fn rows_beyond_the_limit_of_all_values_make_room() {
        let mut values = PatchedValues::new(MAX_ROWS);
        for key in 0..10 {
            assert_eq!(edit(&mut values, key, 7), None);
            check(&values);
        }
        assert_eq!(values.values.len(), 10, "a value stays known without its rows");
        assert_eq!(edit(&mut values, 9, 7), Some(97), "the place of the last one is known");
        assert_eq!(edit(&mut values, 0, 7), None, "that of the first one is not");
        check(&values);
    }

    #[test]
    fn values_that_are_gone_take_no_memory() {
        let mut values = PatchedValues::new(MAX_ROWS);
        for row in 0..3 {
            edit(&mut values, 5, row);
        }
        check(&values);
        assert_eq!(values.rows, PlacedRows { count: 3, bytes: 6 });
        let with_rows = values.memory_bytes();
        assert!(values.remove(&query(5)).is_some());
        assert!(values.remove(&query(5)).is_none());
        check(&values);
        assert_eq!(values.rows, PlacedRows::default());
        assert!(values.memory_bytes() < with_rows);
    }
}
