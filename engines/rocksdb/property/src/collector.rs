//! Takes the entries of one table while RocksDB writes it.

use lacuna_base::Error;
use lacuna_guard::GuardBuilder;

use crate::partitions::PartitionedBuilder;
use crate::property::Property;
use crate::table_guard::TableGuard;

/// Collects the keys of one table and builds its filter property.
///
/// **Every user key of every entry type goes in**, a deletion or a type that this code has never heard of included: a
/// table skipped although it holds a tombstone would bring the value below it back to life. Range deletions are the one
/// exception: RocksDB loads and applies them even from a table it skips, and hands them over after all point keys with
/// the start as the key, which would break the order.
#[derive(Debug)]
pub struct Collector {
    building: Building,
}

#[derive(Debug)]
enum Building {
    /// One filter in the property.
    Whole {
        builder: GuardBuilder,
        level: Option<usize>,
        max_bytes: usize,
    },
    Partitions(Box<PartitionedBuilder>),
}

impl Collector {
    /// RocksDB's number for an entry that was put (`EntryType::kEntryPut`).
    pub const PUT: u32 = 0;
    /// RocksDB's number for a range deletion (`EntryType::kEntryRangeDeletion`).
    pub const RANGE_DELETION: u32 = 4;

    /// A collector for a table written for `level`.
    pub fn new(guard: &TableGuard, level: Option<usize>) -> Self {
        let building = match guard.partitions() {
            None => Building::Whole { builder: guard.builder(), level, max_bytes: guard.max_bytes() },
            Some(store) => Building::Partitions(Box::new(PartitionedBuilder::new(guard, store, level))),
        };
        Self { building }
    }

    /// Takes one entry, in RocksDB's order. Never panics.
    pub fn add(&mut self, entry_type: u32, user_key: &[u8]) {
        if entry_type == Self::RANGE_DELETION {
            return;
        }
        match &mut self.building {
            Building::Whole { builder, .. } => builder.add(user_key),
            Building::Partitions(builder) => builder.add(user_key),
        }
    }

    /// Notes that an entry could not be taken: the table gets no filter, which is counted.
    pub fn fail(&mut self, problem: Error) {
        match &mut self.building {
            Building::Whole { builder, .. } => builder.fail(problem),
            Building::Partitions(builder) => builder.fail(problem),
        }
    }

    /// The property for the table, and starts over; `None` if it gets no filter, which is counted. Never panics.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        match &mut self.building {
            Building::Whole { builder, level, max_bytes } => {
                let sealed = builder.finish_within(Property::room_for_sealed(*max_bytes))?;
                Some(Property { level: *level, sealed: sealed.as_bytes() }.to_bytes())
            }
            Building::Partitions(builder) => builder.finish(),
        }
    }
}
