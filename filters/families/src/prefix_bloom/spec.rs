//! Parameters of the prefix Bloom filter.

use lacuna_base::Result;

use super::PrefixBloom;
use super::builder::write_body;
use super::codec::{HEADER_BYTES, VERSION};
use crate::bloom::MAX_POINTS;
use crate::costs::ProbeCosts;
use crate::family::FilterFamily;
use crate::frame::FilterBytes;
use crate::integer::{IntegerFilter, WindowedFilter};
use crate::integer_build::{BodyOrder, IntegerSpec, TooSmall, integer_family};
use crate::kind::Kind;
use crate::proteus::cpfpr::{EmptyQueries, LOOKED_AT, Model, Task};
use crate::proteus::prefix_key::Aligned;
use crate::spec_text::{SpecText, spec_text};

/// Keys a prefix spans when neither spec nor sample says anything: 32, a short scan.
pub(super) const DEFAULT_SPAN_LOG2: u32 = 5;

/// A prefix Bloom filter.
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, FilterSpec, SortedKeys, U64Range};
/// use lacuna_families::PrefixBloomSpec;
///
/// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(14.0)?);
/// let spec = PrefixBloomSpec::new().with_prefix_bits(61);
/// let filter = lacuna_families::open::<u64, _>(spec.build(SortedKeys::integers(&[17, 22, 99])?, &plan)?)?;
/// assert!(filter.may_contain_range(U64Range::new(16, 17).expect("not inverted")));
/// assert!(!filter.may_contain_range(U64Range::new(24, 31).expect("not inverted")));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PrefixBloomSpec {
    prefix_bits: Option<u32>,
}

impl PrefixBloomSpec {
    /// The length of the prefix follows from the sampled queries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the length of the prefix, 1 to 64 bits.
    #[must_use]
    pub fn with_prefix_bits(mut self, prefix_bits: u32) -> Self {
        self.prefix_bits = Some(prefix_bits.clamp(1, 64));
        self
    }

    /// The length of the prefix, if it is set.
    pub(super) fn prefix_bits(self) -> Option<u32> {
        self.prefix_bits
    }

    /// Low bits of a key that its prefix leaves out.
    fn dropped_bits(self, keys: &[u64], max_bytes: usize, order: &BodyOrder<'_>) -> u32 {
        match self.prefix_bits {
            Some(bits) => order.key_bits.saturating_sub(bits),
            None => modelled_bits(keys, max_bytes, order)
                .map_or(DEFAULT_SPAN_LOG2, |bits| order.key_bits - bits)
                .min(63),
        }
    }
}

/// The length with the lowest rate on the sample's empty queries, if there are any.
fn modelled_bits(keys: &[u64], max_bytes: usize, order: &BodyOrder<'_>) -> Option<u32> {
    let keys = Aligned::new(keys, order.key_bits);
    let queries = EmptyQueries::of(keys.queries(&(order.sample_ranges)()), &keys);
    let task = Task {
        room: max_bytes - HEADER_BYTES,
        trie_bits: Some(0),
        bloom_bits: None,
        probes: MAX_POINTS,
        all_lengths: true,
        threads: 1,
        looked_at: LOOKED_AT,
    };
    if queries.count == 0 {
        return None;
    }
    Model::of(&keys, &queries, task).best().map(|design| design.bloom_bits)
}

impl IntegerSpec for PrefixBloomSpec {
    const VERSION: u16 = VERSION;

    fn text(&self) -> String {
        spec_text(PrefixBloomSpec::KIND.name(), &[("bits", self.prefix_bits)])
    }

    fn write_body(&self, keys: &[u64], max_bytes: usize, order: &BodyOrder<'_>) -> Result<Vec<u8>, TooSmall> {
        Ok(write_body(self.dropped_bits(keys, max_bytes, order), keys, max_bytes, order.seed))
    }
}

integer_family!(PrefixBloomSpec);

impl FilterFamily for PrefixBloomSpec {
    const KIND: Kind = Kind::new(3, "prefix_bloom");
    const ABOUT: &'static str = "Bloom filter of the leading bits of each key: ranges of up to 64 prefixes";
    const EXAMPLE: &'static str = "prefix_bloom:bits=44";
    const COSTS: ProbeCosts = ProbeCosts { integers_ns: 16.0, strings_ns: 3.0, probe_ns: 3.2, wait: 0.7 };

    type OverIntegers<B: FilterBytes> = IntegerFilter<B, PrefixBloom>;
    type OverStrings<B: FilterBytes> = WindowedFilter<B, PrefixBloom>;

    fn from_text(spec: &mut SpecText<'_>) -> Result<Self> {
        Ok(Self { prefix_bits: spec.take("bits", 1, 64)? })
    }
}
