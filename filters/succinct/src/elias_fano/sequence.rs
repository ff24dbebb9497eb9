//! The sequence together with its bytes, choosing the instructions to use.

use super::{Geometry, Iter, Layout, Probe, encode};
use crate::arch::{Isa, Kernel, dispatch};
use crate::error::OpenError;

/// Questions whose cache lines are under way at the same time.
const BATCH: usize = 32;

/// Ascending integers over bytes that are owned, borrowed or mapped.
///
/// ```
/// use lacuna_succinct::EliasFano;
///
/// let written = EliasFano::from_sorted(&[2, 3, 5, 7, 11], 11);
/// let numbers = EliasFano::open(written.as_bytes()).expect("just written");
/// assert!(numbers.any_in(8, 20) && !numbers.any_in(8, 10));
/// assert_eq!((numbers.predecessor(6), numbers.successor(6)), (Some(5), Some(7)));
/// assert_eq!((numbers.rank(7), numbers.get(3)), (3, Some(7)));
/// ```
#[derive(Debug, Clone)]
pub struct EliasFano<B> {
    layout: Layout,
    bytes: B,
}

impl EliasFano<Vec<u8>> {
    /// The sequence of `values`, strictly ascending and at most `last`.
    ///
    /// # Panics
    /// If a value is above `last`.
    pub fn from_sorted(values: &[u64], last: u64) -> Self {
        let mut bytes = Vec::new();
        encode(values, last, Geometry::default(), &mut bytes);
        Self::open(bytes).expect("written by the line above")
    }
}

impl<B: AsRef<[u8]>> EliasFano<B> {
    /// Opens the sequence at the start of `bytes` in place.
    ///
    /// # Errors
    /// As [`Layout::open`].
    pub fn open(bytes: B) -> Result<Self, OpenError> {
        let layout = Layout::open(bytes.as_ref())?;
        Ok(Self { layout, bytes })
    }

    /// The bytes of the sequence.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes.as_ref()[..self.layout.byte_len()]
    }

    /// Where its parts stand.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Number of values.
    pub fn len(&self) -> u64 {
        self.layout.len()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.layout.is_empty()
    }

    /// Whether a value lies in `lo..=hi`.
    #[inline]
    pub fn any_in(&self, lo: u64, hi: u64) -> bool {
        dispatch(AnyIn { layout: &self.layout, bytes: self.bytes.as_ref(), lo, hi })
    }

    /// Answers [`any_in`](Self::any_in) for each pair of ends, with many cache misses under way at a time.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn any_in_each(&self, ends: &[(u64, u64)], answers: &mut [bool]) {
        assert_eq!(ends.len(), answers.len(), "one answer for each pair of ends");
        dispatch(AnyInEach { layout: &self.layout, bytes: self.bytes.as_ref(), ends, answers });
    }

    /// Number of values below `value`.
    pub fn rank(&self, value: u64) -> u64 {
        self.place(Question::Rank(value)).unwrap_or(0)
    }

    /// The value at `index` in ascending order.
    pub fn get(&self, index: u64) -> Option<u64> {
        self.place(Question::Get(index))
    }

    /// The largest value that is at most `value`.
    pub fn predecessor(&self, value: u64) -> Option<u64> {
        self.place(Question::Predecessor(value))
    }

    /// The smallest value that is at least `value`.
    pub fn successor(&self, value: u64) -> Option<u64> {
        self.place(Question::Successor(value))
    }

    /// The values in ascending order.
    pub fn iter(&self) -> Iter<'_> {
        self.layout.iter(self.bytes.as_ref())
    }

    fn place(&self, question: Question) -> Option<u64> {
        dispatch(Place { layout: &self.layout, bytes: self.bytes.as_ref(), question })
    }
}

struct AnyIn<'a> {
    layout: &'a Layout,
    bytes: &'a [u8],
    lo: u64,
    hi: u64,
}

impl Kernel for AnyIn<'_> {
    type Output = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        self.layout.any_in(isa, self.bytes, self.lo, self.hi)
    }
}

struct AnyInEach<'a> {
    layout: &'a Layout,
    bytes: &'a [u8],
    ends: &'a [(u64, u64)],
    answers: &'a mut [bool],
}

impl Kernel for AnyInEach<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let (layout, bytes) = (self.layout, self.bytes);
        let mut probes = [Probe::default(); BATCH];
        for (ends, answers) in self.ends.chunks(BATCH).zip(self.answers.chunks_mut(BATCH)) {
            for &(lo, _) in ends {
                layout.prefetch_directory(bytes, lo);
            }
            for (probe, &(lo, hi)) in probes.iter_mut().zip(ends) {
                *probe = layout.prepare(isa, bytes, lo, hi);
            }
            for (answer, probe) in answers.iter_mut().zip(&probes) {
                *answer = layout.finish(isa, bytes, probe);
            }
        }
    }
}

enum Question {
    Rank(u64),
    Get(u64),
    Predecessor(u64),
    Successor(u64),
}

struct Place<'a> {
    layout: &'a Layout,
    bytes: &'a [u8],
    question: Question,
}

impl Kernel for Place<'_> {
    type Output = Option<u64>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Option<u64> {
        match self.question {
            Question::Rank(value) => Some(self.layout.rank(isa, self.bytes, value)),
            Question::Get(index) => self.layout.get(isa, self.bytes, index),
            Question::Predecessor(value) => self.layout.predecessor(isa, self.bytes, value),
            Question::Successor(value) => self.layout.successor(isa, self.bytes, value),
        }
    }
}
