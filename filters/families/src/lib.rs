//! Range filters: small structures that know where a sorted file has no keys.
//!
//! | family | point | range | next to a key | cost of a query | bytes |
//! | --- | --- | --- | --- | --- | --- |
//! | [`bloom`](BloomSpec) | best known | key by key, up to 64 | as a point | about 2 cache misses | [`docs/format/bloom.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/bloom.md) |
//! | [`blocked_bloom`](BlockedBloomSpec) | half a bit worse | key by key, up to 64 | as a point | 1 cache miss | [`docs/format/bloom.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/bloom.md) |
//! | [`prefix_bloom`](PrefixBloomSpec) | of prefixes | up to 64 prefixes | "maybe" within a prefix | as `bloom` for each prefix | [`docs/format/prefix_bloom.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/prefix_bloom.md) |
//! | [`bucketing`](BucketingSpec) | good | any length, by the gaps of the keys | "maybe" within a bucket | 1 to 2 misses | [`docs/format/bucketing.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/bucketing.md) |
//! | [`grafite`](GrafiteSpec) | good | bounded for any keys and queries | the same bound | 1 to 2 misses | [`docs/format/grafite.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/grafite.md) |
//! | [`ribbon`](RibbonSpec) | better than `bloom` | bounded for any keys and queries, a quarter to a third of `grafite`'s; by cells, any length up to one | far below the bound; by cells "maybe" | 1 to 2 misses a block | [`docs/format/ribbon.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/ribbon.md) |
//! | [`rencoder`](RencoderSpec) | good | in proportion to the length, by the levels stored | as anywhere, with enough hash functions | a few misses at once | [`docs/format/rencoder.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/rencoder.md) |
//! | [`surf`](SurfSpec) | halves with each hash bit | any length, by the keys' first bytes | "maybe" within a key's first bytes | 1 to 4 misses | [`docs/format/surf.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/surf.md) |
//! | [`proteus`](ProteusSpec) | as the sample asks | any length, by the prefixes stored | "maybe" within a longer prefix | a walk, then a Bloom probe a prefix | [`docs/format/proteus.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/proteus.md) |
//! | [`multi_prefix_bloom`](MultiPrefixBloomSpec) | as the sample asks | up to 64 prefixes of some length | by the length that tells it from the key | as `bloom` for each prefix, until a length denies | [`docs/format/multi_prefix_bloom.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/multi_prefix_bloom.md) |
//! | [`place_trie`](PlaceTrieSpec) | as a range | any length, by the keys next to it | by the bits after a key's branch | a search, half a block, and a walk of each end | [`docs/format/place_trie.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/place_trie.md) |
//! | [`two_prefix_bloom`](TwoPrefixBloomSpec) | of prefixes | up to 64 prefixes of either length | "maybe" within a longer prefix | as `bloom` for each prefix | [`docs/format/two_prefix_bloom.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/two_prefix_bloom.md) |
//! | [`rosetta`](RosettaSpec) | as `bloom`, less what upper levels take | bounded, in proportion to the length | the same bound | a miss for each node, 64 at most | [`docs/format/rosetta.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/rosetta.md) |
//! | [`rencoder:published`](PublishedRencoderSpec) | as `rencoder`, a little worse | as `rencoder`, a little worse | as `rencoder` | bit by bit in twice as many misses | [`docs/format/rencoder_published.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/rencoder_published.md) |
//! | [`snarf`](SnarfSpec) | good | any length, by the gaps of the keys | "maybe" on a key's position | a search and half a block | [`docs/format/snarf.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/snarf.md) |
//! | [`cuckoo`](CuckooSpec) | better than `bloom` below 3 % | key by key, up to 64 | as a point | 2 misses at once | [`docs/format/cuckoo.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/cuckoo.md) |
//!
//! [`auto`](AutoSpec) predicts all but `rosetta`, `rencoder:published`, `cuckoo` and, unless it is asked to, `two_prefix_bloom` (and `snarf` over byte strings, `multi_prefix_bloom` and `place_trie` over integers)
//! on the keys and a sample of the queries, and builds the cheapest.
//!
//! Choose a family by text with [`spec`], build it, and [`open`] its bytes wherever they lie:
//!
//! ```
//! use lacuna_base::{Budget, BuildPlan, SortedKeys, U64Range};
//!
//! let keys = [10, 20, 30, 40_000];
//! let plan = BuildPlan::new(Budget::bits_per_key(16.0)?);
//! let sealed = lacuna_families::spec::<u64>("grafite")?.build(SortedKeys::integers(&keys)?, &plan)?;
//!
//! let filter = lacuna_families::open::<u64, _>(sealed.into_bytes())?;
//! assert!(filter.may_contain_range(U64Range::new(15, 25).expect("15 <= 25")));
//! assert!(!filter.may_contain_range(U64Range::new(50_000, 60_000).expect("50,000 <= 60,000")));
//! # Ok::<(), lacuna_base::Error>(())
//! ```
//!
//! Every family is deterministic: same keys, plan and seed give the same bytes on every machine, by however many threads. Opened filters take
//! no lock, allocate nothing and may be asked from any number of threads.

mod abilities;
mod bloom;
mod bucketing;
mod costs;
mod cuckoo;
mod designer;
mod estimate;
mod families;
mod family;
mod frame;
mod geometry;
mod grafite;
mod hashing;
mod integer;
mod integer_build;
mod integer_sample;
mod kind;
mod largest;
mod multi_prefix_bloom;
mod open;
mod place_trie;
mod point_section;
mod points;
mod predict;
mod prefix_bloom;
mod probe_bound;
mod probes;
mod proteus;
mod registry;
mod rencoder;
mod ribbon;
#[cfg(feature = "baselines")]
mod rosetta;
#[cfg(test)]
mod secret_tests;
mod snarf;
mod sort;
mod spec_text;
mod statistics;
mod string_choice;
mod string_costs;
#[cfg(test)]
mod string_tests;
mod string_view;
mod surf;
mod table;
#[cfg(test)]
mod thread_tests;
mod threads;
#[cfg(test)]
mod toy;
#[cfg(feature = "baselines")]
mod two_prefix_bloom;

pub use abilities::{OpenAbility, open_count, open_seek};
pub use bloom::{BlockedBloomSpec, BloomSpec};
pub use bucketing::BucketingSpec;
pub use cuckoo::{CuckooMut, CuckooSpec, CuckooTable, HashedKey, KeyState, MarkCopy, MarkTable, TableCopy};
pub use designer::{AutoSpec, Candidate, Design, DesignKey, Measured};
pub use families::FAMILIES;
pub use family::FilterVisitor;
pub use frame::FilterBytes;
pub use grafite::GrafiteSpec;
pub use kind::Kind;
pub use multi_prefix_bloom::MultiPrefixBloomSpec;
pub use open::{AnyFilter, OpenFilter, open, open_verified};
pub use place_trie::PlaceTrieSpec;
pub use prefix_bloom::PrefixBloomSpec;
pub use proteus::ProteusSpec;
pub use registry::{family, predict, spec};
#[cfg(feature = "baselines")]
pub use rencoder::PublishedRencoderSpec;
pub use rencoder::{Rectangle, RencoderSpec};
pub use ribbon::RibbonSpec;
#[cfg(feature = "baselines")]
pub use rosetta::RosettaSpec;
pub use snarf::{SnarfMut, SnarfSpec};
pub use surf::{Surf, SurfSpec};
pub use table::Family;
#[cfg(feature = "baselines")]
pub use two_prefix_bloom::TwoPrefixBloomSpec;

/// What Lacuna's own crates share and other crates do not need; it may change at any time.
#[doc(hidden)]
pub mod internal {
    pub use crate::designer::{HARDLY, judged_by};
    pub use crate::registry::sees_strings_as_integers;
}

/// Models, their predictions and costs, for the project's own measurements and tests.
#[doc(hidden)]
pub mod testing {
    pub use crate::costs::settled_ns;
    pub use crate::designer::design_of_before;
    pub use crate::proteus::{DesignRate, PrefixSpace, ProteusPrediction, cpfpr};
    pub use crate::registry::probe_ns;
    #[cfg(feature = "baselines")]
    pub use crate::rencoder::{Blacklist, BlacklistedRencoder};
    #[cfg(feature = "baselines")]
    pub use crate::rosetta::RosettaPrediction;
    pub use crate::snarf::SnarfPrediction;
    pub use crate::surf::SurfPrediction;
    #[cfg(feature = "baselines")]
    pub use crate::two_prefix_bloom::TwoPrefixRate;
}
