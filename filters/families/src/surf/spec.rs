//! Parameters of SuRF.

use lacuna_base::{BuildFromKeys, BuildPlan, Result, Sealed, SortedKeys};

use super::builder::{build_bytes, build_u64};
use super::filter::Surf;
use super::predict::{SurfPrediction, predict_bytes, predict_u64};
use crate::costs::ProbeCosts;
use crate::family::FilterFamily;
use crate::frame::FilterBytes;
use crate::kind::Kind;

use crate::spec_text::{SpecText, spec_text};

/// A SuRF: by default with as many real bits as the budget leaves.
///
/// As text: `surf`; `surf:real=0` (the paper's Base), `surf:hash=4` (Hash), `surf:real=4` (Real), `surf:hash=4,real=4`
/// (Mixed), each with `cut` to keep only as many levels as the budget holds.
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, ByteColumn, ByteRange, FilterSpec, SortedKeys};
/// use lacuna_families::SurfSpec;
///
/// let keys: ByteColumn = ["SIGAI", "SIGMOD", "SIGOPS"].iter().collect();
/// let plan = BuildPlan::<[u8]>::new(Budget::bits_per_key(128.0)?);
/// let sealed = SurfSpec::new().with_real_bits(8).build(SortedKeys::byte_strings(&keys)?, &plan)?;
/// let filter = lacuna_families::open::<[u8], _>(sealed)?;
/// assert!(filter.may_contain(b"SIGMOD"));
/// assert!(!filter.may_contain(b"SIGMETRICS"));
/// assert!(!filter.may_contain_range(ByteRange::new(b"SIGN", b"SIGNZ").expect("in order")));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SurfSpec {
    hash_bits: Option<u32>,
    real_bits: Option<u32>,
    cut: bool,
}

impl SurfSpec {
    /// Most suffix bits of a key, hash and real together.
    pub const MAX_BITS: u32 = 64;

    /// Real bits as the budget leaves them, no hash bits.
    pub fn new() -> Self {
        Self::default()
    }

    /// The trie alone, without suffixes.
    pub fn base() -> Self {
        Self::new().with_real_bits(0)
    }

    /// Sets the hash bits of each key, 0 to 64; unless real bits are set too, there are none then.
    #[must_use]
    pub fn with_hash_bits(mut self, bits: u32) -> Self {
        self.hash_bits = Some(bits.min(Self::MAX_BITS));
        self
    }

    /// Sets the real bits of each key, 0 to 64; with hash bits, at most 64 together.
    #[must_use]
    pub fn with_real_bits(mut self, bits: u32) -> Self {
        self.real_bits = Some(bits.min(Self::MAX_BITS));
        self
    }

    /// Keeps only as many levels as fit where the whole trie does not, instead of refusing the budget.
    #[must_use]
    pub fn with_cut(mut self) -> Self {
        self.cut = true;
        self
    }

    /// Hash bits of each key.
    pub(crate) fn hash_bits(self) -> u32 {
        self.hash_bits.unwrap_or(0)
    }

    /// Real bits of each key; `None`: what the budget leaves.
    pub(crate) fn real_bits(self) -> Option<u32> {
        let max = Self::MAX_BITS - self.hash_bits();
        let unset = self.hash_bits.map(|_| 0);
        self.real_bits.or(unset).map(|bits| bits.min(max))
    }

    /// Whether a trie that does not fit is cut.
    pub(crate) fn is_cut(self) -> bool {
        self.cut
    }

    fn text(self) -> String {
        let mut text =
            spec_text(SurfSpec::KIND.name(), &[("hash", self.hash_bits), ("real", self.real_bits)]);
        if self.cut {
            text.push(if text.contains(':') { ',' } else { ':' });
            text.push_str("cut");
        }
        text
    }

    /// The prediction for the filter over `keys`: its size, and its rate on the plan's sample, without building it.
    ///
    /// The rate is exact, not a model: it looks at the keys next to each query as the filter would see them.
    ///
    /// # Errors
    /// As building.
    pub fn predict(&self, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Result<SurfPrediction> {
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
    ) -> Result<SurfPrediction> {
        predict_bytes(*self, keys, plan)
    }
}

impl BuildFromKeys<u64> for SurfSpec {
    fn spec_name(&self) -> String {
        self.text()
    }
    fn build_from(&self, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Result<Sealed> {
        build_u64(*self, keys, plan)
    }
}

impl BuildFromKeys<[u8]> for SurfSpec {
    fn spec_name(&self) -> String {
        self.text()
    }
    fn build_from(&self, keys: SortedKeys<'_, [u8]>, plan: &BuildPlan<[u8]>) -> Result<Sealed> {
        build_bytes(*self, keys, plan)
    }
}

impl FilterFamily for SurfSpec {
    const KIND: Kind = Kind::new(7, "surf");
    const ABOUT: &'static str =
        "a succinct trie of the keys' first bytes: points and ranges of any length, next keys, counts";
    const EXAMPLE: &'static str = "surf:hash=4,real=4,cut";
    const COSTS: ProbeCosts = ProbeCosts { integers_ns: 0.0, strings_ns: 0.0, probe_ns: 14.6, wait: 0.54 };

    type OverIntegers<B: FilterBytes> = Surf<u64, B>;
    type OverStrings<B: FilterBytes> = Surf<[u8], B>;

    fn from_text(spec: &mut SpecText<'_>) -> Result<Self> {
        let hash_bits = spec.take("hash", 0, Self::MAX_BITS)?;
        let real_bits = spec.take("real", 0, Self::MAX_BITS - hash_bits.unwrap_or(0))?;
        Ok(Self { hash_bits, real_bits, cut: spec.take_flag("cut") })
    }
}
