//! The table of this crate's families: a new family is its folder and one line here.

use crate::bloom::{BlockedBloomSpec, BloomSpec};
use crate::bucketing::BucketingSpec;
use crate::cuckoo::CuckooSpec;
use crate::grafite::GrafiteSpec;
use crate::multi_prefix_bloom::MultiPrefixBloomSpec;
use crate::place_trie::PlaceTrieSpec;
use crate::prefix_bloom::PrefixBloomSpec;
use crate::proteus::ProteusSpec;
#[cfg(feature = "baselines")]
use crate::rencoder::PublishedRencoderSpec;
use crate::rencoder::RencoderSpec;
use crate::ribbon::RibbonSpec;
#[cfg(feature = "baselines")]
use crate::rosetta::RosettaSpec;
use crate::snarf::SnarfSpec;
use crate::surf::SurfSpec;
use crate::table::{Family, FamilyTable as _, families};
#[cfg(feature = "baselines")]
use crate::two_prefix_bloom::TwoPrefixBloomSpec;

families! {
    with texts
    /// Every family of this crate.
    Families {
        BloomSpec,
        BlockedBloomSpec,
        PrefixBloomSpec,
        BucketingSpec,
        GrafiteSpec,
        RibbonSpec,
        RencoderSpec,
        SurfSpec,
        ProteusSpec,
        MultiPrefixBloomSpec,
        PlaceTrieSpec,
        #[cfg(feature = "baselines")]
        TwoPrefixBloomSpec,
        #[cfg(feature = "baselines")]
        RosettaSpec,
        #[cfg(feature = "baselines")]
        PublishedRencoderSpec,
        SnarfSpec,
        CuckooSpec,
    }
}

/// Every family of this crate. Each spec is a type, whose text is read by `FromStr` and written by `Display`.
///
/// ```
/// use lacuna_families::{GrafiteSpec, PrefixBloomSpec};
///
/// let spec: PrefixBloomSpec = "prefix_bloom:bits=44".parse()?;
/// assert_eq!(spec.to_string(), "prefix_bloom:bits=44");
/// assert!("bloom".parse::<GrafiteSpec>().is_err());
/// # Ok::<(), lacuna_base::Error>(())
/// ```
pub const FAMILIES: &[Family] = Families::ALL;
