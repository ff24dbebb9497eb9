//! Filters in partitions, so that the memory they take is bounded.
//!
//! **Problem.** RocksDB keeps the property of a table on the heap as long as the table is open: a hundred tables of a
//! million keys hold 175 MB at 14 bits, whether or not their filters are asked.
//!
//! **Idea.** The property is a small [directory](directory), and the filter is cut by key range into partitions, each a
//! sealed filter of its own, in one file per table. A question reads the partition that its range begins in and the one
//! that it ends in; a partition that lies inside of it as a whole says "maybe" unread, since it has keys. With the keys
//! 10, 20 | 30, 40 | 50, 60 the range 25..=35 asks the first two partitions, and 25..=55 none.
//!
//! **Guarantee.** Partitions in memory, those being read included, never take more than the budget of their
//! [`PartitionStore`]. A file that is missing, cannot be read, or holds other bytes than the directory says, and a budget
//! without room, is "maybe" and a count.
//!
//! **Cost.** About 0.2 % of the filter stays in the property at 14 bits a key. A partition in memory costs one
//! shared lock; one that is not costs the read of some 16 KiB, during which no lock is held.
//!
//! Bytes: [`docs/format/rocksdb-property.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/rocksdb-property.md).
//! Why a file: [`docs/design/rocksdb-partitions.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/rocksdb-partitions.md).

mod builder;
mod cache;
mod counts;
pub(crate) mod directory;
mod file;
mod filter;
mod folder;
mod place;
mod separator;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use builder::PartitionedBuilder;
pub use counts::PartitionStats;
pub(crate) use filter::PartitionedFilter;
pub use place::FileId;
pub use store::PartitionStore;
