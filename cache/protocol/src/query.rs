//! Queries by range, which are also the keys of their cached results.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::interval::{Cut, Interval};
use crate::range_key::RangeKey;

/// Number of a domain of a collection, in the order of registration.
pub type DomainId = usize;

/// An interval of a domain that a write touches.
pub type Touched = (DomainId, Interval<RangeKey>);

/// Which rows of the interval a query asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// All of them.
    All,
    /// `> x LIMIT n`: the first `n`. The order must be unique.
    First(u32),
    /// `< x LIMIT n`: the last `n`. The order must be unique.
    Last(u32),
}

/// The stamps of other tables under which a result must have been made to be an answer, in bytes that only the application
/// reads.
///
/// All stamps are equal, so that one entry stands for a query whatever they are: [`Application::settle`] compares them with
/// those of the value. A read that joins another one in progress may get a result under the stamps of that one.
///
/// [`Application::settle`]: crate::Application::settle
#[derive(Debug, Clone, Default)]
pub struct Stamps(Option<Arc<[u8]>>);

impl Stamps {
    /// Those of a query that asks one table.
    pub const NONE: Self = Self(None);

    /// Keeps a copy of these bytes.
    pub fn new(bytes: &[u8]) -> Self {
        Self(Some(bytes.into()))
    }

    /// The bytes; none for a query that asks one table.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl PartialEq for Stamps {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Stamps {}

impl PartialOrd for Stamps {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Stamps {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Equal
    }
}

impl Hash for Stamps {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// A range predicate over a domain. Equal queries have equal results for every client.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Query {
    /// The domain.
    pub domain: DomainId,
    /// The interval of values.
    pub interval: Interval<RangeKey>,
    /// Which rows of the interval.
    pub form: Form,
    /// A hash of everything else that all queries of a collection share: columns, result format.
    pub fingerprint: u64,
    /// What is made of the rows of the interval (further conditions, other columns, sums), in bytes that only the
    /// application reads; `None` for the rows themselves. Only the store can give such a result: a write that touches
    /// its interval deletes it, it is put together from no other, and it shows no rows.
    pub question: Option<Arc<[u8]>>,
    /// What its result depends on beside the rows of the interval. No part of the key of the result.
    pub stamps: Stamps,
}

impl Query {
    /// All rows of an interval.
    pub const fn all(domain: DomainId, interval: Interval<RangeKey>) -> Self {
        Self { domain, interval, form: Form::All, fingerprint: 0, question: None, stamps: Stamps::NONE }
    }

    /// Whether the result is all rows of the interval, as they are.
    pub fn is_all_rows(&self) -> bool {
        self.form == Form::All && self.question.is_none()
    }

    /// The interval that the result answers for. A full result with a limit ends at its last row, ties included; a
    /// result that is not full covers the whole interval (P10). `last` is the value of the last row of a full
    /// result.
    ///
    /// ```
    /// use lacuna_cache_protocol::{Form, Interval, Query, RangeKey};
    /// use std::ops::Bound::{Excluded, Unbounded};
    ///
    /// let above_10 = Interval::new(Excluded(RangeKey::from(10)), Unbounded).expect("no upper end");
    /// let query = Query { form: Form::First(3), ..Query::all(0, above_10.clone()) };
    /// assert_eq!(query.covered(None), above_10);
    /// assert!(!query.covered(Some(&RangeKey::from(17))).contains(&RangeKey::from(18)));
    /// ```
    pub fn covered(&self, last: Option<&RangeKey>) -> Interval<RangeKey> {
        let reduced = match (self.form, last) {
            (Form::First(_), Some(last)) => {
                Interval::between(self.interval.lo().clone(), Cut::After(last.clone()))
            }
            (Form::Last(_), Some(last)) => {
                Interval::between(Cut::Before(last.clone()), self.interval.hi().clone())
            }
            _ => None,
        };
        reduced.unwrap_or_else(|| self.interval.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_has_one_entry_whatever_its_stamps() {
        let plain = Query::all(0, Interval::all());
        let stamped = Query { stamps: Stamps::new(b"a"), ..plain.clone() };
        assert_eq!((&plain, plain.cmp(&stamped)), (&stamped, Ordering::Equal));
        assert_eq!(std::collections::HashSet::from([plain, stamped]).len(), 1);
    }
}
