//! The harness and the statistics.

use lacuna_bench::harness::{MemoryFloor, Rounds};
use lacuna_bench::statistics::{median, queries_expecting, rate_passes};

#[test]
fn median_is_the_middle() {
    assert_eq!(median(&[5.0]), 5.0);
    assert_eq!(median(&[9.0, 1.0, 5.0]), 5.0);
    assert_eq!(median(&[9.0, 1.0, 5.0, 6.0]), 5.5);
}

#[test]
#[should_panic(expected = "an empty list has no median")]
fn nothing_has_no_median() {
    median(&[]);
}

#[test]
fn rate_passes_up_to_its_tolerance() {
    // 100 expected: 3.3 deviations above are 133.
    assert!(rate_passes(133, 0.001, 100_000, 100.0).expect("enough queries"));
    assert!(!rate_passes(134, 0.001, 100_000, 100.0).expect("enough queries"));
    assert!(rate_passes(0, 0.001, 100_000, 100.0).expect("enough queries"));
}

#[test]
fn too_few_queries_cannot_pass() {
    let error = rate_passes(0, 0.001, 50_000, 100.0).expect_err("50 expected");
    assert!(error.to_string().contains("at least 100000"), "{error}");
    assert_eq!(queries_expecting(100.0, 0.001), 100_000);
}

#[test]
fn memory_floor_takes_time() {
    let floor = MemoryFloor::new(1 << 22, 20_000, 1);
    let mut rounds = Rounds::new();
    let whole = rounds.add("floor", floor.steps(), || floor.read(1 << 22));
    let timings = rounds.run(3, &mut |_| {});
    assert!(timings.median_ns(whole) > 0.2, "{:?}", timings.rounds_ns(whole));
}

#[test]
fn tiny_filters_have_a_memory_floor() {
    let floor = MemoryFloor::new(0, 10, 1);
    assert_eq!(floor.read(0), 0);
    assert_eq!(floor.read(63), 0);
}

#[test]
fn every_round_is_reported() {
    let mut rounds = Rounds::new();
    let task = rounds.add("task", 1, || 7);
    let mut heard = Vec::new();
    let timings = rounds.run(9, &mut |round| heard.push(round));
    assert_eq!(heard, (1..=9).collect::<Vec<_>>());
    assert_eq!(timings.rounds_ns(task).len(), 9);
}
