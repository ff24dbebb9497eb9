//! Small sets pay next to nothing for headers and directories.

use lacuna_base::{Budget, BuildPlan, DynFilter, ErrorKind, Sealed, SortedKeys, U64Range};
use lacuna_workload::Rng;

const SEED: u64 = 5;
const QUERIES: u64 = 5_000;
/// Families that have to hold few keys as well as many.
const SPECS: [&str; 3] = ["bucketing", "grafite", "ribbon"];

/// "Maybe" among random points, over `sets` sets of `count` random keys in at most `bits` payload bits a key.
fn maybes(spec: &str, count: usize, bits: f64, sets: u64) -> u64 {
    let mut rng = Rng::new(SEED);
    let fixed_bits = Budget::FIXED_BYTES as f64 * 8.0 / count as f64;
    let mut maybes = 0;
    for seed in 0..sets {
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

/// Keys, and payload bits for each of them, all fixed costs included, that are enough for a rate of 2^-12 at single keys.
const ENOUGH: [(usize, f64); 9] = [
    (3, 187.0),
    (5, 119.0),
    (10, 66.0),
    (30, 31.5),
    (100, 20.0),
    (300, 16.0),
    (1_000, 15.0),
    (3_000, 14.2),
    (10_000, 14.2),
];

#[test]
fn small_sets_keep_the_rate_of_large_ones() {
    for spec in SPECS {
        for (count, bits) in ENOUGH {
            let sets = if count > 1_000 { 4 } else { 40 };
            let found = maybes(spec, count, bits, sets);
            // A rate of 2^-12, and four deviations.
            let expected = (sets * QUERIES) as f64 / 4_096.0;
            let max = expected + 4.0 * expected.sqrt();
            assert!(
                found as f64 <= max,
                "{spec}, {count} keys in {bits} bits: {found} maybes, {expected} expected, seed {SEED}"
            );
        }
    }
}

/// Sets of `count` keys that a layout may trip over.
fn sets_of(count: u64) -> Vec<Vec<u64>> {
    let mut rng = Rng::new(SEED);
    let step = u64::MAX.checked_div(count.saturating_sub(1)).unwrap_or(0);
    let random: Vec<u64> = (0..count).map(|_| rng.next_u64()).collect();
    let mut sets = vec![
        random,
        (0..count).collect(),
        (0..count).map(|place| u64::MAX - place).collect(),
        (0..count).map(|place| place * step).collect(),
        (0..count).map(|place| place << 40).collect(),
        // Both ends of the key space, and a run in between.
        (0..count).map(|place| if place == 0 { 0 } else { (1 << 63) + place }).chain([u64::MAX]).collect(),
        (0..count).map(|place| ((place / 8) << 50) | (place % 8)).collect(),
    ];
    for set in &mut sets {
        set.sort_unstable();
        set.dedup();
        set.truncate(usize::try_from(count).expect("few"));
    }
    sets
}

fn sealed(spec: &str, keys: &[u64], bits: f64) -> lacuna_base::Result<Sealed> {
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(bits).expect("in range")).with_seed(SEED);
    lacuna_families::spec::<u64>(spec)
        .expect("known")
        .build(SortedKeys::integers(keys).expect("ascending"), &plan)
}

/// The filter within the budget; where there is none, the error names the smallest budget there is one in.
fn within_budget(spec: &str, keys: &[u64], bits: f64) -> Sealed {
    let (built, bits) = match sealed(spec, keys, bits) {
        Ok(built) => (built, bits),
        Err(problem) => {
            let ErrorKind::BudgetTooSmall { smallest_bits_per_key: smallest } = problem.kind() else {
                panic!("{spec}: {problem}")
            };
            assert!(
                smallest > bits,
                "{spec}, {} keys: {smallest} bits are said to be needed of {bits}",
                keys.len()
            );
            (sealed(spec, keys, smallest).expect("the budget that the error names"), smallest)
        }
    };
    let max_bytes = Budget::bits_per_key(bits).expect("in range").payload_bytes(keys.len());
    assert!(built.payload().len() <= max_bytes, "{spec}: {} bytes of {max_bytes}", built.payload().len());
    built
}

fn check_answers(filter: &DynFilter<u64>, keys: &[u64], case: &str) {
    let step = (keys.len() / 500).max(1);
    for &key in keys.iter().step_by(step).chain(keys.last()) {
        for reach in [0, 1, 9, 1 << 30, u64::MAX] {
            let range =
                U64Range::new(key.saturating_sub(reach), key.saturating_add(reach / 2)).expect("in order");
            assert!(filter.may_contain_range(range), "{case}: {key} in {range:?}, seed {SEED}");
        }
    }
    let is_exact = filter.rate_bound(u64::MAX) == 0.0;
    for pair in keys.windows(2).step_by(step).filter(|pair| is_exact && pair[1] - pair[0] > 1) {
        let gap = U64Range::new(pair[0] + 1, pair[1] - 1).expect("not empty");
        assert!(!filter.may_contain_range(gap), "{case}: exact, and {gap:?} is \"maybe\"");
    }
    if let (Some(&first), Some(&last)) = (keys.first(), keys.last()) {
        let outside =
            [first.checked_sub(1).map(|end| (0, end)), last.checked_add(1).map(|start| (start, u64::MAX))];
        for (lo, hi) in outside.into_iter().flatten() {
            assert!(!filter.may_contain_range(U64Range::new(lo, hi).expect("in order")), "{case}: outside");
        }
    }
}

/// What the proofs over sets of three keys rest on: there is something to ask, which there is not for two.
#[test]
fn three_keys_have_a_body_and_two_have_none() {
    for spec in SPECS {
        for set in sets_of(3) {
            let bytes = |count: usize| within_budget(spec, &set[..count], 14.0).payload().len();
            assert!(bytes(2) == 0 && bytes(3) > 0, "{spec}: {} and {} bytes, {set:?}", bytes(2), bytes(3));
        }
    }
}

#[test]
fn few_keys_fit_their_budget_and_are_found() {
    for spec in [&SPECS[..], &["auto", "auto:robust"]].concat() {
        for count in [0, 1, 2, 3, 5, 10, 30, 100, 300, 1_000, 3_000, 10_000] {
            // A design of many keys takes long.
            if spec.starts_with("auto") && count > 300 {
                continue;
            }
            for (number, keys) in sets_of(count).iter().enumerate() {
                for bits in [0.01, 2.0, 9.0, 14.0, 40.0, 128.0] {
                    let built = within_budget(spec, keys, bits);
                    let filter = lacuna_families::open::<u64, _>(built).expect("just sealed");
                    check_answers(
                        &filter,
                        keys,
                        &format!("{spec}, set {number} of {count} keys, {bits} bits"),
                    );
                }
            }
        }
    }
}
