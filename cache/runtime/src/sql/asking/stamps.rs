//! Whether a result of several tables is still true.
//!
//! The stamp of a table is a random number that is cached as the result of a question over the whole table. So every write
//! deletes it before the database has the write, and the next reader makes another under a lease on the whole table, when
//! the database has all buffered writes. A result is kept with the stamps of the joined tables that were read before it
//! was made, and is an answer for readers that find the same stamps: no write lies between two readings of one stamp.
//!
//! A table of several ranges has a stamp for each.

use std::sync::Arc;

use lacuna_base::wire::{Reader, Writer};
use lacuna_cache_protocol::{Error, Form, Query, Result, Stamps, Value};

use super::question::Question;
use super::refused;
use crate::sql::registry::Registered;

/// Most stamps of one statement.
const MAX_STAMPS: usize = 64;

/// The stamps of these tables now.
pub(crate) async fn stamps(tables: &[Arc<Registered>]) -> Result<Stamps> {
    let mut writer = Writer::default();
    for table in tables {
        writer.bytes(table.schema.table.as_bytes());
        for interval in table.requests.pieces(0) {
            let query = Query {
                domain: 0,
                interval,
                form: Form::All,
                fingerprint: table.schema.fingerprint(),
                question: Some(Question::stamp().to_bytes()),
                stamps: Stamps::NONE,
            };
            writer.bytes(table.requests.read(query).await?.as_bytes());
        }
    }
    Ok(Stamps::new(writer.as_bytes()))
}

/// Refuses tables with too many stamps.
pub(crate) fn checked(tables: &[Arc<Registered>]) -> Result<()> {
    let count: usize = tables.iter().map(|table| table.requests.pieces(0).len()).sum();
    if count > MAX_STAMPS {
        return Err(refused(format!(
            "the tables that it joins have {count} ranges, of at most {MAX_STAMPS}: each would be asked at every read"
        )));
    }
    Ok(())
}

/// A new stamp.
pub(crate) fn new_stamp() -> Result<[u8; 16]> {
    let mut stamp = [0; 16];
    getrandom::fill(&mut stamp).map_err(|error| Error::unavailable(error.to_string()))?;
    Ok(stamp)
}

/// A result with the stamps that its reader had.
pub(crate) fn stamped(stamps: &Stamps, rows: Value) -> Value {
    if stamps.as_bytes().is_empty() {
        return rows;
    }
    let mut writer = Writer::default();
    writer.bytes(stamps.as_bytes());
    writer.fixed(rows.as_bytes());
    writer.into_bytes().into()
}

/// The result in a value that was made under these stamps.
pub(crate) fn made_under(stamps: &Stamps, value: &Value) -> Option<Value> {
    if stamps.as_bytes().is_empty() {
        return Some(value.clone());
    }
    rows_under(stamps, value).map(Value::new)
}

/// Whether a value was.
pub(crate) fn is_under(stamps: &Stamps, value: &Value) -> bool {
    stamps.as_bytes().is_empty() || rows_under(stamps, value).is_some()
}

fn rows_under<'a>(stamps: &Stamps, value: &'a Value) -> Option<&'a [u8]> {
    let mut reader = Reader::new(value.as_bytes(), "a result of several tables");
    let shown = reader.bytes().ok()?;
    (shown == stamps.as_bytes()).then(|| reader.rest())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_one_under_its_own_stamps_alone() {
        let (rows, one, other) = (Value::new(b"rows"), Stamps::new(b"1"), Stamps::new(b"2"));
        let value = stamped(&one, rows.clone());
        assert_eq!(made_under(&one, &value), Some(rows.clone()));
        assert_eq!((made_under(&other, &value), made_under(&one, &rows)), (None, None));
        assert_eq!(made_under(&Stamps::NONE, &stamped(&Stamps::NONE, rows.clone())), Some(rows));
        assert_ne!(new_stamp().unwrap(), new_stamp().unwrap());
    }
}
