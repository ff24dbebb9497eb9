//! Calls around a request: decisions, held acknowledgements, numbers to look at.

use super::{Pointer, address, hub, key, node, table, with_lent, word};
use crate::hub::FAILED;

native! {
    /// Decides about the read in a buffer of words.
    fn decide(handle, mode, now, at, count) {
        with_lent(at, count, |words| hub(handle).decide(mode, word(now), words))
    }

    /// How far the partition of the question in a buffer of words is dead from one end on (0 the first row's, 1 the last row's), as
    /// [`Hub::water_mark`](crate::hub::Hub::water_mark) says; its stamp goes into the word after the question.
    fn waterMark(handle, mode, now, at, count, side) {
        let mut stamp = 0;
        let pair = with_lent(at, count, |words: &[u64]| {
            let (pair, of_mark) = hub(handle).water_mark(mode, word(now), words, side);
            stamp = of_mark;
            pair
        });
        let Ok(after) = usize::try_from(count) else { return FAILED };
        // SAFETY: Java lends the address of a direct buffer that has room for one word more than the question, and does not touch it
        // during this call.
        unsafe { address::<u64>(at).cast_mut().add(after).write(stamp) };
        pair
    }

    /// How far this node's own filter knows a partition to be dead from one end on.
    fn ownWaterMark(handle, mode, high, low, first, second, side) {
        hub(handle).own_water_mark(mode, table(high, low), key(first, second), side)
    }

    /// A ticket for an acknowledgement that may be of anything; 0 if it may leave.
    fn hold(handle, now) {
        hub(handle).hold(word(now))
    }

    /// A ticket for the acknowledgement of a write of one partition.
    fn holdKey(handle, high, low, first, second, now) {
        hub(handle).hold_key(table(high, low), key(first, second), word(now))
    }

    /// The last ticket that may leave.
    fn released(handle, now) {
        hub(handle).released(word(now))
    }

    /// A number about this node's filter of a table.
    fn ofOwn(handle, mode, high, low, what) {
        hub(handle).of_filter(mode, table(high, low), None, what)
    }

    /// A number about the copy of a peer's filter.
    fn ofPeer(handle, mode, high, low, peer_high, peer_low, what) {
        hub(handle).of_filter(mode, table(high, low), Some(node(peer_high, peer_low)), what)
    }

    fn counter(handle, mode, what) {
        hub(handle).counter(mode, what)
    }

    /// 1 if a peer's filters may be used now in a mode.
    fn mayRelyOn(handle, mode, now, peer_high, peer_low) {
        hub(handle).read(mode, |of| i64::from(of.may_rely_on(word(now), node(peer_high, peer_low))))
    }

    /// A number about the exchange in a mode.
    fn ofNode(handle, mode, now, what) {
        hub(handle).of_node(mode, word(now), what)
    }
}
