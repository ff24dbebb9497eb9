//! From a cached entry to its log record and back: what a new owner needs to find the entry again.
//!
//! The interval of a record is the interval that the entry answers for. Usually that is the interval of the query,
//! and the key is the fingerprint alone, without its trailing zero bytes; `[18, 22]` of an application without
//! fingerprints has an empty key. A full result with a limit answers for less: its key also holds the form and the
//! interval of the query. So does that of a query with a question, which ends with the question.

use crate::error::Result;
use lacuna_base::hash::hash_bytes;

use super::ends::{read_ends, write_ends};
use super::reader::{ABOUT, malformed};
use super::record::{LogRecord, kind};
use crate::interval::{Cut, Interval};
use crate::query::{Form, Query, Stamps};
use crate::range_key::RangeKey;
use lacuna_base::wire::{Reader, write_number};

/// Seed of the hash that spreads records over chunks.
const CHUNK_SEED: u64 = 0x6C6F_675F_6368_756E;

/// Keys of at most this many bytes are a fingerprint.
const FINGERPRINT_BYTES: usize = 8;

impl LogRecord {
    /// The record of an entry that answers for `covered`.
    pub fn of_entry(lsn: u64, query: &Query, covered: Interval<RangeKey>) -> Self {
        let key = if covered == query.interval && query.is_all_rows() {
            fingerprint(query.fingerprint)
        } else {
            key_of_part(query)
        };
        Self { lsn, domain: query.domain, interval: covered, key: Some(key) }
    }

    /// The query of the entry.
    ///
    /// # Errors
    /// `Corrupt` if the record is a deletion, or its key was not made by [`LogRecord::of_entry`].
    ///
    /// ```
    /// use lacuna_cache_protocol::{Form, Interval, LogRecord, Query};
    ///
    /// let ages = |lo: u64, hi: u64| Interval::closed(lo.into(), hi.into()).expect("lo <= hi");
    /// let first_3 = Query { form: Form::First(3), ..Query::all(0, ages(18, 60)) };
    /// let record = LogRecord::of_entry(7, &first_3, ages(18, 22));
    /// assert_eq!(record.query()?, first_3);
    /// # Ok::<(), lacuna_cache_protocol::Error>(())
    /// ```
    pub fn query(&self) -> Result<Query> {
        let key = self.key.as_deref().ok_or_else(|| malformed("key"))?;
        if key.len() <= FINGERPRINT_BYTES {
            let mut bytes = [0; FINGERPRINT_BYTES];
            bytes[..key.len()].copy_from_slice(key);
            let fingerprint = u64::from_le_bytes(bytes);
            return Ok(Query { fingerprint, ..Query::all(self.domain, self.interval.clone()) });
        }
        let mut reader = Reader::new(key, ABOUT);
        let fingerprint = reader.take(FINGERPRINT_BYTES)?.try_into().map_err(|_| malformed("key"))?;
        let head = reader.byte()?;
        let limit = reader.small()?;
        let interval = read_ends(&mut reader, (head >> 2 & 3, head >> 4 & 3))?;
        let question = Some(reader.rest()).filter(|bytes| !bytes.is_empty()).map(Into::into);
        let form = match head & 3 {
            0 => Form::All,
            1 => Form::First(limit),
            2 => Form::Last(limit),
            _ => return Err(malformed("form")),
        };
        let fingerprint = u64::from_le_bytes(fingerprint);
        // Stamps are in the value of the entry.
        let stamps = Stamps::NONE;
        Ok(Query { domain: self.domain, interval, form, fingerprint, question, stamps })
    }

    /// Which of `chunks` chunks takes the record: all records of an interval are in the same chunk.
    pub fn chunk(&self, chunks: u32) -> u32 {
        let mut place = vec![kind(self.interval.lo()) | kind(self.interval.hi()) << 2];
        write_number(&mut place, self.domain as u64);
        write_ends(&mut place, &self.interval);
        let chunk = hash_bytes(&place, CHUNK_SEED) % u64::from(chunks.max(1));
        u32::try_from(chunk).expect("a remainder is less than its divisor")
    }
}

fn fingerprint(fingerprint: u64) -> Vec<u8> {
    let bytes = fingerprint.to_le_bytes();
    let len = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    bytes[..len].to_vec()
}

fn key_of_part(query: &Query) -> Vec<u8> {
    let (form, limit) = match query.form {
        Form::All => (0, 0),
        Form::First(limit) => (1, limit),
        Form::Last(limit) => (2, limit),
    };
    let kind = |cut: &Cut<RangeKey>| kind(cut);
    let mut key = query.fingerprint.to_le_bytes().to_vec();
    key.push(form | kind(query.interval.lo()) << 2 | kind(query.interval.hi()) << 4);
    write_number(&mut key, u64::from(limit));
    write_ends(&mut key, &query.interval);
    key.extend(query.question.iter().flat_map(|question| question.iter()));
    key
}

#[cfg(test)]
mod tests {
    use std::ops::Bound::{Excluded, Unbounded};

    use super::*;

    #[test]
    fn entries_of_every_form_come_back() {
        let above = Interval::new(Excluded(RangeKey::from(10)), Unbounded).unwrap();
        for fingerprint in [0, 7, 1 << 63, u64::MAX] {
            for form in [Form::All, Form::First(3), Form::Last(u32::MAX)] {
                let query = Query { form, fingerprint, ..Query::all(2, above.clone()) };
                for last in [None, Some(RangeKey::from(17))] {
                    let covered = query.covered(last.as_ref());
                    for question in [None, Some(&[0u8][..]), Some(&[7u8; 300][..])] {
                        let question = question.map(std::sync::Arc::from);
                        let query = Query { question, ..query.clone() };
                        let record = LogRecord::of_entry(1, &query, covered.clone());
                        assert_eq!((record.query().unwrap(), &record.interval), (query, &covered));
                    }
                }
            }
        }
    }

    #[test]
    fn records_of_one_interval_lie_in_one_chunk_and_others_are_spread() {
        let ages = |lo: u64| Interval::closed(lo.into(), (lo + 4).into()).unwrap();
        let mut counts = [0u32; 64];
        for lo in 0..6_400u64 {
            let insert = LogRecord::of_entry(lo, &Query::all(0, ages(lo)), ages(lo));
            let delete = LogRecord { lsn: lo + 9, key: None, ..insert.clone() };
            assert_eq!(insert.chunk(64), delete.chunk(64));
            counts[insert.chunk(64) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (50..160).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_deletion_is_no_entry() {
        let record = LogRecord { lsn: 1, domain: 0, interval: Interval::all(), key: None };
        assert!(record.query().is_err());
    }
}
