//! From bytes back to records. Bytes are believed as far as they make sense.

use lacuna_base::{Error, Result};

use super::record::{HAS_DOMAIN, HI_KIND, INSERT, LO_KIND, LogRecord, VERSION, check_of};
use crate::interval::{Cut, Interval};
use crate::range_key::RangeKey;
use crate::wire::Reader;

/// The records of a chunk.
///
/// # Errors
/// `Unsupported` for a record of another version, `Corrupt` for one that is cut, damaged or says what cannot be.
pub fn read_chunk(chunk: &[u8]) -> Result<Vec<LogRecord>> {
    let (mut records, mut rest) = (Vec::new(), chunk);
    while !rest.is_empty() {
        let mut reader = Reader::new(rest, ABOUT);
        let record = reader.record()?;
        let len = rest.len() - reader.rest().len();
        if reader.byte()? != check_of(&rest[..len]) {
            return Err(Error::corrupt(format!("record {} of a range cache log is damaged", records.len())));
        }
        records.push(record);
        rest = reader.rest();
    }
    Ok(records)
}

/// What errors name.
pub(super) const ABOUT: &str = "a record of a range cache log";

impl Reader<'_> {
    fn record(&mut self) -> Result<LogRecord> {
        let head = self.byte()?;
        if !(1..=VERSION).contains(&(head & 3)) {
            return Err(Error::unsupported("a record of a range cache log has another version"));
        }
        let lsn = self.number()?;
        let domain = if head & HAS_DOMAIN != 0 { self.number()? } else { 0 };
        let domain = usize::try_from(domain).map_err(|_| malformed("domain"))?;
        let kinds = (head >> LO_KIND & 3, head >> HI_KIND & 3);
        let interval = if head & 3 == 1 { self.ends_of_version_1(kinds)? } else { self.ends(kinds)? };
        let key = if head & INSERT != 0 { Some(self.bytes()?.to_vec()) } else { None };
        Ok(LogRecord { lsn, domain, interval, key })
    }

    fn ends_of_version_1(&mut self, (lo_kind, hi_kind): (u8, u8)) -> Result<Interval<RangeKey>> {
        let lo = if lo_kind > 0 { self.bytes()?.to_vec() } else { Vec::new() };
        let hi = self.hi_of_version_1(lo_kind, hi_kind, &lo)?;
        interval((lo_kind, &lo), (hi_kind, &hi))
    }

    fn hi_of_version_1(&mut self, lo_kind: u8, hi_kind: u8, lo: &[u8]) -> Result<Vec<u8>> {
        if hi_kind == 0 {
            return Ok(Vec::new());
        }
        if lo_kind > 0 { self.shared_and_rest(lo) } else { Ok(self.bytes()?.to_vec()) }
    }

    pub(super) fn shared_and_rest(&mut self, lo: &[u8]) -> Result<Vec<u8>> {
        let shared = self.length()?;
        let shared = lo.get(..shared).ok_or_else(|| malformed("shared bytes"))?;
        Ok([shared, self.bytes()?].concat())
    }
}

/// The interval between two ends, each of a kind and its bytes.
pub(super) fn interval(lo: (u8, &[u8]), hi: (u8, &[u8])) -> Result<Interval<RangeKey>> {
    let (lo, hi) = (cut(lo.0, lo.1, Cut::Least)?, cut(hi.0, hi.1, Cut::Greatest)?);
    Interval::between(lo, hi).ok_or_else(|| malformed("interval"))
}

fn cut(kind: u8, bytes: &[u8], end: Cut<RangeKey>) -> Result<Cut<RangeKey>> {
    match kind {
        0 => Ok(end),
        1 => Ok(Cut::Before(RangeKey::from_bytes(bytes))),
        2 => Ok(Cut::After(RangeKey::from_bytes(bytes))),
        _ => Err(malformed("kind of an end")),
    }
}

pub(super) fn malformed(what: &str) -> Error {
    Reader::new(&[], ABOUT).malformed(what)
}
