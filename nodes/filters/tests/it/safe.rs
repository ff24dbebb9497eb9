//! Safe mode: nothing is denied, whatever happens, and absent keys are skipped nevertheless.

use std::collections::BTreeSet;

use lacuna_node_filters::{Config, Flaw, Mode};
use lacuna_testkit::effort;

use crate::sim::{Setup, World};

pub(crate) fn config(mode: Mode, flaw: Option<Flaw>) -> Config {
    Config { interval: 200, lease: 600, max_lease: 900, flaw, ..Config::new(mode) }
}

pub(crate) fn safe(faults: bool, moves: u64) -> Setup {
    Setup { config: config(Mode::Safe, None), faults, moves, quorum: false, rows: false }
}

#[test]
fn no_acknowledged_write_is_denied_under_faults() {
    let (mut absent, mut skipped, mut deleted, mut faults) = (0, 0, 0, BTreeSet::new());
    for seed in effort::seed()..effort::seed() + effort::short_or_long(12, 4_000) {
        let mut world = World::new(safe(true, 60), seed);
        world.run(20_000).unwrap_or_else(|lie| panic!("seed {seed}: {lie}"));
        let counts = &world.counts;
        assert!(counts.acknowledged > 500, "seed {seed}: {counts:?}");
        faults.extend(counts.faults.keys().copied());
        absent += counts.reads_of_absent;
        skipped += counts.skipped_of_absent;
        deleted += counts.skipped_of_deleted;
    }
    assert!(
        ["crash", "pause", "sleep", "filter saved", "rebuild", "ring step"]
            .iter()
            .all(|fault| faults.contains(fault)),
        "{faults:?}"
    );
    assert!(skipped * 5 > absent && deleted > 1_000, "{skipped} of {absent} skipped, {deleted} deleted");
}

/// Copies take more memory than there is, now and then.
#[test]
fn no_acknowledged_write_is_denied_while_copies_are_given_up_and_come_back() {
    let (mut regained, mut skipped) = (0, 0);
    for seed in effort::seed()..effort::seed() + effort::short_or_long(8, 2_000) {
        let mut setup = safe(true, 60);
        setup.config.max_copy_bytes = 8_000;
        let mut world = World::new(setup, seed);
        world.run(20_000).unwrap_or_else(|lie| panic!("seed {seed}: {lie}"));
        assert!(world.counts.acknowledged > 500, "seed {seed}: {:?}", world.counts);
        regained += world.copies_regained();
        skipped += world.counts.skipped_of_absent;
    }
    assert!(regained > 20 && skipped > 100, "{regained} copies came back, {skipped} skipped");
}

/// Most replicas are enough, so one that is down or paused does not stop answers.
#[test]
fn no_write_that_most_acknowledged_is_denied_under_faults() {
    let (mut absent, mut skipped) = (0, 0);
    for seed in effort::seed()..effort::seed() + effort::short_or_long(8, 2_000) {
        let mut world = World::new(Setup { quorum: true, ..safe(true, 60) }, seed);
        world.run(20_000).unwrap_or_else(|lie| panic!("seed {seed}: {lie}"));
        assert!(world.counts.acknowledged > 500, "seed {seed}: {:?}", world.counts);
        absent += world.counts.reads_of_absent;
        skipped += world.counts.skipped_of_absent;
    }
    assert!(skipped * 5 > absent, "{skipped} of {absent} skipped");
}

/// Nor one that was seen before it was acknowledged.
#[test]
fn no_row_that_was_seen_is_denied_under_faults() {
    let mut seen_early = 0;
    for seed in effort::seed()..effort::seed() + effort::short_or_long(8, 2_000) {
        let mut world = World::new(safe(true, 0), seed);
        world.run(20_000).unwrap_or_else(|lie| panic!("seed {seed}: {lie}"));
        seen_early += world.counts.seen_early;
    }
    assert!(seen_early > 50, "{seen_early} rows were seen early");
}

#[test]
fn absent_keys_are_skipped_and_writes_wait_one_round_trip() {
    let mut world = World::new(safe(false, 0), 1);
    world.run(2_000).unwrap();
    world.counts = Default::default();
    world.run(60_000).unwrap();
    let counts = &world.counts;
    assert!(counts.skipped_of_absent * 10 >= counts.reads_of_absent * 8, "{counts:?}");
    assert!(counts.reads_of_absent > 2_000 && counts.skipped_of_deleted > 100, "{counts:?}");
    // A delta and its answer take up to 12 ms each, and the next alarm lets the acknowledgement go.
    assert!(counts.longest_hold <= 24 + 20, "{counts:?}");
}

pub(crate) fn rows(faults: bool, moves: u64) -> Setup {
    Setup { rows: true, ..safe(faults, moves) }
}

/// Slices of partitions whose rows are written, deleted and proven to be gone, from row to row.
#[test]
fn no_row_of_a_slice_is_denied_under_faults() {
    let (mut skipped, mut beside, mut heads, mut faults) = (0, 0, [0; 3], BTreeSet::new());
    for seed in effort::seed()..effort::seed() + effort::short_or_long(12, 4_000) {
        let mut world = World::new(rows(true, 60), seed);
        world.run(20_000).unwrap_or_else(|lie| panic!("seed {seed}: {lie}"));
        let counts = &world.counts;
        assert!(counts.acknowledged > 500, "seed {seed}: {counts:?}");
        faults.extend(counts.faults.keys().copied());
        skipped += counts.skipped_of_absent + counts.skipped_of_deleted;
        beside += counts.skipped_beside_rows;
        let of_heads = [counts.heads, counts.heads_narrowed, counts.heads_repeated];
        heads = [0, 1, 2].map(|at| heads[at] + of_heads[at]);
    }
    println!("{skipped} slices skipped, {beside} of them beside rows in the same bucket");
    println!(
        "of {} reads from an end on, {} were narrowed, {} narrowed and repeated",
        heads[0], heads[1], heads[2]
    );
    assert!(heads[1] * 10 > heads[0] && heads[2] > 20, "{heads:?} read, narrowed, repeated");
    assert!(
        ["crash", "pause", "sleep", "rebuild", "ring step"].iter().all(|fault| faults.contains(fault)),
        "{faults:?}"
    );
    assert!(skipped > 2_000 && beside > 500, "{skipped} skipped, {beside} beside rows");
}

/// Nor one that was seen before it was acknowledged.
#[test]
fn no_row_of_a_slice_that_was_seen_is_denied_under_faults() {
    let mut seen_early = 0;
    for seed in effort::seed()..effort::seed() + effort::short_or_long(8, 2_000) {
        let mut world = World::new(rows(true, 0), seed);
        world.run(20_000).unwrap_or_else(|lie| panic!("seed {seed}: {lie}"));
        seen_early += world.counts.seen_early;
    }
    assert!(seen_early > 50, "{seen_early} rows were seen early");
}
