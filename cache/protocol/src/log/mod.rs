//! Log records: from them a new owner learns the entries and buffered writes.
//!
//! An owner records every interval that enters or leaves an index: `insert:7:18:22:key`, `delete:9:18:22`. Records
//! of a range have ascending numbers (LSN). Inserts are written together with what they announce, deletes may come
//! later, batched and out of order: replay sorts by number. [`docs/format/range-cache-log.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/range-cache-log.md) has the bytes: at
//! most 18 and the key, as long as number and width of an interval with ends of 8 bytes take 6 bytes together.
//!
//! A delete says that no entry remains for its interval; all records of an interval go to the same chunk.
//!
//! Guarantee: replay of any mixture of chunks, compacted or not, gives the inserts that no later delete of their
//! interval follows, the last one of each key. A damaged or truncated record ends its chunk with an error; the
//! records before it are read.
//!
//! Report, section 3.1 and 7.1. Here an upper end is written as a difference, so that a record with two 8-byte
//! ends fits into 18 bytes. Two entries may answer for one interval (other columns): a delete is written when the
//! last is gone.

mod ends;
mod entry;
mod reader;
mod record;
mod replay;

pub use reader::read_chunk;
pub use record::{LogRecord, write_chunk};
pub use replay::{compact, replay};

/// Chunks of the log of a range. The report measures 32, 64 and 128 and finds little between them (table 1).
pub const LOG_CHUNKS: u32 = 64;
