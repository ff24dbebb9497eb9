//! An execution of a prepared statement, and the values of its parameters.
//!
//! A client names the types of the parameters in the first execution, and may leave them out in later ones. Values are kept as bytes with
//! their count and types before them, and read when a task learns from them.

use crate::follow::Value;
use crate::mysql::wire::Fields;

/// Execute with attributes: the count of values need not be that of the parameters.
const HAS_COUNT: u8 = 0x08;
/// The second byte of the type of a number that has no sign.
const UNSIGNED: u8 = 0x80;

/// The command, as far as it is known before the server has answered what came before it.
#[derive(Debug)]
pub(super) struct Execution {
    pub(super) id: u32,
    flags: u8,
    /// What follows; none if it is too long to be looked at.
    rest: Option<Box<[u8]>>,
}

impl Execution {
    /// Reads the body of a command after its first byte; it keeps what follows if it is to.
    pub(super) fn read(body: &[u8], keeps_values: bool) -> Option<Self> {
        let mut fields = Fields::new(body);
        let (id, flags) = (fields.int32()?, fields.byte()?);
        // How often it is executed: once.
        fields.int32()?;
        Some(Self { id, flags, rest: keeps_values.then(|| fields.rest().into()) })
    }

    #[cfg(test)]
    pub(super) fn without_values(id: u32) -> Self {
        Self { id, flags: 0, rest: Some(Box::default()) }
    }
}

/// Count, types, and values of the parameters, in the bytes that [`values`] reads; none without parameters, or if they are not
/// known. `types` are those of the last execution that named them.
pub(super) fn bound(
    execution: &Execution,
    param_count: u16,
    types: &mut Option<Box<[u8]>>,
) -> Option<Box<[u8]>> {
    if param_count == 0 {
        return None;
    }
    let known = types.take();
    let rest = execution.rest.as_deref().filter(|_| execution.flags & HAS_COUNT == 0)?;
    let mut fields = Fields::new(rest);
    let nulls = fields.bytes(usize::from(param_count).div_ceil(8))?;
    *types = match fields.byte()? {
        0 => known,
        _ => Some(fields.bytes(2 * usize::from(param_count))?.into()),
    };
    let types = types.as_deref()?;
    Some([&param_count.to_le_bytes()[..], types, nulls, fields.rest()].concat().into())
}

/// The values of the parameters, in their order.
pub(crate) fn values(bytes: &[u8]) -> Option<Vec<Value>> {
    let mut fields = Fields::new(bytes);
    let count = usize::from(fields.int16()?);
    let types = fields.bytes(2 * count)?;
    let nulls = fields.bytes(count.div_ceil(8))?;
    let of = |nth: usize| {
        if nulls[nth / 8] & (1 << (nth % 8)) != 0 {
            return Some(Value::Null);
        }
        value(types[2 * nth], types[2 * nth + 1] & UNSIGNED != 0, &mut fields)
    };
    (0..count).map(of).collect()
}

/// A value of a type, by the numbers of `enum_field_types`.
fn value(of_type: u8, is_unsigned: bool, fields: &mut Fields<'_>) -> Option<Value> {
    Some(match of_type {
        // TINY, SHORT, YEAR, LONG, INT24, LONGLONG.
        1 | 2 | 13 | 3 | 9 | 8 => integer(of_type, is_unsigned, fields)?,
        // FLOAT, DOUBLE.
        4 => number(f64::from(f32::from_bits(fields.int32()?))),
        5 => number(f64::from_bits(fields.int64()?)),
        // NULL.
        6 => Value::Null,
        // TIMESTAMP, DATE, DATETIME.
        7 | 10 | 12 => {
            let len = fields.byte()?;
            moment(fields.bytes(len.into())?)?
        }
        // TIME, by its parts.
        11 => {
            let len = fields.byte()?;
            Value::Other(fields.bytes(len.into())?.to_vec())
        }
        _ => {
            let bytes = fields.value()?;
            std::str::from_utf8(bytes)
                .map_or_else(|_| Value::Other(bytes.to_vec()), |text| Value::from_text(text.to_owned()))
        }
    })
}

fn integer(of_type: u8, is_unsigned: bool, fields: &mut Fields<'_>) -> Option<Value> {
    let (bits, len) = match of_type {
        1 => (u64::from(fields.byte()?), 8),
        2 | 13 => (u64::from(fields.int16()?), 16),
        8 => (fields.int64()?, 64),
        _ => (u64::from(fields.int32()?), 32),
    };
    if is_unsigned {
        let value = i64::try_from(bits);
        return Some(value.map_or_else(|_| Value::Other(bits.to_string().into_bytes()), Value::Integer));
    }
    // The sign is the highest of the bits.
    let shift = 64 - len;
    Some(Value::Integer((bits << shift).cast_signed() >> shift))
}

/// As its constant is written; parts that are zero may have been left out.
fn moment(parts: &[u8]) -> Option<Value> {
    let mut fields = Fields::new(parts);
    let (year, month, day) = match parts {
        [] => (0, 0, 0),
        _ => (fields.int16()?, fields.byte()?, fields.byte()?),
    };
    let mut text = format!("{year:04}-{month:02}-{day:02}");
    if let &[hour, minute, second, ref micros @ ..] = fields.rest() {
        text.push_str(&format!(" {hour:02}:{minute:02}:{second:02}"));
        if let Some(micros) = Fields::new(micros).int32() {
            text.push_str(&format!(".{micros:06}"));
        }
    }
    Some(Value::Other(text.into_bytes()))
}

/// A number with a fraction is a text, as a constant of a statement is.
fn number(value: f64) -> Value {
    Value::from_text(value.to_string())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The body of an execution of statement 7: flags, nulls, types and values.
    fn execution(flags: u8, nulls: &[u8], types: Option<&[u8]>, values: &[u8]) -> Execution {
        let bound: &[u8] = if types.is_some() { &[1] } else { &[0] };
        let head = [&[7, 0, 0, 0, flags][..], &[1, 0, 0, 0], nulls, bound].concat();
        Execution::read(&[&head[..], types.unwrap_or_default(), values].concat(), true).unwrap()
    }

    fn text(text: &[u8]) -> Value {
        Value::Other(text.to_vec())
    }

    #[test]
    fn values_are_read_by_their_types() {
        let types = [8, 0, 8, 0x80, 3, 0, 2, 0x80, 1, 0, 253, 0, 246, 0, 5, 0, 10, 0, 253, 0];
        let integers = [
            &(-7_i64).to_le_bytes()[..],
            &u64::MAX.to_le_bytes(),
            &(-2_i32).to_le_bytes(),
            &[0xff, 0xff],
            &[0x80],
        ]
        .concat();
        let others = [&b"\x04Oslo"[..], b"\x0242", &1.5_f64.to_le_bytes(), &[4, 0xea, 7, 11, 30]].concat();
        let sent = execution(0, &[0, 0b10], Some(&types), &[integers, others].concat());
        let mut known = None;
        let kept = bound(&sent, 10, &mut known).unwrap();
        let expected = [
            Value::Integer(-7),
            text(b"18446744073709551615"),
            Value::Integer(-2),
            Value::Integer(65_535),
            Value::Integer(-128),
            text(b"Oslo"),
            Value::Integer(42),
            text(b"1.5"),
            text(b"2026-11-30"),
            Value::Null,
        ];
        assert_eq!(values(&kept).unwrap(), expected);
        assert_eq!(known.as_deref(), Some(&types[..]));
    }

    #[test]
    fn moments_are_read_as_their_constants_are_written() {
        for (parts, expected) in [
            (&[][..], "0000-00-00"),
            (&[0xea, 7, 1, 2], "2026-01-02"),
            (&[0xea, 7, 1, 2, 3, 4, 5], "2026-01-02 03:04:05"),
            (&[0xea, 7, 1, 2, 3, 4, 5, 6, 0, 0, 0], "2026-01-02 03:04:05.000006"),
        ] {
            assert_eq!(moment(parts), Some(text(expected.as_bytes())));
        }
        assert_eq!(moment(&[0xea, 7, 1]), None);
    }

    #[test]
    fn types_of_an_earlier_execution_hold_on() {
        let mut known = None;
        assert_eq!(bound(&execution(0, &[0], None, &[5]), 1, &mut known), None, "there are no types yet");
        bound(&execution(0, &[0], Some(&[1, 0]), &[5]), 1, &mut known).unwrap();
        let kept = bound(&execution(0, &[0], None, &[6]), 1, &mut known).unwrap();
        assert_eq!(values(&kept), Some(vec![Value::Integer(6)]));
        assert_eq!(bound(&execution(HAS_COUNT, &[0], None, &[6]), 1, &mut known), None, "it has attributes");
        assert_eq!(bound(&execution(0, &[], None, &[]), 0, &mut known), None);
    }

    #[test]
    fn values_that_are_cut_off_are_none() {
        let sent = execution(0, &[0], Some(&[8, 0]), &[1, 2, 3]);
        let kept = bound(&sent, 1, &mut None).unwrap();
        assert_eq!(values(&kept), None);
        assert!(Execution::read(&[7, 0, 0, 0, 0, 1, 0, 0], true).is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_do_no_harm(body in prop::collection::vec(any::<u8>(), 0..80), count in any::<u16>(), few in 0_u16..4) {
            for count in [count, few] {
                if let Some(execution) = Execution::read(&body, true) {
                    let kept = bound(&execution, count, &mut None);
                    drop(kept.and_then(|kept| values(&kept)));
                }
            }
            drop(values(&body));
        }
    }
}
