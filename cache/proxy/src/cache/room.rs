//! Memory for replies that are on their way to be kept or compared, of all sessions together.
//!
//! Without a bound a thousand sessions that read long replies at once would take a thousand times the longest one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What all of them may take.
#[derive(Debug)]
pub(crate) struct Rooms {
    taken: AtomicUsize,
    max_bytes: usize,
}

/// What one reply takes, until it is dropped.
#[derive(Debug)]
pub(crate) struct Room {
    of: Arc<Rooms>,
    bytes: usize,
}

impl Rooms {
    pub(super) const fn new(max_bytes: usize) -> Self {
        Self { taken: AtomicUsize::new(0), max_bytes }
    }
}

impl Room {
    pub(super) const fn of(rooms: Arc<Rooms>) -> Self {
        Self { of: rooms, bytes: 0 }
    }

    /// Takes room for more bytes; `false` if there is no more, and the reply must be given up.
    pub(crate) fn take(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        self.of.taken.fetch_add(bytes, Ordering::Relaxed) + bytes <= self.of.max_bytes
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.of.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_replies_share_one_bound() {
        let rooms = Arc::new(Rooms::new(10));
        let (mut one, mut other) = (Room::of(rooms.clone()), Room::of(rooms.clone()));
        assert!(one.take(4) && other.take(4) && one.take(2));
        assert!(!other.take(1));
        drop(other);
        assert!(one.take(4) && !one.take(1));
        drop(one);
        assert!(Room::of(rooms).take(10));
    }
}
