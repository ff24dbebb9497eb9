//! The operations that the checks need of a key space: short ranges around a key, and the true answer for a range.

use lacuna_base::{ByteColumn, KeySpace};
use lacuna_workload::{Queries, Rng, is_empty, is_empty_bytes};

/// Longest distance, as a power of two, between a key and the end of a range around it.
const FARTHEST_LOG2: u64 = 20;

/// A key space in which filters can be checked.
pub(crate) trait CheckedSpace: KeySpace {
    /// Hands closed ranges that hold `key`, and little else, to `add`.
    fn around(key: Self::Ref<'_>, rng: &mut Rng, add: &mut dyn FnMut(Self::Ref<'_>, Self::Ref<'_>));

    /// Whether no key of the ascending `keys` lies in `low..=high`.
    fn is_empty(keys: &Self::Column, low: Self::Ref<'_>, high: Self::Ref<'_>) -> bool;

    /// Number of keys in `low..=high`; between different byte strings it is unbounded.
    fn length(low: Self::Ref<'_>, high: Self::Ref<'_>) -> u64;

    /// The key for a sentence.
    fn shown(key: Self::Ref<'_>) -> String;

    /// Both ends of each query; none if the queries are of the other key space.
    fn queries(queries: &Queries) -> Vec<(Self::Ref<'_>, Self::Ref<'_>)>;
}

impl CheckedSpace for u64 {
    fn around(key: u64, rng: &mut Rng, add: &mut dyn FnMut(u64, u64)) {
        let mut distance = || {
            let farthest = 1 << rng.below(FARTHEST_LOG2 + 1);
            rng.below(farthest) + 1
        };
        add(key.saturating_sub(distance()), key);
        add(key, key.saturating_add(distance()));
        add(key.saturating_sub(distance()), key.saturating_add(distance()));
    }

    fn is_empty(keys: &[u64], low: u64, high: u64) -> bool {
        is_empty(keys, low, high)
    }

    fn length(low: u64, high: u64) -> u64 {
        (high - low).saturating_add(1)
    }

    fn shown(key: u64) -> String {
        key.to_string()
    }

    fn queries(queries: &Queries) -> Vec<(u64, u64)> {
        match queries {
            Queries::U64(ranges) => ranges.clone(),
            Queries::Bytes(_) => Vec::new(),
        }
    }
}

impl CheckedSpace for [u8] {
    fn around(key: &[u8], rng: &mut Rng, add: &mut dyn FnMut(&[u8], &[u8])) {
        let cut = usize::try_from(rng.below(key.len() as u64 + 1)).expect("at most the length of the key");
        let successor = [key, &[0]].concat();
        let beyond = [key, &[0xFF]].concat();
        add(&key[..cut], key);
        add(key, &successor);
        add(&key[..key.len().saturating_sub(1)], &beyond);
    }

    fn is_empty(keys: &ByteColumn, low: &[u8], high: &[u8]) -> bool {
        is_empty_bytes(keys, low, high)
    }

    fn length(low: &[u8], high: &[u8]) -> u64 {
        if low == high { 1 } else { u64::MAX }
    }

    fn shown(key: &[u8]) -> String {
        format!("`{}`", key.escape_ascii())
    }

    fn queries(queries: &Queries) -> Vec<(&[u8], &[u8])> {
        match queries {
            Queries::U64(_) => Vec::new(),
            Queries::Bytes(ranges) => ranges.iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_around_a_key_hold_it() {
        let mut rng = Rng::new(1);
        for key in [0, 1, 1 << 40, u64::MAX] {
            u64::around(key, &mut rng, &mut |low, high| assert!(low <= key && key <= high, "{key}, seed 1"));
        }
        for key in [&b""[..], b"a", b"\xff\xff"] {
            let mut hold = |low: &[u8], high: &[u8]| assert!(low <= key && key <= high, "{key:?}, seed 1");
            <[u8]>::around(key, &mut rng, &mut hold);
        }
    }
}
