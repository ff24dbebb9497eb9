//! Parameters of Bucketing.

use lacuna_base::Result;
use lacuna_succinct::elias_fano::Geometry;

use super::Bucketing;
use super::builder::write_body;
use super::codec::VERSION;
use super::cuts::NO_CUT;
use crate::costs::ProbeCosts;
use crate::family::FilterFamily;
use crate::frame::FilterBytes;
use crate::geometry::GeometrySpec;
use crate::integer::{IntegerFilter, WindowedFilter};
use crate::integer_build::{BodyOrder, IntegerSpec, TooSmall, integer_family};
use crate::kind::Kind;
use crate::spec_text::{SpecText, spec_text};

/// Bucketing; everything follows from the budget.
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, FilterSpec, SortedKeys, U64Range};
/// use lacuna_families::BucketingSpec;
///
/// let keys: Vec<u64> = (0..1_000).map(|i| i * i * 1_000_003).collect();
/// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(16.0)?);
/// let sealed = BucketingSpec::new().build(SortedKeys::integers(&keys)?, &plan)?;
/// let filter = lacuna_families::open::<u64, _>(sealed)?;
/// assert!(filter.may_contain_range(U64Range::new(keys[7] - 3, keys[7]).expect("not inverted")));
/// assert!(!filter.may_contain_range(U64Range::new(keys[7] + (1 << 20), keys[8] - (1 << 20)).expect("not inverted")));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BucketingSpec {
    gap_log2: Option<u32>,
    geometry: GeometrySpec,
}

impl BucketingSpec {
    /// Bucketing as it should be used.
    pub fn new() -> Self {
        Self::default()
    }

    /// No gap is left out: questions do not search a table, and are "maybe" more often where keys are clustered.
    pub(crate) fn uncut() -> Self {
        Self { gap_log2: Some(NO_CUT), ..Self::default() }
    }

    /// Gaps to leave out, from this size on, as a power of two.
    pub(crate) fn gap_log2(self) -> Option<u32> {
        self.gap_log2
    }

    pub(crate) fn geometry(self) -> Geometry {
        self.geometry.geometry()
    }
}

impl IntegerSpec for BucketingSpec {
    const VERSION: u16 = VERSION;

    fn text(&self) -> String {
        let [slice, heavy] = self.geometry.parameters();
        spec_text(BucketingSpec::KIND.name(), &[("gap", self.gap_log2), slice, heavy])
    }

    fn write_body(&self, keys: &[u64], max_bytes: usize, order: &BodyOrder<'_>) -> Result<Vec<u8>, TooSmall> {
        write_body(*self, keys, max_bytes, order.threads)
    }
}

integer_family!(BucketingSpec);

impl FilterFamily for BucketingSpec {
    const KIND: Kind = Kind::new(4, "bucketing");
    const ABOUT: &'static str =
        "which buckets of keys are occupied: ranges of any length, unless they start right after a key";
    const EXAMPLE: &'static str = "bucketing";
    const COSTS: ProbeCosts = ProbeCosts { integers_ns: 34.0, strings_ns: 12.0, probe_ns: 8.2, wait: 0.46 };

    type OverIntegers<B: FilterBytes> = IntegerFilter<B, Bucketing>;
    type OverStrings<B: FilterBytes> = WindowedFilter<B, Bucketing>;

    fn from_text(spec: &mut SpecText<'_>) -> Result<Self> {
        Ok(Self { gap_log2: spec.take("gap", 1, NO_CUT)?, geometry: GeometrySpec::from_text(spec)? })
    }
}
