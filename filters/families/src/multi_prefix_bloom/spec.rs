//! Parameters of several prefix Bloom filters.

use lacuna_base::{BuildFromKeys, BuildPlan, Error, Result, Sealed, SortedKeys};

use super::MultiPrefixBloom;
use super::builder::write_body;
use super::codec::{MAX_BITS, MAX_LENGTHS, MAX_PROBES, VERSION};
use super::design::{Level, Search};
use super::facts::Facts;
use crate::bloom::BloomSpec;
use crate::costs::ProbeCosts;
use crate::designer::assumed_integers;
use crate::family::FilterFamily;
use crate::frame::FilterBytes;
use crate::integer::IntegerFilter;
use crate::integer_build::{BodyOrder, IntegerSpec, TooSmall, build_u64};
use crate::kind::Kind;
use crate::probe_bound::{ProbeBound, USUAL_PROBES};
use crate::proteus::cpfpr::{EmptyQueries, LOOKED_AT};
use crate::proteus::filter::StringPrefixes;
use crate::proteus::prefix_key::PrefixKeys;
use crate::proteus::space::{Asked, PrefixSpec, build_bytes};
use crate::spec_text::{SpecText, list_text, spec_text};

/// Several prefix Bloom filters: by default with the lengths that the sampled queries ask for.
///
/// As text: `multi_prefix_bloom`; `multi_prefix_bloom:lengths=72+120` (prefixes of 72 bits, and of 120),
/// `multi_prefix_bloom:lengths=72+120,hashes=6+7` (a prefix of 72 bits sets 6, one of 120 sets 7; they are
/// asked in this order), `multi_prefix_bloom:probes=9`
/// (a length of which a query touches more prefixes is not asked), and `multi_prefix_bloom:probes=max` (as many as 2^24).
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, ByteColumn, ByteRange, FilterSpec, SortedKeys};
/// use lacuna_families::MultiPrefixBloomSpec;
///
/// let keys: ByteColumn = ["alpha/one", "alpha/two", "beta"].into_iter().collect();
/// let plan = BuildPlan::<[u8]>::new(Budget::bits_per_key(60.0)?);
/// let spec = MultiPrefixBloomSpec::new().with_lengths(&[8, 72]);
/// let sealed = spec.build(SortedKeys::byte_strings(&keys)?, &plan)?;
/// let filter = lacuna_families::open::<[u8], _>(sealed)?;
/// assert!(filter.may_contain_range(ByteRange::new(b"alpha/tea", b"alpha/two").expect("in order")));
/// assert!(!filter.may_contain_range(ByteRange::new(b"alpha/too", b"alpha/tor").expect("in order")));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MultiPrefixBloomSpec {
    /// In bits; empty if the sample decides.
    lengths: Vec<u32>,
    /// For each length; empty if the sample decides.
    hash_counts: Vec<u32>,
    probes: ProbeBound<MAX_PROBES>,
}

impl MultiPrefixBloomSpec {
    /// Lengths and hashes follow from the sampled queries; without any between two keys, from those that `auto` assumes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the lengths in bits, 1 to 524,280, at most eight of them. The sample decides how many bits a prefix of each sets, and
    /// in which order they are asked.
    #[must_use]
    pub fn with_lengths(mut self, lengths: &[u32]) -> Self {
        self.lengths = lengths.iter().take(MAX_LENGTHS).map(|bits| (*bits).clamp(1, MAX_BITS)).collect();
        self.hash_counts = Vec::new();
        self
    }

    /// Sets the lengths in bits, as [`with_lengths`](Self::with_lengths), and the bits that each prefix of it sets, 1 to 32; they are
    /// asked in this order.
    #[must_use]
    pub fn with_levels(self, levels: &[(u32, u32)]) -> Self {
        let (lengths, hash_counts): (Vec<u32>, Vec<u32>) = levels.iter().copied().unzip();
        let mut spec = self.with_lengths(&lengths);
        let hash_counts = hash_counts.iter().take(MAX_LENGTHS);
        spec.hash_counts = hash_counts.map(|count| (*count).clamp(1, BloomSpec::MAX_HASHES)).collect();
        spec
    }

    /// Sets how many prefixes of a length a query asks for at most, 1 to 2^24.
    #[must_use]
    pub fn with_probes(mut self, probes: u32) -> Self {
        self.probes = ProbeBound::new(probes);
        self
    }

    pub(super) fn probes(&self) -> u32 {
        self.probes.or(USUAL_PROBES)
    }

    /// With exactly these levels.
    pub(super) fn of_levels(self, levels: &[Level]) -> Self {
        let levels: Vec<(u32, u32)> = levels.iter().map(|level| (level.bits, level.hash_count)).collect();
        self.with_levels(&levels)
    }

    /// The levels that are given, if they are; lengths beyond `longest` bits are that of the longest key.
    pub(super) fn given(&self, longest: u32) -> Option<Vec<Level>> {
        if self.lengths.is_empty() || self.hash_counts.is_empty() {
            return None;
        }
        let mut levels: Vec<Level> = Vec::with_capacity(self.lengths.len());
        for (&bits, &hash_count) in self.lengths.iter().zip(&self.hash_counts) {
            let level = Level { bits: bits.min(longest), hash_count };
            if levels.iter().all(|other| other.bits != level.bits) {
                levels.push(level);
            }
        }
        Some(levels)
    }

    /// The lengths that are given, ascending.
    pub(super) fn given_lengths(&self, longest: u32) -> Option<Vec<u32>> {
        if self.lengths.is_empty() {
            return None;
        }
        let mut lengths: Vec<u32> = self.lengths.iter().map(|&bits| bits.min(longest)).collect();
        lengths.sort_unstable();
        lengths.dedup();
        Some(lengths)
    }

    /// What is known of `queries` among `keys`, for the lengths that are given or may be of use.
    pub(super) fn facts<S: PrefixKeys + ?Sized>(
        &self,
        keys: &S,
        queries: &EmptyQueries<S::Key>,
        looked_at: usize,
    ) -> Facts {
        let lengths = self.given_lengths(keys.longest_bits());
        Facts::of(keys, queries, lengths, u64::from(self.probes()), looked_at)
    }

    /// The levels that `search` finds with what is given.
    pub(super) fn choose(&self, search: &Search<'_>) -> Vec<Level> {
        if self.lengths.is_empty() { search.best() } else { search.all() }
    }
}

impl IntegerSpec for MultiPrefixBloomSpec {
    const VERSION: u16 = VERSION;

    fn text(&self) -> String {
        let lists = [("lengths", list_text(&self.lengths)), ("hashes", list_text(&self.hash_counts))];
        self.probes.appended_to(spec_text(MultiPrefixBloomSpec::KIND.name(), &lists))
    }

    fn write_body(&self, keys: &[u64], max_bytes: usize, order: &BodyOrder<'_>) -> Result<Vec<u8>, TooSmall> {
        let sorted = SortedKeys::integers(keys).expect("ascending");
        let asked =
            Asked { sampled: order.sample_ranges, assumed: &|| assumed_integers(sorted).iter().collect() };
        self.write_prefixes(keys, &asked, order.seed, max_bytes)
    }
}

impl PrefixSpec for MultiPrefixBloomSpec {
    fn write_prefixes<S: PrefixKeys + ?Sized>(
        &self,
        keys: &S,
        asked: &Asked<'_, S::Key>,
        seed: u64,
        max_bytes: usize,
    ) -> Result<Vec<u8>, TooSmall> {
        let levels = self.given(keys.longest_bits()).unwrap_or_else(|| {
            let sampled = EmptyQueries::of((asked.sampled)(), keys);
            let queries = match sampled.inside.is_empty() {
                true => EmptyQueries::of((asked.assumed)(), keys),
                false => sampled,
            };
            let facts = self.facts(keys, &queries, LOOKED_AT);
            self.choose(&Search::new(&facts, &facts.shares, max_bytes))
        });
        write_body(keys, &levels, self.probes(), seed, max_bytes)
    }
}

impl BuildFromKeys<u64> for MultiPrefixBloomSpec {
    fn spec_name(&self) -> String {
        self.text()
    }
    fn build_from(&self, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Result<Sealed> {
        build_u64(self, keys, plan)
    }
}

impl BuildFromKeys<[u8]> for MultiPrefixBloomSpec {
    fn spec_name(&self) -> String {
        self.text()
    }
    fn build_from(&self, keys: SortedKeys<'_, [u8]>, plan: &BuildPlan<[u8]>) -> Result<Sealed> {
        build_bytes(self, keys, plan)
    }
}

impl FilterFamily for MultiPrefixBloomSpec {
    const KIND: Kind = Kind::new(14, "multi_prefix_bloom");
    const ABOUT: &'static str =
        "Bloom filters of key prefixes in up to eight lengths, designed for the sampled queries";
    const EXAMPLE: &'static str = "multi_prefix_bloom:lengths=24+44+58,hashes=3+4+5,probes=64";
    const COSTS: ProbeCosts = ProbeCosts { integers_ns: 30.0, strings_ns: 26.0, probe_ns: 3.4, wait: 0.68 };

    type OverIntegers<B: FilterBytes> = IntegerFilter<B, MultiPrefixBloom>;
    type OverStrings<B: FilterBytes> = StringPrefixes<B, MultiPrefixBloom>;

    fn from_text(spec: &mut SpecText<'_>) -> Result<Self> {
        let lengths = spec.take_list("lengths", 1..=MAX_BITS, MAX_LENGTHS)?;
        let hash_counts = spec.take_list("hashes", 1..=BloomSpec::MAX_HASHES, MAX_LENGTHS)?;
        if !hash_counts.is_empty() && hash_counts.len() != lengths.len() {
            return Err(Error::invalid_input(format!(
                "`hashes=` has {} numbers, and `lengths=` has {}: give one for each length",
                hash_counts.len(),
                lengths.len()
            )));
        }
        Ok(Self { lengths, hash_counts, probes: ProbeBound::from_text(spec)? })
    }
}
