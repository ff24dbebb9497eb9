//! The queries that are assumed where no sample decides.
//!
//! Half of them are single keys, half short ranges of 2 to 32; half of either start anywhere between the smallest and the
//! largest key, half within 32 after a key. Over byte strings, lengths and distances are counted in the eight bytes after the
//! keys' common prefix; where keys are longer, in their last byte, and a query anywhere is the head of a key with the tail
//! of another.

use lacuna_base::hash::{IntegerHasher, reduce};
use lacuna_base::{KeySpace, KeyStatistics, Sample, SortedKeys, Window};

use crate::frame::window_for;
use crate::statistics::place_in;
use crate::string_choice::is_seen_whole;

/// In a sentence, for reports.
pub(crate) const ASSUMPTION: &str =
    "half points, half ranges of 2 to 32 keys; half of either anywhere, half within 32 after a key";

/// Why queries are assumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Assumed {
    NoSample,
    /// Each sampled query holds a key, or lies below or above all keys, so that none shows what a filter should deny.
    NoneBetween,
    /// The filter is to be good for any queries, not for the sampled ones.
    AnyQueries,
}

impl Assumed {
    /// Why these queries do not decide; `None` if they do.
    pub(crate) fn instead_of<K: KeySpace + ?Sized>(known: &KeyStatistics<'_, K>) -> Option<Self> {
        match (known.plan().sample().is_empty(), known.has_query_between_keys()) {
            (true, _) => Some(Self::NoSample),
            (false, false) => Some(Self::NoneBetween),
            (false, true) => None,
        }
    }

    pub(crate) const fn in_words(self) -> &'static str {
        match self {
            Self::NoSample => "no sample",
            Self::NoneBetween => "no sampled query lies between two keys",
            Self::AnyQueries => "whatever is sampled",
        }
    }
}

/// Most queries drawn, and queries for each key where there are few; those that hold a key are left out later.
const MAX: u64 = 1_600;
const FOR_EACH_KEY: u64 = 4;
/// Longest range.
const LONGEST: u64 = 32;
/// Largest distance after a key.
const FARTHEST: u64 = 32;
/// Most bytes of the ends of assumed queries over byte strings, which are as long as keys; one query is always drawn.
const MAX_BYTES: usize = 4 << 20;
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

/// The assumed queries over byte strings: through the window if it reads whole keys, else made of parts of the keys.
pub(crate) fn assumed_strings(keys: SortedKeys<'_, [u8]>) -> Sample<[u8]> {
    let mut sample = Sample::new();
    let window = window_for(keys, PREFIX);
    if !is_seen_whole(keys, window) {
        return recombined(keys);
    }
    let place = |key| place_in(window, key);
    let ends = (keys.first().map_or(0, place), keys.last().map_or(0, place));
    for (lo, hi) in assumed(ends, keys.len(), |index| place(keys.get(index))) {
        sample.push(string_at(window, lo).as_slice(), string_at(window, hi).as_slice());
    }
    sample
}

/// Half of the queries start within 32 after a key in its last byte, half at the head of a key with the tail of another;
/// half are points, half go on for 1 to 31 in the last byte.
fn recombined(keys: SortedKeys<'_, [u8]>) -> Sample<[u8]> {
    let hasher = IntegerHasher::new(0);
    let count = (keys.len() as u64 * FOR_EACH_KEY).min(MAX);
    let (mut sample, mut bytes) = (Sample::new(), 0);
    for number in 0..count {
        let random = |stream: u64| hasher.hash(number * 8 + stream);
        #[expect(clippy::cast_possible_truncation, reason = "below the number of keys, or the length of one")]
        let below = |stream: u64, bound: usize| reduce(random(stream), bound as u64) as usize;
        let mut lo = keys.get(below(0, keys.len())).to_vec();
        if number % 2 == 0 {
            let other = keys.get(below(1, keys.len()));
            let cut = below(2, lo.len() + 1);
            lo.truncate(cut);
            lo.extend_from_slice(other.get(cut..).unwrap_or_default());
        } else {
            step_last(&mut lo, 1 + reduce(random(3), FARTHEST));
        }
        let mut hi = lo.clone();
        if number % 4 >= 2 {
            step_last(&mut hi, 1 + reduce(random(4), LONGEST - 1));
        }
        bytes += lo.len() + hi.len();
        if bytes > MAX_BYTES && !sample.is_empty() {
            break;
        }
        sample.push(lo.as_slice(), hi.as_slice());
    }
    sample
}

/// Adds `step`, at most 32, to the last byte, as far as it goes.
fn step_last(key: &mut [u8], step: u64) {
    let step = u8::try_from(step).expect("at most 32");
    key.iter_mut().next_back().into_iter().for_each(|last| *last = last.saturating_add(step));
}

/// The string that `window` reads as `place`.
fn string_at(window: Window<'_>, place: u64) -> Vec<u8> {
    let place = place.min(window.largest());
    [window.prefix(), &place.to_be_bytes()[Window::MAX_WIDTH - window.width()..]].concat()
}

#[cfg(test)]
mod tests {
    use lacuna_base::ByteColumn;

    use super::*;

    #[test]
    fn long_keys_give_few_queries() {
        for (length, count) in [(100, 16), (1 << 20, 2), (8 << 20, 1)] {
            let key = |number: u32| number.to_be_bytes().repeat(length / 4);
            let keys: ByteColumn = (0..4).map(key).collect();
            let sample = assumed_strings(SortedKeys::<[u8]>::try_new(&keys).unwrap());
            assert_eq!(sample.len(), count, "{length}");
        }
    }
}
