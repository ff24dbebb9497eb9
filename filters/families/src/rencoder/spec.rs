//! Parameters of REncoder.

use lacuna_base::Result;

use super::Rencoder;
use super::builder::write_body;
use super::codec::{MAX_HASHES, MAX_PROBES, TREE_LEVELS, VERSION};
use crate::costs::ProbeCosts;
use crate::family::FilterFamily;
use crate::frame::FilterBytes;
use crate::integer::{IntegerFilter, WindowedFilter};
use crate::integer_build::{BodyOrder, IntegerSpec, TooSmall, integer_family};
use crate::kind::Kind;
use crate::probe_bound::{ProbeBound, USUAL_PROBES};
use crate::spec_text::{SpecText, spec_text_with_flags};

/// How the stored levels are chosen, and how points are asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Variant {
    /// From the keys upwards, until half of the bits are ones.
    #[default]
    Base = 0,
    /// From the level that distinguishes all keys, upwards.
    SelectStart = 1,
    /// From the level that distinguishes the sampled queries from the keys, downwards.
    SelectEnd = 2,
    /// As the base with hash functions for points, which are asked on the lowest level only.
    Point = 3,
    /// For floats: from the exponent's last bit upwards, then from the mantissa's first bit downwards.
    TwoStage = 4,
}

impl Variant {
    const ALL: [Self; 5] = [Self::Base, Self::SelectStart, Self::SelectEnd, Self::Point, Self::TwoStage];

    /// The variant with this number in the header.
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|variant| *variant as u8 == number)
    }

    /// Its flag in a spec.
    fn flag(self) -> Option<&'static str> {
        match self {
            Self::Base => None,
            Self::SelectStart => Some("ss"),
            Self::SelectEnd => Some("se"),
            Self::Point => Some("po"),
            Self::TwoStage => Some("float"),
        }
    }
}

/// REncoder, in all its variants.
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, FilterSpec, SortedKeys, U64Range};
/// use lacuna_families::RencoderSpec;
///
/// let keys: Vec<u64> = (0..1_000).map(|i| i * i * 1_000_003).collect();
/// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(18.0)?).with_seed(42);
/// let sealed = RencoderSpec::new().build(SortedKeys::integers(&keys)?, &plan)?;
/// let filter = lacuna_families::open::<u64, _>(sealed)?;
/// assert!(filter.may_contain_range(U64Range::new(keys[7] - 3, keys[7]).expect("not inverted")));
/// assert!(!filter.may_contain_range(U64Range::new(keys[7] + 40, keys[7] + 60).expect("not inverted")));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RencoderSpec {
    variant: Variant,
    tree_levels: Option<u32>,
    probes: ProbeBound<MAX_PROBES>,
    hash_count: Option<u32>,
    round: Option<u32>,
    stored_levels: Option<u32>,
    quantile: Option<u32>,
    exponent_share: Option<u32>,
}

impl RencoderSpec {
    /// Mini-trees a query fetches at most, unless the spec says otherwise; past them the answer is "maybe".
    pub const MAX_PROBES: u32 = USUAL_PROBES;
    /// Share of the sampled queries, in percent, that `REncoderSE` must be able to distinguish from the keys.
    pub const QUANTILE: u32 = 99;

    /// The base: stores the lowest levels, and needs no sample.
    pub fn new() -> Self {
        Self::default()
    }

    /// `REncoderSS`: stores levels from the one that distinguishes all keys, upwards. Best for queries that are
    /// independent of the keys; useless next to a key.
    pub fn select_start() -> Self {
        Self { variant: Variant::SelectStart, ..Self::default() }
    }

    /// `REncoderSE`: stores the levels that distinguish the plan's sampled queries from the keys. Without a sample it
    /// is the base.
    pub fn select_end() -> Self {
        Self { variant: Variant::SelectEnd, ..Self::default() }
    }

    /// `REncoderPO`: stores from the lowest level upwards as the base, with points asked on that level only and the
    /// number of hash functions chosen for them. The rate of ranges is higher, above all of long ones.
    pub(crate) fn point() -> Self {
        Self { variant: Variant::Point, ..Self::default() }
    }

    /// Two-stage REncoder: for the keys of `f64` and `f32` as [`TypedKey`](lacuna_base::TypedKey) makes them.
    pub fn two_stage() -> Self {
        Self { variant: Variant::TwoStage, ..Self::default() }
    }

    /// Sets the number of hash functions, 1 to 32, which is otherwise chosen by prediction.
    #[must_use]
    pub(crate) fn with_hash_count(mut self, hash_count: u32) -> Self {
        self.hash_count = Some(hash_count.clamp(1, MAX_HASHES));
        self
    }

    /// Sets how many mini-trees a query fetches at most, 1 to 4,096.
    #[must_use]
    pub fn with_max_probes(mut self, max_probes: u32) -> Self {
        self.probes = ProbeBound::new(max_probes);
        self
    }

    /// Sets the levels of a mini-tree, 4 to 8.
    #[must_use]
    pub fn with_tree_levels(mut self, tree_levels: u32) -> Self {
        self.tree_levels = Some(tree_levels.clamp(*TREE_LEVELS.start(), *TREE_LEVELS.end()));
        self
    }

    /// Builds as the paper's algorithm 5: this many levels a round, 1 to 8, until half of the bits are counted to be
    /// ones. Otherwise the levels are predicted and inserted at once.
    #[must_use]
    pub fn with_round(mut self, levels: u32) -> Self {
        self.round = Some(levels.clamp(1, 8));
        self
    }

    /// Stores this many levels, 1 to 64, as far as there are that many, in place of as many as make half of the bits ones.
    /// For experiments: any other number than the chosen one gives a higher rate. Without effect on builds by rounds.
    #[must_use]
    pub fn with_stored_levels(mut self, levels: u32) -> Self {
        self.stored_levels = Some(levels.clamp(1, u64::BITS));
        self
    }

    pub(crate) fn variant(self) -> Variant {
        self.variant
    }

    pub(crate) fn tree_levels(self) -> u32 {
        self.tree_levels.unwrap_or(*TREE_LEVELS.end())
    }

    pub(crate) fn max_probes(self) -> u32 {
        self.probes.or(Self::MAX_PROBES)
    }

    pub(crate) fn hash_count(self) -> Option<u32> {
        self.hash_count
    }

    pub(crate) fn round(self) -> Option<u32> {
        self.round
    }

    /// Number of levels to store; `None`: until half of the bits are ones.
    pub(crate) fn stored_levels(self) -> Option<u32> {
        self.stored_levels
    }

    /// Share of the sampled queries to be kept apart from the keys.
    pub(crate) fn quantile(self) -> f64 {
        f64::from(self.quantile.unwrap_or(Self::QUANTILE)) / 100.0
    }

    /// Share of ones at which the exponent's levels end; `None`: to be chosen.
    pub(crate) fn exponent_share(self) -> Option<f64> {
        self.exponent_share.map(|percent| f64::from(percent) / 100.0)
    }
}

impl IntegerSpec for RencoderSpec {
    const VERSION: u16 = VERSION;

    fn text(&self) -> String {
        let parameters = [
            ("levels", self.tree_levels),
            ("probes", self.probes.given()),
            ("k", self.hash_count),
            ("round", self.round),
            ("stored", self.stored_levels),
            ("quantile", self.quantile),
            ("exponent", self.exponent_share),
        ];
        spec_text_with_flags(RencoderSpec::KIND.name(), self.variant.flag().as_slice(), &parameters)
    }

    fn write_body(&self, keys: &[u64], max_bytes: usize, order: &BodyOrder<'_>) -> Result<Vec<u8>, TooSmall> {
        write_body(*self, keys, max_bytes, order)
    }
}

integer_family!(RencoderSpec);

impl FilterFamily for RencoderSpec {
    const KIND: Kind = Kind::new(6, "rencoder");
    const ABOUT: &'static str =
        "all prefixes of the keys in a Bloom filter, eight a cache miss: short ranges, next to keys too";
    const EXAMPLE: &'static str = "rencoder:se,levels=8,probes=64,k=3";
    const COSTS: ProbeCosts = ProbeCosts { integers_ns: 39.0, strings_ns: 47.0, probe_ns: 3.0, wait: 0.54 };

    type OverIntegers<B: FilterBytes> = IntegerFilter<B, Rencoder>;
    type OverStrings<B: FilterBytes> = WindowedFilter<B, Rencoder>;

    fn from_text(spec: &mut SpecText<'_>) -> Result<Self> {
        let mut variant = Variant::Base;
        for candidate in Variant::ALL {
            if candidate.flag().is_some_and(|flag| variant == Variant::Base && spec.take_flag(flag)) {
                variant = candidate;
            }
        }
        Ok(Self {
            variant,
            tree_levels: spec.take("levels", *TREE_LEVELS.start(), *TREE_LEVELS.end())?,
            probes: ProbeBound::from_text(spec)?,
            hash_count: spec.take("k", 1, MAX_HASHES)?,
            round: spec.take("round", 1, 8)?,
            stored_levels: spec.take("stored", 1, u64::BITS)?,
            quantile: match variant {
                Variant::SelectEnd => spec.take("quantile", 1, 100)?,
                _ => None,
            },
            exponent_share: match variant {
                Variant::TwoStage => spec.take("exponent", 0, 50)?,
                _ => None,
            },
        })
    }
}
