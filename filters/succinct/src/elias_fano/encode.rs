//! Writing a sequence: one pass over the values, slice by slice; or several at once, each over the values of some slices.

use std::ops::Range;

use super::directory;
use super::geometry::{Cut, Geometry, HEADER_BYTES, MAX_HEAVY, MAX_SLICE_BUCKETS_LOG2, encoded_len};
use super::layout::Header;
use crate::bytes::{BitWriter, PADDING_BYTES, address, bits_at, low_half, low_mask};
use crate::packed::width_for;
use crate::threads::on_threads;

/// Appends the sequence of `values`, strictly ascending and at most `last`, to `out`.
///
/// Takes [`encoded_len`] bytes at most; the same values, bound and geometry give the same bytes.
///
/// # Panics
/// If a value is above `last`, or if there are more than 2^43 values. Values out of order give a useless sequence.
pub fn encode(values: &[u64], last: u64, geometry: Geometry, out: &mut Vec<u8>) {
    let plan = Plan::new(values.len(), values.last().copied(), last, geometry);
    debug_assert!(values.is_sorted_by(|a, b| a < b), "values must ascend strictly");
    let start = plan.begin(out);
    let stream = write_stream(values, 0..plan.cut.slices, plan, 0, out);
    plan.finish(start, &[stream], out);
}

/// As [`encode`], with the same bytes, for values in `runs` that follow one another: each run is encoded on a thread of its own.
/// Where a run begins in the middle of a slice, these values are moved to the run before.
///
/// # Panics
/// As `encode`.
pub fn encode_runs(mut runs: Vec<Vec<u64>>, last: u64, geometry: Geometry, out: &mut Vec<u8>) {
    runs.retain(|run| !run.is_empty());
    if let [] | [_] = &runs[..] {
        return encode(runs.first().map_or(&[][..], Vec::as_slice), last, geometry, out);
    }
    let count = runs.iter().map(Vec::len).sum();
    let plan = Plan::new(count, runs.last().and_then(|run| run.last().copied()), last, geometry);
    debug_assert!(
        runs.windows(2).all(|pair| pair[0].last() < pair[1].first()),
        "runs must follow one another"
    );
    let pieces = whole_slices(&mut runs, plan.cut);
    let streams = on_threads(pieces.len(), |index| {
        let (values, slices) = &pieces[index];
        let all_bytes = address(plan.cut.stream_bits(plan.count) / 8);
        let mut bytes = Vec::with_capacity(all_bytes / pieces.len() + all_bytes / 64);
        let before = pieces[..index].iter().map(|(values, _)| values.len() as u64).sum();
        let stream = write_stream(values, slices.clone(), plan, plan.phase(slices.start, before), &mut bytes);
        (bytes, stream)
    });
    let start = plan.begin(out);
    let mut bits = 0;
    for (bytes, stream) in &streams {
        bits = append_bits(bytes, stream, bits, out);
    }
    let streams: Vec<Stream<'_>> = streams.into_iter().map(|(_, stream)| stream).collect();
    plan.finish(start, &streams, out);
}

/// The values of each run with the slices that it writes: all values of a slice stand in one run, and every slice is written once.
fn whole_slices(runs: &mut [Vec<u64>], cut: Cut) -> Vec<(&[u64], Range<u64>)> {
    let mut starts = vec![0; runs.len()];
    let mut owner = 0;
    for next in 1..runs.len() {
        let shared = runs[owner].last().map(|&value| cut.slice_of(value));
        let moved = runs[next].partition_point(|&value| Some(cut.slice_of(value)) == shared);
        let (before, after) = runs.split_at_mut(next);
        before[owner].extend_from_slice(&after[0][..moved]);
        starts[next] = moved;
        if moved < after[0].len() {
            owner = next;
        }
    }
    let values =
        runs.iter().zip(starts).map(|(run, start)| &run[start..]).filter(|values| !values.is_empty());
    let mut pieces: Vec<(&[u64], Range<u64>)> = values.map(|values| (values, 0..cut.slices)).collect();
    for next in 1..pieces.len() {
        let first = cut.slice_of(pieces[next].0[0]);
        pieces[next - 1].1.end = first;
        pieces[next].1.start = first;
    }
    pieces
}

/// Appends a stream, whose bytes are `bytes`, to the `bits` bits at the end of `out`; gives the bits of both.
fn append_bits(bytes: &[u8], stream: &Stream<'_>, bits: u64, out: &mut Vec<u8>) -> u64 {
    let used = (bits % 8) as u32;
    let new_bits = stream.bits - u64::from(stream.phase);
    if used == stream.phase {
        let shared = usize::from(used > 0);
        for (last, first) in out.iter_mut().next_back().into_iter().zip(&bytes[..shared]) {
            *last |= first;
        }
        out.extend_from_slice(&bytes[shared..]);
        return bits + new_bits;
    }
    // A slice before it is heavy, so that it starts elsewhere than was expected.
    let begun = if used > 0 { out.pop() } else { None };
    let mut writer = BitWriter::new(out);
    writer.push(begun.map_or(0, u64::from), used);
    let mut at = u64::from(stream.phase);
    while at < stream.bits {
        let width = low_half((stream.bits - at).min(64));
        writer.push(bits_at(bytes, at, width), width);
        at += u64::from(width);
    }
    writer.finish();
    bits + new_bits
}

/// What is known of a sequence before it is written.
#[derive(Debug, Clone, Copy)]
struct Plan {
    count: u64,
    last: u64,
    geometry: Geometry,
    cut: Cut,
}

impl Plan {
    fn new(count: usize, largest: Option<u64>, last: u64, geometry: Geometry) -> Self {
        assert!(largest.is_none_or(|largest| largest <= last), "a value is above the bound {last}");
        let count = count as u64;
        Self { count, last, geometry, cut: Cut::choose(count, last, geometry) }
    }

    fn directory_bytes(&self) -> usize {
        usize::try_from(self.cut.directory_bytes()).expect("the directory fits memory")
    }

    /// The bit of its first byte at which the record of `slice` starts, if none of the `before` values before it is in a heavy slice.
    fn phase(&self, slice: u64, before: u64) -> u32 {
        let values_bits = before.wrapping_mul(u64::from(self.cut.low_bits) + 1);
        ((slice << self.cut.slice_buckets_log2).wrapping_add(values_bits) % 8) as u32
    }

    /// Makes room for header and directory at the end of `out`, where they start.
    fn begin(&self, out: &mut Vec<u8>) -> usize {
        let start = out.len();
        out.reserve(encoded_len(self.count, self.last, self.geometry));
        out.resize(start + HEADER_BYTES + self.directory_bytes(), 0);
        start
    }

    /// Writes header and directory at `start`, and what stands after the stream.
    fn finish(&self, start: usize, streams: &[Stream<'_>], out: &mut Vec<u8>) {
        let place = &mut out[start + HEADER_BYTES..][..self.directory_bytes()];
        match streams {
            [stream] => directory::write(&stream.light_counts, place),
            _ => {
                let counts: Vec<&[u16]> = streams.iter().map(|stream| &stream.light_counts[..]).collect();
                directory::write(&counts.concat(), place);
            }
        }
        let spills: Vec<&HeavySlice<'_>> = streams.iter().flat_map(|stream| &stream.spills).collect();
        let spilled = spills.iter().map(|spill| spill.values.len() as u64).sum();
        let header = Header {
            len: self.count,
            last: self.last,
            spilled,
            spill_count: u32::try_from(spills.len()).expect("below 2^43 values / heavy"),
            heavy: self.geometry.heavy,
            low_bits: self.cut.low_bits,
            slice_buckets_log2: self.cut.slice_buckets_log2,
        };
        header.write(&mut out[start..start + HEADER_BYTES]);
        if !spills.is_empty() {
            write_spills(&spills, self.cut, out);
        }
        out.extend_from_slice(&[0; PADDING_BYTES]);
    }
}

/// A heavy slice on its way to the spill area.
struct HeavySlice<'a> {
    slice: u64,
    values: &'a [u64],
}

/// The records of consecutive slices.
struct Stream<'a> {
    /// Zero bits before the first record.
    phase: u32,
    /// All bits, those too.
    bits: u64,
    /// Light values of each slice.
    light_counts: Vec<u16>,
    spills: Vec<HeavySlice<'a>>,
}

/// Appends the records of `slices`, whose values are `values`, to `out`, after `phase` zero bits.
fn write_stream<'a>(
    values: &'a [u64],
    slices: Range<u64>,
    plan: Plan,
    phase: u32,
    out: &mut Vec<u8>,
) -> Stream<'a> {
    let (cut, heavy) = (plan.cut, plan.geometry.heavy);
    let slice_count = usize::try_from(slices.end - slices.start).expect("slices fit memory");
    let mut light_counts = Vec::with_capacity(slice_count);
    let mut spills = Vec::new();
    let mut high = HighPart::new(cut);
    let mut writer = BitWriter::new(out);
    writer.push(0, phase);
    let mut rest = values;
    for slice in slices {
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
    Stream { phase, bits: writer.finish(), light_counts, spills }
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
fn write_spills(spills: &[&HeavySlice<'_>], cut: Cut, out: &mut Vec<u8>) {
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
