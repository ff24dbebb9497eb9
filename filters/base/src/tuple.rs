//! Tuples as byte strings in their own order: fields of different types, nulls first, any field descending.
//!
//! Each field is written so that comparing the bytes compares the fields from left to right, and so that the bytes of
//! the first fields are a prefix of the whole: a query on leading fields is a query on a prefix.
//!
//! ```
//! use lacuna_base::tuple::TupleKey;
//!
//! let key = |tenant: &str, time: i64| TupleKey::new().text(tenant).signed(time).into_bytes();
//! assert!(key("acme", 5) < key("acme", 7));
//! assert!(key("acme", 7) < key("acme inc", -1));
//! assert!(key("acme", 7).starts_with(TupleKey::new().text("acme").as_bytes()));
//! ```

use crate::typed::TypedKey;

/// First byte of a null field: before every other.
const NULL: u8 = 0x00;
/// First byte of a field with a value.
const VALUE: u8 = 0x01;
/// Byte that ends a string, and that is escaped inside one.
const END: u8 = 0x00;
/// Second byte of an escaped zero: above [`END`], so that a string sorts after its own prefixes.
const ESCAPED: u8 = 0xFF;

/// A tuple under construction.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TupleKey {
    bytes: Vec<u8>,
}

impl TupleKey {
    /// A tuple without fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a null, which sorts before every value.
    #[must_use]
    pub fn null(mut self) -> Self {
        self.bytes.push(NULL);
        self
    }

    /// Appends an unsigned integer.
    #[must_use]
    pub fn unsigned(self, value: u64) -> Self {
        self.typed(value)
    }

    /// Appends a signed integer.
    #[must_use]
    pub fn signed(self, value: i64) -> Self {
        self.typed(value)
    }

    /// Appends any [`TypedKey`], such as a float or a date.
    #[must_use]
    pub fn typed(mut self, value: impl TypedKey) -> Self {
        self.bytes.push(VALUE);
        self.bytes.extend_from_slice(&value.to_key().to_be_bytes());
        self
    }

    /// Appends text, ordered by its UTF-8 bytes.
    #[must_use]
    pub fn text(self, value: &str) -> Self {
        self.binary(value.as_bytes())
    }

    /// Appends a byte string of any content.
    #[must_use]
    pub fn binary(mut self, value: &[u8]) -> Self {
        self.bytes.push(VALUE);
        for &byte in value {
            self.bytes.push(byte);
            if byte == END {
                self.bytes.push(ESCAPED);
            }
        }
        self.bytes.extend_from_slice(&[END, END]);
        self
    }

    /// Appends the fields of `field` in descending order: larger values sort first, nulls last.
    #[must_use]
    pub fn descending(mut self, field: Self) -> Self {
        self.bytes.extend(field.bytes.iter().map(|byte| !byte));
        self
    }

    /// The bytes so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The finished key.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encoded((name, number, blob): &(Option<String>, i64, Vec<u8>)) -> Vec<u8> {
        let tuple = TupleKey::new();
        let tuple = match name {
            Some(name) => tuple.text(name),
            None => tuple.null(),
        };
        tuple.signed(*number).binary(blob).into_bytes()
    }

    fn blob() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop::sample::select(vec![0u8, 1, 0xFE, 0xFF]), 0..5)
    }

    proptest! {
        #[test]
        fn tuples_keep_their_order(
            a in (any::<Option<String>>(), any::<i64>(), blob()),
            b in (any::<Option<String>>(), any::<i64>(), blob()),
        ) {
            prop_assert_eq!(encoded(&a).cmp(&encoded(&b)), a.cmp(&b));
        }

        #[test]
        fn descending_turns_the_order_round(a in blob(), b in blob()) {
            let key = |blob: &[u8]| TupleKey::new().descending(TupleKey::new().binary(blob)).unsigned(1).into_bytes();
            prop_assert_eq!(key(&a).cmp(&key(&b)), b.cmp(&a));
        }
    }
}
