//! Order-preserving maps from the types people have to the integers filters take.

use crate::key_type::{KeyType, TimeUnit};

/// A value with an order that a `u64` keeps: `a < b` exactly when `a.to_key() < b.to_key()`.
///
/// Signed integers flip their sign bit. Floats have one zero (`-0.0` and `0.0` share a key) and one NaN, above
/// infinity. Dates are days, timestamps microseconds.
///
/// ```
/// use lacuna_base::TypedKey;
///
/// assert!((-2.5f64).to_key() < (-1.0f64).to_key());
/// assert_eq!((-0.0f64).to_key(), 0.0f64.to_key());
/// assert!(f64::INFINITY.to_key() < f64::NAN.to_key());
/// assert!((-1i32).to_key() < 0i32.to_key());
/// ```
pub trait TypedKey: Copy {
    /// How a filter over such keys names their type.
    const KEY_TYPE: KeyType;

    /// The integer that stands for the value.
    fn to_key(self) -> u64;
}

macro_rules! unsigned_key {
    ($($integer:ty),*) => {$(
        impl TypedKey for $integer {
            const KEY_TYPE: KeyType = KeyType::U64;

            #[inline]
            fn to_key(self) -> u64 {
                u64::from(self)
            }
        }
    )*};
}
unsigned_key!(bool, u8, u16, u32, u64, char);

macro_rules! signed_key {
    ($($integer:ty),*) => {$(
        impl TypedKey for $integer {
            const KEY_TYPE: KeyType = KeyType::I64;

            #[inline]
            fn to_key(self) -> u64 {
                i64::from(self).cast_unsigned() ^ (1 << 63)
            }
        }
    )*};
}
signed_key!(i8, i16, i32, i64);

impl TypedKey for f64 {
    const KEY_TYPE: KeyType = KeyType::F64;

    #[inline]
    fn to_key(self) -> u64 {
        let bits = canonical(self).to_bits();
        let negative = bits >> 63 == 1;
        if negative { !bits } else { bits | (1 << 63) }
    }
}

impl TypedKey for f32 {
    const KEY_TYPE: KeyType = KeyType::F64;

    #[inline]
    fn to_key(self) -> u64 {
        f64::from(self).to_key()
    }
}

/// The one NaN that is a key. The bits of `f64::NAN` are not those of every machine.
const NAN: f64 = f64::from_bits(0x7FF8_0000_0000_0000);

/// The value with one zero and one NaN.
fn canonical(value: f64) -> f64 {
    if value.is_nan() {
        NAN
    } else if value == 0.0 {
        0.0
    } else {
        value
    }
}

/// A day of the proleptic Gregorian calendar, counted from 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// Days since 1970-01-01; negative before it.
    pub days: i32,
}

impl TypedKey for Date {
    const KEY_TYPE: KeyType = KeyType::Date;

    #[inline]
    fn to_key(self) -> u64 {
        self.days.to_key()
    }
}

/// A moment, counted from 1970-01-01T00:00:00Z.
///
/// A day and its midnight are different integers: a filter of one type does not answer questions of the other.
///
/// ```
/// use lacuna_base::{Date, Timestamp, TypedKey};
///
/// let (day, midnight) = (Date { days: 1 }, Timestamp { micros: 86_400_000_000 });
/// assert!(day.to_key() != midnight.to_key() && Date::KEY_TYPE != Timestamp::KEY_TYPE);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Microseconds since 1970-01-01T00:00:00Z; negative before it.
    pub micros: i64,
}

impl TypedKey for Timestamp {
    const KEY_TYPE: KeyType = KeyType::Timestamp(TimeUnit::Microseconds);

    #[inline]
    fn to_key(self) -> u64 {
        self.micros.to_key()
    }
}

/// A point on a plane of 2^32 by 2^32, whose key interleaves the bits of both coordinates (Morton order).
///
/// The order is that of the key. A box of points is not one range of keys: cover it with several.
///
/// ```
/// use lacuna_base::{TypedKey, Zorder};
///
/// assert_eq!(Zorder { x: 0b11, y: 0b01 }.to_key(), 0b1011);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Zorder {
    /// Coordinate on the odd bits.
    pub x: u32,
    /// Coordinate on the even bits.
    pub y: u32,
}

impl TypedKey for Zorder {
    const KEY_TYPE: KeyType = KeyType::Unknown;

    #[inline]
    fn to_key(self) -> u64 {
        (spread(self.x) << 1) | spread(self.y)
    }
}

/// Puts a zero bit before each bit.
fn spread(coordinate: u32) -> u64 {
    let mut bits = u64::from(coordinate);
    bits = (bits | (bits << 16)) & 0x0000_FFFF_0000_FFFF;
    bits = (bits | (bits << 8)) & 0x00FF_00FF_00FF_00FF;
    bits = (bits | (bits << 4)) & 0x0F0F_0F0F_0F0F_0F0F;
    bits = (bits | (bits << 2)) & 0x3333_3333_3333_3333;
    (bits | (bits << 1)) & 0x5555_5555_5555_5555
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn floats_keep_their_order(a in any::<f64>(), b in any::<f64>()) {
            if let Some(order) = a.partial_cmp(&b) {
                prop_assert_eq!(a.to_key().cmp(&b.to_key()), order);
            }
        }

        #[test]
        fn integers_keep_their_order(a in any::<i64>(), b in any::<i64>()) {
            prop_assert_eq!(a.to_key().cmp(&b.to_key()), a.cmp(&b));
        }

        #[test]
        fn interleaving_keeps_both_orders(x in any::<u32>(), y in any::<u32>(), other in any::<u32>()) {
            let key = |x, y| Zorder { x, y }.to_key();
            prop_assert_eq!(key(x, y).cmp(&key(other, y)), x.cmp(&other));
            prop_assert_eq!(key(x, y).cmp(&key(x, other)), y.cmp(&other));
        }
    }

    #[test]
    fn all_nans_share_one_key() {
        let odd = f64::from_bits(0xFFF8_0000_0000_0001);
        assert!(odd.is_nan());
        assert_eq!((odd.to_key(), f64::NAN.to_key()), (0xFFF8_0000_0000_0000, 0xFFF8_0000_0000_0000));
    }
}
