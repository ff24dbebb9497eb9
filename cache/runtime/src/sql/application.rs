//! The effect of a write on a cached result, without asking the database.

use std::sync::Arc;

use lacuna_cache_protocol::{Application, Command, DomainType, Fact, Patch, Query, RangeKey, Value};

use crate::sql::database::{ColumnKind, Dialect, TextOrder};
use crate::sql::domain_key;
use crate::sql::facts::FactKey;
use crate::sql::rows::{decode, encode};
use crate::sql::schema::Schema;
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::{Effect, SqlWrite};

/// The meaning of commands and results of a table. If it is not certain of a result, the store is asked.
#[derive(Debug, Clone)]
pub(crate) struct TableRows {
    pub(super) schema: Arc<Schema>,
    pub(super) fingerprint: u64,
    pub(super) fact_key: FactKey,
}

impl Application for TableRows {
    fn numbers_domains_of(&self, command: &Command) -> bool {
        SqlWrite::fingerprint_of(command) == Some(self.fingerprint)
    }

    fn numbers_domain_of(&self, query: &Query) -> bool {
        query.fingerprint == self.fingerprint
    }

    fn is_certain(&self, command: &Command, shown: &[(Query, Value)], facts: &[Fact]) -> bool {
        self.is_write_certain(command, shown, facts)
    }

    fn facts_of(&self, query: &Query, value: &Value) -> Vec<Fact> {
        self.facts_shown(query, value)
    }

    fn facts_after(&self, command: &Command) -> Vec<Fact> {
        self.facts_made(command)
    }

    fn patch(&self, command: &Command, queries: &[Query]) -> Vec<Patch> {
        self.patches(command, queries)
    }

    fn settle(&self, query: &Query, value: &Value) -> Option<Value> {
        self.settled(query, value)
    }

    fn empty(&self, _: &Query) -> Value {
        encode(self.schema.columns.len(), &[])
    }

    /// The second alone, if it sets the same columns of the same row, and finds the row by values that the first
    /// does not change.
    fn merge(&self, first: &Command, second: &Command) -> Option<Command> {
        let schema = &*self.schema;
        let (first, after) = (SqlWrite::of(first).ok()?, SqlWrite::of(second).ok()?);
        let (Effect::Set { key, columns: set, .. }, Effect::Set { key: same, columns: again, .. }) =
            (&first.effect, &after.effect)
        else {
            return None;
        };
        let places = |set: &[(usize, SqlValue)]| set.iter().map(|(place, _)| *place).collect::<Vec<_>>();
        let is_registered = |place: &usize| schema.domain_of(&schema.columns[*place]).is_ok();
        let is_ours = [&first, &after].iter().all(|write| write.fingerprint == self.fingerprint);
        let is_alike = is_ours && key == same && places(set) == places(again) && !schema.has_triggers;
        let [one, other] = [&first, &after].map(|write| &write.statements[..]);
        let ([one], [other]) = (one, other) else { return None };
        // NULL is not a parameter: it is part of the text.
        let set = set.iter().filter(|(_, value)| *value != SqlValue::Null).count();
        let is_alike = is_alike
            && (&one.sql, one.expected) == (&other.sql, other.expected)
            && one.params.get(set..) == other.params.get(set..);
        (is_alike && !places(again).iter().any(is_registered)).then(|| second.clone())
    }

    fn shared_percent(&self, new: &Query, value: &Value, other: &Query) -> u8 {
        if new.question.is_some() || other.question.is_some() {
            return 0;
        }
        let Ok(rows) = decode(self.schema.columns.len(), value) else { return 100 };
        let shared = rows.iter().filter(|row| self.is_selected(other, row) != Some(false)).count();
        // Percentage of its own rows: the row count of the other is not known here, and the smaller of two has at
        // most as many.
        let percent = (shared * 100).div_ceil(rows.len().max(1));
        u8::try_from(percent).unwrap_or(100)
    }

    fn fuse(&self, query: &Query, parts: &[(Query, Value)]) -> Option<Value> {
        self.fused(query, parts)
    }

    fn can_fuse(&self) -> bool {
        true
    }
}

/// The position of a row in a result: by its domain value, then by its key.
pub(super) type Place = (Option<RangeKey>, Vec<RangeKey>);

impl TableRows {
    pub(crate) fn new(schema: Arc<Schema>) -> Self {
        Self { fingerprint: schema.fingerprint(), schema, fact_key: FactKey::default() }
    }

    /// `None` if only the database knows.
    pub(super) fn place(&self, query: &Query, row: &[SqlValue]) -> Option<Place> {
        let domain = self.key_of(query, self.schema.domain_value(query.domain, row))?;
        let keys = self.schema.key_places().map(|place| self.key_order(place, row.get(place)?));
        Some((domain, keys.collect::<Option<_>>()?))
    }

    /// The place of a key among rows of one domain value; `None` if only the database knows.
    pub(super) fn key_place(&self, key: &[SqlValue]) -> Option<Vec<RangeKey>> {
        self.schema.key_places().zip(key).map(|(place, value)| self.key_order(place, value)).collect()
    }

    fn domain_type(&self, query: &Query) -> Option<DomainType> {
        self.schema.domains.get(query.domain).map(|(_, domain_type)| *domain_type)
    }

    /// `None` if the value is not of the type of the domain.
    pub(crate) fn is_selected(&self, query: &Query, row: &[SqlValue]) -> Option<bool> {
        self.is_inside(query, self.schema.domain_value(query.domain, row))
    }

    pub(super) fn is_inside(&self, query: &Query, value: &SqlValue) -> Option<bool> {
        let key = self.key_of(query, value)?;
        Some(key.is_some_and(|key| query.interval.contains(&key)))
    }

    /// The key of a value of the domain, none for NULL. `None` if the value is not of the type of the domain.
    pub(super) fn key_of(&self, query: &Query, value: &SqlValue) -> Option<Option<RangeKey>> {
        domain_key::key(self.domain_type(query)?, value).ok()
    }

    /// The column that the query asks by.
    pub(super) fn domain_place(&self, query: &Query) -> Option<usize> {
        let (name, _) = self.schema.domains.get(query.domain)?;
        self.schema.columns.iter().position(|column| column == name)
    }

    /// Whether the column is the one that the query asks by.
    pub(super) fn is_domain(&self, query: &Query, place: usize) -> bool {
        self.schema
            .domains
            .get(query.domain)
            .is_some_and(|(name, _)| self.schema.columns.get(place) == Some(name))
    }

    /// Rows of one domain value are ordered by their keys: numbers, days, or texts and others by their bytes.
    /// `None` for a value that is not of the kind of its column.
    fn key_order(&self, place: usize, key: &SqlValue) -> Option<RangeKey> {
        let column = self.schema.described.get(place)?;
        let is_sqlite = self.schema.dialect == Some(Dialect::Sqlite);
        let typed = |domain| domain_key::key(domain, key).ok().flatten();
        match (column.kind, key) {
            (ColumnKind::Integer | ColumnKind::Counter { .. }, SqlValue::Integer(_)) => {
                typed(DomainType::Integer)
            }
            (ColumnKind::Other, SqlValue::Integer(_)) if is_sqlite => typed(DomainType::Integer),
            // Above all that `i64` holds, whose keys have eight bytes.
            (ColumnKind::Integer | ColumnKind::Counter { .. }, SqlValue::Unsigned(value)) => {
                Some(RangeKey::from_bytes(&[[0xFF; 8], value.to_be_bytes()].concat()))
            }
            (ColumnKind::Text, SqlValue::Text(_)) if column.order != TextOrder::Foreign => {
                typed(DomainType::Text)
            }
            (ColumnKind::Label { .. } | ColumnKind::Other, SqlValue::Text(_)) if !is_sqlite => {
                typed(DomainType::Text)
            }
            (ColumnKind::Json { .. }, SqlValue::Json(_)) => typed(DomainType::Text),
            (ColumnKind::Blob | ColumnKind::Padded { .. }, SqlValue::Blob(_)) => typed(DomainType::Bytes),
            (ColumnKind::Uuid { .. }, SqlValue::Uuid(_)) => typed(DomainType::Uuid),
            (ColumnKind::Bool, SqlValue::Bool(_)) => typed(DomainType::Bool),
            (ColumnKind::Date, SqlValue::Date(_)) => typed(DomainType::Date),
            (ColumnKind::Moment { .. }, SqlValue::Timestamp(_)) => typed(DomainType::Timestamp),
            (ColumnKind::Decimal { scale, .. }, SqlValue::Decimal { .. }) => {
                typed(DomainType::Decimal { scale })
            }
            _ => None,
        }
    }
}
