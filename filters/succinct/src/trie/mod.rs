//! The Fast Succinct Trie: an ordered set of byte strings in little more than ten bits for each branch.
//!
//! **Problem.** A filter for ranges of strings needs the shape of the key set, in order, at the size of a Bloom filter.
//! A pointer costs 64 bits; the least that any tree of bytes can do with is 9.44 bits a branch.
//!
//! **Idea.** Nodes stand level by level, and children in the order of their parents, so that the place of a child is a
//! count. The upper levels, few and hot, are *dense*: two bitmaps of 256 bits a node say which labels there are and
//! which lead on. The lower levels are *sparse*: one label byte for each branch, one bit "leads on" and one bit "first
//! of its node". The keys `f`, `far`, `fat`, `top` make the levels `f t`, `$ a | o`, `r t | p`, where `$` marks that the
//! path so far, `f`, is itself a key. A mark is the label 0xFF at the start of a node of several slots, where a real 0xFF,
//! the largest label, cannot stand; in a dense node it is a bit.
//!
//! Slots stand in blocks of 256 (a dense node, or 256 sparse branches) together with all their bits, after the number
//! of leaves before the block and the address of its first child. So a step reads one block: find the label by vector
//! comparison, count the branches before it that lead on, and go that many nodes ahead of the first child.
//!
//! **Guarantee.** Exact: search, order, and count are those of the sorted keys. On damaged bytes, calls end, stay inside
//! the bytes, and do not panic.
//!
//! **Cost.** 10.16 bits for each sparse branch and 552 for each dense node, ranks and selects included; 32 bytes of
//! header. A step waits for one place in memory and then for the start of the child; finding that start reads the bits
//! of the nodes before it in the same block of children, two blocks on average. It is 257 blocks ahead at most, which
//! takes 30 blocks and 16 counts of groups. Building is one pass over ascending keys in the memory of the result.
//!
//! **Paper.** Zhang and others, "SuRF: Practical Range Query Filtering with Fast Succinct Tries", SIGMOD 2018, section 2.
//!
//! **Changed.** Bits, labels and counts stand together, and the address of a block's first child takes the place of the
//! paper's select samples, so that going to a child never waits for three structures in turn. The dividing level is the
//! one that gives the least size; the paper's rule of one part in 64 is [`Divide::Ratio`]. Input out of order is refused.
//! The bytes are described in [`docs/format/trie.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/trie.md).

mod ahead;
mod block;
mod builder;
mod count;
mod cursor;
mod cursor_walk;
mod encode;
mod geometry;
mod layout;
mod level;
mod node;
mod shape;
mod sparse;
mod step;
#[expect(clippy::module_inception, reason = "the trie itself, beside its parts")]
mod trie;
pub mod uniform;
mod words;

pub use builder::{Builder, Keep, Levels, OutOfOrder, Plan, shared_len};
pub use count::{Border, KeyBorder};
pub use cursor::Cursor;
pub use layout::Layout;
pub use shape::{Branch, Divide, Shape};
pub use step::Step;
pub use trie::{Met, Trie};
