//! Safe mode: nothing is denied, whatever happens, and absent keys are skipped nevertheless.

use std::collections::BTreeSet;

use lacuna_node_filters::{Config, Flaw, Mode};
use lacuna_testkit::effort;

use crate::sim::{Setup, World};

pub(crate) fn config(mode: Mode, flaw: Option<Flaw>) -> Config {
    Config { interval: 200, lease: 600, max_lease: 900, flaw, ..Config::new(mode) }
}

pub(crate) fn safe(faults: bool, moves: u64) -> Setup {
    Setup { config: config(Mode::Safe, None), faults, moves, quorum: false, rows: false, batches: false }
}

/// Several frames come before a node's own are carried away, so that confirmations are of several deltas, and on other frames.
pub(crate) fn in_batches(setup: Setup) -> Setup {
    Setup { batches: true, ..setup }
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

/// A program takes what has come before it sends, as one does whose threads take turns.
#[test]
fn no_acknowledged_write_is_denied_where_frames_come_in_batches() {
    let (mut skipped, mut carried) = (0, 0);
    for seed in effort::seed()..effort::seed() + effort::short_or_long(4, 2_000) {
        for setup in [safe(true, 60), rows(true, 0), streams(safe(true, 0))] {
            let mut world = World::new(in_batches(setup), seed);
            world.run(20_000).unwrap_or_else(|lie| panic!("seed {seed}, {setup:?}: {lie}"));
            let counts = &world.counts;
            assert!(counts.acknowledged > 500, "seed {seed}: {counts:?}");
            skipped += counts.skipped_of_absent + counts.skipped_of_deleted;
            carried += counts.carried;
        }
    }
    assert!(skipped > 1_000 && carried > 500, "{skipped} skipped, {carried} confirmations on other frames");
}

/// The longest that an acknowledgement is held without faults, where frames come in batches: until the delta leaves, until it arrives, until it
/// is confirmed, until that arrives, until the acknowledgement leaves. A node carries away what it has to say with its alarm at the latest.
pub(crate) const LONGEST_HOLD: u64 = 20 + 12 + 20 + 12 + 20;

/// Nothing is put off: what is confirmed together, or on another frame, is confirmed as early as alone.
#[test]
fn confirmations_are_fewer_than_deltas_and_delay_no_write() {
    let mut world = World::new(in_batches(safe(false, 0)), 1);
    world.run(2_000).unwrap();
    world.counts = Default::default();
    world.run(60_000).unwrap();
    let counts = &world.counts;
    println!(
        "{} deltas, {} confirmations alone, {} on other frames",
        counts.deltas, counts.confirmations, counts.carried
    );
    assert!(counts.longest_hold <= LONGEST_HOLD, "{counts:?}");
    assert!(counts.confirmations * 10 < counts.deltas * 9 && counts.carried > 100, "{counts:?}");
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

/// As many writes of something new into one slot, within an interval, open it as come to each in a stream.
pub(crate) fn streams(setup: Setup) -> Setup {
    let slot_writes = if setup.rows { 4 } else { 2 };
    Setup { config: Config { slot_writes, ..setup.config }, ..setup }
}

/// New keys come in streams, for which slots are open; many of them are acknowledged before any other node knows them.
#[test]
fn no_write_into_an_open_slot_is_denied_under_faults() {
    let (mut absent, mut skipped, mut streamed, mut faults) = (0, 0, [0; 2], BTreeSet::new());
    for seed in effort::seed()..effort::seed() + effort::short_or_long(8, 4_000) {
        let mut world = World::new(streams(safe(true, 60)), seed);
        world.run(20_000).unwrap_or_else(|lie| panic!("seed {seed}: {lie}"));
        let counts = &world.counts;
        assert!(counts.acknowledged > 500, "seed {seed}: {counts:?}");
        faults.extend(counts.faults.keys().copied());
        absent += counts.reads_of_absent;
        skipped += counts.skipped_of_absent;
        streamed = [0, 1].map(|at| streamed[at] + world.streamed()[at]);
    }
    println!(
        "{} slots opened, {} writes into open ones; {skipped} of {absent} skipped",
        streamed[0], streamed[1]
    );
    assert!(
        ["crash", "pause", "sleep", "filter saved", "rebuild", "ring step"]
            .iter()
            .all(|fault| faults.contains(fault)),
        "{faults:?}"
    );
    assert!(streamed[0] > 100 && streamed[1] > 300, "{streamed:?} opened, written");
    assert!(skipped * 20 > absent, "{skipped} of {absent} skipped");
}

/// Nor one that was seen before it was acknowledged, nor one that most replicas acknowledged.
#[test]
fn nothing_seen_in_an_open_slot_is_denied_under_faults() {
    let mut streamed = 0;
    for seed in effort::seed()..effort::seed() + effort::short_or_long(4, 2_000) {
        for quorum in [false, true] {
            let setup = Setup { quorum, ..safe(true, if quorum { 60 } else { 0 }) };
            let mut world = World::new(streams(setup), seed);
            world.run(20_000).unwrap_or_else(|lie| panic!("seed {seed}, quorum {quorum}: {lie}"));
            streamed += world.streamed()[1];
        }
    }
    assert!(streamed > 300, "{streamed} writes into open slots");
}

/// Rows, gaps and water marks of partitions whose slots are open now and then.
#[test]
fn no_row_of_an_open_slot_is_denied_under_faults() {
    let (mut skipped, mut narrowed, mut streamed) = (0, 0, 0);
    for seed in effort::seed()..effort::seed() + effort::short_or_long(6, 2_000) {
        for moves in [0, 60] {
            let mut world = World::new(streams(rows(true, moves)), seed);
            world.run(20_000).unwrap_or_else(|lie| panic!("seed {seed}, moves {moves}: {lie}"));
            let counts = &world.counts;
            skipped += counts.skipped_of_absent + counts.skipped_of_deleted;
            narrowed += counts.heads_narrowed;
            streamed += world.streamed()[1];
        }
    }
    println!("{skipped} slices skipped, {narrowed} reads narrowed, {streamed} writes into open slots");
    assert!(skipped > 100 && narrowed > 50 && streamed > 20, "{skipped}, {narrowed}, {streamed}");
}

/// Without faults: what a stream costs is what its openings cost, and its keys are skipped again some intervals after it.
#[test]
fn a_stream_waits_for_its_openings_alone() {
    let mut world = World::new(streams(safe(false, 0)), 1);
    world.run(2_000).unwrap();
    world.counts = Default::default();
    world.run(60_000).unwrap();
    let (counts, [opened, written]) = (&world.counts, world.streamed());
    println!("{opened} slots opened, {written} writes into open ones: {counts:?}");
    assert!(written > 2 * opened && opened > 50, "{opened} {written}");
    assert!(counts.skipped_of_absent * 10 > counts.reads_of_absent, "{counts:?}");
    assert!(counts.longest_hold <= 24 + 20, "{counts:?}");
}
