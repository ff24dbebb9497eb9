//! The two ends of an interval, in a few bytes.
//!
//! Ends of equal length are usually close to each other: the lower end is followed by the difference of the last 8
//! bytes of the upper end. `[18, 22]` over 8-byte integers is a byte of lengths, 18, and a 4. Other pairs share
//! their common prefix.

use crate::error::Result;

use super::reader::{interval, malformed};
use crate::interval::Interval;
use crate::range_key::RangeKey;
use lacuna_base::wire::{Reader, write_bytes, write_number};

/// In the low half of the byte of lengths: the length of the first end follows as a number.
const LONG: u8 = 15;
/// In its high half: the upper end is its common prefix with the lower one, and further bytes.
const SHARES: u8 = 9;

/// Appends the ends that have values; their kinds are written elsewhere.
pub(super) fn write_ends(chunk: &mut Vec<u8>, interval: &Interval<RangeKey>) {
    let (lo, hi) = (interval.lo().value(), interval.hi().value());
    let Some(first) = lo.or(hi).map(RangeKey::as_bytes) else { return };
    let step = lo.and(hi).map(|hi| step(first, hi.as_bytes()));
    let low = u8::try_from(first.len()).map_or(LONG, |len| len.min(LONG));
    chunk.push(low | step.map_or(0, |step| step.map_or(SHARES, bytes_of)) << 4);
    if low == LONG {
        write_number(chunk, first.len() as u64);
    }
    chunk.extend_from_slice(first);
    match (step, hi.map(RangeKey::as_bytes)) {
        (Some(Some(step)), _) => {
            chunk.extend_from_slice(&step.to_le_bytes()[..usize::from(bytes_of(step))]);
        }
        (Some(None), Some(hi)) => {
            let shared = first.iter().zip(hi).take_while(|(lo, hi)| lo == hi).count();
            write_number(chunk, shared as u64);
            write_bytes(chunk, &hi[shared..]);
        }
        _ => {}
    }
}

/// The difference of `hi` and `lo`, if only the last 8 bytes differ.
fn step(lo: &[u8], hi: &[u8]) -> Option<u64> {
    let at = lo.len().saturating_sub(8);
    let alike = lo.len() == hi.len() && lo[..at] == hi[..at];
    alike.then(|| number(&hi[at..]).wrapping_sub(number(&lo[at..])))
}

/// At most 8 bytes, most significant first.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[expect(clippy::cast_possible_truncation, reason = "at most 8")]
const fn bytes_of(step: u64) -> u8 {
    (u64::BITS - step.leading_zeros()).div_ceil(8) as u8
}

/// Reads ends of these kinds.
pub(super) fn read_ends(reader: &mut Reader<'_>, (lo_kind, hi_kind): (u8, u8)) -> Result<Interval<RangeKey>> {
    if (lo_kind, hi_kind) == (0, 0) {
        return Ok(Interval::all());
    }
    let lengths = reader.byte()?;
    let len = if lengths & 15 == LONG { reader.length()? } else { usize::from(lengths & 15) };
    let first = reader.take(len)?.to_vec();
    match (lo_kind, hi_kind, lengths >> 4) {
        (0, kind, 0) => interval((0, &[]), (kind, &first)),
        (kind, 0, 0) => interval((kind, &first), (0, &[])),
        (0, _, _) | (_, 0, _) => Err(malformed("lengths")),
        (_, _, SHARES) => {
            let hi = read_shared_and_rest(reader, &first)?;
            interval((lo_kind, &first), (hi_kind, &hi))
        }
        (_, _, bytes) => {
            let hi = read_step(reader, &first, bytes)?;
            interval((lo_kind, &first), (hi_kind, &hi))
        }
    }
}

fn read_shared_and_rest(reader: &mut Reader<'_>, lo: &[u8]) -> Result<Vec<u8>> {
    let shared = reader.length()?;
    let shared = lo.get(..shared).ok_or_else(|| malformed("shared bytes"))?;
    Ok([shared, reader.bytes()?].concat())
}

fn read_step(reader: &mut Reader<'_>, lo: &[u8], bytes: u8) -> Result<Vec<u8>> {
    let step = reader.take(usize::from(bytes))?.iter().rev();
    let step = number(&step.copied().collect::<Vec<u8>>());
    let at = lo.len().saturating_sub(8);
    let hi = number(&lo[at..]).checked_add(step).ok_or_else(|| malformed("width"))?;
    let hi = hi.to_be_bytes();
    let (above, tail) = hi.split_at(8 - (lo.len() - at));
    if bytes > 8 || above.iter().any(|byte| *byte != 0) {
        return Err(malformed("width"));
    }
    Ok([&lo[..at], tail].concat())
}
