//! The methods of `lacuna.cassandra.Native`, under the names by which a virtual machine looks them up.
//!
//! It calls a static native method with two pointers, its environment and the class, then the arguments. Neither pointer is
//! used. A hub is known by the address that `open` gave; it is never freed, since a Cassandra node has one for as long
//! as it lives. Java's longs are read as the words they are made of; a UUID or a key's hash is two of them.

#![allow(
    unsafe_code,
    non_snake_case,
    missing_docs,
    clippy::too_many_arguments,
    reason = "the border to Java"
)]

use std::ffi::c_void;
use std::panic::catch_unwind;
use std::slice;

use lacuna_node_filters::{Deletion, KeyId, NodeId, Presence, TableId};

use crate::hub::{FAILED, Hub, VERSION};
use crate::question::{from_code, wide};

type Pointer = *const c_void;

fn hub(handle: i64) -> &'static Hub {
    // SAFETY: Java passes what `open` gave, and nothing ever frees a hub.
    unsafe { &*address(handle) }
}

fn address<T>(long: i64) -> *const T {
    std::ptr::with_exposed_provenance(usize::try_from(word(long)).expect("addresses have at most 64 bits"))
}

const fn word(long: i64) -> u64 {
    long.cast_unsigned()
}

fn table(high: i64, low: i64) -> TableId {
    TableId(wide(word(high), word(low)))
}

fn node(high: i64, low: i64) -> NodeId {
    NodeId(wide(word(high), word(low)))
}

const fn key(first: i64, second: i64) -> KeyId {
    KeyId::of_hash(word(first), word(second))
}

/// Works on a buffer of `length` items that Java lends.
fn with_lent<T>(at: i64, length: i64, work: impl FnOnce(&[T]) -> i64) -> i64 {
    match usize::try_from(length) {
        Ok(0) => work(&[]),
        // SAFETY: Java passes the address of a direct buffer that holds `length` aligned items, and neither writes to it
        // nor lets go of it before this call returns.
        Ok(length) => work(unsafe { slice::from_raw_parts(address(at), length) }),
        Err(_) => FAILED,
    }
}

#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_version(_: Pointer, _: Pointer) -> i64 {
    VERSION
}

/// A new hub; its handle.
#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_open(
    _: Pointer,
    _: Pointer,
    high: i64,
    low: i64,
    incarnation: i64,
    now: i64,
    interval: i64,
    lease: i64,
) -> i64 {
    let hub = catch_unwind(|| {
        Box::new(Hub::new(node(high, low), word(incarnation), word(now), word(interval), word(lease)))
    });
    hub.map_or(FAILED, |hub| (Box::into_raw(hub).expose_provenance() as u64).cast_signed())
}

/// The other nodes of the ring, as pairs of words.
#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_ring(
    _: Pointer,
    _: Pointer,
    handle: i64,
    version: i64,
    at: i64,
    count: i64,
) -> i64 {
    with_lent(at, count.saturating_mul(2), |words: &[u64]| {
        let others = || words.chunks_exact(2).map(|pair| NodeId(wide(pair[0], pair[1])));
        hub(handle).with_all(|node| node.set_ring(word(version), others()))
    })
}

/// The place of a row, if there is one.
fn place(has_place: i64, place: i64) -> Option<u64> {
    (has_place != 0).then_some(word(place))
}

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

/// Does what is due, some ten times an interval.
#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_tick(
    _: Pointer,
    _: Pointer,
    handle: i64,
    now: i64,
) -> i64 {
    hub(handle).with_all(|node| node.tick(word(now)))
}

/// Publishes what was written.
#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_flush(
    _: Pointer,
    _: Pointer,
    handle: i64,
    now: i64,
) -> i64 {
    hub(handle).with_all(|node| node.flush(word(now)))
}

/// Takes the frame in a buffer of bytes.
#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_receive(
    _: Pointer,
    _: Pointer,
    handle: i64,
    mode: i64,
    now: i64,
    from_high: i64,
    from_low: i64,
    at: i64,
    length: i64,
) -> i64 {
    with_lent(at, length, |frame| hub(handle).receive(mode, word(now), node(from_high, from_low), frame))
}

/// Writes the next frame to send into a buffer of `room` bytes: mode (8 bytes), receiver (two words), frame. The length of
/// all that; 0 if there is none; if it does not fit, its length below 0, and it waits for a larger buffer.
#[unsafe(no_mangle)]
pub extern "system" fn Java_lacuna_cassandra_Native_take(
    _: Pointer,
    _: Pointer,
    handle: i64,
    at: i64,
    room: i64,
) -> i64 {
    const HEAD: usize = 24;
    let Some(most) = usize::try_from(room).ok().and_then(|room| room.checked_sub(HEAD)) else {
        return FAILED;
    };
    let signed = |length: usize| i64::try_from(length + HEAD).unwrap_or(i64::MAX);
    match hub(handle).take(most) {
        Ok(None) => 0,
        Err(length) => -signed(length),
        Ok(Some((mode, to, frame))) => {
            // SAFETY: Java lends the address of a direct buffer of `room` bytes, which it does not touch during this call;
            // the frame was found to fit behind the head.
            let buffer =
                unsafe { slice::from_raw_parts_mut(address::<u8>(at).cast_mut(), HEAD + frame.len()) };
            let (head, body) = buffer.split_at_mut(HEAD);
            head[..8].copy_from_slice(&u64::from(mode).to_be_bytes());
            head[8..].copy_from_slice(&to.0.to_be_bytes());
            body.copy_from_slice(&frame);
            signed(frame.len())
        }
    }
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
