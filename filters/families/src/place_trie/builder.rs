//! Writes the leaves into blocks.

use lacuna_base::LongPlace;
use lacuna_succinct::bytes::BitWriter;

use super::codec::{BLOCK_BYTES, COUNT_BITS, HEADER_BYTES, MAX_TAIL, SHARED_BITS, encode_header};
use super::leaves::{Cut, Leaf, branches, leaves};
use super::symbols::{Counts, Encoder};
use crate::integer_build::TooSmall;

/// Bits of a full block.
#[expect(clippy::cast_possible_truncation, reason = "a few hundred bytes")]
const BLOCK_BITS: u32 = 8 * BLOCK_BYTES as u32;

/// Places of ascending keys, each of at most this many bits that are not zeros.
pub(super) struct Places<'a> {
    pub(super) len: usize,
    pub(super) max_bits: u32,
    pub(super) place: &'a dyn Fn(usize) -> LongPlace,
}

impl Places<'_> {
    /// Bits that each place shares with the next one.
    pub(super) fn shared(&self) -> Vec<u16> {
        let mut before = None;
        let mut shared = Vec::with_capacity(self.len.saturating_sub(1));
        for index in 0..self.len {
            let place = (self.place)(index);
            let bits = before.replace(place).map(|before: LongPlace| before.shared_bits(&place));
            shared.extend(bits.map(|bits| u16::try_from(bits.min(self.max_bits)).expect("at most 512")));
        }
        shared
    }
}

/// The leaves of a trie without their bits, and the code for what they share.
struct Plan {
    leaves: Vec<Leaf>,
    encoder: Encoder,
    cut: Cut,
}

impl Plan {
    fn of(shared: &[u16], cut: Cut) -> Self {
        let stay = branches(shared, cut);
        let leaves: Vec<Leaf> = leaves(shared, &stay).collect();
        let mut counts = Counts::new();
        leaves.iter().for_each(|leaf| counts.note(leaf.before, leaf.after));
        Self { leaves, encoder: Encoder::new(&counts), cut }
    }

    /// Bits of `leaf` as the first of a block, beside its own, and as another one.
    fn leaf_bits(&self, leaf: Leaf, is_first: bool) -> u32 {
        let (code, bits) = (self.encoder.bits(leaf.before, leaf.after), leaf.bits(self.cut));
        match is_first {
            true => COUNT_BITS + SHARED_BITS + code + bits,
            false => code + bits.saturating_sub(leaf.before + 1),
        }
    }

    /// The leaves of each block, and the bits that they take.
    fn blocks(&self) -> impl Iterator<Item = (&[Leaf], u32)> {
        let mut left = &self.leaves[..];
        std::iter::from_fn(move || {
            let mut bits = self.leaf_bits(*left.first()?, true);
            let mut count = 1;
            while let Some(&next) = left.get(count).filter(|_| count + 1 < 1 << COUNT_BITS) {
                let more = self.leaf_bits(next, false);
                if bits + more > BLOCK_BITS {
                    break;
                }
                bits += more;
                count += 1;
            }
            let (block, rest) = left.split_at(count);
            left = rest;
            Some((block, bits))
        })
    }

    /// Bytes of the body.
    fn bytes(&self) -> usize {
        let (mut count, mut last_bits) = (0, 0);
        self.blocks().for_each(|(_, bits)| (count, last_bits) = (count + 1, bits));
        HEADER_BYTES + (count - 1) * BLOCK_BYTES + last_bits.div_ceil(8) as usize
    }

    fn write(&self, places: &Places<'_>) -> Vec<u8> {
        let mut body = encode_header(self.cut.tail, self.cut.max_bits, self.encoder.bytes());
        for (number, (block, _)) in self.blocks().enumerate() {
            body.resize(HEADER_BYTES + number * BLOCK_BYTES, 0);
            let mut writer = BitWriter::new(&mut body);
            let count = u64::try_from(block.len()).expect("a block has fewer than 2^12 leaves");
            writer.push(count, COUNT_BITS);
            writer.push(u64::from(block[0].before), SHARED_BITS);
            for (index, leaf) in block.iter().enumerate() {
                self.encoder.push(&mut writer, leaf.before, leaf.after);
                let start = if index == 0 { 0 } else { leaf.before + 1 };
                push_bits(&mut writer, &(places.place)(leaf.key), start, leaf.bits(self.cut));
            }
            writer.finish();
        }
        body
    }
}

/// Appends the bits of `place` from `start` to `end`.
fn push_bits(writer: &mut BitWriter<'_>, place: &LongPlace, mut start: u32, end: u32) {
    while start < end {
        let width = (end - start).min(u64::BITS);
        writer.push(place.bits(start, width), width);
        start += width;
    }
}

/// The body of at most `max_bytes` without edges of more than `edge` bits for each branch below, with the given tails or the longest that
/// fit.
pub(super) fn write_body(
    places: &Places<'_>,
    edge: u32,
    tail: Option<u32>,
    max_bytes: usize,
) -> Result<Vec<u8>, TooSmall> {
    let (shared, max_bits) = (places.shared(), places.max_bits);
    let plan = |tail: u32| Plan::of(&shared, Cut { edge, tail, max_bits });
    let plan = match tail {
        Some(tail) => plan(tail),
        None => with_longest_tail(plan, max_bytes),
    };
    let smallest_bytes = plan.bytes();
    if smallest_bytes > max_bytes { Err(TooSmall { smallest_bytes }) } else { Ok(plan.write(places)) }
}

/// The plan with the longest tail whose body has at most `max_bytes`; the one without a tail if it is too large.
fn with_longest_tail(plan: impl Fn(u32) -> Plan, max_bytes: usize) -> Plan {
    let (mut fits, mut too_long, mut best) = (0, MAX_TAIL + 1, plan(0));
    while too_long - fits > 1 {
        // Most tails are short.
        let middle =
            if too_long > MAX_TAIL { (2 * fits).clamp(8, MAX_TAIL) } else { fits.midpoint(too_long) };
        let longer = plan(middle);
        if longer.bytes() <= max_bytes { (fits, best) = (middle, longer) } else { too_long = middle }
    }
    best
}
