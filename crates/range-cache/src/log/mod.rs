//! Log records: what a new owner needs to know which entries and buffered writes there are.
//!
//! An owner notes every interval that enters or leaves an index: `insert:7:18:22:key`, `delete:9:18:22`. Records of one
//! range have ascending numbers (LSN). Inserts are written with what they announce, deletes may come later, batched and
//! out of order: replay sorts by number. `docs/format/range-cache-log.md` has the bytes: at most 18 and the key, for
//! ends of 8 bytes that differ in their last two.
//!
//! A delete says that nothing stands under its interval any more; all records of an interval go to the same chunk.
//!
//! Guarantee: replay of any mixture of chunks, compacted or not, gives the intervals whose last record is an insert.
//! A record that is damaged or cut ends its chunk with an error; what stands before it was read.
//!
//! Report, section 3.1 and 7.1. Here numbers are written as differences and ends share their first bytes, which is how a
//! record with two 8-byte ends fits into 18 bytes.

mod record;
mod replay;

pub use record::{LogRecord, read_chunk, write_chunk};
pub use replay::{compact, replay};
