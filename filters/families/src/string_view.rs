//! How byte strings become integers: through a window where eight bytes hold the keys, else through a place map.

use lacuna_base::{ByteRange, LongPlace, PlaceMap, Position, U64Range, Window};

/// A monotone map of byte strings to integers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StringView<'a> {
    Window(Window<'a>),
    Map(PlaceMap<'a>),
}

impl StringView<'_> {
    /// The integer of a key of the file.
    #[inline(always)]
    pub(crate) fn place(&self, key: &[u8]) -> u64 {
        match self {
            Self::Window(window) => match window.position(key) {
                Position::At(place) => place,
                Position::Below | Position::Above => 0,
            },
            Self::Map(map) => map.place(key),
        }
    }

    /// The closed range that holds the integer of every key of the file in `range`; `None` if there can be no such key.
    #[inline(always)]
    pub(crate) fn cover(&self, range: ByteRange<'_>) -> Option<U64Range> {
        match self {
            Self::Window(window) => window.cover(range),
            Self::Map(map) => map.cover(range),
        }
    }

    /// The long place of a key of the file.
    #[inline(always)]
    pub(crate) fn long_place(&self, key: &[u8]) -> LongPlace {
        match self {
            Self::Window(window) => LongPlace::from_word(highest(*window, self.place(key))),
            Self::Map(map) => map.long_place(key),
        }
    }

    /// The first and the last of the long places that the keys of the file in `range` may have; `None` if there can be no such key.
    #[inline(always)]
    pub(crate) fn long_cover(&self, range: ByteRange<'_>) -> Option<(LongPlace, LongPlace)> {
        match self {
            Self::Window(window) => {
                let cover = window.cover(range)?;
                let [lo, hi] =
                    [cover.lo(), cover.hi()].map(|end| LongPlace::from_word(highest(*window, end)));
                Some((lo, hi))
            }
            Self::Map(map) => map.long_cover(range),
        }
    }

    /// Bits of long places; those after them are zeros.
    pub(crate) fn long_bits(&self) -> u32 {
        match self {
            Self::Window(_) => self.key_bits(),
            Self::Map(_) => LongPlace::BITS,
        }
    }

    /// Bits of the integers.
    pub(crate) fn key_bits(&self) -> u32 {
        match self {
            Self::Window(window) => window.largest().ilog2() + 1,
            Self::Map(map) => map.bits(),
        }
    }
}

/// An integer of `window` as the highest bits of a word.
#[inline(always)]
fn highest(window: Window<'_>, place: u64) -> u64 {
    place << window.largest().leading_zeros()
}
