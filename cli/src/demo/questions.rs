//! What the demo asks: short ranges that hold nothing, half of them right after a row, and ranges that hold rows.

use bytes::Bytes;
use lacuna_base::hash::{IntegerHasher, reduce};

use super::source::Source;

/// Longest range, in units of the place (seconds, for files).
const MAX_LEN: u64 = 32;
/// Draws for each question before giving up: keys may leave few gaps.
const DRAWS: u64 = 200;

/// A range of keys, its end excluded.
pub(super) type Question = (Bytes, Bytes);

/// Questions without and with an answer, and how many of the empty ones start right after a row.
#[derive(Debug)]
pub(super) struct Questions {
    pub(super) empty: Vec<Question>,
    pub(super) behind_a_row: usize,
    pub(super) full: Vec<Question>,
}

/// The places of rows, and the prefix all keys share.
struct Places {
    prefix: Bytes,
    places: Vec<u64>,
}

impl Places {
    fn of(source: &Source) -> Self {
        let first = source.rows.first().map(|(key, _)| key.clone()).unwrap_or_default();
        let prefix = first.slice(..source.place_at.min(first.len()));
        let mut places: Vec<u64> =
            source.rows.iter().map(|(key, _)| place_in(key, source.place_at)).collect();
        places.dedup();
        Self { prefix, places }
    }

    /// Whether no row has a place in `lo..hi`.
    fn is_empty(&self, lo: u64, hi: u64) -> bool {
        let after = self.places.partition_point(|&place| place < lo);
        self.places.get(after).is_none_or(|&place| place >= hi)
    }

    fn question(&self, lo: u64, hi: u64) -> Question {
        let end = |place: u64| Bytes::from([&self.prefix[..], &place.to_be_bytes()].concat());
        (end(lo), end(hi))
    }
}

/// The eight bytes at `at` as an integer, zeros where the key ends.
fn place_in(key: &[u8], at: usize) -> u64 {
    let tail = key.get(at..).unwrap_or_default();
    let mut place = [0; 8];
    let taken = tail.len().min(8);
    place[..taken].copy_from_slice(&tail[..taken]);
    u64::from_be_bytes(place)
}

/// A stream of draws below bounds.
struct Draw {
    hasher: IntegerHasher,
    next: u64,
}

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.next += 1;
        reduce(self.hasher.hash(self.next), bound.max(1))
    }
}

/// `count` questions of each kind; fewer empty ones if the rows leave no gaps.
pub(super) fn draw(source: &Source, count: usize, seed: u64) -> Questions {
    let rows = Places::of(source);
    let mut draw = Draw { hasher: IntegerHasher::new(seed), next: 0 };
    let behind = empty_ranges(&rows, count / 2, &mut draw, |rows, draw| {
        let row = nth(&rows.places, draw);
        row.saturating_add(1 + draw.below(MAX_LEN))
    });
    let behind_a_row = behind.len();
    let anywhere = empty_ranges(&rows, count - count / 2, &mut draw, |rows, draw| {
        let (first, last) = (rows.places[0], rows.places[rows.places.len() - 1]);
        first + draw.below(last - first)
    });
    let empty = interleave(behind, anywhere);
    let full = if rows.places.is_empty() { Vec::new() } else { full_ranges(&rows, count, &mut draw) };
    Questions { empty, behind_a_row, full }
}

fn nth(places: &[u64], draw: &mut Draw) -> u64 {
    let place = usize::try_from(draw.below(places.len() as u64)).expect("below the number of places");
    places[place]
}

fn empty_ranges(
    rows: &Places,
    count: usize,
    draw: &mut Draw,
    start: impl Fn(&Places, &mut Draw) -> u64,
) -> Vec<Question> {
    let mut found = Vec::with_capacity(count);
    if rows.places.is_empty() {
        return found;
    }
    for _ in 0..DRAWS * count as u64 {
        if found.len() == count {
            break;
        }
        let lo = start(rows, draw);
        let hi = lo.saturating_add(1 + draw.below(MAX_LEN));
        if lo < hi && rows.is_empty(lo, hi) {
            found.push(rows.question(lo, hi));
        }
    }
    found
}

fn full_ranges(rows: &Places, count: usize, draw: &mut Draw) -> Vec<Question> {
    let range = |draw: &mut Draw| {
        let row = nth(&rows.places, draw);
        let lo = row.saturating_sub(draw.below(MAX_LEN));
        rows.question(lo, row.saturating_add(1 + draw.below(MAX_LEN)))
    };
    (0..count).map(|_| range(draw)).collect()
}

fn interleave(a: Vec<Question>, b: Vec<Question>) -> Vec<Question> {
    let mut mixed = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.into_iter(), b.into_iter());
    loop {
        match (a.next(), b.next()) {
            (None, None) => return mixed,
            (first, second) => mixed.extend(first.into_iter().chain(second)),
        }
    }
}
