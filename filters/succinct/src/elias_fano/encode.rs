//! Writing a sequence: one pass over the values, slice by slice.

use super::directory;
use super::geometry::{Cut, Geometry, HEADER_BYTES, MAX_HEAVY, MAX_SLICE_BUCKETS_LOG2, encoded_len};
use super::layout::Header;
use crate::bytes::{BitWriter, PADDING_BYTES, address, low_mask};
use crate::packed::width_for;

/// Appends the sequence of `values`, strictly ascending and at most `last`, to `out`.
///
/// Takes [`encoded_len`] bytes at most; the same values, bound and geometry give the same bytes.
///
/// # Panics
/// If a value is above `last`, or if there are more than 2^43 values. Values out of order give a useless sequence.
pub fn encode(values: &[u64], last: u64, geometry: Geometry, out: &mut Vec<u8>) {
    assert!(values.last().is_none_or(|&value| value <= last), "a value is above the bound {last}");
    debug_assert!(values.is_sorted_by(|a, b| a < b), "values must ascend strictly");
    let count = values.len() as u64;
    let cut = Cut::choose(count, last, geometry);
    let start = out.len();
    out.reserve(encoded_len(count, last, geometry));
    let directory_bytes = usize::try_from(cut.directory_bytes()).expect("the directory fits memory");
    out.resize(start + HEADER_BYTES + directory_bytes, 0);

    let (light_counts, spills) = write_stream(values, cut, geometry.heavy, out);
    directory::write(&light_counts, &mut out[start + HEADER_BYTES..][..directory_bytes]);
    let spilled = spills.iter().map(|spill| spill.values.len() as u64).sum();
    let header = Header {
        len: count,
        last,
        spilled,
        spill_count: u32::try_from(spills.len()).expect("below 2^43 values / heavy"),
        heavy: geometry.heavy,
        low_bits: cut.low_bits,
        slice_buckets_log2: cut.slice_buckets_log2,
    };
    header.write(&mut out[start..start + HEADER_BYTES]);
    if !spills.is_empty() {
        write_spills(&spills, cut, out);
    }
    out.extend_from_slice(&[0; PADDING_BYTES]);
}

/// A heavy slice on its way to the spill area.
struct HeavySlice<'a> {
    slice: u64,
    values: &'a [u64],
}

/// Writes the records of all slices and gives the number of light values of each slice and the heavy slices.
fn write_stream<'a>(
    values: &'a [u64],
    cut: Cut,
    heavy: u32,
    out: &mut Vec<u8>,
) -> (Vec<u16>, Vec<HeavySlice<'a>>) {
    let slices = usize::try_from(cut.slices).expect("slices fit memory");
    let mut light_counts = Vec::with_capacity(slices);
    let mut spills = Vec::new();
    let mut high = HighPart::new(cut);
    let mut writer = BitWriter::new(out);
    let mut rest = values;
    for slice in 0..cut.slices {
        let count = high.fill(rest, slice, heavy as usize);
        if count <= heavy as usize {
            let (light, after) = rest.split_at(count);
            rest = after;
            high.write(count, &mut writer);
            write_lows(light, cut.low_bits, &mut writer);
            light_counts.push(u16::try_from(count).expect("at most `MAX_HEAVY`"));
        } else {
            let end = rest.partition_point(|&value| cut.slice_of(value) == slice);
            let (values, after) = rest.split_at(end);
            rest = after;
            high.clear();
            high.write(0, &mut writer);
            spills.push(HeavySlice { slice, values });
            light_counts.push(0);
        }
    }
    writer.finish();
    (light_counts, spills)
}

fn write_lows(values: &[u64], low_bits: u32, writer: &mut BitWriter<'_>) {
    let mask = low_mask(low_bits);
    for &value in values {
        writer.push(value & mask, low_bits);
    }
}

/// Words of the largest high part of a light slice, and one for the value that shows that a slice is heavy.
const HIGH_WORDS: usize = ((1 << MAX_SLICE_BUCKETS_LOG2) + MAX_HEAVY as usize).div_ceil(64) + 1;

/// The high part of one slice, with a one for each value until it is written inverted.
struct HighPart {
    cut: Cut,
    words: [u64; HIGH_WORDS],
}

impl HighPart {
    fn new(cut: Cut) -> Self {
        Self { cut, words: [0; HIGH_WORDS] }
    }

    /// Marks the values of `slice` at the front of `values` and counts them, up to `heavy + 1`.
    fn fill(&mut self, values: &[u64], slice: u64, heavy: usize) -> usize {
        let first_bucket = slice << self.cut.slice_buckets_log2;
        let buckets = 1 << self.cut.slice_buckets_log2;
        let mut count = 0;
        for &value in values.iter().take(heavy + 1) {
            let bucket = (value >> self.cut.low_bits).wrapping_sub(first_bucket);
            if bucket >= buckets {
                break;
            }
            let place = address(bucket) + count;
            self.words[place / 64] |= 1 << (place % 64);
            count += 1;
        }
        count
    }

    /// Writes the marks of `count` values inverted and forgets them.
    fn write(&mut self, count: usize, writer: &mut BitWriter<'_>) {
        let bits = (1 << self.cut.slice_buckets_log2) + count;
        for (index, word) in self.words[..bits.div_ceil(64)].iter_mut().enumerate() {
            let width = (bits - index * 64).min(64);
            let mask = u64::MAX >> (64 - width);
            writer.push(!*word & mask, u32::try_from(width).expect("at most 64"));
            *word = 0;
        }
    }

    fn clear(&mut self) {
        self.words = [0; HIGH_WORDS];
    }
}

/// Writes the spill area: length of the data, directory, data.
fn write_spills(spills: &[HeavySlice<'_>], cut: Cut, out: &mut Vec<u8>) {
    let mut data = Vec::new();
    let mut directory = Vec::new();
    let mut before = 0_u64;
    for spill in spills {
        for field in [spill.slice, data.len() as u64, before] {
            directory.extend_from_slice(&field.to_le_bytes());
        }
        before += spill.values.len() as u64;
        write_spill(spill, cut, &mut data);
    }
    out.extend_from_slice(&(data.len() as u64).to_le_bytes());
    out.extend_from_slice(&directory);
    out.extend_from_slice(&data);
}

/// Writes the table of one heavy slice and its low parts.
fn write_spill(spill: &HeavySlice<'_>, cut: Cut, data: &mut Vec<u8>) {
    let width = width_for(spill.values.len() as u64);
    let first_bucket = spill.slice << cut.slice_buckets_log2;
    let mut writer = BitWriter::new(data);
    let mut end = 0;
    for bucket in first_bucket..first_bucket + (1 << cut.slice_buckets_log2) {
        end += spill.values[end..].partition_point(|&value| value >> cut.low_bits <= bucket);
        writer.push(end as u64, width);
    }
    write_lows(spill.values, cut.low_bits, &mut writer);
    writer.finish();
}

impl Cut {
    fn slice_of(self, value: u64) -> u64 {
        value >> self.low_bits >> self.slice_buckets_log2
    }
}
