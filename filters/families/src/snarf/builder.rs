//! Building SNARF: choose the number of positions, map the keys, code the blocks.

use lacuna_succinct::PackedInts;
use lacuna_succinct::bytes::BitWriter;
use lacuna_succinct::packed::width_for;
use lacuna_succinct::rice::RiceList;

use super::fit::{Cut, Fit};
use super::spec::SnarfSpec;
use crate::integer_build::TooSmall;

/// Writes the body for at least three ascending `keys`.
pub(crate) fn write_body(spec: SnarfSpec, keys: &[u64], max_bytes: usize) -> Result<Vec<u8>, TooSmall> {
    let cut = Cut { keys, block_keys: spec.block_keys() };
    let mut fit = Fit::within(cut, max_bytes)?;
    loop {
        let coded = Coded::new(cut, fit);
        let body_bytes = cut.body_bytes(coded.len_bits);
        if body_bytes <= max_bytes {
            return Ok(coded.into_body(body_bytes));
        }
        fit = fit.fewer(cut, (body_bytes - max_bytes) as u64 * 8);
    }
}

/// All positions, and where each block's code will start.
struct Coded<'a> {
    cut: Cut<'a>,
    fit: Fit,
    positions: Vec<u64>,
    starts: Vec<u64>,
    len_bits: u64,
}

impl<'a> Coded<'a> {
    fn new(cut: Cut<'a>, fit: Fit) -> Self {
        let mut positions = Vec::with_capacity(cut.keys.len());
        let mut starts = Vec::with_capacity(cut.block_count());
        let mut len_bits = 0;
        for block in 0..cut.block_count() {
            starts.push(len_bits);
            let from = positions.len();
            positions.extend(cut.positions(block, fit.positions));
            let list = &positions[from..];
            len_bits += RiceList::new(list.len() as u64, fit.low_bits).len_bits(list.iter().copied());
        }
        Self { cut, fit, positions, starts, len_bits }
    }

    fn into_body(self, body_bytes: usize) -> Vec<u8> {
        let Self { cut, fit, positions, starts, len_bits } = self;
        let mut body = Vec::with_capacity(body_bytes);
        fit.header(cut).push(&mut body);
        let (smallest, largest) = (cut.keys[0], cut.keys[cut.keys.len() - 1]);
        let knots: Vec<u64> = (1..cut.block_count()).map(|block| cut.block(block).0 - smallest).collect();
        PackedInts::encode(&knots, width_for(largest - smallest), &mut body);
        PackedInts::encode(&starts[1..], width_for(len_bits), &mut body);
        let mut writer = BitWriter::new(&mut body);
        let mut rest = &positions[..];
        for block in 0..cut.block_count() {
            let (list, behind) = rest.split_at(cut.block(block).1.len());
            RiceList::new(list.len() as u64, fit.low_bits).encode(list.iter().copied(), &mut writer);
            rest = behind;
        }
        writer.finish();
        debug_assert_eq!(body.len(), body_bytes, "the size was computed before");
        body
    }
}
