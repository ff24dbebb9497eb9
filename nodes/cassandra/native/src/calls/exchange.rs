//! Calls about the exchange: the other nodes, and the frames between them.

use std::panic::catch_unwind;

use super::{Pointer, fill_lent, hub, node, nodes, size, with_lent, word};
use crate::clock;
use crate::hub::{FAILED, Hub, VERSION};

native! {
    fn version() {
        VERSION
    }

    /// Milliseconds of the clock that leases are counted by; below 0 if this system has none.
    fn now() {
        clock::now().and_then(|now| i64::try_from(now).ok()).unwrap_or(-1)
    }

    /// A new hub; its handle.
    fn open(high, low, incarnation, now, interval, lease, copy_bytes) {
        let hub = catch_unwind(|| {
            let times = [word(now), word(interval), word(lease)];
            Box::new(Hub::new(node(high, low), word(incarnation), times, size(copy_bytes)))
        });
        hub.map_or(FAILED, |hub| (Box::into_raw(hub).expose_provenance() as u64).cast_signed())
    }

    /// The other nodes of the ring, as pairs of words.
    fn ring(handle, version, at, count) {
        with_lent(at, count.saturating_mul(2), |words: &[u64]| {
            hub(handle).with_all(|node| node.set_ring(word(version), nodes(words)))
        })
    }

    /// The address of a word that is 0 while every answer may leave; it is looked at without a call.
    fn news(handle) {
        let word = std::ptr::from_ref(hub(handle).news().word());
        (word.expose_provenance() as u64).cast_signed()
    }

    /// Does what is due, some ten times an interval.
    fn tick(handle, now) {
        hub(handle).tick(word(now))
    }

    /// Publishes what was written.
    fn flush(handle, now) {
        hub(handle).with_all(|node| node.flush(word(now)))
    }

    /// Takes the frame in a buffer of bytes.
    fn receive(handle, mode, now, from_high, from_low, at, length) {
        with_lent(at, length, |frame| hub(handle).receive(mode, word(now), node(from_high, from_low), frame))
    }

    /// Writes the next frame to send into a buffer of `room` bytes: mode (8 bytes), receiver (two words), frame. The length of
    /// all that; 0 if there is none; if it does not fit, its length below 0, and it waits for a larger buffer.
    fn take(handle, at, room) {
        const HEAD: usize = 24;
        let Some(max) = usize::try_from(room).ok().and_then(|room| room.checked_sub(HEAD)) else {
            return FAILED;
        };
        let signed = |length: usize| i64::try_from(length + HEAD).unwrap_or(i64::MAX);
        match hub(handle).take(max) {
            Ok(None) => 0,
            Err(length) => -signed(length),
            Ok(Some((mode, to, frame))) => {
                let mode = u64::from(mode).to_be_bytes();
                // SAFETY: Java lends the address of a direct buffer of `room` bytes, which it does not touch during this call;
                // the frame was found to fit after the head.
                unsafe { fill_lent(at, &[&mode, &to.0.to_be_bytes(), &frame]) };
                signed(frame.len())
            }
        }
    }
}
