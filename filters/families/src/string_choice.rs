//! The choice of how a file's byte strings become integers: once, for building and for predicting alike.
//!
//! Keys that end within eight bytes after their common prefix are seen through that window, whole. Longer keys get a place
//! map if the queries of the plan cost less through it than through the window, with as many bits as these queries need: more
//! bits tell more keys apart, and make every range longer, which families that count keys pay for. A part of the budget goes
//! to the hashes of whole keys if points are asked for, beside either.

use lacuna_base::{Budget, BuildPlan, ByteRange, PlaceMap, Sample, SortedKeys, U64Range, Window};

use crate::designer::assumed_strings;
use crate::frame::{
    POINTS_TRAILER_BYTES, push_map_sections, push_points_and_window, push_window_section, window_for,
    window_section_bytes,
};
use crate::integer::places_of;
use crate::point_section::PointSection;
use crate::string_view::StringView;

/// Share of the payload that a map may take, and what it may take in any case, if that is at most a part of the payload.
const MAP_SHARE: usize = 50;
const MAP_BYTES: usize = 4_096;
const MAP_PART: usize = 16;
/// Smaller maps are not worth it.
const MIN_MAP_BYTES: usize = 512;
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
/// What the trailer has a number for.
const MAX_POINT_BYTES: usize = u32::MAX as usize;

/// The choice for one file.
#[derive(Debug)]
pub(crate) struct StringChoice<'a> {
    window: Window<'a>,
    map: Option<Vec<u8>>,
    /// Most bytes of the section for points.
    point_bytes: usize,
    /// Share of absent keys that the section lets pass.
    point_rate: f64,
}

impl<'a> StringChoice<'a> {
    /// The choice for `keys` and `plan`.
    pub(crate) fn of(keys: SortedKeys<'a, [u8]>, plan: &BuildPlan<[u8]>) -> Self {
        let payload_bytes = plan.budget().payload_bytes(keys.len());
        let plain = Self::window(window_for(keys, (payload_bytes - Budget::FIXED_BYTES) / 4));
        let max_map = (payload_bytes / MAP_SHARE).max(MAP_BYTES.min(payload_bytes / MAP_PART));
        if max_map < MIN_MAP_BYTES || is_seen_whole(keys, plain.window) {
            return plain;
        }
        let Some(mut map) = PlaceMap::build(keys, max_map) else { return plain };
        let queries = Asked::of(keys, plan);
        let point_bits = queries.point_bits(plan.budget().as_bits_per_key());
        let body_bits = plan.budget().as_bits_per_key() - point_bits;
        let point_rate = if point_bits > 0.0 { PointSection::rate(point_bits) } else { 1.0 };
        let (bits, through_map) =
            queries.best_bits(PlaceMap::new(&map).expect("it was built"), body_bits, point_rate);
        PlaceMap::set_bits(&mut map, bits);
        let is_worth_it = through_map < queries.cost_through(plain.window, body_bits, point_rate);
        #[expect(clippy::cast_possible_truncation, reason = "less than the payload")]
        let point_bytes = ((point_bits * keys.len() as f64 / 8.0) as usize).min(MAX_POINT_BYTES);
        Self { map: is_worth_it.then_some(map), point_bytes, point_rate, ..plain }
    }

    /// The window alone.
    pub(crate) fn window(window: Window<'a>) -> Self {
        Self { window, map: None, point_bytes: 0, point_rate: 1.0 }
    }

    /// The same window beside `point_bytes` of hashes.
    #[cfg(test)]
    pub(crate) fn beside_points(self, point_bytes: usize) -> Self {
        Self { point_bytes, ..self }
    }

    /// Whether there is a place map.
    #[cfg(test)]
    pub(crate) fn has_map(&self) -> bool {
        self.map.is_some()
    }

    /// The map to integers.
    pub(crate) fn view(&self) -> StringView<'_> {
        let map = self.map.as_deref().and_then(PlaceMap::new);
        map.map_or(StringView::Window(self.window), StringView::Map)
    }

    /// Bytes beside the body, at most.
    pub(crate) fn section_bytes(&self) -> usize {
        match &self.map {
            Some(map) => self.point_bytes + map.len() + POINTS_TRAILER_BYTES,
            None if self.point_bytes > 0 => {
                self.point_bytes + self.window.prefix().len() + POINTS_TRAILER_BYTES
            }
            None => window_section_bytes(self.window),
        }
    }

    /// Appends what stands after the body.
    pub(crate) fn push_sections(&self, payload: &mut Vec<u8>, keys: SortedKeys<'_, [u8]>, seed: u64) {
        let points = || PointSection::write(keys, seed, self.point_bytes);
        match &self.map {
            Some(map) => push_map_sections(payload, &points(), map),
            None if self.point_bytes > 0 => push_points_and_window(payload, &points(), self.window),
            None => push_window_section(payload, self.window),
        }
    }

    /// The queries that come to the body, of all that are asked: of points, those that the hashes let pass.
    pub(crate) fn body_filter<'q>(&self) -> impl FnMut(ByteRange<'q>) -> bool + use<'q> {
        let (rate, mut points) = (self.point_rate, 0.5);
        move |range| {
            if range.as_point().is_none() {
                return true;
            }
            let before = libm::floor(points);
            points += rate;
            libm::floor(points) > before
        }
    }
}

/// Whether the window reads all of every key.
pub(crate) fn is_seen_whole(keys: SortedKeys<'_, [u8]>, window: Window<'_>) -> bool {
    keys.iter().all(|key| key.len() <= window.prefix().len() + Window::MAX_WIDTH)
}

/// Queries that hold no key, each with its place among the keys.
struct Asked<'k> {
    queries: Vec<(Vec<u8>, Vec<u8>, usize)>,
    keys: SortedKeys<'k, [u8]>,
    points: usize,
}

impl<'k> Asked<'k> {
    /// Those of the plan's sample, or those that are assumed where none of it lies between two keys.
    fn of(keys: SortedKeys<'k, [u8]>, plan: &BuildPlan<[u8]>) -> Self {
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

    /// Bits of `budget` for each key that go to the hashes of whole keys.
    fn point_bits(&self, budget: f64) -> f64 {
        match self.points {
            0 => 0.0,
            points if points == self.queries.len() => POINTS_ALONE * budget,
            _ => match (budget - BODY_BITS).min(POINT_BITS) {
                bits if bits < MIN_POINT_BITS => 0.0,
                bits => bits,
            },
        }
    }

    /// The bits with which the queries seem to cost least, for bodies of `body_bits` for each key, and their cost.
    fn best_bits(&self, map: PlaceMap<'_>, body_bits: f64, point_rate: f64) -> (u32, f64) {
        let map_bits = map.as_bytes().len() as f64 * 8.0 / self.keys.len() as f64;
        let circle = circle_of(body_bits - map_bits);
        let placed = self.placed(StringView::Map(map));
        let exact_bits = libm::log2(self.keys.len() as f64 * circle);
        let cost_with = |bits: u32| -> f64 {
            let is_exact = f64::from(bits) <= exact_bits;
            placed.iter().map(|query| query.cost(64 - bits, is_exact, circle, point_rate)).sum()
        };
        let costs = (8..=64).map(|bits| (bits, cost_with(bits)));
        costs.min_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap_or((64, f64::INFINITY))
    }

    /// The cost of the queries through `window`; keys that share one leave their bits to the others.
    fn cost_through(&self, window: Window<'_>, body_bits: f64, point_rate: f64) -> f64 {
        let view = StringView::Window(window);
        let places = places_of(self.keys, view);
        let (Some(first), Some(last)) = (places.first(), places.last()) else { return 0.0 };
        let distinct = places.len() as f64;
        let circle = circle_of(body_bits * self.keys.len() as f64 / distinct);
        let is_exact = libm::log2((last - first) as f64 + 1.0) <= libm::log2(distinct * circle);
        self.placed(view).iter().map(|query| query.cost(0, is_exact, circle, point_rate)).sum()
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
