//! SuRF: a succinct trie of the keys' first bytes, with a few bits of what follows them.
//!
//! Which keys lie between `fast` and `faster`? A trie that keeps, of each key, only the bytes that distinguish it from
//! its neighbours answers with little more than ten bits a branch. Of `SIGAI`, `SIGMOD`, `SIGOPS` it keeps `SIGA`,
//! `SIGM`, `SIGO`: `SIGKDD` is denied, and so is the range from `SIGN` to `SIGNZ`; `SIGMETRICS` is a false positive.
//! After each kept path stand *hash bits* of the whole key, which help points, and *real bits*, the key's next ones,
//! which help points and ranges: with eight of them, `SIGME` is distinguished from `SIGMO`.
//!
//! Guarantee: no false negative. With h hash bits a point's rate is at most `2^-h` for any keys and any queries chosen
//! without the seed. Nothing else is promised: a query that shares a key's kept bytes is "maybe", so that the rate is
//! near 1 for queries next to keys. Over uniform integers the rate goes up and down between 3 and 40 % as their number
//! grows, because a trie of bytes has depths of whole bytes; [`SurfSpec::predict`] predicts it for given keys.
//!
//! Cost: one step of the trie for each byte that a query shares with a key; 1 to 4 cache misses over integers. The size
//! follows from the keys, and the budget only chooses the suffix bits; a trie that does not fit is refused, or with
//! `cut` kept to as many levels as fit: coarser, still correct. A trie of more than 128 bits a key is refused too.
//!
//! Zhang and others, "SuRF: Practical Range Query Filtering with Fast Succinct Tries", SIGMOD 2018, section 3. Ours:
//! both ends of a range are followed at once, so that a range costs little more than a point and keeps no stack; real bits
//! and keys that end early compare as if zeros followed, without which a stored `ab` and a query up to `ab` would miss
//! each other; candidates and counts have stated bounds ([`docs/design/surf-seek.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/surf-seek.md)).

mod batch;
mod budget;
mod builder;
mod candidates;
mod codec;
mod count;
mod filter;
mod key;
mod predict;
mod predict_rate;
mod prefix;
mod query;
mod seek;
mod side;
mod sink;
mod spec;
mod suffix;
mod tail;
#[cfg(test)]
mod tests;

pub use filter::Surf;
pub use predict::SurfPrediction;
pub(crate) use predict_rate::{TrieView, likely_suffixes, min_trie_rate};
pub use spec::SurfSpec;
pub(crate) use tail::TailRange;
