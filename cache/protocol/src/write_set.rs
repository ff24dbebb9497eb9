//! Which intervals a write of known rows touches.
//!
//! A row that moves from one value to another leaves results that contained it and enters others, so both values
//! count (P8). A NULL value is in no range and touches nothing.

use crate::error::Result;

use crate::domain::{DomainType, DomainValue};
use crate::interval::Interval;
use crate::query::{DomainId, Touched};
use crate::range_key::RangeKey;

/// Values of a domain in the rows of a write, before and after it.
///
/// ```
/// use lacuna_cache_protocol::{DomainType, DomainValue::Integer, WriteSet};
///
/// // An update moves two rows from age 20 to 21; one row without an age gets 40.
/// let mut ages = WriteSet::new(0, DomainType::Integer);
/// for _ in 0..2 {
///     ages.before(Integer(20))?.after(Integer(21))?;
/// }
/// ages.before(lacuna_cache_protocol::DomainValue::Null)?.after(Integer(40))?;
/// assert_eq!(ages.touched().len(), 3);
/// # Ok::<(), lacuna_cache_protocol::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct WriteSet {
    domain: DomainId,
    domain_type: DomainType,
    keys: Vec<RangeKey>,
    /// Whether no row was named.
    is_unsaid: bool,
    has_null: bool,
    /// Of which columns the domain is one; 0 if that is not noted.
    columns: u64,
}

impl WriteSet {
    /// No values yet.
    pub const fn new(domain: DomainId, domain_type: DomainType) -> Self {
        Self { domain, domain_type, keys: Vec::new(), is_unsaid: true, has_null: false, columns: 0 }
    }

    /// Notes of which columns the domain is one, so that a write of another table can refuse the set.
    #[must_use]
    pub const fn of_columns(mut self, columns: u64) -> Self {
        self.columns = columns;
        self
    }

    /// Whether the set may be one of values of this domain, which is one of these columns.
    pub fn is_of(&self, domain_type: DomainType, columns: u64) -> bool {
        self.domain_type == domain_type && (self.columns == 0 || self.columns == columns)
    }

    /// The domain.
    pub const fn domain(&self) -> DomainId {
        self.domain
    }

    /// The keys of its values, as often as they were added; NULL has none.
    pub fn keys(&self) -> &[RangeKey] {
        &self.keys
    }

    /// Whether NULL is among its values.
    pub const fn has_null(&self) -> bool {
        self.has_null
    }

    /// Adds the value of a row before the write; leave it out for an insertion.
    ///
    /// # Errors
    /// As [`DomainType::key`].
    pub fn before(&mut self, value: DomainValue<'_>) -> Result<&mut Self> {
        let key = self.domain_type.key(value)?;
        self.has_null |= key.is_none();
        self.keys.extend(key);
        self.is_unsaid = false;
        Ok(self)
    }

    /// Adds the value of a row after the write; leave it out for a deletion.
    ///
    /// # Errors
    /// As [`DomainType::key`].
    pub fn after(&mut self, value: DomainValue<'_>) -> Result<&mut Self> {
        self.before(value)
    }

    /// The intervals of these values, each once.
    ///
    /// A set without any value carries no information: the domain is touched whole, as if the set had been left
    /// out (P9).
    ///
    /// A write of NULLs alone touches no range of this domain. Leaving the domain out would touch it whole, so the
    /// set names the point of the empty key, which is less than all others.
    pub fn touched(&self) -> Vec<Touched> {
        if self.is_unsaid {
            return vec![(self.domain, Interval::all())];
        }
        let mut keys = self.keys.clone();
        keys.sort_unstable();
        keys.dedup();
        if keys.is_empty() {
            keys.push(RangeKey::from_bytes(b""));
        }
        keys.into_iter().map(|key| (self.domain, Interval::point(key))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_values_are_touched_and_null_is_not() {
        let mut names = WriteSet::new(3, DomainType::Text);
        names.before(DomainValue::Text("anna")).unwrap().after(DomainValue::Text("berta")).unwrap();
        names.after(DomainValue::Null).unwrap();
        let point = |name: &str| (3, Interval::point(RangeKey::from_bytes(name.as_bytes())));
        assert_eq!(names.touched(), [point("anna"), point("berta")]);
        assert!(names.before(DomainValue::Integer(1)).is_err());
    }

    #[test]
    fn a_set_without_values_takes_its_domain_whole() {
        assert_eq!(WriteSet::new(2, DomainType::Integer).touched(), [(2, Interval::all())]);
    }

    #[test]
    fn a_write_of_nulls_names_its_domain() {
        let mut ages = WriteSet::new(1, DomainType::Integer);
        ages.before(DomainValue::Null).unwrap();
        assert_eq!(ages.touched().len(), 1, "or it would be taken whole");
    }
}
