//! A trie of uniform depth: all distinct prefixes of one length in bits, in order.
//!
//! **Problem.** A range filter must know which regions of the key space are occupied, and the budget limits how finely
//! it can distinguish them. A trie that keeps the shortest unique path of every key is fine where keys crowd and
//! coarse where they do not, which is the wrong way around: the large empty regions stand next to the lone keys.
//!
//! **Idea.** Every key goes in with the same number of bits, and keys that share them go in once. Labels are bytes,
//! and where the depth is not a multiple of eight, the *first* label is the short one: a depth of 17 bits is a label
//! of 1 bit and two of 8, so that the expensive level is the last one alone. Where a branch holds a single prefix, the
//! trie ends and the rest of the prefix stands there as plain bytes. Of the 16-bit prefixes `00F1`, `0200`, `0201`,
//! the first ends after the label `00` with the byte `F1`; the label `02` leads to a node with the labels `00` and
//! `01`.
//!
//! **Guarantee.** Exact: [`UniformTrie::meet`] says whether the first and the last prefix of a range are there and
//! whether one lies between them, as the sorted prefixes do. On damaged bytes, calls end, stay inside the bytes, and do
//! not panic.
//!
//! **Cost.** That of the [Fast Succinct Trie](super) for every branch with two prefixes or more, 8 bits for each byte
//! after it, and 16 bytes for each level but the last. Building takes each prefix once, in ascending order.
//!
//! **Paper.** Knorr, Lemaire, Lim and others, "Proteus: A Self-Designing Range Filter", SIGMOD 2022, section 4.1.
//!
//! **Changed.** The short label comes first, so that each bit of depth has its own price; the estimate of the size counts
//! the keys that are alone in their prefix, which the paper leaves out. The bytes are described in
//! [`docs/format/uniform_trie.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/uniform_trie.md).

mod build;
mod layout;
mod path;
mod query;
mod size;

pub use build::{UniformBuilder, UniformParts};
pub use layout::UniformTrie;
pub use path::{IntegerPath, Path, StringPath};
pub use query::Meeting;
pub use size::uniform_bytes;
