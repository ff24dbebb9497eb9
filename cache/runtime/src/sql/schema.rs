//! The schema of a cached table.

use std::sync::Arc;

use lacuna_cache_protocol::{DomainId, DomainType};
use lacuna_cache_protocol::{Error, Result};

use crate::sql::database::{Column, ColumnKind, Constraints, Described, Dialect, TableName, TextOrder};
use crate::sql::sql_value::SqlValue;

/// A table, its primary key, and the columns that are queried by range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    pub(crate) table: String,
    /// With its schema; known once it was opened.
    pub(crate) name: Option<TableName>,
    /// Whether statements of this program may name it without its schema.
    pub(crate) is_searched: bool,
    pub(crate) keys: Vec<String>,
    pub(crate) domains: Vec<(String, DomainType)>,
    /// All columns; known once the table was opened.
    pub(crate) columns: Arc<[String]>,
    pub(crate) described: Vec<Column>,
    pub(crate) has_triggers: bool,
    /// What may make the database refuse a row.
    pub(crate) constraints: Constraints,
    /// Whether the key is the primary key, and has no other columns beside it.
    pub(crate) has_primary_key: bool,
    /// Whether `columns` are all that the table has.
    pub(crate) has_all_columns: bool,
    /// The dialect of its database; known once it was opened.
    pub(crate) dialect: Option<Dialect>,
    /// The columns that are read and written besides key and domains; `None` for all.
    only: Option<Vec<String>>,
}

impl Schema {
    /// A table with a primary key of one column, which never changes in a row. `sales.orders` is a table of another
    /// schema (PostgreSQL) or database (MariaDB), unless there is a table whose own name this is.
    pub fn new(table: &str, key: &str) -> Self {
        Self::with_keys(table, [key])
    }

    /// A table with a primary key of several columns, which never change in a row. Rows with the same value of a
    /// registered column are ordered by these.
    pub fn with_keys<'a>(table: &str, keys: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            table: table.to_owned(),
            name: None,
            is_searched: true,
            keys: keys.into_iter().map(ToOwned::to_owned).collect(),
            domains: Vec::new(),
            columns: Arc::new([]),
            described: Vec::new(),
            has_triggers: false,
            constraints: Constraints::default(),
            has_primary_key: false,
            has_all_columns: false,
            dialect: None,
            only: None,
        }
    }

    /// Declares that triggers change rows of the table after a write (those that exist when it is opened are found
    /// in the catalogue): a write that sets columns touches registered columns whole, and cached results that a
    /// write touches are dropped, never updated. (Triggers and cascading foreign keys must not change registered
    /// columns of rows that the write does not name.)
    #[must_use]
    pub const fn with_triggers(mut self) -> Self {
        self.has_triggers = true;
        self
    }

    /// Reads return, and writes name, only these columns besides the key and the registered ones: results are
    /// smaller, and more of them are cached.
    #[must_use]
    pub fn with_only<'a>(mut self, columns: impl IntoIterator<Item = &'a str>) -> Self {
        self.only = Some(columns.into_iter().map(ToOwned::to_owned).collect());
        self
    }

    /// Registers a column for ranges. Every write must know its value, before and after; see [`crate::sql::Table`].
    #[must_use]
    pub fn with_domain(mut self, column: &str, domain_type: DomainType) -> Self {
        self.domains.push((column.to_owned(), domain_type));
        self
    }

    /// With the name and the columns that the catalogue gives.
    pub(crate) fn with_columns(mut self, described: Described) -> Result<Self> {
        self.table = described.name.shared(described.dialect);
        self.is_searched = described.is_searched;
        self.name = Some(described.name.clone());
        if let (false, Some(cascade)) = (self.has_triggers, described.cascades.first()) {
            let message = format!(
                "rows of {} change past the cache when rows that {cascade} refers to change: let it restrict, or declare \
                 `with_triggers` if no row that a cascade would change is ever written",
                self.table
            );
            return Err(Error::invalid_input(message));
        }
        self.has_triggers |= described.changes_itself;
        let named =
            |name: &String| self.keys.contains(name) || self.domains.iter().any(|(domain, _)| domain == name);
        let is_wanted =
            |name: &String| self.only.as_ref().is_none_or(|only| only.contains(name) || named(name));
        let wanted = described.columns.iter().filter(|(name, _)| is_wanted(name)).cloned();
        let (columns, kinds): (Vec<String>, Vec<Column>) = wanted.unzip();
        let only = self.only.iter().flatten();
        let named = self.domains.iter().map(|(name, _)| name).chain(&self.keys).chain(only);
        if let Some(missing) = named.into_iter().find(|name| !columns.contains(name)) {
            return Err(Error::invalid_input(format!("the table {} has no column {missing}", self.table)));
        }
        if self.domains.is_empty() {
            return Err(Error::invalid_input(format!(
                "register at least one column of {}: call `Schema::with_domain`",
                self.table
            )));
        }
        if let Some((name, doubt)) =
            columns.iter().zip(&kinds).find_map(|(name, kind)| Some((name, kind.doubt.as_ref()?)))
        {
            return Err(Error::invalid_input(format!(
                "{name} of {} is computed at each read, and `{doubt}` may make it another value without a write: leave it out (see \
                 `with_only`)",
                self.table
            )));
        }
        self.has_all_columns = columns.len() == described.columns.len();
        self.columns = columns.into();
        self.described = kinds;
        self.constraints = described.constraints;
        self.dialect = Some(described.dialect);
        for (name, domain) in &self.domains {
            described.dialect.offers(name, &self.described[self.column(name)?], *domain)?;
        }
        self.check_key(&described.primary_key)?;
        self.has_primary_key = self.keys.iter().all(|key| described.primary_key.contains(key));
        Ok(self)
    }

    /// Rows are identified by their keys, here and in cached results: the key must be unique in the database.
    fn check_key(&self, primary: &[String]) -> Result<()> {
        if !primary.is_empty() && primary.iter().all(|column| self.keys.contains(column)) {
            return Ok(());
        }
        let message = match primary {
            [] => format!("the table {} has no primary key: give it one", self.table),
            primary => format!("the key of {} lacks columns of its primary key {primary:?}", self.table),
        };
        Err(Error::invalid_input(message))
    }

    /// The table in SQL.
    pub(crate) fn quoted(&self, dialect: Dialect) -> String {
        self.name.as_ref().map_or_else(|| dialect.quoted(&self.table), |name| name.quoted(dialect))
    }

    /// A column in an expression that could be taken for one of the results.
    pub(crate) fn quoted_column(&self, dialect: Dialect, column: &str) -> String {
        self.qualifier(dialect) + &dialect.quoted(column)
    }

    /// What stands before a column that is named with its table.
    pub(crate) fn qualifier(&self, dialect: Dialect) -> String {
        dialect.quoted(self.bare_name()) + "."
    }

    /// The name of the table without its schema.
    pub(crate) fn bare_name(&self) -> &str {
        self.name.as_ref().map_or(&self.table, |name| &name.table)
    }

    /// The number of a registered column.
    pub(crate) fn domain_of(&self, column: &str) -> Result<DomainId> {
        let place = self.domains.iter().position(|(name, _)| name == column);
        place.ok_or_else(|| {
            Error::invalid_input(format!("{column} is not a registered domain of {}", self.table))
        })
    }

    /// Values as they are returned to users, from what the driver read.
    pub(crate) fn received(&self, row: Vec<SqlValue>) -> Vec<SqlValue> {
        let kinds = self.described.iter().map(|column| column.kind);
        row.into_iter().zip(kinds).map(|(value, kind)| self.received_as(value, kind)).collect()
    }

    /// The same for one value of a column of this kind.
    pub(crate) fn received_as(&self, value: SqlValue, kind: ColumnKind) -> SqlValue {
        let is_text = matches!(kind, ColumnKind::Text | ColumnKind::Json { .. });
        match value {
            // Its driver takes texts under a collation of bytes for bytes.
            SqlValue::Blob(bytes) if self.dialect == Some(Dialect::MariaDb) && is_text => kind.received(
                String::from_utf8(bytes).map_or_else(|error| error.into_bytes().into(), Into::into),
            ),
            value => kind.received(value),
        }
    }

    /// What would make queries of registered columns faster: indexes that the table lacks.
    pub(crate) fn index_advice(&self) -> Vec<String> {
        let dialect = self.dialect.unwrap_or(Dialect::Sqlite);
        let advice = |(name, domain): &(String, DomainType)| {
            let column = &self.described[self.column(name).ok()?];
            let is_text = dialect == Dialect::Postgres && *domain == DomainType::Text;
            let collation = if is_text && column.order != TextOrder::Bytes { " COLLATE \"C\"" } else { "" };
            let (table, name) = (self.quoted(dialect), dialect.quoted(name));
            let is_served = column.kind != ColumnKind::Text || column.order != TextOrder::Collated;
            let sql = match dialect {
                Dialect::MariaDb if !is_served => format!(
                    "declare {name} of {table} COLLATE utf8mb4_nopad_bin, utf8mb4_bin or utf8mb4_general_ci, with an index: \
                     under its collation none serves ranges by bytes"
                ),
                Dialect::MariaDb => format!("ALTER TABLE {table} ADD INDEX ({name})"),
                _ => format!("CREATE INDEX ON {table} ({name}{collation})"),
            };
            (!column.is_indexed).then_some(sql)
        };
        self.domains.iter().filter_map(advice).collect()
    }

    /// The index of a column.
    pub(crate) fn column(&self, column: &str) -> Result<usize> {
        let place = self.columns.iter().position(|name| name == column);
        place.ok_or_else(|| Error::invalid_input(format!("the table {} has no column {column}", self.table)))
    }

    /// Whether the database keeps `value` in a column unchanged, so that a cached row can have it without a query.
    pub(crate) fn keeps(&self, place: usize, value: &SqlValue) -> bool {
        let column = self.described.get(place).filter(|column| !self.has_triggers && !column.is_changed);
        column.is_some_and(|column| column.kind.keeps(value) && !column.counts_on_from(value))
    }

    /// Whether the order of a domain is that of the values as they are read: nothing pads, folds or rounds them.
    /// Every write touches other domains whole (P9).
    pub(crate) fn has_order_of(&self, domain: DomainId) -> bool {
        let Some((column, domain_type)) = self.domains.get(domain) else { return false };
        let column = self.column(column).ok().and_then(|place| self.described.get(place));
        column.is_some_and(|column| !column.is_changed && column.kind.has_order_of(*domain_type))
    }

    /// `value` in the form in which it is read from the column.
    pub(crate) fn fitted(&self, place: usize, value: SqlValue) -> SqlValue {
        self.described.get(place).map_or(value.clone(), |column| column.kind.fitted(value))
    }

    /// The indexes of the columns of the key.
    pub(crate) fn key_places(&self) -> impl Iterator<Item = usize> {
        self.keys.iter().filter_map(|key| self.column(key).ok())
    }

    /// The key of a row.
    pub(crate) fn key_of(&self, row: &[SqlValue]) -> Vec<SqlValue> {
        self.key_places().filter_map(|place| row.get(place).cloned()).collect()
    }

    /// The value of a domain in a row.
    pub(crate) fn domain_value<'a>(&self, domain: DomainId, row: &'a [SqlValue]) -> &'a SqlValue {
        let place = self.domains.get(domain).and_then(|(name, _)| self.column(name).ok());
        place.and_then(|place| row.get(place)).unwrap_or(&SqlValue::Null)
    }

    /// Identifies the table, its columns, key and domains: results of another shape are never mistaken for these, nor are
    /// writes that mean other places, or find rows by other columns. Triggers are left out, which not every role sees.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut text = self.table.clone();
        self.columns.iter().for_each(|column| {
            text.push('\0');
            text.push_str(column);
        });
        self.keys.iter().for_each(|column| {
            text.push_str("\0\0");
            text.push_str(column);
        });
        // A column with a new declaration may be read as other values.
        self.described.iter().for_each(|column| {
            text.push('\0');
            text.push_str(&column.declared);
        });
        let marks = self.domain_marks();
        let mut bytes = text.into_bytes();
        marks.iter().for_each(|mark| bytes.extend(mark.to_le_bytes()));
        lacuna_base::hash::hash_bytes(&bytes, 0)
    }

    /// Identifies the table and its registered columns: what the number of a domain means.
    pub(crate) fn columns_mark(&self) -> u64 {
        let marks = self.domain_marks().into_iter().flat_map(u64::to_le_bytes);
        lacuna_base::hash::hash_bytes(&self.table.bytes().chain(marks).collect::<Vec<u8>>(), 0)
    }

    /// Identifies name and type of each registered column, in their order ([`docs/format/range-cache-sql.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/range-cache-sql.md)).
    pub(crate) fn domain_marks(&self) -> Vec<u64> {
        let mark = |(column, domain): &(String, DomainType)| {
            let scale = if let DomainType::Decimal { scale } = domain { *scale } else { 0 };
            let kind = match domain {
                DomainType::Integer => 0,
                DomainType::Unsigned => 1,
                DomainType::Decimal { .. } => 2,
                DomainType::Float => 3,
                DomainType::Text => 4,
                DomainType::Date => 5,
                DomainType::Timestamp => 6,
                DomainType::Bool => 7,
                DomainType::Uuid => 8,
                DomainType::Bytes => 9,
            };
            lacuna_base::hash::hash_bytes(&[column.as_bytes(), &[kind, scale]].concat(), 0)
        };
        self.domains.iter().map(mark).collect()
    }
}
