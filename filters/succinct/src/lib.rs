//! Succinct structures over stable bytes: written once, then read in place.
//!
//! Every structure is a run of little-endian bytes with a page in
//! [`docs/format/`](https://github.com/lacuna-db/lacuna/tree/main/docs/format/). Opening reads its header, checks the
//! lengths and allocates nothing; the result is a small `Copy` *layout* that knows the places of the parts, and every
//! query takes the bytes again. So a filter can keep several structures in one payload, owned or borrowed, at any
//! alignment. Whatever the bytes after the header hold, queries stay inside them, end, and do not panic.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`elias_fano`] | ascending integers in about `log2(last / n) + 2.1` bits each, with "is one of them in `[lo, hi]`?" |
//! | [`rank_select`] | a bit vector that counts and finds its ones and zeros |
//! | [`trie`] | byte strings in order, in little more than ten bits for each branch |
//! | [`rice`] | ascending integers in about `log2(last / n) + 1.5` bits each, read from the start |
//! | [`packed`] | integers of one fixed width |
//! | [`bytes`] | unaligned words and bit fields, and the writer for both |
//! | [`threads`] | work in pieces, for builders that take several threads |
//! | [`arch`] | the best instructions of the machine, chosen at run time; the only unsafe code |
//!
//! ```
//! use lacuna_succinct::EliasFano;
//!
//! let numbers = EliasFano::from_sorted(&[3, 9, 10, 500], 1_000);
//! assert!(numbers.any_in(10, 20));
//! assert!(!numbers.any_in(11, 499));
//! ```

pub mod arch;
pub(crate) mod bit_vector;
pub mod bytes;
pub mod elias_fano;
mod error;
pub mod packed;
pub mod rank_select;
pub mod rice;
pub mod threads;
pub mod trie;

pub use bit_vector::BitVector;
pub use elias_fano::EliasFano;
pub use error::OpenError;
pub use packed::PackedInts;
pub use rank_select::RankSelect;
