//! Parameters of two prefix Bloom filters.

use lacuna_base::{BuildPlan, Error, Result, SortedKeys};

use super::TwoPrefixBloom;
use super::body::{Cut, MAX_PROBES, VERSION, write_body};
use super::model::{TwoPrefixRate, TwoTask, designs};
use crate::costs::ProbeCosts;
use crate::family::FilterFamily;
use crate::frame::FilterBytes;
use crate::integer::{IntegerFilter, WindowedFilter};
use crate::integer_build::{BodyOrder, IntegerSpec, TooSmall, integer_family};
use crate::kind::Kind;
use crate::probe_bound::{ProbeBound, USUAL_PROBES};
use crate::proteus::cpfpr::EmptyQueries;
use crate::proteus::prefix_key::Aligned;
use crate::spec_text::{SpecText, spec_text};

/// Bits that long prefixes leave out where nothing is known of queries: 32 keys, a short scan.
const DEFAULT_SPAN_LOG2: u32 = 5;
/// Percent of the bytes for short prefixes where nothing is known of queries.
const DEFAULT_SHARE: u32 = 50;

/// Two prefix Bloom filters.
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, FilterSpec, SortedKeys, U64Range};
/// use lacuna_families::TwoPrefixBloomSpec;
///
/// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(24.0)?);
/// let spec = TwoPrefixBloomSpec::new().with_lengths(44, 62);
/// let keys: Vec<u64> = (0..100).map(|place| place << 40).collect();
/// let filter = lacuna_families::open::<u64, _>(spec.build(SortedKeys::integers(&keys)?, &plan)?)?;
/// assert!(filter.may_contain_range(U64Range::new(1 << 40, (1 << 40) + 9).expect("in order")));
/// let between = (1 << 40) + (1 << 30);
/// assert!(!filter.may_contain_range(U64Range::new(between, between + (1 << 24)).expect("in order")));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TwoPrefixBloomSpec {
    short_bits: Option<u32>,
    long_bits: Option<u32>,
    share: Option<u32>,
    probes: ProbeBound<MAX_PROBES>,
}

impl TwoPrefixBloomSpec {
    /// Lengths and shares follow from the sampled queries. Without any, long prefixes of 32 keys have all bytes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets both lengths in bits, `short_bits` below `long_bits`; 0 for no short prefixes.
    #[must_use]
    pub fn with_lengths(mut self, short_bits: u32, long_bits: u32) -> Self {
        let long_bits = long_bits.clamp(1, 64);
        self.long_bits = Some(long_bits);
        self.short_bits = Some(short_bits.min(long_bits - 1));
        self
    }

    /// Sets the percentage of the bytes for the short prefixes, 10 to 90.
    #[must_use]
    pub fn with_share(mut self, percent: u32) -> Self {
        self.share = Some(percent.clamp(10, 90));
        self
    }

    /// Sets how many prefixes of either length a query asks for at most, 1 to 2^24.
    #[must_use]
    pub fn with_probes(mut self, probes: u32) -> Self {
        self.probes = ProbeBound::new(probes);
        self
    }

    /// Prefixes of either length that a query asks for at most.
    pub(super) fn max_probes(&self) -> u64 {
        u64::from(self.probes.or(USUAL_PROBES))
    }

    fn task(&self, max_bytes: usize) -> TwoTask {
        TwoTask {
            max_bytes,
            short_bits: self.short_bits,
            long_bits: self.long_bits,
            share: self.share,
            probes: self.max_probes(),
        }
    }

    /// Every design that this spec leaves open for integers, with its expected rate on the plan's sample.
    pub fn designs(&self, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Vec<TwoPrefixRate> {
        let max_bytes = plan.budget().payload_bytes(keys.len());
        let keys = Aligned::new(keys.column(), u64::BITS);
        let queries = EmptyQueries::of(plan.sample().iter().collect(), &keys);
        designs(&keys, &queries, self.task(max_bytes))
    }

    /// The design that building over integers will choose, with its expected rate on the plan's sample; `None` without
    /// empty queries in it.
    pub fn predict(&self, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Option<TwoPrefixRate> {
        let max_bytes = plan.budget().payload_bytes(keys.len());
        self.choose(keys.column(), max_bytes, u64::BITS, plan.sample().iter().collect())
    }

    /// The design with the lowest rate.
    pub(super) fn choose(
        &self,
        keys: &[u64],
        max_bytes: usize,
        key_bits: u32,
        ranges: Vec<(u64, u64)>,
    ) -> Option<TwoPrefixRate> {
        let keys = Aligned::new(keys, key_bits);
        let queries = EmptyQueries::of(keys.queries(&ranges), &keys);
        if queries.count == 0 {
            return None;
        }
        let designs = designs(&keys, &queries, self.task(max_bytes)).into_iter();
        designs.reduce(|best, next| if next.rate < best.rate { next } else { best })
    }

    /// The body to write for keys of `order.key_bits` bits.
    fn cut(&self, keys: &[u64], max_bytes: usize, order: &BodyOrder<'_>) -> Cut {
        let bits = order.key_bits;
        let chosen = match (self.short_bits, self.long_bits, self.share) {
            (Some(short), Some(long), share) if short == 0 || share.is_some() => Some((short, long, share)),
            _ => self
                .choose(keys, max_bytes, bits, (order.sample_ranges)())
                .map(|design| (design.short_bits, design.long_bits, Some(design.share))),
        };
        let assumed = (
            self.short_bits.unwrap_or(0),
            self.long_bits.unwrap_or_else(|| {
                bits.saturating_sub(DEFAULT_SPAN_LOG2).max(self.short_bits.unwrap_or(0) + 1)
            }),
            self.share,
        );
        let (short, long, share) = chosen.unwrap_or(assumed);
        let long = long.clamp(1, bits);
        let short = if short > 0 && long > 1 { Some(bits - short.min(long - 1)) } else { None };
        let share = share.filter(|&share| share > 0).unwrap_or(DEFAULT_SHARE);
        Cut { short, long: bits - long, share, probes: self.probes.or(USUAL_PROBES) }
    }
}

impl IntegerSpec for TwoPrefixBloomSpec {
    const VERSION: u16 = VERSION;

    fn text(&self) -> String {
        let parameters = [("short", self.short_bits), ("long", self.long_bits), ("share", self.share)];
        self.probes.appended_to(spec_text(TwoPrefixBloomSpec::KIND.name(), &parameters))
    }

    fn write_body(&self, keys: &[u64], max_bytes: usize, order: &BodyOrder<'_>) -> Result<Vec<u8>, TooSmall> {
        Ok(write_body(self.cut(keys, max_bytes, order), keys, max_bytes, order.seed))
    }
}

integer_family!(TwoPrefixBloomSpec);

impl FilterFamily for TwoPrefixBloomSpec {
    const KIND: Kind = Kind::new(0x8000, "two_prefix_bloom");
    const ABOUT: &'static str =
        "two Bloom filters of key prefixes, short ones and long ones, designed for the sampled queries";
    const EXAMPLE: &'static str = "two_prefix_bloom:short=26,long=57,share=50,probes=64";
    const COSTS: ProbeCosts = ProbeCosts { integers_ns: 16.0, strings_ns: 3.0, probe_ns: 3.6, wait: 0.7 };

    type OverIntegers<B: FilterBytes> = IntegerFilter<B, TwoPrefixBloom>;
    type OverStrings<B: FilterBytes> = WindowedFilter<B, TwoPrefixBloom>;

    fn from_text(spec: &mut SpecText<'_>) -> Result<Self> {
        let (short_bits, long_bits) = (spec.take("short", 0, 63)?, spec.take("long", 1, 64)?);
        if short_bits.is_some_and(|short| long_bits.is_some_and(|long| short >= long)) {
            return Err(Error::invalid_input("short prefixes must be shorter than long ones"));
        }
        let share = spec.take("share", 10, 90)?;
        Ok(Self { short_bits, long_bits, share, probes: ProbeBound::from_text(spec)? })
    }
}
