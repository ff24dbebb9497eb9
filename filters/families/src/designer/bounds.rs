//! A lower bound on a family's cost, known before it is modelled.

use lacuna_base::KeySpaceId;

use super::candidates::CandidateFamily;
use crate::bloom::{BlockedBloomSpec, BloomSpec};
use crate::bucketing::BucketingSpec;
use crate::costs::settled_ns;
use crate::family::FilterFamily as _;
use crate::kind::Kind;
use crate::multi_prefix_bloom::MultiPrefixBloomSpec;
use crate::place_trie::PlaceTrieSpec;
use crate::prefix_bloom::PrefixBloomSpec;
use crate::rencoder::RencoderSpec;
use crate::snarf::SnarfSpec;
use crate::surf::SurfSpec;
#[cfg(feature = "baselines")]
use crate::two_prefix_bloom::TwoPrefixBloomSpec;

/// Facts about any filter over the keys.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) key_space: KeySpaceId,
    /// Share of the queries that the smallest and largest key do not settle.
    pub(super) asked: f64,
    pub(super) key_count: usize,
    /// Most bytes of the payload.
    pub(super) payload_bytes: usize,
    /// Nanoseconds that a needless read costs.
    pub(super) price_ns: f64,
}

/// Bytes that a family which takes all the space it gets may leave: part of a cache line or two, and its header.
const LEFT_BYTES: usize = 256;

impl Bounds {
    /// The least that an average query to a filter of the family costs: a question that reaches the filter waits for a
    /// line at least, or is answered "maybe" without a look.
    pub(super) fn min_ns<K: lacuna_base::KeySpace + ?Sized>(&self, family: &CandidateFamily<K>) -> f64 {
        let looks = min_looks(family.kind, self.key_count);
        let look_ns = family.costs.look_ns(self.key_space, looks, self.min_bytes(family.kind));
        settled_ns(self.key_space) + look_ns.min(self.price_ns) * self.asked
    }

    /// Fewest bytes of the payload; families that are exact may need far less than they get.
    fn min_bytes(&self, kind: Kind) -> usize {
        const TAKE_ALL: &[Kind] = &[
            BloomSpec::KIND,
            BlockedBloomSpec::KIND,
            PrefixBloomSpec::KIND,
            MultiPrefixBloomSpec::KIND,
            #[cfg(feature = "baselines")]
            TwoPrefixBloomSpec::KIND,
            RencoderSpec::KIND,
        ];
        match kind {
            kind if TAKE_ALL.contains(&kind) => self.payload_bytes.saturating_sub(LEFT_BYTES),
            // A one for each key, and a zero for most.
            SurfSpec::KIND | SnarfSpec::KIND => self.key_count / 8,
            _ => 0,
        }
    }
}

/// Fewest probes and lines of a query: for a trie, each level that `key_count` keys have at least; for SNARF a quarter
/// of a block, half of which an average query decodes.
fn min_looks(kind: Kind, key_count: usize) -> (f64, f64) {
    let levels = f64::from(key_count.max(1).ilog2()) / 8.0;
    match kind {
        SurfSpec::KIND => (levels.max(1.0), 1.0),
        SnarfSpec::KIND => (f64::from(SnarfSpec::BLOCK_KEYS) / 4.0, 1.0),
        BucketingSpec::KIND => (1.0, 0.5),
        // Both ends are walked, and leaves of a block.
        PlaceTrieSpec::KIND => (60.0, 2.0),
        _ => (1.0, 1.0),
    }
}
