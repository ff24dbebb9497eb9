//! Building the ribbon filter: blocks with one key into the layers, all other keys into the spill.

use lacuna_base::Budget;
use lacuna_base::testing::cross;

use super::codec::{Layout, MAX_LAYERS};
use super::counts::BlockCounts;
use super::layer::Layer;
use super::shape::{Choice, Shape, layer_of, rows_for, spill_last};
use super::solve::{Eliminated, Equations, eliminate};
use super::spec::RibbonSpec;
use crate::grafite::{self, GrafiteSpec};
use crate::hashing::Hashing;
use crate::integer_build::TooSmall;

/// Times that a shape which turned out too large is made smaller.
const MAX_TRIES: usize = 4;

/// Writes the body for at least two ascending `keys`.
pub(crate) fn write_body(
    spec: RibbonSpec,
    keys: &[u64],
    max_bytes: usize,
    hashing: Hashing,
    lengths: &[f64],
) -> Result<Vec<u8>, TooSmall> {
    let counts = BlockCounts::of(keys);
    let span = keys[keys.len() - 1] - keys[0];
    let (mut room, mut smallest_bytes) = (max_bytes, None);
    for _ in 0..MAX_TRIES {
        let choice = Choice { spec, counts: &counts, span, max_bytes, room, lengths };
        let Some(shape) = choice.best() else { break };
        let body = Build { spec, shape, keys, hashing }.body();
        if body.len() <= max_bytes {
            return Ok(body);
        }
        // More blocks were bumped than expected.
        cross("ribbon: built again");
        // With another common prefix of byte strings, other blocks are bumped.
        smallest_bytes = Some(body.len() + body.len() / 8);
        let excess = body.len() - max_bytes;
        room = room.saturating_sub(excess + excess / 2 + room / 1_000);
        if spec.planes().is_some() {
            break;
        }
    }
    match smallest_bytes {
        // A given number of planes is kept, unless no budget would do.
        Some(smallest_bytes) if spec.planes().is_some() && smallest_bytes <= max_forced_bytes(keys.len()) => {
            Err(TooSmall { smallest_bytes })
        }
        _ => write_spilled(keys, max_bytes, hashing),
    }
}

/// Most bytes that a filter with a given number of planes asks for: less than the largest budget, whose rest may go to the
/// common prefix of byte strings.
fn max_forced_bytes(key_count: usize) -> usize {
    Budget::FIXED_BYTES + 12 * key_count
}

/// A body whose keys are all in the spill.
fn write_spilled(keys: &[u64], max_bytes: usize, hashing: Hashing) -> Result<Vec<u8>, TooSmall> {
    let layout = Layout::of(Hashing::Seeded(0), 0, 1, &[]).expect("a header fits memory");
    let room = max_bytes.saturating_sub(layout.spill_at);
    let spill = grafite::write_body(GrafiteSpec::new(), keys, room, hashing.for_spill());
    let spill = spill.map_err(|small| TooSmall { smallest_bytes: small.smallest_bytes + layout.spill_at })?;
    Ok([layout.zeroed(), spill].concat())
}

/// One build.
struct Build<'a> {
    spec: RibbonSpec,
    shape: Shape,
    keys: &'a [u64],
    hashing: Hashing,
}

/// The keys in two parts.
#[derive(Debug, Default)]
struct Cut {
    /// A number for each block: of its key, or of its last position if its keys are spilled.
    entries: Vec<u64>,
    /// Ascending.
    spilled: Vec<u64>,
}

impl Build<'_> {
    fn body(&self) -> Vec<u8> {
        let Shape { block_log2, planes, tall_buckets, .. } = self.shape;
        let Cut { entries, mut spilled } = self.cut();
        let (layers, left) = self.eliminate(entries);
        self.spill_blocks(left, &mut spilled);
        let sizes: Vec<Layer> = layers.iter().map(Eliminated::layer).collect();
        let layout =
            Layout::of(self.hashing, block_log2, self.spec.window(), &sizes).expect("rows fit memory");
        let mut body = layout.zeroed();
        for (index, layer) in layers.iter().enumerate() {
            layer.write_thresholds(&mut body[layout.thresholds_at(index)..]);
            layer.write_rows(&mut body[layout.rows_at(index)..]);
        }
        let last = spill_last(spilled.len() as u64, planes + u32::from(tall_buckets > 0));
        let hashing = self.hashing.for_spill();
        body.extend(grafite::write_circle(GrafiteSpec::new(), &spilled, last, block_log2, hashing));
        body
    }

    /// A key goes to the spill if it is not alone in its block, or stands where the mark of such blocks does.
    fn cut(&self) -> Cut {
        let block_log2 = self.shape.block_log2;
        let last_position = (1_u64 << block_log2) - 1;
        let mut cut = Cut { entries: Vec::with_capacity(self.keys.len()), spilled: Vec::new() };
        let mut before = None;
        for (index, &key) in self.keys.iter().enumerate() {
            let block = key >> block_log2;
            let next = self.keys.get(index + 1).map(|next| next >> block_log2);
            let (is_first, is_last) = (before != Some(block), next != Some(block));
            let is_spilled = !(is_first && is_last) || key & last_position == last_position;
            if is_first {
                cut.entries.push(if is_spilled { key | last_position } else { key });
            }
            if is_spilled {
                cut.spilled.push(key);
            }
            before = Some(block);
        }
        cut
    }

    /// The layers, and the entries that fit none.
    fn eliminate(&self, mut entries: Vec<u64>) -> (Vec<Eliminated>, Vec<u64>) {
        let Shape { block_log2, planes, tall_buckets, .. } = self.shape;
        let mut layers = Vec::new();
        for index in 0..MAX_LAYERS {
            if index > 0 && (entries.len() as u64) < self.spec.min_layer() {
                break;
            }
            let layer = layer_of(index, rows_for(entries.len() as u64), planes, tall_buckets);
            let (hasher, window) = (self.hashing.hasher(), self.spec.window());
            let mut solved = eliminate(&Equations { hasher, block_log2, window, index, layer }, &entries);
            entries = std::mem::take(&mut solved.bumped);
            layers.push(solved);
        }
        (layers, entries)
    }

    /// Spills the keys of the blocks that fit no layer.
    fn spill_blocks(&self, mut left: Vec<u64>, spilled: &mut Vec<u64>) {
        let last_position = (1_u64 << self.shape.block_log2) - 1;
        left.retain(|entry| entry & last_position != last_position);
        if !left.is_empty() {
            cross("ribbon: fits no layer");
            spilled.extend(left);
            spilled.sort_unstable();
        }
    }
}
