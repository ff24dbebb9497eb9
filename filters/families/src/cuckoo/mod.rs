//! Cuckoo filter: a point filter that grows without its keys and forgets keys without forgetting others.
//!
//! Does the set hold this key? Each key leaves a fingerprint of a few bits in one of two buckets of four slots. Either
//! bucket follows from the other and the fingerprint, so a full bucket sends one of its fingerprints to its other bucket
//! without knowing the key. With 10 buckets, a key of class 3 whose fingerprint has offset 7 may stand in bucket 3 or in
//! bucket `7 - 3 = 4`; from 4 the way back is `7 - 4 = 3`.
//!
//! Guarantee: no false negative, after any insertions, removals and growth. The rate is at most `8 load / 2^f` for f bits;
//! 10 bits at 95 % load give 0.75 %. A short range is asked key by key as in a Bloom filter, a longer one is "maybe".
//!
//! Cost: two independent cache lines a question, `f / 0.95` bits a key. Insertion moves 0.7 fingerprints at 90 % load,
//! three near 95 %; a fingerprint without a place waits in a *stash* of eight. [`CuckooTable`] is read by any number
//! of threads while one writes.
//!
//! Removal: two keys may share a fingerprint, and a key that never came may share one with a key that did. So
//! [`CuckooMut`] never takes a fingerprint out: it *marks* the removed key by 128 bits of hash, and answers "deleted"
//! for that key alone. The same marks remember reported false positives. A caller that takes out only what it has
//! added uses [`CuckooTable::add`] and [`CuckooTable::take`], which count twins.
//!
//! Growth: buckets beyond the first come in segments, and each new bucket halves an older one by one more bit of a
//! hash of what is stored (linear hashing), so a question never looks at more than two. A table grown g times has g times the rate.
//!
//! Fan, Andersen, Kaminsky, Mitzenmacher, "Cuckoo filter: practically better than Bloom", `CoNEXT` 2014; Kirsch,
//! Mitzenmacher, Wieder, "More robust hashing: cuckoo hashing with a stash", 2009; Mosharraf, Adnan, "Improving lookup and
//! query execution performance in distributed Big Data systems using Cuckoo Filter", 2022, for the deleted-key list.
//! Litwin, "Linear hashing", VLDB 1980, for the order of growth. Here the number of buckets is any number, because the
//! other bucket is found by subtraction, not by XOR. [`docs/design/cuckoo.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/cuckoo.md) has the reasons.

mod builder;
mod codec;
mod copy;
mod evict;
mod grow;
mod insert;
#[cfg(test)]
mod insert_tests;
mod key_state;
mod marks;
mod marks_copy;
mod mutable;
mod packed_slots;
mod predict;
mod query;
mod shape;
mod spec;
mod spot;
mod stash;
mod table;
#[cfg(test)]
mod tests;
mod writer;

pub use copy::TableCopy;
pub use key_state::{HashedKey, KeyState};
pub use marks::MarkTable;
pub use marks_copy::MarkCopy;
pub use mutable::CuckooMut;
pub(crate) use query::Cuckoo;
pub use spec::CuckooSpec;
pub use table::CuckooTable;
