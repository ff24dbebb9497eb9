//! The opened filter over byte strings, which knows all bits of a key.

use lacuna_base::{ByteRange, RangeFilter, Result};
use lacuna_succinct::arch::{Isa, Kernel, dispatch};

use super::codec::{Body, VERSION};
use super::prefix_key::StringTail;
use crate::family::OpenFrame;
use crate::frame::{Clipped, FilterBytes, Frame, check_version, sizes_of_frame};
use crate::integer::clip_bytes;
use crate::surf::TailRange;

/// A Proteus over byte strings.
#[derive(Debug)]
pub(crate) struct StringProteus<B> {
    frame: Frame<B>,
    body: Option<Body>,
}

impl<B: FilterBytes> OpenFrame<B> for StringProteus<B> {
    fn open(frame: Frame<B>) -> Result<Self> {
        check_version(frame.envelope(), VERSION)?;
        // Without a body, the smallest and largest key are all there is.
        let body =
            if frame.body().is_empty() { None } else { Some(Body::open(frame.body(), frame.envelope())?) };
        Ok(Self { frame, body })
    }
}

/// A range after the common prefix.
struct Ask<'a> {
    body: &'a Body,
    bytes: &'a [u8],
    lo: &'a [u8],
    hi: (&'a [u8], bool),
}

impl Kernel for Ask<'_> {
    type Output = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        let (lo, hi) = (StringTail(self.lo), StringTail(self.hi.0));
        self.body.may_hold(isa, self.bytes, lo, hi, self.hi.1)
    }
}

impl<B: FilterBytes> RangeFilter<[u8]> for StringProteus<B> {
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
