//! The generated key sets: five shapes, integer arithmetic only.
//!
//! A filter that does well on uniform keys may do badly on clusters, so every comparison runs over several shapes.
//! Each generator draws until it has the asked number of distinct keys: with 3 asked and draws 5, 9, 5, one more
//! draw follows. Same shape, count and seed give the same keys on every machine; cost is one sort.
//!
//! The shapes are those of the papers; two choices are ours. The normal law is the sum of twelve uniform numbers
//! (Irwin-Hall), which has no key beyond six deviations and needs no logarithm; the Zipf law is that of
//! [`ZipfRanks`], over all ranks below 2^64, so keys crowd towards 0 and each power of two holds about as many.

use crate::{KeyShape, Rng, ZipfRanks};

/// First stream number of key draws, one for each shape, apart from those of queries and pools.
const KEY_STREAM: u64 = 16;

const CLUSTER_COUNT: usize = 1_000;
const CLUSTER_WIDTH: u64 = 1 << 34;

/// One hundredth of the 64-bit space.
const CROWDED_WIDTH: u64 = u64::MAX / 100;

/// Log2 of 2^64 over the standard deviation 2^58.
const DEVIATION_SHIFT: u32 = 6;

/// `count` distinct keys of `shape`, ascending.
pub(crate) fn generate(shape: KeyShape, count: usize, seed: u64) -> Vec<u64> {
    let mut rng = Rng::with_stream(seed, KEY_STREAM + shape as u64);
    match shape {
        KeyShape::Uniform => distinct(count, || rng.next_u64()),
        KeyShape::Normal => distinct(count, || normal(&mut rng)),
        KeyShape::Zipf => distinct(count, || ZipfRanks::new(u64::MAX).draw(&mut rng)),
        KeyShape::Clustered => clustered(count, &mut rng),
        KeyShape::Skew99 => skewed(count, &mut rng),
    }
}

/// Draws until `count` distinct values are there, and sorts them.
pub(crate) fn distinct(count: usize, mut draw: impl FnMut() -> u64) -> Vec<u64> {
    let mut keys = Vec::with_capacity(count);
    while keys.len() < count {
        let sorted = keys.len();
        keys.extend((sorted..count).map(|_| draw()));
        keys[sorted..].sort_unstable();
        keys.sort(); // merges two ascending runs
        keys.dedup();
    }
    keys
}

/// Mean 2^63, standard deviation 2^58: twelve uniform numbers below 1 have variance 12 / 12 = 1 and mean 6.
fn normal(rng: &mut Rng) -> u64 {
    let sum: i128 = (0..12).map(|_| i128::from(rng.next_u64())).sum();
    let deviation = (sum - (6 << 64)) >> DEVIATION_SHIFT;
    u64::try_from((1 << 63) + deviation).expect("six deviations are below 2^61")
}

fn clustered(count: usize, rng: &mut Rng) -> Vec<u64> {
    let starts: Vec<u64> = (0..CLUSTER_COUNT).map(|_| rng.between(0, u64::MAX - CLUSTER_WIDTH)).collect();
    distinct(count, || starts[rng.index(CLUSTER_COUNT)] + rng.below(CLUSTER_WIDTH))
}

fn skewed(count: usize, rng: &mut Rng) -> Vec<u64> {
    let crowd = rng.between(0, u64::MAX - CROWDED_WIDTH);
    distinct(count, || if rng.below(100) < 99 { crowd + rng.below(CROWDED_WIDTH) } else { rng.next_u64() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_drawn_again() {
        let mut draws = [5, 9, 5, 9, 1].into_iter();
        assert_eq!(distinct(3, || draws.next().unwrap()), [1, 5, 9]);
    }

    #[test]
    fn normal_keys_have_the_stated_spread() {
        let keys = generate(KeyShape::Normal, 100_000, 1);
        let deviation = |key: u64| (key as f64 - 2_f64.powi(63)) / 2_f64.powi(58);
        let mean = keys.iter().map(|&key| deviation(key)).sum::<f64>() / 1e5;
        let variance = keys.iter().map(|&key| deviation(key).powi(2)).sum::<f64>() / 1e5;
        let within_one = keys.iter().filter(|&&key| deviation(key).abs() < 1.0).count();
        assert!(
            mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03,
            "mean {mean}, variance {variance}, seed 1"
        );
        assert!(
            (67_500..69_500).contains(&within_one),
            "{within_one} of 100,000 within one deviation, seed 1"
        );
    }

    #[test]
    fn skewed_keys_crowd_in_one_hundredth() {
        let keys = generate(KeyShape::Skew99, 100_000, 1);
        let crowded = keys
            .iter()
            .map(|&low| keys.partition_point(|&key| key < low.saturating_add(CROWDED_WIDTH)))
            .zip(0..)
            .map(|(end, start): (usize, usize)| end - start)
            .max()
            .unwrap();
        assert!((98_800..99_300).contains(&crowded), "{crowded} of 100,000 crowd together, seed 1");
    }

    #[test]
    fn clustered_keys_stand_in_thousand_groups() {
        let keys = generate(KeyShape::Clustered, 100_000, 1);
        let groups = 1 + keys.windows(2).filter(|pair| pair[1] - pair[0] > CLUSTER_WIDTH).count();
        assert!((980..=1_000).contains(&groups), "{groups} groups, seed 1");
    }

    #[test]
    fn zipf_keys_fill_small_powers_of_two() {
        let keys = generate(KeyShape::Zipf, 100_000, 1);
        assert!(keys.starts_with(&[1, 2, 3, 4, 5, 6, 7, 8]), "seed 1");
        let upper_half = keys.iter().filter(|&&key| key >= 1 << 32).count();
        assert!((55_000..65_000).contains(&upper_half), "{upper_half} of 100,000 above 2^32, seed 1");
    }
}
