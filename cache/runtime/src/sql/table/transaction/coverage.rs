//! What a transaction holds of a table, and what it may read and write there.

use lacuna_cache_protocol::{DomainId, Interval, RangeKey, Touched};
use lacuna_cache_protocol::{Error, Result};

use crate::sql::schema::Schema;

/// Intervals of registered columns. A column without one is held whole, as a write touches it whole that does not name it.
#[derive(Debug, Clone, Default)]
pub(super) struct Coverage {
    intervals: Vec<Touched>,
    is_whole: bool,
}

impl Coverage {
    pub(super) fn add(&mut self, domain: DomainId, interval: Interval<RangeKey>) {
        self.intervals.push((domain, interval));
    }

    pub(super) fn add_all(&mut self) {
        self.is_whole = true;
    }

    /// The intervals to hold, of which none means all.
    pub(super) fn touched(&self) -> Vec<Touched> {
        if self.is_whole { Vec::new() } else { self.intervals.clone() }
    }

    fn covers(&self, domain: DomainId, interval: &Interval<RangeKey>) -> bool {
        let mut held = self.intervals.iter().filter(|(held, _)| *held == domain).peekable();
        self.is_whole || held.peek().is_none() || held.any(|(_, held)| held.covers(interval))
    }

    /// # Errors
    /// `InvalidInput` if the interval is not held.
    pub(super) fn check_read(
        &self,
        schema: &Schema,
        domain: DomainId,
        interval: &Interval<RangeKey>,
    ) -> Result<()> {
        if self.covers(domain, interval) {
            return Ok(());
        }
        let (table, column) = (&schema.table, &schema.domains[domain].0);
        Err(Error::invalid_input(format!(
            "the transaction does not hold all of this range of {column} of {table}: name the range when it begins, by \
             one call of `on`, or hold the table by `on_all`"
        )))
    }

    /// # Errors
    /// `InvalidInput` if the write touches more than is held.
    pub(super) fn check_write(&self, schema: &Schema, touched: &[Touched]) -> Result<()> {
        for (domain, (column, _)) in schema.domains.iter().enumerate() {
            let mut of_domain = touched.iter().filter(|(named, _)| *named == domain).peekable();
            let is_held = match of_domain.peek() {
                Some(_) => of_domain.all(|(_, interval)| self.covers(domain, interval)),
                None => self.covers(domain, &Interval::all()),
            };
            if !is_held {
                return Err(Error::invalid_input(format!(
                    "the write may touch values of {column} of {} that the transaction does not hold: name ranges with \
                     the values before and after it when the transaction begins, or hold the table by `on_all`",
                    schema.table
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use lacuna_cache_protocol::DomainType;

    use super::*;

    fn closed(lo: u64, hi: u64) -> Interval<RangeKey> {
        Interval::closed(lo.into(), hi.into()).unwrap()
    }

    #[test]
    fn columns_that_are_not_named_are_held_and_touched_whole() {
        let schema = Schema::new("a", "id")
            .with_domain("x", DomainType::Integer)
            .with_domain("y", DomainType::Integer);
        let mut held = Coverage::default();
        held.add(0, closed(1, 5));
        held.add(0, closed(8, 9));
        assert!(held.check_read(&schema, 0, &closed(2, 5)).is_ok());
        assert!(held.check_read(&schema, 0, &closed(5, 8)).is_err());
        assert!(held.check_read(&schema, 1, &Interval::all()).is_ok(), "held whole");
        let empty_text = Interval::point(RangeKey::from_bytes(b""));
        assert!(held.check_read(&schema, 0, &empty_text).is_err(), "a value like others");
        assert!(
            held.check_write(&schema, &[(0, closed(1, 1)), (0, closed(9, 9)), (1, closed(3, 3))]).is_ok()
        );
        assert!(held.check_write(&schema, &[(0, closed(1, 1)), (0, closed(7, 7))]).is_err());
        assert!(held.check_write(&schema, &[(1, closed(3, 3))]).is_err(), "x is touched whole");
        assert_eq!(held.touched().len(), 2);
        held.add_all();
        assert!(held.check_write(&schema, &[]).is_ok() && held.touched().is_empty());
    }
}
