//! How a scan learns which filters let it pass in vain.
//!
//! SlateDB never tells a filter how a scan ended. It does hand a few bytes from the scan to every filter it asks
//! (`ScanOptions::filter_context`). A scan takes one of 1,024 counters, puts the counter's number into those bytes, and
//! each filter that answers "maybe" adds one there. If the scan then ends without a row, all of them answered in vain:
//! their SSTs held no key of the range, or only keys that were deleted, or hidden from the scan's snapshot.
//!
//! More than 1,024 scans at once share counters; the numbers then are estimates.

use std::array;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use slatedb::FilterContext;

/// Scans that can be told apart at one time.
const PLACES: usize = 1_024;
/// First bytes of a context that is ours.
const MARK: [u8; 8] = *b"lacuna\0\x01";

/// One counter for each scan under way.
pub(crate) struct Probes {
    next: AtomicU64,
    passes: [AtomicU64; PLACES],
}

/// The counter of one scan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Probe {
    place: u64,
}

impl Probes {
    pub(crate) fn new() -> Self {
        Self { next: AtomicU64::new(0), passes: array::from_fn(|_| AtomicU64::new(0)) }
    }

    /// Takes a counter and sets it to zero.
    pub(crate) fn start(&self) -> Probe {
        let place = self.next.fetch_add(1, Relaxed) % PLACES as u64;
        self.passes[usize::try_from(place).expect("below 1,024")].store(0, Relaxed);
        Probe { place }
    }

    /// Adds one to the counter that `context` names, if it is ours.
    pub(crate) fn count_pass(&self, context: Option<&FilterContext>) {
        let Some(FilterContext::Inline(bytes)) = context else { return };
        let (mark, rest) = bytes.split_first_chunk::<8>().expect("a context has 64 bytes");
        let place = u64::from_le_bytes(*rest.first_chunk().expect("a context has 64 bytes"));
        if *mark == MARK
            && let Some(passes) = usize::try_from(place).ok().and_then(|place| self.passes.get(place))
        {
            passes.fetch_add(1, Relaxed);
        }
    }

    /// Answers "maybe" that this scan got.
    pub(crate) fn passes(&self, probe: Probe) -> u64 {
        self.passes[usize::try_from(probe.place).expect("below 1,024")].load(Relaxed)
    }
}

impl Probe {
    /// What to give SlateDB.
    pub(crate) fn context(self) -> FilterContext {
        let mut bytes = [0; 64];
        bytes[..8].copy_from_slice(&MARK);
        bytes[8..16].copy_from_slice(&self.place.to_le_bytes());
        FilterContext::Inline(bytes)
    }
}

impl fmt::Debug for Probes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probes").field("started", &self.next).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_reach_their_own_scan() {
        let probes = Probes::new();
        let (first, second) = (probes.start(), probes.start());
        probes.count_pass(Some(&first.context()));
        probes.count_pass(Some(&first.context()));
        assert_eq!((probes.passes(first), probes.passes(second)), (2, 0));
    }

    #[test]
    fn foreign_contexts_are_left_alone() {
        let probes = Probes::new();
        let probe = probes.start();
        let mut beyond = [0xFF; 64];
        beyond[..8].copy_from_slice(&MARK);
        for context in [FilterContext::Inline([0; 64]), FilterContext::Inline(beyond)] {
            probes.count_pass(Some(&context));
        }
        probes.count_pass(Some(&FilterContext::Bytes(bytes::Bytes::from_static(b"theirs"))));
        probes.count_pass(None);
        assert_eq!(probes.passes(probe), 0);
    }
}
