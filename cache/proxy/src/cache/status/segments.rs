//! The intervals that are covered by entries, as a picture can show them: few, and in places between 0 and 1.
//!
//! Intervals that touch are one segment. If there are too many, those with the smallest gaps between them become one, too.
//! Lengths of segments and gaps are logarithmic: `[1, 1000]` and `[10^12, 10^12]` are both seen beside each other.

use super::super::catalogue::Kind;
use super::super::shown::shown;
use super::super::span::Span;

/// Most segments of a column.
const MAX_SEGMENTS: usize = 120;

/// An interval that is covered by entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Covered {
    pub(super) span: Span,
    pub(super) entries: usize,
    pub(super) hits: u64,
}

/// An interval of a column that is covered by entries.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Segment {
    /// The first and the last value.
    pub interval: (String, String),
    /// Where it begins and ends in a picture, from 0 to 1. Lengths are logarithmic.
    pub place: (f64, f64),
    /// Replies in it.
    pub entries: usize,
    /// How often they were asked for.
    pub hits: u64,
    /// Whether there are small gaps in it, which are not shown.
    pub has_gaps: bool,
}

/// Segments of a column from left to right.
pub(super) fn segments(covered: Vec<Covered>, kind: Kind) -> Vec<Segment> {
    let joined = joined(covered);
    let max_gap = gap_to_close(&joined);
    let (few, has_gaps): (Vec<Covered>, Vec<bool>) = closed(joined, max_gap).into_iter().unzip();
    let places = places(&few);
    let each = few.iter().zip(has_gaps).zip(places);
    each.map(|((covered, has_gaps), place)| Segment {
        interval: shown(kind, covered.span),
        place,
        entries: covered.entries,
        hits: covered.hits,
        has_gaps,
    })
    .collect()
}

/// Intervals that overlap or follow each other become one. Those without a value are left out.
fn joined(mut covered: Vec<Covered>) -> Vec<Covered> {
    covered.retain(|one| one.span.low <= one.span.high);
    covered.sort_unstable_by_key(|one| one.span);
    merged(covered, |gap| gap == 0).into_iter().map(|(covered, _)| covered).collect()
}

/// Those next to each other whose gap is to be closed become one; says of each whether there were gaps in it.
fn merged(sorted: Vec<Covered>, closes: impl Fn(u64) -> bool) -> Vec<(Covered, bool)> {
    let mut all: Vec<(Covered, bool)> = Vec::new();
    for one in sorted {
        match all.last_mut() {
            Some((last, has_gaps)) if closes(last.span.gap(one.span)) => {
                *has_gaps |= last.span.gap(one.span) > 0;
                last.span = last.span.hull(one.span);
                last.entries += one.entries;
                last.hits += one.hits;
            }
            _ => all.push((one, false)),
        }
    }
    all
}

/// The largest gap that must be closed so that few segments are left; 0 if there are few.
fn gap_to_close(joined: &[Covered]) -> u64 {
    let mut gaps: Vec<u64> = joined.windows(2).map(|pair| pair[0].span.gap(pair[1].span)).collect();
    gaps.sort_unstable();
    let to_close = joined.len().saturating_sub(MAX_SEGMENTS);
    to_close.checked_sub(1).map_or(0, |last| gaps[last])
}

fn closed(joined: Vec<Covered>, max_gap: u64) -> Vec<(Covered, bool)> {
    merged(joined, |gap| gap <= max_gap)
}

/// Where segments begin and end.
fn places(few: &[Covered]) -> Vec<(f64, f64)> {
    let length = |count: u64| (count as f64 + 2.0).log2();
    let mut end = 0.0;
    let mut places = Vec::with_capacity(few.len());
    for (place, one) in few.iter().enumerate() {
        let before = place.checked_sub(1).map_or(0.0, |before| length(few[before].span.gap(one.span)));
        let begin = end + before;
        end = begin + length(one.span.low.abs_diff(one.span.high));
        places.push((begin, end));
    }
    places.iter().map(|(begin, last)| (begin / end, last / end)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn covered(low: i64, high: i64) -> Covered {
        Covered { span: Span { low, high }, entries: 1, hits: 2 }
    }

    fn of(spans: &[(i64, i64)]) -> Vec<Segment> {
        segments(spans.iter().map(|(low, high)| covered(*low, *high)).collect(), Kind::Integer)
    }

    #[test]
    fn intervals_that_touch_are_one() {
        let found = of(&[(30, 30), (1, 5), (6, 9), (4, 7), (20, 25), (9, 3)]);
        let intervals: Vec<_> =
            found.iter().map(|one| (&*one.interval.0, &*one.interval.1, one.entries)).collect();
        assert_eq!(intervals, [("1", "9", 3), ("20", "25", 1), ("30", "30", 1)]);
        assert!(found.iter().all(|one| !one.has_gaps && one.hits == 2 * one.entries as u64));
    }

    #[test]
    fn open_ends_and_far_values_have_places() {
        let found = of(&[(i64::MIN, 0), (2, 2), (i64::MAX, i64::MAX)]);
        assert_eq!((found[0].place.0, found[2].place.1), (0.0, 1.0));
        assert!(found.iter().all(|one| one.place.1 - one.place.0 > 0.005), "{found:?}");
        assert_eq!(found[0].interval.0, "…");
        assert_eq!(of(&[(7, 7)])[0].place, (0.0, 1.0));
        assert!(of(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn no_value_is_lost_and_segments_are_few(
            spans in prop::collection::vec((-5_000i64..5_000, 0i64..8), 0..900),
        ) {
            let all: Vec<Covered> = spans.iter().map(|(low, len)| covered(*low, low + len)).collect();
            let joined = joined(all.clone());
            let few = closed(joined.clone(), gap_to_close(&joined));
            prop_assert!(few.len() <= MAX_SEGMENTS, "{}", few.len());
            prop_assert!(joined.len() > MAX_SEGMENTS || few.iter().all(|(_, has_gaps)| !has_gaps));
            prop_assert_eq!(few.iter().map(|(one, _)| one.entries).sum::<usize>(), all.len());
            for one in &all {
                prop_assert!(few.iter().any(|(of, _)| of.span.low <= one.span.low && one.span.high <= of.span.high));
            }
            let found = segments(all, Kind::Integer);
            let ends: Vec<f64> = found.iter().flat_map(|one| [one.place.0, one.place.1]).collect();
            prop_assert!(ends.is_sorted() && ends.iter().all(|end| (0.0..=1.0).contains(end)));
        }
    }
}
