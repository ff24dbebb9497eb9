//! Parameters of a place trie.

use std::sync::Arc;

use lacuna_base::{Budget, BuildFromKeys, BuildPlan, Error, KeyStatistics, Result, Sealed, SortedKeys};

use super::builder::{Places, write_body};
use super::codec::{MAX_EDGE, MAX_TAIL, VERSION};
use super::design::{EDGES, SHORT_EDGES};
use super::predict::choose;
use super::space::{MAX_MAP_PERCENT, PlaceSpace};
use super::{PlaceTrie, StringPlaceTrie};
use crate::costs::ProbeCosts;
use crate::designer::DesignKey;
use crate::family::FilterFamily;
use crate::frame::FilterBytes;
use crate::integer::IntegerFilter;
use crate::integer_build::envelope;
use crate::kind::Kind;
use crate::spec_text::{SpecText, spec_text};

/// A place trie: by default with the map and the edges that the sampled queries ask for.
///
/// As text: `place_trie`; `place_trie:edge=16` (edges of more bits for each branch below them are cut off, and what is
/// there is one leaf),
/// `place_trie:tail=9` (nine bits after the branch of a leaf, instead of as many as fit), and
/// `place_trie:map=8` (percents of the payload for the map of byte strings that are longer than a window).
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, ByteColumn, ByteRange, FilterSpec, SortedKeys};
/// use lacuna_families::PlaceTrieSpec;
///
/// let keys: ByteColumn = (0..900).map(|n| format!("host-{:03}.example", n * 7 % 1_000)).collect::<std::collections::BTreeSet<_>>().iter().collect();
/// let plan = BuildPlan::<[u8]>::new(Budget::bits_per_key(16.0)?);
/// let sealed = PlaceTrieSpec::new().build(SortedKeys::byte_strings(&keys)?, &plan)?;
/// let filter = lacuna_families::open::<[u8], _>(sealed)?;
/// assert!(filter.may_contain(b"host-007.example"));
/// assert!(!filter.may_contain_range(ByteRange::new(b"hostess", b"hosting").expect("in order")));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlaceTrieSpec {
    edge: Option<u32>,
    tail: Option<u32>,
    map_percent: Option<u32>,
}

impl PlaceTrieSpec {
    /// Map and edges follow from the sampled queries; without any between two keys, from those that `auto` assumes. Tails are as long as
    /// the budget allows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the bits that an edge may have for each branch below it, 0 to 512.
    #[must_use]
    pub fn with_edge(mut self, bits: u32) -> Self {
        self.edge = Some(bits.min(MAX_EDGE));
        self
    }

    /// Sets the bits of a tail, 0 to 255.
    #[must_use]
    pub fn with_tail(mut self, bits: u32) -> Self {
        self.tail = Some(bits.min(MAX_TAIL));
        self
    }

    /// Sets the percentage of the payload that the map of byte strings may take, 1 to 50.
    #[must_use]
    pub fn with_map_percent(mut self, percent: u32) -> Self {
        self.map_percent = Some(percent.clamp(1, MAX_MAP_PERCENT));
        self
    }

    pub(super) fn edge(&self) -> Option<u32> {
        self.edge
    }
    pub(super) fn tail(&self) -> Option<u32> {
        self.tail
    }
    pub(super) fn map_percent(&self) -> Option<u32> {
        self.map_percent
    }

    fn text(&self) -> String {
        let parameters = [("edge", self.edge), ("tail", self.tail), ("map", self.map_percent)];
        spec_text(PlaceTrieSpec::KIND.name(), &parameters)
    }

    /// Map and longest edges to try, the best first.
    fn settings<K: PlaceSpace + DesignKey + ?Sized>(
        &self,
        keys: SortedKeys<'_, K>,
        plan: &BuildPlan<K>,
        max_bytes: usize,
    ) -> (Option<u32>, Vec<u32>) {
        if let Some(edge) = self.edge {
            return (Some(self.map_percent.unwrap_or(USUAL_MAP_PERCENT)), vec![edge]);
        }
        let sampled = KeyStatistics::new(keys, plan);
        let chosen = if sampled.has_query_between_keys() {
            choose(self, &sampled, max_bytes)
        } else {
            let assumed = plan.clone().with_sample(Arc::new(K::assumed(keys)));
            choose(self, &KeyStatistics::new(keys, &assumed), max_bytes)
        };
        let (map_percent, best) =
            chosen.map_or((0, MAX_EDGE), |chosen| (chosen.map_percent, chosen.expected.edge));
        // Sizes are estimated: where one turns out larger, shorter edges fit.
        let edges = EDGES.into_iter().chain(SHORT_EDGES).filter(|&edge| edge < best);
        let map_percent = self.map_percent.unwrap_or(map_percent.max(1));
        (Some(map_percent), std::iter::once(best).chain(edges).collect())
    }

    /// The payload within `budget`, and the ends of the keys; or the bytes that would hold it.
    fn write<K: PlaceSpace + DesignKey + ?Sized>(
        &self,
        keys: SortedKeys<'_, K>,
        plan: &BuildPlan<K>,
        budget: Budget,
    ) -> Result<(Vec<u8>, (u64, u64)), usize> {
        let max_bytes = budget.payload_bytes(keys.len());
        let has_body = !K::has_no_body(keys.len());
        let (map_percent, edges) =
            if has_body { self.settings(keys, plan, max_bytes) } else { (Some(1), Vec::new()) };
        let (_, view) = K::views(keys, max_bytes, map_percent).swap_remove(0);
        let section_bytes = K::section_bytes(&view);
        let room = max_bytes - section_bytes;
        let place = |index: usize| K::place(&view, keys.get(index));
        let places = Places { len: keys.len(), max_bits: K::max_bits(&view), place: &place };
        let mut payload = Vec::new();
        if has_body {
            let mut smallest_bytes = usize::MAX;
            for edge in edges {
                match write_body(&places, edge, self.tail, room) {
                    Ok(body) => {
                        payload = body;
                        break;
                    }
                    Err(small) => smallest_bytes = smallest_bytes.min(small.smallest_bytes),
                }
            }
            if payload.is_empty() {
                return Err(smallest_bytes + section_bytes);
            }
        }
        K::push_sections(&view, &mut payload);
        let end = |key: Option<K::Ref<'_>>| key.map_or(0, |key| K::end(&view, key));
        Ok((payload, (end(keys.first()), end(keys.last()))))
    }

    fn build_over<K: PlaceSpace + DesignKey + ?Sized>(
        &self,
        keys: SortedKeys<'_, K>,
        plan: &BuildPlan<K>,
    ) -> Result<Sealed> {
        let written = self.write(keys, plan, plan.budget());
        let (payload, ends) = written.map_err(|needed| self.too_small(keys, plan, needed))?;
        Ok(Sealed::assemble(&envelope::<K>(PlaceTrieSpec::KIND, VERSION, plan, keys.len(), ends), &payload))
    }

    /// Names the smallest budget that works. A larger one has a larger map, so it has to be tried.
    fn too_small<K: PlaceSpace + DesignKey + ?Sized>(
        &self,
        keys: SortedKeys<'_, K>,
        plan: &BuildPlan<K>,
        mut needed_bytes: usize,
    ) -> Error {
        loop {
            let bits_per_key = Budget::smallest_for(needed_bytes, keys.len());
            let Ok(budget) = Budget::bits_per_key(bits_per_key) else {
                return Error::budget_too_small(PlaceTrieSpec::KIND.name(), Budget::MAX_BITS_PER_KEY);
            };
            match self.write(keys, plan, budget) {
                Ok(_) => return Error::budget_too_small(PlaceTrieSpec::KIND.name(), bits_per_key),
                Err(more) => needed_bytes = more.max(needed_bytes + 1),
            }
        }
    }
}

/// The percentage of the payload for a map where edges are given and it is not.
const USUAL_MAP_PERCENT: u32 = 2;

impl BuildFromKeys<u64> for PlaceTrieSpec {
    fn spec_name(&self) -> String {
        self.text()
    }
    fn build_from(&self, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Result<Sealed> {
        self.build_over(keys, plan)
    }
}

impl BuildFromKeys<[u8]> for PlaceTrieSpec {
    fn spec_name(&self) -> String {
        self.text()
    }
    fn build_from(&self, keys: SortedKeys<'_, [u8]>, plan: &BuildPlan<[u8]>) -> Result<Sealed> {
        self.build_over(keys, plan)
    }
}

impl FilterFamily for PlaceTrieSpec {
    const KIND: Kind = Kind::new(15, "place_trie");
    const ABOUT: &'static str =
        "binary trie of an order-preserving code, each key cut a few bits after it parts from its neighbours";
    const EXAMPLE: &'static str = "place_trie:edge=64,tail=4,map=2";
    const COSTS: ProbeCosts = ProbeCosts { integers_ns: 30.0, strings_ns: 40.0, probe_ns: 3.4, wait: 0.68 };

    type OverIntegers<B: FilterBytes> = IntegerFilter<B, PlaceTrie>;
    type OverStrings<B: FilterBytes> = StringPlaceTrie<B>;

    fn from_text(spec: &mut SpecText<'_>) -> Result<Self> {
        let edge = spec.take("edge", 0, MAX_EDGE)?;
        let tail = spec.take("tail", 0, MAX_TAIL)?;
        let map_percent = spec.take("map", 1, MAX_MAP_PERCENT)?;
        Ok(Self { edge, tail, map_percent })
    }
}
