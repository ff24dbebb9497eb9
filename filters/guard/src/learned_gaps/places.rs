//! A fixed number of places for gaps, each of one file at a time.
//!
//! A filter that is still cached may ask at its old place after another file has taken it. So a file takes a place
//! under a *lease*, a number that is never used twice, not even by a file that comes back: a reader compares it with
//! that of the place before and after it looks, and it is taken off the place before anything else changes.

use std::ops::Bound;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering, fence};

use lacuna_base::{ByteGapSet, ByteRange, Cover, FixedBe, GapSet};

use crate::codec::GuardCodec;
use crate::learned_gaps::file_gaps::Neighbours;
use crate::learned_gaps::file_tag::FileTag;

/// The lease that no file has.
pub(super) const NO_LEASE: u64 = 0;

/// The gaps of one file, as integers where the codec is exact and keeps the order, else as the engine's keys.
#[derive(Debug)]
enum Gaps {
    Integers(GapSet),
    Strings(ByteGapSet),
}

/// Room for the gaps of one file.
#[derive(Debug)]
pub(super) struct Place {
    lease: AtomicU64,
    /// The file that has the place under that lease.
    tag: [AtomicU64; 2],
    asked_for: AtomicU8,
    /// Allocated when the first file takes the place.
    gaps: OnceLock<Gaps>,
}

impl Place {
    pub(super) fn new() -> Self {
        Self {
            lease: AtomicU64::new(NO_LEASE),
            tag: [const { AtomicU64::new(0) }; 2],
            asked_for: AtomicU8::new(0),
            gaps: OnceLock::new(),
        }
    }

    pub(super) fn is_under(&self, lease: u64) -> bool {
        lease != NO_LEASE && self.lease.load(Ordering::Acquire) == lease
    }

    /// The lease under which the file with this tag has the place. It may have ended by now, and the tag may be half of
    /// another's; a query under the lease then learns nothing.
    pub(super) fn lease_of(&self, tag: FileTag) -> Option<u64> {
        let lease = self.lease.load(Ordering::Acquire);
        let is_tagged = self.tag.each_ref().map(|half| half.load(Ordering::Relaxed)) == tag.halves();
        Some(lease).filter(|&lease| lease != NO_LEASE && is_tagged)
    }

    /// Whether the file with this lease is known to hold no key between the bounds; `false` if the lease has ended.
    pub(super) fn is_known_empty(
        &self,
        lease: u64,
        codec: &GuardCodec,
        lo: Bound<&[u8]>,
        hi: Bound<&[u8]>,
    ) -> bool {
        let known =
            self.is_under(lease) && self.gaps.get().is_some_and(|gaps| gaps.is_known_empty(codec, lo, hi));
        fence(Ordering::Acquire);
        let known = known && self.lease.load(Ordering::Relaxed) == lease;
        if known && self.asked_for.load(Ordering::Relaxed) == 0 {
            self.asked_for.store(1, Ordering::Relaxed);
        }
        known
    }

    /// Whether it has answered a query since the last call.
    pub(super) fn take_asked_for(&self) -> bool {
        self.asked_for.swap(0, Ordering::Relaxed) == 1
    }

    /// Gives the place to a file under a new lease, with `memory_bytes` for its gaps. One call at a time.
    pub(super) fn move_in(
        &self,
        lease: u64,
        tag: FileTag,
        codec: &GuardCodec,
        memory_bytes: usize,
        found: &Neighbours<'_>,
    ) {
        self.lease.store(NO_LEASE, Ordering::Relaxed);
        fence(Ordering::Release);
        match self.gaps.get_or_init(|| Gaps::within(codec, memory_bytes)) {
            Gaps::Integers(gaps) => gaps.clear(),
            Gaps::Strings(gaps) => gaps.clear_for(found.smallest, found.largest),
        }
        for (half, number) in self.tag.iter().zip(tag.halves()) {
            half.store(number, Ordering::Relaxed);
        }
        self.asked_for.store(0, Ordering::Relaxed);
        self.lease.store(lease, Ordering::Release);
    }

    /// Adds a gap of the file that has the place. One call at a time.
    pub(super) fn learn(&self, codec: &GuardCodec, found: &Neighbours<'_>) {
        match (self.gaps.get(), codec) {
            (Some(Gaps::Integers(gaps)), GuardCodec::Integers { codec, .. }) => {
                let code = |key: Option<&[u8]>| key.map(|key| codec.key(key)).transpose();
                if let (Ok(below), Ok(above)) = (code(found.below), code(found.above)) {
                    gaps.learn_between(below, above);
                }
            }
            (Some(Gaps::Strings(gaps)), _) => gaps.learn_between(found.below, found.above),
            _ => {}
        }
    }

    /// Number of gaps and the bytes they are in.
    pub(super) fn extent(&self) -> (usize, usize) {
        match self.gaps.get() {
            Some(Gaps::Integers(gaps)) => (gaps.len(), gaps.memory_bytes()),
            Some(Gaps::Strings(gaps)) => (gaps.len(), gaps.memory_bytes()),
            None => (0, 0),
        }
    }
}

impl Gaps {
    fn within(codec: &GuardCodec, memory_bytes: usize) -> Self {
        match codec {
            GuardCodec::Integers { codec, .. } if codec.id().number == FixedBe::NUMBER => {
                Self::Integers(GapSet::within(memory_bytes))
            }
            _ => Self::Strings(ByteGapSet::within(memory_bytes)),
        }
    }

    fn is_known_empty(&self, codec: &GuardCodec, lo: Bound<&[u8]>, hi: Bound<&[u8]>) -> bool {
        match (self, codec) {
            (Self::Integers(gaps), GuardCodec::Integers { codec, .. }) => {
                matches!(codec.cover(lo, hi), Cover::Range(range) if gaps.is_known_empty(range))
            }
            (Self::Strings(gaps), _) => {
                ByteRange::from_bounds(lo, hi).is_some_and(|range| gaps.is_known_empty(range))
            }
            _ => false,
        }
    }
}
