//! A range table as bytes, for coordinators that keep it and for dendrites that send it. See
//! [`docs/format/range-table.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/range-table.md).

use std::collections::BTreeSet;

use crate::error::{Error, Result};

use super::RangeTable;
use crate::cache_model::RangeId;
use crate::interval::Cut;
use crate::range_key::RangeKey;
use lacuna_base::wire::{Reader, write_bytes, write_number};

const VERSION: u8 = 2;
/// The subject of error messages.
const ABOUT: &str = "a range table";

type Starts = Vec<(Cut<RangeKey>, RangeId)>;

impl RangeTable {
    /// The table as bytes; the same table has the same bytes everywhere.
    ///
    /// ```
    /// use lacuna_cache_protocol::{Cut, RangeTable};
    ///
    /// let table = RangeTable::new(1).split(0, Cut::Before(100.into())).expect("100 is inside");
    /// assert_eq!(RangeTable::from_bytes(&table.to_bytes())?, table);
    /// # Ok::<(), lacuna_cache_protocol::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        write_number(&mut bytes, self.version);
        write_number(&mut bytes, self.next.into());
        write_number(&mut bytes, self.domains.len() as u64);
        for (mark, starts) in self.marks.iter().zip(&self.domains) {
            bytes.extend_from_slice(&mark.to_le_bytes());
            write_number(&mut bytes, starts.len() as u64);
            for (cut, range) in starts {
                write_cut(&mut bytes, cut);
                write_number(&mut bytes, range.0.into());
            }
        }
        let check = crc32c::crc32c(&bytes);
        bytes.extend_from_slice(&check.to_le_bytes());
        bytes
    }

    /// The table in `bytes`.
    ///
    /// # Errors
    /// `Corrupt` if they are truncated, damaged or inconsistent, `Unsupported` if they are of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (content, check) = bytes.split_last_chunk::<4>().ok_or_else(|| malformed("length"))?;
        if u32::from_le_bytes(*check) != crc32c::crc32c(content) {
            return Err(malformed("checksum"));
        }
        let Some((&VERSION, rest)) = content.split_first() else {
            return Err(Error::unsupported(
                "a range table was written by another version of this program: stop all processes that use it, remove it, and have the ranges cut anew",
            ));
        };
        let mut reader = Reader::new(rest, ABOUT);
        let table = read_table(&mut reader)?;
        if reader.is_at_end() { Ok(table) } else { Err(malformed("end")) }
    }
}

fn write_cut(bytes: &mut Vec<u8>, cut: &Cut<RangeKey>) {
    match cut {
        Cut::Before(key) => {
            bytes.push(1);
            write_bytes(bytes, key.as_bytes());
        }
        Cut::After(key) => {
            bytes.push(2);
            write_bytes(bytes, key.as_bytes());
        }
        Cut::Least | Cut::Greatest => bytes.push(0),
    }
}

fn read_table(reader: &mut Reader<'_>) -> Result<RangeTable> {
    let version = reader.number()?;
    let next = reader.small()?;
    let domain_count = reader.length()?;
    if domain_count > RangeTable::MAX_DOMAINS {
        return Err(malformed("domains"));
    }
    let (mut marks, mut domains) = (Vec::new(), Vec::new());
    for _ in 0..domain_count {
        marks.push(u64::from_le_bytes(reader.fixed()?));
        domains.push(read_starts(reader, next)?);
    }
    Ok(RangeTable { version, next, marks, domains })
}

/// Starts ascend, the first is the least cut, and a range starts once.
fn read_starts(reader: &mut Reader<'_>, next: u32) -> Result<Starts> {
    let count = reader.number()?;
    let (mut starts, mut seen): (Starts, _) = (Vec::new(), BTreeSet::new());
    for place in 0..count {
        let cut = read_cut(reader)?;
        let range = reader.small()?;
        let ascends = starts.last().is_none_or(|(before, _)| *before < cut);
        if !ascends || (place == 0) != (cut == Cut::Least) || range >= next || !seen.insert(range) {
            return Err(malformed("cut"));
        }
        starts.push((cut, RangeId(range)));
    }
    if starts.is_empty() { Err(malformed("first cut")) } else { Ok(starts) }
}

fn read_cut(reader: &mut Reader<'_>) -> Result<Cut<RangeKey>> {
    let kind = reader.byte()?;
    let mut key = || reader.bytes().map(RangeKey::from_bytes);
    match kind {
        0 => Ok(Cut::Least),
        1 => Ok(Cut::Before(key()?)),
        2 => Ok(Cut::After(key()?)),
        _ => Err(malformed("kind of a cut")),
    }
}

fn malformed(what: &str) -> Error {
    Reader::new(&[], ABOUT).malformed(what).into()
}

#[cfg(test)]
mod tests {
    use crate::error::ErrorKind;

    use super::*;

    fn table() -> RangeTable {
        let table = RangeTable::of_domains(vec![1, 0x0807]).split(0, Cut::Before(100.into())).unwrap();
        table.split(1, Cut::After(RangeKey::from_bytes(b"m"))).unwrap()
    }

    #[test]
    fn any_flipped_bit_and_any_cut_of_a_table_is_reported() {
        let bytes = table().to_bytes();
        assert_eq!(RangeTable::from_bytes(&bytes).unwrap(), table());
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(RangeTable::from_bytes(&damaged).unwrap_err().kind(), ErrorKind::Corrupt, "bit {bit}");
        }
        for len in 0..bytes.len() {
            assert!(RangeTable::from_bytes(&bytes[..len]).is_err(), "cut to {len}");
        }
    }

    #[test]
    fn a_table_of_version_2_is_read_by_every_later_build() {
        let golden =
            "0203030201000000000000000200000108000000000000006401070800000000000002000002016d0268f95c99";
        let hex: String = table().to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, golden);
    }

    #[test]
    fn what_no_table_says_is_refused() {
        let sealed = |content: &[u8]| [content, &crc32c::crc32c(content).to_le_bytes()].concat();
        let refused = [
            (1, &[0][..]),               // no range in a domain
            (1, &[1, 1, 1, 9, 0]),       // the first cut is not the least
            (1, &[1, 0, 1]),             // a number that was not given out
            (2, &[2, 0, 0, 1, 1, 9, 0]), // one range twice
            (1, &[1, 0, 0, 7]),          // bytes left over
        ];
        for (next, starts) in refused {
            let content = [&[2, 1, next, 1][..], &[0; 8], starts].concat();
            let content = content.as_slice();
            assert_eq!(RangeTable::from_bytes(&sealed(content)).unwrap_err().kind(), ErrorKind::Corrupt);
        }
        let newer = RangeTable::from_bytes(&sealed(&[9, 1])).unwrap_err();
        assert_eq!(newer.kind(), ErrorKind::Unsupported);
    }
}
