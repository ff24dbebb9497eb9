//! Parameters of the cuckoo filter.

use lacuna_base::{BuildFromKeys, BuildPlan, Result, Sealed, SortedKeys};

use super::Cuckoo;
use super::builder::{build_bytes, build_u64};
use crate::costs::ProbeCosts;
use crate::family::FilterFamily;
use crate::frame::FilterBytes;
use crate::integer::IntegerFilter;
use crate::kind::Kind;
use crate::points::{HashedFilter, Points};
use crate::spec_text::{SpecText, spec_text};

/// A cuckoo filter: at one to three percent and below smaller than a Bloom filter, and two cache lines a question.
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, FilterSpec, SortedKeys};
/// use lacuna_families::CuckooSpec;
///
/// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(14.0)?);
/// let sealed = CuckooSpec::new().build(SortedKeys::integers(&[3, 5, 8, 13])?, &plan)?;
/// let filter = lacuna_families::open::<u64, _>(sealed)?;
/// assert!(filter.may_contain(5));
/// assert!(!filter.may_contain(99));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CuckooSpec {
    fingerprint_bits: Option<u32>,
}

impl CuckooSpec {
    /// Fingerprints as long as the budget allows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the most bits of a fingerprint, 4 to 32; what the budget leaves goes into more buckets.
    #[must_use]
    pub(crate) fn with_fingerprint_bits(mut self, bits: u32) -> Self {
        self.fingerprint_bits = Some(bits.clamp(4, 32));
        self
    }

    /// Most bits of a fingerprint.
    pub(crate) fn max_bits(self) -> u32 {
        self.fingerprint_bits.unwrap_or(32)
    }

    fn text(self) -> String {
        spec_text(CuckooSpec::KIND.name(), &[("bits", self.fingerprint_bits)])
    }
}

impl BuildFromKeys<u64> for CuckooSpec {
    fn spec_name(&self) -> String {
        self.text()
    }
    fn build_from(&self, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Result<Sealed> {
        build_u64(*self, keys, plan)
    }
}

impl BuildFromKeys<[u8]> for CuckooSpec {
    fn spec_name(&self) -> String {
        self.text()
    }
    fn build_from(&self, keys: SortedKeys<'_, [u8]>, plan: &BuildPlan<[u8]>) -> Result<Sealed> {
        build_bytes(*self, keys, plan)
    }
}

impl FilterFamily for CuckooSpec {
    const KIND: Kind = Kind::new(12, "cuckoo");
    const ABOUT: &'static str = "cuckoo filter, two cache misses a key: points, and ranges of up to 64 keys; its live twin forgets keys";
    const EXAMPLE: &'static str = "cuckoo:bits=12";
    // Not measured: the designer has no use for deletion, so the family does not take part.
    const COSTS: ProbeCosts = ProbeCosts { integers_ns: 4.0, strings_ns: 14.0, probe_ns: 4.0, wait: 0.9 };

    type OverIntegers<B: FilterBytes> = IntegerFilter<B, Points<Cuckoo>>;
    type OverStrings<B: FilterBytes> = HashedFilter<B, Cuckoo>;

    fn from_text(spec: &mut SpecText<'_>) -> Result<Self> {
        Ok(Self { fingerprint_bits: spec.take("bits", 4, 32)? })
    }
}
