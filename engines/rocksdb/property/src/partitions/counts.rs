//! What partitions did, in plain atomics.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use lacuna_guard::Metric;

macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident => $metric:literal,)*) => {
        /// One counter for each event.
        #[derive(Debug, Default)]
        pub(crate) struct PartitionCounters {
            $(pub(crate) $name: Counter,)*
        }

        /// What happened to the partitions of one [`PartitionStore`](crate::PartitionStore) so far.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct PartitionStats {
            /// Bytes that partitions take in memory now, those being read included.
            pub resident_bytes: u64,
            $($(#[$doc])* pub $name: u64,)*
        }

        impl PartitionCounters {
            pub(crate) fn snapshot(&self, resident_bytes: u64) -> PartitionStats {
                PartitionStats { resident_bytes, $($name: self.$name.get(),)* }
            }
        }

        impl PartitionStats {
            /// Every count that only grows. Resident bytes are those loaded without those released.
            pub(crate) fn metrics(&self) -> impl Iterator<Item = Metric> {
                [$(($metric, self.$name),)*].into_iter().map(|(name, value)| Metric { name, label: None, value })
            }
        }
    };
}

counts! {
    /// Questions to a partition that was in memory.
    hits => "lacuna_partitions_hits_total",
    /// Partitions read from their files.
    loads => "lacuna_partitions_loads_total",
    /// Bytes of memory taken for partitions.
    loaded_bytes => "lacuna_partitions_loaded_bytes_total",
    /// Partitions given up to make room.
    evictions => "lacuna_partitions_evictions_total",
    /// Bytes of memory given back.
    released_bytes => "lacuna_partitions_released_bytes_total",
    /// Questions answered "maybe" because there is no such file: a backup or checkpoint without them, for one.
    missing => "lacuna_partitions_missing_total",
    /// Questions answered "maybe" because the file could not be read.
    unreadable => "lacuna_partitions_unreadable_total",
    /// Questions answered "maybe" because the file holds other bytes than were written for the table.
    damaged => "lacuna_partitions_damaged_total",
    /// Questions answered "maybe" because the budget had no room.
    crowded => "lacuna_partitions_crowded_total",
    /// Files written.
    files_written => "lacuna_partition_files_written_total",
    /// Files that could not be written, so that their tables have no filter.
    files_failed => "lacuna_partition_files_failed_total",
    /// Files removed, mostly with their tables.
    files_removed => "lacuna_partition_files_removed_total",
}

#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl PartitionStats {
    /// Questions to a partition that was answered "maybe" unread.
    pub fn unasked(&self) -> u64 {
        self.missing + self.unreadable + self.damaged + self.crowded
    }
}

impl fmt::Display for PartitionStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resident_bytes, hits, loads, evictions, missing, unreadable, damaged, crowded, .. } = self;
        write!(
            f,
            "partitions: {resident_bytes} bytes in memory, {hits} hits, {loads} loads, {evictions} evictions; unasked: \
             {missing} missing, {unreadable} unreadable, {damaged} damaged, {crowded} without room"
        )
    }
}
