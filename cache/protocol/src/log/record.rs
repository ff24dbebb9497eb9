//! One record and its bytes.

use super::ends::write_ends;
use crate::interval::{Cut, Interval};
use crate::query::DomainId;
use crate::range_key::RangeKey;
use lacuna_base::wire::{write_bytes, write_number};

/// Version of the bytes.
pub(super) const VERSION: u8 = 1;
pub(super) const INSERT: u8 = 1 << 2;
pub(super) const HAS_DOMAIN: u8 = 1 << 3;
pub(super) const LO_KIND: u32 = 4;
pub(super) const HI_KIND: u32 = 6;

/// An interval that entered or left an index.
///
/// ```
/// use lacuna_cache_protocol::{Interval, LogRecord, RangeKey, read_chunk, write_chunk};
///
/// let interval = Interval::closed(RangeKey::from(18), RangeKey::from(22)).expect("18 <= 22");
/// let record = LogRecord { lsn: 300, domain: 0, interval, key: Some(b"k".to_vec()) };
/// let mut chunk = Vec::new();
/// write_chunk(&mut chunk, [&record]);
/// assert!(chunk.len() <= 18 + 1);
/// assert_eq!(read_chunk(&chunk)?, [record]);
/// # Ok::<(), lacuna_cache_protocol::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogRecord {
    /// Its number, ascending for the records of a range.
    pub lsn: u64,
    /// The domain of the interval.
    pub domain: DomainId,
    /// The interval.
    pub interval: Interval<RangeKey>,
    /// The key that entered; `None` if the interval left.
    pub key: Option<Vec<u8>>,
}

/// Appends records to a chunk.
pub fn write_chunk<'a>(chunk: &mut Vec<u8>, records: impl IntoIterator<Item = &'a LogRecord>) {
    for record in records {
        let start = chunk.len();
        write_record(chunk, record);
        let check = check_of(&chunk[start..]);
        chunk.push(check);
    }
}

fn write_record(chunk: &mut Vec<u8>, record: &LogRecord) {
    let (lo, hi) = (record.interval.lo(), record.interval.hi());
    let insert = if record.key.is_some() { INSERT } else { 0 };
    let domain = if record.domain > 0 { HAS_DOMAIN } else { 0 };
    chunk.push(VERSION | insert | domain | kind(lo) << LO_KIND | kind(hi) << HI_KIND);
    write_number(chunk, record.lsn);
    if record.domain > 0 {
        write_number(chunk, record.domain as u64);
    }
    write_ends(chunk, &record.interval);
    if let Some(key) = &record.key {
        write_bytes(chunk, key);
    }
}

pub(super) fn kind(cut: &Cut<RangeKey>) -> u8 {
    match cut {
        Cut::Least | Cut::Greatest => 0,
        Cut::Before(_) => 1,
        Cut::After(_) => 2,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low byte is meant")]
pub(super) fn check_of(bytes: &[u8]) -> u8 {
    crc32c::crc32c(bytes) as u8
}

#[cfg(test)]
mod tests {
    use std::ops::Bound::{self, Excluded, Included, Unbounded};

    use proptest::prelude::*;

    use super::*;
    use crate::log::read_chunk;

    fn bound() -> impl Strategy<Value = Bound<Vec<u8>>> {
        let bytes = || prop::collection::vec(any::<u8>(), 0..30);
        prop_oneof![bytes().prop_map(Included), bytes().prop_map(Excluded), Just(Unbounded)]
    }

    fn record() -> impl Strategy<Value = LogRecord> {
        let key = prop::option::of(prop::collection::vec(any::<u8>(), 0..20));
        (any::<u64>(), 0usize..300, bound(), bound(), key).prop_filter_map(
            "not empty",
            |(lsn, domain, lo, hi, key)| {
                let bound = |bound: Bound<Vec<u8>>| bound.map(|bytes| RangeKey::from_bytes(&bytes));
                let interval = Interval::new(bound(lo), bound(hi))?;
                Some(LogRecord { lsn, domain, interval, key })
            },
        )
    }

    proptest! {
        #[test]
        fn records_come_back(records in prop::collection::vec(record(), 0..10)) {
            let mut chunk = Vec::new();
            write_chunk(&mut chunk, &records);
            prop_assert_eq!(read_chunk(&chunk).unwrap(), records);
        }

        #[test]
        fn damaged_chunks_do_not_panic(records in prop::collection::vec(record(), 1..4), at in any::<usize>(), bit in 0u8..8) {
            let mut chunk = Vec::new();
            write_chunk(&mut chunk, &records);
            let cut = at % chunk.len();
            let whole = read_chunk(&chunk[..cut]).map_or(0, |read| read.len());
            prop_assert!(whole < records.len());
            chunk[cut] ^= 1 << bit;
            let _ = read_chunk(&chunk);
        }
    }

    fn size(lsn: u64, lo: u64, hi: u64) -> usize {
        let interval = Interval::closed(lo.into(), hi.into()).unwrap();
        let key = b"users/age/18:22".to_vec();
        let record = LogRecord { lsn, domain: 0, interval, key: Some(key.clone()) };
        let mut chunk = Vec::new();
        write_chunk(&mut chunk, [&record]);
        assert_eq!(read_chunk(&chunk).unwrap(), [record]);
        chunk.len() - key.len()
    }

    /// 18 bytes are enough if the number of the record and the width of the interval take at most 6 bytes
    /// together. Two ends that are 2^48 apart or more take 14 bytes, and then no encoding fits.
    #[test]
    fn a_record_takes_at_most_18_bytes_and_its_key() {
        for (lsn, width) in
            [(1 << 6, u64::from(u32::MAX)), (1 << 13, u64::from(u32::MAX)), (1 << 20, 0xFF_FFFF)]
        {
            assert!(size(lsn, 1 << 40, (1 << 40) + width) <= 18, "{lsn} {width}");
        }
        assert_eq!(size((1 << 28) - 1, 0x00FF_FFFF_FFFF_FFFF, 0x0100_0000_0000_FFFE), 18, "no shared byte");
        assert_eq!(size((1 << 14) - 1, 0, u64::MAX), 22, "the widest");
    }
}
