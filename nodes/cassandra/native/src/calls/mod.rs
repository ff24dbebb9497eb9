//! The methods of `lacuna.cassandra.Native`, under the names by which a virtual machine looks them up.
//!
//! It calls a static native method with two pointers, its environment and the class, then the arguments. Neither pointer is
//! used. A hub is known by the address that `open` gave; it is never freed, since a Cassandra node has one for as long
//! as it lives. Java's longs are read as the words they are made of; a UUID or a key's hash is two of them.

#![allow(unsafe_code, clippy::too_many_arguments, reason = "the border to Java")]

/// Functions under the names by which a virtual machine looks for static native methods of `lacuna.cassandra.Native`. An
/// argument is a long unless it says otherwise; so is the answer.
macro_rules! native {
    (@type) => { i64 };
    (@type $type:ty) => { $type };
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident $(: $type:ty)?),*) $body:block)*) => {$(
        const _: () = {
            $(#[$meta])*
            #[unsafe(export_name = concat!("Java_lacuna_cassandra_Native_", stringify!($name)))]
            extern "system" fn call(_: Pointer, _: Pointer, $($argument: native!(@type $($type)?)),*) -> i64 $body
        };
    )*};
}

pub mod exchange;
pub mod reads;
pub mod tables;

use std::ffi::c_void;
use std::slice;

use lacuna_node_filters::{KeyId, NodeId, TableId};

use crate::hub::{FAILED, Hub};
use crate::question::wide;

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

/// Bytes; what does not fit is as much as there is.
fn size(long: i64) -> usize {
    usize::try_from(word(long)).unwrap_or(usize::MAX)
}

fn table(high: i64, low: i64) -> TableId {
    TableId(wide(word(high), word(low)))
}

fn node(high: i64, low: i64) -> NodeId {
    NodeId(wide(word(high), word(low)))
}

/// Nodes as pairs of words.
fn nodes(words: &[u64]) -> impl Iterator<Item = NodeId> {
    words.chunks_exact(2).map(|pair| NodeId(wide(pair[0], pair[1])))
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

/// Copies parts, one after the other, to the beginning of a buffer that Java lends.
///
/// # Safety
/// `at` is the address of a direct buffer with room for all of them, which Java does not touch before this call returns.
unsafe fn fill_lent(at: i64, parts: &[&[u8]]) {
    let length = parts.iter().map(|part| part.len()).sum();
    // SAFETY: as the caller says.
    let mut rest = unsafe { slice::from_raw_parts_mut(address::<u8>(at).cast_mut(), length) };
    for part in parts {
        let (begin, end) = rest.split_at_mut(part.len());
        begin.copy_from_slice(part);
        rest = end;
    }
}

/// The place of a row, if there is one.
fn place(has_place: i64, place: i64) -> Option<u64> {
    (has_place != 0).then_some(word(place))
}
