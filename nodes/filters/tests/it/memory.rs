//! What is capped, and what is answered when a cap is reached.

use lacuna_node_filters::{Config, Decision, Mode, Reason};

use crate::pair::{IDS, Pair, TABLE, partition};
use crate::rules::deletion;

const SAFE: Config = Config::new(Mode::Safe);

#[test]
fn a_capped_filter_gets_coarser_and_then_says_unknown() {
    for (max_table_bytes, is_unknown) in [(20_000, false), (10_000, true)] {
        let mut pair = Pair::new(Config { max_table_bytes, ..SAFE }, None);
        for key in 0..16_000 {
            pair.nodes[1].write(TABLE, partition(key), None);
        }
        pair.settle();
        let filter = pair.nodes[1].own_filter(TABLE).unwrap();
        assert!(filter.memory_bytes() <= max_table_bytes && filter.is_unknown() == is_unknown);
        assert!((0..16_000).all(|key| pair.decide(key) != Decision::Empty));
        let skipped = (100_000..101_000).filter(|key| pair.decide(*key) == Decision::Empty).count();
        assert_eq!(skipped > 500, !is_unknown, "{skipped} of 1,000 absent keys");
    }
}

/// Whether it was written to or rebuilt: so its owner knows when another is worth a try.
#[test]
fn a_filter_that_was_given_up_says_how_many_keys_it_held() {
    let mut pair = Pair::new(Config { max_table_bytes: 10_000, ..SAFE }, None);
    let given_up_at = |pair: &Pair| pair.nodes[1].own_filter(TABLE).unwrap().given_up_at();
    for is_rebuilt in [false, true] {
        if is_rebuilt {
            pair.nodes[1].begin_rebuild(TABLE, 4_000, 0.01);
            (0..16_000).for_each(|key| pair.nodes[1].rebuild_key(TABLE, partition(key), None));
            pair.nodes[1].finish_rebuild(TABLE);
        } else {
            assert_eq!(given_up_at(&pair), 0);
            for key in 0..16_000 {
                pair.nodes[1].write(TABLE, partition(key), None);
            }
        }
        let held = given_up_at(&pair);
        assert!((2_000..16_000).contains(&held), "{held} keys");
        // Three quarters of them fit, even where the filter is made for a quarter more.
        let left = held / 4 * 3;
        pair.nodes[1].begin_rebuild(TABLE, left / 4 * 5, 0.01);
        (0..left).for_each(|key| pair.nodes[1].rebuild_key(TABLE, partition(key), None));
        pair.nodes[1].finish_rebuild(TABLE);
        assert!(!pair.nodes[1].own_filter(TABLE).unwrap().is_unknown());
        assert_eq!(given_up_at(&pair), 0);
    }
}

#[test]
fn one_table_may_take_less_than_others() {
    let other = lacuna_node_filters::TableId(8);
    let mut pair = Pair::new(SAFE, None);
    for table in [TABLE, other] {
        pair.nodes[1].create_table(table, 10_000, 0.01, None);
        pair.nodes[1].set_ready(table);
        (0..9_000).for_each(|key| pair.nodes[1].load(table, partition(key), None));
    }
    pair.nodes[1].limit_table(other, 5_000);
    pair.settle();
    let is_unknown = |table| pair.nodes[1].own_filter(table).unwrap().is_unknown();
    assert_eq!([TABLE, other].map(is_unknown), [false, true]);
    let is_copy_unknown = |table| pair.nodes[0].copy_of(IDS[1], table).unwrap().is_unknown();
    assert_eq!([TABLE, other].map(is_copy_unknown), [false, true]);
}

/// Without a write after them.
#[test]
fn burials_keep_within_the_cap_too() {
    let max_table_bytes = 30_000;
    let mut pair = Pair::new(Config { max_table_bytes, ..SAFE }, None);
    (0..10_000).for_each(|key| pair.nodes[1].load(TABLE, partition(key), None));
    for key in 0..10_000 {
        pair.nodes[1].bury(TABLE, partition(key), deletion(7, None));
        let bytes = pair.nodes[1].own_filter(TABLE).unwrap().memory_bytes();
        assert!(bytes <= max_table_bytes, "{bytes} bytes after {key} burials");
    }
    pair.settle();
    let dead = pair.nodes[1].own_filter(TABLE).unwrap().dead_count();
    assert!(dead > 0, "some fit");
    assert_eq!(pair.nodes[0].copy_of(IDS[1], TABLE).unwrap().dead_count(), dead);
}

#[test]
fn capped_copies_get_coarser_and_then_say_unknown() {
    for (max_copy_bytes, is_unknown) in [(12_500, false), (5_000, true)] {
        let mut pair = Pair::new(Config { max_copy_bytes, ..SAFE }, None);
        for key in 0..9_000 {
            pair.nodes[1].write(TABLE, partition(key), None);
        }
        pair.settle();
        assert!((0..9_000).all(|key| pair.decide(key) != Decision::Empty));
        assert_eq!(pair.nodes[0].copy_of(IDS[1], TABLE).unwrap().is_unknown(), is_unknown);
    }
}

/// Of a small copy and a large one, both as short as they can be, the large one goes.
#[test]
fn the_largest_copy_is_forgotten_first() {
    let small = lacuna_node_filters::TableId(8);
    let mut pair = Pair::new(Config { max_copy_bytes: 9_500, ..SAFE }, None);
    pair.nodes[1].create_table(small, 100, 0.01, None);
    pair.nodes[1].set_ready(small);
    for key in 0..9_000 {
        pair.nodes[1].write(TABLE, partition(key), None);
    }
    pair.settle();
    let is_unknown = |table| pair.nodes[0].copy_of(IDS[1], table).unwrap().is_unknown();
    assert_eq!([TABLE, small].map(is_unknown), [true, false]);
}

/// Of two copies one was given up and the other shortened. When the table of either has gone, the other copy comes back as it was.
#[test]
fn copies_come_back_when_there_is_room() {
    let other = lacuna_node_filters::TableId(8);
    for (gone, left) in [(TABLE, other), (other, TABLE)] {
        let mut pair = Pair::new(Config { max_copy_bytes: 16_000, ..SAFE }, None);
        pair.nodes[1].create_table(other, 10_000, 0.01, None);
        pair.nodes[1].set_ready(other);
        for key in 0..9_000 {
            pair.nodes[1].write(TABLE, partition(key), None);
            pair.nodes[1].write(other, partition(key), None);
        }
        pair.settle();
        let rate = |pair: &Pair, table| pair.nodes[0].copy_of(IDS[1], table).unwrap().rate();
        let mut rates = [rate(&pair, TABLE), rate(&pair, other)];
        rates.sort_by(f64::total_cmp);
        assert!(rates[0] > 0.0101 && rates[0] < 0.5 && rates[1] > 0.999, "{rates:?}");
        pair.nodes[1].drop_table(gone);
        (0..5).for_each(|_| pair.settle());
        assert!(rate(&pair, left) < 0.0101, "{gone:?} has gone, rate {}", rate(&pair, left));
        let copy = pair.nodes[0].copy_of(IDS[1], left).unwrap();
        assert!((0..9_000).all(|key| !copy.presence(partition(key)).is_empty()));
        assert_eq!(pair.nodes[0].counters().copies_regained, 1);
    }
}

#[test]
fn a_filter_says_when_it_is_outgrown_and_for_how_many_the_next_is_to_be_made() {
    let mut pair = Pair::new(SAFE, None);
    let capacity = |pair: &Pair| pair.nodes[1].own_filter(TABLE).unwrap().outgrown();
    let mut written = 0;
    let mut made_for = 300;
    for rebuilds in 0..3 {
        pair.nodes[1].begin_rebuild(TABLE, made_for, 0.01);
        (0..written).for_each(|key| pair.nodes[1].rebuild_key(TABLE, partition(key), None));
        pair.nodes[1].finish_rebuild(TABLE);
        assert_eq!(capacity(&pair), None, "after rebuild {rebuilds} for {made_for}");
        // The second stays for so long that it holds 64 times as many; then it knows nothing.
        let more = if rebuilds == 1 { 100 * made_for } else { 3 * made_for };
        for key in written..written + more {
            pair.nodes[1].write(TABLE, partition(key), None);
        }
        written += more;
        let filter = pair.nodes[1].own_filter(TABLE).unwrap();
        assert_eq!(filter.is_unknown(), rebuilds == 1);
        let needed = capacity(&pair).unwrap();
        assert!(needed > 2 * made_for && needed < 2 * written, "{needed} for {written} keys");
        made_for = needed;
    }
    pair.settle();
    assert!((0..written).all(|key| pair.decide(key) != Decision::Empty));
}

#[test]
fn a_filter_that_a_cap_has_shortened_is_not_outgrown() {
    for max_table_bytes in [20_000, 10_000] {
        let mut pair = Pair::new(Config { max_table_bytes, ..SAFE }, None);
        pair.nodes[1].begin_rebuild(TABLE, 16_000, 0.01);
        (0..16_000).for_each(|key| pair.nodes[1].rebuild_key(TABLE, partition(key), None));
        pair.nodes[1].finish_rebuild(TABLE);
        assert_eq!(pair.nodes[1].own_filter(TABLE).unwrap().outgrown(), None, "{max_table_bytes} bytes");
    }
}

/// A node that writes more than it remembers asks the peer, until every copy knows what was forgotten.
#[test]
fn own_writes_beyond_the_cap_are_asked_for() {
    let config = Config { max_forwarded: 100, ..Config::new(Mode::Eventual) };
    let mut pair = Pair::new(config, None);
    for key in 0..100 {
        for _ in 0..3 {
            pair.nodes[0].forwarded(pair.now, TABLE, partition(key), None, &[IDS[1]]);
        }
    }
    assert_eq!(pair.nodes[0].kept().1, 100);
    assert_eq!(pair.decide(5_000), Decision::Empty);
    pair.nodes[0].forwarded(pair.now, TABLE, partition(100), None, &[IDS[1]]);
    assert!(pair.nodes[0].kept().1 <= 100);
    assert_eq!(pair.decide(5_000), Decision::Forward(Reason::Stale));
    for _ in 0..2 {
        pair.settle();
    }
    assert_eq!(pair.decide(5_000), Decision::Empty);
    assert_eq!(pair.nodes[0].kept().1, 0);
}

#[test]
fn snapshots_are_let_go_of() {
    let mut pair = Pair::new(SAFE, None);
    for key in 0..9_000 {
        pair.nodes[1].write(TABLE, partition(key), None);
    }
    pair.nodes[1].begin_rebuild(TABLE, 9_000, 0.01);
    (0..9_000).for_each(|key| pair.nodes[1].rebuild_key(TABLE, partition(key), None));
    pair.nodes[1].finish_rebuild(TABLE);
    pair.settle();
    assert!(pair.nodes[1].kept().0 > 9_000);
    for _ in 0..4 {
        pair.settle();
    }
    assert_eq!(pair.nodes[1].kept().0, 0);
    assert_eq!(pair.decide(5_000_000), Decision::Empty);
    assert_eq!(pair.decide(8_999), Decision::Forward(Reason::MayBeLive));
}

/// What was proven dead is dead in the filter that stands in for the old one; what was written meanwhile is not.
#[test]
fn a_rebuilt_filter_keeps_what_is_dead() {
    let mut pair = Pair::new(SAFE, None);
    for key in 0..300 {
        pair.nodes[1].write(TABLE, partition(key), None);
    }
    for key in 0..3 {
        assert!(pair.nodes[1].bury(TABLE, partition(key), deletion(9, None)));
    }
    pair.nodes[1].begin_rebuild(TABLE, 300, 0.01);
    pair.nodes[1].write(TABLE, partition(1), None);
    // Keys 2 and up to 200 have been purged since.
    (0..2).chain(200..300).for_each(|key| pair.nodes[1].rebuild_key(TABLE, partition(key), None));
    pair.nodes[1].finish_rebuild(TABLE);
    pair.settle();
    let filter = pair.nodes[0].copy_of(IDS[1], TABLE).unwrap();
    assert!(filter.key_count() <= 102 && filter.dead_count() == 1, "{} keys", filter.key_count());
    assert_eq!(pair.decide(0), Decision::Empty);
    assert_eq!(pair.decide(1), Decision::Forward(Reason::MayBeLive));
    assert!((2..200).filter(|key| pair.decide(*key) == Decision::Empty).count() > 180);
}

/// Marks that make room for keys are forgotten by the copies, too: a key that is written again is announced nowhere else.
#[test]
fn what_was_dead_and_is_written_again_is_not_denied_when_marks_made_room() {
    let mut pair = Pair::new(Config { max_table_bytes: 24_000, ..SAFE }, None);
    for key in 0..8_000 {
        pair.nodes[1].write(TABLE, partition(key), None);
    }
    for key in 0..200 {
        pair.nodes[1].bury(TABLE, partition(key), deletion(9, None));
    }
    pair.settle();
    assert_eq!(pair.decide(7), Decision::Empty);
    let mut key = 8_000;
    while pair.nodes[1].own_filter(TABLE).unwrap().dead_count() > 0 {
        pair.nodes[1].write(TABLE, partition(key), None);
        key += 1;
    }
    pair.nodes[1].write(TABLE, partition(7), None);
    pair.settle();
    let filter = pair.nodes[1].own_filter(TABLE).unwrap();
    assert!(!filter.is_unknown());
    assert_eq!(pair.decide(7), Decision::Forward(Reason::MayBeLive));
}

/// An estimate may be many times what is there, as where each key is in ten files: its memory is not taken.
#[test]
fn a_filter_is_made_for_no_more_keys_than_its_memory_has_room_for() {
    const MAX_BYTES: usize = 100_000;
    let mut pair = Pair::new(SAFE, None);
    for is_rebuilt in [false, true] {
        let node = &mut pair.nodes[1];
        if is_rebuilt {
            node.begin_rebuild(TABLE, 200_000_000, 0.01);
            (0..9_000).for_each(|key| node.rebuild_key(TABLE, partition(key), None));
            node.finish_rebuild(TABLE);
        } else {
            node.create_table_within(TABLE, 200_000_000, 0.01, None, MAX_BYTES);
            node.set_ready(TABLE);
            (0..9_000).for_each(|key| node.load(TABLE, partition(key), None));
        }
        let filter = node.own_filter(TABLE).unwrap();
        assert!(
            !filter.is_unknown() && filter.memory_bytes() <= MAX_BYTES,
            "{} bytes",
            filter.memory_bytes()
        );
        assert_eq!(filter.outgrown(), None);
        for _ in 0..2 {
            pair.settle();
        }
        assert!((0..9_000).all(|key| pair.decide(key) != Decision::Empty));
        let skipped = (100_000..101_000).filter(|key| pair.decide(*key) == Decision::Empty).count();
        assert!(skipped > 900, "{skipped} of 1,000 absent keys");
    }
}

/// A build may fail, and writes go on.
#[test]
fn a_filter_that_is_being_rebuilt_keeps_within_the_cap_and_ends_with_its_build() {
    let mut pair = Pair::new(Config { max_table_bytes: 20_000, ..SAFE }, None);
    let before = pair.nodes[1].kept_for_rebuild(TABLE);
    pair.nodes[1].begin_rebuild(TABLE, 300, 0.01);
    for key in 0..40_000 {
        pair.nodes[1].write(TABLE, partition(key), None);
        assert!(pair.nodes[1].kept_for_rebuild(TABLE) <= 20_000, "{key}");
    }
    pair.nodes[1].cancel_rebuild(TABLE);
    assert_eq!([before, pair.nodes[1].kept_for_rebuild(TABLE)], [0, 0]);
    pair.nodes[1].finish_rebuild(TABLE);
    pair.settle();
    assert!((0..40_000).all(|key| pair.decide(key) != Decision::Empty));
}
