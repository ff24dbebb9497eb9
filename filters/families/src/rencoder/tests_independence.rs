//! Table 4 of the paper: bits of the filter are independent, as section 4 assumes.

use lacuna_base::{Budget, BuildPlan, FilterSpec, SortedKeys};
use lacuna_workload::Rng;

use super::codec::Header;
use crate::RencoderSpec;

/// Farthest that the paper's own table has a share of ones from the one overall: 0.4633 after `00`, 0.4767 overall.
const TOLERATED: f64 = 0.0134;

/// The words of all lines of a base filter over `count` uniform keys, and words in a line.
fn words(spec: RencoderSpec, count: usize, bits_per_key: f64, seed: u64) -> (Vec<u64>, usize) {
    let mut rng = Rng::new(seed);
    let mut keys: Vec<u64> = (0..count).map(|_| rng.next_u64()).collect();
    keys.sort_unstable();
    keys.dedup();
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(bits_per_key).expect("in range")).with_seed(seed);
    let sealed = spec.build(SortedKeys::integers(&keys).expect("ascending"), &plan).expect("fits");
    let (_, lines) = Header::read(sealed.payload()).expect("just sealed");
    let words = lines.each(sealed.payload()).flat_map(|line| line.as_chunks::<8>().0.to_vec());
    #[expect(clippy::cast_possible_truncation, reason = "a line has at most 512 bits")]
    let words_in_line = (lines.line_bits() / 64.0) as usize;
    (words.map(u64::from_le_bytes).collect(), words_in_line)
}

/// Zeros and ones among the bits right after the bits `before` (the last of them first), within words.
fn counts_after(words: &[u64], before: &[bool]) -> [f64; 2] {
    let (mut places, mut ones) = (0u64, 0u64);
    for &word in words {
        let fits = before.iter().enumerate().fold(u64::MAX << before.len(), |fits, (distance, &bit)| {
            let earlier = word << (distance + 1);
            fits & if bit { earlier } else { !earlier }
        });
        places += u64::from(fits.count_ones());
        ones += u64::from((fits & word).count_ones());
    }
    [(places - ones) as f64, ones as f64]
}

fn share([zeros, ones]: [f64; 2]) -> f64 {
    ones / (zeros + ones)
}

#[test]
fn earlier_bits_tell_nothing() {
    let seed = 11;
    for bits_per_key in [10.0, 16.0, 22.0] {
        let (words, _) = words(RencoderSpec::new(), 60_000, bits_per_key, seed);
        let overall = share(counts_after(&words, &[]));
        assert!((0.35..=0.6).contains(&overall), "{overall} at {bits_per_key} bits, seed {seed}");
        let before: [&[bool]; 6] =
            [&[false], &[true], &[false, false], &[false, true], &[true, false], &[true, true]];
        for before in before {
            let apart = share(counts_after(&words, before)) - overall;
            assert!(apart.abs() <= TOLERATED, "{apart} after {before:?} at {bits_per_key} bits, seed {seed}");
        }
    }
}

/// The correlation of bits as far apart as hash functions may place them: the same place of neighbouring words and of
/// neighbouring lines.
#[test]
fn neighbouring_words_and_lines_are_uncorrelated() {
    let seed = 12;
    let (words, words_in_line) = words(RencoderSpec::new(), 60_000, 16.0, seed);
    let bits = words.len() as f64 * 64.0;
    let mean = share(counts_after(&words, &[]));
    for distance in [1, 2, words_in_line, 2 * words_in_line] {
        let both: u64 = words
            .iter()
            .zip(&words[distance..])
            .map(|(word, other)| u64::from((word & other).count_ones()))
            .sum();
        let pairs = bits - distance as f64 * 64.0;
        let correlation = (both as f64 / pairs - mean * mean) / (mean * (1.0 - mean));
        // Lines are unevenly full, which words of one line share; the spread is in the model of the rates.
        assert!(correlation.abs() <= 0.02, "{correlation} at distance {distance}, seed {seed}");
    }
}

/// The test can fail: bits that follow each other are found out.
#[test]
fn dependent_bits_are_found_out() {
    let words = vec![0x3333_3333_3333_3333; 1_000];
    let apart = share(counts_after(&words, &[true, true])) - share(counts_after(&words, &[]));
    assert!(apart.abs() > 0.4, "{apart}");
}
