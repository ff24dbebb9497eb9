//! What is REncoder's own; the conformance suite proves the rest.

use std::collections::BTreeSet;

use lacuna_workload::Rng;

use super::codec::{Header, Levels, MAX_PROBES, Ones};
use super::insert::insert;
use super::lines::Lines;
use super::query::Rencoder;
use super::spec::Variant;
use crate::RencoderSpec;
use crate::integer::IntegerBody as _;
use crate::integer_build::{BodyOrder, IntegerSpec as _};
use crate::threads::Threads;

/// A body with exactly these parameters, and its view.
fn forced(header: Header, keys: &[u64], body_bytes: usize) -> (Rencoder, Vec<u8>) {
    let lines = Lines::within(body_bytes).expect("room for a line");
    let filter = Rencoder::new(header, lines);
    let mut body = vec![0; lines.body_bytes()];
    insert(&filter, keys, 0..header.levels.count, &mut body);
    (filter, body)
}

fn header(levels: Levels, tree_levels: u32, hash_count: u32, max_probes: u32) -> Header {
    let ones = Ones { mean: 0.5, deviation: 0.0 };
    Header { seed: 7, max_probes, hash_count, tree_levels, levels, variant: Variant::Base, ones }
}

fn key_sets(rng: &mut Rng) -> Vec<BTreeSet<u64>> {
    vec![
        BTreeSet::from([0]),
        BTreeSet::from([u64::MAX]),
        BTreeSet::from([0, u64::MAX]),
        (1_000..2_000).collect(),
        (u64::MAX - 300..=u64::MAX).collect(),
        (0..40).map(|_| rng.next_u64()).collect(),
        (0..40).map(|_| rng.next_u64() >> rng.below(64)).collect(),
        (0..40).map(|place| 1u64 << place).collect(),
    ]
}

#[test]
fn no_level_set_loses_a_key() {
    let seed = 1;
    let mut rng = Rng::new(seed);
    for tree_levels in 4..=8 {
        for (low, count) in
            [(0, 1), (0, 4), (0, 9), (0, 64), (3, 5), (17, 8), (17, 47), (40, 3), (55, 9), (63, 1)]
        {
            for (hash_count, max_probes, body_bytes) in [(1, MAX_PROBES, 4_096), (3, 64, 400), (2, 1, 40)] {
                for keys in key_sets(&mut rng) {
                    let sorted: Vec<u64> = keys.iter().copied().collect();
                    let header = header(Levels { low, count }, tree_levels, hash_count, max_probes);
                    let (filter, body) = forced(header, &sorted, body_bytes);
                    holds_every_key(&filter, &body, &keys, &mut rng, seed);
                }
            }
        }
    }
}

fn holds_every_key(filter: &Rencoder, body: &[u8], keys: &BTreeSet<u64>, rng: &mut Rng, seed: u64) {
    for &key in keys {
        for width in [0, 1, 31, 32, 300, 70_000, u64::MAX] {
            let before = rng.between(0, width);
            let (lo, hi) = (key.saturating_sub(before), key.saturating_add(width - before));
            let answer = filter.any_in(lacuna_succinct::arch::Scalar, body, lo, hi);
            assert!(answer, "{key} in {lo}..={hi}, {:?}, seed {seed}", filter.header);
        }
    }
}

/// With far more bits than nodes nothing is set by chance: the filter is the tree itself.
#[test]
fn a_roomy_filter_answers_exactly() {
    let mut rng = Rng::new(2);
    for tree_levels in 4..=8 {
        let keys: BTreeSet<u64> = (0..20).map(|_| (1 << 40) + rng.below(4_000)).collect();
        let sorted: Vec<u64> = keys.iter().copied().collect();
        let header = header(Levels { low: 0, count: 20 }, tree_levels, 3, MAX_PROBES);
        let (filter, body) = forced(header, &sorted, 1 << 20);
        for _ in 0..20_000 {
            let lo = (1 << 40) + rng.below(4_000);
            let hi = lo + rng.below(600);
            let truth = keys.range(lo..=hi).next().is_some();
            let answer = filter.any_in(lacuna_succinct::arch::Scalar, &body, lo, hi);
            assert_eq!(answer, truth, "{lo}..={hi}, {tree_levels} levels, seed 2");
        }
    }
}

#[test]
fn the_smallest_body_is_named() {
    let order =
        BodyOrder { seed: 0, secret: None, key_bits: 64, sample_ranges: &Vec::new, threads: Threads::ONE };
    let keys: Vec<u64> = (0..100).map(|i| i * 1_000).collect();
    let small = RencoderSpec::new().write_body(&keys, 10, &order).expect_err("no room");
    assert!(RencoderSpec::new().write_body(&keys, small.smallest_bytes, &order).is_ok());
    assert!(RencoderSpec::new().write_body(&keys, small.smallest_bytes - 1, &order).is_err());
}

#[test]
fn specs_are_written_as_they_are_read() {
    for text in [
        "rencoder",
        "rencoder:ss",
        "rencoder:se,levels=5,probes=9,k=3,round=2,quantile=100",
        "rencoder:po",
        "rencoder:float,exponent=30",
    ] {
        assert_eq!(crate::spec::<u64>(text).expect("known").name(), text);
    }
    for text in
        ["rencoder:ss,se", "rencoder:quantile=99", "rencoder:levels=9", "rencoder:k=0", "rencoder:round=9"]
    {
        assert!(crate::spec::<u64>(text).is_err(), "{text}");
    }
}
