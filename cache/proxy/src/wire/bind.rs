//! Formats and values of a `Bind`: what follows the names of its portal and its statement.

use super::Fields;

/// The format of a value that is no text.
pub(crate) const BINARY: i16 = 1;

/// A format, and the bytes of a value in it; no bytes are `NULL`.
pub(crate) type Formatted<'b> = (i16, Option<&'b [u8]>);

/// The values in their order, each of them `None` if it is cut off; `None` if the formats are.
pub(crate) fn values(bytes: &[u8]) -> Option<impl Iterator<Item = Option<Formatted<'_>>>> {
    let mut fields = Fields::new(bytes);
    let formats: Vec<i16> = (0..fields.count(2)?).map(|_| fields.int16()).collect::<Option<_>>()?;
    let count = fields.count(4)?;
    Some((0..count).map(move |nth| {
        let format = match formats[..] {
            [] => 0,
            [one] => one,
            _ => *formats.get(nth)?,
        };
        Some((format, fields.value()?))
    }))
}

/// The integer that a binary value of two, four or eight bytes is.
pub(crate) fn integer(bytes: &[u8]) -> Option<i64> {
    match bytes.len() {
        2 => bytes.try_into().ok().map(|bytes| i16::from_be_bytes(bytes).into()),
        4 => bytes.try_into().ok().map(|bytes| i32::from_be_bytes(bytes).into()),
        8 => bytes.try_into().ok().map(i64::from_be_bytes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Option<Vec<Formatted<'_>>> {
        values(bytes)?.collect()
    }

    #[test]
    fn each_value_has_its_format() {
        let two = b"\0\x02\0\0\0\x01x\xff\xff\xff\xff";
        for (formats, expected) in [
            (&b"\0\0"[..], Some([0, 0])),
            (b"\0\x01\0\x01", Some([1, 1])),
            (b"\0\x02\0\x01\0\0", Some([1, 0])),
            (b"\0\x03\0\x01\0\0\0\x01", Some([1, 0])),
        ] {
            let bytes = [formats, two].concat();
            let expected = expected.map(|[one, other]| vec![(one, Some(&b"x"[..])), (other, None)]);
            assert_eq!(read(&bytes), expected, "{formats:?}");
        }
        assert_eq!(read(b"\0\0\0\x01\0\0\0\x02x"), None, "it is cut off");
        assert_eq!(read(b"\0\x02\0\x01"), None);
    }

    #[test]
    fn integers_have_three_lengths() {
        assert_eq!(integer(&(-7_i16).to_be_bytes()), Some(-7));
        assert_eq!(integer(&(-7_i32).to_be_bytes()), Some(-7));
        assert_eq!(integer(&i64::MIN.to_be_bytes()), Some(i64::MIN));
        assert_eq!(integer(&[0; 3]), None);
    }
}
