//! The filters: each family, its variants that differ in what they answer, and a public Bloom filter.

use fastbloom::BloomFilter;
use lacuna_base::{
    Budget, BuildPlan, DynFilter, Envelope, ErrorKind, KeyRange, KeySpaceId, Result, Sealed, SortedKeys,
};
use lacuna_bench::BenchKey;

use super::columns::SceneKey;

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
        "multi_prefix_bloom",
        "place_trie",
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
pub(super) enum Built<K: SceneKey + ?Sized> {
    Ours(Box<DynFilter<K>>),
    FastBloom { filter: BloomFilter, seed: u64 },
}

/// A filter with its size in bits a key, and how it sees byte strings if it does not see them whole.
pub(super) struct Candidate<K: SceneKey + ?Sized> {
    pub(super) filter: Built<K>,
    pub(super) bits: f64,
    pub(super) view: Option<&'static str>,
}

/// Families that see byte strings as they are.
const WHOLE: [&str; 6] = ["bloom", "blocked_bloom", "cuckoo", "multi_prefix_bloom", "proteus", "surf"];

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

    /// The filter; `None` if the budget does not hold it.
    pub(super) fn build<K: SceneKey + ?Sized>(
        self,
        keys: SortedKeys<'_, K>,
        plan: &BuildPlan<K>,
    ) -> Result<Option<Candidate<K>>> {
        let bits = |bytes: usize| bytes as f64 * 8.0 / keys.len().max(1) as f64;
        match self {
            Self::Ours(spec) => {
                let sealed = match <K as BenchKey>::spec(spec)?.build(keys, plan) {
                    Err(problem) if matches!(problem.kind(), ErrorKind::BudgetTooSmall { .. }) => {
                        return Ok(None);
                    }
                    built => built?,
                };
                let (bits, view) = (bits(sealed.payload().len()), view_of::<K>(&sealed)?);
                let filter = Built::Ours(lacuna_families::open(sealed.into_bytes())?);
                Ok(Some(Candidate { filter, bits, view }))
            }
            Self::FastBloom => {
                let payload_bytes = plan.budget().payload_bytes(keys.len());
                let hash_count = hash_count(plan.budget());
                let mut filter = BloomFilter::with_num_bits(payload_bytes * 8).hashes(hash_count);
                for key in keys.iter() {
                    filter.insert_hash(K::hash(key, plan.seed()));
                }
                let filter = Built::FastBloom { filter, seed: plan.seed() };
                Ok(Some(Candidate { filter, bits: bits(payload_bytes), view: None }))
            }
        }
    }
}

/// How the filter sees byte strings: the last byte of such a payload is the width of its window, and 0 stands for a place map.
fn view_of<K: SceneKey + ?Sized>(sealed: &Sealed) -> Result<Option<&'static str>> {
    let (envelope, _) = Envelope::open(sealed.as_bytes())?;
    let family = lacuna_families::family(envelope.kind)?.kind;
    if K::ID == KeySpaceId::U64 || WHOLE.contains(&family.name()) {
        return Ok(None);
    }
    Ok(Some(if sealed.payload().last() == Some(&0) { "place map" } else { "window" }))
}

/// The best number of hashes: ln 2 for each bit a key.
fn hash_count(budget: Budget) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "1 to 89")]
    let count = (budget.as_bits_per_key() * std::f64::consts::LN_2).round().max(1.0) as u32;
    count
}

impl<K: SceneKey + ?Sized> Built<K> {
    /// Whether it answers ranges of this column: the first asks for keys.
    pub(super) fn answers(&self, column: usize) -> bool {
        matches!(self, Self::Ours(_)) || column == 0
    }

    /// The answer about `range`.
    #[inline]
    pub(super) fn may_contain_range(&self, range: KeyRange<'_, K>) -> bool {
        match self {
            Self::Ours(filter) => filter.may_contain_range(range),
            Self::FastBloom { filter, seed } => filter.contains_hash(K::hash(K::ends(range).0, *seed)),
        }
    }

    /// How many of `ranges` are "maybe".
    pub(super) fn count(&self, ranges: &[KeyRange<'_, K>]) -> usize {
        match self {
            Self::Ours(filter) => lacuna_bench::harness::batched(ranges, 1, |ranges, answers| {
                filter.may_contain_ranges(ranges, answers);
            }),
            Self::FastBloom { .. } => ranges.iter().filter(|range| self.may_contain_range(**range)).count(),
        }
    }
}
