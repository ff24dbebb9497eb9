//! Parameters of Rosetta.

use lacuna_base::{BuildPlan, Result, SortedKeys};

use super::Rosetta;
use super::builder::write_body;
use super::codec::{MAX_PROBES, VERSION};
use super::predict::{RosettaPrediction, predict_bytes, predict_u64};
use crate::costs::ProbeCosts;
use crate::family::FilterFamily;
use crate::frame::FilterBytes;
use crate::integer::{IntegerFilter, WindowedFilter};
use crate::integer_build::{BodyOrder, IntegerSpec, TooSmall, integer_family};
use crate::kind::Kind;
use crate::probe_bound::{ProbeBound, USUAL_PROBES};
use crate::spec_text::{SpecText, spec_text_with_flags};

/// Which levels get how many bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Policy {
    /// The allocation with the lowest predicted rate on the sample.
    #[default]
    Chosen,
    /// All bits to the last level.
    Single,
    /// As in the paper, and without a bound on probes.
    Published,
}

/// Rosetta.
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, FilterSpec, SortedKeys, U64Range};
/// use lacuna_families::RosettaSpec;
///
/// let keys: Vec<u64> = (0..1_000).map(|i| i * i * 1_000_003).collect();
/// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(18.0)?).with_seed(42);
/// let sealed = RosettaSpec::new().build(SortedKeys::integers(&keys)?, &plan)?;
/// let filter = lacuna_families::open::<u64, _>(sealed)?;
/// assert!(filter.may_contain_range(U64Range::new(keys[7] - 3, keys[7]).expect("not inverted")));
/// assert!(!filter.may_contain_range(U64Range::new(keys[7] + 1, keys[7] + 20).expect("not inverted")));
/// assert!(filter.rate_bound(16) < 0.02);
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RosettaSpec {
    policy: Policy,
    probes: ProbeBound<MAX_PROBES>,
}

impl RosettaSpec {
    /// Prefixes a query asks for at most, unless the spec says otherwise; past them the answer is "maybe".
    pub const MAX_PROBES: u32 = USUAL_PROBES;

    /// Rosetta as it should be used: bits go where they are predicted to help the plan's sample most. Without a sample,
    /// ranges of 2 to 32 keys are assumed.
    pub fn new() -> Self {
        Self::default()
    }

    /// All bits to the last level: a range is asked key by key.
    pub fn single_level() -> Self {
        Self { policy: Policy::Single, ..Self::default() }
    }

    /// As published: bits by how often the sample would ask each level, and as many probes as it takes (a million at
    /// most, so that every question ends). For comparisons.
    pub fn published() -> Self {
        Self { policy: Policy::Published, ..Self::default() }
    }

    /// Sets how many prefixes a query asks for at most, 1 to 1,048,576.
    #[must_use]
    pub fn with_max_probes(mut self, max_probes: u32) -> Self {
        self.probes = ProbeBound::new(max_probes);
        self
    }

    pub(crate) fn policy(self) -> Policy {
        self.policy
    }

    /// Prefixes a query asks for at most.
    pub(crate) fn max_probes(self) -> u32 {
        self.probes.or(match self.policy {
            Policy::Published => MAX_PROBES,
            Policy::Chosen | Policy::Single => Self::MAX_PROBES,
        })
    }

    /// The prediction for a filter over `keys` and the empty queries of the plan's sample, without building it.
    ///
    /// # Errors
    /// As building.
    pub fn predict(&self, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Result<RosettaPrediction> {
        predict_u64(*self, keys, plan)
    }

    /// [`predict`](Self::predict) over byte strings.
    ///
    /// # Errors
    /// As building.
    pub fn predict_bytes(
        &self,
        keys: SortedKeys<'_, [u8]>,
        plan: &BuildPlan<[u8]>,
    ) -> Result<RosettaPrediction> {
        predict_bytes(*self, keys, plan)
    }
}

impl IntegerSpec for RosettaSpec {
    const VERSION: u16 = VERSION;

    fn text(&self) -> String {
        let flag = match self.policy {
            Policy::Chosen => None,
            Policy::Single => Some("single"),
            Policy::Published => Some("published"),
        };
        self.probes.appended_to(spec_text_with_flags::<u32>(RosettaSpec::KIND.name(), flag.as_slice(), &[]))
    }

    fn write_body(&self, keys: &[u64], max_bytes: usize, order: &BodyOrder<'_>) -> Result<Vec<u8>, TooSmall> {
        write_body(*self, keys, max_bytes, order)
    }
}

integer_family!(RosettaSpec);

impl FilterFamily for RosettaSpec {
    const KIND: Kind = Kind::new(0x8001, "rosetta");
    const ABOUT: &'static str = "a Bloom filter for each prefix length that the sampled ranges ask for: short ranges, next to keys too";
    const EXAMPLE: &'static str = "rosetta:published,probes=64";
    const COSTS: ProbeCosts = ProbeCosts { integers_ns: 18.0, strings_ns: 2.0, probe_ns: 6.4, wait: 0.66 };

    type OverIntegers<B: FilterBytes> = IntegerFilter<B, Rosetta>;
    type OverStrings<B: FilterBytes> = WindowedFilter<B, Rosetta>;

    fn from_text(spec: &mut SpecText<'_>) -> Result<Self> {
        let policy = match spec.take_flag("published") {
            true => Policy::Published,
            false if spec.take_flag("single") => Policy::Single,
            false => Policy::Chosen,
        };
        Ok(Self { policy, probes: ProbeBound::from_text(spec)? })
    }
}
