//! The same bytes for any number of threads, with as few keys as it takes to cut them anywhere.

use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::str::FromStr;

use lacuna_base::{Budget, BuildPlan, Secret, SortedKeys};
use lacuna_workload::Rng;

use crate::integer_build::{BodyOrder, IntegerSpec};
use crate::threads::Threads;
use crate::{BucketingSpec, GrafiteSpec, RibbonSpec};

const SEED: u64 = 34;
const SECRET: Secret = Secret::new(*b"of a few threads");
const COUNTS: [usize; 5] = [1, 2, 3, 5, 8];

fn sorted(mut keys: Vec<u64>) -> Vec<u64> {
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Sets of at least three keys that fall unevenly into parts, slices, blocks and buckets.
fn key_sets() -> Vec<(&'static str, Vec<u64>)> {
    let mut rng = Rng::new(SEED);
    let uniform = |rng: &mut Rng, count: usize| sorted((0..count).map(|_| rng.next_u64()).collect());
    let clusters = (0..40).flat_map(|_| {
        let start = rng.next_u64() >> 1;
        (0..600).map(|_| start + rng.below(1 << 30)).collect::<Vec<_>>()
    });
    let clusters = sorted(clusters.collect());
    let high_bits = sorted((0..20_000).map(|_| 0xABCD << 48 | rng.below(1 << 20)).collect());
    // Half of the keys in one place: one part of a sort, one slice of a sequence.
    let lump =
        sorted((0..20_000_u64).map(|i| if i % 2 == 0 { rng.next_u64() } else { (1 << 63) + i }).collect());
    vec![
        ("three keys", vec![1, 2, u64::MAX]),
        ("nine keys", uniform(&mut rng, 9)),
        ("a thousand", uniform(&mut rng, 1_000)),
        ("uniform", uniform(&mut rng, 80_000)),
        ("dense", (1_000..31_000).collect()),
        ("dense to the end", (u64::MAX - 5_000..=u64::MAX).collect()),
        ("every third", (0..30_000).map(|i| 7 + 3 * i).collect()),
        ("clusters", clusters),
        ("equal high bits", high_bits),
        ("lump", lump),
    ]
}

/// The body, or how many bytes it would need.
fn body<S: IntegerSpec>(spec: &S, keys: &[u64], bits: f64, threads: usize) -> Result<Vec<u8>, usize> {
    let max_bytes = Budget::bits_per_key(bits).expect("in range").payload_bytes(keys.len());
    let order = BodyOrder {
        seed: SEED,
        secret: Some(SECRET),
        key_bits: 64,
        sample_ranges: &Vec::new,
        threads: Threads::forced(threads),
    };
    spec.write_body(keys, max_bytes, &order).map_err(|small| small.smallest_bytes)
}

fn check<S: IntegerSpec + FromStr<Err: Debug>>(texts: &[&str]) {
    for (name, keys) in key_sets() {
        for text in texts {
            let spec: S = text.parse().expect("a spec");
            for bits in [2.5, 9.0, 14.0, 40.0] {
                let bodies = COUNTS.map(|threads| body(&spec, &keys, bits, threads));
                for (threads, body) in COUNTS.into_iter().zip(&bodies) {
                    let same = *body == bodies[0];
                    assert!(same, "{text} over {name} in {bits} bits: {threads} threads, seed {SEED}");
                }
            }
        }
    }
}

#[test]
fn bytes_of_ribbon_do_not_depend_on_the_number_of_threads() {
    check::<RibbonSpec>(&[
        "ribbon",
        "ribbon:secret",
        "ribbon:block=4,planes=8",
        "ribbon:block=3,planes=7,window=1,layer=1",
        "ribbon:block=6,planes=6,window=2,layer=1",
        "ribbon:cell=20",
        "ribbon:cell=24,near=60",
    ]);
}

#[test]
fn bytes_of_grafite_do_not_depend_on_the_number_of_threads() {
    check::<GrafiteSpec>(&["grafite", "grafite:secret", "grafite:slice=1,heavy=2", "grafite:block=0"]);
}

#[test]
fn bytes_of_bucketing_do_not_depend_on_the_number_of_threads() {
    check::<BucketingSpec>(&[
        "bucketing",
        "bucketing:gap=10",
        "bucketing:gap=40",
        "bucketing:slice=1,heavy=2",
    ]);
}

/// By the plan, with as many keys as two threads and three take, and one fewer.
#[test]
fn a_plan_of_threads_gives_the_same_bytes() {
    let mut rng = Rng::new(SEED);
    let all = sorted((0..98_304).map(|_| rng.next_u64()).collect());
    for count in [0, 1, 2, 3, 65_535, 65_536, 98_303, 98_304] {
        let keys = SortedKeys::integers(&all[..count.min(all.len())]).expect("ascending");
        for text in ["ribbon", "grafite", "bucketing", "bloom", "auto"] {
            let spec = crate::spec::<u64>(text).expect("known");
            let plan = BuildPlan::new(Budget::bits_per_key(14.0).expect("in range")).with_seed(SEED);
            let one = spec.build(keys, &plan).expect("fits");
            for threads in [2, 3, 1_000_000].map(|threads| NonZeroUsize::new(threads).expect("not zero")) {
                let several = spec.build(keys, &plan.clone().with_threads(threads)).expect("fits");
                assert!(several == one, "{text} over {count} keys: {threads} threads, seed {SEED}");
            }
        }
    }
}
