//! Hard sets of integers.

use lacuna_workload::Rng;
use proptest::prelude::*;
use proptest::strategy::BoxedStrategy;

use super::TestSpace;
use crate::effort;

/// Distances between the keys of a universe.
const STRIDES: [u64; 3] = [1, 1 << 20, 1 << 56];
/// Random streams of the sets below.
const STREAM: u64 = 0x1000;

impl TestSpace for u64 {
    const PLACEMENTS: usize = 9;

    fn universe(size: usize, placement: usize) -> Vec<u64> {
        let stride = STRIDES[placement % 3];
        let span = stride * (size as u64 - 1);
        let offset = [0, (1 << 32) - 3, u64::MAX - span][placement / 3];
        (0..size as u64).map(|place| offset + place * stride).collect()
    }

    fn number(number: u64) -> u64 {
        number
    }

    fn smallest() -> u64 {
        0
    }

    fn largest() -> u64 {
        u64::MAX
    }

    fn neighbours(key: &u64) -> Vec<u64> {
        let steps = [1, 2, 31, 1 << 10, 1 << 20, 1 << 33, 1 << 56, 1 << 63];
        let mut near: Vec<u64> = steps.iter().filter_map(|step| key.checked_sub(*step)).collect();
        near.extend(steps.iter().filter_map(|step| key.checked_add(*step)));
        near
    }

    fn nasty_sets() -> Vec<(&'static str, Vec<u64>)> {
        let mut rng = effort::rng(STREAM);
        let clusters = (0..20).flat_map(|_| run(rng.next_u64() >> 1, 50)).collect();
        let loose_clusters = (0..20).map(|_| rng.next_u64() >> 1).collect::<Vec<_>>();
        let loose_clusters = loose_clusters
            .iter()
            .flat_map(|start| (0..50).map(|_| start + rng.below(1 << 34)).collect::<Vec<_>>());
        let loose_clusters = loose_clusters.collect();
        vec![
            ("zero alone", vec![0]),
            ("MAX alone", vec![u64::MAX]),
            ("zero and MAX", vec![0, u64::MAX]),
            ("both rims", [run(0, 40), run(u64::MAX - 39, 40)].concat()),
            ("three in a row", vec![41, 42, 43]),
            ("a run across 2^32", run((1 << 32) - 500, 1_000)),
            ("a run up to MAX", run(u64::MAX - 999, 1_000)),
            ("twenty runs", clusters),
            ("twenty loose clusters", loose_clusters),
            ("powers of two and neighbours", (0..64).flat_map(|bit| around(1 << bit)).collect()),
            ("multiples of 2^32", (0..1_000).map(|place| place << 32).collect()),
            ("multiples of 2^54", (0..1_000).map(|place| place << 54).collect()),
            ("a lone key far off", [run(7, 500), vec![u64::MAX / 3 * 2]].concat()),
            ("low bits all zero", (0..1_000).map(|_| rng.next_u64() & !1023).collect()),
            ("uniform", (0..3_000).map(|_| rng.next_u64()).collect()),
        ]
    }

    fn any_key() -> BoxedStrategy<u64> {
        prop_oneof![
            3 => any::<u64>(),
            3 => 0u64..64,
            2 => (u64::MAX - 63)..=u64::MAX,
            3 => (0u64..4, 0u64..300).prop_map(|(cluster, step)| (cluster << 40) + step),
            2 => (0u64..16, 0u64..3).prop_map(|(place, step)| (place << 60) + step),
        ]
        .boxed()
    }

    fn draw_query(rng: &mut Rng, near: Option<&u64>, range_len: u64) -> Option<(u64, u64)> {
        let lo = match near {
            Some(key) => key.checked_add(1 + rng.below(32))?,
            None => rng.next_u64(),
        };
        Some((lo, lo.checked_add(range_len - 1)?))
    }

    fn five_keys() -> Vec<u64> {
        vec![0, 42, 1 << 20, (1 << 32) + 7, u64::MAX]
    }
}

fn run(start: u64, len: u64) -> Vec<u64> {
    (0..len).map(|step| start + step).collect()
}

fn around(key: u64) -> [u64; 3] {
    [key - 1, key, key + 1]
}
