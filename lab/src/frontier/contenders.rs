//! The filters: each family, its variants that differ in what they answer, and a public Bloom filter.

use fastbloom::BloomFilter;
use lacuna_base::hash::IntegerHasher;
use lacuna_base::{Budget, BuildPlan, DynFilter, ErrorKind, Result, SortedKeys, U64Range};

/// What is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contender {
    /// A spec of ours.
    Ours(&'static str),
    /// Crate `fastbloom`, which answers points.
    FastBloom,
}

/// All of them.
pub fn contenders() -> Vec<Contender> {
    let ours = [
        "auto",
        "auto:robust",
        "ribbon",
        "grafite",
        "bucketing",
        "snarf",
        "proteus",
        "surf:cut",
        "surf:real=8,cut",
        "rencoder",
        "rencoder:ss",
        "rencoder:se",
        "rencoder:published",
        "rosetta",
        "two_prefix_bloom",
        "prefix_bloom",
        "bloom",
        "blocked_bloom",
        "cuckoo",
    ];
    ours.into_iter().map(Contender::Ours).chain([Contender::FastBloom]).collect()
}

/// A filter that was built.
pub(super) enum Built {
    Ours(Box<DynFilter<u64>>),
    FastBloom(BloomFilter, IntegerHasher),
}

impl Contender {
    /// Its name on the page.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ours(spec) => spec,
            Self::FastBloom => "crate fastbloom",
        }
    }

    /// Whether `name` means it: its spec, its family, or the crate.
    pub(crate) fn is_called(self, name: &str) -> bool {
        self.name() == name || self.name().split([':', ' ']).any(|part| part == name)
    }

    /// The filter, and its payload in bits a key; `None` if the budget does not hold it.
    pub(super) fn build(self, keys: &[u64], plan: &BuildPlan<u64>) -> Result<Option<(Built, f64)>> {
        let bits = |bytes: usize| bytes as f64 * 8.0 / keys.len().max(1) as f64;
        match self {
            Self::Ours(spec) => {
                let spec = lacuna_families::spec::<u64>(spec)?;
                let sealed = match spec.build(SortedKeys::integers(keys)?, plan) {
                    Err(problem) if matches!(problem.kind(), ErrorKind::BudgetTooSmall { .. }) => {
                        return Ok(None);
                    }
                    built => built?,
                };
                let payload_bytes = sealed.payload().len();
                Ok(Some((Built::Ours(lacuna_families::open(sealed.into_bytes())?), bits(payload_bytes))))
            }
            Self::FastBloom => {
                let payload_bytes = plan.budget().payload_bytes(keys.len());
                let hasher = IntegerHasher::new(plan.seed());
                let hash_count = hash_count(plan.budget());
                let mut filter = BloomFilter::with_num_bits(payload_bytes * 8).hashes(hash_count);
                for &key in keys {
                    filter.insert_hash(hasher.hash(key));
                }
                Ok(Some((Built::FastBloom(filter, hasher), bits(payload_bytes))))
            }
        }
    }
}

/// The best number of hashes: ln 2 for each bit a key.
fn hash_count(budget: Budget) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "1 to 89")]
    let count = (budget.as_bits_per_key() * std::f64::consts::LN_2).round().max(1.0) as u32;
    count
}

impl Built {
    /// Whether it answers ranges of `length` keys.
    pub(super) fn answers(&self, length: u64) -> bool {
        matches!(self, Self::Ours(_)) || length == 1
    }

    /// The answer about `range`.
    #[inline]
    pub(super) fn may_contain_range(&self, range: U64Range) -> bool {
        match self {
            Self::Ours(filter) => filter.may_contain_range(range),
            Self::FastBloom(filter, hasher) => filter.contains_hash(hasher.hash(range.lo())),
        }
    }

    /// How many of `ranges` are "maybe".
    pub(super) fn count(&self, ranges: &[U64Range]) -> usize {
        match self {
            Self::Ours(filter) => lacuna_bench::harness::batched(ranges, 1, |ranges, answers| {
                filter.may_contain_ranges(ranges, answers);
            }),
            Self::FastBloom(..) => ranges.iter().filter(|range| self.may_contain_range(**range)).count(),
        }
    }
}
