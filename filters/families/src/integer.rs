//! Families over integers: one body per family, two filters around it.
//!
//! A family implements [`IntegerBody`] (answer whether a key may lie in `lo..=hi`) and [`IntegerSpec`] (write the body
//! for ascending integers within a number of bytes). [`IntegerFilter`] makes a filter over `u64` of it, [`WindowedFilter`]
//! one over byte strings, as integers by a [`StringView`].
//!
//! Batches run in three stages over groups of [`GROUP`] ranges, so that the cache misses of a group overlap: every
//! range touches its directory, then every range touches its data, then every range is answered.

use std::fmt::Debug;

use lacuna_base::{
    ByteRange, ENVELOPE_BYTES, Envelope, KeySpaceId, RangeFilter, Result, SortedKeys, U64Range,
};
use lacuna_succinct::arch::{Isa, Kernel, Scalar, dispatch};

use crate::family::OpenFrame;
use crate::frame::{Clipped, FilterBytes, Frame, Inside, bytes_from, check_version, sizes_of_frame};
use crate::point_section::PointSection;
use crate::string_view::StringView;

/// Ranges in flight at once: enough to keep every line-fill buffer of a core busy.
pub(crate) const GROUP: usize = 32;

/// The read side of a family over integers. All methods stay in bounds and terminate whatever the bytes hold.
pub(crate) trait IntegerBody: Copy + Debug + Send + Sync + 'static {
    /// Newest payload version it reads.
    const VERSION: u16;
    /// Whether vector or bit-manipulation instructions make its questions faster.
    const WANTS_DISPATCH: bool = true;
    /// The state that stage two of a batch hands to stage three.
    type Probe: Copy;

    /// Reads the body's header in O(1), without allocating.
    fn open(body: &[u8], envelope: &Envelope) -> Result<Self>;
    /// Starts the fetch of what [`prepare`](Self::prepare) reads.
    fn prefetch(&self, body: &[u8], lo: u64, hi: u64);
    /// Locates the data for `lo..=hi` and starts its fetch.
    fn prepare<I: Isa>(&self, isa: I, body: &[u8], lo: u64, hi: u64) -> Self::Probe;
    /// Answers: may a key lie in the range?
    fn finish<I: Isa>(&self, isa: I, body: &[u8], probe: Self::Probe) -> bool;
    /// One question alone: the same answer as the stages give, by a shorter way where a family has one.
    #[inline(always)]
    fn any_in<I: Isa>(&self, isa: I, body: &[u8], lo: u64, hi: u64) -> bool {
        let probe = self.prepare(isa, body, lo, hi);
        self.finish(isa, body, probe)
    }
    /// One question for one key alone, to a body that starts after the envelope of `sealed`.
    #[inline(always)]
    fn any_at<I: Isa>(&self, isa: I, sealed: &[u8], key: u64) -> bool {
        self.any_in(isa, bytes_from(sealed, ENVELOPE_BYTES), key, key)
    }
    /// Answers a group of at most [`GROUP`] ranges, each with the place of its answer. [`asks_in_groups`] writes it.
    fn ask_group(&self, bytes: &[u8], inside: &[(usize, U64Range)], answers: &mut [bool]);
    /// See [`RangeFilter::rate_bound`].
    fn rate_bound(&self, _range_len: u64) -> f64 {
        1.0
    }
}

/// Writes [`IntegerBody::ask_group`] for one body, so that the stages of a batch are compiled here and once. Whatever is
/// generic over the owner of a filter's bytes is compiled for each of them, in each crate that opens filters.
macro_rules! asks_in_groups {
    () => {
        fn ask_group(&self, bytes: &[u8], inside: &[(usize, lacuna_base::U64Range)], answers: &mut [bool]) {
            $crate::integer::answer_group(self, bytes, inside, answers);
        }
    };
}
pub(crate) use asks_in_groups;

/// A family over `u64`.
#[derive(Debug)]
pub(crate) struct IntegerFilter<B, T> {
    frame: Frame<B>,
    body: Option<T>,
    inside: Inside,
}

/// Opens the body, unless the smallest and largest key say everything.
fn open_body<B: FilterBytes, T: IntegerBody>(frame: &Frame<B>) -> Result<Option<T>> {
    check_version(frame.envelope(), T::VERSION)?;
    // Byte strings that share at most two windows have no body either, however many they are.
    let Envelope { key_count, key_space, .. } = *frame.envelope();
    let settled = frame.body().is_empty() && (key_count <= 2 || key_space == KeySpaceId::Bytes);
    if settled { Ok(None) } else { T::open(frame.body(), frame.envelope()).map(Some) }
}

/// One question to a body.
struct Ask<'a, T> {
    body: &'a T,
    bytes: &'a [u8],
    range: U64Range,
}

impl<T: IntegerBody> Kernel for Ask<'_, T> {
    type Output = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        self.body.any_in(isa, self.bytes, self.range.lo(), self.range.hi())
    }
}

/// One question for one key to a body.
struct AskKey<'a, T> {
    body: &'a T,
    sealed: &'a [u8],
    key: u64,
}

impl<T: IntegerBody> Kernel for AskKey<'_, T> {
    type Output = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        self.body.any_at(isa, self.sealed, self.key)
    }
}

/// The questions of one group to a body.
struct AskGroup<'a, T> {
    body: &'a T,
    bytes: &'a [u8],
    inside: &'a [(usize, U64Range)],
    answers: &'a mut [bool],
}

impl<T: IntegerBody> Kernel for AskGroup<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self { body, bytes, inside, answers } = self;
        for (_, range) in inside {
            body.prefetch(bytes, range.lo(), range.hi());
        }
        let mut probes: [Option<T::Probe>; GROUP] = [None; GROUP];
        for (probe, (_, range)) in probes.iter_mut().zip(inside) {
            *probe = Some(body.prepare(isa, bytes, range.lo(), range.hi()));
        }
        for (probe, (place, _)) in probes.iter().zip(inside) {
            answers[*place] = probe.is_none_or(|probe| body.finish(isa, bytes, probe));
        }
    }
}

/// What [`asks_in_groups`] writes.
pub(crate) fn answer_group<T: IntegerBody>(
    body: &T,
    bytes: &[u8],
    inside: &[(usize, U64Range)],
    answers: &mut [bool],
) {
    debug_assert!(
        inside.len() <= GROUP,
        "a range without a probe would keep the answer that stood in its place"
    );
    dispatch(AskGroup { body, bytes, inside, answers });
}

/// Asks many questions; `clip` has the range of each answer's place, and settles those that do not lie strictly inside.
fn ask_many<T: IntegerBody>(body: &T, bytes: &[u8], answers: &mut [bool], clip: impl Fn(usize) -> Clipped) {
    for (group, answers) in answers.chunks_mut(GROUP).enumerate() {
        let mut inside = [(0, U64Range::point(0)); GROUP];
        let mut count = 0;
        for (place, answer) in answers.iter_mut().enumerate() {
            match clip(group * GROUP + place) {
                Clipped::Settled(settled) => *answer = settled,
                Clipped::Inside(range) => {
                    inside[count] = (place, range);
                    count += 1;
                }
            }
        }
        body.ask_group(bytes, &inside[..count], answers);
    }
}

impl<B: FilterBytes, T: IntegerBody> OpenFrame<B> for IntegerFilter<B, T> {
    const SEES_INTEGERS: bool = true;

    fn open(frame: Frame<B>) -> Result<Self> {
        Ok(Self { body: open_body(&frame)?, inside: frame.inside(), frame })
    }
}

/// Asks `body` about a clipped range; a set without a body is settled by its ends.
#[inline(always)]
fn ask<B: FilterBytes, T: IntegerBody>(frame: &Frame<B>, body: Option<&T>, clipped: Clipped) -> bool {
    match (clipped, body) {
        (Clipped::Settled(answer), _) => answer,
        (Clipped::Inside(_), None) => false,
        (Clipped::Inside(range), Some(body)) => {
            let question = Ask { body, bytes: frame.body_and_rest(), range };
            if T::WANTS_DISPATCH { dispatch(question) } else { question.run(Scalar) }
        }
    }
}

impl<B: FilterBytes, T: IntegerBody> RangeFilter<u64> for IntegerFilter<B, T> {
    #[inline]
    fn may_contain(&self, key: u64) -> bool {
        let Some(body) = self.body.as_ref().filter(|_| self.inside.holds(key)) else {
            return self.frame.is_an_end(key);
        };
        let question = AskKey { body, sealed: self.frame.sealed(), key };
        if T::WANTS_DISPATCH { dispatch(question) } else { question.run(Scalar) }
    }

    #[inline]
    fn may_contain_range(&self, range: U64Range) -> bool {
        ask(&self.frame, self.body.as_ref(), self.frame.clip(range))
    }

    fn may_contain_ranges(&self, ranges: &[U64Range], answers: &mut [bool]) {
        assert_eq!(ranges.len(), answers.len(), "one answer for each range");
        match &self.body {
            Some(body) => {
                let clip = |place: usize| self.frame.clip(ranges[place]);
                ask_many(body, self.frame.body_and_rest(), answers, clip);
            }
            None => {
                for (range, answer) in ranges.iter().zip(answers) {
                    *answer = self.may_contain_range(*range);
                }
            }
        }
    }

    fn may_contain_pairs(&self, los: &[u64], his: &[u64], answers: &mut [bool]) {
        assert!(
            los.len() == his.len() && his.len() == answers.len(),
            "a lower end, an upper end and an answer for each range"
        );
        let clip = |place: usize| self.clip_pair(los[place], his[place]);
        match &self.body {
            Some(body) => ask_many(body, self.frame.body_and_rest(), answers, clip),
            None => {
                for (place, answer) in answers.iter_mut().enumerate() {
                    *answer = ask(&self.frame, None::<&T>, clip(place));
                }
            }
        }
    }

    fn rate_bound(&self, range_len: u64) -> f64 {
        self.body.as_ref().map_or(0.0, |body| body.rate_bound(range_len))
    }

    sizes_of_frame!();
}

impl<B: FilterBytes, T: IntegerBody> IntegerFilter<B, T> {
    /// What smallest and largest key say about `lo..=hi`; an inverted pair holds nothing.
    #[inline(always)]
    fn clip_pair(&self, lo: u64, hi: u64) -> Clipped {
        U64Range::new(lo, hi).map_or(Clipped::Settled(false), |range| self.frame.clip(range))
    }
}

/// A family over byte strings, as integers by a [`StringView`].
///
/// Keys that share a place share the answer to a range, and points also ask for the hash of the whole key; a rate bound on
/// integers says nothing about strings.
#[derive(Debug)]
pub(crate) struct WindowedFilter<B, T> {
    frame: Frame<B>,
    body: Option<T>,
    points: Option<PointSection>,
}

impl<B: FilterBytes, T: IntegerBody> OpenFrame<B> for WindowedFilter<B, T> {
    const SEES_INTEGERS: bool = true;

    fn open(frame: Frame<B>) -> Result<Self> {
        let points = PointSection::open(frame.points(), frame.envelope())?;
        Ok(Self { body: open_body(&frame)?, points, frame })
    }
}

impl<B: FilterBytes, T: IntegerBody> WindowedFilter<B, T> {
    #[inline(always)]
    fn clip(&self, range: ByteRange<'_>) -> Clipped {
        match (&self.points, range.as_point()) {
            (Some(points), Some(key)) if !points.may_contain(self.frame.points(), key) => {
                Clipped::Settled(false)
            }
            _ => clip_bytes(&self.frame, range),
        }
    }
}

/// The answer about a range of byte strings from prefix, smallest and largest key.
#[inline(always)]
pub(crate) fn clip_bytes<B: FilterBytes>(frame: &Frame<B>, range: ByteRange<'_>) -> Clipped {
    match frame.view().cover(range) {
        Some(cover) => frame.clip(cover),
        None => Clipped::Settled(false),
    }
}

impl<B: FilterBytes, T: IntegerBody> RangeFilter<[u8]> for WindowedFilter<B, T> {
    fn may_contain_range(&self, range: ByteRange<'_>) -> bool {
        ask(&self.frame, self.body.as_ref(), self.clip(range))
    }

    fn may_contain_ranges(&self, ranges: &[ByteRange<'_>], answers: &mut [bool]) {
        assert_eq!(ranges.len(), answers.len(), "one answer for each range");
        match &self.body {
            Some(body) => {
                let clip = |place: usize| self.clip(ranges[place]);
                ask_many(body, self.frame.body_and_rest(), answers, clip);
            }
            None => {
                for (range, answer) in ranges.iter().zip(answers) {
                    *answer = self.may_contain_range(*range);
                }
            }
        }
    }

    sizes_of_frame!();
}

/// The integers of byte strings, ascending, without repeats.
pub(crate) fn places_of(keys: SortedKeys<'_, [u8]>, view: StringView<'_>) -> Vec<u64> {
    let mut places: Vec<u64> = keys.iter().map(|key| view.place(key)).collect();
    places.dedup();
    places
}
