//! Results of several tables: range 0 is the table whose interval is asked, and every other range one that is joined whole.
//!
//! The stamp of a table is the result of a question over it, another at each query of the store. A joined result shows the
//! stamps that its reader had, as rows.

use lacuna_cache_protocol::{Query, Rows, Stamps, StoreReply, Value};

use super::store::Store;
use super::table::{Row, decode, encode, select};

/// What joined queries ask.
pub(crate) const JOIN: &[u8] = b"join";
pub(crate) const STAMP: &[u8] = b"stamp";

/// Keys below are those of range 0.
pub(crate) const FIRST_JOINED: u64 = 8;
/// Keys from here on are those of stamps, which stand among rows.
const FIRST_STAMP: u64 = 1_000_000;

pub(crate) fn is_join(query: &Query) -> bool {
    query.question.as_deref() == Some(JOIN)
}

pub(crate) fn is_stamp(query: &Query) -> bool {
    query.question.as_deref() == Some(STAMP)
}

/// Keys that a result says something of.
pub(crate) fn covers(query: &Query, key: u64) -> bool {
    query.domain != 0 || query.interval.contains(&key.into()) || (is_join(query) && key >= FIRST_JOINED)
}

fn stamp_row(place: usize, stamp: u64) -> Row {
    Row { key: FIRST_STAMP + place as u64, version: 0, other: stamp }
}

fn numbers(stamps: &Stamps) -> Vec<u64> {
    stamps.as_bytes().chunks(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect()
}

/// The stamps that a value shows, and its rows.
pub(crate) fn parted(value: &Value) -> (Vec<u64>, Vec<Row>) {
    let (stamps, rows): (Vec<Row>, Vec<Row>) =
        decode(value).into_iter().partition(|row| row.key >= FIRST_STAMP);
    (stamps.iter().map(|row| row.other).collect(), rows)
}

/// Whether a settled value was made under the stamps of the query.
pub(crate) fn is_under(query: &Query, rows: &[Row]) -> bool {
    let shown = rows.iter().filter(|row| row.key >= FIRST_STAMP).map(|row| row.other);
    !is_join(query) || query.stamps.as_bytes().is_empty() || shown.eq(numbers(&query.stamps))
}

impl Store {
    /// What a question finds.
    pub(crate) fn asked(&mut self, query: &Query) -> StoreReply {
        let rows = if is_stamp(query) {
            self.stamps += 1;
            vec![stamp_row(0, self.stamps)]
        } else {
            let stamps = (0..).zip(numbers(&query.stamps)).map(|(place, stamp)| stamp_row(place, stamp));
            select(query, &self.rows).0.into_iter().chain(stamps).collect()
        };
        StoreReply::Rows(Rows { value: encode(&rows), is_empty: false, last: None })
    }
}
