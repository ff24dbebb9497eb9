//! The opened filter over byte strings, for families of prefixes that know all bits of a key.

use lacuna_base::{ByteRange, RangeFilter, Result};
use lacuna_succinct::arch::{Isa, Kernel, dispatch};

use super::prefix_key::{PrefixKey, StringTail};
use crate::family::OpenFrame;
use crate::frame::{Clipped, FilterBytes, Frame, check_version, sizes_of_frame};
use crate::integer::{IntegerBody, clip_bytes};
use crate::surf::TailRange;

/// The read side of a family of prefixes, over integers and over byte strings alike.
pub(crate) trait PrefixBody: IntegerBody {
    /// Whether a key may lie between `lo` and `hi`, itself outside if `hi_excluded`.
    fn may_hold<I: Isa, K: PrefixKey>(&self, isa: I, bytes: &[u8], lo: K, hi: K, hi_excluded: bool) -> bool;
}

/// A family of prefixes over byte strings.
#[derive(Debug)]
pub(crate) struct StringPrefixes<B, T> {
    frame: Frame<B>,
    body: Option<T>,
}

impl<B: FilterBytes, T: PrefixBody> OpenFrame<B> for StringPrefixes<B, T> {
    const SEES_INTEGERS: bool = false;

    fn open(frame: Frame<B>) -> Result<Self> {
        check_version(frame.envelope(), T::VERSION)?;
        // Without a body, the smallest and largest key are all there is.
        let body =
            if frame.body().is_empty() { None } else { Some(T::open(frame.body(), frame.envelope())?) };
        Ok(Self { frame, body })
    }
}

/// A range after the common prefix.
struct Ask<'a, T> {
    body: &'a T,
    bytes: &'a [u8],
    lo: &'a [u8],
    hi: (&'a [u8], bool),
}

impl<T: PrefixBody> Kernel for Ask<'_, T> {
    type Output = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        let (lo, hi) = (StringTail(self.lo), StringTail(self.hi.0));
        self.body.may_hold(isa, self.bytes, lo, hi, self.hi.1)
    }
}

impl<B: FilterBytes, T: PrefixBody> RangeFilter<[u8]> for StringPrefixes<B, T> {
    fn may_contain_range(&self, range: ByteRange<'_>) -> bool {
        if clip_bytes(&self.frame, range) == Clipped::Settled(false) {
            return false;
        }
        let Some(tails) = TailRange::of(range, self.frame.prefix()) else { return false };
        match (&self.body, tails.hi) {
            (Some(body), Some(hi)) => {
                dispatch(Ask { body, bytes: self.frame.body_and_rest(), lo: tails.lo.0, hi })
            }
            // A range without end that is not above the largest key's window: it may hold that key.
            _ => true,
        }
    }

    sizes_of_frame!();
}
