//! Building the ribbon filter: blocks with one key into the layers, all other keys into the spill; once, or for each half.

use std::ops::Range;

use lacuna_base::Budget;
use lacuna_base::testing::cross;
use lacuna_succinct::threads::{on_threads, on_two_threads};

use super::codec::{HALVES_HEADER_BYTES, Layout, MAX_LAYERS, halves_header};
use super::counts::BlockCounts;
use super::layer::Layer;
use super::part::{Part, near_bytes};
use super::shape::{Choice, Shape, layer_of, rows_for, spill_last};
use super::solve::{Eliminated, Equations, eliminate};
use super::spec::RibbonSpec;
use crate::grafite::{self, GrafiteSpec};
use crate::hashing::Hashing;
use crate::integer_build::TooSmall;
use crate::threads::{Threads, piece_of};

/// Times that a shape which turned out too large is made smaller.
const MAX_TRIES: usize = 4;

/// Writes the body for at least two ascending `keys`; `ranges` are those that should be denied.
pub(crate) fn write_body(
    spec: RibbonSpec,
    keys: &[u64],
    max_bytes: usize,
    hashing: Hashing,
    ranges: &[(u64, u64)],
    threads: Threads,
) -> Result<Vec<u8>, TooSmall> {
    let Some(percent) = spec.near_percent() else {
        return write_part(spec, Part::whole(spec), keys, max_bytes, hashing, ranges, threads);
    };
    write_halves(spec, percent, keys, max_bytes, hashing, ranges, threads).or_else(|small| {
        if spec.planes().is_some() && small.smallest_bytes <= max_forced_bytes(keys.len()) {
            return Err(small);
        }
        // The bound comes first.
        cross("ribbon: near half alone");
        write_part(spec, Part::near(spec), keys, max_bytes, hashing, ranges, threads)
    })
}

/// Writes a near half in `percent` of the bytes, and a far one in the rest.
fn write_halves(
    spec: RibbonSpec,
    percent: u32,
    keys: &[u64],
    max_bytes: usize,
    hashing: Hashing,
    ranges: &[(u64, u64)],
    threads: Threads,
) -> Result<Vec<u8>, TooSmall> {
    let room = max_bytes.saturating_sub(HALVES_HEADER_BYTES);
    let near_room = near_bytes(room, percent);
    let near = write_part(spec, Part::near(spec), keys, near_room, hashing, ranges, threads);
    let far_room = room - near.as_ref().map_or(near_room, Vec::len);
    let far = write_part(spec, Part::far(spec), keys, far_room, hashing.for_far(), ranges, threads);
    match (near, far) {
        (Ok(near), Ok(far)) => Ok([&halves_header(near.len())[..], &near, &far].concat()),
        (near, far) => {
            let bytes = |half: Result<Vec<u8>, TooSmall>| match half {
                Ok(half) => half.len(),
                Err(small) => small.smallest_bytes,
            };
            let (near, far) = (bytes(near), bytes(far));
            // With so much room each half fits its percentage, also a near one that is spilled and grows with the room.
            let room = (near * 100).div_ceil(percent as usize) + 1;
            let room = room.max((far * 100).div_ceil(100 - percent as usize) + 1);
            Err(TooSmall { smallest_bytes: room.max(near + far) + HALVES_HEADER_BYTES })
        }
    }
}

/// Writes one part for at least two ascending `keys`.
fn write_part(
    spec: RibbonSpec,
    part: Part,
    keys: &[u64],
    max_bytes: usize,
    hashing: Hashing,
    ranges: &[(u64, u64)],
    threads: Threads,
) -> Result<Vec<u8>, TooSmall> {
    let (cells, lengths) = (part.cells(keys), part.lengths(ranges.iter().copied()));
    let (keys, lengths) = (&cells[..], &lengths[..]);
    let counts = BlockCounts::of(keys, threads);
    let span = keys[keys.len() - 1] - keys[0];
    let (mut room, mut smallest_bytes) = (max_bytes, None);
    for _ in 0..MAX_TRIES {
        let choice = Choice { spec, counts: &counts, span, max_bytes, room, lengths };
        let Some(shape) = choice.best() else { break };
        let body = Build { spec, shape, keys, cell_log2: part.cell_log2, hashing, threads }.body();
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
        _ => write_spilled(keys, part.cell_log2, max_bytes, hashing, threads),
    }
}

/// Most bytes that a filter with a given number of planes asks for: less than the largest budget, whose rest may go to the
/// common prefix of byte strings.
fn max_forced_bytes(key_count: usize) -> usize {
    Budget::FIXED_BYTES + 12 * key_count
}

/// A body whose keys are all in the spill.
fn write_spilled(
    keys: &[u64],
    cell_log2: u32,
    max_bytes: usize,
    hashing: Hashing,
    threads: Threads,
) -> Result<Vec<u8>, TooSmall> {
    let mut layout = Layout::of(Hashing::Seeded(0), 0, 1, &[]).expect("a header fits memory");
    layout.cell_log2 = cell_log2;
    let room = max_bytes.saturating_sub(layout.spill_at);
    let spill = grafite::write_body(GrafiteSpec::new(), keys, room, hashing.for_spill(), threads);
    let spill = spill.map_err(|small| TooSmall { smallest_bytes: small.smallest_bytes + layout.spill_at })?;
    Ok([layout.zeroed(), spill].concat())
}

/// One build.
struct Build<'a> {
    spec: RibbonSpec,
    shape: Shape,
    /// The numbers of cells.
    keys: &'a [u64],
    cell_log2: u32,
    hashing: Hashing,
    threads: Threads,
}

/// The keys in layers and in the spill.
#[derive(Debug, Default)]
struct Cut {
    /// A number for each block: of its key, or of its last position if its keys are spilled.
    entries: Vec<u64>,
    /// Ascending.
    spilled: Vec<u64>,
}

/// What is built after the first layer.
struct Rest {
    layers: Vec<Eliminated>,
    spill: Vec<u8>,
}

impl Build<'_> {
    fn body(&self) -> Vec<u8> {
        let (entries, spilled): (Vec<_>, Vec<_>) =
            self.cut().into_iter().map(|cut| (cut.entries, cut.spilled)).unzip();
        let mut first = self.eliminate(0, &entries, self.threads);
        drop(entries);
        let (bumped, spilled) = (first.take_bumped(), joined(spilled));
        if self.threads.pieces(self.keys.len()) == 1 {
            let rest = self.rest(bumped, spilled, self.threads);
            return self.assemble(&first, None, rest);
        }
        // From the last row to the first there is nothing to share, so all else is built meanwhile.
        let (rows, rest) =
            on_two_threads(|| first.rows(), || self.rest(bumped, spilled, self.threads.less_one()));
        self.assemble(&first, Some(&rows), rest)
    }

    /// The bytes of all parts; `first_rows` are those of the first layer's rows, if they are known already.
    fn assemble(&self, first: &Eliminated, first_rows: Option<&[u8]>, rest: Rest) -> Vec<u8> {
        let layers = || std::iter::once(first).chain(&rest.layers);
        let sizes: Vec<Layer> = layers().map(Eliminated::layer).collect();
        let mut layout = Layout::of(self.hashing, self.shape.block_log2, self.spec.window(), &sizes)
            .expect("rows fit memory");
        layout.cell_log2 = self.cell_log2;
        let mut body = layout.zeroed();
        for (index, layer) in layers().enumerate() {
            layer.write_thresholds(&mut body[layout.thresholds_at(index)..]);
            let place = &mut body[layout.rows_at(index)..];
            match first_rows.filter(|_| index == 0) {
                Some(rows) => place[..rows.len()].copy_from_slice(rows),
                None => layer.write_rows(place),
            }
        }
        body.extend(rest.spill);
        body
    }

    /// A key goes to the spill if it is not alone in its block, or stands where the mark of such blocks does.
    fn cut(&self) -> Vec<Cut> {
        let pieces = self.threads.pieces(self.keys.len());
        on_threads(pieces, |index| self.cut_piece(piece_of(self.keys.len(), pieces, index)))
    }

    /// The same for the keys at the places `piece`; of a block that goes on after them, the first key alone is an entry.
    fn cut_piece(&self, piece: Range<usize>) -> Cut {
        let block_log2 = self.shape.block_log2;
        let last_position = (1_u64 << block_log2) - 1;
        let mut cut = Cut { entries: Vec::with_capacity(piece.len()), spilled: Vec::new() };
        let mut before = piece.start.checked_sub(1).map(|index| self.keys[index] >> block_log2);
        for (index, &key) in piece.clone().zip(&self.keys[piece]) {
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

    /// The layers after the first, and the spill, of the blocks that the first layer left and the keys that no layer takes.
    fn rest(&self, bumped: Vec<Vec<u64>>, mut spilled: Vec<u64>, threads: Threads) -> Rest {
        let Shape { block_log2, planes, tall_buckets, .. } = self.shape;
        let (mut entries, mut layers) = (bumped, Vec::new());
        for index in 1..MAX_LAYERS {
            if (count(&entries) as u64) < self.spec.min_layer() {
                break;
            }
            let mut layer = self.eliminate(index, &entries, threads);
            entries = layer.take_bumped();
            layers.push(layer);
        }
        self.spill_blocks(joined(entries), &mut spilled);
        let last = spill_last(spilled.len() as u64, planes + u32::from(tall_buckets > 0));
        let hashing = self.hashing.for_spill();
        let spill = grafite::write_circle(GrafiteSpec::new(), &spilled, last, block_log2, hashing, threads);
        Rest { layers, spill }
    }

    /// One layer of `entries`.
    fn eliminate(&self, index: usize, entries: &[Vec<u64>], threads: Threads) -> Eliminated {
        let Shape { block_log2, planes, tall_buckets, .. } = self.shape;
        let layer = layer_of(index, rows_for(count(entries) as u64), planes, tall_buckets);
        let (hasher, window) = (self.hashing.hasher(), self.spec.window());
        let equations = Equations { hasher, block_log2, window, index, layer };
        // Few entries are scattered by one thread, in however many pieces they came.
        if entries.len() > 1 && threads.pieces(count(entries)) == 1 {
            return eliminate(&equations, &[entries.concat()], threads);
        }
        eliminate(&equations, entries, threads)
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

/// Entries in all pieces.
fn count(entries: &[Vec<u64>]) -> usize {
    entries.iter().map(Vec::len).sum()
}

/// All pieces as one, without a copy where there is one alone.
fn joined(mut pieces: Vec<Vec<u64>>) -> Vec<u64> {
    if pieces.len() == 1 { pieces.remove(0) } else { pieces.concat() }
}
