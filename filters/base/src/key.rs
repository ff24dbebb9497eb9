//! The two key spaces: 64-bit integers and byte strings, both ordered.

use std::fmt::Debug;
use std::ops::Bound;

use crate::columns::{ByteColumn, KeyColumn};
use crate::range::{ByteRange, U64Range};

/// The number of a key space in the envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum KeySpaceId {
    /// Unsigned 64-bit integers.
    U64 = 1,
    /// Byte strings in lexicographic order.
    Bytes = 2,
}

impl KeySpaceId {
    /// The key space with this number, if there is one.
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::U64),
            2 => Some(Self::Bytes),
            _ => None,
        }
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u64 {}
    impl Sealed for [u8] {}
}

/// An ordered set of possible keys: `u64`, or `[u8]` in lexicographic order.
///
/// Filters, specs and plans are generic over it; nothing else implements it.
pub trait KeySpace: sealed::Sealed + 'static {
    /// A borrowed key.
    type Ref<'a>: Copy + Ord + Debug + Send + Sync;
    /// An owned key.
    type Owned: Clone + Ord + Debug + Send + Sync;
    /// A non-empty range of keys, see [`KeyRange`].
    type Range<'a>: Copy + Debug + Send + Sync;
    /// Many keys side by side.
    type Column: KeyColumn<Self> + ?Sized + Debug + Sync;
    /// Many keys side by side, growable.
    type OwnedColumn: Clone + Debug + Default + Send + Sync;

    /// Its number in the envelope.
    const ID: KeySpaceId;

    /// Borrows an owned key.
    fn borrow(owned: &Self::Owned) -> Self::Ref<'_>;
    /// Copies a borrowed key.
    fn to_owned(key: Self::Ref<'_>) -> Self::Owned;
    /// Appends a key to a growing column.
    fn push(column: &mut Self::OwnedColumn, key: Self::Ref<'_>);
    /// Looks at a growing column as a column.
    fn column(owned: &Self::OwnedColumn) -> &Self::Column;
    /// Shortens a lifetime.
    fn shorten<'short, 'long: 'short>(key: Self::Ref<'long>) -> Self::Ref<'short>;

    /// The range that holds `key` alone.
    fn point(key: Self::Ref<'_>) -> Self::Range<'_>;
    /// The range between two bounds, or `None` if no key lies between them.
    fn range<'a>(lo: Bound<Self::Ref<'a>>, hi: Bound<Self::Ref<'a>>) -> Option<Self::Range<'a>>;
    /// Whether `key` lies in `range`.
    fn contains(range: Self::Range<'_>, key: Self::Ref<'_>) -> bool;
    /// The smallest and largest keys to look between: a closed superset of `range` (`None`: no upper end).
    fn ends<'a>(range: Self::Range<'a>) -> (Self::Ref<'a>, Option<Self::Ref<'a>>);
}

/// A non-empty range of keys: [`U64Range`] or [`ByteRange`].
pub type KeyRange<'a, K> = <K as KeySpace>::Range<'a>;

impl KeySpace for u64 {
    type Ref<'a> = u64;
    type Owned = u64;
    type Range<'a> = U64Range;
    type Column = [u64];
    type OwnedColumn = Vec<u64>;

    const ID: KeySpaceId = KeySpaceId::U64;

    fn borrow(owned: &u64) -> u64 {
        *owned
    }
    fn to_owned(key: u64) -> u64 {
        key
    }
    fn push(column: &mut Vec<u64>, key: u64) {
        column.push(key);
    }
    fn column(owned: &Vec<u64>) -> &[u64] {
        owned
    }
    fn shorten<'short, 'long: 'short>(key: Self::Ref<'long>) -> Self::Ref<'short> {
        key
    }
    fn point(key: Self::Ref<'_>) -> Self::Range<'_> {
        U64Range::point(key)
    }
    fn range<'a>(lo: Bound<Self::Ref<'a>>, hi: Bound<Self::Ref<'a>>) -> Option<Self::Range<'a>> {
        U64Range::from_bounds(lo, hi)
    }
    fn contains(range: U64Range, key: u64) -> bool {
        range.contains(key)
    }
    fn ends<'a>(range: Self::Range<'a>) -> (Self::Ref<'a>, Option<Self::Ref<'a>>) {
        (range.lo(), Some(range.hi()))
    }
}

impl KeySpace for [u8] {
    type Ref<'a> = &'a [u8];
    type Owned = Vec<u8>;
    type Range<'a> = ByteRange<'a>;
    type Column = ByteColumn;
    type OwnedColumn = ByteColumn;

    const ID: KeySpaceId = KeySpaceId::Bytes;

    fn borrow(owned: &Vec<u8>) -> &[u8] {
        owned
    }
    fn to_owned(key: Self::Ref<'_>) -> Vec<u8> {
        key.to_vec()
    }
    fn push(column: &mut ByteColumn, key: Self::Ref<'_>) {
        column.push(key);
    }
    fn column(owned: &ByteColumn) -> &ByteColumn {
        owned
    }
    fn shorten<'short, 'long: 'short>(key: Self::Ref<'long>) -> Self::Ref<'short> {
        key
    }
    fn point(key: Self::Ref<'_>) -> Self::Range<'_> {
        ByteRange::point(key)
    }
    fn range<'a>(lo: Bound<Self::Ref<'a>>, hi: Bound<Self::Ref<'a>>) -> Option<Self::Range<'a>> {
        ByteRange::from_bounds(lo, hi)
    }
    fn contains(range: Self::Range<'_>, key: Self::Ref<'_>) -> bool {
        range.contains(key)
    }
    fn ends<'a>(range: Self::Range<'a>) -> (Self::Ref<'a>, Option<Self::Ref<'a>>) {
        (range.lo(), range.hi())
    }
}
