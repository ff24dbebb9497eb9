//! Every answer on small sets: never a false "no", and exactly the false "maybe" that the kept bits leave.

use std::ops::Bound::{Excluded, Included, Unbounded};
use std::sync::Arc;

use lacuna_base::{Budget, BuildPlan, ByteRange, PrefixFilter, RangeFilter, Sample, SortedKeys, U64Range};
use lacuna_workload::Rng;

use super::{AMPLE, SPECS, column, integers, small_sets, spec, strings};

#[test]
fn no_key_is_ever_denied() {
    for (name, keys, asked) in small_sets() {
        for text in SPECS.iter().copied().chain(["surf:cut", "surf:hash=4,cut"]) {
            let bits = if text.contains("cut") { 9.0 } else { AMPLE };
            let surf = strings(text, &keys, bits);
            for (place, lo) in asked.iter().enumerate() {
                for hi in asked[place..].iter().step_by(1 + place % 5) {
                    for (lo, hi) in [
                        (Included(&lo[..]), Included(&hi[..])),
                        (Excluded(lo), Excluded(hi)),
                        (Included(lo), Excluded(hi)),
                        (Excluded(lo), Unbounded),
                    ] {
                        let Some(range) = ByteRange::from_bounds(lo, hi) else { continue };
                        let holds = keys.iter().any(|key| range.contains(key));
                        assert!(
                            !holds || surf.may_contain_range(range),
                            "{name}, {text}: {range:?} of {keys:?}"
                        );
                    }
                }
                let starts = keys.iter().any(|key| key.starts_with(lo));
                assert!(!starts || surf.may_contain_prefix(lo), "{name}, {text}: prefix {lo:?} of {keys:?}");
            }
        }
    }
}

#[test]
fn batches_answer_like_single_ranges() {
    for (name, keys, asked) in small_sets() {
        for text in SPECS.iter().copied().chain(["surf:cut", "surf:hash=4,cut"]) {
            let surf = strings(text, &keys, if text.contains("cut") { 9.0 } else { AMPLE });
            let ends = |place: usize| (&asked[place][..], &asked[(place * 7 + 3) % asked.len()][..]);
            let ranges: Vec<ByteRange<'_>> = (0..asked.len() * 3)
                .filter_map(|place| {
                    let (lo, hi) = ends(place % asked.len());
                    let (lo, hi) = if place % 2 == 0 { (lo, lo) } else { (lo.min(hi), lo.max(hi)) };
                    match place % 5 {
                        0 | 1 => ByteRange::new(lo, hi),
                        2 => ByteRange::from_bounds(Excluded(lo), Excluded(hi)),
                        3 => ByteRange::from_bounds(Included(lo), Excluded(hi)),
                        _ => ByteRange::from_bounds(Excluded(lo), Unbounded),
                    }
                })
                .collect();
            let mut answers = vec![false; ranges.len()];
            surf.may_contain_ranges(&ranges, &mut answers);
            for (range, answer) in ranges.iter().zip(&answers) {
                assert_eq!(*answer, surf.may_contain_range(*range), "{name}, {text}: {range:?} of {keys:?}");
            }
        }
    }
}

#[test]
fn strings_are_answered_as_predicted() {
    let mut empty = 0;
    for (name, keys, asked) in small_sets().filter(|(_, keys, _)| !keys.is_empty()) {
        let column = column(&keys);
        let sorted = SortedKeys::byte_strings(&column).expect("ascending");
        for text in SPECS {
            let surf = strings(text, &keys, AMPLE);
            for (place, lo) in asked.iter().enumerate() {
                for hi in asked[place..].iter().step_by(1 + place % 7) {
                    let mut sample = Sample::<[u8]>::new();
                    sample.push(&lo[..], &hi[..]);
                    let plan = BuildPlan::<[u8]>::new(Budget::bits_per_key(AMPLE).expect("in range"));
                    let plan = plan.with_seed(5).with_sample(Arc::new(sample));
                    let told = spec(text).predict_bytes(sorted, &plan).expect("fits");
                    let range = ByteRange::new(lo, hi).expect("in order");
                    let answer = surf.may_contain_range(range);
                    let expected = told.empty_count == 0 || told.positive_count == 1;
                    assert_eq!(answer, expected, "{name}, {text}: {range:?} of {keys:?}");
                    empty += told.empty_count;
                }
            }
        }
    }
    assert!(empty > 10_000, "only {empty} empty ranges");
}

#[test]
fn integers_are_answered_as_predicted() {
    for seed in 0..12 {
        let mut rng = Rng::new(seed);
        let spread = 8 * rng.below(7);
        let mut keys: Vec<u64> = (0..3 + rng.below(2_000)).map(|_| rng.next_u64() >> spread).collect();
        keys.sort_unstable();
        keys.dedup();
        let sorted = SortedKeys::integers(&keys).expect("ascending");
        for text in SPECS.iter().copied().chain(["surf:cut"]) {
            let bits = if text == "surf:cut" { 6.0 } else { AMPLE };
            let surf = integers(text, &keys, bits);
            let mut sample = Sample::new();
            for _ in 0..3_000 {
                let near = keys[rng.index(keys.len())];
                let far = rng.below(64);
                let lo =
                    if rng.below(2) == 0 { rng.next_u64() >> spread } else { near ^ rng.next_u64() >> far };
                let width = rng.below(64);
                sample.push(lo, lo.saturating_add(if width < 20 { 0 } else { rng.next_u64() >> width }));
            }
            let ranges: Vec<U64Range> = sample.ranges().collect();
            let plan = BuildPlan::<u64>::new(Budget::bits_per_key(bits).expect("in range"));
            let told =
                spec(text).predict(sorted, &plan.with_seed(5).with_sample(Arc::new(sample))).expect("fits");
            let mut answers = vec![false; ranges.len()];
            surf.may_contain_ranges(&ranges, &mut answers);
            let singles = ranges.iter().map(|range| surf.may_contain_range(*range));
            assert!(singles.eq(answers), "seed {seed}, {text}: a batch answers otherwise");
            let empty: Vec<_> =
                ranges.iter().filter(|range| !keys.iter().any(|&key| range.contains(key))).collect();
            let positives = empty.iter().filter(|range| surf.may_contain_range(***range)).count();
            assert_eq!(
                (told.empty_count, told.positive_count),
                (empty.len(), positives),
                "seed {seed}, {text}"
            );
            let bits_per_key = (surf.size_in_bytes() - 64) as f64 * 8.0 / keys.len() as f64;
            assert!((told.bits_per_key - bits_per_key).abs() < 1e-9, "seed {seed}, {text}");
            assert!(keys.iter().all(|&key| surf.may_contain(key)), "seed {seed}, {text}");
        }
    }
}

#[test]
fn the_example_of_the_paper_holds() {
    let keys: Vec<Vec<u8>> =
        ["SIGAI", "SIGMOD", "SIGOPS"].iter().map(|key| key.as_bytes().to_vec()).collect();
    let (base, real) = (strings("surf:real=0", &keys, AMPLE), strings("surf:real=8", &keys, AMPLE));
    assert!(base.may_contain(b"SIGMETRICS") && !real.may_contain(b"SIGMETRICS"));
    assert!(!base.may_contain(b"SIGKDD") && !base.may_contain_prefix(b"SIGK"));
    assert!(base.may_contain_prefix(b"SIG") && !real.may_contain_prefix(b"SIGME"));
}

#[test]
fn a_stored_prefix_is_below_what_extends_it() {
    // Real bits of "ab" after "a" read as 'b' and zeros; a query that ends with "ab" must still meet it.
    let keys = [b"ab".to_vec(), b"c".to_vec()];
    for text in SPECS {
        let surf = strings(text, &keys, AMPLE);
        let through = ByteRange::new(b"a", b"ab").expect("in order");
        assert!(surf.may_contain_range(through), "{text}");
        assert!(surf.may_contain_range(ByteRange::new(b"ab", b"ab\0").expect("in order")), "{text}");
    }
}

#[test]
fn a_lone_key_of_ones_is_kept() {
    for text in SPECS {
        assert!(strings(text, &[vec![0xFF; 8]], AMPLE).may_contain(&[0xFF; 8]), "{text}");
        assert!(strings(text, &[vec![0xFF]], AMPLE).may_contain(&[0xFF]), "{text}");
        let integers = integers(text, &[1, 2, u64::MAX], AMPLE);
        assert!(integers.may_contain(u64::MAX) && !integers.may_contain(3), "{text}");
    }
}

#[test]
fn threads_may_share_a_filter() {
    let keys: Vec<u64> = (0..20_000).map(|place: u64| place.wrapping_mul(0x0000_DEAD_BEEF_1235)).collect();
    let mut keys: Vec<u64> = keys;
    keys.sort_unstable();
    let surf = integers("surf:real=4", &keys, AMPLE);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (surf, keys) = (&surf, &keys);
            scope.spawn(move || {
                for &key in keys.iter().skip(thread) {
                    let range = U64Range::new(key.saturating_sub(9), key).expect("in order");
                    assert!(surf.may_contain(key) && surf.may_contain_range(range));
                }
            });
        }
    });
}

#[test]
fn specs_are_read_as_they_are_written() {
    for text in SPECS.iter().copied().chain(["surf:cut", "surf:hash=4,real=4,cut"]) {
        assert_eq!(crate::spec::<u64>(text).expect("known").name(), text);
    }
    for wrong in ["surf:hash=65", "surf:hash=60,real=5", "surf:cut=1", "surf:base"] {
        assert!(crate::spec::<[u8]>(wrong).is_err(), "{wrong}");
    }
}
