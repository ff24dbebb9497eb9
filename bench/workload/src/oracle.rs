//! The true answer for a range, from the sorted keys themselves. One binary search a query.

use lacuna_base::ByteColumn;

use crate::columns::count_below;
use crate::{Keys, Queries};

/// Whether no key of the ascending `keys` lies in `low..=high`.
///
/// ```
/// use lacuna_workload::is_empty;
///
/// assert!(is_empty(&[2, 9], 3, 8));
/// assert!(!is_empty(&[2, 9], 3, 9));
/// ```
pub fn is_empty(keys: &[u64], low: u64, high: u64) -> bool {
    let next = keys.partition_point(|&key| key < low);
    keys.get(next).is_none_or(|&key| key > high)
}

/// Whether no string of the ascending `keys` lies in `low..=high`.
pub fn is_empty_bytes(keys: &ByteColumn, low: &[u8], high: &[u8]) -> bool {
    let next = count_below(keys, low);
    next == keys.len() || keys.get(next) > high
}

/// How many strings of the ascending `keys` lie in `low..=high`.
pub fn count_bytes(keys: &ByteColumn, low: &[u8], high: &[u8]) -> usize {
    let (first, mut end) = (count_below(keys, low), count_below(keys, high));
    if end < keys.len() && keys.get(end) == high {
        end += 1;
    }
    end.saturating_sub(first)
}

/// How many of `queries` hold no key of `keys`.
///
/// # Panics
///
/// When the keys are integers and the queries byte strings, or the other way round.
pub fn count_empty(keys: &Keys, queries: &Queries) -> usize {
    match (keys, queries) {
        (Keys::U64(keys), Queries::U64(ranges)) => {
            ranges.iter().filter(|(low, high)| is_empty(keys, *low, *high)).count()
        }
        (Keys::Bytes(keys), Queries::Bytes(ranges)) => {
            ranges.iter().filter(|(low, high)| is_empty_bytes(keys, low, high)).count()
        }
        _ => panic!("keys and queries are of one key space"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rng, to_be_bytes};

    #[test]
    fn answers_match_a_linear_scan() {
        let mut rng = Rng::new(1);
        for round in 0..2_000 {
            let Keys::U64(keys) = Keys::from_u64s((0..rng.below(6)).map(|_| rng.below(12)).collect()) else {
                panic!("integers were given")
            };
            let strings = to_be_bytes(&keys);
            let low = rng.below(12);
            let high = low + rng.below(4);
            let truth = !keys.iter().any(|key| (low..=high).contains(key));
            assert_eq!(is_empty(&keys, low, high), truth, "{keys:?} {low} {high}, round {round}, seed 1");
            let (low_bytes, high_bytes) = (low.to_be_bytes(), high.to_be_bytes());
            assert_eq!(is_empty_bytes(&strings, &low_bytes, &high_bytes), truth, "round {round}, seed 1");
            let count = keys.iter().filter(|key| (low..=high).contains(key)).count();
            assert_eq!(count_bytes(&strings, &low_bytes, &high_bytes), count, "round {round}, seed 1");
        }
    }

    #[test]
    fn both_ends_of_the_space_count() {
        assert!(!is_empty(&[0, u64::MAX], 0, 0));
        assert!(!is_empty(&[0, u64::MAX], u64::MAX, u64::MAX));
        assert!(is_empty(&[0, u64::MAX], 1, u64::MAX - 1));
    }
}
