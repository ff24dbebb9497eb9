//! The opened filter over either key space.

use std::fmt;
use std::marker::PhantomData;

use lacuna_base::{ByteRange, Envelope, KeySpace, RangeFilter, Result, U64Range};
use lacuna_succinct::arch::{Isa, Kernel, dispatch};

use super::batch::{Ends, ask_many};
use super::builder::KEYS_WITHOUT_BODY;
use super::codec::{Body, HEADER_BYTES, VERSION};
use super::key::{IntegerKey, Lower, PathKey, StringKey, Upper};
use super::spec::SurfSpec;
use super::tail::TailRange;
use crate::family::{FilterFamily as _, OpenFrame};
use crate::frame::{Clipped, FilterBytes, Frame, check_kind, check_version};

/// A SuRF over its bytes, opened as itself: for next keys, counts and prefixes, which an erased filter does not offer.
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, CountEstimate, FilterSpec, SeekCandidate, SortedKeys, U64Range};
/// use lacuna_families::{Surf, SurfSpec};
///
/// let keys: Vec<u64> = (1..=1_000).map(|place| place << 40).collect();
/// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(24.0)?);
/// let sealed = SurfSpec::new().build(SortedKeys::integers(&keys)?, &plan)?;
/// let surf = Surf::<u64, _>::open(sealed)?;
///
/// let mut candidate = 0;
/// surf.first_candidate((7 << 40) + 1, &mut candidate).expect("keys follow");
/// assert!(candidate > 7 << 40 && candidate <= 8 << 40);
/// let count = surf.count_range(U64Range::new(10 << 40, 20 << 40).expect("in order"));
/// assert!(count.min <= 11 && 11 <= count.max && count.max - count.min <= 2);
/// # Ok::<(), lacuna_base::Error>(())
/// ```
pub struct Surf<K: ?Sized, B> {
    pub(crate) frame: Frame<B>,
    pub(crate) body: Option<Body>,
    keys: PhantomData<fn(&K)>,
}

impl<K: ?Sized, B: fmt::Debug> fmt::Debug for Surf<K, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surf").field("frame", &self.frame).field("body", &self.body).finish()
    }
}

impl<B: FilterBytes> Surf<u64, B> {
    /// Opens a filter over integers in O(1), as [`open`](crate::open).
    ///
    /// # Errors
    /// As there; `Unsupported` also if it is of another family.
    pub fn open(bytes: B) -> Result<Self> {
        let envelope = surf_envelope(bytes.as_ref())?;
        OpenFrame::open(Frame::whole(envelope, bytes)?)
    }
}

impl<B: FilterBytes> Surf<[u8], B> {
    /// Opens a filter over byte strings in O(1), as [`open`](crate::open).
    ///
    /// # Errors
    /// As there; `Unsupported` also if it is of another family.
    pub fn open(bytes: B) -> Result<Self> {
        let envelope = surf_envelope(bytes.as_ref())?;
        OpenFrame::open(Frame::with_prefix(envelope, bytes)?)
    }
}

fn surf_envelope(bytes: &[u8]) -> Result<Envelope> {
    let (envelope, _) = Envelope::open(bytes)?;
    check_kind(&envelope, SurfSpec::KIND).map(|()| envelope)
}

impl<K: KeySpace + ?Sized, B: FilterBytes> OpenFrame<B> for Surf<K, B> {
    const SEES_INTEGERS: bool = false;

    fn open(frame: Frame<B>) -> Result<Self> {
        check_version(frame.envelope(), VERSION)?;
        // Without a body, the smallest and largest key are all there is.
        let body = if frame.body().is_empty() { None } else { Some(Body::open(frame.body())?) };
        Ok(Self { frame, body, keys: PhantomData })
    }
}

impl<K: KeySpace + ?Sized, B: FilterBytes> Surf<K, B> {
    /// The bytes of the trie.
    #[inline(always)]
    pub(crate) fn trie_bytes(&self) -> &[u8] {
        self.frame.body().get(HEADER_BYTES..).unwrap_or_default()
    }

    /// Whether only the first levels of the trie fit the budget, so that a leaf may stand for many keys: counts are then
    /// wider, and next keys less near.
    pub fn is_cut(&self) -> bool {
        match &self.body {
            Some(body) => body.is_cut,
            None => self.frame.envelope().key_count > KEYS_WITHOUT_BODY as u64,
        }
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + self.frame.sealed_bytes()
    }

    /// `2^-hash_bits` for a point.
    fn point_bound(&self, range_len: u64) -> f64 {
        match &self.body {
            Some(body) if range_len == 1 => (-f64::from(body.suffixes.hash_bits)).exp2(),
            _ => 1.0,
        }
    }
}

/// A point.
struct AskPoint<'a, K> {
    body: &'a Body,
    bytes: &'a [u8],
    key: K,
}

impl<K: PathKey> Kernel for AskPoint<'_, K> {
    type Output = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        self.body.may_contain(isa, self.bytes, &self.key)
    }
}

/// A range; an end is excluded where its flag is set.
struct AskRange<'a, K> {
    body: &'a Body,
    bytes: &'a [u8],
    lo: (K, bool),
    hi: Option<(K, bool)>,
}

impl<K: PathKey> Kernel for AskRange<'_, K> {
    type Output = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        let lo = Lower { key: &self.lo.0, is_excluded: self.lo.1 };
        let hi = self.hi.as_ref().map(|(key, is_excluded)| Upper { key, is_excluded: *is_excluded });
        self.body.any_in(isa, self.bytes, lo, hi)
    }
}

impl<B: FilterBytes> Surf<u64, B> {
    #[inline(always)]
    fn ask(&self, range: U64Range) -> bool {
        let Some(body) = &self.body else {
            return self.frame.envelope().key_count > KEYS_WITHOUT_BODY as u64;
        };
        let (bytes, lo, hi) = (self.trie_bytes(), IntegerKey::new(range.lo()), IntegerKey::new(range.hi()));
        if range.lo() == range.hi() {
            dispatch(AskPoint { body, bytes, key: lo })
        } else {
            dispatch(AskRange { body, bytes, lo: (lo, false), hi: Some((hi, false)) })
        }
    }
}

impl<B: FilterBytes> RangeFilter<u64> for Surf<u64, B> {
    #[inline]
    fn may_contain_range(&self, range: U64Range) -> bool {
        match self.frame.clip(range) {
            Clipped::Settled(answer) => answer,
            Clipped::Inside(range) => self.ask(range),
        }
    }
    fn may_contain_ranges(&self, ranges: &[U64Range], answers: &mut [bool]) {
        assert_eq!(ranges.len(), answers.len(), "one answer for each range");
        let Some(body) = &self.body else {
            return ranges
                .iter()
                .zip(answers)
                .for_each(|(range, answer)| *answer = self.may_contain_range(*range));
        };
        let prepare = |range| match self.frame.clip(range) {
            Clipped::Settled(answer) => Err(answer),
            Clipped::Inside(range) => {
                let (lo, hi) = (IntegerKey::new(range.lo()), IntegerKey::new(range.hi()));
                Ok(Ends { lo: (lo, false), hi: Some((hi, false)), is_point: range.lo() == range.hi() })
            }
        };
        ask_many(body, self.trie_bytes(), ranges, answers, prepare);
    }
    fn rate_bound(&self, range_len: u64) -> f64 {
        match self.frame.envelope().key_count {
            0..=2 => 0.0,
            _ => self.point_bound(range_len),
        }
    }
    fn key_count(&self) -> u64 {
        self.frame.envelope().key_count
    }
    fn size_in_bytes(&self) -> usize {
        self.frame.sealed_bytes()
    }
    fn memory_bytes(&self) -> usize {
        self.memory()
    }
}

impl<B: FilterBytes> Surf<[u8], B> {
    fn ask(&self, range: ByteRange<'_>) -> bool {
        let Some(body) = &self.body else { return true };
        let (bytes, prefix) = (self.trie_bytes(), self.frame.prefix());
        if let Some(key) = range.as_point() {
            return match key.strip_prefix(prefix) {
                Some(tail) => dispatch(AskPoint { body, bytes, key: StringKey(tail) }),
                None => false,
            };
        }
        let Some(TailRange { lo, hi }) = TailRange::of(range, prefix) else { return false };
        let hi = hi.map(|(hi, is_excluded)| (StringKey(hi), is_excluded));
        dispatch(AskRange { body, bytes, lo: (StringKey(lo.0), lo.1), hi })
    }

    /// The ends of `range` after the common prefix; `None` if no key can lie between them.
    fn ends<'r>(&self, range: ByteRange<'r>) -> Option<Ends<StringKey<'r>>> {
        let cover = self.frame.window().cover(range)?;
        if self.frame.clip(cover) == Clipped::Settled(false) {
            return None;
        }
        let TailRange { lo, hi } = TailRange::of(range, self.frame.prefix())?;
        let hi = hi.map(|(hi, is_excluded)| (StringKey(hi), is_excluded));
        Some(Ends { lo: (StringKey(lo.0), lo.1), hi, is_point: range.as_point().is_some() })
    }
}

impl<B: FilterBytes> RangeFilter<[u8]> for Surf<[u8], B> {
    fn may_contain_range(&self, range: ByteRange<'_>) -> bool {
        let cover = self.frame.window().cover(range);
        let is_outside = cover.is_none_or(|cover| self.frame.clip(cover) == Clipped::Settled(false));
        !is_outside && self.ask(range)
    }
    fn may_contain_ranges(&self, ranges: &[ByteRange<'_>], answers: &mut [bool]) {
        assert_eq!(ranges.len(), answers.len(), "one answer for each range");
        let Some(body) = &self.body else {
            return ranges
                .iter()
                .zip(answers)
                .for_each(|(range, answer)| *answer = self.may_contain_range(*range));
        };
        ask_many(body, self.trie_bytes(), ranges, answers, |range| self.ends(range).ok_or(false));
    }
    fn rate_bound(&self, range_len: u64) -> f64 {
        self.point_bound(range_len)
    }
    fn key_count(&self) -> u64 {
        self.frame.envelope().key_count
    }
    fn size_in_bytes(&self) -> usize {
        self.frame.sealed_bytes()
    }
    fn memory_bytes(&self) -> usize {
        self.memory()
    }
}
