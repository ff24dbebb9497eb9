//! Each rule alone.

use lacuna_node_filters::{
    Asked, Config, Consistency, Decision, Deletion, Flaw, Message, Mode, Plan, Presence, Question, Quorum,
    Reason,
};

use crate::pair::{IDS, Pair, TABLE, partition, question};

const SAFE: Config = Config::new(Mode::Safe);

pub(crate) fn deletion(time: u64, newest: Option<u64>) -> Deletion {
    Deletion { time, newest_in_files: newest, newest_in_memory: None }
}

#[test]
fn absent_is_empty_and_present_is_not() {
    for mode in [Mode::Safe, Mode::Eventual] {
        let mut pair = Pair::new(Config::new(mode), None);
        assert_eq!(pair.decide(5), Decision::Empty);
        pair.nodes[1].write(TABLE, partition(5), None);
        pair.settle();
        assert_eq!(pair.decide(5), Decision::Forward(Reason::MayBeLive));
        assert_eq!(pair.decide(6), Decision::Empty);
    }
}

/// Files may arrive around a rebuild. One that is there when the rebuild lists its files, after it began, is read by the rebuild.
#[test]
fn a_key_of_a_file_that_arrives_during_a_rebuild_is_in_the_new_filter() {
    let mut pair = Pair::new(SAFE, None);
    pair.nodes[1].load(TABLE, partition(1), None);
    pair.nodes[1].begin_rebuild(TABLE, 300, 0.01);
    pair.nodes[1].load(TABLE, partition(2), None);
    pair.nodes[1].rebuild_key(TABLE, partition(1), None);
    pair.nodes[1].load(TABLE, partition(3), None);
    pair.nodes[1].finish_rebuild(TABLE);
    pair.nodes[1].load(TABLE, partition(4), None);
    pair.settle();
    for key in 1..=4 {
        assert_eq!(pair.decide(key), Decision::Forward(Reason::MayBeLive), "{key}");
    }
    assert_eq!(pair.decide(5), Decision::Empty);
}

#[test]
fn everything_but_a_plain_first_page_goes_on() {
    let mut pair = Pair::new(SAFE, None);
    let asked = [Asked { partition: partition(5), slice: None, replicas: &IDS[1..] }];
    let plain = question(&asked);
    let now = pair.now;
    let decide = |question: Question<'_>| pair.nodes[0].decide(now, &question);
    assert_eq!(decide(plain), Decision::Empty);
    for (question, reason) in [
        (Question { plan: Plan::Scan, ..plain }, Reason::Plan),
        (Question { plan: Plan::Index, ..plain }, Reason::Plan),
        (Question { consistency: Consistency::Serial, ..plain }, Reason::Consistency),
        (Question { consistency: Consistency::NodeLocal, ..plain }, Reason::Consistency),
        (Question { is_first_page: false, ..plain }, Reason::Page),
        (Question { is_available: false, ..plain }, Reason::Availability),
        (Question { keys: &[], ..plain }, Reason::NoKey),
        (Question { table: lacuna_node_filters::TableId(8), ..plain }, Reason::Unknown),
    ] {
        assert_eq!(decide(question), Decision::Forward(reason), "{question:?}");
    }
    let without_replicas = [Asked { replicas: &[], ..asked[0] }];
    assert_eq!(decide(question(&without_replicas)), Decision::Forward(Reason::NoKey));
    let with_an_unknown_node = [Asked { replicas: &[IDS[1], lacuna_node_filters::NodeId(9)], ..asked[0] }];
    assert_eq!(decide(question(&with_an_unknown_node)), Decision::Forward(Reason::Unknown));
    pair.nodes[0].switch(false);
    assert_eq!(pair.decide(5), Decision::Forward(Reason::Off));
}

/// Node 0 asks; of the replicas 1, 8 and 9 it has heard of 1 only.
#[test]
fn a_quorum_of_absents_answers_while_a_replica_is_down() {
    let mut pair = Pair::new(SAFE, None);
    pair.nodes[1].write(TABLE, partition(5), None);
    pair.settle();
    let [of_one, of_two] = [1, 8].map(lacuna_node_filters::NodeId);
    let replicas = [IDS[0], IDS[1], lacuna_node_filters::NodeId(9)];
    let decide = |key, replicas: &[lacuna_node_filters::NodeId], needed| {
        let asked = [Asked { partition: partition(key), slice: None, replicas }];
        pair.nodes[0].decide_by_quorum(pair.now, &question(&asked), &[&[Quorum { replicas, needed }]])
    };
    assert_eq!(decide(6, &replicas, 2), Decision::Empty);
    assert_eq!(decide(6, &replicas, 3), Decision::Forward(Reason::Unknown), "one is not known");
    assert_eq!(decide(5, &replicas, 2), Decision::Forward(Reason::MayBeLive), "one of two may hold it");
    assert_eq!(
        decide(5, &replicas, 1),
        Decision::Forward(Reason::MayBeLive),
        "what is known is not left out"
    );
    assert_eq!(decide(6, &replicas, 1), Decision::Empty);
    assert_eq!(decide(6, &[of_one, of_one], 2), Decision::Forward(Reason::NoKey), "one replica, named twice");
    assert_eq!(decide(6, &[of_two], 0), Decision::Forward(Reason::Unknown), "no replica is no quorum");
    let asked = [Asked { partition: partition(6), slice: None, replicas: &replicas }];
    let no_quorum = pair.nodes[0].decide_by_quorum(pair.now, &question(&asked), &[]);
    assert_eq!(no_quorum, Decision::Forward(Reason::NoKey));
}

#[test]
fn one_of_several_keys_is_enough_to_go_on() {
    let mut pair = Pair::new(SAFE, None);
    pair.nodes[1].write(TABLE, partition(5), None);
    pair.settle();
    let asked = |key| Asked { partition: partition(key), slice: None, replicas: &IDS[1..] };
    assert_eq!(pair.nodes[0].decide(pair.now, &question(&[asked(1), asked(2)])), Decision::Empty);
    let mixed = [asked(1), asked(5)];
    assert_eq!(pair.nodes[0].decide(pair.now, &question(&mixed)), Decision::Forward(Reason::MayBeLive));
}

#[test]
fn eventual_mode_answers_for_few_replicas_only() {
    let pair = Pair::new(Config::new(Mode::Eventual), None);
    let asked = [Asked { partition: partition(5), slice: None, replicas: &IDS[1..] }];
    for (consistency, expected) in [
        (Consistency::Two, Decision::Empty),
        (Consistency::Quorum, Decision::Forward(Reason::Consistency)),
        (Consistency::All, Decision::Forward(Reason::Consistency)),
    ] {
        let question = Question { consistency, ..question(&asked) };
        assert_eq!(pair.nodes[0].decide(pair.now, &question), expected);
    }
}

#[test]
fn only_a_proof_buries_and_every_write_raises() {
    let mut pair = Pair::new(SAFE, None);
    pair.nodes[1].write(TABLE, partition(5), None);
    assert!(!pair.nodes[1].bury(TABLE, partition(5), deletion(10, Some(11))), "data is newer");
    assert!(pair.nodes[1].bury(TABLE, partition(5), deletion(10, Some(10))));
    assert_eq!(pair.nodes[1].own_presence(TABLE, partition(5)), Presence::Dead);
    pair.settle();
    assert_eq!(pair.decide(5), Decision::Empty);
    pair.nodes[1].write(TABLE, partition(5), None);
    pair.settle();
    assert_eq!(pair.decide(5), Decision::Forward(Reason::MayBeLive));
}

#[test]
fn no_writer_waits_longer_than_one_lease_and_only_once() {
    let mut pair = Pair::new(SAFE, None);
    let barrier = pair.nodes[1].write(TABLE, partition(5), None);
    pair.nodes[1].flush(pair.now);
    let written_at = pair.now;
    let mut released_at = None;
    // The other node asks and asks for its lease, but no delta reaches it.
    for _ in 0..100 {
        pair.now += 50;
        pair.nodes.iter_mut().for_each(|node| node.tick(pair.now));
        pair.carry(|message| !matches!(message, Message::Delta { .. }));
        if released_at.is_none() && pair.nodes[1].may_acknowledge(pair.now, barrier) {
            released_at = Some(pair.now);
            assert_eq!(pair.decide(5), Decision::Forward(Reason::Stale), "its lease has run out first");
        }
    }
    let waited = released_at.unwrap() - written_at;
    assert!((1_000..=SAFE.lease + 50).contains(&waited), "{waited} ms");
}

/// Too rare for the simulation: the delta and the grant after it are lost, and the old lease still stands.
#[test]
fn a_renewal_is_no_acknowledgement() {
    for flaw in [None, Some(Flaw::RenewalAcknowledges)] {
        let mut pair = Pair::new(Config { flaw, ..SAFE }, None);
        let barrier = pair.nodes[1].write(TABLE, partition(5), None);
        pair.nodes[1].flush(pair.now);
        pair.now += 1_000;
        pair.nodes[0].tick(pair.now);
        pair.carry(|message| matches!(message, Message::Request { .. }));
        assert_eq!(pair.decide(5), Decision::Empty, "the write has not been acknowledged");
        assert_eq!(pair.nodes[1].may_acknowledge(pair.now, barrier), flaw.is_some(), "{flaw:?}");
    }
}

#[test]
fn a_write_of_a_known_key_waits_for_nothing() {
    let mut pair = Pair::new(SAFE, None);
    let first = pair.nodes[1].write(TABLE, partition(5), None);
    pair.nodes[1].flush(pair.now);
    let again = pair.nodes[1].write(TABLE, partition(5), None);
    assert!(!pair.nodes[1].may_acknowledge(pair.now, first));
    assert!(!pair.nodes[1].may_acknowledge(pair.now, again), "the first one's delta is still on its way");
    while pair.carry(|_| true) {}
    assert!(pair.nodes[1].may_acknowledge(pair.now, first));
    let third = pair.nodes[1].write(TABLE, partition(5), None);
    assert!(pair.nodes[1].may_acknowledge(pair.now, third));
}

#[test]
fn a_gap_beyond_the_log_ends_in_a_full_copy() {
    let mut pair = Pair::new(Config { log_bytes: 200, ..SAFE }, None);
    for key in 0..50 {
        pair.nodes[1].write(TABLE, partition(key), None);
        pair.nodes[1].flush(pair.now);
        pair.carry(|_| false);
    }
    assert_eq!(pair.decide(5), Decision::Empty, "its lease holds, and nothing was acknowledged");
    pair.settle();
    assert!((0..50).all(|key| pair.decide(key) == Decision::Forward(Reason::MayBeLive)));
    assert_eq!(pair.decide(99), Decision::Empty);
}

#[test]
fn truncation_drops_the_copy_first() {
    let mut pair = Pair::new(SAFE, None);
    pair.nodes[1].write(TABLE, partition(5), None);
    pair.settle();
    pair.nodes[1].create_table(TABLE, 100, 0.01, None);
    pair.nodes[1].set_ready(TABLE);
    pair.nodes[1].flush(pair.now);
    pair.carry(|message| matches!(message, Message::Delta { .. }));
    assert!(pair.nodes[0].copy_of(IDS[1], TABLE).is_none());
    pair.settle();
    assert_eq!(pair.decide(5), Decision::Empty);
    pair.nodes[1].drop_table(TABLE);
    pair.settle();
    assert_eq!(pair.decide(5), Decision::Forward(Reason::Unknown));
}

#[test]
fn a_coordinator_sees_its_own_writes_in_eventual_mode() {
    let mut pair = Pair::new(Config::new(Mode::Eventual), None);
    pair.nodes[0].forwarded(pair.now, TABLE, partition(5), None, &IDS[1..]);
    assert_eq!(pair.decide(5), Decision::Forward(Reason::MayBeLive));
    assert_eq!(pair.decide(6), Decision::Empty);
}

#[test]
fn an_old_copy_is_not_answered_from() {
    let mut pair = Pair::new(Config::new(Mode::Eventual), None);
    pair.now += 1_000;
    assert_eq!(pair.decide(5), Decision::Empty);
    pair.now += 1_200;
    let stale = Decision::Forward(Reason::Stale);
    assert_eq!(
        pair.decide(5),
        stale,
        "two intervals have passed, and one that the peer had not announced yet"
    );
}

#[test]
fn shadow_mode_counts_contradictions() {
    let mut pair = Pair::new(Config::new(Mode::Shadow), None);
    let decision = pair.decide(5);
    assert_eq!(decision, Decision::Forward(Reason::Shadow));
    pair.nodes[0].found(decision, false);
    assert_eq!(pair.nodes[0].counters().contradictions, 0);
    pair.nodes[0].found(decision, true);
    assert_eq!(pair.nodes[0].counters().contradictions, 1);
}

/// What would be held in mode safe: a new key until the peers know it, an overwrite not at all.
#[test]
fn shadow_mode_knows_which_writes_would_wait() {
    let mut pair = Pair::new(Config::new(Mode::Shadow), None);
    let barrier = pair.nodes[1].write(TABLE, partition(5), None);
    assert!(pair.nodes[1].would_wait(pair.now, barrier) && pair.nodes[1].may_acknowledge(pair.now, barrier));
    pair.settle();
    assert!(!pair.nodes[1].would_wait(pair.now, barrier));
    let barrier = pair.nodes[1].write(TABLE, partition(5), None);
    assert!(!pair.nodes[1].would_wait(pair.now, barrier));
}

#[test]
fn damaged_messages_count_as_lost() {
    let mut pair = Pair::new(SAFE, None);
    pair.nodes[1].write(TABLE, partition(5), None);
    pair.nodes[1].flush(pair.now);
    let (_, mut bytes) = pair.nodes[1].take_outbox().remove(0);
    for at in 0..bytes.len() {
        bytes[at] ^= 0x10;
        pair.nodes[0].receive(pair.now, IDS[1], &bytes);
        bytes[at] ^= 0x10;
    }
    assert_eq!(pair.nodes[0].counters().malformed_messages, bytes.len() as u64);
    pair.settle();
    assert_eq!(pair.decide(5), Decision::Forward(Reason::MayBeLive));
}
