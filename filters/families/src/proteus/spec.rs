//! Parameters of Proteus.

use lacuna_base::{BuildFromKeys, BuildPlan, Error, Result, Sealed, SortedKeys};

use super::Proteus;
use super::builder::{write_asked, write_body, write_within};
use super::codec::{HEADER_BYTES, MAX_BITS, MAX_PROBES, VERSION};
use super::cpfpr::{EmptyQueries, KeyCounts, LOOKED_AT, Model, Observer, Phase, Task};
use super::design::{Design, DesignRate, usual_bloom_bits};
use super::filter::StringPrefixes;
use super::prefix_key::PrefixKeys;
use super::space::{Asked, PrefixSpec, build_bytes};
use crate::costs::ProbeCosts;
use crate::family::FilterFamily;
use crate::frame::FilterBytes;
use crate::integer::IntegerFilter;
use crate::integer_build::{BodyOrder, IntegerSpec, TooSmall, build_u64};
use crate::kind::Kind;
use crate::probe_bound::{ProbeBound, USUAL_PROBES};
use crate::spec_text::{SpecText, spec_text};

/// A Proteus: by default with the design that the sampled queries ask for.
///
/// As text: `proteus`; `proteus:trie=24,bloom=58` (this design), `proteus:trie=0,bloom=58` (a Bloom filter alone),
/// `proteus:trie=30,bloom=0` (a trie alone), `proteus:probes=9` (queries with more prefixes are "maybe"), and
/// `proteus:probes=max` (as many as 2^24, which is the paper's "all"). A length that is left out follows from the sample.
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, FilterSpec, SortedKeys, U64Range};
/// use lacuna_families::ProteusSpec;
///
/// let keys: Vec<u64> = (0..1_000).map(|place| place << 32 | 0x5555).collect();
/// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(14.0)?);
/// let spec = ProteusSpec::new().with_trie_bits(28).with_bloom_bits(56);
/// let filter = lacuna_families::open::<u64, _>(spec.build(SortedKeys::integers(&keys)?, &plan)?)?;
/// assert!(filter.may_contain_range(U64Range::new(7 << 32, 8 << 32).expect("in order")));
/// assert!(!filter.may_contain_range(U64Range::new(7 << 36, (7 << 36) + 99).expect("in order")));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProteusSpec {
    trie_bits: Option<u32>,
    bloom_bits: Option<u32>,
    probes: ProbeBound<MAX_PROBES>,
    threads: usize,
    all_lengths: bool,
    looked_at: Option<usize>,
}

impl ProteusSpec {
    /// Both lengths follow from the sampled queries. Without any, nothing is known but that queries are short: a trie
    /// of whole keys if it fits, else a Bloom filter of prefixes of 32 integers, or of a byte more than distinguishes
    /// 99 strings of 100 apart.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the depth of the trie in bits; 0 for none.
    #[must_use]
    pub fn with_trie_bits(mut self, bits: u32) -> Self {
        self.trie_bits = Some(bits.min(MAX_BITS));
        self
    }

    /// Sets the length of the prefixes in the Bloom filter in bits; 0 for none.
    #[must_use]
    pub fn with_bloom_bits(mut self, bits: u32) -> Self {
        self.bloom_bits = Some(bits.min(MAX_BITS));
        self
    }

    /// Sets how many prefixes a query asks for at most, 1 to 2^24.
    #[must_use]
    pub fn with_probes(mut self, probes: u32) -> Self {
        self.probes = ProbeBound::new(probes);
        self
    }

    /// Lets the model use this many threads; the bytes are the same.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Lets the model look at every prefix length of long keys, instead of 128 spread evenly.
    #[must_use]
    pub fn with_all_lengths(mut self) -> Self {
        self.all_lengths = true;
        self
    }

    /// Lets the model count the prefixes of this many keys, if there are more than twice as many.
    #[must_use]
    pub(crate) fn looking_at(mut self, keys: usize) -> Self {
        self.looked_at = Some(keys);
        self
    }

    fn probes(&self) -> u32 {
        self.probes.or(USUAL_PROBES)
    }

    /// The task of designing a body of at most `max_bytes`.
    pub(crate) fn task(&self, max_bytes: usize) -> Task {
        Task {
            room: max_bytes.saturating_sub(HEADER_BYTES),
            trie_bits: self.trie_bits,
            bloom_bits: self.bloom_bits,
            probes: u64::from(self.probes()),
            all_lengths: self.all_lengths,
            threads: self.threads,
            looked_at: self.looked_at.unwrap_or(LOOKED_AT),
        }
    }

    /// The design that is given, if both lengths are.
    fn given(&self, longest: u32) -> Option<Design> {
        let (trie_bits, bloom_bits) = (self.trie_bits?.min(longest), self.bloom_bits?.min(longest));
        let trie_bits = if bloom_bits > 0 { trie_bits.min(bloom_bits - 1) } else { trie_bits };
        if trie_bits | bloom_bits == 0 {
            None
        } else {
            Some(Design { trie_bits, bloom_bits, probes: self.probes() })
        }
    }

    /// The design for `keys`, and the empty queries it was designed for; the rate is unknown without any.
    pub(crate) fn choose<S: PrefixKeys + ?Sized>(
        &self,
        keys: &S,
        queries: &EmptyQueries<S::Key>,
        max_bytes: usize,
        ended: Observer<'_>,
    ) -> DesignRate {
        let task = self.task(max_bytes);
        let modelled = match queries.count {
            0 => None,
            _ => Model::observed(keys, queries, task, ended).best(),
        };
        ended(Phase::CalculateRates);
        modelled.unwrap_or_else(|| self.assumed(keys, task))
    }

    /// The design where nothing is known of queries.
    fn assumed(&self, keys: &(impl PrefixKeys + ?Sized), task: Task) -> DesignRate {
        let longest = keys.longest_bits();
        let counts = KeyCounts::of(keys, longest, task.looked_at);
        let exact = lacuna_succinct::trie::uniform::uniform_bytes(
            longest,
            |bits| counts.distinct(bits),
            |bits| counts.lone(bits),
        );
        let unknown = |trie_bits, bloom_bits, body_bytes| DesignRate {
            trie_bits,
            bloom_bits,
            rate: f64::NAN,
            prefixes: f64::NAN,
            body_bytes,
        };
        if exact <= task.room && self.trie_bits.is_none() && self.bloom_bits.is_none_or(|bits| bits == 0) {
            return unknown(longest, 0, exact);
        }
        if self.bloom_bits == Some(0) && self.trie_bits != Some(0) {
            let nothing = EmptyQueries { inside: Vec::new(), count: 0 };
            if let Some(deepest) = Model::of(keys, &nothing, task).designs().last() {
                return unknown(deepest.trie_bits, 0, deepest.body_bytes);
            }
        }
        let trie_bits = self.trie_bits.unwrap_or(0).min(longest);
        let bloom_bits =
            self.bloom_bits.filter(|&bits| bits > 0).unwrap_or_else(|| usual_bloom_bits(keys, &counts));
        let bloom_bits = bloom_bits.max(trie_bits + 1).min(longest);
        unknown(trie_bits, if bloom_bits > trie_bits { bloom_bits } else { 0 }, task.room)
    }
}

impl IntegerSpec for ProteusSpec {
    const VERSION: u16 = VERSION;

    fn text(&self) -> String {
        let lengths = [("trie", self.trie_bits), ("bloom", self.bloom_bits)];
        self.probes.appended_to(spec_text(ProteusSpec::KIND.name(), &lengths))
    }

    fn write_body(&self, keys: &[u64], max_bytes: usize, order: &BodyOrder<'_>) -> Result<Vec<u8>, TooSmall> {
        let asked = Asked { sampled: order.sample_ranges, assumed: &Vec::new };
        self.write_prefixes(keys, &asked, order.seed, max_bytes)
    }
}

impl PrefixSpec for ProteusSpec {
    fn write_prefixes<S: PrefixKeys + ?Sized>(
        &self,
        keys: &S,
        asked: &Asked<'_, S::Key>,
        seed: u64,
        max_bytes: usize,
    ) -> Result<Vec<u8>, TooSmall> {
        let key_count = keys.len();
        if let Some(design) = self.given(keys.longest_bits()) {
            return write_asked(keys, design, seed, max_bytes, key_count);
        }
        let queries = EmptyQueries::of((asked.sampled)(), keys);
        let design = self.design(keys, &queries, max_bytes);
        if self.trie_bits.is_some() {
            return write_asked(keys, design, seed, max_bytes, key_count);
        }
        if design.bloom_bits > 0 {
            return write_within(keys, design, seed, max_bytes);
        }
        write_body(keys, design, seed, max_bytes).or_else(|_| {
            // The size of a trie alone was estimated from some of the keys: now all are counted.
            let design = self.looking_at(keys.len()).design(keys, &queries, max_bytes);
            write_within(keys, design, seed, max_bytes)
        })
    }
}

impl ProteusSpec {
    fn design<S: PrefixKeys + ?Sized>(
        &self,
        keys: &S,
        queries: &EmptyQueries<S::Key>,
        max_bytes: usize,
    ) -> Design {
        let DesignRate { trie_bits, bloom_bits, .. } = self.choose(keys, queries, max_bytes, &mut |_| {});
        Design { trie_bits, bloom_bits, probes: self.probes() }
    }
}

impl BuildFromKeys<u64> for ProteusSpec {
    fn spec_name(&self) -> String {
        self.text()
    }
    fn build_from(&self, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Result<Sealed> {
        build_u64(self, keys, plan)
    }
}

impl BuildFromKeys<[u8]> for ProteusSpec {
    fn spec_name(&self) -> String {
        self.text()
    }
    fn build_from(&self, keys: SortedKeys<'_, [u8]>, plan: &BuildPlan<[u8]>) -> Result<Sealed> {
        build_bytes(self, keys, plan)
    }
}

impl FilterFamily for ProteusSpec {
    const KIND: Kind = Kind::new(8, "proteus");
    const ABOUT: &'static str =
        "a trie of short prefixes and a Bloom filter of longer ones, designed for the sampled queries";
    const EXAMPLE: &'static str = "proteus:trie=24,bloom=57,probes=64";
    const COSTS: ProbeCosts = ProbeCosts { integers_ns: 30.0, strings_ns: 26.0, probe_ns: 3.4, wait: 0.68 };

    type OverIntegers<B: FilterBytes> = IntegerFilter<B, Proteus>;
    type OverStrings<B: FilterBytes> = StringPrefixes<B, Proteus>;

    fn from_text(spec: &mut SpecText<'_>) -> Result<Self> {
        let trie_bits = spec.take("trie", 0, MAX_BITS)?;
        let bloom_bits = spec.take("bloom", 0, MAX_BITS)?;
        let probes = ProbeBound::from_text(spec)?;
        match (trie_bits, bloom_bits) {
            (Some(0), Some(0)) => Err(Error::invalid_input(
                "a Proteus needs a trie or a Bloom filter: give one of them more than 0 bits",
            )),
            (Some(trie), Some(bloom)) if bloom > 0 && trie >= bloom => Err(Error::invalid_input(format!(
                "a trie of {trie} bits leaves nothing to prefixes of {bloom} bits"
            ))),
            _ => Ok(Self { trie_bits, bloom_bits, probes, ..Self::new() }),
        }
    }
}
