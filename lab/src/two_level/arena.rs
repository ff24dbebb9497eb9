//! Many sealed filters in one buffer.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use lacuna_base::{AlignedBytes, Sealed};

/// Every filter starts on a cache line, as it would in a buffer of its own.
const LINE_BYTES: usize = 64;

/// Sealed filters side by side.
#[derive(Debug, Default)]
pub(super) struct ArenaBuilder {
    filters: Vec<Sealed>,
}

impl ArenaBuilder {
    pub(super) fn push(&mut self, sealed: Sealed) {
        self.filters.push(sealed);
    }

    /// One buffer, and a view of each filter in the order of [`push`](Self::push).
    pub(super) fn finish(self) -> Vec<ArenaSlice> {
        let length = |sealed: &Sealed| sealed.as_bytes().len().next_multiple_of(LINE_BYTES);
        let mut arena = AlignedBytes::zeroed(self.filters.iter().map(length).sum());
        let mut places = Vec::with_capacity(self.filters.len());
        let mut start = 0;
        for sealed in &self.filters {
            let place = start..start + sealed.as_bytes().len();
            arena.as_mut_slice()[place.clone()].copy_from_slice(sealed.as_bytes());
            start += length(sealed);
            places.push(place);
        }
        let arena = Arc::new(arena);
        places.into_iter().map(|place| ArenaSlice { arena: Arc::clone(&arena), place }).collect()
    }
}

/// The bytes of one filter in the arena.
#[derive(Clone)]
pub(super) struct ArenaSlice {
    arena: Arc<AlignedBytes>,
    place: Range<usize>,
}

impl AsRef<[u8]> for ArenaSlice {
    fn as_ref(&self) -> &[u8] {
        &self.arena[self.place.clone()]
    }
}

impl fmt::Debug for ArenaSlice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ArenaSlice").field(&self.place).finish()
    }
}
