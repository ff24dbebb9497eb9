//! Parameters of the ribbon filter.

use lacuna_base::{Error, Result};

use super::builder::write_body;
use super::codec::{MAX_BLOCK_LOG2, MAX_CELL_LOG2, MAX_PLANES, VERSION};
use super::query::Ribbon;
use crate::costs::ProbeCosts;
use crate::family::FilterFamily;
use crate::frame::FilterBytes;
use crate::grafite::GrafiteSpec;
use crate::integer::{IntegerFilter, WindowedFilter};
use crate::integer_build::{BodyOrder, IntegerSpec, TooSmall, integer_family};
use crate::kind::Kind;
use crate::spec_text::{SpecText, spec_text_with_flags};

/// The ribbon filter; everything follows from the budget, the keys and the lengths of the sampled ranges.
///
/// As text `ribbon`; `ribbon:unsampled` to leave the sample aside, so that the filter is as good after the queries have
/// changed: ranges of 1, 32 and 1,024 keys count the same; `ribbon:secret` to hash under the plan's secret, so that the bound
/// holds against those who choose their queries.
///
/// `ribbon:cell=C` takes keys by cells of `2^C` keys: the rate of a range of up to a cell does not grow with its length, but a
/// range that shares a cell with a key is "maybe", and no bound is left. `ribbon:cell=C,near=PERCENT` is both: that part of
/// the bytes for a filter with a bound, the rest for one of cells, and a "maybe" if both say so. `auto` chooses among these.
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, FilterSpec, SortedKeys, U64Range};
/// use lacuna_families::RibbonSpec;
///
/// let keys: Vec<u64> = (0..10_000).map(|i| i * i * 1_000_003).collect();
/// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(16.0)?).with_seed(42);
/// let sealed = RibbonSpec::default().build(SortedKeys::integers(&keys)?, &plan)?;
/// let filter = lacuna_families::open::<u64, _>(sealed)?;
/// assert!(filter.may_contain_range(U64Range::new(keys[7] - 3, keys[7]).expect("not inverted")));
/// assert!(filter.rate_bound(32) < 0.001);
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RibbonSpec {
    is_unsampled: bool,
    wants_secret: bool,
    block_log2: Option<u32>,
    planes: Option<u32>,
    window: Option<u32>,
    min_layer: Option<u32>,
    cell_log2: Option<u32>,
    near_percent: Option<u32>,
}

/// The flag for a filter that does not depend on the sample.
const UNSAMPLED: &str = "unsampled";
/// The flag for a filter that hashes under a secret.
const SECRET: &str = "secret";
/// Layers of fewer blocks cost more than the spill would.
const MIN_LAYER: u32 = 256;

impl RibbonSpec {
    /// A filter whose bytes do not depend on the sample.
    pub fn unsampled() -> Self {
        Self { is_unsampled: true, ..Self::default() }
    }

    /// Hashes under the plan's [secret](lacuna_base::BuildPlan::with_secret), and asks for one.
    #[must_use]
    pub fn with_secret(mut self) -> Self {
        self.wants_secret = true;
        self
    }

    pub(crate) fn wants_secret(self) -> bool {
        self.wants_secret
    }

    /// What all keys are in where they are spilled.
    pub(crate) fn spill(self) -> GrafiteSpec {
        if self.wants_secret { GrafiteSpec::new().with_secret() } else { GrafiteSpec::new() }
    }

    pub(crate) fn is_unsampled(self) -> bool {
        self.is_unsampled
    }

    /// The size of a block to use, as a power of two.
    pub(crate) fn block_log2(self) -> Option<u32> {
        self.block_log2
    }

    /// The number of planes to use.
    pub(crate) fn planes(self) -> Option<u32> {
        self.planes
    }

    /// Rows that a value may be the sum of.
    pub(crate) fn window(self) -> u32 {
        self.window.unwrap_or(32)
    }

    /// Fewest blocks of a layer after the first.
    pub(crate) fn min_layer(self) -> u64 {
        u64::from(self.min_layer.unwrap_or(MIN_LAYER))
    }

    /// Takes keys by cells of `2^cell_log2` keys.
    pub(crate) fn with_cells(self, cell_log2: u32) -> Self {
        Self { cell_log2: Some(cell_log2), ..self }
    }

    /// Gives `percent` of the bytes to a half that takes keys as they are.
    pub(crate) fn with_near(self, percent: u32) -> Self {
        Self { near_percent: Some(percent), ..self }
    }

    /// Size of the cells that keys are taken by, as a power of two; of the far half, if there is a near one.
    pub(crate) fn cell_log2(self) -> u32 {
        self.cell_log2.unwrap_or(0)
    }

    /// Percent of the bytes of the half that takes keys as they are; `None` if there is one part alone.
    pub(crate) fn near_percent(self) -> Option<u32> {
        self.near_percent
    }
}

/// What a near half may have of the bytes, in percent.
pub(super) const NEAR_PERCENT: std::ops::RangeInclusive<u32> = 10..=90;

/// Sampled ranges that are looked at, and empty ones among them.
const MAX_RANGES: usize = 20_000;
const MAX_EMPTY: usize = 1_000;

/// The ranges that a filter of these keys is asked for and should deny: those without a key, between the smallest and the largest.
fn empty_ranges(keys: &[u64], ranges: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let is_inside = |&&(lo, hi): &&(u64, u64)| {
        let next = keys.partition_point(|&key| key < lo);
        next > 0 && keys.get(next).is_some_and(|&key| key > hi)
    };
    let looked_at = ranges.iter().step_by(ranges.len().div_ceil(MAX_RANGES).max(1));
    let empty: Vec<(u64, u64)> = looked_at.filter(is_inside).copied().collect();
    let step = empty.len().div_ceil(MAX_EMPTY).max(1);
    empty.into_iter().step_by(step).collect()
}

impl IntegerSpec for RibbonSpec {
    const VERSION: u16 = VERSION;

    fn text(&self) -> String {
        let parameters = [
            ("block", self.block_log2),
            ("planes", self.planes),
            ("window", self.window),
            ("layer", self.min_layer),
            ("cell", self.cell_log2),
            ("near", self.near_percent),
        ];
        let flags = [(self.is_unsampled, UNSAMPLED), (self.wants_secret, SECRET)];
        let flags: Vec<&str> =
            flags.into_iter().filter_map(|(is_set, flag)| is_set.then_some(flag)).collect();
        spec_text_with_flags(RibbonSpec::KIND.name(), &flags, &parameters)
    }

    fn wants_secret(&self) -> bool {
        self.wants_secret
    }

    fn write_body(&self, keys: &[u64], max_bytes: usize, order: &BodyOrder<'_>) -> Result<Vec<u8>, TooSmall> {
        let ranges = if self.is_unsampled { Vec::new() } else { (order.sample_ranges)() };
        let empty = empty_ranges(keys, &ranges);
        write_body(*self, keys, max_bytes, order.hashing(keys, self.wants_secret), &empty, order.threads)
    }
}

integer_family!(RibbonSpec);

impl FilterFamily for RibbonSpec {
    const KIND: Kind = Kind::new(13, "ribbon");
    const ABOUT: &'static str =
        "the lowest rate that is bounded for any keys and any queries, in proportion to the range's length";
    const EXAMPLE: &'static str = "ribbon";
    const COSTS: ProbeCosts = ProbeCosts { integers_ns: 20.0, strings_ns: 20.0, probe_ns: 6.5, wait: 0.8 };

    type OverIntegers<B: FilterBytes> = IntegerFilter<B, Ribbon>;
    type OverStrings<B: FilterBytes> = WindowedFilter<B, Ribbon>;

    fn from_text(spec: &mut SpecText<'_>) -> Result<Self> {
        let read = Self {
            is_unsampled: spec.take_flag(UNSAMPLED),
            wants_secret: spec.take_flag(SECRET),
            block_log2: spec.take("block", 0, MAX_BLOCK_LOG2)?,
            planes: spec.take("planes", 1, MAX_PLANES)?,
            window: spec.take("window", 1, 32)?,
            min_layer: spec.take("layer", 1, u32::MAX)?,
            cell_log2: spec.take("cell", 0, MAX_CELL_LOG2)?,
            near_percent: spec.take("near", *NEAR_PERCENT.start(), *NEAR_PERCENT.end())?,
        };
        match (read.block_log2, read.planes, read.near_percent) {
            (Some(block), Some(planes), _) if block > planes => Err(Error::invalid_input(format!(
                "ribbon:block={block},planes={planes} leaves no plane for check bits: give at least as many planes as the block has bits"
            ))),
            (_, _, Some(near)) if read.cell_log2() == 0 => Err(Error::invalid_input(format!(
                "ribbon:near={near} is a half beside one of cells: give their size, such as `cell=24`"
            ))),
            _ => Ok(read),
        }
    }
}
