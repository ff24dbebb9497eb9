//! The schema of a cached collection.

use lacuna_cache_protocol::{DomainId, DomainType};
use lacuna_cache_protocol::{Error, Result};

/// The field with the epoch of the owner that wrote a document last. Results leave it out.
pub(crate) const EPOCH: &str = "_lacuna";

/// A collection, and the fields that are queried by range. Its key is `_id`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    pub(crate) collection: String,
    pub(crate) domains: Vec<(String, DomainType)>,
}

impl Schema {
    /// A collection without registered fields.
    pub fn new(collection: &str) -> Self {
        Self { collection: collection.to_owned(), domains: Vec::new() }
    }

    /// Registers a field for ranges: whole numbers, floats, texts, or moments (`DateTime`, to the millisecond). A
    /// document without the field, or with null in it, is in none of its ranges.
    #[must_use]
    pub fn with_domain(mut self, field: &str, domain_type: DomainType) -> Self {
        self.domains.push((field.to_owned(), domain_type));
        self
    }

    /// # Errors
    /// `InvalidInput` for a field that cannot be queried by range.
    pub(crate) fn check(&self) -> Result<()> {
        let refused = |message: String| Err(Error::invalid_input(message));
        if self.domains.is_empty() {
            return refused(format!(
                "register at least one field of {}: call `Schema::with_domain`",
                self.collection
            ));
        }
        for (field, domain) in &self.domains {
            if field.starts_with('$') || field.contains('.') || field == EPOCH || field.is_empty() {
                return refused(format!(
                    "{field:?} cannot be registered: it is not a top-level field of the document"
                ));
            }
            match domain {
                DomainType::Decimal { .. } => {
                    return refused(format!("{field}: keep whole numbers of the smallest unit, as Integer"));
                }
                DomainType::Date => {
                    return refused(format!(
                        "{field}: keep moments, as Timestamp, or texts like 2024-05-01, as Text"
                    ));
                }
                DomainType::Bool | DomainType::Uuid | DomainType::Bytes => {
                    return refused(format!("{field}: keep numbers, as Integer, or texts, as Text"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The number of a registered field.
    pub(crate) fn domain_of(&self, field: &str) -> Result<DomainId> {
        let place = self.domains.iter().position(|(name, _)| name == field);
        place.ok_or_else(|| {
            Error::invalid_input(format!("{field} is not a registered domain of {}", self.collection))
        })
    }

    /// Identifies the collection: results of others are never mistaken for its own.
    pub(crate) fn fingerprint(&self) -> u64 {
        lacuna_base::hash::hash_bytes(self.collection.as_bytes(), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_without_our_order_are_refused() {
        let check = |field, domain| Schema::new("things").with_domain(field, domain).check();
        assert!(check("age", DomainType::Integer).is_ok() && check("at", DomainType::Timestamp).is_ok());
        for field in ["a.b", "$a", "", EPOCH] {
            assert!(check(field, DomainType::Integer).is_err(), "{field}");
        }
        for domain in [DomainType::Decimal { scale: 2 }, DomainType::Date] {
            let why = check("age", domain).unwrap_err().to_string();
            assert!(why.contains("keep"), "it says what to do: {why}");
        }
        assert!(Schema::new("things").check().is_err());
    }
}
