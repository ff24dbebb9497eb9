//! Keys dealt out to levels, and their values.

use lacuna_base::ByteColumn;
use lacuna_base::hash::IntegerHasher;
use lacuna_workload::Rng;

/// Keys by level, the uppermost and smallest first, each ascending. Every level spans about all keys and holds about
/// `size_ratio` times as many as the one above it; which key lies where follows from the seed.
///
/// ```
/// use lacuna_bench::engine::deal_out;
///
/// let keys = lacuna_workload::Keys::from_u64s((0..11_100).collect()).to_be_bytes();
/// let levels = deal_out(&keys, 3, 10, 1);
/// assert!((80..120).contains(&levels[0].len()) && (9_800..10_200).contains(&levels[2].len()));
/// ```
///
/// # Panics
/// If there is no level, or the size ratio is 0.
pub fn deal_out(keys: &ByteColumn, levels: usize, size_ratio: u64, seed: u64) -> Vec<ByteColumn> {
    assert!(levels > 0 && size_ratio > 0, "keys lie in a level");
    let sizes: Vec<u64> = (0..levels)
        .scan(1_u64, |size, _| Some(std::mem::replace(size, size.saturating_mul(size_ratio))))
        .collect();
    let total = sizes.iter().fold(0_u64, |sum, size| sum.saturating_add(*size));
    let mut rng = Rng::new(IntegerHasher::new(seed).hash(0));
    let mut dealt = vec![ByteColumn::new(); levels];
    for key in keys.iter() {
        let mut place = rng.below(total);
        let level = sizes.iter().position(|&size| match place.checked_sub(size) {
            Some(rest) => {
                place = rest;
                false
            }
            None => true,
        });
        dealt[level.expect("the place is below the sum of all sizes")].push(key);
    }
    dealt
}

/// A value of `bytes`: the first half zero, the rest random, so that it compresses to half.
pub fn half_zero_value(rng: &mut Rng, bytes: usize, value: &mut Vec<u8>) {
    value.clear();
    value.resize(bytes / 2, 0);
    while value.len() < bytes {
        let random = rng.next_u64().to_le_bytes();
        let rest = (bytes - value.len()).min(random.len());
        value.extend_from_slice(&random[..rest]);
    }
}
