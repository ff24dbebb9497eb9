//! What the cache must know of a table.

use std::sync::Arc;

use lacuna_core::{Error, Result};
use lacuna_range_cache::{DomainId, DomainType};

use crate::database::{ColumnKind, Described};
use crate::domain_key;
use crate::sql_value::SqlValue;

/// A table, its primary key, and the columns it is asked for by range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    pub(crate) table: String,
    pub(crate) key: String,
    pub(crate) domains: Vec<(String, DomainType)>,
    /// All columns; known once the table was opened.
    pub(crate) columns: Arc<[String]>,
    pub(crate) kinds: Vec<ColumnKind>,
    pub(crate) has_triggers: bool,
    /// The columns that are read and written beside key and domains; `None` for all.
    only: Option<Vec<String>>,
}

impl Schema {
    /// A table with a primary key of one column, which never changes in a row.
    pub fn new(table: &str, key: &str) -> Self {
        Self {
            table: table.to_owned(),
            key: key.to_owned(),
            domains: Vec::new(),
            columns: Arc::new([]),
            kinds: Vec::new(),
            has_triggers: false,
            only: None,
        }
    }

    /// Triggers change rows of the table behind a write: registered columns are taken whole by whatever sets columns, and
    /// cached results that a write touches are dropped, never updated. (Triggers and cascading foreign keys must not change
    /// registered columns of rows that the write does not name.)
    #[must_use]
    pub const fn with_triggers(mut self) -> Self {
        self.has_triggers = true;
        self
    }

    /// Reads bring, and writes name, only these columns beside the key and the registered ones: results are smaller, and
    /// more of them are cached.
    #[must_use]
    pub fn only<'a>(mut self, columns: impl IntoIterator<Item = &'a str>) -> Self {
        self.only = Some(columns.into_iter().map(ToOwned::to_owned).collect());
        self
    }

    /// Registers a column for ranges. Every write must know its value, before and after; see [`crate::Table`].
    #[must_use]
    pub fn domain(mut self, column: &str, domain_type: DomainType) -> Self {
        self.domains.push((column.to_owned(), domain_type));
        self
    }

    /// With the name and the columns that the database says it has.
    pub(crate) fn with_columns(mut self, described: Described) -> Result<Self> {
        self.table = described.name;
        self.has_triggers |= described.changes_itself;
        let named =
            |name: &String| *name == self.key || self.domains.iter().any(|(domain, _)| domain == name);
        let is_wanted =
            |name: &String| self.only.as_ref().is_none_or(|only| only.contains(name) || named(name));
        let wanted = described.columns.into_iter().filter(|(name, _)| is_wanted(name));
        let (columns, kinds): (Vec<String>, Vec<ColumnKind>) = wanted.unzip();
        let only = self.only.iter().flatten();
        let named = self.domains.iter().map(|(name, _)| name).chain([&self.key]).chain(only);
        if let Some(missing) = named.into_iter().find(|name| !columns.contains(name)) {
            return Err(Error::invalid_input(format!("the table {} has no column {missing}", self.table)));
        }
        if self.domains.is_empty() {
            return Err(Error::invalid_input(format!(
                "register at least one column of {} by `domain`",
                self.table
            )));
        }
        let offered = |domain: DomainType| !matches!(domain, DomainType::Decimal { .. } | DomainType::Date);
        if let Some((_, domain)) = self.domains.iter().find(|(_, domain)| !offered(*domain)) {
            return Err(domain_key::unsupported(*domain));
        }
        self.columns = columns.into();
        self.kinds = kinds;
        Ok(self)
    }

    /// The number of a registered column.
    pub(crate) fn domain_of(&self, column: &str) -> Result<DomainId> {
        let place = self.domains.iter().position(|(name, _)| name == column);
        place.ok_or_else(|| {
            Error::invalid_input(format!("{column} is no registered domain of {}", self.table))
        })
    }

    /// The place of a column.
    pub(crate) fn column(&self, column: &str) -> Result<usize> {
        let place = self.columns.iter().position(|name| name == column);
        place.ok_or_else(|| Error::invalid_input(format!("the table {} has no column {column}", self.table)))
    }

    /// Whether the database keeps `value` in a column as it is, so that a cached row can have it without asking.
    pub(crate) fn keeps(&self, place: usize, value: &SqlValue) -> bool {
        !self.has_triggers && self.kinds.get(place).is_some_and(|kind| kind.keeps(value))
    }

    /// Whether rows lie in a domain where their values, as they are read, say: nothing pads, folds or rounds them. Other
    /// domains are taken whole by every write.
    pub(crate) fn has_order_of(&self, domain: DomainId) -> bool {
        let Some((column, domain_type)) = self.domains.get(domain) else { return false };
        let kind = self.column(column).ok().and_then(|place| self.kinds.get(place));
        kind.is_some_and(|kind| kind.has_order_of(*domain_type))
    }

    pub(crate) fn key_place(&self) -> usize {
        self.column(&self.key).unwrap_or(0)
    }

    /// The value of a domain in a row.
    pub(crate) fn domain_value<'a>(&self, domain: DomainId, row: &'a [SqlValue]) -> &'a SqlValue {
        let place = self.domains.get(domain).and_then(|(name, _)| self.column(name).ok());
        place.and_then(|place| row.get(place)).unwrap_or(&SqlValue::Null)
    }

    /// Stands for the table and its columns: results of another shape are never mistaken for these.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut text = self.table.clone();
        self.columns.iter().for_each(|column| {
            text.push('\0');
            text.push_str(column);
        });
        lacuna_core::hash::hash_bytes(text.as_bytes(), 0)
    }
}
