//! The queries that are assumed where there is no sample.
//!
//! Half of them are single keys, half short ranges of 2 to 32; half of either start anywhere between the smallest and the
//! largest key, half within 32 after a key. Over byte strings, lengths and distances are counted in the eight bytes after the
//! keys' common prefix.

use lacuna_base::hash::{IntegerHasher, reduce};
use lacuna_base::{Sample, SortedKeys, Window};

use crate::frame::window_for;
use crate::statistics::place_in;

/// In a sentence, for reports.
pub(crate) const ASSUMPTION: &str = "no sample: half points, half ranges of 2 to 32 keys; half of either anywhere, half within 32 after a key";

/// Most queries drawn, and queries for each key where there are few; those that hold a key are left out later.
const MAX: u64 = 1_600;
const FOR_EACH_KEY: u64 = 4;
/// Longest range.
const LONGEST: u64 = 32;
/// Largest distance after a key.
const FARTHEST: u64 = 32;
/// Longest prefix that the ends of assumed queries over byte strings share.
const PREFIX: usize = 256;

/// Ends of the assumed queries over integers.
fn assumed(
    ends: (u64, u64),
    key_count: usize,
    key: impl Fn(usize) -> u64,
) -> impl Iterator<Item = (u64, u64)> {
    let hasher = IntegerHasher::new(0);
    let count = if key_count < 2 { 0 } else { (key_count as u64 * FOR_EACH_KEY).min(MAX) };
    (0..count).map(move |number| {
        let random = |stream: u64| hasher.hash(number * 4 + stream);
        let start = if number % 2 == 0 {
            ends.0 + reduce(random(0), ends.1 - ends.0)
        } else {
            #[expect(clippy::cast_possible_truncation, reason = "below the number of keys")]
            let behind = key(reduce(random(0), key_count as u64) as usize);
            behind.saturating_add(1 + reduce(random(1), FARTHEST))
        };
        let more = if number % 4 < 2 { 0 } else { 1 + reduce(random(2), LONGEST - 1) };
        (start, start.saturating_add(more))
    })
}

/// The assumed queries over integers.
pub(crate) fn assumed_integers(keys: SortedKeys<'_, u64>) -> Sample<u64> {
    let mut sample = Sample::new();
    let ends = (keys.first().unwrap_or(0), keys.last().unwrap_or(0));
    assumed(ends, keys.len(), |index| keys.get(index)).for_each(|(lo, hi)| sample.push(lo, hi));
    sample
}

/// The assumed queries over byte strings.
pub(crate) fn assumed_strings(keys: SortedKeys<'_, [u8]>) -> Sample<[u8]> {
    let mut sample = Sample::new();
    let window = window_for(keys, PREFIX);
    let place = |key| place_in(window, key);
    let ends = (keys.first().map_or(0, place), keys.last().map_or(0, place));
    for (lo, hi) in assumed(ends, keys.len(), |index| place(keys.get(index))) {
        sample.push(string_at(window, lo).as_slice(), string_at(window, hi).as_slice());
    }
    sample
}

/// The string that `window` reads as `place`.
fn string_at(window: Window<'_>, place: u64) -> Vec<u8> {
    let place = place.min(window.largest());
    [window.prefix(), &place.to_be_bytes()[Window::MAX_WIDTH - window.width()..]].concat()
}
