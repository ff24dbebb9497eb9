//! A buffered write as bytes: its touched intervals, as log records, and its command. See
//! [`docs/format/range-cache-buffered.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/range-cache-buffered.md).

use lacuna_cache_protocol::{Command, LogRecord, Write, read_chunk, write_chunk};
use lacuna_cache_protocol::{Error, Result};

/// Appends `write`, whose number is `lsn`, to `bytes`.
pub(crate) fn encode_write(bytes: &mut Vec<u8>, lsn: u64, write: &Write) {
    let record = |(domain, interval): &lacuna_cache_protocol::Touched| LogRecord {
        lsn,
        domain: *domain,
        interval: interval.clone(),
        key: None,
    };
    let records: Vec<LogRecord> = write.touched.iter().map(record).collect();
    let mut chunk = Vec::new();
    write_chunk(&mut chunk, &records);
    bytes.extend_from_slice(&lsn.to_le_bytes());
    bytes.extend_from_slice(&(chunk.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&chunk);
    bytes.extend_from_slice(write.command.as_bytes());
}

/// The number and the write in `bytes`.
///
/// # Errors
/// `Corrupt` if they are truncated or damaged, `Unsupported` if a record is newer.
pub(crate) fn decode_write(bytes: &[u8]) -> Result<(u64, Write)> {
    let cut = || Error::corrupt("a buffered write is cut short");
    let (lsn, rest) = bytes.split_first_chunk().ok_or_else(cut)?;
    let (len, rest) = rest.split_first_chunk().ok_or_else(cut)?;
    let len = usize::try_from(u64::from_le_bytes(*len)).map_err(|_| cut())?;
    let (chunk, command) = rest.split_at_checked(len).ok_or_else(cut)?;
    let touched = read_chunk(chunk)?.into_iter().map(|record| (record.domain, record.interval)).collect();
    Ok((u64::from_le_bytes(*lsn), Write { touched, command: Command::new(command) }))
}

#[cfg(test)]
mod tests {
    use lacuna_cache_protocol::Interval;

    use super::*;

    #[test]
    fn a_write_comes_back() {
        let write = Write { touched: vec![(0, Interval::point(20.into()))], command: Command::new(b"raise") };
        let mut bytes = Vec::new();
        encode_write(&mut bytes, 7, &write);
        assert_eq!(decode_write(&bytes).unwrap(), (7, write));
    }
}
