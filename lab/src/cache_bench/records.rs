//! The records: rows of ten columns of 100 bytes, the first of which begins with the version.

use lacuna_base::hash::hash_bytes;
use lacuna_cache_protocol::{Error, Result};

/// Columns of a table, beside its key.
pub(crate) const COLUMNS: usize = 10;
/// Bytes of each.
pub(crate) const COLUMN_BYTES: usize = 100;
/// Digits of the version.
const VERSION_DIGITS: usize = 16;

/// The columns by name.
pub(crate) const NAMES: [&str; COLUMNS] =
    ["field0", "field1", "field2", "field3", "field4", "field5", "field6", "field7", "field8", "field9"];

/// The table with this number.
pub(crate) fn table_name(table: u64) -> String {
    format!("records{table}")
}

/// The first `columns` columns of a record: printable, and hard to compress, as those of YCSB.
pub(crate) fn fields(record: u64, version: u64, columns: usize) -> Vec<String> {
    (0..columns).map(|column| field(record, version, column)).collect()
}

fn field(record: u64, version: u64, column: usize) -> String {
    let mut text = String::with_capacity(COLUMN_BYTES);
    if column == 0 {
        text.push_str(&format!("{version:0VERSION_DIGITS$}"));
    }
    let mut number = hash_bytes(&record.to_le_bytes(), version ^ (column as u64) << 56);
    while text.len() < COLUMN_BYTES {
        // Six bits a character, ten characters a number; the next number is made of all bits of this one, or columns become alike.
        for place in 0..10.min(COLUMN_BYTES - text.len()) {
            text.push(char::from(ALPHABET[(number >> (6 * place) & 63) as usize]));
        }
        number = hash_bytes(&number.to_le_bytes(), record);
    }
    text
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The version in the first column.
///
/// # Errors
/// `Corrupt` if it is not one of ours.
pub(crate) fn version_of(first: &str) -> Result<u64> {
    let digits = first.get(..VERSION_DIGITS).and_then(|digits| digits.parse().ok());
    digits.ok_or_else(|| Error::corrupt("a record does not begin with its version"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_six_characters_come_twice_in_some_records() {
        let fields: Vec<String> = (0..20).flat_map(|record| fields(record, 1, COLUMNS)).collect();
        // Where the versions are over; six characters have 36 bits, so that chance repeats hardly any of 20,000.
        let pieces = |field: &String| -> Vec<String> {
            field.as_bytes()[VERSION_DIGITS..]
                .windows(6)
                .map(|piece| String::from_utf8_lossy(piece).into())
                .collect()
        };
        let all: Vec<String> = fields.iter().flat_map(pieces).collect();
        let distinct: HashSet<&String> = all.iter().collect();
        assert!(all.len() - distinct.len() <= 1, "{} of {} pieces", distinct.len(), all.len());
    }

    #[test]
    fn a_record_is_a_thousand_bytes_and_says_its_version() {
        let fields = fields(7, 42, COLUMNS);
        assert!(fields.iter().all(|field| field.len() == COLUMN_BYTES));
        assert_eq!(version_of(&fields[0]).unwrap(), 42);
        assert!(fields[1] != self::fields(7, 43, 2)[1] && fields[1] != self::fields(8, 42, 2)[1]);
        assert!(version_of("short").is_err());
    }
}
