//! The bytes of a domain value, kept without an allocation if they are short.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// Order-preserving bytes of one value of a domain; made by [`DomainType::key`](crate::DomainType::key).
///
/// ```
/// use lacuna_cache_protocol::RangeKey;
///
/// assert!(RangeKey::from(7u64) < RangeKey::from(300u64));
/// assert_eq!(size_of::<RangeKey>(), 24);
/// ```
#[derive(Clone)]
pub struct RangeKey(Bytes);

#[derive(Clone)]
enum Bytes {
    Inline { len: u8, bytes: [u8; RangeKey::INLINE_BYTES] },
    Boxed(Box<[u8]>),
}

impl RangeKey {
    /// Keys of up to this many bytes need no allocation.
    pub(crate) const INLINE_BYTES: usize = 22;

    /// A key with these bytes, in their order.
    pub fn from_bytes(key: &[u8]) -> Self {
        match u8::try_from(key.len()) {
            Ok(len) if key.len() <= Self::INLINE_BYTES => {
                let mut bytes = [0; Self::INLINE_BYTES];
                bytes[..key.len()].copy_from_slice(key);
                Self(Bytes::Inline { len, bytes })
            }
            _ => Self(Bytes::Boxed(key.into())),
        }
    }

    /// The bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Bytes::Inline { len, bytes } => &bytes[..usize::from(*len)],
            Bytes::Boxed(bytes) => bytes,
        }
    }
}

impl From<u64> for RangeKey {
    fn from(value: u64) -> Self {
        Self::from_bytes(&value.to_be_bytes())
    }
}

impl PartialEq for RangeKey {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for RangeKey {}

impl PartialOrd for RangeKey {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RangeKey {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl Hash for RangeKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl fmt::Debug for RangeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.as_bytes();
        match <[u8; 8]>::try_from(bytes) {
            Ok(integer) => write!(f, "{}", u64::from_be_bytes(integer)),
            Err(_) => write!(f, "{}", bytes.escape_ascii()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::RangeKey;

    proptest! {
        #[test]
        fn keys_of_any_length_are_ordered_as_their_bytes(
            a in prop::collection::vec(0u8..3, 0..40),
            b in prop::collection::vec(0u8..3, 0..40),
        ) {
            let (a_key, b_key) = (RangeKey::from_bytes(&a), RangeKey::from_bytes(&b));
            prop_assert_eq!(a_key.as_bytes(), &a[..]);
            prop_assert_eq!(a_key.cmp(&b_key), a.cmp(&b));
            prop_assert_eq!(a_key == b_key, a == b);
        }
    }
}
