//! Asking SNARF: which segment, then one block.

use lacuna_base::testing::cross;
use lacuna_base::{Envelope, Error, KeySpaceId, Result};
use lacuna_succinct::arch::{Isa, prefetch};
use lacuna_succinct::rice::RiceList;

use super::codec::{HEADER_BYTES, Header, Tables, VERSION};
use super::spline::Segment;
use crate::integer::{IntegerBody, asks_in_groups};
use crate::probes::note_probe;

/// Bytes of a cache line.
const LINE_BYTES: usize = 64;

/// A view of a SNARF filter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Snarf {
    header: Header,
    tables: Tables,
    /// First byte of the table of starts, and of the blocks.
    starts_offset: usize,
    code_offset: usize,
    code_bytes: usize,
    smallest: u64,
    largest: u64,
}

/// A range on its way through a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SnarfProbe {
    /// A knot, which is a key, lies in the range.
    Knot,
    /// Between two knots: these positions of the block whose list starts at bit `start`.
    Block {
        /// The block's list.
        list: RiceList,
        /// Its first bit, from the start of all blocks.
        start: u64,
        /// Position of the range's first key.
        first: u64,
        /// Position of the range's last key.
        last: u64,
    },
}

impl Snarf {
    /// The knot at the start of segment `block`.
    #[inline(always)]
    fn knot(&self, body: &[u8], block: u64) -> u64 {
        match block.checked_sub(1) {
            None => self.smallest,
            Some(_) if block > self.tables.knots.len() => self.largest,
            Some(index) => self.smallest.wrapping_add(self.tables.knots.get(&body[HEADER_BYTES..], index)),
        }
    }

    /// The segment whose first knot is the last one at or below `key`.
    #[inline(always)]
    fn segment_of(&self, body: &[u8], key: u64) -> u64 {
        let (offset, bytes) = (key.wrapping_sub(self.smallest), &body[HEADER_BYTES..]);
        let (mut segment, mut left) = (0, self.tables.knots.len());
        // Both outcomes of a comparison are as likely, so none of them is a branch.
        while left > 0 {
            let half = left.div_ceil(2);
            let is_behind = self.tables.knots.get(bytes, segment + half - 1) <= offset;
            segment += if is_behind { half } else { 0 };
            left -= half;
        }
        segment
    }

    /// The bit at which `block` starts; inside the code whatever the table says.
    #[inline(always)]
    fn start(&self, body: &[u8], block: u64) -> u64 {
        let start = match block.checked_sub(1) {
            None => 0,
            Some(index) => self.tables.starts.get(&body[self.starts_offset..], index),
        };
        start.min(self.code_bytes as u64 * 8)
    }
}

impl IntegerBody for Snarf {
    const VERSION: u16 = VERSION;
    type Probe = SnarfProbe;

    fn open(body: &[u8], envelope: &Envelope) -> Result<Self> {
        let header = Header::read(body)?;
        let tables = Tables::open(body, &header)?;
        let starts_offset = HEADER_BYTES + tables.knots.byte_len();
        let code_offset = starts_offset + tables.starts.byte_len();
        let code_bytes = body.len() - code_offset;
        let Envelope { smallest, largest, key_count, key_space, .. } = *envelope;
        // Several byte strings may be one integer.
        let is_counted = match key_space {
            KeySpaceId::U64 => header.count == key_count,
            KeySpaceId::Bytes => header.count <= key_count,
        };
        if smallest >= largest || !is_counted {
            return Err(Error::corrupt(
                "a SNARF of several keys has two ends and counts the keys of its envelope",
            ));
        }
        Ok(Self { header, tables, starts_offset, code_offset, code_bytes, smallest, largest })
    }

    #[inline(always)]
    fn prefetch(&self, _body: &[u8], _lo: u64, _hi: u64) {}

    #[inline(always)]
    fn prepare<I: Isa>(&self, _isa: I, body: &[u8], lo: u64, hi: u64) -> SnarfProbe {
        note_probe();
        let block = self.segment_of(body, hi);
        let knot = self.knot(body, block);
        if knot >= lo {
            cross("snarf: knot");
            return SnarfProbe::Knot;
        }
        let start = self.start(body, block);
        let list = RiceList::new(self.header.inner_keys(block), self.header.low_bits);
        let first_byte = self.code_offset + (start >> 3) as usize;
        prefetch(body, first_byte);
        prefetch(body, first_byte + LINE_BYTES);
        let segment = Segment::new(knot, self.knot(body, block + 1), self.header.positions);
        SnarfProbe::Block { list, start, first: segment.position(lo), last: segment.position(hi) }
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, _isa: I, body: &[u8], probe: SnarfProbe) -> bool {
        match probe {
            SnarfProbe::Knot => true,
            SnarfProbe::Block { list, start, first, last } => {
                list.any_in(&body[self.code_offset..], start, first, last)
            }
        }
    }

    fn rate_bound(&self, _range_len: u64) -> f64 {
        if self.header.is_exact { 0.0 } else { 1.0 }
    }

    asks_in_groups!();
}
