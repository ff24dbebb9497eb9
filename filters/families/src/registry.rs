//! The families by name: from the text of a spec to something that builds.

use lacuna_base::{
    BuildFromKeys, BuildPlan, DynSpec, Error, KeySpace, KeyStatistics, PredictRate, Prediction, Result,
    SortedKeys,
};

use crate::bloom::{BlockedBloomSpec, BloomSpec};
use crate::bucketing::BucketingSpec;
use crate::cuckoo::CuckooSpec;
use crate::designer::{AutoSpec, DesignKey};
use crate::grafite::GrafiteSpec;
use crate::kind::Kind;
use crate::prefix_bloom::PrefixBloomSpec;
use crate::proteus::ProteusSpec;
use crate::rencoder::RencoderSpec;
use crate::rosetta::RosettaSpec;
use crate::snarf::SnarfSpec;
use crate::spec_text::SpecText;
use crate::surf::SurfSpec;
use crate::two_prefix_bloom::TwoPrefixBloomSpec;

/// What a person needs to know to name a family in a spec.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// The family.
    pub kind: Kind,
    /// What it is, in one sentence.
    pub about: &'static str,
    /// A spec that names it with everything that can be set.
    pub example: &'static str,
}

/// Every family of this crate.
pub const FAMILIES: [Family; 12] = [
    Family {
        kind: Kind::Bloom,
        about: "standard Bloom filter: points, and ranges of up to 64 keys",
        example: "bloom:k=7",
    },
    Family {
        kind: Kind::BlockedBloom,
        about: "Bloom filter with one cache miss a key: points, and ranges of up to 64 keys",
        example: "blocked_bloom",
    },
    Family {
        kind: Kind::PrefixBloom,
        about: "Bloom filter of the leading bits of each key: ranges of up to 64 prefixes",
        example: "prefix_bloom:bits=44",
    },
    Family {
        kind: Kind::Bucketing,
        about: "which buckets of keys are occupied: ranges of any length, unless they start right behind a key",
        example: "bucketing",
    },
    Family {
        kind: Kind::Grafite,
        about: "a rate bounded for any keys and any queries, in proportion to the range's length",
        example: "grafite",
    },
    Family {
        kind: Kind::Rencoder,
        about: "all prefixes of the keys in a Bloom filter, eight a cache miss: short ranges, next to keys too",
        example: "rencoder:se,levels=8,probes=64,k=3",
    },
    Family {
        kind: Kind::Surf,
        about: "a succinct trie of the keys' first bytes: points and ranges of any length, next keys, counts",
        example: "surf:hash=4,real=4,cut",
    },
    Family {
        kind: Kind::Proteus,
        about: "a trie of short prefixes and a Bloom filter of longer ones, designed for the sampled queries",
        example: "proteus:trie=24,bloom=57,probes=64",
    },
    Family {
        kind: Kind::TwoPrefixBloom,
        about: "two Bloom filters of key prefixes, short ones and long ones, designed for the sampled queries",
        example: "two_prefix_bloom:short=26,long=57,share=50,probes=64",
    },
    Family {
        kind: Kind::Rosetta,
        about: "a Bloom filter for each prefix length that the sampled ranges ask for: short ranges, next to keys too",
        example: "rosetta:published,probes=64",
    },
    Family {
        kind: Kind::Snarf,
        about: "a model of the keys and Rice-coded positions: ranges of any length, unless they start right behind a key",
        example: "snarf:block=128",
    },
    Family {
        kind: Kind::Cuckoo,
        about: "cuckoo filter, two cache misses a key: points, and ranges of up to 64 keys; its live twin forgets keys",
        example: "cuckoo:bits=12",
    },
];

/// The spec that `text` names, such as `grafite`, `prefix_bloom:bits=44` or `auto`, over either key space.
///
/// ```
/// let spec = lacuna_families::spec::<[u8]>("bloom:k=7")?;
/// assert_eq!(spec.name(), "bloom:k=7");
/// assert!(lacuna_families::spec::<u64>("blom").is_err());
/// # Ok::<(), lacuna_base::Error>(())
/// ```
///
/// # Errors
/// `InvalidInput` if there is no such family or parameter; the message lists what there is.
pub fn spec<K: KeySpace + ?Sized>(text: &str) -> Result<Box<dyn DynSpec<K>>>
where
    BloomSpec: BuildFromKeys<K>,
    BlockedBloomSpec: BuildFromKeys<K>,
    PrefixBloomSpec: BuildFromKeys<K>,
    BucketingSpec: BuildFromKeys<K>,
    GrafiteSpec: BuildFromKeys<K>,
    RencoderSpec: BuildFromKeys<K>,
    SurfSpec: BuildFromKeys<K>,
    ProteusSpec: BuildFromKeys<K>,
    TwoPrefixBloomSpec: BuildFromKeys<K>,
    AutoSpec: BuildFromKeys<K>,
    RosettaSpec: BuildFromKeys<K>,
    SnarfSpec: BuildFromKeys<K>,
    CuckooSpec: BuildFromKeys<K>,
{
    let mut parsed = SpecText::parse(text)?;
    if AutoSpec::is_named(&parsed) {
        let auto = AutoSpec::from_text(&mut parsed)?;
        parsed.finish()?;
        return Ok(Box::new(auto));
    }
    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == parsed.family());
    let spec: Box<dyn DynSpec<K>> = match kind.ok_or_else(|| unknown_family(parsed.family()))? {
        Kind::Bloom => Box::new(BloomSpec::from_text(&mut parsed)?),
        Kind::BlockedBloom => Box::new(BlockedBloomSpec::new()),
        Kind::PrefixBloom => Box::new(PrefixBloomSpec::from_text(&mut parsed)?),
        Kind::Bucketing => Box::new(BucketingSpec::from_text(&mut parsed)?),
        Kind::Grafite => Box::new(GrafiteSpec::from_text(&mut parsed)?),
        Kind::Rencoder => Box::new(RencoderSpec::from_text(&mut parsed)?),
        Kind::Surf => Box::new(SurfSpec::from_text(&mut parsed)?),
        Kind::Proteus => Box::new(ProteusSpec::from_text(&mut parsed)?),
        Kind::TwoPrefixBloom => Box::new(TwoPrefixBloomSpec::from_text(&mut parsed)?),
        Kind::Rosetta => Box::new(RosettaSpec::from_text(&mut parsed)?),
        Kind::Snarf => Box::new(SnarfSpec::from_text(&mut parsed)?),
        Kind::Cuckoo => Box::new(CuckooSpec::from_text(&mut parsed)?),
    };
    parsed.finish()?;
    Ok(spec)
}

/// What the filter that `text` names would be over `keys`, for the sample of `plan`, without building it; for `auto`, its
/// choice.
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, Sample, SortedKeys};
/// use std::sync::Arc;
///
/// let mut sample = Sample::<u64>::new();
/// sample.push(1_500, 1_600);
/// let plan = BuildPlan::new(Budget::bits_per_key(20.0)?).with_sample(Arc::new(sample));
/// let keys = [1_000, 2_000, 1 << 40, 1 << 41];
/// let prediction = lacuna_families::predict::<u64>("bloom", SortedKeys::integers(&keys)?, &plan)?;
/// assert_eq!(prediction.rate, 1.0, "101 keys are too many to ask one by one");
/// # Ok::<(), lacuna_base::Error>(())
/// ```
///
/// # Errors
/// As [`spec`], and as building.
pub fn predict<K: DesignKey + ?Sized>(
    text: &str,
    keys: SortedKeys<'_, K>,
    plan: &BuildPlan<K>,
) -> Result<Prediction>
where
    BloomSpec: PredictRate<K>,
    BlockedBloomSpec: PredictRate<K>,
    PrefixBloomSpec: PredictRate<K>,
    BucketingSpec: PredictRate<K>,
    GrafiteSpec: PredictRate<K>,
    RencoderSpec: PredictRate<K>,
    SurfSpec: PredictRate<K>,
    ProteusSpec: PredictRate<K>,
    TwoPrefixBloomSpec: PredictRate<K>,
    RosettaSpec: PredictRate<K>,
    SnarfSpec: PredictRate<K>,
    CuckooSpec: PredictRate<K>,
{
    let mut parsed = SpecText::parse(text)?;
    if AutoSpec::is_named(&parsed) {
        let design = AutoSpec::from_text(&mut parsed)?.design(keys, plan)?;
        return Ok(design.candidates()[0].prediction);
    }
    let known = KeyStatistics::new(keys, plan);
    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == parsed.family());
    match kind.ok_or_else(|| unknown_family(parsed.family()))? {
        Kind::Bloom => BloomSpec::from_text(&mut parsed)?.predict(&known),
        Kind::BlockedBloom => BlockedBloomSpec::new().predict(&known),
        Kind::PrefixBloom => PrefixBloomSpec::from_text(&mut parsed)?.predict(&known),
        Kind::Bucketing => BucketingSpec::from_text(&mut parsed)?.predict(&known),
        Kind::Grafite => GrafiteSpec::from_text(&mut parsed)?.predict(&known),
        Kind::Rencoder => RencoderSpec::from_text(&mut parsed)?.predict(&known),
        Kind::Surf => PredictRate::predict(&SurfSpec::from_text(&mut parsed)?, &known),
        Kind::Proteus => PredictRate::predict(&ProteusSpec::from_text(&mut parsed)?, &known),
        Kind::TwoPrefixBloom => PredictRate::predict(&TwoPrefixBloomSpec::from_text(&mut parsed)?, &known),
        Kind::Rosetta => PredictRate::predict(&RosettaSpec::from_text(&mut parsed)?, &known),
        Kind::Snarf => PredictRate::predict(&SnarfSpec::from_text(&mut parsed)?, &known),
        Kind::Cuckoo => PredictRate::predict(&CuckooSpec::from_text(&mut parsed)?, &known),
    }
}

fn unknown_family(family: &str) -> Error {
    let known: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    Error::invalid_input(format!(
        "there is no filter family `{family}`; choose one of auto, {}",
        known.join(", ")
    ))
}
