//! Parameters of both Bloom filters.

use lacuna_base::{BuildFromKeys, BuildPlan, Result, Sealed, SortedKeys};

use super::builder::{Layout, build_bytes, build_u64};
use super::{BlockedBloom, Bloom};
use crate::costs::ProbeCosts;
use crate::family::FilterFamily;
use crate::frame::FilterBytes;
use crate::integer::IntegerFilter;
use crate::kind::Kind;
use crate::points::{HashedFilter, Points};
use crate::spec_text::{SpecText, spec_text};

/// A standard Bloom filter.
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, FilterSpec, SortedKeys};
/// use lacuna_families::BloomSpec;
///
/// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(14.0)?);
/// let sealed = BloomSpec::new().build(SortedKeys::integers(&[3, 5, 8, 13])?, &plan)?;
/// let filter = lacuna_families::open::<u64, _>(sealed)?;
/// assert!(filter.may_contain(5));
/// assert!(!filter.may_contain(99));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BloomSpec {
    hash_count: Option<u32>,
}

impl BloomSpec {
    /// Most bits a key sets.
    pub const MAX_HASHES: u32 = 32;

    /// The number of bits a key sets follows from the budget: `ln 2` times the bits per key.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many bits a key sets, 1 to 32.
    #[must_use]
    pub fn with_hash_count(mut self, hash_count: u32) -> Self {
        self.hash_count = Some(hash_count.clamp(1, Self::MAX_HASHES));
        self
    }

    /// The best number of bits a key sets at `bits_per_key`, unless the spec says otherwise.
    pub(crate) fn hash_count(self, bits_per_key: f64) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "clamped to 1..=32")]
        let best =
            (bits_per_key * std::f64::consts::LN_2).round().clamp(1.0, f64::from(Self::MAX_HASHES)) as u32;
        self.hash_count.unwrap_or(best)
    }

    fn text(self) -> String {
        spec_text(BloomSpec::KIND.name(), &[("k", self.hash_count)])
    }
}

/// A Bloom filter whose bits for a key stand in one cache line.
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, FilterSpec, SortedKeys};
/// use lacuna_families::BlockedBloomSpec;
///
/// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(14.0)?);
/// let sealed = BlockedBloomSpec::new().build(SortedKeys::integers(&[3, 5, 8, 13])?, &plan)?;
/// assert!(lacuna_families::open::<u64, _>(sealed)?.may_contain(5));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockedBloomSpec;

impl BlockedBloomSpec {
    /// It has no parameters; the number of bits a key sets follows from the budget.
    pub fn new() -> Self {
        Self
    }
}

impl BuildFromKeys<u64> for BloomSpec {
    fn spec_name(&self) -> String {
        self.text()
    }
    fn build_from(&self, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Result<Sealed> {
        Ok(build_u64(Layout::Standard(*self), keys, plan))
    }
}

impl BuildFromKeys<[u8]> for BloomSpec {
    fn spec_name(&self) -> String {
        self.text()
    }
    fn build_from(&self, keys: SortedKeys<'_, [u8]>, plan: &BuildPlan<[u8]>) -> Result<Sealed> {
        Ok(build_bytes(Layout::Standard(*self), keys, plan))
    }
}

impl BuildFromKeys<u64> for BlockedBloomSpec {
    fn spec_name(&self) -> String {
        BlockedBloomSpec::KIND.name().to_owned()
    }
    fn build_from(&self, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Result<Sealed> {
        Ok(build_u64(Layout::Blocked, keys, plan))
    }
}

impl BuildFromKeys<[u8]> for BlockedBloomSpec {
    fn spec_name(&self) -> String {
        BlockedBloomSpec::KIND.name().to_owned()
    }
    fn build_from(&self, keys: SortedKeys<'_, [u8]>, plan: &BuildPlan<[u8]>) -> Result<Sealed> {
        Ok(build_bytes(Layout::Blocked, keys, plan))
    }
}

impl FilterFamily for BloomSpec {
    const KIND: Kind = Kind::new(1, "bloom");
    const ABOUT: &'static str = "standard Bloom filter: points, and ranges of up to 64 keys";
    const EXAMPLE: &'static str = "bloom:k=7";
    const COSTS: ProbeCosts = ProbeCosts { integers_ns: 4.0, strings_ns: 5.0, probe_ns: 7.9, wait: 0.8 };

    type OverIntegers<B: FilterBytes> = IntegerFilter<B, Points<Bloom>>;
    type OverStrings<B: FilterBytes> = HashedFilter<B, Bloom>;

    fn from_text(spec: &mut SpecText<'_>) -> Result<Self> {
        Ok(Self { hash_count: spec.take("k", 1, Self::MAX_HASHES)? })
    }
}

impl FilterFamily for BlockedBloomSpec {
    const KIND: Kind = Kind::new(2, "blocked_bloom");
    const ABOUT: &'static str = "Bloom filter with one cache miss a key: points, and ranges of up to 64 keys";
    const EXAMPLE: &'static str = "blocked_bloom";
    const COSTS: ProbeCosts = ProbeCosts { integers_ns: 24.0, strings_ns: 25.0, probe_ns: 3.0, wait: 0.6 };

    type OverIntegers<B: FilterBytes> = IntegerFilter<B, Points<BlockedBloom>>;
    type OverStrings<B: FilterBytes> = HashedFilter<B, BlockedBloom>;

    fn from_text(_spec: &mut SpecText<'_>) -> Result<Self> {
        Ok(Self)
    }
}
