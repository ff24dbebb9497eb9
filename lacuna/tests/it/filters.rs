//! One-call filters over every form of keys, ranges and bytes.

use std::ops::Bound::{Excluded, Included, Unbounded};
use std::sync::Arc;

use lacuna::guard::{GuardBuilder, GuardSpec, QueryLog};
use lacuna::{Budget, BuildPlan, Date, ErrorKind, Filter, KeyType, Secret, SortedKeys, TimeUnit, Timestamp};

const SEED: u64 = 2_026;

/// `count` keys far apart, in no order.
fn scattered(count: u64) -> Vec<u64> {
    (1..=count).map(|row| (row ^ SEED).wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect()
}

#[test]
fn any_order_of_keys_is_taken() {
    let keys = scattered(2_000);
    let filter = Filter::build(&keys, 14.0).unwrap();
    assert_eq!(filter.key_count(), 2_000);
    assert!(keys.iter().all(|key| filter.may_contain(key)));

    let mut ascending = keys.clone();
    ascending.sort_unstable();
    let twice = ascending.iter().chain(&ascending);
    assert_eq!(Filter::build(twice, 14.0).unwrap().as_bytes(), filter.as_bytes());
}

#[test]
fn the_usual_filter_has_the_bytes_of_its_family() {
    let keys: Vec<u64> = (0..5_000).map(|row| row * row * 1_000_003).collect();
    let plan = BuildPlan::new(Budget::bits_per_key(14.0).unwrap());
    let sealed =
        lacuna::spec::<u64>("grafite").unwrap().build(SortedKeys::integers(&keys).unwrap(), &plan).unwrap();
    assert_eq!(Filter::build(&keys, 14.0).unwrap().as_bytes(), sealed.as_bytes());
}

#[test]
fn a_missing_secret_is_noticed_before_the_keys() {
    let plan = BuildPlan::new(Budget::bits_per_key(14.0).unwrap());
    for spec in ["ribbon:secret", "grafite:secret"] {
        let spec = lacuna::spec::<u64>(spec).unwrap();
        let untouched = std::iter::from_fn(|| -> Option<u64> { panic!("a key was taken") });
        let refused = Filter::build_with(untouched, &*spec, &plan).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
        assert!(refused.to_string().ends_with("hashes under a secret: give one with the plan"), "{refused}");
        let plan = plan.clone().with_secret(Secret::new(*b"sixteen bytes ok"));
        let keys = scattered(2_000);
        let filter = Filter::build_with(&keys, &*spec, &plan).unwrap();
        assert!(keys.iter().all(|key| filter.may_contain(key)));
    }
}

#[test]
fn every_form_of_byte_strings_gives_the_same_filter() {
    let texts = ["alpha/one", "alpha/two", "beta/one", "gamma"];
    let strings = texts.map(String::from);
    let owned: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    let slices: Vec<&[u8]> = owned.iter().map(Vec::as_slice).collect();
    let expected = Filter::build(texts, 16.0).unwrap();
    for bytes in [
        Filter::build(&strings, 16.0).unwrap().as_bytes(),
        Filter::build(strings.iter().map(String::as_str), 16.0).unwrap().as_bytes(),
        Filter::build(&owned, 16.0).unwrap().as_bytes(),
        Filter::build(&slices, 16.0).unwrap().as_bytes(),
    ] {
        assert_eq!(bytes, expected.as_bytes());
    }
    assert!(expected.may_contain("gamma") && expected.may_contain(b"beta/one"));
    assert!(expected.may_contain(&strings[0]) && expected.may_contain(&owned[1]));
}

#[test]
fn every_range_of_the_standard_library_is_taken() {
    let filter = Filter::build([100, 200, 300], 20.0).unwrap();
    assert!(filter.may_contain_range(..));
    assert!(filter.may_contain_range(100..101) && filter.may_contain_range(100..=100));
    assert!(filter.may_contain_range(300..) && !filter.may_contain_range(301..));
    assert!(filter.may_contain_range(..=100) && !filter.may_contain_range(..100));
    assert!(filter.may_contain_range((Excluded(99), Included(100))));
    assert!(!filter.may_contain_range((Excluded(300), Unbounded)));
    let (lo, hi) = (100, 200);
    assert!(filter.may_contain_range(&lo..=&hi));
}

#[test]
fn byte_strings_may_bound_a_range_in_any_form() {
    let filter = Filter::build(["ant", "bee", "cat"], 20.0).unwrap();
    assert!(filter.may_contain_range("b".."c") && filter.may_contain_range(String::from("b")..));
    assert!(filter.may_contain_range(&b"ant"[..]..=&b"ant"[..]) && filter.may_contain_range(b"a"..b"b"));
    assert!(filter.may_contain_range(vec![b'c']..=vec![b'd']));
    assert!(filter.may_contain_range((Excluded(&b"bee"[..]), Unbounded)));
    assert!(!filter.may_contain_range("d".."e"));
}

#[test]
#[expect(clippy::reversed_empty_ranges, reason = "that is the question")]
fn empty_and_inverted_ranges_hold_nothing() {
    let integers = Filter::build([5, 6, 7], 20.0).unwrap();
    assert!(!integers.may_contain_range(6..6) && !integers.may_contain_range(7..=5));
    assert!(!integers.may_contain_range((Excluded(5), Excluded(6))));
    assert!(!integers.may_contain_range((Excluded(u64::MAX), Unbounded)));
    let strings = Filter::build(["a", "b"], 20.0).unwrap();
    assert!(!strings.may_contain_range("b".."a") && !strings.may_contain_range("a".."a"));
    assert!(!strings.may_contain_range((Excluded("a"), Excluded("a\0"))));
    assert_eq!(integers.may_contain_ranges(&[7..=5, 5..=7, 9..=8]), [false, true, false]);
}

#[test]
fn batches_answer_as_single_ranges() {
    let keys = scattered(3_000);
    let filter = Filter::build(&keys, 12.0).unwrap();
    let ranges: Vec<_> = keys.iter().map(|key| key.wrapping_add(3)..key.wrapping_add(40)).collect();
    let singles: Vec<bool> = ranges.iter().map(|range| filter.may_contain_range(range.clone())).collect();
    assert_eq!(filter.may_contain_ranges(&ranges), singles);
}

#[test]
fn owners_of_bytes_are_asked_in_place() {
    let built = Filter::build([1, 1 << 40, u64::MAX], 14.0).unwrap();
    let owned = built.as_bytes().to_vec();
    let shared: Arc<[u8]> = owned.clone().into();
    let lent: &'static [u8] = Box::leak(owned.clone().into_boxed_slice());
    for opened in [lacuna::open(owned), lacuna::open(Arc::clone(&shared)), lacuna::open(lent)] {
        let clone = opened.unwrap().clone();
        assert!(clone.may_contain(1 << 40) && clone.may_contain_range(2..));
        assert_eq!(clone.as_bytes(), built.as_bytes());
    }
    let opened: Filter<u64> = lacuna::open_verified(Arc::clone(&shared)).unwrap();
    assert_eq!(opened.as_bytes().as_ptr(), shared.as_ptr(), "no copy");
}

#[test]
fn another_key_space_is_refused_when_opened() {
    let integers = Filter::build([1, 2, 3], 14.0).unwrap().as_bytes().to_vec();
    let refused = lacuna::open::<[u8]>(integers).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    let strings = Filter::build(["a"], 14.0).unwrap().as_bytes().to_vec();
    assert_eq!(lacuna::open_verified::<u64>(strings).unwrap_err().kind(), ErrorKind::Unsupported);
}

/// A file of seconds says nothing of moments in microseconds, which is what Rust has.
#[test]
fn values_of_another_type_or_unit_are_never_denied() {
    let floats = Filter::build_typed([-21.5, 1.5, 3.25], 20.0).unwrap();
    assert!(floats.may_contain_value(1.5) && floats.may_contain_values(1.0..=2.0));
    assert!(
        floats.may_contain_values((Excluded(-30.0), Excluded(-21.0))) && floats.may_contain_values::<f64>(..)
    );
    assert!(!floats.may_contain_values(4.0..) && !floats.may_contain_values(..-22.0));
    assert!(
        !floats.may_contain_values(2.0..=1.0) && !floats.may_contain_values((Excluded(1.5), Excluded(1.5)))
    );
    assert!(floats.may_contain_value(7_u64) && floats.may_contain_value(-7_i64), "another type");
    let moment = |micros| Timestamp { micros };
    let seconds = KeyType::Timestamp(TimeUnit::Seconds);
    let plan = BuildPlan::new(Budget::bits_per_key(20.0).unwrap()).with_key_type(seconds);
    let in_seconds =
        Filter::build_with([1_706_702_400], &*lacuna::spec::<u64>("grafite").unwrap(), &plan).unwrap();
    assert!(in_seconds.may_contain_value(moment(1_706_702_400_000_000)));
    assert!(in_seconds.may_contain_values(moment(0)..=moment(7)));
    let in_micros = Filter::build_typed([moment(1_706_702_400_000_000)], 20.0).unwrap();
    assert!(in_micros.may_contain_value(moment(1_706_702_400_000_000)));
    assert!(!in_micros.may_contain_values(moment(0)..=moment(7)));
}

/// The `u64` 1 is no number among floats: what is asked without a type is no question to a filter that has one.
#[test]
fn plain_integers_are_never_denied_by_a_filter_of_another_type() {
    let day = Date { days: 19_753 };
    let filters = [
        Filter::build_typed([1.5, 3.25], 40.0).unwrap(),
        Filter::build_typed([-7_i64, 900], 40.0).unwrap(),
        Filter::build_typed([day], 40.0).unwrap(),
        Filter::build_typed([Timestamp { micros: 7 }], 40.0).unwrap(),
    ];
    for filter in filters {
        let filter = lacuna::open::<u64>(filter.as_bytes().to_vec()).unwrap();
        let of = filter.key_type();
        assert!(filter.may_contain(2) && filter.may_contain_range(1..=2), "{of}");
        assert_eq!(filter.may_contain_ranges(&[1..=2, 900..=900]), [true, true], "{of}");
        let mut answers = [false; 2];
        filter.may_contain_pairs(&[1, 900], &[2, 900], &mut answers);
        assert_eq!(answers, [true, true], "{of}");
        let raw = filter.as_range_filter();
        assert!(!raw.may_contain(2), "the integers that stand for values are asked for there, {of}");
    }
    let typed = Filter::build_typed([1_u64, 900], 40.0).unwrap();
    let untyped = Filter::build([1, 900], 40.0).unwrap();
    for filter in [&typed, &untyped] {
        assert!(filter.may_contain(900) && !filter.may_contain(50), "unsigned integers are what they are");
        assert_eq!(filter.may_contain_ranges(&[2..=99, 1..=2]), [false, true]);
    }
    assert!(typed.may_contain_value(900_u64) && !typed.may_contain_value(50_u64));
    assert!(untyped.may_contain_value(50_u64), "what its integers stand for is not known");
    assert!(untyped.may_contain_values(40_u64..=50) && untyped.may_contain_values(0.5..=0.6));
}

#[test]
fn a_float_of_32_bits_is_the_same_number_in_64() {
    let filter = Filter::build_typed([0.1_f32, 2.5], 40.0).unwrap();
    assert!(filter.may_contain_value(0.1_f32) && filter.may_contain_value(0.100_000_001_490_116_12_f64));
    assert!(filter.may_contain_values(0.1_f32..=0.1) && filter.may_contain_values(0.1_f64..=0.11));
    assert!(!filter.may_contain_value(0.1_f64), "another number");
    assert!(filter.may_contain_value(2.5_f32) && filter.may_contain_value(2.5_f64));
}

/// Composite keys are hashed: asked with keys as they are, the filter would deny those that are there.
#[test]
fn keys_that_a_codec_has_changed_are_refused_when_opened() {
    let sealed = |codec: &str| {
        let spec: GuardSpec = format!("bloom@10 codec={codec}").parse().unwrap();
        let log = QueryLog::new(spec.codec());
        let mut builder = GuardBuilder::new(Arc::new(spec), Arc::new(log), Arc::default());
        (0..9_u64).for_each(|key| builder.add(&key.to_be_bytes()));
        builder.finish().unwrap().into_bytes()
    };
    let refused = lacuna::open::<u64>(sealed("composite:4,4")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(refused.to_string().contains("codec 2"), "{refused}");
    assert!(lacuna::open_verified::<u64>(sealed("composite:4,4")).is_err());
    let whole = lacuna::open::<u64>(sealed("fixed_be:8")).unwrap();
    assert!((0..9).all(|key| whole.may_contain(key)));
    let whole = lacuna::open::<[u8]>(sealed("bytes")).unwrap();
    assert!((0..9_u64).all(|key| whole.may_contain(key.to_be_bytes())));
}

#[test]
fn every_flipped_bit_is_reported_when_verified() {
    let sound = Filter::build(scattered(50), 14.0).unwrap().as_bytes().to_vec();
    for bit in 0..sound.len() * 8 {
        let mut damaged = sound.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(lacuna::open_verified::<u64>(damaged).is_err(), "bit {bit}");
    }
}

#[test]
fn a_budget_for_a_rate_keeps_it() {
    for (rate, max_range_len) in [(0.01, 1), (0.01, 64), (0.001, 32), (0.05, 1_000), (0.000_1, 4_096)] {
        let budget = Budget::for_rate(rate, max_range_len).unwrap();
        for count in [10, 1_000, 50_000, 300_000] {
            let filter = Filter::build(scattered(count), budget).unwrap();
            let bound = filter.rate_bound(max_range_len);
            assert!(bound <= rate, "{count} keys, {max_range_len} long: {bound} instead of {rate}");
        }
    }
    // The first has no bits left by rounding up; a whole slice is much for some hundred keys.
    for (rate, max_range_len) in [(1.0 / 64.0, 64), (0.01, 64), (1.0 / 1024.0, 1)] {
        let budget = Budget::for_rate(rate, max_range_len).unwrap();
        for count in (3..700).chain((700..5_000).step_by(61)) {
            let bound = Filter::build(scattered(count), budget).unwrap().rate_bound(max_range_len);
            assert!(bound <= rate, "{count} keys, {max_range_len} long: {bound} instead of {rate}");
        }
    }
    assert!(Budget::for_rate(1.0, 1).is_err() && Budget::for_rate(f64::NAN, 1).is_err());
}

#[test]
fn errors_of_main_are_sentences() {
    let error = Filter::build([1], 0.0).unwrap_err();
    assert_eq!(
        format!("{error:?}"),
        "the budget is 0 bits per key; give more than 0 and at most 128 (invalid input)"
    );
}

#[test]
fn no_keys_make_a_filter_that_denies_everything() {
    let filter = Filter::<u64>::build(std::iter::empty::<u64>(), 14.0).unwrap();
    assert!(!filter.may_contain_range(..) && filter.key_count() == 0);
}
