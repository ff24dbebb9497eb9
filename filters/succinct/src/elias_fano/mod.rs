//! Elias-Fano in slices: ascending integers in little more than their entropy, searched with one or two cache misses.
//!
//! **Problem.** A range filter keeps n hashed keys below some bound and asks "is one of them in `[lo, hi]`?". The plain
//! form of Elias and Fano keeps three arrays far apart (directory, high parts, low parts), so that a question waits
//! for three cache misses, one after the other.
//!
//! **Idea.** Each value is cut into `low_bits` low bits and a *bucket*, the rest. A *slice* is 128 consecutive buckets.
//! All bits of a slice stand together as a *record*: its high part, then the low parts of its values. With 2 low bits,
//! the values 1, 2, 6, 13 stand in the buckets 0, 0, 1, 3; the high part has a 0 for each value and a 1 at the end of
//! each bucket, `00 1 0 1 1 0 1 ...`, and the low parts are 1, 2, 2, 1. Where a record starts is computed from the
//! number of values before it, which the directory gives in 17 bits a slice. To ask for `[9, 12]`: the ends lie in the
//! buckets 2 and 3; bucket 2 is empty, and the only value of bucket 3 has low part 1, which is above 0. So: none.
//!
//! **Guarantee.** "None" is always true of bytes that [`encode`] wrote. Slices with more than 2047 values are *spilled*:
//! kept aside with a table of their buckets. So a question costs at most 34 words of high part and a binary search in
//! one bucket, whatever the values are. On damaged bytes, queries end, stay inside the bytes, and do not panic.
//!
//! **Cost.** For large n, `log2(last / n)` plus 2.09 to 2.18 bits a value, depending on the fraction of the logarithm
//! (2.13 at whole numbers); 40 bytes of header and padding; spilled slices cost no more. Encoding is one pass.
//!
//! **Papers.** Elias, "Efficient storage and retrieval by content and address of static files", JACM 1974; Fano, MIT
//! memorandum 61, 1971; Vigna, "Quasi-succinct indices", WSDM 2013.
//!
//! **Changed.** The slices, their computed starts and the spill area are ours. The bytes are described in
//! [`docs/format/elias_fano.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/elias_fano.md).

mod directory;
mod encode;
mod geometry;
mod iter;
mod layout;
mod order;
mod query;
mod record;
mod sequence;
mod spill;

pub use encode::{encode, encode_runs};
pub use geometry::{Geometry, encoded_len};
pub use iter::Iter;
pub use layout::Layout;
pub use query::Probe;
pub use sequence::EliasFano;
