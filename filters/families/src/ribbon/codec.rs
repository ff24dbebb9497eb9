//! Bytes of the ribbon filter: [`docs/format/ribbon.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/ribbon.md).

use std::ops::Range;

use lacuna_base::{Error, Result};

use super::layer::{Layer, WINDOW};
use crate::hashing::Hashing;

/// Newest version of the body, and the one written.
pub(crate) const VERSION: u16 = 1;
/// Most layers.
pub(crate) const MAX_LAYERS: usize = 3;
/// Most planes of a row.
pub(crate) const MAX_PLANES: u32 = 32;
/// Largest block, as a power of two.
pub(crate) const MAX_BLOCK_LOG2: u32 = 31;
/// Largest cell, as a power of two.
pub(crate) const MAX_CELL_LOG2: u32 = 63;
/// Bytes before the first of two halves.
pub(crate) const HALVES_HEADER_BYTES: usize = 16;
/// Bytes before the spill of a body without layers.
pub(crate) const SHORT_HEADER_BYTES: usize = 8;
/// Bytes between the last row and the spill, so that the widest load of a row stays inside the body.
pub(crate) const PADDING_BYTES: usize = 8;

const LAYER_BYTES: usize = 8;
const SEED_AT: usize = 8;
/// First byte of the layers, or of the second half of a key.
const LAYERS_AT: usize = 16;
/// Added to the number of layers if blocks are hashed under a key.
const KEYED: u8 = 4;
/// The first byte of a body of two halves, in place of a number of layers.
const HALVES: u8 = 8;
/// Where the length of the near half stands.
const NEAR_BYTES_AT: usize = 8;

/// What stands before two halves, the near one of `near_bytes` bytes.
pub(crate) fn halves_header(near_bytes: usize) -> [u8; HALVES_HEADER_BYTES] {
    let mut header = [0; HALVES_HEADER_BYTES];
    header[0] = HALVES;
    header[NEAR_BYTES_AT..].copy_from_slice(&(near_bytes as u64).to_le_bytes());
    header
}

/// Where the near and the far half of `body` stand; `None` if it has one part alone.
pub(crate) fn halves(body: &[u8]) -> Result<Option<[Range<usize>; 2]>> {
    if body.first() != Some(&HALVES) {
        return Ok(None);
    }
    let near_bytes = usize::try_from(u64::from_le_bytes(*header(body, NEAR_BYTES_AT)?)).ok();
    if body[1..NEAR_BYTES_AT] != [0; NEAR_BYTES_AT - 1] {
        return Err(Error::corrupt("a ribbon header has bytes that no form of this version has"));
    }
    let far_at = near_bytes.and_then(|bytes| bytes.checked_add(HALVES_HEADER_BYTES));
    match far_at.filter(|&at| at <= body.len()) {
        Some(at) => Ok(Some([HALVES_HEADER_BYTES..at, at..body.len()])),
        None => Err(Error::corrupt("the near half of a ribbon filter does not fit its body")),
    }
}

/// What stands where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) hashing: Hashing,
    /// Size of a block, as a power of two.
    pub(crate) block_log2: u32,
    /// Rows that a value may be the sum of.
    pub(crate) window: u32,
    /// Keys are the numbers of cells of `2^cell_log2` keys; 0 where they are taken as they are.
    pub(crate) cell_log2: u32,
    layers: [Layer; MAX_LAYERS],
    layer_count: usize,
    thresholds_at: [usize; MAX_LAYERS],
    rows_at: [usize; MAX_LAYERS],
    /// First byte of the spill.
    pub(crate) spill_at: usize,
}

/// Bytes before the thresholds.
pub(crate) fn header_bytes(layer_count: usize, is_keyed: bool) -> usize {
    match layer_count {
        0 => SHORT_HEADER_BYTES,
        _ => LAYERS_AT + Hashing::further_bytes(is_keyed) + layer_count * LAYER_BYTES,
    }
}

impl Layout {
    /// The layout of `layers`; `None` if it would not fit the address space.
    pub(crate) fn of(hashing: Hashing, block_log2: u32, window: u32, layers: &[Layer]) -> Option<Self> {
        let mut layout = Self {
            hashing,
            block_log2,
            window,
            cell_log2: 0,
            layers: [Layer::default(); MAX_LAYERS],
            layer_count: layers.len(),
            thresholds_at: [0; MAX_LAYERS],
            rows_at: [0; MAX_LAYERS],
            spill_at: header_bytes(layers.len(), hashing.is_keyed()),
        };
        layout.layers[..layers.len()].copy_from_slice(layers);
        let mut take = |bytes: u64| {
            let at = layout.spill_at;
            layout.spill_at = at.checked_add(usize::try_from(bytes).ok()?)?;
            Some(at)
        };
        for (index, layer) in layers.iter().enumerate() {
            layout.thresholds_at[index] = take(layer.threshold_bytes())?;
        }
        for (index, layer) in layers.iter().enumerate() {
            layout.rows_at[index] = take(layer.row_bytes())?;
        }
        if !layers.is_empty() {
            take(PADDING_BYTES as u64)?;
        }
        Some(layout)
    }

    /// The same, `bytes` bytes further on.
    pub(crate) fn shifted(mut self, bytes: usize) -> Self {
        for at in self.thresholds_at.iter_mut().chain(&mut self.rows_at) {
            *at += bytes;
        }
        self.spill_at += bytes;
        self
    }

    /// The layers.
    #[inline(always)]
    pub(crate) fn layers(&self) -> &[Layer] {
        &self.layers[..self.layer_count]
    }

    /// First byte of the thresholds of layer `index`.
    #[inline(always)]
    pub(crate) fn thresholds_at(&self, index: usize) -> usize {
        self.thresholds_at[index]
    }

    /// First byte of the rows of layer `index`.
    #[inline(always)]
    pub(crate) fn rows_at(&self, index: usize) -> usize {
        self.rows_at[index]
    }

    /// A body of zeros up to the spill, with its header.
    pub(crate) fn zeroed(&self) -> Vec<u8> {
        let mut body = vec![0; self.spill_at];
        let byte = |number: u32| u8::try_from(number).expect("at most 63");
        body[0] = byte(u32::try_from(self.layer_count).expect("at most 3"));
        body[4] = byte(self.cell_log2);
        if self.layer_count > 0 {
            body[1] = byte(self.block_log2);
            body[2] = byte(self.layers[0].planes);
            body[3] = byte(self.window);
            let (first, second) = self.hashing.words();
            body[SEED_AT..LAYERS_AT].copy_from_slice(&first.to_le_bytes());
            if let Some(second) = second {
                body[0] |= KEYED;
                body[LAYERS_AT..LAYERS_AT + 8].copy_from_slice(&second.to_le_bytes());
            }
            let layers_at = header_bytes(self.layer_count, second.is_some()) - self.layer_count * LAYER_BYTES;
            for (field, layer) in body[layers_at..].chunks_exact_mut(LAYER_BYTES).zip(self.layers()) {
                field[..4].copy_from_slice(&buckets(layer.rows).to_le_bytes());
                field[4..].copy_from_slice(&buckets(layer.tall_rows).to_le_bytes());
            }
        }
        body
    }

    /// Reads the header at the start of `body`; everything up to the spill lies inside.
    pub(crate) fn read(body: &[u8]) -> Result<Self> {
        let &[count, block, planes, window, cell, ref rest @ ..] = header::<SHORT_HEADER_BYTES>(body, 0)?;
        // A reader that passes over what it does not know would deny keys.
        if rest != &[0; 3] {
            return Err(Error::corrupt("a ribbon header has bytes that no form of this version has"));
        }
        let is_keyed = count & KEYED != 0;
        let layer_count = usize::from(count & !KEYED);
        let (block_log2, planes, window) = (u32::from(block), u32::from(planes), u32::from(window));
        if layer_count > MAX_LAYERS || count == KEYED {
            return Err(Error::corrupt(format!("a ribbon filter of {count} layers does not exist")));
        }
        let cell_log2 = u32::from(cell);
        if cell_log2 > MAX_CELL_LOG2 {
            return Err(Error::corrupt(format!("ribbon cells of 2^{cell} keys do not exist")));
        }
        if layer_count == 0 {
            let layout = Self::of(Hashing::Seeded(0), 0, 1, &[]).ok_or_else(too_large)?;
            return Ok(Self { cell_log2, ..layout });
        }
        let is_known = block_log2 <= MAX_BLOCK_LOG2.min(planes) && (1..=MAX_PLANES).contains(&planes);
        if !is_known || !(1..=32).contains(&window) {
            return Err(Error::corrupt(format!(
                "ribbon blocks of 2^{block} keys in {planes} planes and windows of {window} rows do not exist"
            )));
        }
        let word = |at: usize| header(body, at).map(|word| u64::from_le_bytes(*word));
        let second = is_keyed.then(|| word(LAYERS_AT)).transpose()?;
        let hashing = Hashing::of_words(word(SEED_AT)?, second);
        let layers_at = LAYERS_AT + Hashing::further_bytes(is_keyed);
        let mut layers = [Layer::default(); MAX_LAYERS];
        for (index, layer) in layers[..layer_count].iter_mut().enumerate() {
            *layer = read_layer(header(body, layers_at + index * LAYER_BYTES)?, planes)?;
        }
        let layout = Self::of(hashing, block_log2, window, &layers[..layer_count]).ok_or_else(too_large)?;
        if layout.spill_at <= body.len() { Ok(Self { cell_log2, ..layout }) } else { Err(too_large()) }
    }
}

fn header<const LEN: usize>(body: &[u8], at: usize) -> Result<&[u8; LEN]> {
    let field = body.get(at..).and_then(|rest| rest.first_chunk());
    field.ok_or_else(|| Error::corrupt("a ribbon body is shorter than its header"))
}

fn too_large() -> Error {
    Error::corrupt("the rows of a ribbon filter do not fit its body")
}

fn buckets(rows: u64) -> u32 {
    u32::try_from(rows / WINDOW).expect("the builder makes fewer than 2^32 buckets")
}

fn read_layer(field: &[u8; LAYER_BYTES], planes: u32) -> Result<Layer> {
    let [a, b, c, d, e, f, g, h] = *field;
    let rows = u64::from(u32::from_le_bytes([a, b, c, d])) * WINDOW;
    let tall_rows = u64::from(u32::from_le_bytes([e, f, g, h])) * WINDOW;
    let fits = planes < MAX_PLANES || tall_rows == 0;
    if rows > 0 && tall_rows <= rows && fits {
        Ok(Layer { rows, tall_rows, planes })
    } else {
        Err(Error::corrupt(format!(
            "a ribbon layer of {rows} rows, {tall_rows} of them tall, does not exist"
        )))
    }
}
