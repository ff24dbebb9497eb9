//! How a scan learns which filters let it pass in vain.
//!
//! SlateDB does not inform a filter how a scan ended. It does hand a few bytes from the scan to every filter it asks
//! (`ScanOptions::filter_context`). A scan takes one of 1,024 counters, puts the counter's number into those bytes, and
//! each filter that answers "maybe" adds one there. If the scan then ends without a row, all of them answered in vain:
//! their SSTs held no key of the range, or only keys that were deleted, or hidden from the scan's snapshot.
//!
//! Where gaps are learned, a filter also notes its file's number beside the counter, so that the scan can hint at it.
//!
//! More than 1,024 scans at once share counters; the numbers then are estimates, and hints may name the wrong files.

use std::array;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use lacuna_guard::MAX_FILES;
use slatedb::FilterContext;

/// Scans that can be distinguished at one time.
const PLACES: usize = 1_024;
/// First bytes of a context that is ours.
const MARK: [u8; 8] = *b"lacuna\0\x01";

/// One counter for each scan under way.
pub(crate) struct Probes {
    next: AtomicU64,
    passes: [AtomicU64; PLACES],
    /// Numbers of the first files that answered "maybe", place by place; unset unless gaps are learned.
    files: OnceLock<Box<[[AtomicU64; MAX_FILES]]>>,
}

/// The counter of one scan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Probe {
    place: u64,
}

impl Probes {
    pub(crate) fn new() -> Self {
        let passes = array::from_fn(|_| AtomicU64::new(0));
        Self { next: AtomicU64::new(0), passes, files: OnceLock::new() }
    }

    /// From now on also notes which files answered "maybe"; takes 128 KiB more.
    pub(crate) fn note_files(&self) {
        self.files.get_or_init(|| (0..PLACES).map(|_| array::from_fn(|_| AtomicU64::new(0))).collect());
    }

    /// Takes a counter and sets it to zero.
    pub(crate) fn start(&self) -> Probe {
        let place = self.next.fetch_add(1, Relaxed) % PLACES as u64;
        let probe = Probe { place };
        self.passes[probe.index()].store(0, Relaxed);
        probe
    }

    /// Adds one to the counter that `context` names, if it is ours, and notes the number of the file (zero: unknown).
    pub(crate) fn count_pass(&self, context: Option<&FilterContext>, file: u64) {
        let Some(FilterContext::Inline(bytes)) = context else { return };
        let (mark, rest) = bytes.split_first_chunk::<8>().expect("a context has 64 bytes");
        let place = u64::from_le_bytes(*rest.first_chunk().expect("a context has 64 bytes"));
        if *mark == MARK
            && let Ok(place) = usize::try_from(place)
            && let Some(passes) = self.passes.get(place)
        {
            let earlier = usize::try_from(passes.fetch_add(1, Relaxed)).unwrap_or(usize::MAX);
            if let Some(note) = self.files.get().and_then(|files| files.get(place)?.get(earlier)) {
                note.store(file, Relaxed);
            }
        }
    }

    /// Answers "maybe" that this scan got.
    pub(crate) fn passes(&self, probe: Probe) -> u64 {
        self.passes[probe.index()].load(Relaxed)
    }

    /// Numbers of files that gave them, as far as they were noted.
    pub(crate) fn files(&self, probe: Probe) -> Vec<u64> {
        let noted = usize::try_from(self.passes(probe)).unwrap_or(MAX_FILES);
        let files = self.files.get().and_then(|files| files.get(probe.index())).into_iter().flatten();
        files.take(noted).map(|file| file.load(Relaxed)).filter(|&file| file != 0).collect()
    }
}

impl Probe {
    fn index(self) -> usize {
        usize::try_from(self.place).expect("below 1,024")
    }

    /// The bytes to give SlateDB.
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
        probes.count_pass(Some(&first.context()), 7);
        probes.count_pass(Some(&first.context()), 8);
        assert_eq!((probes.passes(first), probes.passes(second)), (2, 0));
        assert!(probes.files(first).is_empty(), "gaps are not learned");
    }

    #[test]
    fn files_that_passed_are_noted() {
        let probes = Probes::new();
        probes.note_files();
        let (first, second) = (probes.start(), probes.start());
        (0..100).for_each(|file| probes.count_pass(Some(&first.context()), file));
        probes.count_pass(Some(&second.context()), 9);
        assert_eq!(
            probes.files(first),
            (1..MAX_FILES as u64).collect::<Vec<_>>(),
            "zero does not stand for a file"
        );
        assert_eq!(probes.files(second), [9]);
        for _ in 2..PLACES {
            let _ = probes.start();
        }
        let again = probes.start();
        assert!(again.place == first.place && probes.files(again).is_empty());
    }

    #[test]
    fn foreign_contexts_are_left_alone() {
        let probes = Probes::new();
        let probe = probes.start();
        let mut beyond = [0xFF; 64];
        beyond[..8].copy_from_slice(&MARK);
        for context in [FilterContext::Inline([0; 64]), FilterContext::Inline(beyond)] {
            probes.count_pass(Some(&context), 1);
        }
        probes.count_pass(Some(&FilterContext::Bytes(bytes::Bytes::from_static(b"theirs"))), 1);
        probes.count_pass(None, 1);
        assert_eq!(probes.passes(probe), 0);
    }
}
