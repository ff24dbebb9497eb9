//! What is Rosetta's own; the conformance suite proves the rest.

use std::sync::Arc;

use lacuna_core::{
    Budget, BuildPlan, ByteColumn, ByteRange, Envelope, FilterSpec, RangeFilter, Sample, Sealed, SortedKeys,
    U64Range,
};
use lacuna_workload::Rng;

use super::builder::Design;
use super::codec::Header;
use super::model::Cover;
use super::{Rosetta, RosettaSpec};
use crate::integer::IntegerBody;
use crate::integer_build::{BodyOrder, IntegerSpec};

fn uniform_keys(count: usize, rng: &mut Rng) -> Vec<u64> {
    let mut keys: Vec<u64> = (0..count).map(|_| rng.next_u64()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Empty ranges of `shortest` to `longest` keys that start anywhere or, for `behind` above 0, so far behind a key.
fn empty_ranges(
    keys: &[u64],
    count: usize,
    (shortest, longest): (u64, u64),
    behind: u64,
    rng: &mut Rng,
) -> Vec<(u64, u64)> {
    let mut ranges = Vec::new();
    while ranges.len() < count {
        let lo = match behind {
            0 => rng.next_u64(),
            _ => keys[rng.index(keys.len())].saturating_add(rng.between(1, behind)),
        };
        let hi = lo.saturating_add(rng.between(shortest, longest) - 1);
        if keys.partition_point(|&key| key < lo) == keys.partition_point(|&key| key <= hi) {
            ranges.push((lo, hi));
        }
    }
    ranges
}

fn plan(bits: f64, seed: u64, ranges: &[(u64, u64)]) -> BuildPlan<u64> {
    let mut sample = Sample::new();
    ranges.iter().for_each(|&(lo, hi)| sample.push(lo, hi));
    BuildPlan::new(Budget::bits_per_key(bits).expect("in range"))
        .with_seed(seed)
        .with_sample(Arc::new(sample))
}

fn body(sealed: &Sealed) -> Rosetta {
    let (envelope, payload) = Envelope::open(sealed.as_bytes()).expect("just sealed");
    Rosetta::open(payload, &envelope).expect("just sealed")
}

/// Shares of "maybe", and probes, of `ranges`.
fn measured(sealed: &Sealed, ranges: &[(u64, u64)]) -> (f64, f64) {
    let rosetta = body(sealed);
    let answers = ranges.iter().map(|&(lo, hi)| rosetta.walk(sealed.payload(), lo, hi));
    let (positives, probes) = answers.fold((0u32, 0u64), |(positives, probes), (answer, walked)| {
        (positives + u32::from(answer), probes + u64::from(walked))
    });
    (f64::from(positives) / ranges.len() as f64, probes as f64 / ranges.len() as f64)
}

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

/// The paper's balance: filters of upper levels halve what their parts let through, the last has the rest, and those
/// above the longest range have none.
#[test]
fn published_filters_halve_doubts() {
    let seed = 2;
    let mut rng = Rng::new(seed);
    let keys = uniform_keys(20_000, &mut rng);
    let sample = empty_ranges(&keys, 2_000, (64, 64), 0, &mut rng);
    let sealed = RosettaSpec::published()
        .build(SortedKeys::integers(&keys).expect("ascending"), &plan(26.0, seed, &sample))
        .expect("fits");
    let header = body(&sealed).header;
    let bits: Vec<f64> =
        header.levels.iter().map(|level| level.bits() as f64 / keys.len() as f64).take(8).collect();
    assert!(bits[1..5].iter().all(|bits| (1.44 - bits).abs() < 0.5), "{bits:?}, seed {seed}");
    assert!(bits[0] > 16.0, "{bits:?}, seed {seed}");
    assert_eq!(header.filtered >> 7, 0, "{header:?}");
}

#[test]
fn a_single_level_takes_all() {
    let keys: Vec<u64> = (0..1_000).map(|i| i * 7_777).collect();
    let sealed = RosettaSpec::single_level()
        .build(SortedKeys::integers(&keys).expect("ascending"), &plan(10.0, 0, &[(1, 5_000)]))
        .expect("fits");
    assert_eq!(body(&sealed).header.filtered, 1);
}

/// Designs are chosen by prediction, so predictions must be near what comes out: rate and probes, with and without a
/// bound that bites.
#[test]
fn predictions_are_near_the_measured() {
    let seed = 3;
    let mut rng = Rng::new(seed);
    let keys = uniform_keys(50_000, &mut rng);
    let sorted = SortedKeys::integers(&keys).expect("ascending");
    let specs = ["rosetta", "rosetta:single", "rosetta:published", "rosetta:published,probes=24"];
    for (lengths, bits) in [((1, 1), 8.0), ((2, 32), 10.0), ((2, 32), 16.0), ((2, 256), 18.0)] {
        let sample = empty_ranges(&keys, 2_000, lengths, 0, &mut rng);
        let asked = empty_ranges(&keys, 40_000, lengths, 0, &mut rng);
        let plan = plan(bits, seed, &sample);
        for text in specs {
            let mut parsed = crate::spec_text::SpecText::parse(text).expect("well formed");
            let spec = RosettaSpec::from_text(&mut parsed).expect("known");
            let predicted = spec.predict(sorted, &plan).expect("fits");
            let sealed = spec.build(sorted, &plan).expect("fits");
            let (rate, probes) = measured(&sealed, &asked);
            let place =
                format!("{text} {lengths:?} at {bits}: {predicted:?}, measured {rate} {probes}, seed {seed}");
            let slack = 0.1 * rate + 3.3 * (rate / asked.len() as f64).sqrt() + 0.02 * rate.sqrt();
            assert!((predicted.rate - rate).abs() <= slack, "{place}");
            // A "maybe" ends the walk early, which the prediction leaves out.
            assert!(probes <= predicted.probes_per_query * 1.1, "{place}");
            assert!(probes >= predicted.probes_per_query * (0.9 - rate), "{place}");
            let bits_per_key = sealed.payload().len() as f64 * 8.0 / keys.len() as f64;
            assert!((predicted.bits_per_key - bits_per_key).abs() < 1e-9, "{place}");
        }
    }
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

/// The choice is at most a tenth worse than either of the paper's ways on its own sample.
#[test]
fn the_choice_is_no_worse_than_the_papers() {
    let seed = 5;
    let mut rng = Rng::new(seed);
    let keys = uniform_keys(20_000, &mut rng);
    let sorted = SortedKeys::integers(&keys).expect("ascending");
    for (lengths, bits) in [((1, 1), 10.0), ((2, 64), 12.0), ((2, 1_024), 18.0), ((1_024, 65_536), 30.0)] {
        let plan = plan(bits, seed, &empty_ranges(&keys, 128, lengths, 0, &mut rng));
        let rate = |spec: RosettaSpec| spec.predict(sorted, &plan).expect("fits").rate;
        let chosen = rate(RosettaSpec::new());
        let others = [RosettaSpec::single_level(), RosettaSpec::published().with_most_probes(64)].map(rate);
        assert!(others.iter().all(|other| chosen <= other * 1.11), "{lengths:?}: {chosen}, {others:?}");
    }
}

/// No question takes more probes than the spec says, whatever its length.
#[test]
fn probes_are_bounded() {
    let seed = 6;
    let mut rng = Rng::new(seed);
    let keys = uniform_keys(5_000, &mut rng);
    let sample = empty_ranges(&keys, 500, (1, 4_096), 0, &mut rng);
    for most_probes in [1, 2, 17, 64, 500] {
        let spec = RosettaSpec::new().with_most_probes(most_probes);
        let sealed = spec
            .build(SortedKeys::integers(&keys).expect("ascending"), &plan(14.0, seed, &sample))
            .expect("fits");
        let rosetta = body(&sealed);
        let mut longest = 0;
        for _ in 0..20_000 {
            let lo = rng.next_u64();
            let hi = lo.saturating_add(rng.next_u64() >> rng.below(64));
            let (_, probes) = rosetta.walk(sealed.payload(), lo, hi);
            assert!(probes <= most_probes, "{lo}..={hi} took {probes}, seed {seed}");
            longest = longest.max(probes);
        }
        assert!(longest == most_probes || most_probes > 64, "{longest} of {most_probes}, seed {seed}");
    }
}

/// Between strings the sample decides through the window.
#[test]
fn strings_are_predicted_through_their_window() {
    let seed = 7;
    let mut rng = Rng::new(seed);
    let mut numbers: Vec<u64> = (0..20_000).map(|_| rng.below(1 << 30)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let name = |number: u64| [b"user/", &number.to_be_bytes()[..]].concat();
    let keys: ByteColumn = numbers.iter().map(|&number| name(number)).collect();
    let sorted = SortedKeys::byte_strings(&keys).expect("ascending");
    let ranges = empty_ranges(&numbers, 4_000, (2, 16), 20, &mut rng);
    let named: Vec<(Vec<u8>, Vec<u8>)> = ranges.iter().map(|&(lo, hi)| (name(lo), name(hi))).collect();
    let mut sample = Sample::new();
    named.iter().for_each(|(lo, hi)| sample.push(&lo[..], &hi[..]));
    let plan = BuildPlan::<[u8]>::new(Budget::bits_per_key(12.0).expect("in range"))
        .with_seed(seed)
        .with_sample(Arc::new(sample));
    let predicted = RosettaSpec::new().predict_bytes(sorted, &plan).expect("fits");
    let filter =
        crate::open::<[u8], _>(RosettaSpec::new().build(sorted, &plan).expect("fits")).expect("sealed");
    let asked = named.iter().map(|(lo, hi)| ByteRange::new(lo, hi).expect("not inverted"));
    let rate = asked.filter(|&range| filter.may_contain_range(range)).count() as f64 / named.len() as f64;
    assert!((predicted.rate - rate).abs() < 0.2 * rate + 0.01, "{predicted:?}, measured {rate}, seed {seed}");
    assert!(predicted.rate < 0.3, "{predicted:?}");
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
    let order = BodyOrder { seed: 0, key_bits: 64, sample_ranges: &Vec::new };
    let keys: Vec<u64> = (0..100).map(|i| i * 1_000).collect();
    let small = RosettaSpec::new().write_body(&keys, 10, &order).expect_err("no room");
    let body = RosettaSpec::new().write_body(&keys, small.smallest_bytes, &order).expect("named");
    assert!(Header::read(&body).is_ok() && body.len() == small.smallest_bytes);
    assert!(Design::new(RosettaSpec::new(), &keys, small.smallest_bytes - 1, &[]).is_err());
}

#[test]
fn specs_are_written_as_they_are_read() {
    for text in ["rosetta", "rosetta:probes=9", "rosetta:single", "rosetta:published,probes=1048576"] {
        assert_eq!(crate::spec::<u64>(text).expect("known").name(), text);
    }
    for text in ["rosetta:published,single", "rosetta:probes=0", "rosetta:probes=2000000"] {
        assert!(crate::spec::<u64>(text).is_err(), "{text}");
    }
}
