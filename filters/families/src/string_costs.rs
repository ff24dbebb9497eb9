//! What queries seem to cost through a window and through a place map, with a share of the budget for points or without.
//!
//! The cost is that of a hashed body such as Grafite's: a query that shares an integer with a key next to it is a needless read, and
//! any other one is as often as it is long in integers, unless these are few enough to be kept exactly.

use lacuna_base::{BuildPlan, ByteRange, PlaceMap, Sample, SortedKeys, U64Range, Window};

use crate::designer::assumed_strings;
use crate::integer::places_of;
use crate::point_section::PointSection;
use crate::string_view::StringView;

/// Queries that the bits of places are judged by.
const MAX_QUERIES: usize = 2_000;
/// Bits that a rate costs each key beyond its logarithm.
const BITS_BESIDE_RATE: f64 = 2.2;
/// The share of the budget for points where nothing else is asked.
const POINTS_ALONE: f64 = 0.75;
/// Among other queries: bits for each key that are enough for points, a rate of 2^-10; that the body keeps before; and that
/// are too few to be of use.
const POINT_BITS: f64 = 12.5;
const BODY_BITS: f64 = 7.5;
const MIN_POINT_BITS: f64 = 4.0;
/// Points are few if they are less than one of this many queries; what they may have then, besides nothing and enough.
const FEW_POINTS: usize = 3;
const FEWER_POINT_BITS: [f64; 2] = [4.0, 8.0];

/// Queries that hold no key, each with its place among the keys.
pub(crate) struct Asked<'k> {
    queries: Vec<(Vec<u8>, Vec<u8>, usize)>,
    keys: SortedKeys<'k, [u8]>,
    points: usize,
}

impl<'k> Asked<'k> {
    /// Those of the plan's sample, or those that are assumed where none of it lies between two keys.
    pub(crate) fn of(keys: SortedKeys<'k, [u8]>, plan: &BuildPlan<[u8]>) -> Self {
        let sampled = Self::among(keys, plan.sample());
        if sampled.queries.is_empty() { Self::among(keys, &assumed_strings(keys)) } else { sampled }
    }

    fn among(keys: SortedKeys<'k, [u8]>, sample: &Sample<[u8]>) -> Self {
        let mut asked = Self { queries: Vec::new(), keys, points: 0 };
        let step = sample.len().div_ceil(MAX_QUERIES).max(1);
        for (lo, hi) in sample.iter().step_by(step) {
            let next = first_from(keys, lo);
            if next > 0 && next < keys.len() && keys.get(next) > hi {
                asked.points += usize::from(lo == hi);
                asked.queries.push((lo.to_vec(), hi.to_vec(), next));
            }
        }
        asked
    }

    /// What may go to the hashes of whole keys, in bits of `budget` for each key. Where points are few among the queries, they may
    /// cost less without a share of their own.
    fn point_bits(&self, budget: f64) -> Vec<f64> {
        let enough = match (budget - BODY_BITS).min(POINT_BITS) {
            bits if bits < MIN_POINT_BITS => 0.0,
            bits => bits,
        };
        match self.points {
            0 => vec![0.0],
            points if points == self.queries.len() => vec![POINTS_ALONE * budget],
            points if points * FEW_POINTS < self.queries.len() => {
                let fewer = FEWER_POINT_BITS.into_iter().filter(|&bits| bits < enough);
                std::iter::once(0.0).chain(fewer).chain([enough]).collect()
            }
            _ => vec![enough],
        }
    }

    /// The share of points, and the view with its bits, with which the queries seem to cost least.
    pub(crate) fn best(&self, map: PlaceMap<'_>, window: Window<'_>, budget: f64) -> Judged {
        let through_map = self.placed(StringView::Map(map));
        let through_window = self.placed(StringView::Window(window));
        let windows = Spread::of(self.keys, StringView::Window(window));
        let map_bits = map.as_bytes().len() as f64 * 8.0 / self.keys.len() as f64;
        let judged = self.point_bits(budget).into_iter().map(|point_bits| {
            let (body_bits, point_rate) = (budget - point_bits, point_rate(point_bits));
            let (bits, mapped) = self.best_bits(&through_map, body_bits - map_bits, point_rate);
            let windowed = windows.cost(&through_window, body_bits, point_rate);
            Judged { point_bits, bits, is_mapped: mapped < windowed, cost: mapped.min(windowed) }
        });
        judged.min_by(|a, b| a.cost.total_cmp(&b.cost)).expect("there is an option")
    }

    /// The bits with which queries through a map seem to cost least, for bodies of `body_bits` for each key, and their cost.
    fn best_bits(&self, placed: &[Placed], body_bits: f64, point_rate: f64) -> (u32, f64) {
        let circle = circle_of(body_bits);
        let exact_bits = libm::log2(self.keys.len() as f64 * circle);
        let cost_with = |bits: u32| -> f64 {
            let is_exact = f64::from(bits) <= exact_bits;
            placed.iter().map(|query| query.cost(64 - bits, is_exact, circle, point_rate)).sum()
        };
        let costs = (8..=64).map(|bits| (bits, cost_with(bits)));
        costs.min_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap_or((64, f64::INFINITY))
    }

    /// The queries as integers.
    fn placed(&self, view: StringView<'_>) -> Vec<Placed> {
        let place = |(lo, hi, next): &(Vec<u8>, Vec<u8>, usize)| {
            let cover = view.cover(ByteRange::new(lo, hi)?)?;
            let (before, after) = (view.place(self.keys.get(next - 1)), view.place(self.keys.get(*next)));
            Some(Placed { cover, before, after, is_point: lo == hi })
        };
        self.queries.iter().filter_map(place).collect()
    }
}

/// A choice and the cost that it seems to have.
pub(crate) struct Judged {
    /// Bits for each key that go to the hashes of whole keys.
    pub(crate) point_bits: f64,
    /// Bits of a place.
    pub(crate) bits: u32,
    /// Whether the map is worth its bytes.
    pub(crate) is_mapped: bool,
    cost: f64,
}

impl Judged {
    /// Share of absent keys that these hashes let pass.
    pub(crate) fn point_rate(&self) -> f64 {
        point_rate(self.point_bits)
    }
}

/// Share of absent keys that hashes of `bits` bits for each key let pass.
fn point_rate(bits: f64) -> f64 {
    if bits > 0.0 { PointSection::rate(bits) } else { 1.0 }
}

/// How the keys lie as integers.
struct Spread {
    /// Keys, of which those that share an integer leave their bits to the others.
    keys: f64,
    distinct: f64,
    /// Integers from the smallest to the largest.
    span: f64,
}

impl Spread {
    fn of(keys: SortedKeys<'_, [u8]>, view: StringView<'_>) -> Self {
        let places = places_of(keys, view);
        let span = places.first().zip(places.last()).map_or(0.0, |(first, last)| (last - first) as f64 + 1.0);
        Self { keys: keys.len() as f64, distinct: places.len() as f64, span }
    }

    /// The cost of queries for bodies of `body_bits` for each key.
    fn cost(&self, placed: &[Placed], body_bits: f64, point_rate: f64) -> f64 {
        let circle = circle_of(body_bits * self.keys / self.distinct);
        let is_exact = libm::log2(self.span) <= libm::log2(self.distinct * circle);
        placed.iter().map(|query| query.cost(0, is_exact, circle, point_rate)).sum()
    }
}

/// A query as integers, and those of the keys before and after it.
struct Placed {
    cover: U64Range,
    before: u64,
    after: u64,
    is_point: bool,
}

impl Placed {
    /// The reads that it seems to cost without its lowest `shift` bits: one if it shares an integer with a key, else its
    /// length by the circle, or none where integers are kept exactly.
    fn cost(&self, shift: u32, is_exact: bool, circle: f64, point_rate: f64) -> f64 {
        let (lo, hi) = (self.cover.lo() >> shift, self.cover.hi() >> shift);
        let alone = match lo <= self.before >> shift || hi >= self.after >> shift {
            true => 1.0,
            false if is_exact => 0.0,
            false => (((hi - lo) as f64 + 1.0) / circle).min(1.0),
        };
        if self.is_point { alone * point_rate } else { alone }
    }
}

/// Integers of a hashed body for each key, with `bits` for each.
fn circle_of(bits: f64) -> f64 {
    libm::exp2((bits - BITS_BESIDE_RATE).max(0.0))
}

/// The number of keys before `bound`.
fn first_from(keys: SortedKeys<'_, [u8]>, bound: &[u8]) -> usize {
    let (mut start, mut end) = (0, keys.len());
    while start < end {
        let middle = start.midpoint(end);
        if keys.get(middle) < bound { start = middle + 1 } else { end = middle }
    }
    start
}
