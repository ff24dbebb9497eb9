//! `auto:robust` under a secret.

use std::sync::Arc;

use lacuna_base::{
    Budget, BuildPlan, ByteColumn, DynFilter, ErrorKind, RateBound, Sample, Sealed, Secret, SortedKeys,
    U64Range,
};
use lacuna_workload::Rng;

use super::{AutoSpec, tests_robust};

const SEED: u64 = 23;
const SECRET: Secret = Secret::new(*b"no enemy has it.");
const BITS: [f64; 5] = [6.0, 10.0, 14.0, 24.0, 40.0];

/// Keys anywhere, in clusters, in dense runs, and denser towards zero.
fn key_sets() -> impl Iterator<Item = (&'static str, Vec<u64>)> {
    println!("seed {SEED}");
    tests_robust::key_sets(SEED).into_iter().filter(|(name, _)| *name != "apart")
}

fn plan(bits: f64) -> BuildPlan<u64> {
    BuildPlan::new(Budget::bits_per_key(bits).expect("in range")).with_seed(SEED)
}

fn designed(keys: &[u64], plan: &BuildPlan<u64>) -> Sealed {
    let design = AutoSpec::robust().design(SortedKeys::integers(keys).expect("ascending"), plan);
    design.expect("fits").build().expect("fits")
}

fn open(sealed: Sealed) -> Box<DynFilter<u64>> {
    crate::open(sealed).expect("just sealed")
}

#[test]
fn filters_hash_under_the_secret_or_know_every_key() {
    for (name, keys) in key_sets() {
        let sorted = SortedKeys::integers(&keys).expect("ascending");
        let mut first = Vec::new();
        for bits in BITS {
            let plan = plan(bits).with_secret(SECRET);
            let design = AutoSpec::robust().design(sorted, &plan).expect("fits");
            for candidate in design.candidates() {
                let is_keyed = candidate.spec.contains("secret");
                let is_exact = candidate.prediction.bound == RateBound::EXACT;
                assert!(is_keyed || is_exact, "{name} at {bits} bits: {candidate:?}");
            }
            let chosen = &design.candidates()[0].spec;
            let named = crate::spec::<u64>(chosen).expect("a spec").build(sorted, &plan).expect("fits");
            assert_eq!(design.build().expect("fits"), named, "{name} at {bits} bits, {chosen}");
            first.push(chosen.clone());
        }
        assert!(first.contains(&"ribbon:unsampled,secret".to_owned()), "{name}: {first:?}");
    }
}

#[test]
fn no_key_is_denied_by_a_robust_filter_under_a_secret() {
    for (name, keys) in key_sets() {
        for bits in BITS {
            let filter = open(designed(&keys, &plan(bits).with_secret(SECRET)));
            let mut rng = Rng::new(SEED);
            for &key in &keys {
                let [below, above] = [0; 2].map(|_: u64| rng.next_u64() >> (24 + rng.below(40)));
                let around = U64Range::new(key.saturating_sub(below), key.saturating_add(above));
                let around = around.expect("in order");
                assert!(
                    filter.may_contain(key) && filter.may_contain_range(around),
                    "{name} at {bits} bits: {key}, {around:?}"
                );
            }
        }
    }
}

#[test]
fn bytes_follow_from_the_secret_and_not_from_the_sample() {
    let mut hashed = 0;
    for (name, keys) in key_sets() {
        for bits in BITS {
            let case = format!("{name} at {bits} bits");
            let under = |secret: &[u8; 16]| designed(&keys, &plan(bits).with_secret(Secret::new(*secret)));
            let (one, other) = (under(b"no enemy has it."), under(b"no enemy has me."));
            assert_eq!(one, under(b"no enemy has it."), "{case}");
            let is_exact = open(one.clone()).rate_bound(u64::MAX) == 0.0;
            assert_eq!(one == other, is_exact, "{case}: what stores every key does not hash");
            hashed += usize::from(!is_exact);
            let mut sample = Sample::new();
            keys.iter()
                .step_by(3)
                .for_each(|key| sample.push(key.saturating_add(5), key.saturating_add(900)));
            let sampled = plan(bits).with_secret(SECRET).with_sample(Arc::new(sample));
            assert_eq!(one, designed(&keys, &sampled), "{case}");
            assert_eq!(is_exact, one == designed(&keys, &plan(bits)), "{case}: without a secret");
        }
    }
    assert!(hashed > 10, "{hashed} of 20 hash");
}

/// Bound and size of every candidate, under a secret as well predicted as under a seed.
#[test]
fn bounds_and_sizes_are_predicted_as_built() {
    for (name, keys) in key_sets() {
        let sorted = SortedKeys::integers(&keys).expect("ascending");
        for bits in BITS {
            for plan in [plan(bits), plan(bits).with_secret(SECRET)] {
                let design = AutoSpec::robust().design(sorted, &plan).expect("fits");
                for candidate in design.candidates() {
                    let case = format!("{name} at {bits} bits, {}", candidate.spec);
                    let spec = crate::spec::<u64>(&candidate.spec).expect("a spec");
                    let sealed = spec.build(sorted, &plan).expect("fits");
                    let (predicted, built) = (candidate.prediction.payload_bytes, sealed.payload().len());
                    println!("{case}: {built} bytes, predicted as {predicted}");
                    let filter = open(sealed);
                    for len in [1, 32, 1_024] {
                        let (predicted, found) =
                            (candidate.prediction.bound.rate(len as f64), filter.rate_bound(len));
                        assert!(
                            found <= predicted * 1.15 && predicted <= found * 1.2,
                            "{case}, {len} keys: {found}, predicted as {predicted}"
                        );
                    }
                    // On a small circle some values fall together, under a seed and a secret alike.
                    let off = predicted.abs_diff(built);
                    assert!(off <= built / 25 + 8, "{case}: {built} bytes, predicted as {predicted}");
                }
            }
        }
    }
}

/// Who knows keys, budget, spec and seed builds the filter without the secret, and keeps what it does not deny.
#[test]
fn an_enemy_without_the_secret_meets_the_bound() {
    let (_, keys) = key_sets().next().expect("uniform keys");
    let (theirs, ours) = (designed(&keys, &plan(10.0)), designed(&keys, &plan(10.0).with_secret(SECRET)));
    let (theirs, ours) = (open(theirs), open(ours));
    let mut rng = Rng::new(SEED);
    let drawn = std::iter::repeat_with(|| {
        let lo = rng.between(keys[0] + 1, keys[keys.len() - 1] - 32);
        U64Range::new(lo, lo + 31).expect("in order")
    });
    let is_empty = |range: &U64Range| keys[keys.partition_point(|&key| key < range.lo())] > range.hi();
    let asked: Vec<U64Range> =
        drawn.filter(is_empty).filter(|range| theirs.may_contain_range(*range)).take(2_000).collect();
    let expected = asked.len() as f64 * ours.rate_bound(32);
    let found = asked.iter().filter(|range| ours.may_contain_range(**range)).count();
    assert!((found as f64) < expected + 4.0 * expected.sqrt() + 1.0, "{found}, expected {expected}");
    assert!(expected < 200.0, "{expected}");
}

#[test]
fn a_design_says_that_it_is_under_a_secret() {
    let (_, keys) = key_sets().next().expect("uniform keys");
    let sorted = SortedKeys::integers(&keys).expect("ascending");
    let said = |auto: AutoSpec, plan: &BuildPlan<u64>| {
        let design = auto.design(sorted, plan).expect("fits");
        format!("{design}{design:?}")
    };
    let keyed = said(AutoSpec::robust(), &plan(14.0).with_secret(SECRET));
    assert!(
        keyed.contains("under the plan's secret") && keyed.contains("ribbon:unsampled,secret"),
        "{keyed}"
    );
    assert!(!keyed.contains("no enemy"), "{keyed}");
    for (auto, plan) in [(AutoSpec::robust(), plan(14.0)), (AutoSpec::new(), plan(14.0).with_secret(SECRET))]
    {
        assert!(!said(auto, &plan).contains("secret"), "{auto:?}");
    }
    let [with, without] = [plan(14.0).with_secret(SECRET), plan(14.0)]
        .map(|plan| AutoSpec::new().design(sorted, &plan).expect("fits").build().expect("fits"));
    assert_eq!(with, without, "a choice that is not robust leaves the secret aside");
}

#[test]
fn robust_strings_under_a_secret_are_refused() {
    let column: ByteColumn = ["ant", "bee", "cat"].iter().collect();
    let keys = SortedKeys::byte_strings(&column).expect("ascending");
    let plan = BuildPlan::new(Budget::bits_per_key(14.0).expect("in range"));
    let keyed = plan.clone().with_secret(SECRET);
    let spec = crate::spec::<[u8]>("auto:robust").expect("known");
    let begun = spec.builder(&keyed).map(|_| ()).expect_err("before there are keys");
    for refused in [begun, spec.build(keys, &keyed).expect_err("of strings nothing is promised")] {
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
        assert!(refused.to_string().contains("is for integers"), "{refused}");
    }
    assert!(spec.build(keys, &plan).is_ok() && AutoSpec::new().design(keys, &keyed).is_ok());
}
