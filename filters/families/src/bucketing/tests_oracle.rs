//! Segments against an ordered set: random runs of keys, and bytes that were damaged.

use std::collections::BTreeSet;

use lacuna_base::{
    Budget, BuildPlan, DynFilter, ENVELOPE_BYTES, FilterSpec, KeyStatistics, PredictRate, Sealed, SortedKeys,
    U64Range,
};
use lacuna_testkit::effort;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::BucketingSpec;
use super::codec::HEADER_BYTES;

/// Seed of random sets.
const SEED: u64 = 23;

fn plan(bits_per_key: f64) -> BuildPlan<u64> {
    BuildPlan::new(Budget::bits_per_key(bits_per_key).expect("in range"))
}

/// Gaps of `2^gap_log2` keys and more are left out if that fits; 0 leaves the choice to the builder.
fn sealed(keys: &[u64], gap_log2: u32, bits_per_key: f64) -> Sealed {
    let gap = if gap_log2 == 0 { String::new() } else { format!("gap={gap_log2},") };
    let spec: BucketingSpec = format!("bucketing:{gap}slice=1,heavy=1").parse().expect("a spec");
    let sealed =
        spec.build(SortedKeys::integers(keys).expect("ascending"), &plan(bits_per_key)).expect("fits");
    let max_bytes = plan(bits_per_key).budget().payload_bytes(keys.len());
    assert!(sealed.payload().len() <= max_bytes, "{} bytes in {max_bytes}", sealed.payload().len());
    sealed
}

/// Whether a filter of more than two keys has a table of segments.
fn has_segments(sealed: &Sealed) -> bool {
    sealed.payload().get(8..HEADER_BYTES).is_some_and(|count| count != [0; 4])
}

fn ask(filter: &DynFilter<u64>, lo: u64, hi: u64) -> bool {
    filter.may_contain_range(U64Range::new(lo, hi).expect("not inverted"))
}

/// The answer to `lo..=hi` is true, and right if the filter says that it is exact.
fn answer_is_true(filter: &DynFilter<u64>, lo: u64, hi: u64, holds: bool) -> Result<(), String> {
    let maybe = ask(filter, lo, hi);
    if holds && !maybe {
        return Err(format!("{lo}..={hi} holds a key and is denied"));
    }
    if maybe && !holds && filter.rate_bound(hi - lo) == 0.0 {
        return Err(format!("{lo}..={hi} holds no key, is \"maybe\", and the stated bound is 0"));
    }
    Ok(())
}

/// Runs of 1 to 9 keys with steps of 1 to 6, up to 2^62 apart, at either end of the key space or anywhere.
fn runs() -> impl Strategy<Value = Vec<u64>> {
    let run = (0_u32..63, 0_u64..4, 1_usize..10, 1_u64..7);
    let anchor = prop_oneof![Just(0_u64), Just(u64::MAX), any::<u64>()];
    (anchor, any::<bool>(), prop::collection::vec(run, 1..25)).prop_map(|(anchor, upwards, runs)| {
        let mut keys = BTreeSet::new();
        let mut at = anchor;
        for (distance_log2, more, len, step) in runs {
            for place in 0..len as u64 {
                let key = if upwards { at.checked_add(place * step) } else { at.checked_sub(place * step) };
                keys.extend(key);
            }
            let far = (1_u64 << distance_log2) + more + len as u64 * step;
            at = if upwards { at.saturating_add(far) } else { at.saturating_sub(far) };
        }
        keys.into_iter().collect()
    })
}

#[test]
fn random_runs_answer_as_a_set_does() {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&SEED.to_le_bytes());
    let cases = effort::short_or_long(3_000, 200_000);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let bits = prop::sample::select(vec![3.0, 10.0, 20.0, 40.0, 70.0, 128.0]);
    let cut = std::cell::Cell::new(0);
    let ran = runner.run(&(runs(), 0_u32..65, bits), |(keys, gap_log2, bits)| {
        let sealed = sealed(&keys, gap_log2, bits);
        cut.set(cut.get() + u32::from(has_segments(&sealed)));
        let filter = crate::open::<u64, _>(sealed).expect("just sealed");
        let set: BTreeSet<u64> = keys.iter().copied().collect();
        let middles = keys.windows(2).map(|pair| pair[0].midpoint(pair[1]));
        let around = keys.iter().flat_map(|key| [key.saturating_sub(1), *key, key.saturating_add(1)]);
        let mut ends: Vec<u64> = around.chain(middles).collect();
        ends.sort_unstable();
        for (index, &lo) in ends.iter().enumerate() {
            // The next few ends cross a border or two; the last crosses all of them.
            for &hi in ends[index..].iter().take(6).chain(ends.last()) {
                let holds = set.range(lo..=hi).next().is_some();
                answer_is_true(&filter, lo, hi, holds).map_err(TestCaseError::fail)?;
            }
        }
        Ok(())
    });
    assert!(ran.is_ok(), "seed {SEED}: {}", ran.expect_err("not ok"));
    assert!(cut.get() > cases / 4, "{} of {cases} sets had segments, seed {SEED}", cut.get());
}

/// Thirty runs of five keys, whose table is most of what is stored.
fn thirty_runs() -> Vec<u64> {
    (0..150_u64).map(|i| ((i / 5 + 1).pow(3) << 20) + (i % 5) * 3).collect()
}

/// Every flipped bit and every cut of the payload: checked bytes are refused, unchecked ones are asked without a panic.
#[test]
fn damaged_segments_are_refused_or_asked_without_harm() {
    let keys = thirty_runs();
    let sealed = sealed(&keys, 19, 60.0);
    assert!(has_segments(&sealed), "gaps of 2^19 keys are left out");
    let whole = sealed.as_bytes();
    for bit in ENVELOPE_BYTES * 8..whole.len() * 8 {
        let bytes = lacuna_testkit::flipped(whole, bit);
        assert!(crate::open_verified::<u64, _>(bytes.clone()).is_err(), "bit {bit}");
        let Ok(filter) = crate::open::<u64, _>(bytes) else { continue };
        for pair in keys.windows(2) {
            std::hint::black_box((ask(&filter, pair[0], pair[1]), ask(&filter, pair[0] + 1, pair[0] + 1)));
        }
    }
    for len in 0..whole.len() {
        assert!(crate::open::<u64, _>(whole[..len].to_vec()).is_err(), "{len} bytes");
        let Some(payload) = whole.get(ENVELOPE_BYTES..len) else { continue };
        // With a header that fits, the table must be found too short, or every question be answered.
        let shorter = lacuna_testkit::with_payload(whole, payload).expect("the whole opens");
        let Ok(filter) = crate::open::<u64, _>(shorter) else { continue };
        keys.windows(2).for_each(|pair| _ = std::hint::black_box(ask(&filter, pair[0] + 1, pair[1])));
    }
}

/// Where all gaps are counted, a set is predicted to be exact if it is, and the size is right; budgets from far too small to
/// ample.
#[test]
fn predicted_exact_sets_are_built_exactly() {
    let sets = [
        thirty_runs(),
        (0..2_000_u64).map(|i| ((i / 20) << 27) + (i % 20) * (1 + i / 20 % 3)).collect(),
        (0..3_000_u64).map(|i| i * 5).collect(),
        (0..3_000_u64).map(|i| i * 5 + (i / 1_000) * (1 << 50)).collect(),
        (0..400_u64).map(|i| i.pow(5)).collect(),
    ];
    let (mut exact, mut coarse) = (0, 0);
    for (set, keys) in sets.iter().enumerate() {
        for tenths in 20..400 {
            let plan = plan(f64::from(tenths) / 10.0);
            let case = format!("set {set}, {} bits", f64::from(tenths) / 10.0);
            let sorted = SortedKeys::integers(keys).expect("ascending");
            let Ok(predicted) = BucketingSpec::new().predict(&KeyStatistics::new(sorted, &plan)) else {
                continue;
            };
            let sealed = BucketingSpec::new().build(sorted, &plan).expect("what is predicted fits");
            let bytes = sealed.payload().len() as f64;
            assert!(
                (predicted.payload_bytes as f64 - bytes).abs() <= 0.05 * bytes + 24.0,
                "{case}: {bytes} bytes, {predicted:?}"
            );
            let is_exact = crate::open::<u64, _>(sealed).expect("just sealed").rate_bound(9) == 0.0;
            assert_eq!(predicted.is_robust(), is_exact, "{case}: {predicted:?}");
            *if is_exact { &mut exact } else { &mut coarse } += 1;
        }
    }
    assert!(exact > 200 && coarse > 200, "{exact} exact, {coarse} not");
}
