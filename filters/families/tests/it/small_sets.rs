//! Small sets pay next to nothing for headers and directories.

use lacuna_base::{Budget, BuildPlan, SortedKeys, U64Range};
use lacuna_workload::Rng;

const SEED: u64 = 5;
const SETS: u64 = 40;
const QUERIES: u64 = 5_000;

/// "Maybe" among random points, over many sets of `count` random keys in at most `bits` payload bits a key.
fn maybes(spec: &str, count: usize, bits: f64) -> u64 {
    let mut rng = Rng::new(SEED);
    let fixed_bits = Budget::FIXED_BYTES as f64 * 8.0 / count as f64;
    let mut maybes = 0;
    for seed in 0..SETS {
        let mut keys: Vec<u64> = (0..count).map(|_| rng.next_u64()).collect();
        keys.sort_unstable();
        let plan = BuildPlan::<u64>::new(Budget::bits_per_key(bits - fixed_bits).expect("in range"));
        let spec = lacuna_families::spec::<u64>(spec).expect("known");
        let keys = SortedKeys::integers(&keys).expect("ascending");
        let sealed = spec.build(keys, &plan.with_seed(seed)).expect("fits");
        assert!(sealed.payload().len() as f64 * 8.0 <= bits * count as f64 + 8.0);
        let filter = lacuna_families::open::<u64, _>(sealed).expect("just sealed");
        let mut ask = || filter.may_contain_range(U64Range::point(rng.next_u64()));
        maybes += (0..QUERIES).map(|_| u64::from(ask())).sum::<u64>();
    }
    maybes
}

#[test]
fn small_sets_keep_the_rate_of_large_ones() {
    for spec in ["bucketing", "grafite", "ribbon"] {
        for (count, bits) in [(100, 20.0), (1_000, 15.0)] {
            let found = maybes(spec, count, bits);
            // A rate of 2^-12, and four deviations.
            let expected = (SETS * QUERIES) as f64 / 4_096.0;
            let max = expected + 4.0 * expected.sqrt();
            assert!(
                found as f64 <= max,
                "{spec}, {count} keys: {found} maybes, {expected} expected, seed {SEED}"
            );
        }
    }
}
