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
    let mut bits = hash_bytes(&record.to_le_bytes(), version ^ (column as u64) << 56);
    while text.len() < COLUMN_BYTES {
        // Six bits a character, ten characters a number.
        for _ in 0..10.min(COLUMN_BYTES - text.len()) {
            text.push(char::from(ALPHABET[(bits & 63) as usize]));
            bits >>= 6;
        }
        bits = hash_bytes(&bits.to_le_bytes(), text.len() as u64 ^ record);
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
    use super::*;

    #[test]
    fn a_record_is_a_thousand_bytes_and_says_its_version() {
        let fields = fields(7, 42, COLUMNS);
        assert!(fields.iter().all(|field| field.len() == COLUMN_BYTES));
        assert_eq!(version_of(&fields[0]).unwrap(), 42);
        assert!(fields[1] != self::fields(7, 43, 2)[1] && fields[1] != self::fields(8, 42, 2)[1]);
        assert!(version_of("short").is_err());
    }
}
