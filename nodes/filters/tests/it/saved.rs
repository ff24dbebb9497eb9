//! A filter that one life of a node leaves on disk, and the next one restores.

use lacuna_node_filters::{
    Buckets, Config, KeyId, Message, Mode, Node, NodeId, Presence, Saved, TableId, Undone,
};

use crate::rules::deletion;

const TABLE: TableId = TableId(7);

fn node(keys: impl Iterator<Item = u64>) -> Node {
    let mut node = Node::new(NodeId(1), Config::new(Mode::Safe), 1, 0);
    node.create_table(TABLE, 1_000, 0.01, Some(Buckets::new(3, 2, 2).unwrap()));
    keys.for_each(|key| node.load(TABLE, id(key), Some(key)));
    node
}

fn ready(keys: impl Iterator<Item = u64>) -> Node {
    let mut node = node(keys);
    node.set_ready(TABLE);
    node
}

fn id(key: u64) -> KeyId {
    KeyId::of_partition(&key.to_le_bytes())
}

fn presence(node: &Node, key: u64) -> Presence {
    node.own_filter(TABLE).unwrap().presence(id(key))
}

#[test]
fn a_restored_filter_says_what_the_saved_one_said() {
    let mut before = ready(0..500);
    assert!(before.bury(TABLE, id(3), deletion(9, None)));
    let saved = before.saved_table(TABLE).unwrap();
    let mut after = node([].into_iter());
    assert!(after.restore_table(TABLE, &saved, true).unwrap());
    after.set_ready(TABLE);
    assert!((0..5_000).all(|key| presence(&before, key) == presence(&after, key)));
    assert_eq!(presence(&after, 3), Presence::Dead);
    assert_eq!(after.saved_table(TABLE).unwrap(), saved);
    // What came since is loaded, or written.
    after.load(TABLE, id(3), None);
    after.write(TABLE, id(9_000), None);
    assert_eq!([3, 9_000].map(|key| presence(&after, key)), [Presence::Live; 2]);
}

#[test]
fn the_dead_are_live_where_what_made_them_dead_may_be_lost() {
    let mut before = ready(0..500);
    before.bury(TABLE, id(3), deletion(9, None));
    assert!(before.bury_rows(TABLE, id(4), 1_000, u64::MAX, 5) > 0);
    let mut after = node([].into_iter());
    assert!(after.restore_table(TABLE, &before.saved_table(TABLE).unwrap(), false).unwrap());
    assert!((0..500).all(|key| presence(&after, key) == Presence::Live));
    assert_eq!(after.own_filter(TABLE).unwrap().dead_count(), 0);
}

/// The next work of a node that is not a piece.
fn work(node: &mut Node) -> Undone {
    loop {
        match node.undone() {
            Undone::Copied | Undone::Free(_) => {}
            other => return other,
        }
    }
}

/// A copy for a peer, or for an earlier file, may have been whole before the file asked.
#[test]
fn a_file_takes_no_copy_that_was_whole_before_it_asked() {
    for is_for_peer in [true, false] {
        let mut before = ready(0..500);
        if is_for_peer {
            let ask = Message::AskChunk { table: TABLE, sequence: u64::MAX, index: 0 };
            before.receive_quickly(1, NodeId(2), &ask.to_bytes());
        } else {
            assert!(before.begin_saving(TABLE));
        }
        let Undone::Encode(early) = work(&mut before) else { panic!("a copy is whole") };
        before.write(TABLE, id(9_000), None);
        assert!(before.begin_saving(TABLE));
        before.encoded(2, early.encode());
        assert_eq!(before.take_saved(TABLE), Saved::NotYet);
        let Undone::Encode(late) = work(&mut before) else { panic!("another copy is whole") };
        before.encoded(3, late.encode());
        let Saved::Bytes(saved) = before.take_saved(TABLE) else { panic!("it is saved") };
        let mut after = node([].into_iter());
        assert!(after.restore_table(TABLE, &saved, true).unwrap());
        assert_eq!(presence(&after, 9_000), Presence::Live);
    }
}

/// A filter was being written to bytes when its table was dropped and created again: those bytes are no copy of the next one.
#[test]
fn peers_get_no_filter_of_a_table_that_was_dropped_meanwhile() {
    let mut node = ready(0..500);
    node.receive_quickly(
        1,
        NodeId(2),
        &Message::AskChunk { table: TABLE, sequence: u64::MAX, index: 0 }.to_bytes(),
    );
    let Undone::Encode(whole) = work(&mut node) else { panic!("a copy is whole") };
    node.drop_table(TABLE);
    node.create_table(TABLE, 1_000, 0.01, Some(Buckets::new(3, 2, 2).unwrap()));
    node.set_ready(TABLE);
    node.encoded(2, whole.encode());
    assert!(node.take_outbox().is_empty());
}

/// A filter that is not filled yet holds less than the table, and one that has taken a write would lose it.
#[test]
fn only_a_filled_filter_is_saved_and_only_an_empty_one_restored() {
    let mut filling = node(0..10);
    assert!(filling.saved_table(TABLE).is_none() && filling.saved_table(TableId(8)).is_none());
    let saved = ready(0..500).saved_table(TABLE).unwrap();
    assert!(!filling.restore_table(TABLE, &saved, true).unwrap());
    assert_eq!(
        filling.own_filter(TABLE).unwrap().key_count(),
        node(0..10).own_filter(TABLE).unwrap().key_count()
    );
    assert!(!ready([].into_iter()).restore_table(TABLE, &saved, true).unwrap(), "peers may have it");
    assert!(!node([].into_iter()).restore_table(TableId(8), &saved, true).unwrap());
    let mut unknown = node([].into_iter());
    unknown.limit_table(TABLE, 1);
    unknown.set_ready(TABLE);
    assert!(unknown.saved_table(TABLE).is_none());
    assert!(!unknown.restore_table(TABLE, &saved, true).unwrap());
}

#[test]
fn a_restored_filter_keeps_to_its_memory() {
    let saved = ready(0..5_000).saved_table(TABLE).unwrap();
    let mut small = node([].into_iter());
    small.limit_table(TABLE, 12_000);
    assert!(small.restore_table(TABLE, &saved, true).unwrap());
    assert!(small.own_filter(TABLE).unwrap().memory_bytes() <= 12_000);
    small.set_ready(TABLE);
    assert!((0..5_000).all(|key| !presence(&small, key).is_empty()));
}

#[test]
fn bytes_that_are_no_filter_are_refused_and_change_nothing() {
    let saved = ready(0..50).saved_table(TABLE).unwrap();
    for end in 0..saved.len() {
        let mut node = node([].into_iter());
        // A cut may leave a filter that knows nothing, which is not taken.
        assert!(!node.restore_table(TABLE, &saved[..end], true).unwrap_or(false), "{end}");
        assert_eq!(node.own_filter(TABLE).unwrap().key_count(), 0);
    }
}
