//! Ranges of byte strings relative to the prefix that all keys share.

use lacuna_base::ByteRange;

/// A bound of byte strings relative to the common prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail<'a> {
    /// Before every string with the prefix.
    Below,
    /// The prefix, and then this.
    At(&'a [u8]),
    /// After every string with the prefix.
    Above,
}

impl<'a> Tail<'a> {
    #[inline(always)]
    pub(crate) fn of(key: &'a [u8], prefix: &[u8]) -> Self {
        match key.strip_prefix(prefix) {
            Some(tail) => Self::At(tail),
            None if key < prefix => Self::Below,
            None => Self::Above,
        }
    }
}

/// The ends of a range relative to the prefix, each with its "excluded"; `None` if no string with the prefix is inside.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TailRange<'a> {
    pub(crate) lo: (&'a [u8], bool),
    pub(crate) hi: Option<(&'a [u8], bool)>,
}

impl<'a> TailRange<'a> {
    #[inline(always)]
    pub(crate) fn of(range: ByteRange<'a>, prefix: &[u8]) -> Option<Self> {
        let lo = match Tail::of(range.lo(), prefix) {
            Tail::Below => (&[][..], false),
            Tail::At(tail) => (tail, range.lo_excluded()),
            Tail::Above => return None,
        };
        let hi = match range.hi().map(|hi| Tail::of(hi, prefix)) {
            None | Some(Tail::Above) => None,
            Some(Tail::At(tail)) => Some((tail, range.hi_excluded())),
            Some(Tail::Below) => return None,
        };
        Some(Self { lo, hi })
    }
}
