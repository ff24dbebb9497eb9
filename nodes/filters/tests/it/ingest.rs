//! Slots that are open for a stream of new keys: what their holders answer, and what nothing waits for.

use lacuna_node_filters::{
    Asked, Buckets, Config, Decision, Flaw, KeyId, Message, Mode, Presence, Reason, Side, Slots, TableDelta,
    TableId,
};

use crate::pair::{IDS, Pair, TABLE, partition, question, take};
use crate::rules::deletion;

const SAFE: Config = Config::new(Mode::Safe);
/// Two writes of something new open a slot.
const STREAMS: Config = Config { slot_writes: 2, ..SAFE };
const INGEST: Decision = Decision::Forward(Reason::Ingest);
const LIVE: Decision = Decision::Forward(Reason::MayBeLive);

/// A partition of a slot.
fn in_slot(slot: u8, key: u64) -> KeyId {
    let id = partition(key);
    KeyId::from_halves(id.hash(), id.check() >> 8 | u64::from(slot) << 56)
}

/// Node 0's decision about a partition of node 1.
fn decide(pair: &mut Pair, id: KeyId) -> Decision {
    let asked = Asked { partition: id, slice: None, replicas: &IDS[1..] };
    pair.nodes[0].decide(pair.now, &question(&[asked]))
}

/// Node 1 writes a key, and its delta is given open slots on its way.
fn write_and_open(pair: &mut Pair, id: KeyId, open: Option<Slots>) {
    pair.nodes[1].write(TABLE, id, None);
    pair.nodes[1].flush(pair.now);
    for (message, _) in take(&mut pair.nodes[1]) {
        let Message::Delta { incarnation, sequence, tables } = message else { continue };
        let opened = |(table, delta): (TableId, TableDelta)| (table, TableDelta { open, ..delta });
        let tables = tables.into_iter().map(opened).collect();
        let delta = Message::Delta { incarnation, sequence, tables };
        pair.nodes[0].receive(pair.now, IDS[1], &delta.to_bytes());
    }
}

#[test]
fn a_holder_takes_an_open_slot_for_live_until_it_is_closed() {
    let mut pair = Pair::new(SAFE, None);
    let absent = [3, 200].map(|slot| in_slot(slot, 1));
    let answers = |pair: &mut Pair| absent.map(|id| decide(pair, id));
    assert_eq!(answers(&mut pair), [Decision::Empty; 2]);
    write_and_open(&mut pair, in_slot(3, 2), Some(Slots::from_iter([3])));
    assert_eq!(answers(&mut pair), [INGEST, Decision::Empty]);
    write_and_open(&mut pair, in_slot(3, 3), None);
    assert_eq!(answers(&mut pair), [INGEST, Decision::Empty], "nothing is said of slots");
    write_and_open(&mut pair, in_slot(3, 4), Some(Slots::from_iter([200])));
    assert_eq!(answers(&mut pair), [Decision::Empty, INGEST]);
    write_and_open(&mut pair, in_slot(3, 5), Some(Slots::default()));
    assert_eq!(answers(&mut pair), [Decision::Empty; 2]);
    assert!((2..=5).all(|key| decide(&mut pair, in_slot(3, key)) == LIVE));
}

/// Nothing waits for what a repair or an import brings, so that an open slot would cost reads and spare nothing.
#[test]
fn what_is_loaded_from_a_file_opens_no_slot() {
    let mut pair = Pair::new(STREAMS, None);
    let absent = in_slot(3, 1_000);
    for key in 0..100 {
        pair.nodes[1].load(TABLE, in_slot(3, key), None);
    }
    pair.nodes[1].flush(pair.now);
    pair.settle();
    assert_eq!((pair.nodes[1].slots_opened(), pair.nodes[1].writes_streamed()), (0, 0));
    assert_eq!(decide(&mut pair, absent), Decision::Empty);
    assert!((0..100).all(|key| decide(&mut pair, in_slot(3, key)) == LIVE));
}

/// What is under way arrives, and what is answered to it; node 1 looks at that.
fn confirm(pair: &mut Pair) {
    pair.nodes[1].flush(pair.now);
    while pair.carry(|_| true) {}
    pair.nodes[1].flush(pair.now);
}

/// Node 1 has opened slot 3 with keys 1 and 2, and node 0 knows that.
fn open(config: Config) -> Pair {
    let mut pair = Pair::new(config, None);
    for key in [1, 2] {
        pair.nodes[1].write(TABLE, in_slot(3, key), None);
    }
    confirm(&mut pair);
    for node in &pair.nodes {
        assert_eq!(node.open_slots(IDS[1], TABLE), Slots::from_iter([3]));
    }
    pair
}

/// Whether a write that was noted just now may be acknowledged, and its row shown.
fn is_free(pair: &Pair, id: KeyId) -> [bool; 2] {
    let node = &pair.nodes[1];
    let barrier = node.barrier_of(TABLE, id);
    [node.may_acknowledge(pair.now, barrier), node.may_reveal(pair.now, TABLE, id)]
}

#[test]
fn writes_into_an_open_slot_wait_for_nothing_and_raise_no_flag() {
    let mut pair = open(STREAMS);
    let news = pair.nodes[1].last_news();
    for key in 3..1_000 {
        let id = in_slot(3, key);
        let barrier = pair.nodes[1].write(TABLE, id, None);
        assert!(pair.nodes[1].may_acknowledge(pair.now, barrier), "key {key}");
        assert_eq!((is_free(&pair, id), decide(&mut pair, id)), ([true; 2], INGEST), "key {key}");
    }
    assert_eq!(pair.nodes[1].last_news(), news);
    assert!(pair.nodes[1].writes_streamed() > 950 && pair.nodes[1].slots_opened() == 1);
    let other =
        (7_000..).map(|key| in_slot(4, key)).find(|id| decide(&mut pair, *id) == Decision::Empty).unwrap();
    pair.nodes[1].write(TABLE, other, None);
    assert_eq!(is_free(&pair, other), [false; 2], "another slot is not open");
    pair.settle();
    assert_eq!(pair.nodes[0].open_slots(IDS[1], TABLE), Slots::default());
    assert!((1..1_000).all(|key| decide(&mut pair, in_slot(3, key)) == LIVE));
    let skipped = (5_000..5_100).filter(|key| decide(&mut pair, in_slot(3, *key)) == Decision::Empty).count();
    assert!(skipped > 90, "{skipped} of 100 absent keys");
}

#[test]
fn writes_wait_until_the_opening_is_known() {
    for flaw in [None, Some(Flaw::SlotsOpenEarly)] {
        let mut pair = Pair::new(Config { flaw, ..STREAMS }, None);
        for key in [1, 2] {
            pair.nodes[1].write(TABLE, in_slot(3, key), None);
        }
        pair.nodes[1].flush(pair.now);
        let id = in_slot(3, 3);
        pair.nodes[1].write(TABLE, id, None);
        assert_eq!(decide(&mut pair, id), Decision::Empty, "node 0 does not know of the slot");
        assert_eq!(is_free(&pair, id), [flaw.is_some(); 2], "{flaw:?}");
        while pair.carry(|_| true) {}
        assert_eq!((is_free(&pair, id), decide(&mut pair, id)), ([true; 2], INGEST), "{flaw:?}");
    }
}

/// No delta arrives, and requests and grants do: the writer waits for one lease, as for a key of its own.
#[test]
fn a_holder_that_does_not_learn_of_the_opening_costs_one_lease() {
    let mut pair = Pair::new(STREAMS, None);
    for key in [1, 2] {
        pair.nodes[1].write(TABLE, in_slot(3, key), None);
    }
    pair.nodes[1].flush(pair.now);
    let (id, began) = (in_slot(3, 3), pair.now);
    pair.nodes[1].write(TABLE, id, None);
    while is_free(&pair, id) != [true; 2] {
        pair.now += 50;
        // Keys go on to come, so that the slot stays open.
        pair.nodes[1].write(TABLE, in_slot(3, pair.now), None);
        pair.nodes.iter_mut().for_each(|node| node.tick(pair.now));
        while pair.carry(|message| matches!(message, Message::Request { .. } | Message::Grant { .. })) {}
        assert!(is_free(&pair, id) == [false; 2] || decide(&mut pair, id) != Decision::Empty);
    }
    assert!(pair.now - began <= SAFE.lease + 50, "{} ms", pair.now - began);
    pair.settle();
    assert_eq!(decide(&mut pair, id), LIVE);
}

#[test]
fn a_slot_is_closed_with_what_came_to_it() {
    for flaw in [None, Some(Flaw::SlotsCloseEmpty)] {
        let mut pair = open(Config { flaw, ..STREAMS });
        for key in 3..9 {
            pair.nodes[1].write(TABLE, in_slot(3, key), None);
        }
        pair.settle();
        assert_eq!(pair.nodes[0].open_slots(IDS[1], TABLE), Slots::default());
        let denied = (1..9).filter(|key| decide(&mut pair, in_slot(3, *key)) == Decision::Empty).count();
        assert_eq!(denied, if flaw.is_some() { 6 } else { 0 }, "{flaw:?}");
    }
}

/// The delta that closes a slot is lost, and so is all that comes after it, for as long as a lease holds.
#[test]
fn a_holder_that_does_not_learn_of_the_end_goes_on_to_say_maybe() {
    let mut pair = open(STREAMS);
    let ids = [3, 4].map(|key| in_slot(3, key));
    pair.nodes[1].write(TABLE, ids[0], None);
    let mut was_free = false;
    for _ in 0..130 {
        pair.now += 50;
        pair.nodes.iter_mut().for_each(|node| node.tick(pair.now));
        while pair.carry(|message| !matches!(message, Message::Delta { .. })) {}
        if pair.nodes[1].open_slots(IDS[1], TABLE) == Slots::default() {
            // This one is announced, and waits.
            pair.nodes[1].write(TABLE, ids[1], None);
            was_free |= is_free(&pair, ids[1]) == [true; 2];
        }
        assert!(ids.iter().all(|id| decide(&mut pair, *id) != Decision::Empty), "at {}", pair.now);
    }
    assert!(was_free, "when the lease was over");
    (0..2).for_each(|_| pair.settle());
    assert_eq!(ids.map(|id| decide(&mut pair, id)), [LIVE; 2]);
}

#[test]
fn a_copy_that_is_fetched_meanwhile_has_the_slot_open() {
    for flaw in [None, Some(Flaw::SnapshotsForgetSlots)] {
        let mut pair = open(Config { flaw, ..STREAMS });
        pair.nodes[0].want(TABLE, []);
        pair.nodes[0].want(TABLE, [IDS[1]]);
        let mut key = 2;
        for _ in 0..40 {
            pair.now += 100;
            key += 1;
            pair.nodes[1].write(TABLE, in_slot(3, key), None);
            assert_ne!(decide(&mut pair, in_slot(3, key)), Decision::Empty, "there is no copy yet");
            pair.nodes.iter_mut().for_each(|node| node.tick(pair.now));
            while pair.carry(|_| true) {}
            if pair.nodes[0].copy_of(IDS[1], TABLE).is_some() {
                break;
            }
        }
        assert_eq!(pair.nodes[1].open_slots(IDS[1], TABLE), Slots::from_iter([3]));
        let after = in_slot(3, key + 1);
        pair.nodes[1].write(TABLE, after, None);
        assert_eq!(is_free(&pair, after), [true; 2]);
        let expected = if flaw.is_some() { Decision::Empty } else { INGEST };
        assert_eq!(decide(&mut pair, after), expected, "{flaw:?}");
        pair.settle();
        assert_eq!(decide(&mut pair, after), LIVE);
    }
}

/// It is no news to the filter, since no fingerprint tells it from a key that came to an open slot; but no holder knows that one.
#[test]
fn a_twin_elsewhere_of_what_came_to_an_open_slot_is_announced() {
    for flaw in [None, Some(Flaw::PutOffTwinsAreKnown)] {
        let mut pair = Pair::new(Config { flaw, ..STREAMS }, None);
        for node in &mut pair.nodes {
            node.create_table(TABLE, 10, 0.4, None);
            node.set_ready(TABLE);
        }
        pair.settle();
        let is_absent = |pair: &Pair, id| pair.nodes[1].own_presence(TABLE, id) == Presence::Absent;
        let mut key = 0;
        while pair.nodes[1].open_slots(IDS[1], TABLE) == Slots::default() {
            key += 1;
            pair.nodes[1].write(TABLE, in_slot(3, key), None);
        }
        confirm(&mut pair);
        let others: Vec<KeyId> =
            (1..20_000).map(|key| in_slot(4, key)).filter(|id| is_absent(&pair, *id)).collect();
        let first = (key + 1..).map(|key| in_slot(3, key)).find(|id| is_absent(&pair, *id)).unwrap();
        pair.nodes[1].write(TABLE, first, None);
        assert_eq!(is_free(&pair, first), [true; 2]);
        let twin = others.into_iter().find(|id| !is_absent(&pair, *id)).unwrap();
        pair.nodes[1].write(TABLE, twin, None);
        assert_eq!(decide(&mut pair, twin), Decision::Empty, "node 0 knows neither");
        assert_eq!(is_free(&pair, twin), [flaw.is_some(); 2], "{flaw:?}");
        confirm(&mut pair);
        assert_eq!(is_free(&pair, twin), [true; 2]);
        let expected = if flaw.is_some() { Decision::Empty } else { LIVE };
        assert_eq!(decide(&mut pair, twin), expected, "{flaw:?}");
    }
}

#[test]
fn a_long_stream_is_announced_in_parts_while_its_slot_stays_open() {
    let mut pair = open(STREAMS);
    for key in 3..10_000 {
        pair.nodes[1].write(TABLE, in_slot(3, key), None);
    }
    confirm(&mut pair);
    let known = pair.nodes[0].copy_of(IDS[1], TABLE).unwrap().key_count();
    assert!((8_000..8_400).contains(&known), "two parts of 4,096 names: {known}");
    assert_eq!(pair.nodes[0].open_slots(IDS[1], TABLE), Slots::from_iter([3]));
    pair.settle();
    assert!((1..10_000).all(|key| decide(&mut pair, in_slot(3, key)) == LIVE));
}

#[test]
fn another_filter_has_no_open_slot() {
    let mut pair = open(STREAMS);
    pair.nodes[1].write(TABLE, in_slot(3, 3), None);
    pair.nodes[1].begin_rebuild(TABLE, 10_000, 0.01);
    pair.nodes[1].write(TABLE, in_slot(3, 4), None);
    (1..4).for_each(|key| pair.nodes[1].rebuild_key(TABLE, in_slot(3, key), None));
    pair.nodes[1].finish_rebuild(TABLE);
    assert_eq!(pair.nodes[1].open_slots(IDS[1], TABLE), Slots::default());
    pair.nodes[1].write(TABLE, in_slot(3, 5), None);
    assert_eq!(is_free(&pair, in_slot(3, 5)), [false; 2]);
    let answers = |pair: &mut Pair| [3, 4, 5].map(|key| decide(pair, in_slot(3, key)));
    assert_eq!(answers(&mut pair), [INGEST; 3], "node 0 knows the slot to be open still");
    pair.settle();
    assert_eq!(answers(&mut pair), [LIVE; 3]);
    assert_eq!(pair.nodes[0].open_slots(IDS[1], TABLE), Slots::default());
}

/// What is buried in an open slot is dead when it is closed, and what was written after that is alive.
#[test]
fn burials_in_an_open_slot_keep_their_order() {
    let mut pair = open(STREAMS);
    let [dead, alive] = [3, 4].map(|key| in_slot(3, key));
    for id in [dead, alive] {
        pair.nodes[1].write(TABLE, id, None);
        assert!(pair.nodes[1].bury(TABLE, id, deletion(10, None)));
    }
    pair.nodes[1].write(TABLE, alive, None);
    assert_eq!([dead, alive].map(|id| decide(&mut pair, id)), [INGEST; 2]);
    pair.settle();
    assert_eq!([dead, alive].map(|id| decide(&mut pair, id)), [Decision::Empty, LIVE]);
    assert_eq!(pair.nodes[0].copy_of(IDS[1], TABLE).unwrap().presence(dead), Presence::Dead);
}

/// Rows of a partition whose slot is open: what was known to be dead counts for nothing, and is ended by a row in it.
#[test]
fn a_row_that_comes_to_an_open_slot_ends_margins_and_water_marks() {
    let mut pair = Pair::new(STREAMS, Some(Buckets::new(4, 4, 2).unwrap()));
    let queue = in_slot(3, 0);
    for row in [100, 300] {
        pair.nodes[1].write(TABLE, queue, Some(row));
    }
    pair.settle();
    assert!(pair.nodes[1].bury_rows(TABLE, queue, 0, 99, 0) > 0);
    pair.settle();
    let asked = Asked { partition: queue, slice: None, replicas: &IDS[1..] };
    let mark = |pair: &Pair| pair.nodes[0].water_mark(pair.now, TABLE, &asked, Side::Start);
    let rows = |pair: &mut Pair| {
        let asked = Asked { slice: Some((90, 99)), ..asked };
        pair.nodes[0].decide(pair.now, &question(&[asked]))
    };
    let before = mark(&pair).unwrap();
    assert_eq!((before.place(), rows(&mut pair)), (99, Decision::Empty));
    for key in [1, 2] {
        pair.nodes[1].write(TABLE, in_slot(3, key), None);
    }
    confirm(&mut pair);
    assert_eq!((mark(&pair), rows(&mut pair)), (None, INGEST));
    pair.nodes[1].write(TABLE, queue, Some(97));
    assert_eq!(is_free(&pair, queue), [true; 2]);
    pair.settle();
    assert_eq!((mark(&pair), rows(&mut pair)), (None, LIVE));
    // One that ends, and is proven anew, while the slot is open.
    for key in [5, 6] {
        pair.nodes[1].write(TABLE, in_slot(3, key), None);
    }
    confirm(&mut pair);
    pair.nodes[1].bury_rows(TABLE, queue, 0, 95, 0);
    pair.nodes[1].write(TABLE, queue, Some(7));
    pair.nodes[1].bury_rows(TABLE, queue, 0, 6, 0);
    pair.settle();
    let after = mark(&pair).unwrap();
    assert!(after.place() == 5 && !after.confirms(before), "{after:?}");
}

#[test]
fn slots_are_open_in_mode_safe_alone_and_only_where_they_may_be() {
    let is_open = |config: Config, of_table: Option<u64>| {
        let mut pair = Pair::new(config, None);
        if let Some(writes) = of_table {
            pair.nodes[1].open_slots_at(TABLE, writes);
        }
        for key in 1..5 {
            pair.nodes[1].write(TABLE, in_slot(3, key), None);
        }
        pair.nodes[1].open_slots(IDS[1], TABLE) != Slots::default()
    };
    for mode in [Mode::Shadow, Mode::Eventual] {
        assert!(!is_open(Config { slot_writes: 2, ..Config::new(mode) }, None), "{mode:?}");
    }
    assert!(!is_open(SAFE, None) && is_open(SAFE, Some(3)) && !is_open(SAFE, Some(5)));
    assert!(is_open(STREAMS, None) && !is_open(STREAMS, Some(0)));
}
