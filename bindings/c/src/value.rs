//! From integers that stand for values back to the values.

use lacuna_base::TypedKey;

/// A value that can be had back from its key.
pub(crate) trait KeyValue: TypedKey {
    /// The value whose key is `key`; for a key of no value the nearest value: the next after it in the direction of a seek.
    fn from_key(key: u64) -> Self;
}

impl KeyValue for u64 {
    fn from_key(key: u64) -> Self {
        key
    }
}

impl KeyValue for i64 {
    fn from_key(key: u64) -> Self {
        (key ^ (1 << 63)).cast_signed()
    }
}

impl KeyValue for f64 {
    // Keys of no value stand for further NaNs, above infinity or below minus infinity, and for -0. No filter holds one. Above
    // infinity is the one NaN; below minus infinity is nothing, so that the smallest value is as good a bound.
    fn from_key(key: u64) -> Self {
        let bits = if key >> 63 == 1 { key ^ (1 << 63) } else { !key };
        let value = Self::from_bits(bits);
        if value.is_nan() && bits >> 63 == 1 { Self::NEG_INFINITY } else { value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_from_their_keys() {
        for value in [0, 1, u64::MAX, 1 << 63] {
            assert_eq!(u64::from_key(value.to_key()), value);
        }
        for value in [0, -1, 1, i64::MIN, i64::MAX] {
            assert_eq!(i64::from_key(value.to_key()), value);
        }
        for value in [0.0, -1.5, 1.5, f64::MAX, f64::MIN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE]
        {
            assert_eq!(f64::from_key(value.to_key()), value);
        }
        assert!(f64::from_key(f64::NAN.to_key()).is_nan());
    }

    #[test]
    fn keys_of_no_value_are_bounds_as_well() {
        assert_eq!(f64::from_key(0.0f64.to_key() - 1), 0.0, "minus zero");
        assert!(f64::from_key(f64::INFINITY.to_key() + 1).is_nan());
        assert!(f64::from_key(u64::MAX).is_nan());
        assert_eq!(f64::from_key(0), f64::NEG_INFINITY);
    }
}
