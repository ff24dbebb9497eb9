//! How keys become places: integers are their own, byte strings have those of a map or a window.

use lacuna_base::{
    Budget, ByteRange, KeySpace, KeySpaceId, LongPlace, PlaceMap, SortedKeys, U64Range, Window,
};

use crate::frame::{
    POINTS_TRAILER_BYTES, push_map_sections, push_window_section, window_for, window_section_bytes,
};
use crate::string_choice::is_seen_whole;
use crate::string_view::StringView;

/// Percents of the payload that a map may take, where none is given.
const MAP_PERCENTS: [u32; 2] = [2, 8];
/// Most percents that may be given.
pub(super) const MAX_MAP_PERCENT: u32 = 50;
/// A map of this many bytes is not too large, if it takes a part of the payload at most.
const MAP_BYTES: usize = 4_096;
const MAP_PART: usize = 16;

/// A key space that place tries are built over: `u64` or `[u8]`.
pub(super) trait PlaceSpace: KeySpace {
    /// How its keys become places.
    type View<'k>;

    /// The views to choose from in a payload of `max_bytes`, each with its percentage: that of the map that is given, or those
    /// of all.
    fn views<'k>(
        keys: SortedKeys<'k, Self>,
        max_bytes: usize,
        map_percent: Option<u32>,
    ) -> Vec<(u32, Self::View<'k>)>;
    /// The place of a key.
    fn place(view: &Self::View<'_>, key: Self::Ref<'_>) -> LongPlace;
    /// The first and the last place of the keys from `lo` to `hi`.
    fn cover(view: &Self::View<'_>, lo: Self::Ref<'_>, hi: Self::Ref<'_>) -> Option<(LongPlace, LongPlace)>;
    /// Bits of places.
    fn max_bits(view: &Self::View<'_>) -> u32;
    /// Bytes beside the body.
    fn section_bytes(view: &Self::View<'_>) -> usize;
    /// Appends what stands after the body.
    fn push_sections(view: &Self::View<'_>, payload: &mut Vec<u8>);
    /// The integer that stands for a smallest or largest key in the envelope.
    fn end(view: &Self::View<'_>, key: Self::Ref<'_>) -> u64;
    /// Whether this number of keys needs no body.
    fn has_no_body(key_count: usize) -> bool {
        key_count == 0 || key_count <= 2 && Self::ID == KeySpaceId::U64
    }
}

impl PlaceSpace for u64 {
    type View<'k> = ();

    fn views<'k>(_: SortedKeys<'k, Self>, _: usize, _: Option<u32>) -> Vec<(u32, ())> {
        vec![(0, ())]
    }
    fn place((): &(), key: u64) -> LongPlace {
        LongPlace::from_word(key)
    }
    fn cover((): &(), lo: u64, hi: u64) -> Option<(LongPlace, LongPlace)> {
        U64Range::new(lo, hi)
            .map(|range| (LongPlace::from_word(range.lo()), LongPlace::from_word(range.hi())))
    }
    fn max_bits((): &()) -> u32 {
        u64::BITS
    }
    fn section_bytes((): &()) -> usize {
        0
    }
    fn push_sections((): &(), _: &mut Vec<u8>) {}
    fn end((): &(), key: u64) -> u64 {
        key
    }
}

/// A window, and a map if it is better.
pub(super) struct Strings<'k> {
    window: Window<'k>,
    map: Option<Vec<u8>>,
}

impl Strings<'_> {
    fn view(&self) -> StringView<'_> {
        let map = self.map.as_deref().and_then(PlaceMap::new);
        map.map_or(StringView::Window(self.window), StringView::Map)
    }
}

impl PlaceSpace for [u8] {
    type View<'k> = Strings<'k>;

    fn views<'k>(
        keys: SortedKeys<'k, Self>,
        max_bytes: usize,
        map_percent: Option<u32>,
    ) -> Vec<(u32, Strings<'k>)> {
        let window = window_for(keys, (max_bytes - Budget::FIXED_BYTES) / 4);
        let with_map = |percent: u32| {
            let share = max_bytes / 100 * percent as usize;
            let map = PlaceMap::build(keys, share.max(MAP_BYTES.min(max_bytes / MAP_PART)))?;
            Some((percent, Strings { window, map: Some(map) }))
        };
        let mut views = match (is_seen_whole(keys, window), map_percent) {
            (true, _) => Vec::new(),
            (false, Some(percent)) => Vec::from_iter(with_map(percent)),
            (false, None) => MAP_PERCENTS.into_iter().filter_map(with_map).collect(),
        };
        views.dedup_by(|a, b| a.1.map == b.1.map);
        if views.is_empty() {
            views.push((0, Strings { window, map: None }));
        }
        views
    }
    fn place(view: &Strings<'_>, key: &[u8]) -> LongPlace {
        view.view().long_place(key)
    }
    fn cover(view: &Strings<'_>, lo: &[u8], hi: &[u8]) -> Option<(LongPlace, LongPlace)> {
        view.view().long_cover(ByteRange::new(lo, hi)?)
    }
    fn max_bits(view: &Strings<'_>) -> u32 {
        view.view().long_bits()
    }
    fn section_bytes(view: &Strings<'_>) -> usize {
        match &view.map {
            Some(map) => map.len() + POINTS_TRAILER_BYTES,
            None => window_section_bytes(view.window),
        }
    }
    fn push_sections(view: &Strings<'_>, payload: &mut Vec<u8>) {
        match &view.map {
            Some(map) => push_map_sections(payload, &[], map),
            None => push_window_section(payload, view.window),
        }
    }
    fn end(view: &Strings<'_>, key: &[u8]) -> u64 {
        view.view().place(key)
    }
}
