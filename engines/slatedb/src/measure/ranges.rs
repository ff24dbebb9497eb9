//! Keys spread over all integers, and ranges that hold none of them.

use lacuna_base::hash::{IntegerHasher, reduce};

/// Streams of one seed.
const KEYS: u64 = 1;
const RANGES: u64 = 2;

fn stream(seed: u64, number: u64) -> IntegerHasher {
    IntegerHasher::new(IntegerHasher::new(seed).hash(number))
}

/// About `count` keys, ascending and distinct, uniform over all 64-bit integers.
///
/// ```
/// let keys = lacuna_slatedb::measure::spread_keys(1_000, 7);
/// assert!(keys.len() > 990 && keys.windows(2).all(|pair| pair[0] < pair[1]));
/// ```
pub fn spread_keys(count: u64, seed: u64) -> Vec<u64> {
    let hasher = stream(seed, KEYS);
    let mut keys: Vec<u64> = (0..count).map(|number| hasher.hash(number)).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// `count` closed ranges of `range_len` integers that hold none of the ascending `keys`, each anywhere in a gap that a
/// hash picks. Fewer if the gaps are too short for that.
///
/// ```
/// let ranges = lacuna_slatedb::measure::gap_ranges(&[10, 1_000, 1_005], 50, 16, 7);
/// assert!(ranges.len() == 50 && ranges.iter().all(|&(lo, hi)| 10 < lo && hi < 1_000 && hi - lo == 15));
/// ```
pub fn gap_ranges(keys: &[u64], count: usize, range_len: u64, seed: u64) -> Vec<(u64, u64)> {
    let hasher = stream(seed, RANGES);
    let gaps = keys.len().saturating_sub(1);
    let draws = (0..).step_by(2).take(100 * count);
    let drawn = draws.filter_map(|draw| {
        let gap = usize::try_from(reduce(hasher.hash(draw), gaps as u64)).ok()?;
        let (below, above) = (*keys.get(gap)?, *keys.get(gap + 1)?);
        let room = (above - below).checked_sub(range_len)?;
        let lo = below.checked_add(1)? + reduce(hasher.hash(draw + 1), room);
        if room > 0 { Some((lo, lo + (range_len - 1))) } else { None }
    });
    drawn.take(count).collect()
}
