//! Parameters of the published layout.

use lacuna_base::Result;

use super::builder::write_body;
use super::codec::{MAX_PROBES, VERSION, smallest_bytes};
use super::query::PublishedRencoder;
use crate::costs::ProbeCosts;
use crate::family::FilterFamily;
use crate::frame::FilterBytes;
use crate::integer::{IntegerFilter, WindowedFilter};
use crate::integer_build::{BodyOrder, IntegerSpec, TooSmall, integer_family};
use crate::kind::Kind;
use crate::probe_bound::{ProbeBound, USUAL_PROBES};
use crate::rencoder::codec::{MAX_HASHES, TREE_LEVELS};
use crate::spec_text::{SpecText, spec_text_with_flags};

/// REncoder in the layout of its paper, for comparisons.
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, FilterSpec, SortedKeys, U64Range};
/// use lacuna_families::PublishedRencoderSpec;
///
/// let keys: Vec<u64> = (0..1_000).map(|i| i * i * 1_000_003).collect();
/// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(18.0)?).with_seed(42);
/// let sealed = PublishedRencoderSpec::new().build(SortedKeys::integers(&keys)?, &plan)?;
/// let filter = lacuna_families::open::<u64, _>(sealed)?;
/// assert!(filter.may_contain_range(U64Range::new(keys[7] - 3, keys[7]).expect("not inverted")));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PublishedRencoderSpec {
    tree_levels: Option<u32>,
    probes: ProbeBound<MAX_PROBES>,
    hash_count: Option<u32>,
    round: Option<u32>,
}

impl PublishedRencoderSpec {
    /// As the paper describes it, with mini-trees of eight levels, a level a round, and at most 64 fetched mini-trees;
    /// `probes=max` lifts that bound to 4,096, more than a range of a million keys has.
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn tree_levels(self) -> u32 {
        self.tree_levels.unwrap_or(*TREE_LEVELS.end())
    }

    pub(super) fn smallest_bytes(self) -> usize {
        smallest_bytes(self.tree_levels())
    }

    pub(super) fn max_probes(self) -> u32 {
        self.probes.or(USUAL_PROBES)
    }

    /// The number of hash functions; `None`: that of the family's own layout.
    pub(super) fn hash_count(self) -> Option<u32> {
        self.hash_count
    }

    /// Levels inserted between two counts of the ones.
    pub(super) fn round(self) -> u32 {
        self.round.unwrap_or(1)
    }
}

impl IntegerSpec for PublishedRencoderSpec {
    const VERSION: u16 = VERSION;

    fn text(&self) -> String {
        let parameters = [("levels", self.tree_levels), ("k", self.hash_count), ("round", self.round)];
        self.probes.appended_to(spec_text_with_flags("rencoder", &["published"], &parameters))
    }

    fn write_body(&self, keys: &[u64], max_bytes: usize, order: &BodyOrder<'_>) -> Result<Vec<u8>, TooSmall> {
        write_body(*self, keys, max_bytes, order)
    }
}

integer_family!(PublishedRencoderSpec);

impl FilterFamily for PublishedRencoderSpec {
    const KIND: Kind = Kind::new(0x8002, "rencoder:published");
    const ABOUT: &'static str =
        "REncoder in the layout of its paper, to compare with: bitmaps at whole bytes, asked bit by bit";
    const EXAMPLE: &'static str = "rencoder:published,levels=8,k=3,round=4,probes=64";
    const COSTS: ProbeCosts = ProbeCosts { integers_ns: 39.0, strings_ns: 47.0, probe_ns: 3.0, wait: 1.0 };

    type OverIntegers<B: FilterBytes> = IntegerFilter<B, PublishedRencoder>;
    type OverStrings<B: FilterBytes> = WindowedFilter<B, PublishedRencoder>;

    fn from_text(spec: &mut SpecText<'_>) -> Result<Self> {
        Ok(Self {
            tree_levels: spec.take("levels", *TREE_LEVELS.start(), *TREE_LEVELS.end())?,
            probes: ProbeBound::from_text(spec)?,
            hash_count: spec.take("k", 1, MAX_HASHES)?,
            round: spec.take("round", 1, 8)?,
        })
    }
}
