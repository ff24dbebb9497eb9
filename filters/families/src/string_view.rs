//! How byte strings become integers: through a window where eight bytes hold the keys, else through a place map.

use lacuna_base::{ByteRange, PlaceMap, Position, U64Range, Window};

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

    /// Bits of the integers.
    pub(crate) fn key_bits(&self) -> u32 {
        match self {
            Self::Window(window) => window.largest().ilog2() + 1,
            Self::Map(map) => map.bits(),
        }
    }
}
