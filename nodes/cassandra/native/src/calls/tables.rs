//! Calls about one table: its filter, its keys.

use lacuna_node_filters::{Deletion, Presence};

use super::{Pointer, fill_lent, hub, key, node, nodes, place, size, table, with_lent, word};
use crate::question;

native! {
    /// Begins a table's filter, which no peer sees before it is published and which takes at most `max_bytes`; `finest` is below 0
    /// if rows have no buckets.
    fn create(handle, mode, high, low, capacity, rate: f64, finest, max_bytes) {
        let finest = u32::try_from(finest).ok();
        hub(handle).create(mode, table(high, low), word(capacity), rate, finest, size(max_bytes))
    }

    /// How many writes of something new into one slot of a table, within an interval, open the slot; 0 for none, as at first.
    fn ingest(handle, mode, high, low, writes) {
        hub(handle).with(mode, |node| {
            node.open_slots_at(table(high, low), word(writes));
            0
        })
    }

    /// Begins a filter that will stand in for the one there is.
    fn beginRebuild(handle, mode, high, low, capacity, rate: f64) {
        hub(handle).with(mode, |node| {
            node.begin_rebuild(table(high, low), word(capacity), rate);
            0
        })
    }

    /// What is done with a whole table: 0 publishes it, 1 ends its rebuild, 2 drops it, 3 gives its rebuild up.
    fn table(handle, mode, high, low, what) {
        hub(handle).with(mode, |node| {
            match what {
                0 => node.set_ready(table(high, low)),
                1 => node.finish_rebuild(table(high, low)),
                3 => node.cancel_rebuild(table(high, low)),
                _ => node.drop_table(table(high, low)),
            }
            0
        })
    }

    /// The nodes whose filters of a table are wanted, as pairs of words; by default all.
    fn want(handle, mode, high, low, at, count) {
        with_lent(at, count.saturating_mul(2), |words: &[u64]| {
            hub(handle).with(mode, |node| {
                node.want(table(high, low), nodes(words));
                0
            })
        })
    }

    /// Adds a key of a file: to the filter, or to the one that is being rebuilt.
    fn load(handle, mode, high, low, first, second, has_place, at_place, is_rebuild) {
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

    /// Writes a ready filter, for a file, into a buffer of `room` bytes: its length; 0 if there is none; if it does not fit, its
    /// length below 0.
    fn save(handle, mode, high, low, at, room) {
        let Some(bytes) = hub(handle).saved(mode, table(high, low)) else { return 0 };
        let length = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        if length > room {
            return -length;
        }
        // SAFETY: Java lends the address of a direct buffer of `room` bytes, which it does not touch during this call.
        unsafe { fill_lent(at, &[&bytes]) };
        length
    }

    /// Puts what was saved into a filter that was created just now: 1, or 0 if it is none.
    fn restore(handle, mode, high, low, at, length, keeps_dead) {
        with_lent(at, length, |bytes| hub(handle).restore(mode, table(high, low), bytes, keeps_dead != 0))
    }

    /// A write of a partition (`has_place` 0), of one of its rows (1), or of a row's deletion alone (2).
    fn write(handle, mode, high, low, first, second, has_place, at_place, now) {
        const DELETION: i64 = 2;
        let (table, key, now) = (table(high, low), key(first, second), word(now));
        match has_place {
            DELETION => hub(handle).write_deletion(mode, table, key, word(at_place), now),
            _ => hub(handle).write(mode, table, key, place(has_place, at_place), now),
        }
    }

    /// 1 if what a read has found of a key may be shown.
    fn mayReveal(handle, mode, high, low, first, second, now) {
        hub(handle).may_reveal(mode, table(high, low), key(first, second), word(now))
    }

    /// Places of rows, from one to another, that a read of all of them has found to be dead; how many buckets that were new.
    fn buryRows(handle, mode, high, low, first, second, from, to, time) {
        hub(handle).with(mode, |node| {
            let count = node.bury_rows(table(high, low), key(first, second), word(from), word(to), word(time));
            i64::try_from(count).unwrap_or(i64::MAX)
        })
    }

    /// The same for a read that began where this node's own water mark at an end ended: 0 if it does not reach as far any more.
    fn buryRowsBeyond(handle, mode, high, low, first, second, end, pair, from, to, time) {
        hub(handle).with(mode, |node| {
            let relied = question::mark(end, pair);
            let rows = (word(from), word(to));
            let count = node.bury_rows_beyond(table(high, low), key(first, second), relied, rows, word(time));
            i64::try_from(count).unwrap_or(i64::MAX)
        })
    }

    /// A key that a read of everything has found to be dead.
    fn bury(handle, mode, high, low, first, second, time) {
        let proven = Deletion { time: word(time), newest_in_files: None, newest_in_memory: None };
        hub(handle).with(mode, |node| i64::from(node.bury(table(high, low), key(first, second), proven)))
    }

    /// A write that this node is about to send to a peer.
    fn forwarded(handle, mode, high, low, first, second, has_place, at_place, now, peer_high, peer_low) {
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
    fn isEmpty(handle, mode, high, low, first, second) {
        hub(handle).read(mode, |node| {
            i64::from(Presence::is_empty(node.own_presence(table(high, low), key(first, second))))
        })
    }
}
