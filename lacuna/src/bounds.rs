//! Ranges as Rust writes them: `1..=500`, `"a".."b"`, `lo..`, a pair of bounds.

use std::ops::{Bound, Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use crate::key::{AsKey, FilterKey};

/// A range of keys of `K`: every range type of the standard library, and a pair of [`Bound`]s, over whatever is
/// [`AsKey`].
///
/// ```
/// let filter = lacuna::Filter::build(["ant", "bee"], 14.0)?;
/// assert!(filter.may_contain_range("a".."b") && filter.may_contain_range(..=b"ant"));
/// assert!(!filter.may_contain_range(String::from("c")..), "after the last key");
/// # Ok::<(), lacuna::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a range of keys of a filter over `{K}`",
    label = "give a range such as `1..=500` over integers, `\"a\"..\"b\"` over byte strings, or a pair of `Bound`s"
)]
pub trait KeyBounds<K: FilterKey + ?Sized> {
    /// Both ends.
    fn bounds(&self) -> (Bound<K::Ref<'_>>, Bound<K::Ref<'_>>);
}

/// The range that the bounds enclose; `None` if it is empty or inverted.
pub(crate) fn range_of<K: FilterKey + ?Sized>(bounds: &impl KeyBounds<K>) -> Option<K::Range<'_>> {
    let (lo, hi) = bounds.bounds();
    K::range(lo, hi)
}

macro_rules! key_bounds {
    ($($range:ty),*) => {$(
        impl<K: FilterKey + ?Sized, T: AsKey<K>> KeyBounds<K> for $range {
            #[inline]
            fn bounds(&self) -> (Bound<K::Ref<'_>>, Bound<K::Ref<'_>>) {
                use std::ops::RangeBounds;
                (self.start_bound().map(T::as_key), self.end_bound().map(T::as_key))
            }
        }
    )*};
}
key_bounds!(Range<T>, RangeInclusive<T>, RangeFrom<T>, RangeTo<T>, RangeToInclusive<T>);

impl<K: FilterKey + ?Sized, T: AsKey<K>> KeyBounds<K> for (Bound<T>, Bound<T>) {
    #[inline]
    fn bounds(&self) -> (Bound<K::Ref<'_>>, Bound<K::Ref<'_>>) {
        (self.0.as_ref().map(T::as_key), self.1.as_ref().map(T::as_key))
    }
}

impl<K: FilterKey + ?Sized> KeyBounds<K> for RangeFull {
    #[inline]
    fn bounds(&self) -> (Bound<K::Ref<'_>>, Bound<K::Ref<'_>>) {
        (Bound::Unbounded, Bound::Unbounded)
    }
}
