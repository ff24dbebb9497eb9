//! PostgreSQL's binary format of values: decimals in groups of four digits, days and moments counted from
//! 2000-01-01.
//!
//! Values that decimals, days or moments here cannot represent (`NaN`, `infinity`, more digits, later years)
//! become text: such rows are in ranges without an end, as in the database.

use lacuna_base::Date;

use crate::sql::sql_value::{SqlValue, decimal_or_text};

/// Digits in a group of a decimal.
const GROUP: usize = 4;
const NEGATIVE: u16 = 0x4000;

/// 2000-01-01, in days and in microseconds since 1970-01-01.
const DAYS_TO_2000: i32 = 10_957;
const MICROS_TO_2000: i64 = 946_684_800_000_000;

/// Four numbers of 16 bits (groups, groups before the point less one, sign, digits after the point), then the
/// groups.
pub(super) fn numeric(bytes: &[u8]) -> SqlValue {
    let numbers: Vec<u16> =
        bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
    let [_, weight, sign, scale, groups @ ..] = &numbers[..] else { return SqlValue::Text(String::new()) };
    let sign = match *sign {
        0 => "",
        NEGATIVE => "-",
        0xD000 => return SqlValue::Text("Infinity".to_owned()),
        0xF000 => return SqlValue::Text("-Infinity".to_owned()),
        _ => return SqlValue::Text("NaN".to_owned()),
    };
    let weight = i32::from(weight.cast_signed());
    let group = |place: i32| {
        let place = usize::try_from(weight - place).ok();
        place.and_then(|place| groups.get(place)).copied().unwrap_or(0)
    };
    let part = |places: std::ops::Range<i32>| -> String {
        places.rev().map(|place| format!("{:04}", group(place))).collect()
    };
    let whole = part(0..weight.max(0) + 1);
    let scale = usize::from(*scale);
    let groups_behind = i32::try_from(scale.div_ceil(GROUP)).expect("a scale has 14 bits");
    let behind = part(-groups_behind..0);
    let digits = whole.trim_start_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    let point = if scale > 0 { "." } else { "" };
    decimal_or_text(format!("{sign}{digits}{point}{}", &behind[..scale]))
}

pub(super) fn date(bytes: &[u8]) -> SqlValue {
    let days = bytes.try_into().map_or(i32::MAX, i32::from_be_bytes);
    let is_finite = days != i32::MAX && days != i32::MIN;
    match days.checked_add(DAYS_TO_2000).filter(|_| is_finite) {
        Some(days) => SqlValue::Date(Date { days }),
        None => beyond(days > 0),
    }
}

pub(super) fn moment(bytes: &[u8]) -> SqlValue {
    let micros = bytes.try_into().map_or(i64::MAX, i64::from_be_bytes);
    let is_finite = micros != i64::MAX && micros != i64::MIN;
    match micros.checked_add(MICROS_TO_2000).filter(|_| is_finite) {
        Some(micros) => SqlValue::Timestamp(micros),
        None => beyond(micros > 0),
    }
}

pub(super) fn uuid(bytes: &[u8]) -> SqlValue {
    bytes.try_into().map_or_else(|_| SqlValue::Blob(bytes.to_vec()), SqlValue::Uuid)
}

fn beyond(is_late: bool) -> SqlValue {
    SqlValue::Text(if is_late { "infinity" } else { "-infinity" }.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(numbers: &[u16]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
    }

    #[test]
    fn decimals_are_put_together_from_their_groups() {
        let decimal = |text| SqlValue::decimal(text).unwrap();
        assert_eq!(numeric(&bytes(&[0, 0, 0, 2])), decimal("0.00"));
        assert_eq!(numeric(&bytes(&[2, 0, 0, 2, 12, 5_000])), decimal("12.50"));
        assert_eq!(numeric(&bytes(&[1, 0xFFFF, NEGATIVE, 5, 10])), decimal("-0.00100"));
        assert_eq!(numeric(&bytes(&[1, 0xFFFE, 0, 8, 7])), decimal("0.00000007"));
        assert_eq!(numeric(&bytes(&[1, 2, 0, 0, 3])), decimal("300000000"));
        assert_eq!(numeric(&bytes(&[2, 1, 0, 0, 1, 2])), decimal("10002"));
        assert_eq!(numeric(&bytes(&[0, 0, 0xC000, 0])), SqlValue::Text("NaN".to_owned()));
        let wide = numeric(&bytes(&[1, 10, 0, 0, 1]));
        assert_eq!(wide, SqlValue::Text(format!("1{}", "0".repeat(40))));
    }

    #[test]
    fn days_and_moments_are_counted_from_1970() {
        assert_eq!(date(&0i32.to_be_bytes()), SqlValue::date(2000, 1, 1).unwrap());
        assert_eq!(date(&i32::MIN.to_be_bytes()), SqlValue::Text("-infinity".to_owned()));
        assert_eq!(moment(&(-MICROS_TO_2000).to_be_bytes()), SqlValue::Timestamp(0));
        assert_eq!(moment(&(i64::MAX - 1).to_be_bytes()), SqlValue::Text("infinity".to_owned()));
    }
}
