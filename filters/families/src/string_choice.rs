//! The choice of how a file's byte strings become integers: once, for building and for predicting alike.
//!
//! Keys that end within eight bytes after their common prefix are seen through that window, whole. Longer keys get a place
//! map if the queries of the plan cost less through it than through the window, with as many bits as these queries need: more
//! bits tell more keys apart, and make every range longer, which families that count keys pay for. A part of the budget goes
//! to the hashes of whole keys if points are asked for, beside either.

use lacuna_base::{Budget, BuildPlan, ByteRange, PlaceMap, SortedKeys, Window};

use crate::frame::{
    POINTS_TRAILER_BYTES, push_map_sections, push_points_and_window, push_window_section, window_for,
    window_section_bytes,
};
use crate::point_section::PointSection;
use crate::string_costs::Asked;
use crate::string_view::StringView;

/// Share of the payload that a map may take, and what it may take in any case, if that is at most a part of the payload.
const MAP_SHARE: usize = 50;
const MAP_BYTES: usize = 4_096;
const MAP_PART: usize = 16;
/// Smaller maps are not worth it.
const MIN_MAP_BYTES: usize = 512;
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
        let budget = plan.budget().as_bits_per_key();
        let choice = queries.best(PlaceMap::new(&map).expect("it was built"), plain.window, budget);
        let point_rate = choice.point_rate();
        PlaceMap::set_bits(&mut map, choice.bits);
        #[expect(clippy::cast_possible_truncation, reason = "less than the payload")]
        let point_bytes = ((choice.point_bits * keys.len() as f64 / 8.0) as usize).min(MAX_POINT_BYTES);
        Self { map: choice.is_mapped.then_some(map), point_bytes, point_rate, ..plain }
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
