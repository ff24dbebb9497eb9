//! Place trie: a binary trie of the places of keys, each cut a few bits after where it parts from its neighbours.
//!
//! A range that goes from an absent key to the next one holds nothing, but a filter that rounds keys to the same number of bits cannot
//! tell: keys that people write stand close together in some places and far apart in others. The bits that are worth storing are those
//! in which neighbours differ, wherever these are, and a few after them. Of the places 0001, 0100, 0101 and 1110, with
//! tails of one bit, 000, 0100, 0101 and 11 are stored; the range from 0110 to 1010 lies between the last two and is denied, and so is
//! the one from 0010 to 0011, though it shares two bits with a key.
//!
//! Places are those of the file's [`PlaceMap`](lacuna_base::PlaceMap), in 512 bits: bytes that are frequent where they stand cost a fraction of a bit, so that
//! neighbours part after few bits, and so do bits between their branches. Integers are their own places.
//!
//! Guarantee: no false negative. Whether a range is a "maybe" is decided by the keys next to it, not by a hash: no rate is bounded.
//!
//! Cost: a search among the blocks of the trie, then one step for each of half a block's leaves, some hundred in all. Build: the places of
//! all keys, twice. Space: for a leaf the bits that it shares with the one before, as their difference (some five bits under a Huffman
//! code), those up to the branch (some four), and the tail.
//!
//! The idea of cutting keys after they are unique, and of a few bits more, is that of Zhang and others, "SuRF", SIGMOD 2018; that of
//! compressing keys in their order that of HOPE, SIGMOD 2020. Ours: arithmetic codes instead of words of a dictionary, a binary trie of
//! front-coded leaves in blocks instead of LOUDS, and long edges pruned away if the space is better used elsewhere
//! ([`docs/design/place_trie.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/place_trie.md)).

mod builder;
mod codec;
mod design;
mod filter;
mod leaves;
mod predict;
mod query;
mod space;
mod spec;
mod symbols;
#[cfg(test)]
mod tests;

pub(crate) use codec::Body as PlaceTrie;
pub(crate) use filter::StringPlaceTrie;
pub(crate) use predict::likely_design;
pub use spec::PlaceTrieSpec;
