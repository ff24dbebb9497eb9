//! Calls about one table: its filter, its keys.

use lacuna_node_filters::{Deletion, Presence};

use super::{Pointer, hub, key, node, place, table, word};

/// Begins a table's filter, which nobody sees before it is shown; `finest` is below 0 if rows have no buckets.
#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_create(
    _: Pointer,
    _: Pointer,
    handle: i64,
    mode: i64,
    high: i64,
    low: i64,
    capacity: i64,
    rate: f64,
    finest: i64,
) -> i64 {
    hub(handle).create(mode, table(high, low), word(capacity), rate, u32::try_from(finest).ok())
}

/// Begins a filter that will stand in for the one there is.
#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_beginRebuild(
    _: Pointer,
    _: Pointer,
    handle: i64,
    mode: i64,
    high: i64,
    low: i64,
    capacity: i64,
    rate: f64,
) -> i64 {
    hub(handle).with(mode, |node| {
        node.begin_rebuild(table(high, low), word(capacity), rate);
        0
    })
}

/// What is done with a whole table: 0 shows it to peers, 1 ends its rebuild, 2 drops it.
#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_table(
    _: Pointer,
    _: Pointer,
    handle: i64,
    mode: i64,
    high: i64,
    low: i64,
    what: i64,
) -> i64 {
    hub(handle).with(mode, |node| {
        match what {
            0 => node.set_ready(table(high, low)),
            1 => node.finish_rebuild(table(high, low)),
            _ => node.drop_table(table(high, low)),
        }
        0
    })
}

/// Adds a key of a file: to the filter, or to the one that is being rebuilt.
#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_load(
    _: Pointer,
    _: Pointer,
    handle: i64,
    mode: i64,
    high: i64,
    low: i64,
    first: i64,
    second: i64,
    has_place: i64,
    at_place: i64,
    is_rebuild: i64,
) -> i64 {
    hub(handle).with(mode, |node| {
        let load = if is_rebuild == 0 {
            lacuna_node_filters::Node::load
        } else {
            lacuna_node_filters::Node::rebuild_key
        };
        load(node, table(high, low), key(first, second), place(has_place, at_place));
        0
    })
}

#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_write(
    _: Pointer,
    _: Pointer,
    handle: i64,
    mode: i64,
    high: i64,
    low: i64,
    first: i64,
    second: i64,
    has_place: i64,
    at_place: i64,
    now: i64,
) -> i64 {
    hub(handle).write(mode, table(high, low), key(first, second), place(has_place, at_place), word(now))
}

/// 1 if what a read has found of a key may be shown.
#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_mayReveal(
    _: Pointer,
    _: Pointer,
    handle: i64,
    mode: i64,
    high: i64,
    low: i64,
    first: i64,
    second: i64,
    now: i64,
) -> i64 {
    hub(handle).may_reveal(mode, table(high, low), key(first, second), word(now))
}

/// Places of rows, from one to another, that a read of all of them has found to be dead; how many buckets that were new.
#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_buryRows(
    _: Pointer,
    _: Pointer,
    handle: i64,
    mode: i64,
    high: i64,
    low: i64,
    first: i64,
    second: i64,
    from: i64,
    to: i64,
    time: i64,
) -> i64 {
    hub(handle).with(mode, |node| {
        let count = node.bury_rows(table(high, low), key(first, second), word(from), word(to), word(time));
        i64::try_from(count).unwrap_or(i64::MAX)
    })
}

/// A key that a read of everything has found to be dead.
#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_bury(
    _: Pointer,
    _: Pointer,
    handle: i64,
    mode: i64,
    high: i64,
    low: i64,
    first: i64,
    second: i64,
    time: i64,
) -> i64 {
    let proven = Deletion { time: word(time), newest_in_files: None, newest_in_memory: None };
    hub(handle).with(mode, |node| i64::from(node.bury(table(high, low), key(first, second), proven)))
}

/// A write that this node is about to send to a peer.
#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_forwarded(
    _: Pointer,
    _: Pointer,
    handle: i64,
    mode: i64,
    high: i64,
    low: i64,
    first: i64,
    second: i64,
    has_place: i64,
    at_place: i64,
    now: i64,
    peer_high: i64,
    peer_low: i64,
) -> i64 {
    hub(handle).with(mode, |own| {
        let replica = node(peer_high, peer_low);
        own.forwarded(
            word(now),
            table(high, low),
            key(first, second),
            place(has_place, at_place),
            &[replica],
        );
        0
    })
}

/// What this node's own filter says: 1 if it surely holds no live row of the key.
#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_isEmpty(
    _: Pointer,
    _: Pointer,
    handle: i64,
    mode: i64,
    high: i64,
    low: i64,
    first: i64,
    second: i64,
) -> i64 {
    hub(handle).with(mode, |node| {
        i64::from(Presence::is_empty(node.own_presence(table(high, low), key(first, second))))
    })
}
