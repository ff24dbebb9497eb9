//! What a call of Java gets from one of two hubs.

use lacuna_cassandra::{FAILED, Hub};
use lacuna_node_filters::{Deletion, KeyId, TableId};
use lacuna_workload::Rng;

use crate::pair::{MAY_BE_LIVE, SAFE, TABLE, carry, decide, exchange, hubs, id};

const MODES: [i64; 3] = [0, 1, 2];
const UNKNOWN: i64 = 9;
const STALE: i64 = 10;
const TOO_WIDE: i64 = 11;
const INGEST: i64 = 12;

#[test]
fn every_mode_exchanges_its_own_tables() {
    for mode in MODES {
        let hubs = hubs(mode);
        for now in [0, 1_000, 2_000, 6_000] {
            exchange(&hubs, now);
        }
        let empty = if mode == 0 { 1 } else { 0 };
        let absent = (1_000..2_000).filter(|key| decide(&hubs, mode, 6_001, *key) == empty).count();
        assert!(absent > 950, "mode {mode}: {absent} of 1000");
        assert!((0..100).all(|key| decide(&hubs, mode, 6_001, key) == MAY_BE_LIVE), "mode {mode}");
        assert_eq!(decide(&hubs, mode, 100_000, 5_000), STALE, "mode {mode}");
    }
}

/// Of the replicas 1, 2 and 9 the first hub knows nothing of the last.
#[test]
fn enough_replicas_answer_for_one_that_is_down() {
    let hubs = hubs(SAFE);
    for now in [0, 1_000, 2_000, 6_000] {
        exchange(&hubs, now);
    }
    let of = |key: u64, enough| [0, 9, 3, 1, key, !key, 0, 0, 0, enough, 3, 0, 1, 0, 2, 0, 9];
    let decide = |key, enough| hubs[0].decide(SAFE, 6_001, &of(key, enough));
    let absent = (1_000..).find(|key| decide(*key, 2) == 0).unwrap();
    assert_eq!([0, 1, 2, 3, 4].map(|enough| decide(absent, enough)), [UNKNOWN, 0, 0, UNKNOWN, UNKNOWN]);
    assert_eq!([2, 3].map(|enough| decide(7, enough)), [MAY_BE_LIVE; 2], "the second holds it");
    // One key by enough of its replicas, and one by all.
    let both = |enough| [&of(absent, 2)[..3], &[2], &of(absent, 2)[4..], &of(absent, enough)[4..]].concat();
    let decide = |enough| hubs[0].decide(SAFE, 6_001, &both(enough));
    assert_eq!([0, 2].map(decide), [UNKNOWN, 0]);
}

#[test]
fn a_range_of_rows_is_absent_where_its_buckets_are() {
    let hubs = hubs(SAFE);
    hubs[1].write(SAFE, TABLE, id(7), Some(1_000), 0);
    for now in [0, 1_000, 2_000, 6_000] {
        exchange(&hubs, now);
    }
    let rows = |lo, hi| hubs[0].decide(SAFE, 6_001, &[0, 9, 0, 1, 7, !7, 1, lo, hi, 0, 1, 0, 2]);
    assert_eq!([rows(1_000, 1_000), rows(0, 5_000)], [MAY_BE_LIVE; 2]);
    assert_eq!(rows(0, u64::MAX), TOO_WIDE);
    let absent = (0..100).filter(|at| rows(at * 10_000 + 2_000, at * 10_000 + 9_000) == 0).count();
    assert!(absent > 70, "{absent} of 100");
    assert_eq!(hubs[0].create(SAFE, TABLE, 1_000, 0.01, Some(60), 1 << 20), FAILED, "wider than all places");
}

#[test]
fn an_acknowledgement_waits_for_the_lease_holder() {
    let hubs = hubs(SAFE);
    for now in [0, 1_000, 2_000, 6_000] {
        exchange(&hubs, now);
    }
    let new_key = (1_000..).find(|key| decide(&hubs, SAFE, 6_001, *key) == 0).unwrap();
    assert_eq!(hubs[1].hold(6_001), 0, "nothing is pending");
    assert_eq!(hubs[1].write(SAFE, TABLE, id(new_key), None, 6_001), 1);
    let ticket = hubs[1].hold(6_001);
    assert!(ticket > 0 && hubs[1].released(6_001) < ticket);
    hubs[1].with_all(|node| node.flush(6_002));
    carry(&hubs, 6_002);
    assert!(hubs[1].released(6_003) >= ticket);
    assert_eq!(decide(&hubs, SAFE, 6_003, new_key), MAY_BE_LIVE);
}

/// While a new key is on its way: the writes of other partitions, old and of other tables, do not wait for it.
#[test]
fn an_acknowledgement_waits_for_its_own_partition_alone() {
    let hubs = hubs(SAFE);
    assert!(hubs[1].hold_key(TABLE, id(5), 10) > hubs[1].released(10), "everything waits after a start");
    for now in [0, 1_000, 2_000, 6_000] {
        exchange(&hubs, now);
    }
    let new_key = (1_000..).find(|key| decide(&hubs, SAFE, 6_001, *key) == 0).unwrap();
    hubs[1].write(SAFE, TABLE, id(5), None, 6_001);
    assert_eq!(hubs[1].write(SAFE, TABLE, id(new_key), None, 6_001), 1);
    assert_eq!(hubs[1].hold_key(TABLE, id(5), 6_001), 0, "an overwrite");
    assert_eq!(hubs[1].hold_key(TableId(99), id(new_key), 6_001), 0);
    let tickets = [hubs[1].hold_key(TABLE, id(new_key), 6_001), hubs[1].hold(6_001)];
    assert!(tickets.iter().all(|ticket| *ticket > hubs[1].released(6_001)), "{tickets:?}");
    assert_eq!(hubs[1].write(SAFE, TABLE, id(new_key), None, 6_001), 1, "its overwrite");
    hubs[1].with_all(|node| node.flush(6_002));
    carry(&hubs, 6_002);
    assert_eq!(hubs[1].hold_key(TABLE, id(new_key), 6_003), 0);
    assert!(tickets.iter().all(|ticket| *ticket <= hubs[1].released(6_003)), "{tickets:?}");
}

/// What was released while no node relied on this one is used a moment later, when another does.
#[test]
fn what_was_released_before_a_lease_releases_nothing_written_under_it() {
    let hubs = hubs(SAFE);
    let released = hubs[1].released(6_000);
    assert!(released > 0, "no node relies on it");
    for now in [6_001, 7_001] {
        exchange(&hubs, now);
    }
    let new_key = (1_000..).find(|key| decide(&hubs, SAFE, 7_002, *key) == 0).unwrap();
    assert_eq!(hubs[1].write(SAFE, TABLE, id(new_key), None, 7_002), 1);
    assert!(hubs[1].hold_key(TABLE, id(new_key), 7_002) > released);
}

#[test]
fn a_silent_holder_costs_one_lease() {
    let hubs = hubs(SAFE);
    for now in [0, 1_000, 2_000, 6_000] {
        exchange(&hubs, now);
    }
    let new_key = (1_000..).find(|key| decide(&hubs, SAFE, 6_001, *key) == 0).unwrap();
    hubs[1].write(SAFE, TABLE, id(new_key), None, 6_001);
    let ticket = hubs[1].hold(6_001);
    hubs[1].with_all(|node| node.flush(6_002));
    assert!(hubs[1].released(7_000) < ticket);
    assert!(hubs[1].released(9_010) >= ticket);
    assert_eq!(decide(&hubs, SAFE, 9_010, new_key), STALE);
}

#[test]
fn a_panic_shuts_the_mode_and_does_not_cross() {
    let hubs = hubs(SAFE);
    assert_eq!(hubs[0].with(SAFE, |_| panic!("on purpose")), FAILED);
    assert_eq!(hubs[0].write(SAFE, TABLE, id(1), None, 0), FAILED);
    assert_eq!(decide(&hubs, SAFE, 0, 1), FAILED);
    assert_eq!(hubs[0].hold(0), FAILED);
    assert_eq!(hubs[0].write(0, TABLE, id(1), None, 0), 0, "another mode goes on");
    assert_eq!(hubs[0].with(3, |_| 0), FAILED, "there is no such mode");
}

#[test]
fn frames_wait_for_a_buffer_that_holds_them() {
    let hubs = hubs(SAFE);
    hubs[0].with_all(|node| node.tick(0));
    let length = hubs[0].take(3).unwrap_err();
    assert_eq!(hubs[0].take(length).unwrap().unwrap().2.len(), length);
}

#[test]
fn a_read_of_a_new_key_waits_for_the_lease_holder() {
    let hubs = hubs(SAFE);
    for now in [0, 1_000, 2_000, 6_000] {
        exchange(&hubs, now);
    }
    let new_key = (1_000..).find(|key| decide(&hubs, SAFE, 6_001, *key) == 0).unwrap();
    assert_eq!(hubs[1].may_reveal(SAFE, TABLE, id(new_key), 6_001), 1, "nothing is there");
    hubs[1].write(SAFE, TABLE, id(new_key), None, 6_001);
    assert_eq!(hubs[1].may_reveal(SAFE, TABLE, id(new_key), 6_001), 0);
    assert_eq!(hubs[1].may_reveal(SAFE, TABLE, id(5), 6_001), 1, "an old key is shown at once");
    hubs[1].with_all(|node| node.flush(6_002));
    carry(&hubs, 6_002);
    assert_eq!(hubs[1].may_reveal(SAFE, TABLE, id(new_key), 6_002), 1);
}

/// What is written after the drop is in no filter: a read of it waits until no node relies on the old one.
#[test]
fn a_read_behind_a_drop_waits_for_the_lease_holder() {
    let hubs = hubs(SAFE);
    for now in [0, 1_000, 2_000, 6_000] {
        exchange(&hubs, now);
    }
    let drop = |node: &mut lacuna_node_filters::Node| {
        node.drop_table(TABLE);
        0
    };
    assert_eq!(hubs[1].with(SAFE, drop), 0);
    let new_key = (1_000..).find(|key| decide(&hubs, SAFE, 6_001, *key) == 0).unwrap();
    assert_eq!(hubs[1].may_reveal(SAFE, TABLE, id(new_key), 6_001), 0);
    hubs[1].with_all(|node| node.flush(6_002));
    carry(&hubs, 6_002);
    assert_eq!(hubs[1].may_reveal(SAFE, TABLE, id(new_key), 6_002), 1);
    assert_eq!(decide(&hubs, SAFE, 6_003, new_key), UNKNOWN);
}

/// The machine of the first hub sleeps for a minute, in which a key is written and acknowledged. Its clock shows the minute
/// when it wakes; one that stood still would have made it lie.
#[test]
fn a_holder_that_slept_relies_on_nothing() {
    let hubs = hubs(SAFE);
    for now in [0, 1_000, 2_000, 6_000] {
        exchange(&hubs, now);
    }
    let new_key = (1_000..).find(|key| decide(&hubs, SAFE, 6_001, *key) == 0).unwrap();
    hubs[1].write(SAFE, TABLE, id(new_key), None, 7_000);
    let ticket = hubs[1].hold(7_000);
    hubs[1].with_all(|node| node.flush(7_000));
    while hubs[1].take(1 << 20).unwrap().is_some() {}
    assert!(hubs[1].released(66_000) >= ticket, "acknowledged a lease later");
    assert_eq!(decide(&hubs, SAFE, 66_001, new_key), STALE);
    assert_eq!(decide(&hubs, SAFE, 6_002, new_key), 0, "by a clock that stood still");
}

/// Whether the newest keys, and some old ones, may be shown and acknowledged.
fn is_free(hub: &Hub, keys: u64, now: u64) -> bool {
    let may_leave =
        |key| hub.may_reveal(SAFE, TABLE, id(key), now) == 1 && hub.hold_key(TABLE, id(key), now) == 0;
    (keys - 20..keys).chain((0..keys).step_by(17)).all(may_leave)
}

#[test]
fn a_word_of_0_means_that_everything_may_leave() {
    let (mut quiet, mut raised) = (0, 0);
    for seed in 0..10 {
        let mut rng = Rng::new(seed);
        let hubs = hubs(SAFE);
        let (mut now, mut keys) = (0, 100);
        for step in 0..400 {
            now += rng.below(60);
            match rng.below(8) {
                0 => {
                    keys += 1;
                    hubs[1].write(SAFE, TABLE, id(keys - 1), None, now);
                }
                1 => drop(hubs[1].write(SAFE, TABLE, id(rng.below(keys)), None, now)),
                2 => drop(hubs[1].tick(now)),
                3 => drop(hubs[1].released(now)),
                4 => while hubs[1].take(1 << 20).unwrap().is_some() {},
                _ => exchange(&hubs, now),
            }
            if rng.below(100) == 0 {
                let proven = Deletion { time: now, newest_in_files: None, newest_in_memory: None };
                let key = id(rng.below(keys));
                hubs[1].with(SAFE, |node| i64::from(node.bury(TABLE, key, proven)));
            }
            if hubs[1].news().is_raised() {
                raised += 1;
            } else {
                quiet += 1;
                assert!(is_free(&hubs[1], keys, now), "seed {seed}, step {step}");
            }
        }
    }
    assert!(quiet > 500 && raised > 500, "{quiet} quiet, {raised} raised");
}

#[test]
fn a_panic_leaves_the_word_raised() {
    let panics: [fn(&Hub) -> i64; 2] =
        [|hub| hub.with(SAFE, |_| panic!("on purpose")), |hub| hub.read(SAFE, |_| panic!("on purpose"))];
    for panics in panics {
        let hubs = hubs(SAFE);
        for now in [0, 1_000, 2_000, 6_000] {
            exchange(&hubs, now);
        }
        assert!(!hubs[1].news().is_raised());
        assert_eq!(panics(&hubs[1]), FAILED);
        assert!(hubs[1].news().is_raised());
        assert_eq!([hubs[1].hold(6_001), hubs[1].write(SAFE, TABLE, id(1), None, 6_001)], [FAILED; 2]);
    }
}

/// Java sees a mark by halves of places, and whether it is the same one still by its stamp.
#[test]
fn a_mark_is_half_a_place_and_its_stamp() {
    let ([hub, _], table, key) = (hubs(SAFE), TABLE, KeyId::of_hash(1, 2));
    hub.with(SAFE, |node| {
        node.write(table, key, Some(100));
        node.bury_rows(table, key, 0, 99, 0);
        node.bury_rows(table, key, 200, u64::MAX, 0);
        0
    });
    let question = [0, 9, 3, 1, 1, 2, 0, 0, 0, 0, 1, 0, 1];
    let mark = |side| hub.water_mark(SAFE, 1_000_000, &question, side);
    assert_eq!((mark(0).0, mark(1).0), (49, 100));
    assert_eq!([0, 1].map(|side| hub.own_water_mark(SAFE, table, key, side)), [49, 100]);
    let before = [mark(0), mark(1)];
    hub.write_deletion(SAFE, table, key, 50, 1_000_000);
    assert_eq!([mark(0), mark(1)], before);
    hub.write(SAFE, table, key, Some(50), 1_000_000);
    hub.with(SAFE, |node| i64::try_from(node.bury_rows(table, key, 0, 49, 0)).unwrap());
    assert!(mark(0).0 == 24 && mark(0).1 != before[0].1 && mark(1) == before[1]);
    assert_eq!(hub.water_mark(SAFE, 1_000_000, &question[..7], 0), (-1, 0), "no question");
}

/// From the second new key of a slot on. Java's keys are halves of a hash, of which the second says to which slot a partition belongs.
#[test]
fn a_stream_of_new_keys_waits_for_its_opening_alone() {
    let hubs = hubs(SAFE);
    let in_slot = |key: u64| KeyId::of_hash(key, 7 << 56 | key);
    let decide =
        |now, key: u64| hubs[0].decide(SAFE, now, &[0, 9, 0, 1, key, 7 << 56 | key, 0, 0, 0, 0, 1, 0, 2]);
    let opens_at = |node: &mut lacuna_node_filters::Node| {
        node.open_slots_at(TABLE, 2);
        0
    };
    assert_eq!(hubs[1].with(SAFE, opens_at), 0);
    for now in [0, 1_000, 2_000, 6_000] {
        exchange(&hubs, now);
    }
    let mut absent = (1_000..1_100).filter(|key| decide(6_001, *key) == 0);
    let [first, second, third] = [(); 3].map(|()| absent.next().unwrap());
    for key in [first, second] {
        assert_eq!(hubs[1].write(SAFE, TABLE, in_slot(key), None, 6_001), 1);
    }
    hubs[1].with_all(|node| node.flush(6_001));
    assert_eq!(hubs[1].write(SAFE, TABLE, in_slot(third), None, 6_001), 1, "the opening is on its way");
    assert_eq!(hubs[1].may_reveal(SAFE, TABLE, in_slot(third), 6_001), 0);
    carry(&hubs, 6_001);
    hubs[1].tick(6_002);
    assert!(!hubs[1].news().is_raised());
    for key in 1_000..1_100 {
        assert_eq!(hubs[1].write(SAFE, TABLE, in_slot(key), None, 6_002), 0, "{key}");
        assert_eq!(hubs[1].hold_key(TABLE, in_slot(key), 6_002), 0, "{key}");
    }
    assert!(!hubs[1].news().is_raised());
    assert!((1_000..1_200).all(|key| decide(6_002, key) == INGEST));
    for now in [7_000, 8_100, 9_200, 9_300] {
        exchange(&hubs, now);
    }
    assert!((1_000..1_100).all(|key| decide(9_301, key) == MAY_BE_LIVE));
    let skipped = (5_000..5_100).filter(|key| decide(9_301, *key) == 0).count();
    assert!(skipped > 80, "{skipped} of 100");
}
