//! What is SNARF's own; the conformance suite proves the rest.

mod changes;

use std::sync::Arc;

use lacuna_base::{
    Budget, BuildPlan, ByteColumn, ByteRange, DynFilter, FilterSpec, RangeFilter, Sample, SortedKeys,
    U64Range,
};
use lacuna_workload::{KeySource, Keys, ReadOptions, Rng};

use super::SnarfSpec;
use super::spline::Segment;
use crate::integer_build::{BodyOrder, IntegerSpec};
use crate::threads::Threads;

fn keys_of(source: &str, seed: u64) -> Vec<u64> {
    let source = KeySource::parse(source).expect("known");
    let keys = source.load(&ReadOptions::default(), seed, &mut |_| {}).expect("generated");
    let Keys::U64(keys) = keys else { unreachable!("generated keys are integers") };
    keys
}

fn plan(bits: f64, ranges: &[(u64, u64)]) -> BuildPlan<u64> {
    let mut sample = Sample::new();
    ranges.iter().for_each(|&(lo, hi)| sample.push(lo, hi));
    BuildPlan::new(Budget::bits_per_key(bits).expect("in range")).with_sample(Arc::new(sample))
}

fn open(spec: SnarfSpec, keys: &[u64], plan: &BuildPlan<u64>) -> Box<DynFilter<u64>> {
    let keys = SortedKeys::integers(keys).expect("ascending");
    crate::open(spec.build(keys, plan).expect("fits")).expect("just sealed")
}

/// Empty ranges of up to `longest` keys, starting anywhere between the keys or `behind` a key.
fn empty_ranges(
    keys: &[u64],
    count: usize,
    longest: u64,
    behind: Option<u64>,
    rng: &mut Rng,
) -> Vec<(u64, u64)> {
    let mut ranges = Vec::new();
    while ranges.len() < count {
        let lo = match behind {
            None => rng.between(keys[0], keys[keys.len() - 1]),
            Some(distance) => keys[rng.index(keys.len())].saturating_add(rng.between(1, distance)),
        };
        let hi = lo.saturating_add(rng.between(1, longest) - 1);
        if keys.partition_point(|&key| key < lo) == keys.partition_point(|&key| key <= hi) {
            ranges.push((lo, hi));
        }
    }
    ranges
}

fn rate(filter: &DynFilter<u64>, ranges: &[(u64, u64)]) -> f64 {
    let asked = ranges.iter().filter_map(|&(lo, hi)| U64Range::new(lo, hi));
    asked.filter(|&range| filter.may_contain_range(range)).count() as f64 / ranges.len() as f64
}

/// The example of the module page.
#[test]
fn keys_stand_on_positions_between_knots() {
    let segment = Segment::new(100, 200, 10);
    assert_eq!([137, 161].map(|key| segment.position(key)), [3, 6]);
    assert_eq!([140, 155].map(|key| segment.position(key)), [3, 5]);
    assert_eq!([150, 155].map(|key| segment.position(key)), [4, 5]);
}

/// The paper's claim: the rate falls by half with each bit, whatever the range's length.
#[test]
fn rates_fall_with_bits_not_with_lengths() {
    let seed = 1;
    let keys = keys_of("uniform:100k", seed);
    let mut rng = Rng::new(seed);
    for bits in [6.0, 8.0, 10.0, 12.0] {
        let filter = open(SnarfSpec::new(), &keys, &plan(bits, &[]));
        for longest in [1, 32, 1 << 20] {
            let ranges = empty_ranges(&keys, 100_000, longest, None, &mut rng);
            let (rate, max) = (rate(&*filter, &ranges), (2.5 - bits).exp2());
            assert!(
                rate <= max + 3.3 * (max / 1e5).sqrt(),
                "{rate} at {bits} bits, {max} allowed, seed {seed}"
            );
        }
        assert!(rate(&*filter, &empty_ranges(&keys, 1_000, 32, Some(32), &mut rng)) > 0.99);
    }
}

/// The prediction is the filter's answer, but for the few positions that measuring all blocks may add or take.
#[test]
fn predictions_are_the_measured_rates() {
    let seed = 2;
    let mut rng = Rng::new(seed);
    for source in ["uniform:50k", "normal:50k", "zipf:50k", "clustered:50k"] {
        let keys = keys_of(source, seed);
        for (bits, behind) in [(8.0, None), (12.0, None), (12.0, Some(1 << 30)), (20.0, Some(1 << 20))] {
            let ranges = empty_ranges(&keys, 20_000, 64, behind, &mut rng);
            let plan = plan(bits, &ranges);
            let sorted = SortedKeys::integers(&keys).expect("ascending");
            let predicted = SnarfSpec::new().predict(sorted, &plan).expect("fits");
            let filter = open(SnarfSpec::new(), &keys, &plan);
            let measured = rate(&*filter, &ranges);
            let place = format!("{source} at {bits}: {predicted:?}, measured {measured}, seed {seed}");
            assert!((predicted.rate - measured).abs() <= 0.05 * measured + 0.002, "{place}");
            let body_bits = (filter.size_in_bytes() - 64) as f64 * 8.0 / keys.len() as f64;
            assert!((predicted.bits_per_key - body_bits).abs() < 0.1, "{place}, {body_bits} bits");
            assert!(predicted.probes_per_query < 128.0, "{place}");
        }
    }
}

#[test]
fn strings_are_predicted_through_their_window() {
    let seed = 3;
    let mut rng = Rng::new(seed);
    let mut numbers: Vec<u64> = (0..20_000).map(|_| rng.below(1 << 40)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let name = |number: u64| [b"user/", &number.to_be_bytes()[..]].concat();
    let keys: ByteColumn = numbers.iter().map(|&number| name(number)).collect();
    let sorted = SortedKeys::byte_strings(&keys).expect("ascending");
    let ranges = empty_ranges(&numbers, 20_000, 1 << 20, None, &mut rng);
    let named: Vec<(Vec<u8>, Vec<u8>)> = ranges.iter().map(|&(lo, hi)| (name(lo), name(hi))).collect();
    let mut sample = Sample::new();
    named.iter().for_each(|(lo, hi)| sample.push(&lo[..], &hi[..]));
    let plan =
        BuildPlan::<[u8]>::new(Budget::bits_per_key(10.0).expect("in range")).with_sample(Arc::new(sample));
    let predicted = SnarfSpec::new().predict_bytes(sorted, &plan).expect("fits");
    let filter =
        crate::open::<[u8], _>(SnarfSpec::new().build(sorted, &plan).expect("fits")).expect("sealed");
    let asked = named.iter().map(|(lo, hi)| ByteRange::new(lo, hi).expect("not inverted"));
    let measured = asked.filter(|&range| filter.may_contain_range(range)).count() as f64 / named.len() as f64;
    assert!(
        (predicted.rate - measured).abs() <= 0.05 * measured + 0.002,
        "{predicted:?} {measured}, seed {seed}"
    );
}

/// Where a position is left for every key, nothing is wrong.
#[test]
fn dense_keys_are_told_exactly() {
    let keys: Vec<u64> = (0..5_000u64).map(|i| 1_000_000 + 3 * i + i % 2).collect();
    let filter = open(SnarfSpec::new(), &keys, &plan(10.0, &[]));
    assert_eq!(filter.rate_bound(1), 0.0);
    for key in keys[0]..=keys[keys.len() - 1] {
        assert_eq!(filter.may_contain(key), keys.binary_search(&key).is_ok(), "{key}");
    }
}

/// Every range that ends next to a key or holds one, over any number of blocks.
#[test]
fn ranges_over_many_blocks_are_found() {
    let seed = 4;
    let keys = keys_of("clustered:500", seed);
    for block_keys in [2, 5, 128] {
        let filter = open(SnarfSpec::new().with_block_keys(block_keys), &keys, &plan(60.0, &[]));
        for (place, &from) in keys.iter().enumerate() {
            for &to in keys[place..].iter().step_by(17) {
                for (lo, hi) in [(from, to), (from.saturating_sub(1), to), (from, to.saturating_add(1))] {
                    let range = U64Range::new(lo, hi).expect("not inverted");
                    assert!(
                        filter.may_contain_range(range),
                        "{range:?} in blocks of {block_keys}, seed {seed}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_smallest_body_is_named() {
    let order =
        BodyOrder { seed: 0, secret: None, key_bits: 64, sample_ranges: &Vec::new, threads: Threads::ONE };
    for count in [3, 100, 1_000] {
        let keys: Vec<u64> = (0..count).map(|i| i * i * 1_000_003).collect();
        let small = SnarfSpec::new().write_body(&keys, 10, &order).expect_err("no room");
        assert!(SnarfSpec::new().write_body(&keys, small.smallest_bytes, &order).is_ok());
        assert!(SnarfSpec::new().write_body(&keys, small.smallest_bytes - 1, &order).is_err());
    }
}

#[test]
fn specs_are_written_as_they_are_read() {
    for text in ["snarf", "snarf:block=2", "snarf:block=1024"] {
        assert_eq!(crate::spec::<u64>(text).expect("known").name(), text);
    }
    assert!(crate::spec::<u64>("snarf:block=1").is_err());
}

/// The header counts the keys once more than the envelope does; both say the same.
#[test]
fn another_number_of_keys_is_corrupt() {
    use lacuna_base::Envelope;

    use crate::integer::IntegerBody as _;
    let keys = keys_of("uniform:1k", 4);
    let sealed = SnarfSpec::new().build(SortedKeys::integers(&keys).expect("ascending"), &plan(12.0, &[]));
    let sealed = sealed.expect("fits");
    let (envelope, payload) = Envelope::open(sealed.as_bytes()).expect("just sealed");
    assert!(super::Snarf::open(payload, &envelope).is_ok());
    let mut body = payload.to_vec();
    body[0] ^= 1;
    assert!(super::Snarf::open(&body, &envelope).is_err(), "fewer keys");
    for (place, value) in [(21, 2), (22, 1), (23, 1)] {
        let mut body = payload.to_vec();
        body[place] = value;
        assert!(super::Snarf::open(&body, &envelope).is_err(), "byte {place}");
    }
}
