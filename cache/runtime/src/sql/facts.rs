//! What an owner remembers of rows, so that a write whose condition holds is certain without reading a result.
//!
//! A fact is the value of a row in the first registered column, and a digest of its key and of all registered values:
//! that is what [`Table::update`](super::Table::update) and [`Table::delete`](super::Table::delete) compare. The digest
//! is keyed at random in each process, 128 bits wide.

use std::hash::{BuildHasher as _, RandomState};

use lacuna_base::wire::Writer;
use lacuna_cache_protocol::{Command, Fact, Query, Value};

use crate::sql::application::TableRows;
use crate::sql::domain_key;
use crate::sql::rows::decode;
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::{Effect, SqlWrite};

/// The key of the digests.
#[derive(Debug, Clone, Default)]
pub(crate) struct FactKey([RandomState; 2]);

impl TableRows {
    /// What the rows of a result show.
    pub(super) fn facts_shown(&self, query: &Query, value: &Value) -> Vec<Fact> {
        if query.fingerprint != self.fingerprint || query.question.is_some() {
            return Vec::new();
        }
        let rows = decode(self.schema.columns.len(), value).unwrap_or_default();
        rows.iter().filter_map(|row| self.fact(&self.schema.key_of(row), &self.registered(row))).collect()
    }

    /// What is true of the row of a write that is done.
    pub(super) fn facts_made(&self, command: &Command) -> Vec<Fact> {
        let Ok(write) = SqlWrite::of(command) else { return Vec::new() };
        if write.fingerprint != self.fingerprint {
            return Vec::new();
        }
        let fact = match &write.effect {
            Effect::Unknown | Effect::Delete { .. } => None,
            Effect::Insert(row) => self.fact(&self.schema.key_of(row), &self.registered(row)),
            Effect::Set { key, was, columns } => {
                let mut registered = was.clone();
                for (place, value) in columns {
                    let domain =
                        self.schema.columns.get(*place).and_then(|name| self.schema.domain_of(name).ok());
                    if let Some(registered) = domain.and_then(|domain| registered.get_mut(domain)) {
                        *registered = value.clone();
                    }
                }
                self.fact(key, &registered)
            }
        };
        fact.into_iter().collect()
    }

    /// Whether a fact says that the row with this key has these registered values.
    pub(super) fn is_fact(&self, key: &[SqlValue], was: &[SqlValue], facts: &[Fact]) -> bool {
        !facts.is_empty() && self.fact(key, was).is_some_and(|fact| facts.contains(&fact))
    }

    /// `None` for a row without all registered values, or without one in the first column.
    fn fact(&self, key: &[SqlValue], was: &[SqlValue]) -> Option<Fact> {
        let (_, domain_type) = self.schema.domains.first()?;
        let place = domain_key::key(*domain_type, was.first()?).ok()??;
        let mut writer = Writer::default();
        key.iter().chain(was).for_each(|value| value.write(&mut writer));
        let is_whole = was.len() == self.schema.domains.len();
        let [low, high] = [0, 1].map(|half| u128::from(self.fact_key.0[half].hash_one(writer.as_bytes())));
        is_whole.then_some((place, high << 64 | low))
    }

    fn registered(&self, row: &[SqlValue]) -> Vec<SqlValue> {
        (0..self.schema.domains.len()).map(|domain| self.schema.domain_value(domain, row).clone()).collect()
    }
}
