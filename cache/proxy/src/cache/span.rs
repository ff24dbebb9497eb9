//! Intervals of a registered column, and what a statement touches.

use lacuna_cache_protocol::Interval;

/// The values of a column from `low` to `high`, both included: integers, or what stands for dates and timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Span {
    pub(crate) low: i64,
    pub(crate) high: i64,
}

/// A registered column, by its place in the list that the proxy was started with.
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

/// Intervals of one transaction from which on it counts as one that touches everything.
const MAX_SPANS: usize = 1_000;

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

    /// The same for an index; one without values is kept as a single point, which costs a needless invalidation.
    pub(crate) fn interval(self) -> Interval<i64> {
        Interval::closed(self.low, self.high).unwrap_or_else(|| Interval::point(self.low))
    }
}

impl Touched {
    /// Everything, definitions too.
    pub(crate) const fn unknown() -> Self {
        Self { is_all: true, may_define: true, spans: Vec::new() }
    }

    pub(crate) const fn is_nothing(&self) -> bool {
        !self.is_all && self.spans.is_empty()
    }

    pub(crate) fn overlaps(&self, column: ColumnId, span: Span) -> bool {
        let meets = |(of, touched): &(ColumnId, Span)| *of == column && touched.overlaps(span);
        self.is_all || self.spans.iter().any(meets)
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.is_all |= other.is_all;
        self.may_define |= other.may_define;
        self.spans.extend(other.spans.iter().filter(|_| !self.is_all));
        if self.is_all || self.spans.len() > MAX_SPANS {
            self.is_all = true;
            self.spans = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn many_spans_are_everything() {
        let mut touched = Touched::default();
        assert!(touched.is_nothing());
        for nth in 0..=1_000 {
            touched.add(&Touched { spans: vec![(0, span(nth, nth))], ..Touched::default() });
            assert!(touched.overlaps(0, span(nth, nth)));
        }
        assert!(touched.is_all && touched.overlaps(3, span(-7, -7)) && !touched.may_define);
        touched.add(&Touched::unknown());
        assert!(touched.may_define && !touched.is_nothing());
    }
}
