//! Which writes the database is certain to accept (P14): under write-back only these are acknowledged before it
//! has them.
//!
//! An update of the row `(7, "Anna", 20)` that compares `age = 20` is certain if a cached result shows this row
//! with these values, or the owner remembers it so (`facts.rs`), while its lease keeps all other writes away from
//! it. An insertion of key 7 is certain if a result that would show the row does not. Both hold only if nothing else may refuse the row: no check, no second
//! unique index, no foreign key, no value that the column cannot hold, no right that the role lacks, no publication. All other writes are in doubt,
//! and written through.
//!
//! A write that frees or takes a key is certain only if a column of the key is registered. Otherwise an insertion
//! in another range would not conflict with it, and could be refused because of a row whose removal was
//! acknowledged.

use lacuna_cache_protocol::{
    Command, Cut, DomainId, DomainType, Fact, Form, Interval, Query, RangeKey, Result, Value,
};

use crate::sql::application::TableRows;
use crate::sql::database::{Column, ColumnKind, Dialect, compares, takes};
use crate::sql::domain_key;
use crate::sql::rows::decode;
use crate::sql::schema::Schema;
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::{Effect, Shape, SqlWrite, Statement};

/// Bytes of texts and blobs in one write. Indexes refuse long values, and rows have a limit.
const MAX_BYTES: usize = 2_048;

impl TableRows {
    pub(crate) fn is_write_certain(
        &self,
        command: &Command,
        shown: &[(Query, Value)],
        facts: &[Fact],
    ) -> bool {
        let schema = &*self.schema;
        let Ok(write) = SqlWrite::of(command) else { return false };
        let is_known = |key, was| self.is_fact(key, was, facts) || self.is_shown(key, was, shown);
        match &write.effect {
            Effect::Unknown => write.statements.iter().all(|statement| schema.surely_runs(statement)),
            _ if schema.constraints.are_of_rows || schema.has_triggers => false,
            // The places of its effect mean other columns.
            _ if write.fingerprint != self.fingerprint => false,
            Effect::Insert(row) => self.is_insertion_certain(row, shown),
            Effect::Set { key, was, columns } => {
                columns.iter().all(|(place, value)| schema.surely_sets(*place, value))
                    && is_short(columns.iter().map(|(_, value)| value))
                    && is_known(key, was)
            }
            Effect::Delete { key, was } => {
                schema.constraints.rights.may_delete && schema.frees_keys_visibly() && is_known(key, was)
            }
        }
    }

    fn is_insertion_certain(&self, row: &[SqlValue], shown: &[(Query, Value)]) -> bool {
        let schema = &*self.schema;
        schema.has_all_columns
            && schema.constraints.rights.may_insert
            && schema.frees_keys_visibly()
            && schema.compares_keys_by_bytes()
            && row.iter().enumerate().all(|(place, value)| schema.surely_takes(place, value))
            && is_short(row)
            && self.is_key_free(row, shown)
    }

    /// Whether a result shows the row with this key, with these values of all registered columns. A client that
    /// registers fewer columns than this owner compares fewer values: its writes are in doubt.
    fn is_shown(&self, key: &[SqlValue], was: &[SqlValue], shown: &[(Query, Value)]) -> bool {
        let schema = &*self.schema;
        if was.len() != schema.domains.len() {
            return false;
        }
        let is_same = |row: &Vec<SqlValue>| {
            schema.key_of(row) == key
                && was.iter().enumerate().all(|(domain, value)| schema.domain_value(domain, row) == value)
        };
        self.results(shown).any(|(_, rows)| rows.iter().any(is_same))
    }

    /// Whether a result that would show a row with this key does not.
    fn is_key_free(&self, row: &[SqlValue], shown: &[(Query, Value)]) -> bool {
        let schema = &*self.schema;
        let key = schema.key_of(row);
        let would_show = |query: &Query| {
            query.form == Form::All
                && schema.is_key_domain(query.domain)
                && self.is_selected(query, row) == Some(true)
        };
        let mut is_free = false;
        for (query, rows) in self.results(shown) {
            if rows.iter().any(|row| schema.key_of(row) == key) {
                return false;
            }
            is_free |= would_show(query);
        }
        is_free && !key.contains(&SqlValue::Null)
    }

    /// The rows of complete results of the whole table; other results may leave rows or columns out.
    fn results<'a>(
        &self,
        shown: &'a [(Query, Value)],
    ) -> impl Iterator<Item = (&'a Query, Vec<Vec<SqlValue>>)> {
        let (fingerprint, columns) = (self.fingerprint, self.schema.columns.len());
        shown
            .iter()
            .filter(move |(query, _)| query.fingerprint == fingerprint && query.question.is_none())
            .filter_map(move |(query, value)| Some((query, decode(columns, value).ok()?)))
    }
}

impl Schema {
    /// Whether a write that takes a freed key, or frees a taken one, conflicts with the first write in a
    /// registered column.
    pub(crate) fn frees_keys_visibly(&self) -> bool {
        let constraints = &self.constraints;
        // Rows with other values of further columns of the key here may have the same key there.
        let is_key_alone = self.has_primary_key && !constraints.has_other_keys && !constraints.is_referred_to;
        is_key_alone && (0..self.domains.len()).any(|domain| self.is_key_domain(domain))
    }

    /// Whether two keys are equal for the database only if they are equal here: a collation may consider other texts
    /// equal.
    fn compares_keys_by_bytes(&self) -> bool {
        let is_exact = |column: &Column| column.kind != ColumnKind::Text || column.is_equal_by_bytes;
        self.key_places().all(|place| self.described.get(place).is_some_and(is_exact))
    }

    /// Whether a registered column is part of the key, and the database considers two of its values equal if they
    /// are equal here.
    fn is_key_domain(&self, domain: usize) -> bool {
        self.domains.get(domain).is_some_and(|(column, domain_type)| {
            let place = self.column(column).ok();
            let described = place.and_then(|place| self.described.get(place));
            let is_exact =
                *domain_type != DomainType::Text || described.is_some_and(|found| found.is_equal_by_bytes);
            self.keys.contains(column) && is_exact && self.has_order_of(domain)
        })
    }

    /// Whether a client promises that the database accepts the statement. Of statements that are not the application's only those
    /// of [`Table::delete_range`](super::Table::delete_range) do, whatever this role may do.
    fn surely_runs(&self, statement: &Statement) -> bool {
        statement.is_never_refused() && (statement.shape == Shape::Own || self.constraints.rights.may_delete)
    }

    /// Whether the database can compare a registered column with both bounds of an interval: it refuses a statement with a value
    /// that it cannot read, whatever its rows are.
    pub(crate) fn surely_compares(
        &self,
        dialect: Dialect,
        domain: DomainId,
        interval: &Interval<RangeKey>,
    ) -> Result<bool> {
        let (name, domain_type) = &self.domains[domain];
        let place = self.column(name)?;
        for cut in [interval.lo(), interval.hi()] {
            let (Cut::Before(key) | Cut::After(key)) = cut else { continue };
            let bound = self.fitted(place, domain_key::value(*domain_type, key)?);
            // PostgreSQL turns all texts into its own character set, which may lack some letters.
            let is_narrow = dialect == Dialect::Postgres
                && self.constraints.narrow.contains(name)
                && matches!(&bound, SqlValue::Text(text) if !text.is_ascii());
            if is_narrow || !compares(dialect, &self.described[place], &bound) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether no constraint involves the column, and it holds the value unchanged.
    fn surely_takes(&self, place: usize, value: &SqlValue) -> bool {
        let (Some(name), Some(column)) = (self.columns.get(place), self.described.get(place)) else {
            return false;
        };
        let constraints = &self.constraints;
        let is_narrow = constraints.narrow.contains(name)
            && matches!(value, SqlValue::Text(text) | SqlValue::Json(text) if !text.is_ascii());
        let is_missing = *value == SqlValue::Null && constraints.required.contains(name);
        !constraints.columns.contains(name)
            && !is_narrow
            && !is_missing
            && self.keeps(place, value)
            && takes(self.dialect.unwrap_or(Dialect::Sqlite), column, value)
    }

    /// The same for a row that is there: the role may set the column, too.
    fn surely_sets(&self, place: usize, value: &SqlValue) -> bool {
        let may_set = |name: &String| self.constraints.rights.settable.contains(name);
        self.columns.get(place).is_some_and(may_set) && self.surely_takes(place, value)
    }
}

fn is_short<'a>(values: impl IntoIterator<Item = &'a SqlValue>) -> bool {
    let bytes = |value: &SqlValue| match value {
        SqlValue::Text(text) | SqlValue::Json(text) => text.len(),
        SqlValue::Blob(bytes) => bytes.len(),
        _ => 0,
    };
    values.into_iter().map(bytes).sum::<usize>() <= MAX_BYTES
}
