//! Intervals of a registered column, and what a statement touches.

use std::collections::BTreeMap;
use std::mem;

use lacuna_cache_protocol::Interval;

/// The values of a column from `low` to `high`, both included: integers, or what stands for dates and timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Span {
    pub(crate) low: i64,
    pub(crate) high: i64,
}

/// The values of a column in which the rows of a statement lie: at least one interval, sorted, with values between them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Spans(Vec<Span>);

/// A registered column, by its place in the list, which it keeps.
pub(crate) type ColumnId = usize;

/// What a statement, or a transaction, may change of the registered columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    /// Everything of all of them.
    pub(crate) is_all: bool,
    /// Whether definitions and rights may have changed as well.
    pub(crate) may_define: bool,
    pub(crate) spans: Vec<(ColumnId, Span)>,
}

/// Most intervals of a statement. Those of more have the smallest gaps closed.
const MAX_OF_STATEMENT: usize = 100;
/// Intervals of a transaction from which on the smallest gaps between those of each column are closed.
const MAX_OF_TRANSACTION: usize = 1_000;
/// Most intervals of a column that are left then.
const LEFT_OF_COLUMN: usize = 100;

impl Span {
    /// Every value.
    pub(crate) const ALL: Self = Self { low: i64::MIN, high: i64::MAX };

    /// What is in both; nothing is in a span whose low end is above its high end.
    pub(crate) fn intersection(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    /// Both, and what lies between them.
    pub(crate) fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    pub(crate) const fn overlaps(self, other: Self) -> bool {
        let (low, high) = (if self.low > other.low { self.low } else { other.low }, {
            if self.high < other.high { self.high } else { other.high }
        });
        low <= high
    }

    /// Values between this one and one that begins later.
    pub(crate) const fn gap(self, later: Self) -> u64 {
        if self.high >= later.low { 0 } else { self.high.abs_diff(later.low) - 1 }
    }

    /// The same for an index; one without values is kept as a single point, which costs a needless invalidation.
    pub(crate) fn interval(self) -> Interval<i64> {
        Interval::closed(self.low, self.high).unwrap_or_else(|| Interval::point(self.low))
    }
}

impl From<Span> for Spans {
    fn from(span: Span) -> Self {
        Self(vec![span])
    }
}

impl Spans {
    /// The intervals of all of these; `None` if there is none.
    pub(crate) fn union(spans: Vec<Span>) -> Option<Self> {
        let few = few(spans, MAX_OF_STATEMENT);
        if few.is_empty() { None } else { Some(Self(few)) }
    }

    /// What is in both, or, if no value is, what is in the interval around each.
    pub(crate) fn intersection(self, other: &Self) -> Self {
        let of_one = |span: &Span| {
            let span = *span;
            other
                .0
                .iter()
                .filter(move |other| span.overlaps(**other))
                .map(move |other| span.intersection(*other))
        };
        Self::union(self.0.iter().flat_map(of_one).collect())
            .unwrap_or_else(|| self.hull().intersection(other.hull()).into())
    }

    /// From the first value to the last.
    pub(crate) fn hull(&self) -> Span {
        Span { low: self.0[0].low, high: self.0[self.0.len() - 1].high }
    }

    /// Values in them, less one for each.
    pub(crate) fn width(&self) -> i64 {
        self.0.iter().fold(0, |sum, span| sum.saturating_add(span.high.saturating_sub(span.low)))
    }

    /// Whether a value of `touched` is in them: one search.
    fn meets(&self, touched: Span) -> bool {
        let first = self.0.partition_point(|span| span.high < touched.low);
        self.0.get(first).is_some_and(|span| span.overlaps(touched))
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = Span> {
        self.0.iter().copied()
    }
}

/// The same values in sorted intervals, of which the smallest gaps are closed until at most `max` are left.
fn few(mut spans: Vec<Span>, max: usize) -> Vec<Span> {
    spans.sort_unstable();
    let joined = joined(spans, 0);
    if joined.len() <= max {
        return joined;
    }
    let mut gaps: Vec<u64> = joined.windows(2).map(|pair| pair[0].gap(pair[1])).collect();
    let (_, closed, _) = gaps.select_nth_unstable(joined.len() - max - 1);
    let closed = *closed;
    self::joined(joined, closed)
}

/// Sorted intervals become one where no more values lie between them.
fn joined(sorted: Vec<Span>, max_gap: u64) -> Vec<Span> {
    let mut all: Vec<Span> = Vec::with_capacity(sorted.len());
    for span in sorted {
        match all.last_mut() {
            Some(last) if last.gap(span) <= max_gap => *last = last.hull(span),
            _ => all.push(span),
        }
    }
    all
}

impl Touched {
    /// Everything, definitions too.
    pub(crate) const fn unknown() -> Self {
        Self { is_all: true, may_define: true, spans: Vec::new() }
    }

    pub(crate) const fn is_nothing(&self) -> bool {
        !self.is_all && self.spans.is_empty()
    }

    pub(crate) fn overlaps(&self, column: ColumnId, spans: &Spans) -> bool {
        self.is_all || self.spans.iter().any(|(of, touched)| *of == column && spans.meets(*touched))
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.is_all |= other.is_all;
        self.may_define |= other.may_define;
        self.spans.extend(other.spans.iter().filter(|_| !self.is_all));
        if self.is_all {
            self.spans = Vec::new();
        } else if self.spans.len() > MAX_OF_TRANSACTION {
            self.close_gaps();
        }
    }

    fn close_gaps(&mut self) {
        let mut columns: BTreeMap<ColumnId, Vec<Span>> = BTreeMap::new();
        for (column, span) in mem::take(&mut self.spans) {
            columns.entry(column).or_default().push(span);
        }
        let left = (MAX_OF_TRANSACTION / 2 / columns.len()).clamp(1, LEFT_OF_COLUMN);
        for (column, spans) in columns {
            self.spans.extend(few(spans, left).into_iter().map(|span| (column, span)));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn span(low: i64, high: i64) -> Span {
        Span { low, high }
    }

    #[test]
    fn spans_that_share_a_value_overlap() {
        assert!(span(1, 5).overlaps(span(5, 9)) && span(5, 9).overlaps(span(1, 5)));
        assert!(!span(1, 5).overlaps(span(6, 9)) && Span::ALL.overlaps(span(i64::MAX, i64::MAX)));
        assert!(!span(7, 3).overlaps(Span::ALL), "an empty one has no value");
        assert_eq!(span(1, 5).intersection(span(3, 9)), span(3, 5));
        assert_eq!(span(1, 2).hull(span(8, 9)), span(1, 9));
    }

    fn spans(all: &[(i64, i64)]) -> Spans {
        Spans::union(all.iter().map(|(low, high)| span(*low, *high)).collect()).unwrap()
    }

    #[test]
    fn a_list_has_gaps_and_what_touches_is_one() {
        assert_eq!(spans(&[(7, 7), (3, 3), (9, 9), (8, 8), (3, 3)]).0, [span(3, 3), span(7, 9)]);
        assert!(Spans::union(Vec::new()).is_none());
        let both = spans(&[(1, 5), (10, 20), (30, 30)]).intersection(&spans(&[(4, 12), (30, 40)]));
        assert_eq!(both, spans(&[(4, 5), (10, 12), (30, 30)]));
        let nothing = spans(&[(1, 1), (9, 9)]).intersection(&spans(&[(5, 5)]));
        assert_eq!(nothing, span(5, 5).into(), "no value is in both: some interval all the same");
        assert_eq!(Spans::from(span(1, 1)).intersection(&span(2, 2).into()), span(2, 1).into());
        assert_eq!(spans(&[(i64::MIN, 0), (i64::MAX, i64::MAX)]).width(), i64::MAX);
    }

    #[test]
    fn the_smallest_gaps_of_long_lists_are_closed() {
        let hundreds: Vec<(i64, i64)> = (0..150).map(|nth| (nth * (nth + 3), nth * (nth + 3))).collect();
        let few = spans(&hundreds);
        assert_eq!(few.iter().len(), 100);
        assert!(hundreds.iter().all(|(low, high)| few.iter().any(|of| of.overlaps(span(*low, *high)))));
        assert_eq!(few.iter().last(), Some(span(149 * 152, 149 * 152)), "the last gaps are the largest");
        let evens: Vec<(i64, i64)> = (0..1_000).map(|nth| (2 * nth, 2 * nth)).collect();
        assert_eq!(spans(&evens), span(0, 1_998).into(), "gaps of one size are closed together");
    }

    proptest! {
        #[test]
        fn no_value_of_both_is_lost(
            ones in prop::collection::vec((-40i64..40, 0i64..4), 1..150),
            others in prop::collection::vec((-40i64..40, 0i64..4), 1..150),
        ) {
            let of = |all: &[(i64, i64)]| spans(&all.iter().map(|(low, len)| (*low, low + len)).collect::<Vec<_>>());
            let (one, other) = (of(&ones), of(&others));
            let has = |spans: &Spans, value| spans.iter().any(|of| of.overlaps(span(value, value)));
            let both = one.clone().intersection(&other);
            let is_in_both = |value: &i64| has(&one, *value) && has(&other, *value);
            for value in (-50..50).filter(is_in_both) {
                prop_assert!(has(&both, value), "{value}");
            }
            prop_assert!(both.0.is_sorted() && both.iter().len() <= 100);
            for touched in other.iter() {
                prop_assert_eq!(one.meets(touched), one.iter().any(|span| span.overlaps(touched)));
            }
        }
    }

    #[test]
    fn many_spans_of_a_transaction_keep_their_values() {
        let mut touched = Touched::default();
        assert!(touched.is_nothing());
        for nth in 0..5_000_i64 {
            let column = usize::try_from(nth % 20).unwrap();
            touched.add(&Touched { spans: vec![(column, span(3 * nth, 3 * nth))], ..Touched::default() });
        }
        for nth in 0..5_000_i64 {
            let column = usize::try_from(nth % 20).unwrap();
            assert!(touched.overlaps(column, &span(3 * nth, 3 * nth).into()), "{nth}");
        }
        assert!(!touched.is_all && touched.spans.len() <= 1_000);
        assert!(
            !touched.overlaps(0, &span(15_000, 20_000).into()) && !touched.overlaps(20, &Span::ALL.into())
        );
        touched.add(&Touched::unknown());
        assert!(touched.may_define && !touched.is_nothing() && touched.overlaps(7, &span(1, 1).into()));
    }
}
