//! Parameters of SNARF.

use lacuna_base::{BuildPlan, Result, SortedKeys};

use super::Snarf;
use super::builder::write_body;
use super::codec::{BLOCK_KEYS, VERSION};
use super::predict::{SnarfPrediction, predict, predict_bytes, predict_u64};
use crate::costs::ProbeCosts;
use crate::family::FilterFamily;
use crate::frame::FilterBytes;
use crate::integer::{IntegerFilter, WindowedFilter};
use crate::integer_build::{BodyOrder, IntegerSpec, TooSmall, integer_family};
use crate::integer_sample::IntegerSample;
use crate::kind::Kind;
use crate::spec_text::{SpecText, spec_text};

/// SNARF; the number of positions follows from the budget.
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, FilterSpec, SortedKeys, U64Range};
/// use lacuna_families::SnarfSpec;
///
/// let keys: Vec<u64> = (0..1_000).map(|i| i * i * 1_000_003).collect();
/// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(16.0)?);
/// let sealed = SnarfSpec::new().build(SortedKeys::integers(&keys)?, &plan)?;
/// let filter = lacuna_families::open::<u64, _>(sealed)?;
/// assert!(filter.may_contain_range(U64Range::new(keys[7] - 3, keys[7]).expect("not inverted")));
/// assert!(!filter.may_contain_range(U64Range::new(keys[7] + 4_000_000, keys[8] - 4_000_000).expect("not inverted")));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SnarfSpec {
    block_keys: Option<u32>,
}

impl SnarfSpec {
    /// Keys from knot to knot, unless the spec says otherwise. The paper has about 100: half of them are read for a
    /// question, and a knot costs its 64 bits once for all of them.
    pub const BLOCK_KEYS: u32 = 128;

    /// SNARF as it should be used.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of keys from knot to knot, 2 to 1,024: fewer make questions faster and leave fewer bits a key.
    #[must_use]
    pub fn with_block_keys(mut self, block_keys: u32) -> Self {
        self.block_keys = Some(block_keys.clamp(*BLOCK_KEYS.start(), *BLOCK_KEYS.end()));
        self
    }

    pub(crate) fn block_keys(self) -> usize {
        self.block_keys.unwrap_or(Self::BLOCK_KEYS) as usize
    }

    /// The prediction for a filter over `keys` and the empty queries of the plan's sample, without building it.
    ///
    /// # Errors
    /// As building.
    pub fn predict(&self, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Result<SnarfPrediction> {
        predict_u64(*self, keys, plan)
    }

    /// [`predict`](Self::predict) of what a builder sees.
    pub(crate) fn predict_sample(&self, sample: &IntegerSample<'_>) -> Result<SnarfPrediction> {
        predict(*self, sample)
    }

    /// [`predict`](Self::predict) over byte strings.
    ///
    /// # Errors
    /// As building.
    pub fn predict_bytes(
        &self,
        keys: SortedKeys<'_, [u8]>,
        plan: &BuildPlan<[u8]>,
    ) -> Result<SnarfPrediction> {
        predict_bytes(*self, keys, plan)
    }
}

impl IntegerSpec for SnarfSpec {
    const VERSION: u16 = VERSION;

    fn text(&self) -> String {
        spec_text(SnarfSpec::KIND.name(), &[("block", self.block_keys)])
    }

    fn write_body(&self, keys: &[u64], max_bytes: usize, _: &BodyOrder<'_>) -> Result<Vec<u8>, TooSmall> {
        write_body(*self, keys, max_bytes)
    }
}

integer_family!(SnarfSpec);

impl FilterFamily for SnarfSpec {
    const KIND: Kind = Kind::new(11, "snarf");
    const ABOUT: &'static str = "a model of the keys and Rice-coded positions: ranges of any length, unless they start right after a key";
    const EXAMPLE: &'static str = "snarf:block=128";
    const COSTS: ProbeCosts = ProbeCosts { integers_ns: 55.0, strings_ns: 20.0, probe_ns: 2.4, wait: 0.28 };

    type OverIntegers<B: FilterBytes> = IntegerFilter<B, Snarf>;
    type OverStrings<B: FilterBytes> = WindowedFilter<B, Snarf>;

    fn from_text(spec: &mut SpecText<'_>) -> Result<Self> {
        Ok(Self { block_keys: spec.take("block", *BLOCK_KEYS.start(), *BLOCK_KEYS.end())? })
    }
}
