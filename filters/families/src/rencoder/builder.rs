//! Building REncoder: choose levels and hash functions, then insert every node once.

use std::ops::Range;

use lacuna_base::internal::thinned;

use super::codec::{HEADER_BYTES, Header, Levels, Ones};
use super::design::{Designer, MAX_SAMPLED};
use super::insert::insert;
use super::levels::{LevelOrder, NodeCounts, Room, THRESHOLD};
use super::lines::Lines;
use super::made::AllKeys;
use super::query::Rencoder;
use super::spec::RencoderSpec;
use crate::integer_build::{BodyOrder, TooSmall};
use crate::statistics::EmptyQuery;

/// Smallest body: a header and a line of one word.
pub(crate) const SMALLEST_BYTES: usize = HEADER_BYTES + 8;

/// Writes the body for at least two ascending `keys`.
pub(crate) fn write_body(
    spec: RencoderSpec,
    keys: &[u64],
    max_bytes: usize,
    order: &BodyOrder<'_>,
) -> Result<Vec<u8>, TooSmall> {
    let lines = Lines::within(max_bytes).ok_or(TooSmall { smallest_bytes: SMALLEST_BYTES })?;
    let room = Room { lines, tree_levels: spec.tree_levels() };
    let counts = NodeCounts::of(keys);
    let sample = || sampled(keys, &(order.sample_ranges)());
    let designer =
        Designer { spec, key_count: keys.len() as f64, counts: &counts, room, made: &AllKeys(keys) };
    let design = designer.design(&sample);
    let header = Header {
        seed: order.seed,
        max_probes: spec.max_probes(),
        hash_count: design.hash_count,
        tree_levels: spec.tree_levels(),
        levels: design.levels,
        variant: spec.variant(),
        ones: Ones { mean: 0.0, deviation: 0.0 },
    };
    let mut site = Site { header, lines, keys, body: vec![0; lines.body_bytes()] };
    match spec.round() {
        None => site.insert(0..design.levels.count),
        Some(round) => site.insert_by_rounds(design.order, round),
    }
    Ok(site.into_body())
}

/// The sampled queries without keys, as many as a design looks at.
fn sampled(keys: &[u64], ranges: &[(u64, u64)]) -> Vec<EmptyQuery> {
    let chosen = thinned(ranges.len(), MAX_SAMPLED).map(|index| ranges[index]);
    chosen.filter_map(|(lo, hi)| EmptyQuery::among(keys, lo, hi)).collect()
}

/// A filter under construction.
struct Site<'a> {
    header: Header,
    lines: Lines,
    keys: &'a [u64],
    body: Vec<u8>,
}

impl Site<'_> {
    /// Inserts those of the header's levels that are counted in `steps`, from the lowest.
    fn insert(&mut self, steps: Range<u32>) {
        insert(&Rencoder::new(self.header, self.lines), self.keys, steps, &mut self.body);
    }

    /// Algorithm 5: insert a round of levels, count the ones, and again until they are half.
    fn insert_by_rounds(&mut self, order: LevelOrder, round: u32) {
        let mut before: Option<Levels> = None;
        loop {
            let inserted = before.map_or(0, |levels| levels.count);
            let fresh = (inserted..inserted + round).filter(|&step| order.level(step).is_some());
            #[expect(clippy::cast_possible_truncation, reason = "at most eight levels a round")]
            let levels = order.first(inserted + fresh.count() as u32);
            self.header.levels = levels;
            let grew_upwards = before.is_none_or(|before| before.low == levels.low);
            if grew_upwards {
                self.insert(inserted..levels.count);
            } else {
                // Mini-trees hang from the lowest level; when that moves, all of them move.
                self.body.fill(0);
                self.insert(0..levels.count);
            }
            if self.ones().mean >= 0.5 - THRESHOLD || order.level(levels.count).is_none() {
                return;
            }
            before = Some(levels);
        }
    }

    /// Counts the ones of every line.
    fn ones(&self) -> Ones {
        let (mut sum, mut squares) = (0u64, 0u64);
        for line in self.lines.each(&self.body) {
            let words = line.as_chunks::<8>().0.iter();
            let ones: u64 = words.map(|word| u64::from(u64::from_le_bytes(*word).count_ones())).sum();
            sum += ones;
            squares += ones * ones;
        }
        let (count, bits) = (self.lines.count() as f64, self.lines.line_bits());
        let mean = sum as f64 / count;
        let variance = (squares as f64 / count - mean * mean).max(0.0);
        Ones { mean: mean / bits, deviation: variance.sqrt() / bits }
    }

    fn into_body(mut self) -> Vec<u8> {
        Header { ones: self.ones(), ..self.header }.write(&mut self.body);
        self.body
    }
}
