//! What can stand for a key: integers, strings, byte strings, owned and borrowed.

use lacuna_families::OpenFilter;
use lacuna_guard::internal::GuardKey;

/// The keys a [`Filter`](crate::Filter) is over: `u64` or `[u8]`. Nothing else implements it.
///
/// Signed integers, floats, days and moments become `u64` in their order with [`TypedKey`](crate::TypedKey).
pub trait FilterKey: GuardKey + OpenFilter {
    /// What [`Filter::build`](crate::Filter::build) builds over these keys.
    #[doc(hidden)]
    const USUAL_SPEC: &str;
}

impl FilterKey for u64 {
    const USUAL_SPEC: &str = "grafite";
}

impl FilterKey for [u8] {
    // A family that looks at a window of eight bytes may know nothing of keys with a longer common prefix.
    const USUAL_SPEC: &str = "auto";
}

/// Something that stands for a key of `K`, or for an end of a range of them.
///
/// `u64` for integers; `[u8]`, `str`, `Vec<u8>`, `String` and arrays of bytes for byte strings; references to all these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a key of a filter over `{K}`",
    label = "give a `u64` for integers, a `&str` or `&[u8]` for byte strings; `TypedKey` maps other numbers to `u64`"
)]
pub trait AsKey<K: FilterKey + ?Sized> {
    /// The key, borrowed.
    fn as_key(&self) -> K::Ref<'_>;
}

impl AsKey<u64> for u64 {
    #[inline]
    fn as_key(&self) -> u64 {
        *self
    }
}

macro_rules! byte_key {
    ($([$($generics:tt)*] $key:ty),*) => {$(
        impl<$($generics)*> AsKey<[u8]> for $key {
            #[inline]
            fn as_key(&self) -> &[u8] {
                self.as_ref()
            }
        }
    )*};
}
byte_key!([] [u8], [] str, [] Vec<u8>, [] String, [const N: usize] [u8; N]);

impl<K: FilterKey + ?Sized, T: AsKey<K> + ?Sized> AsKey<K> for &T {
    #[inline]
    fn as_key(&self) -> K::Ref<'_> {
        (**self).as_key()
    }
}
