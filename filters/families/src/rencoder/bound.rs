//! The rate that holds for any keys and any queries, from the ones that were counted.

use super::predict::RateModel;
use super::query::Rencoder;

/// Next to keys a single level meets lines a little fuller than the average line of the model; longer paths
/// leave room for that.
const UNEVEN: f64 = 1.1;

/// Most false positives among empty queries of `range_len` keys.
///
/// A leaf that lies j levels below the first node it shares with a key is a false positive if all j are set by chance.
/// On either side of an empty range the key next to it leaves at most `2^(j-1)` leaves with so short a path; the others
/// have longer ones.
pub(crate) fn rate_bound(filter: &Rencoder, range_len: u64) -> f64 {
    let header = filter.header;
    if header.levels.low > 0 || fetches(filter, range_len) > f64::from(header.max_probes) {
        return 1.0;
    }
    if header.variant == super::spec::Variant::Point && range_len == 1 {
        return (model(filter).path[1] * UNEVEN).min(1.0);
    }
    let path = model(filter).path;
    let mut left = range_len as f64;
    let mut expected = 0.0;
    for (height, chance) in path.iter().skip(1).enumerate() {
        let last = height + 2 == path.len();
        let leaves = if last { left } else { left.min((2u64 << height.min(62)) as f64) };
        expected += leaves * chance;
        left -= leaves;
    }
    expected.min(1.0)
}

fn model(filter: &Rencoder) -> RateModel {
    let header = filter.header;
    RateModel::new(header.levels, header.hash_count, header.tree_levels, header.ones)
}

/// Most mini-trees that a range of `range_len` keys reaches into.
fn fetches(filter: &Rencoder, range_len: u64) -> f64 {
    let levels = filter.header.tree_levels;
    (1..=filter.groups).map(|group| (range_len.checked_shr(group * levels).unwrap_or(0) + 2) as f64).sum()
}
