//! Building never fails, and what is built denies no key.

use std::ops::Bound::{Excluded, Included};

use lacuna_base::{Envelope, Error};
use lacuna_workload::Rng;

use crate::support::{CODECS, Workshop, keys, specs};

#[test]
fn added_keys_are_found() {
    for (seed, codec) in (1..).zip(CODECS) {
        let keys = keys(seed, 3_000);
        for spec in specs(codec) {
            let workshop = Workshop::new(spec);
            let sealed = workshop.build(&keys).unwrap_or_else(|| panic!("{}", workshop.counts()));
            let guard = workshop.open(sealed.as_bytes());
            let mut rng = Rng::new(seed);
            for key in &keys {
                let width = rng.below(1 << 20);
                let hi = (u64::from_be_bytes(*key) + width).to_be_bytes();
                let lo = u64::from_be_bytes(*key).saturating_sub(rng.below(1 << 20)).to_be_bytes();
                let context = || format!("{}, seed {seed}, key {key:x?}", workshop.spec);
                assert!(guard.may_contain_key(key), "{}", context());
                assert!(guard.may_contain_bounds(Included(key), Included(&hi)), "{}", context());
                assert!(guard.may_contain_bounds(Included(&lo), Included(key)), "{}", context());
                assert!(
                    width == 0 || guard.may_contain_bounds(Included(key), Excluded(&hi)),
                    "{}",
                    context()
                );
                assert!((0..=8).all(|len| guard.may_contain_prefix(&key[..len])), "{}", context());
            }
        }
    }
}

#[test]
fn absent_keys_are_mostly_skipped() {
    // Grafite's bound counts the keys of a range as the codec sees them: eight-byte strings after a shared prefix
    // are far apart in their window, so strings are tested with a family that goes by gaps.
    for (family, codec) in [("grafite", "fixed_be:8"), ("grafite", "composite:4,4"), ("bucketing", "bytes")] {
        let workshop = Workshop::parse(&format!("{family}@16 codec={codec} seed=5"));
        let sealed = workshop.build(&keys(9, 3_000)).unwrap();
        let guard = workshop.open(sealed.as_bytes());
        let mut rng = Rng::new(9);
        for _ in 0..2_000 {
            // Between the clusters: no key is there.
            let lo = (rng.below(49) << 40) + (1 << 30) + rng.below(1 << 30);
            guard.may_contain_bounds(Included(&lo.to_be_bytes()), Included(&(lo + 9).to_be_bytes()));
        }
        let counts = workshop.counts();
        assert_eq!(counts.asked(), 2_000, "{codec}, seed 9");
        assert!(counts.skipped() > 1_900, "{codec}, seed 9: {counts}");
    }
}

#[test]
fn repeated_keys_count_once() -> Result<(), Error> {
    let workshop = Workshop::parse("bloom@10");
    let sealed = workshop.build(&["a", "a", "b", "b", "b", "c"]).unwrap();
    assert_eq!(Envelope::open(sealed.as_bytes())?.0.key_count, 3);
    Ok(())
}

#[test]
fn keys_out_of_order_store_nothing() {
    let workshop = Workshop::parse("bloom@10");
    assert!(workshop.build(&["b", "a"]).is_none());
    let counts = workshop.counts();
    assert_eq!((counts.build_failures, counts.built), (1, 0));
    assert!(counts.last_problem.unwrap().contains("after"));
}

#[test]
fn keys_the_codec_does_not_take_store_nothing() {
    let workshop = Workshop::parse("bloom@10 codec=fixed_be:8");
    assert!(workshop.counts().check().is_ok());
    assert!(workshop.build(&["12345678", "123456789"]).is_none());
    let counts = workshop.counts();
    assert_eq!(counts.build_failures, 1);
    let problem = counts.check().unwrap_err().to_string();
    assert!(problem.contains("1 filters were not built") && problem.contains("codec"), "{problem}");
}

#[test]
fn a_failed_builder_starts_over() {
    let workshop = Workshop::parse("bloom@10");
    let mut builder = workshop.builder();
    ["b", "a", "c"].iter().for_each(|key| builder.add(key.as_bytes()));
    assert!(builder.finish().is_none());
    builder.add(b"a");
    assert!(builder.finish().is_some());
}

#[test]
fn recorded_queries_reach_the_builder() {
    let keys = keys(3, 3_000);
    let number = |key: &[u8]| u64::from_be_bytes(key.try_into().expect("eight bytes"));
    let build = |seen: usize| {
        let workshop = Workshop::parse("prefix_bloom@10 codec=fixed_be:8");
        // Between the clusters, where long queries are empty.
        let gaps = keys.windows(2).map(|pair| (number(&pair[0]), number(&pair[1])));
        let wide: Vec<(u64, u64)> = gaps.filter(|(below, above)| above - below > 1 << 30).collect();
        for (below, above) in wide.iter().cycle().take(seen) {
            let lo = below.midpoint(*above);
            workshop.log.record(Included(&lo.to_be_bytes()), Included(&(lo + (1 << 20)).to_be_bytes()));
        }
        workshop.build(&keys).unwrap()
    };
    assert!(build(0).as_bytes() == build(0).as_bytes());
    assert!(build(0).as_bytes() != build(10_000).as_bytes(), "long queries ask for short prefixes");
}

#[test]
fn off_builds_and_counts_nothing() {
    let workshop = Workshop::parse("off codec=fixed_be:8");
    assert!(workshop.build(&["any length"]).is_none());
    assert_eq!(workshop.counts(), Workshop::parse("off").counts());
}

#[test]
fn estimates_bound_what_is_built() {
    for codec in CODECS {
        let keys = keys(7, 2_000);
        for spec in specs(codec) {
            let workshop = Workshop::new(spec);
            let sealed = workshop.build(&keys).unwrap();
            let grown = workshop.counts().coarsened;
            assert!(
                grown > 0 || sealed.as_bytes().len() <= workshop.spec.sealed_bytes(keys.len()),
                "{codec}"
            );
        }
    }
}
