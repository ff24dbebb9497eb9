//! What a range is cut into, what it may ask, and what is promised of the answers.

use lacuna_base::{FilterSpec, SortedKeys, U64Range};
use lacuna_workload::Rng;

use super::support::{body, empty_ranges, measured, plan, uniform_keys};
use crate::integer_build::{BodyOrder, IntegerSpec};
use crate::rosetta::RosettaSpec;
use crate::rosetta::builder::Design;
use crate::rosetta::codec::Header;
use crate::rosetta::model::Cover;
use crate::threads::Threads;

/// The example of the module page: 4 to 11 are the nodes 4-7 and 8-11.
#[test]
fn a_range_is_its_largest_nodes() {
    let cover = Cover::of(4, 11);
    assert_eq!([0, 1, 2, 3].map(|height| cover.count(height)), [0.0, 0.0, 2.0, 0.0]);
    let mut rng = Rng::new(1);
    for _ in 0..2_000 {
        let lo = rng.next_u64() >> rng.below(64);
        let hi = lo.saturating_add(rng.below(100_000));
        let cover = Cover::of(lo, hi);
        let keys = |height: usize| cover.count(height) * (1u64 << height) as f64;
        assert_eq!((0..64).map(keys).sum::<f64>(), (hi - lo + 1) as f64, "{lo}..={hi}");
        assert!((0..64).all(
            |height| cover.count(height) <= 2.0 && (cover.count(height) == 0.0 || height <= cover.top())
        ));
    }
    assert_eq!(Cover::of(0, u64::MAX).count(63), 2.0);
}

/// Proximity to keys changes nothing.
#[test]
fn rates_next_to_keys_are_those_anywhere() {
    let seed = 4;
    let mut rng = Rng::new(seed);
    let keys = uniform_keys(50_000, &mut rng);
    let sealed = RosettaSpec::new()
        .build(SortedKeys::integers(&keys).expect("ascending"), &plan(10.0, seed, &[]))
        .expect("fits");
    let anywhere = measured(&sealed, &empty_ranges(&keys, 100_000, (2, 32), 0, &mut rng));
    let behind = measured(&sealed, &empty_ranges(&keys, 100_000, (2, 32), 32, &mut rng));
    assert!((anywhere.0 / behind.0 - 1.0).abs() < 0.05, "{anywhere:?} {behind:?}, seed {seed}");
}

/// No question takes more probes than the spec says, whatever its length.
#[test]
fn probes_are_bounded() {
    let seed = 6;
    let mut rng = Rng::new(seed);
    let keys = uniform_keys(5_000, &mut rng);
    let sample = empty_ranges(&keys, 500, (1, 4_096), 0, &mut rng);
    for max_probes in [1, 2, 17, 64, 500] {
        let spec = RosettaSpec::new().with_max_probes(max_probes);
        let sealed = spec
            .build(SortedKeys::integers(&keys).expect("ascending"), &plan(14.0, seed, &sample))
            .expect("fits");
        let rosetta = body(&sealed);
        let mut longest = 0;
        for _ in 0..20_000 {
            let lo = rng.next_u64();
            let hi = lo.saturating_add(rng.next_u64() >> rng.below(64));
            let (_, probes) = rosetta.walk(sealed.payload(), lo, hi);
            assert!(probes <= max_probes, "{lo}..={hi} took {probes}, seed {seed}");
            longest = longest.max(probes);
        }
        assert!(longest == max_probes || max_probes > 64, "{longest} of {max_probes}, seed {seed}");
    }
}

/// The bound is stated for short ranges, and left open where the bound on probes could bite.
#[test]
fn the_bound_knows_its_reach() {
    let keys: Vec<u64> = (0..10_000).map(|i| i * 1_000_003).collect();
    let sorted = SortedKeys::integers(&keys).expect("ascending");
    let filter = crate::open::<u64, _>(RosettaSpec::new().build(sorted, &plan(16.0, 8, &[])).expect("fits"))
        .expect("just sealed");
    assert!(filter.rate_bound(1) < 0.05 && filter.rate_bound(16) < 0.5);
    assert!(filter.rate_bound(1) < filter.rate_bound(16));
    assert_eq!(filter.rate_bound(1_000), 1.0);
    assert!(
        !filter.may_contain_range(U64Range::new(keys[9_000] + 40, keys[9_000] + 41).expect("not inverted"))
    );
}

#[test]
fn the_smallest_body_is_named() {
    let order =
        BodyOrder { seed: 0, secret: None, key_bits: 64, sample_ranges: &Vec::new, threads: Threads::ONE };
    let keys: Vec<u64> = (0..100).map(|i| i * 1_000).collect();
    let small = RosettaSpec::new().write_body(&keys, 10, &order).expect_err("no room");
    let body = RosettaSpec::new().write_body(&keys, small.smallest_bytes, &order).expect("named");
    assert!(Header::read(&body).is_ok() && body.len() == small.smallest_bytes);
    assert!(Design::new(RosettaSpec::new(), &keys, small.smallest_bytes - 1, &[]).is_err());
}

#[test]
fn specs_are_written_as_they_are_read() {
    for text in ["rosetta", "rosetta:probes=9", "rosetta:single", "rosetta:published,probes=max"] {
        assert_eq!(crate::spec::<u64>(text).expect("known").name(), text);
    }
    for text in ["rosetta:published,single", "rosetta:probes=0", "rosetta:probes=2000000"] {
        assert!(crate::spec::<u64>(text).is_err(), "{text}");
    }
}
