//! The structures against their definitions.

#![expect(
    clippy::cast_possible_truncation,
    reason = "drawn numbers are below small bounds or meant to be cut"
)]

mod bits;
mod elias_fano;
mod elias_fano_damage;
mod format;
mod rank_select;
mod rice;
mod tools;
mod trie;
mod trie_damage;
mod trie_groups;
mod uniform_trie;
