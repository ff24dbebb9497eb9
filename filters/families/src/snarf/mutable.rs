//! SNARF under change: keys come and go, one block is coded anew for each, and the result is sealed again.
//!
//! In the sealed form two keys may share a position, and after one of them is removed the bit must stay. Counting the
//! keys of a position is enough as long as every removed key was added before; a removal of a key that was never added
//! would take the other's count, and a later "no" would be false. No filter that knows less than its keys can refuse
//! all such removals: there are two sets of keys that it cannot distinguish, and a key that is in only one of them. So
//! this form knows its keys, in a compact form: the differences of the keys themselves are Rice-coded, not those of
//! their positions, about `log2(span / keys) + 2` bits a key and 48 bytes a block. It answers exactly; sealing drops
//! what the filter does not need, and gives the same bytes as building from the same keys. Sealed bytes cannot be
//! opened for change, because they do not contain the keys.

use std::ops::Range;

use lacuna_base::{
    BuildPlan, ENVELOPE_BYTES, FilterSpec, InsertKey, RangeFilter, RemoveKey, Result, Sealed, SortedKeys,
    U64Range,
};

use super::run::Run;
use super::spec::SnarfSpec;

/// A block of fewer than one in this many of its keys joins the next.
const FEW: usize = 4;

/// A set of integers that takes and forgets keys, and seals itself as SNARF.
///
/// An insertion or a removal decodes and codes a block or two: a few microseconds. A block that has grown to twice its size is
/// cut in two, one that has shrunk to a quarter joins the next, so questions stay as fast as they were, blocks stay worth
/// their fixed bytes, and nothing is ever full.
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, InsertKey, RangeFilter, RemoveKey, SortedKeys};
/// use lacuna_families::{SnarfMut, SnarfSpec};
///
/// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(12.0)?);
/// let mut filter = SnarfMut::new(SnarfSpec::new(), SortedKeys::integers(&[10, 20, 30, 40])?, plan);
/// assert!(filter.insert(25)?);
/// assert!(filter.remove(20)?);
/// assert!(!filter.remove(21)?, "it never was there");
///
/// let sealed = lacuna_families::open::<u64, _>(filter.seal()?)?;
/// assert!(sealed.may_contain(25) && sealed.may_contain(30));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SnarfMut {
    spec: SnarfSpec,
    plan: BuildPlan<u64>,
    /// Blocks without gaps between their ranges: each reaches to the smallest key of the next.
    runs: Vec<Run>,
    key_count: usize,
}

impl SnarfMut {
    /// The set of `keys`, to be sealed by `spec` and `plan`.
    pub fn new(spec: SnarfSpec, keys: SortedKeys<'_, u64>, plan: BuildPlan<u64>) -> Self {
        let runs = keys.column().chunks(spec.block_keys()).map(Run::of).collect();
        Self { spec, plan, runs, key_count: keys.len() }
    }

    /// Builds the filter over the keys that are there now.
    ///
    /// # Errors
    /// As building: `BudgetTooSmall` with the smallest budget that works.
    pub fn seal(&self) -> Result<Sealed> {
        let keys: Vec<u64> = self.keys().collect();
        self.spec.build(SortedKeys::integers(&keys)?, &self.plan)
    }

    /// The keys that are there now, ascending.
    pub fn keys(&self) -> impl Iterator<Item = u64> {
        self.runs.iter().flat_map(Run::keys)
    }

    /// The block that `key` belongs to: the last one that does not start after it, or the first.
    fn run_of(&self, key: u64) -> usize {
        self.runs.partition_point(|run| run.smallest() <= key).saturating_sub(1)
    }

    /// Codes `keys`, in order, in place of these blocks: in two blocks where they are too many for one, in none where there
    /// are none.
    fn replace(&mut self, places: Range<usize>, keys: &[u64]) {
        let max = 2 * self.spec.block_keys();
        let part = if keys.len() > max { keys.len().div_ceil(2) } else { max };
        self.runs.splice(places.start..places.end.min(self.runs.len()), keys.chunks(part).map(Run::of));
    }

    /// Number of keys of each block.
    #[cfg(test)]
    pub(crate) fn runs(&self) -> impl Iterator<Item = usize> {
        self.runs.iter().map(|run| run.keys().count())
    }

    /// The keys of block `place`; none if there is no block.
    fn keys_of(&self, place: usize) -> Vec<u64> {
        self.runs.get(place).map(|run| run.keys().collect()).unwrap_or_default()
    }
}

impl InsertKey<u64> for SnarfMut {
    /// Never fails: blocks are cut in two as they grow.
    fn insert(&mut self, key: u64) -> Result<bool> {
        let place = self.run_of(key);
        let mut keys = self.keys_of(place);
        let Err(index) = keys.binary_search(&key) else { return Ok(false) };
        keys.insert(index, key);
        self.replace(place..place + 1, &keys);
        self.key_count += 1;
        Ok(true)
    }
}

impl RemoveKey<u64> for SnarfMut {
    /// Never fails, and refuses (`false`) every key that is not there: keys are known exactly.
    fn remove(&mut self, key: u64) -> Result<bool> {
        let place = self.run_of(key);
        let mut keys = self.keys_of(place);
        let Ok(index) = keys.binary_search(&key) else { return Ok(false) };
        keys.remove(index);
        let mut end = place + 1;
        if keys.len() < self.spec.block_keys() / FEW {
            keys.extend(self.keys_of(end));
            end += 1;
        }
        self.replace(place..end, &keys);
        self.key_count -= 1;
        Ok(true)
    }
}

impl RangeFilter<u64> for SnarfMut {
    fn may_contain_range(&self, range: U64Range) -> bool {
        // The last block that starts by the end of the range; if it starts inside, its smallest key is the answer.
        let place = self.runs.partition_point(|run| run.smallest() <= range.hi());
        let Some(run) = place.checked_sub(1).map(|place| &self.runs[place]) else { return false };
        run.smallest() >= range.lo() || run.any_behind(range.lo(), range.hi())
    }

    fn rate_bound(&self, _range_len: u64) -> f64 {
        0.0
    }

    fn key_count(&self) -> u64 {
        self.key_count as u64
    }

    /// Most bytes that [`seal`](Self::seal) gives now.
    fn size_in_bytes(&self) -> usize {
        ENVELOPE_BYTES + self.plan.budget().payload_bytes(self.key_count)
    }

    fn memory_bytes(&self) -> usize {
        let code: usize = self.runs.iter().map(Run::heap_bytes).sum();
        size_of::<Self>() + self.runs.capacity() * size_of::<Run>() + code
    }
}
