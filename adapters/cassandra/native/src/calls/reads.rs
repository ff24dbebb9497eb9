//! Calls around a request: decisions, held acknowledgements, numbers to look at.

use super::{Pointer, hub, node, table, with_lent, word};
use crate::question::from_code;

/// Decides about the read in a buffer of words.
#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_decide(
    _: Pointer,
    _: Pointer,
    handle: i64,
    mode: i64,
    now: i64,
    at: i64,
    count: i64,
) -> i64 {
    with_lent(at, count, |words| hub(handle).decide(mode, word(now), words))
}

/// Learns what a read found that went on.
#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_found(
    _: Pointer,
    _: Pointer,
    handle: i64,
    mode: i64,
    decision: i64,
    rows: i64,
) -> i64 {
    hub(handle).with(mode, |node| {
        node.found(from_code(decision), rows > 0);
        0
    })
}

/// A ticket for an acknowledgement; 0 if it may leave.
#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_hold(
    _: Pointer,
    _: Pointer,
    handle: i64,
    now: i64,
) -> i64 {
    hub(handle).hold(word(now))
}

/// The last ticket that may leave.
#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_released(
    _: Pointer,
    _: Pointer,
    handle: i64,
    now: i64,
) -> i64 {
    hub(handle).released(word(now))
}

/// A number about this node's filter of a table.
#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_ofOwn(
    _: Pointer,
    _: Pointer,
    handle: i64,
    mode: i64,
    high: i64,
    low: i64,
    what: i64,
) -> i64 {
    hub(handle).of_filter(mode, table(high, low), None, what)
}

/// A number about the copy of a peer's filter.
#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_ofPeer(
    _: Pointer,
    _: Pointer,
    handle: i64,
    mode: i64,
    high: i64,
    low: i64,
    peer_high: i64,
    peer_low: i64,
    what: i64,
) -> i64 {
    hub(handle).of_filter(mode, table(high, low), Some(node(peer_high, peer_low)), what)
}

#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_counter(
    _: Pointer,
    _: Pointer,
    handle: i64,
    mode: i64,
    what: i64,
) -> i64 {
    hub(handle).counter(mode, what)
}
