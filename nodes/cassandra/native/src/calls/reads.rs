//! Calls around a request: decisions, held acknowledgements, numbers to look at.

use super::{Pointer, hub, key, node, table, with_lent, word};

native! {
    /// Decides about the read in a buffer of words.
    fn decide(handle, mode, now, at, count) {
        with_lent(at, count, |words| hub(handle).decide(mode, word(now), words))
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
}
