//! Families that answer one key at a time, by its hash.
//!
//! Over integers a range is asked key by key while it is short; over byte strings only a range of one key is asked, and
//! any other is settled by the smallest and largest key alone.

use std::fmt::Debug;

use lacuna_base::hash::{IntegerHasher, hash_bytes};
use lacuna_base::testing::cross;
use lacuna_base::{ByteRange, ENVELOPE_BYTES, Envelope, RangeFilter, Result, U64Range};
use lacuna_succinct::arch::{Isa, Kernel, dispatch};

use crate::bloom::MAX_POINTS;
use crate::family::OpenFrame;
use crate::frame::{Clipped, FilterBytes, Frame, bytes_from, check_version, sizes_of_frame};
use crate::integer::{GROUP, IntegerBody, clip_bytes};

/// The read side of a family that answers by hash.
pub(crate) trait PointBody: Copy + Debug + Send + Sync + 'static {
    /// Newest payload version it reads.
    const VERSION: u16;

    /// Whether vector or bit-manipulation instructions make its questions faster.
    const WANTS_DISPATCH: bool;

    /// Reads the body's header in O(1), without allocating.
    fn open(body: &[u8], envelope: &Envelope) -> Result<Self>;
    /// Seed of the key hash.
    fn seed(&self) -> u64;
    /// Starts the fetch of what [`may_contain`](Self::may_contain) reads.
    fn prefetch(&self, body: &[u8], hash: u64);
    /// Whether a key with this hash may be there.
    fn may_contain<I: Isa>(&self, isa: I, body: &[u8], hash: u64) -> bool;
    /// As [`may_contain`](Self::may_contain), of a body that starts after the envelope of `sealed`.
    #[inline(always)]
    fn may_contain_sealed<I: Isa>(&self, isa: I, sealed: &[u8], hash: u64) -> bool {
        self.may_contain(isa, bytes_from(sealed, ENVELOPE_BYTES), hash)
    }
    /// Answers a group of `points`, as [`IntegerBody::ask_group`] does. [`points_in_groups`] writes it.
    fn ask_group(points: &Points<Self>, bytes: &[u8], inside: &[(usize, U64Range)], answers: &mut [bool]);
    /// Expected share of absent keys for which the answer is "maybe".
    fn point_rate(&self) -> f64;
}

/// Writes [`PointBody::ask_group`] for one body, for the reason of [`asks_in_groups`](crate::integer::asks_in_groups).
macro_rules! points_in_groups {
    () => {
        fn ask_group(
            points: &$crate::points::Points<Self>,
            bytes: &[u8],
            inside: &[(usize, lacuna_base::U64Range)],
            answers: &mut [bool],
        ) {
            $crate::integer::answer_group(points, bytes, inside, answers);
        }
    };
}
pub(crate) use points_in_groups;

/// A [`PointBody`] over integers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Points<P> {
    body: P,
    hasher: IntegerHasher,
}

/// A short range on its way through a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PointProbe {
    lo: u64,
    hi: u64,
    first_hash: u64,
}

impl<P: PointBody> Points<P> {
    pub(crate) fn body(&self) -> &P {
        &self.body
    }

    #[inline(always)]
    pub(crate) fn hash(&self, key: u64) -> u64 {
        self.hasher.hash(key)
    }

    /// Whether a key of `lo..=hi` may be there; apart, so that a point has the processor's registers to itself.
    #[inline(never)]
    fn any_of<I: Isa>(&self, isa: I, body: &[u8], lo: u64, hi: u64) -> bool {
        if hi - lo >= MAX_POINTS {
            cross("points: too many");
            return true;
        }
        isa.run_apart(AnyOf { points: self, body, lo, hi })
    }
}

/// The keys of a short range.
struct AnyOf<'a, P> {
    points: &'a Points<P>,
    body: &'a [u8],
    lo: u64,
    hi: u64,
}

impl<P: PointBody> Kernel for AnyOf<'_, P> {
    type Output = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        let Self { points, body, lo, hi } = self;
        (lo..=hi).any(|key| points.body.may_contain(isa, body, points.hasher.hash(key)))
    }
}

impl<P: PointBody> IntegerBody for Points<P> {
    const VERSION: u16 = P::VERSION;
    const WANTS_DISPATCH: bool = P::WANTS_DISPATCH;
    type Probe = PointProbe;

    fn open(body: &[u8], envelope: &Envelope) -> Result<Self> {
        let body = P::open(body, envelope)?;
        Ok(Self { body, hasher: IntegerHasher::new(body.seed()) })
    }

    #[inline(always)]
    fn prefetch(&self, _body: &[u8], _lo: u64, _hi: u64) {}

    #[inline(always)]
    fn prepare<I: Isa>(&self, _isa: I, body: &[u8], lo: u64, hi: u64) -> PointProbe {
        let first_hash = self.hasher.hash(lo);
        self.body.prefetch(body, first_hash);
        PointProbe { lo, hi, first_hash }
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, body: &[u8], PointProbe { lo, hi, first_hash }: PointProbe) -> bool {
        if lo == hi {
            return self.body.may_contain(isa, body, first_hash);
        }
        self.any_of(isa, body, lo, hi)
    }

    #[inline(always)]
    fn any_in<I: Isa>(&self, isa: I, body: &[u8], lo: u64, hi: u64) -> bool {
        self.finish(isa, body, PointProbe { lo, hi, first_hash: self.hasher.hash(lo) })
    }

    #[inline(always)]
    fn any_at<I: Isa>(&self, isa: I, sealed: &[u8], key: u64) -> bool {
        self.body.may_contain_sealed(isa, sealed, self.hasher.hash(key))
    }

    fn ask_group(&self, bytes: &[u8], inside: &[(usize, U64Range)], answers: &mut [bool]) {
        P::ask_group(self, bytes, inside, answers);
    }

    fn rate_bound(&self, range_len: u64) -> f64 {
        if range_len > MAX_POINTS { 1.0 } else { (self.body.point_rate() * range_len as f64).min(1.0) }
    }
}

/// A [`PointBody`] over byte strings, which are hashed whole.
#[derive(Debug)]
pub(crate) struct HashedFilter<B, P> {
    frame: Frame<B>,
    body: Option<P>,
}

struct AskHash<'a, P> {
    body: &'a P,
    bytes: &'a [u8],
    hash: u64,
}

impl<P: PointBody> Kernel for AskHash<'_, P> {
    type Output = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        self.body.may_contain(isa, self.bytes, self.hash)
    }
}

impl<B: FilterBytes, P: PointBody> OpenFrame<B> for HashedFilter<B, P> {
    const SEES_INTEGERS: bool = false;

    fn open(frame: Frame<B>) -> Result<Self> {
        check_version(frame.envelope(), P::VERSION)?;
        let empty = frame.envelope().key_count == 0 && frame.body().is_empty();
        let body = if empty { None } else { Some(P::open(frame.body(), frame.envelope())?) };
        Ok(Self { frame, body })
    }
}

impl<B: FilterBytes, P: PointBody> RangeFilter<[u8]> for HashedFilter<B, P> {
    fn may_contain_range(&self, range: ByteRange<'_>) -> bool {
        let Some(body) = &self.body else { return false };
        if clip_bytes(&self.frame, range) == Clipped::Settled(false) {
            return false;
        }
        match range.as_point() {
            Some(key) => dispatch(AskHash {
                body,
                bytes: self.frame.body_and_rest(),
                hash: hash_bytes(key, body.seed()),
            }),
            None => true,
        }
    }

    fn may_contain_ranges(&self, ranges: &[ByteRange<'_>], answers: &mut [bool]) {
        assert_eq!(ranges.len(), answers.len(), "one answer for each range");
        for (ranges, answers) in ranges.chunks(GROUP).zip(answers.chunks_mut(GROUP)) {
            if let Some(body) = &self.body {
                for key in ranges.iter().filter_map(|range| range.as_point()) {
                    body.prefetch(self.frame.body_and_rest(), hash_bytes(key, body.seed()));
                }
            }
            for (range, answer) in ranges.iter().zip(answers) {
                *answer = self.may_contain_range(*range);
            }
        }
    }

    fn rate_bound(&self, range_len: u64) -> f64 {
        let point_rate = self.body.map_or(0.0, |body| body.point_rate());
        if range_len == 1 { point_rate } else { 1.0 }
    }

    sizes_of_frame!();
}
