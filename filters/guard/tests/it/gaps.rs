//! Guards that know gaps.

use std::ops::Bound::{Excluded, Included};
use std::sync::Arc;

use lacuna_guard::{
    Counters, FileGaps, FileTag, GapOptions, Guard, GuardBuilder, GuardSpec, LearnedGaps, Neighbours,
    QueryLog,
};
use lacuna_testkit::count_allocations;

/// A guard over the keys 0, 1,000 and so on, as eight bytes, and its gaps; one is learned, after 5,000.
fn guard(spec: &str) -> (Guard, Arc<FileGaps>, Arc<Counters>) {
    let spec = Arc::new(GuardSpec::parse(spec).unwrap());
    let counters = Arc::new(Counters::new());
    let log = Arc::new(QueryLog::new(spec.codec()));
    let mut builder = GuardBuilder::new(Arc::clone(&spec), log, Arc::clone(&counters));
    (0..100u64).for_each(|number| builder.add(&key(1_000 * number)));
    let sealed = builder.finish().unwrap();
    let all = LearnedGaps::new(spec.codec(), GapOptions::default(), Arc::clone(&counters));
    let gaps = all.open_file(FileTag([1; 16]));
    let (below, above, smallest, largest) = (key(5_000), key(6_000), key(0), key(99_000));
    gaps.learn(&Neighbours {
        below: Some(&below),
        above: Some(&above),
        smallest: &smallest,
        largest: &largest,
    });
    let guard = Guard::open_or_scan(sealed.as_bytes(), spec.codec(), &counters).with_gaps(Arc::clone(&gaps));
    (guard, gaps, counters)
}

fn key(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}

fn ask(guard: &Guard, lo: u64, hi: u64) -> bool {
    guard.may_contain_bounds(Included(&key(lo)), Excluded(&key(hi)))
}

/// A Bloom filter lets ranges of more than 64 keys pass.
const BLIND: [&str; 3] =
    ["bloom@10 codec=fixed_be:8", "bloom@10 codec=bytes", "bloom@10 codec=composite:4,4"];

#[test]
fn a_gap_answers_what_the_filter_lets_pass() {
    for spec in BLIND {
        let (guard, _gaps, counters) = guard(spec);
        assert!(!ask(&guard, 5_001, 6_000) && !ask(&guard, 5_300, 5_700), "{spec}");
        assert!(
            ask(&guard, 5_000, 6_000) && ask(&guard, 5_001, 6_001) && ask(&guard, 6_001, 6_900),
            "{spec}"
        );
        let asked = counters.snapshot().total();
        assert_eq!((asked.skipped, asked.skipped_by_gap, asked.passed), (0, 2, 3), "{spec}");
        assert_eq!(asked.asked(), 5, "{spec}");
    }
}

#[test]
fn the_filter_is_asked_first() {
    let (guard, _gaps, counters) = guard("grafite@20 codec=fixed_be:8");
    assert!(!ask(&guard, 5_300, 5_310));
    let asked = counters.snapshot().total();
    assert_eq!((asked.skipped, asked.skipped_by_gap), (1, 0));
}

#[test]
fn a_guard_without_a_filter_asks_nobody() {
    let counters = Arc::new(Counters::new());
    let (_, gaps, _) = guard(BLIND[0]);
    let codec = lacuna_guard::GuardCodec::parse("fixed_be:8").unwrap();
    let damaged = Guard::open_or_scan(b"damaged", &codec, &counters).with_gaps(gaps);
    assert!(ask(&damaged, 5_300, 5_700));
}

#[test]
fn questions_allocate_nothing() {
    for spec in BLIND {
        let (guard, ..) = guard(spec);
        let (_, spent) = count_allocations(|| {
            for lo in (0..9_000).step_by(50) {
                ask(&guard, lo, lo + 90);
            }
        });
        assert_eq!(spent.count, 0, "{spec}: {spent:?}");
    }
}
