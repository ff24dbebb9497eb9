//! Asking the ribbon filter: block by block, each with one window of rows; then the far half, if there is one.

use std::ops::Range;

use lacuna_base::testing::cross;
use lacuna_base::{Envelope, Error, Result};
use lacuna_succinct::arch::{Isa, Kernel, prefetch};

use super::codec::{Layout, VERSION, halves};
use super::hash::BlockHash;
use super::layer::{GROUP_ROWS, threshold};
use super::shape::{max_blocks, unit_rate};
use crate::grafite::{Grafite, GrafiteProbe};
use crate::hashing::BlockHasher;
use crate::integer::{IntegerBody, asks_in_groups};
use crate::probes::note_probe;

/// Bytes that one load of a group reads: 16 planes.
const LOAD_BYTES: usize = 32;
/// Planes of one load.
const LOAD_PLANES: u32 = 16;

/// A view of a ribbon filter: one part alone, or two halves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ribbon {
    /// The only part, or the half that takes keys as they are.
    near: PartView,
    /// The half that takes keys by cells.
    far: Option<PartView>,
}

/// A view of a part, whose places count from the first byte of the whole body.
#[derive(Debug, Clone, Copy)]
struct PartView {
    hasher: BlockHasher,
    layout: Layout,
    max_blocks: u64,
    /// Expected "maybe" of the layers, for each key asked for.
    unit_rate: f64,
    spill: Grafite,
}

/// A window of rows: where it stands, and how to read a value from it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    at: usize,
    /// Bytes of a group.
    stride: usize,
    /// Rows to sum up, for each of three groups.
    masks: [u16; 3],
    /// What the value is hidden under.
    hidden: u32,
    planes: u32,
}

/// The state that stage two of a batch hands to stage three.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RibbonProbe {
    probe: PartProbe,
    lo: u64,
    hi: u64,
    /// Whether the far half is asked at once, because the near one cannot deny the range.
    is_far: bool,
}

/// What is known of a question to one part.
#[derive(Debug, Clone, Copy)]
enum PartProbe {
    /// The window of the only block.
    One(Window),
    /// Several blocks, or one that is in the spill.
    Blocks,
    /// All keys are in the spill.
    Spill(GrafiteProbe),
}

impl PartView {
    /// The cells of `lo` and `hi`, which blocks are made of.
    #[inline(always)]
    fn cells(&self, lo: u64, hi: u64) -> (u64, u64) {
        (lo >> self.layout.cell_log2, hi >> self.layout.cell_log2)
    }

    /// The window of `block`; `None` if it is in no layer. The threshold is a branch on what was loaded: without it a question would
    /// load the windows of two layers (design page of `ribbon`, "Alternatives").
    #[inline(always)]
    fn window(&self, body: &[u8], block: u64) -> Option<Window> {
        let first = BlockHash::new(self.hasher, block);
        let mut hash = first;
        for (index, layer) in self.layout.layers().iter().enumerate() {
            let start = layer.start(hash);
            if start.offset() >= self.threshold(body, index, start.bucket()) {
                return Some(self.window_in(index, first, hash));
            }
            cross("ribbon: next layer");
            hash = hash.next();
        }
        None
    }

    /// The threshold of `bucket` in layer `index`.
    #[inline(always)]
    fn threshold(&self, body: &[u8], index: usize, bucket: u64) -> u32 {
        let at = self.layout.thresholds_at(index) + (bucket / 4) as usize;
        let byte = body.get(at).copied().unwrap_or_default();
        threshold(byte >> (2 * (bucket % 4)))
    }

    /// The window in layer `index`, where the block has the hash `hash`.
    #[inline(always)]
    fn window_in(&self, index: usize, first: BlockHash, hash: BlockHash) -> Window {
        let layer = &self.layout.layers()[index];
        let start = layer.start(hash);
        let group = start.group();
        let planes = layer.planes_of(group);
        let rows = u64::from(hash.coefficients(self.layout.window)) << (start.row % GROUP_ROWS);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "16 of 48 bits; rows lie within a slice in memory"
        )]
        let (masks, byte) =
            ([rows as u16, (rows >> 16) as u16, (rows >> 32) as u16], layer.byte_of(group) as usize);
        let at = self.layout.rows_at(index) + byte;
        Window { at, stride: 2 * planes as usize, masks, hidden: first.mask(), planes }
    }

    /// The lowest and the highest position of `lo..=hi`, which lie in one block.
    #[inline(always)]
    fn positions(&self, lo: u64, hi: u64) -> (u32, u32) {
        let mask = (1 << self.layout.block_log2) - 1;
        #[expect(clippy::cast_possible_truncation, reason = "a position has at most 31 bits")]
        ((lo & mask) as u32, (hi & mask) as u32)
    }

    /// Whether a key may lie in `lo..=hi`, all in the block of `window`.
    #[inline(always)]
    fn any_in_window<I: Isa>(&self, isa: I, body: &[u8], window: &Window, lo: u64, hi: u64) -> bool {
        note_probe();
        let Some(value) = window.value(isa, body) else { return true };
        let (first, last) = self.positions(lo, hi);
        if value == (1 << self.layout.block_log2) - 1 {
            return self.any_in_spill(isa, body, lo, hi);
        }
        // A value with check bits left is larger than any position.
        value.wrapping_sub(first) <= last - first
    }

    /// Whether a key may lie in `lo..=hi`, all in one block that is spilled; apart, because it is rare.
    #[inline(always)]
    fn any_in_spill<I: Isa>(&self, isa: I, body: &[u8], lo: u64, hi: u64) -> bool {
        cross("ribbon: spill asked");
        isa.run_apart(AnyInSpill { part: self, body, lo, hi })
    }

    /// Whether a key may lie in `lo..=hi`, all in one block.
    #[inline(always)]
    fn any_in_block<I: Isa>(&self, isa: I, body: &[u8], lo: u64, hi: u64) -> bool {
        match self.window(body, lo >> self.layout.block_log2) {
            Some(window) => self.any_in_window(isa, body, &window, lo, hi),
            None => self.any_in_spill(isa, body, lo, hi),
        }
    }

    /// Whether a key may lie in `lo..=hi`, in any number of blocks.
    #[inline(always)]
    fn any_in_blocks<I: Isa>(&self, isa: I, body: &[u8], lo: u64, hi: u64) -> bool {
        if self.is_too_long(lo, hi) {
            cross("ribbon: too many blocks");
            return true;
        }
        cross("ribbon: several blocks");
        isa.run_apart(AnyInBlocks { part: self, body, lo, hi })
    }

    /// Whether `lo..=hi` has more blocks than are asked.
    #[inline(always)]
    fn is_too_long(&self, lo: u64, hi: u64) -> bool {
        let block_log2 = self.layout.block_log2;
        (hi >> block_log2) - (lo >> block_log2) >= self.max_blocks
    }

    /// Whether `lo` and `hi` are in one block.
    #[inline(always)]
    fn is_one_block(&self, lo: u64, hi: u64) -> bool {
        (lo ^ hi) >> self.layout.block_log2 == 0
    }

    #[inline(always)]
    fn is_spilled(&self) -> bool {
        self.layout.layers().is_empty()
    }

    /// Opens the part that stands at `place` of `body`.
    fn open(body: &[u8], place: Range<usize>, envelope: &Envelope) -> Result<Self> {
        let at = place.start;
        let own = body.get(place).unwrap_or_default();
        let layout = Layout::read(own)?;
        let cell = |key: u64| key >> layout.cell_log2;
        let (smallest, largest) = (cell(envelope.smallest), cell(envelope.largest));
        let spill = Grafite::open(&own[layout.spill_at..], &Envelope { smallest, largest, ..*envelope })?;
        let hasher = layout.hashing.hasher();
        let (max_blocks, unit_rate) = match layout.layers().first() {
            Some(first) => (max_blocks(first.planes, layout.block_log2), unit_rate(*first)),
            None => (u64::MAX, 0.0),
        };
        Ok(Self { hasher, layout: layout.shifted(at), max_blocks, unit_rate, spill })
    }

    #[inline(always)]
    fn prefetch(&self, body: &[u8], lo: u64, hi: u64) {
        if self.is_spilled() {
            let (lo, hi) = self.cells(lo, hi);
            self.spill.prefetch(&body[self.layout.spill_at..], lo, hi);
        }
    }

    #[inline(always)]
    fn prepare<I: Isa>(&self, isa: I, body: &[u8], lo: u64, hi: u64) -> PartProbe {
        let (lo, hi) = self.cells(lo, hi);
        if self.is_spilled() {
            return PartProbe::Spill(self.spill.prepare(isa, &body[self.layout.spill_at..], lo, hi));
        }
        let block_log2 = self.layout.block_log2;
        let window = self.window(body, lo >> block_log2);
        window.inspect(|window| window.prefetch(body));
        match window {
            Some(window) if self.is_one_block(lo, hi) => PartProbe::One(window),
            _ => {
                self.window(body, hi >> block_log2).inspect(|window| window.prefetch(body));
                PartProbe::Blocks
            }
        }
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, body: &[u8], probe: PartProbe, lo: u64, hi: u64) -> bool {
        let (lo, hi) = self.cells(lo, hi);
        match probe {
            PartProbe::One(window) => self.any_in_window(isa, body, &window, lo, hi),
            PartProbe::Blocks => self.any_in_blocks(isa, body, lo, hi),
            PartProbe::Spill(probe) => self.spill.finish(isa, &body[self.layout.spill_at..], probe),
        }
    }

    #[inline(always)]
    fn any_in<I: Isa>(&self, isa: I, body: &[u8], lo: u64, hi: u64) -> bool {
        let (lo, hi) = self.cells(lo, hi);
        if self.is_spilled() {
            return self.spill.any_in(isa, &body[self.layout.spill_at..], lo, hi);
        }
        if self.is_one_block(lo, hi) {
            return self.any_in_block(isa, body, lo, hi);
        }
        self.any_in_blocks(isa, body, lo, hi)
    }

    fn rate_bound(&self, range_len: u64) -> f64 {
        if self.layout.cell_log2 > 0 {
            return 1.0;
        }
        if self.is_spilled() {
            return self.spill.rate_bound(range_len);
        }
        let max_touched = (range_len.saturating_sub(1) >> self.layout.block_log2).saturating_add(2);
        if max_touched > self.max_blocks {
            return 1.0;
        }
        // A block without a key that seems to be spilled asks the spill; one that is spilled does.
        let spilled = self.spill.rate_bound(1);
        (range_len as f64 * (self.unit_rate * (1.0 + spilled)).max(spilled)).min(1.0)
    }
}

impl Ribbon {
    /// Whether the far half, if there is one, says "maybe"; apart, because the near one denies most of what it can.
    #[inline(always)]
    fn any_in_far<I: Isa>(&self, isa: I, body: &[u8], lo: u64, hi: u64) -> bool {
        self.far.as_ref().is_none_or(|part| isa.run_apart(AnyInPart { part, body, lo, hi }))
    }
}

/// A question to a part.
struct AnyInPart<'a> {
    part: &'a PartView,
    body: &'a [u8],
    lo: u64,
    hi: u64,
}

impl Kernel for AnyInPart<'_> {
    type Output = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        cross("ribbon: far half asked");
        self.part.any_in(isa, self.body, self.lo, self.hi)
    }
}

/// A question to the spill.
struct AnyInSpill<'a> {
    part: &'a PartView,
    body: &'a [u8],
    lo: u64,
    hi: u64,
}

impl Kernel for AnyInSpill<'_> {
    type Output = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        let Self { part, body, lo, hi } = self;
        part.spill.any_in(isa, &body[part.layout.spill_at..], lo, hi)
    }
}

/// A question to each block of a range.
struct AnyInBlocks<'a> {
    part: &'a PartView,
    body: &'a [u8],
    lo: u64,
    hi: u64,
}

impl Kernel for AnyInBlocks<'_> {
    type Output = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        let Self { part, body, lo, hi } = self;
        let block_log2 = part.layout.block_log2;
        let first_of = |block: u64| block << block_log2;
        let last_of = |block: u64| first_of(block) | ((1 << block_log2) - 1);
        (lo >> block_log2..=hi >> block_log2)
            .any(|block| part.any_in_block(isa, body, lo.max(first_of(block)), hi.min(last_of(block))))
    }
}

impl Window {
    /// The value of the block, if the window lies in `body`.
    #[inline(always)]
    fn value<I: Isa>(&self, isa: I, body: &[u8]) -> Option<u32> {
        let low = u32::from(self.sums(isa, body, 0)?);
        let high = if self.planes > LOAD_PLANES { u32::from(self.sums(isa, body, LOAD_BYTES)?) } else { 0 };
        let value = (low | high << LOAD_PLANES) ^ self.hidden;
        Some(value & (u32::MAX >> (32 - self.planes)))
    }

    /// The sums of 16 planes, beginning `skipped` bytes after the first.
    #[inline(always)]
    fn sums<I: Isa>(&self, isa: I, body: &[u8], skipped: usize) -> Option<u16> {
        let groups = body.get(self.at + skipped..)?;
        let load = |group: usize| groups.get(group * self.stride..)?.first_chunk::<LOAD_BYTES>();
        let last = load(2)?;
        Some(isa.parities([load(0)?, load(1)?, last], self.masks))
    }

    /// Asks for its lines: two adjacent ones, or three.
    #[inline(always)]
    fn prefetch(&self, body: &[u8]) {
        prefetch(body, self.at);
        prefetch(body, self.at + 3 * self.stride - 1);
    }
}

impl IntegerBody for Ribbon {
    const VERSION: u16 = VERSION;
    type Probe = RibbonProbe;

    fn open(body: &[u8], envelope: &Envelope) -> Result<Self> {
        match halves(body)? {
            None => Ok(Self { near: PartView::open(body, 0..body.len(), envelope)?, far: None }),
            Some([near, far]) => {
                let near = PartView::open(body, near, envelope)?;
                if near.layout.cell_log2 > 0 {
                    return Err(Error::corrupt("the near half of a ribbon filter takes keys as they are"));
                }
                Ok(Self { near, far: Some(PartView::open(body, far, envelope)?) })
            }
        }
    }

    #[inline(always)]
    fn prefetch(&self, body: &[u8], lo: u64, hi: u64) {
        self.near.prefetch(body, lo, hi);
        if let Some(far) = &self.far {
            far.prefetch(body, lo, hi);
        }
    }

    #[inline(always)]
    fn prepare<I: Isa>(&self, isa: I, body: &[u8], lo: u64, hi: u64) -> RibbonProbe {
        match &self.far {
            Some(far) if self.near.is_too_long(lo, hi) => {
                cross("ribbon: far half asked at once");
                RibbonProbe { probe: far.prepare(isa, body, lo, hi), lo, hi, is_far: true }
            }
            _ => RibbonProbe { probe: self.near.prepare(isa, body, lo, hi), lo, hi, is_far: false },
        }
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, body: &[u8], probe: RibbonProbe) -> bool {
        let RibbonProbe { probe, lo, hi, is_far } = probe;
        match &self.far {
            Some(far) if is_far => far.finish(isa, body, probe, lo, hi),
            _ => self.near.finish(isa, body, probe, lo, hi) && self.any_in_far(isa, body, lo, hi),
        }
    }

    #[inline(always)]
    fn any_in<I: Isa>(&self, isa: I, body: &[u8], lo: u64, hi: u64) -> bool {
        self.near.any_in(isa, body, lo, hi) && self.any_in_far(isa, body, lo, hi)
    }

    /// That of the near half: both must say "maybe".
    fn rate_bound(&self, range_len: u64) -> f64 {
        self.near.rate_bound(range_len)
    }

    asks_in_groups!();
}
