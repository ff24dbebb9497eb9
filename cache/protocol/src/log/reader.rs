//! From bytes back to records. The bytes are not trusted.

use crate::error::{Error, Result};

use super::ends::read_ends;
use super::record::{HAS_DOMAIN, HI_KIND, INSERT, LO_KIND, LogRecord, VERSION, check_of};
use crate::interval::{Cut, Interval};
use crate::range_key::RangeKey;
use lacuna_base::wire::Reader;

/// The records of a chunk.
///
/// # Errors
/// `Unsupported` for a record of another version, `Corrupt` for one that is truncated, damaged or inconsistent.
pub fn read_chunk(chunk: &[u8]) -> Result<Vec<LogRecord>> {
    let (mut records, mut rest) = (Vec::new(), chunk);
    while !rest.is_empty() {
        let mut reader = Reader::new(rest, ABOUT);
        let record = read_record(&mut reader)?;
        let len = rest.len() - reader.rest().len();
        if reader.byte()? != check_of(&rest[..len]) {
            return Err(Error::corrupt(format!("record {} of a range cache log is damaged", records.len())));
        }
        records.push(record);
        rest = reader.rest();
    }
    Ok(records)
}

/// The subject of error messages.
pub(super) const ABOUT: &str = "a record of a range cache log";

fn read_record(reader: &mut Reader<'_>) -> Result<LogRecord> {
    let head = reader.byte()?;
    if head & 3 != VERSION {
        return Err(Error::unsupported("a record of a range cache log has another version"));
    }
    let lsn = reader.number()?;
    let domain = if head & HAS_DOMAIN != 0 { reader.number()? } else { 0 };
    let domain = usize::try_from(domain).map_err(|_| malformed("domain"))?;
    let interval = read_ends(reader, (head >> LO_KIND & 3, head >> HI_KIND & 3))?;
    let key = if head & INSERT != 0 { Some(reader.bytes()?.to_vec()) } else { None };
    Ok(LogRecord { lsn, domain, interval, key })
}

/// The interval between two ends, each given by its kind and its bytes.
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
    Reader::new(&[], ABOUT).malformed(what).into()
}
