//! The size of a block and the number of planes for a budget.
//!
//! Larger blocks leave room for longer ranges in one block, smaller ones for fewer keys that share one. Of all sizes whose
//! mean rate over the lengths asked for is within 2 % of the best, the largest is taken.

use lacuna_base::RateBound;
use lacuna_succinct::elias_fano::{Geometry, encoded_len};

use super::codec::{MAX_BLOCK_LOG2, MAX_LAYERS, MAX_PLANES, PADDING_BYTES, SHORT_HEADER_BYTES, header_bytes};
use super::counts::BlockCounts;
use super::layer::{Layer, WINDOW};
use super::spec::RibbonSpec;
use crate::costs::BOUND_LENGTHS;
use crate::grafite;
use crate::hashing::Hashing;
use crate::largest::largest_within;

/// Blocks for 100 windows: measured to need the fewest bytes with windows of 32 rows and buckets of 32.
const LOAD: f64 = 1.02;
/// Share of the blocks that go to the next layer at this load, measured, and a little more.
const BUMPED: f64 = 0.036;
/// Mean rates that count as the same.
const TOLERANCE: f64 = 1.02;
/// Most blocks of a range that are asked.
const MAX_BLOCKS: u64 = 64;

/// What a filter is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    pub(crate) block_log2: u32,
    pub(crate) planes: u32,
    /// Buckets of the first layer with one plane more; the further layers have it if there are any.
    pub(crate) tall_buckets: u64,
    /// Expected bytes of the body.
    pub(crate) bytes: f64,
    /// Expected "maybe" about a range without a key, for each key of its length.
    pub(crate) unit_rate: f64,
}

impl Shape {
    /// Length of the longest range that is asked about, wherever it starts.
    fn max_len(&self) -> f64 {
        let blocks = max_blocks(self.planes, self.block_log2) - 1;
        blocks as f64 * (1_u64 << self.block_log2) as f64
    }

    /// What the filter will say of its rate.
    pub(crate) fn rate_bound(&self) -> RateBound {
        let spilled = libm::exp2(-f64::from(self.planes + u32::from(self.tall_buckets > 0)));
        RateBound { unit_rate: (self.unit_rate * (1.0 + spilled)).max(spilled), max_len: self.max_len() }
    }
}

/// Most blocks of a range that are asked: where there are many more than there are checks against, the answer is "maybe".
#[inline(always)]
pub(crate) fn max_blocks(planes: u32, block_log2: u32) -> u64 {
    (4 << planes.saturating_sub(block_log2).min(16)).min(MAX_BLOCKS)
}

/// Rows for `blocks` blocks.
pub(crate) fn rows_for(blocks: u64) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "fewer rows than blocks, which lie in memory")]
    let rows = (blocks as f64 / LOAD) as u64;
    rows.next_multiple_of(WINDOW).max(WINDOW)
}

/// Values of the spill's circle: `spilled` keys on it have the rate of `planes` planes, and a block fits.
pub(crate) fn spill_last(spilled: u64, planes: u32) -> u64 {
    (spilled.max(1) << planes) - 1
}

fn spill_bytes(spilled: f64, planes: u32) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "at most the number of keys")]
    let spilled = spilled.ceil() as u64;
    (grafite::HEADER_BYTES + encoded_len(spilled, spill_last(spilled, planes), Geometry::default())) as f64
}

/// What decides the shape.
pub(crate) struct Choice<'a> {
    pub(crate) spec: RibbonSpec,
    pub(crate) counts: &'a BlockCounts,
    pub(crate) span: u64,
    pub(crate) max_bytes: usize,
    /// Bytes that a filter with layers may be expected to have: fewer, where one that was built turned out too large.
    pub(crate) room: usize,
    /// Lengths of the ranges that are asked for; may be empty.
    pub(crate) lengths: &'a [f64],
}

impl Choice<'_> {
    /// The best shape with layers; `None` if all keys should be spilled.
    pub(crate) fn best(&self) -> Option<Shape> {
        let sizes = match self.spec.block_log2() {
            Some(block_log2) => block_log2..=block_log2,
            None => 0..=MAX_BLOCK_LOG2,
        };
        let shapes: Vec<(Shape, f64)> = sizes.filter_map(|block_log2| self.with_block(block_log2)).collect();
        // Where no shape denies any of the lengths, shorter ranges decide.
        let rates = |(shape, mean): &(Shape, f64)| [*mean, shape.unit_rate];
        let best = shapes.iter().map(rates).min_by(|a, b| a.partial_cmp(b).expect("rates are numbers"))?;
        let is_as_good = |rates: [f64; 2]| rates[0] <= best[0] * TOLERANCE && rates[1] <= best[1] * TOLERANCE;
        let found = shapes.iter().rev().find(|shape| is_as_good(rates(shape)))?;
        (self.spec.planes().is_some() || rates(found) < self.spilled_rates()).then_some(found.0)
    }

    /// The mean rate of a filter that spills all keys, and its rate for each key of a range.
    fn spilled_rates(&self) -> [f64; 2] {
        match self.largest_circle() {
            Some(last) if last == self.span => [0.0, 0.0],
            Some(last) => {
                let unit_rate = self.counts.keys() / (last as f64 + 1.0);
                [self.mean_rate(unit_rate, f64::INFINITY), unit_rate]
            }
            None => [1.0, 1.0],
        }
    }

    /// Bytes that the key of a spill needs beyond a seed.
    fn further_bytes(&self) -> usize {
        Hashing::further_bytes(self.spec.wants_secret())
    }

    /// The last value of the largest circle that holds all keys.
    fn largest_circle(&self) -> Option<u64> {
        #[expect(clippy::cast_possible_truncation, reason = "a number of keys")]
        let keys = self.counts.keys() as u64;
        largest_within(self.span, |last| {
            let values = keys.min(last.saturating_add(1));
            let header_bytes = SHORT_HEADER_BYTES + grafite::HEADER_BYTES + self.further_bytes();
            header_bytes + encoded_len(values, last, Geometry::default()) <= self.max_bytes
        })
    }

    /// Mean over the lengths of the rate where ranges of at most `max_len` are asked.
    fn mean_rate(&self, unit_rate: f64, max_len: f64) -> f64 {
        let lengths = if self.lengths.is_empty() { &BOUND_LENGTHS[..] } else { self.lengths };
        let rate = |len: &f64| if *len <= max_len { (len * unit_rate).min(1.0) } else { 1.0 };
        lengths.iter().map(rate).sum::<f64>() / lengths.len() as f64
    }

    /// The shape with blocks of `2^block_log2` keys, and its mean rate.
    fn with_block(&self, block_log2: u32) -> Option<(Shape, f64)> {
        let shape = match self.spec.planes() {
            Some(planes) => (block_log2 <= planes).then(|| self.shape(block_log2, planes, 0))?,
            None => self.largest(block_log2)?,
        };
        Some((shape, self.mean_rate(shape.unit_rate, shape.max_len())))
    }

    /// As many planes as fit.
    fn largest(&self, block_log2: u32) -> Option<Shape> {
        let fits = |shape: &Shape| shape.bytes <= self.room as f64;
        let planes = (block_log2.max(1)..=MAX_PLANES)
            .take_while(|&planes| fits(&self.shape(block_log2, planes, 0)))
            .last()?;
        if planes == MAX_PLANES {
            return Some(self.shape(block_log2, planes, 0));
        }
        let buckets = self.rows(block_log2)[0] / WINDOW;
        let tall = largest_within(buckets, |tall| fits(&self.shape(block_log2, planes, tall)))?;
        Some(self.shape(block_log2, planes, tall))
    }

    /// Expected rows of each layer.
    fn rows(&self, block_log2: u32) -> [u64; MAX_LAYERS] {
        let mut blocks = self.counts.blocks(block_log2);
        std::array::from_fn(|layer| {
            #[expect(clippy::cast_possible_truncation, reason = "at most the number of keys")]
            let here = blocks.round() as u64;
            blocks *= BUMPED;
            if layer > 0 && here < self.spec.min_layer() { 0 } else { rows_for(here) }
        })
    }

    fn shape(&self, block_log2: u32, planes: u32, tall_buckets: u64) -> Shape {
        let rows = self.rows(block_log2).into_iter().take_while(|&rows| rows > 0).enumerate();
        let layers: Vec<Layer> =
            rows.map(|(index, rows)| layer_of(index, rows, planes, tall_buckets)).collect();
        let layer_bytes: u64 = layers.iter().map(|layer| layer.row_bytes() + layer.threshold_bytes()).sum();
        let left = (0..layers.len()).fold(self.counts.blocks(block_log2), |blocks, _| blocks * BUMPED);
        let spilled = self.counts.spilled(block_log2) + left;
        let spill = spill_bytes(spilled, planes + u32::from(tall_buckets > 0));
        let header_bytes = header_bytes(layers.len(), self.spec.wants_secret()) + self.further_bytes();
        let bytes = (header_bytes + PADDING_BYTES) as f64 + layer_bytes as f64 + spill;
        Shape { block_log2, planes, tall_buckets, bytes, unit_rate: unit_rate(layers[0]) }
    }
}

/// Layer `index` of `rows` rows.
pub(crate) fn layer_of(index: usize, rows: u64, planes: u32, tall_buckets: u64) -> Layer {
    let tall_rows = match (index, tall_buckets) {
        (_, 0) => 0,
        (0, buckets) => (buckets * WINDOW).min(rows),
        _ => rows,
    };
    Layer { rows, tall_rows, planes }
}

/// The chance that a block without a key is "maybe", for each key asked of it.
pub(crate) fn unit_rate(first: Layer) -> f64 {
    (1.0 - first.tall_share() / 2.0) * libm::exp2(-f64::from(first.planes))
}
