//! Which entries are to spare: those that others cover.

use super::patching::{What, Wish};
use crate::query::Query;

/// The entries that a write adds to and that others of them cover: without these, as few are left as show the same rows, and
/// each row is in two of them at most. A result that cannot be put together from others is none of them.
pub(super) fn covered(wishes: &mut [Wish]) -> Vec<&mut Wish> {
    let is_patched = |wish: &&mut Wish| matches!(wish.what, What::Append(_)) && wish.query.is_all_rows();
    let mut in_order: Vec<&mut Wish> = wishes.iter_mut().filter(is_patched).collect();
    // Of those that begin together, the longest comes first.
    in_order.sort_by(|Wish { query: a, .. }, Wish { query: b, .. }| {
        let place = |query: &Query| (query.domain, query.fingerprint);
        place(a).cmp(&place(b)).then_with(|| {
            a.interval.lo().cmp(b.interval.lo()).then_with(|| b.interval.hi().cmp(a.interval.hi()))
        })
    });
    let mut covered = Vec::new();
    // The last that is left, and the one that reaches farthest of those that begin within it or where it ends.
    let (mut left, mut farthest): (Option<Query>, Option<&mut Wish>) = (None, None);
    for wish in in_order {
        let begins_within = |left: &Query| {
            (left.domain, left.fingerprint) == (wish.query.domain, wish.query.fingerprint)
                && wish.query.interval.lo() <= left.interval.hi()
        };
        if !left.as_ref().is_some_and(begins_within)
            && let Some(next) = farthest.take()
        {
            left = Some(next.query.clone());
        }
        let ends = |query: &Query| wish.query.interval.hi() <= query.interval.hi();
        match &left {
            Some(query) if begins_within(query) => {
                if ends(query) || farthest.as_ref().is_some_and(|farthest| ends(&farthest.query)) {
                    covered.push(wish);
                } else {
                    covered.extend(farthest.replace(wish));
                }
            }
            _ => left = Some(wish.query.clone()),
        }
    }
    covered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Addition;
    use crate::interval::Interval;

    fn wishes(intervals: &[(u64, u64)]) -> Vec<Wish> {
        let wish = |(lo, hi): &(u64, u64)| Wish {
            query: Query::all(0, Interval::closed((*lo).into(), (*hi).into()).unwrap()),
            what: What::Append(Addition::new([0])),
        };
        intervals.iter().map(wish).collect()
    }

    /// Which of these intervals are left, as they were given.
    fn left(intervals: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let mut wishes = wishes(intervals);
        covered(&mut wishes).into_iter().for_each(|wish| wish.what = What::Drop);
        let is_left = wishes.iter().map(|wish| wish.what != What::Drop);
        intervals.iter().zip(is_left).filter_map(|(interval, is_left)| is_left.then_some(*interval)).collect()
    }

    #[test]
    fn as_few_entries_are_left_as_cover_the_rows() {
        assert_eq!(left(&[(0, 4), (1, 5), (2, 6), (3, 7), (4, 8)]), [(0, 4), (4, 8)]);
        assert_eq!(left(&[(4, 8), (2, 6), (0, 4)]), [(4, 8), (0, 4)], "in any order");
        assert_eq!(left(&[(0, 4), (0, 9)]), [(0, 9)]);
        assert_eq!(left(&[(0, 4), (3, 9), (20, 22)]), [(0, 4), (3, 9), (20, 22)]);
        assert_eq!(left(&[(0, 4), (6, 9), (3, 7), (5, 8)]), [(0, 4), (6, 9), (3, 7)]);
        assert_eq!(left(&[(1, 1)]), [(1, 1)]);
        assert!(left(&[]).is_empty());
    }

    #[test]
    fn entries_of_other_columns_and_other_results_stay() {
        let mut wishes = wishes(&[(0, 9), (1, 2), (1, 2), (1, 2), (1, 2)]);
        wishes[1].query.domain = 1;
        wishes[2].query.fingerprint = 7;
        wishes[3].query.form = crate::query::Form::First(1);
        wishes[4].what = What::Keep;
        assert!(covered(&mut wishes).is_empty());
    }

    /// Against a count of each value: what was shown is shown, by two entries at most.
    #[test]
    fn nothing_that_was_shown_is_lost() {
        let mut state = 1_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..2_000 {
            let intervals: Vec<(u64, u64)> = (0..draw(9))
                .map(|_| {
                    let lo = draw(16);
                    (lo, lo + draw(6))
                })
                .collect();
            let kept = left(&intervals);
            for value in 0..24 {
                let shown =
                    |of: &[(u64, u64)]| of.iter().filter(|(lo, hi)| (*lo..=*hi).contains(&value)).count();
                assert_eq!(shown(&intervals) > 0, shown(&kept) > 0, "{intervals:?}: {kept:?}");
                assert!(shown(&kept) <= 2, "{intervals:?}: {kept:?}");
            }
        }
    }
}
