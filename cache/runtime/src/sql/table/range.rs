//! Writes of ranges, and SQL of the application.

use std::ops::RangeBounds;

use crate::owner::WriteError;
use lacuna_cache_protocol::{Error, Result};
use lacuna_cache_protocol::{Touched, WriteSet};

use super::Table;
use crate::sql::domain_key;
use crate::sql::schema::Schema;
use crate::sql::select::Sql;
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::{Effect, Shape, Statement};

/// The allowed first words of a statement of the application. Others may end the transaction, and with it the
/// protection by the fence.
const WORDS: [&str; 7] = ["DELETE", "INSERT", "MERGE", "REPLACE", "SELECT", "UPDATE", "WITH"];

/// Functions whose effect outlives the statement in its connection, which the next statement takes over: settings by
/// which values are read and compared, and locks. Whatever else a function does ends with the transaction, or is in the
/// database.
const OF_SESSIONS: [&str; 11] = [
    "set_config",
    "pg_advisory_lock",
    "pg_advisory_lock_shared",
    "pg_try_advisory_lock",
    "pg_try_advisory_lock_shared",
    "pg_advisory_unlock",
    "pg_advisory_unlock_shared",
    "pg_advisory_unlock_all",
    "get_lock",
    "release_lock",
    "release_all_locks",
];

impl Table {
    /// Removes all rows whose `column` lies in `range`.
    ///
    /// # Errors
    /// As [`Table::insert`].
    pub async fn delete_range<V: Into<SqlValue> + Clone>(
        &self,
        column: &str,
        range: impl RangeBounds<V>,
    ) -> Result<(), WriteError> {
        let change = |sql: &mut Sql| {
            sql.text("DELETE FROM ").table(&self.schema);
        };
        let is_certain = self.schema.frees_keys_visibly() && !self.schema.constraints.are_of_rows;
        self.change_range(column, range, change, is_certain).await
    }

    /// Sets columns that are not registered, by expressions of SQL, in all rows whose `column` lies in `range`.
    /// Only the database knows whether it accepts them, so they are acknowledged after it has them, under
    /// write-back too (P14).
    ///
    /// # Errors
    /// `Refused` for a registered column; as [`Table::insert`] otherwise.
    pub async fn update_range<V: Into<SqlValue> + Clone>(
        &self,
        column: &str,
        range: impl RangeBounds<V>,
        assignments: &[(&str, &str)],
    ) -> Result<(), WriteError> {
        for (assigned, expression) in assignments {
            self.schema.column(assigned)?;
            leaves_session(expression)?;
            if expression.contains("/*") {
                return Err(Error::invalid_input(
                    "a comment in an expression could hide the conditions after it",
                )
                .into());
            }
            let is_key = self.schema.keys.iter().any(|key| key == assigned);
            if self.schema.domain_of(assigned).is_ok() || is_key {
                let message =
                    format!("{assigned} is registered: name the rows and use `update`, or `execute`");
                return Err(Error::invalid_input(message).into());
            }
        }
        let change = |sql: &mut Sql| {
            sql.text("UPDATE ").table(&self.schema).text(" SET ");
            for (place, (assigned, expression)) in assignments.iter().enumerate() {
                // The line break ends a comment before the conditions and the fence.
                sql.text(if place > 0 { ", " } else { "" })
                    .name(assigned)
                    .text(" = (")
                    .text(expression)
                    .text("\n)");
            }
        };
        self.change_range(column, range, change, false).await
    }

    async fn change_range<V: Into<SqlValue> + Clone>(
        &self,
        column: &str,
        range: impl RangeBounds<V>,
        change: impl FnOnce(&mut Sql),
        is_certain: bool,
    ) -> Result<(), WriteError> {
        let domain = self.schema.domain_of(column)?;
        let Some(interval) = self.interval(column, range)? else { return Ok(()) };
        let is_bounded = self.schema.surely_compares(self.dialect, domain, &interval)?;
        let mut sql = Sql::new(self.dialect);
        change(&mut sql);
        sql.text(" WHERE ");
        sql.within(&self.schema, domain, &interval)?;
        // Rows of the range may have any value in other registered columns, which are therefore touched whole
        // (P9). So is this column if rows may move within it.
        let is_sure = self.schema.has_order_of(domain) && !self.schema.has_triggers;
        let touched = if is_sure { vec![(domain, interval)] } else { Vec::new() };
        let statement = sql.into_statement(Shape::Condition);
        let is_certain = is_certain && !self.schema.has_triggers && is_bounded;
        let statement = if is_certain { statement.never_refused() } else { statement };
        self.send(touched, vec![statement], Effect::Unknown).await
    }

    /// Runs statements of the application in one transaction. `touched` must hold the values of registered columns
    /// of every row of this table that they change, before and after; registered columns that it does not name, or names by an
    /// empty set, are touched whole, and so are those of which it has a value that the database may keep as another one (rounded,
    /// padded, set by a trigger). **A missing value leaves stale results in the cache**, and so does a change of another registered
    /// table: take [`Cache::transaction`](crate::sql::Cache::transaction) for that. Under write-back,
    /// statements are written through unless all are [`Statement::never_refused`].
    ///
    /// # Errors
    /// `Refused` for a set of another table, a statement that does not read or write rows, or changes its connection beyond the transaction
    /// (`set_config`, `pg_settings`, `pg_advisory_lock`, `GET_LOCK`, `INTO TEMP`); as [`Table::insert`] otherwise. What a stored
    /// function of the application does is not seen: settings that it changes must end with the function or the transaction.
    pub async fn execute(&self, touched: &[WriteSet], statements: Vec<Statement>) -> Result<(), WriteError> {
        checked_words(&statements)?;
        self.send(self.sure_touched(touched)?, statements, Effect::Unknown).await
    }

    /// An empty set of values of a registered column, for [`Table::execute`].
    ///
    /// # Errors
    /// `InvalidInput` for a column that is not registered.
    pub fn write_set(&self, column: &str) -> Result<WriteSet> {
        let domain = self.schema.domain_of(column)?;
        Ok(WriteSet::new(domain, self.schema.domains[domain].1).of_columns(self.columns_mark))
    }

    /// What statements of the application touch, without columns of which only the database knows the order, or the value that it
    /// keeps: these are touched whole.
    ///
    /// # Errors
    /// `InvalidInput` for a set that is not of this table.
    pub(super) fn sure_touched(&self, touched: &[WriteSet]) -> Result<Vec<Touched>> {
        let schema = &self.schema;
        let mut sure = Vec::new();
        for set in touched {
            let domain = schema.domains.get(set.domain());
            if !domain.is_some_and(|(_, domain_type)| set.is_of(*domain_type, self.columns_mark)) {
                let message =
                    format!("a set of values is not of {}: make it by its own `write_set`", schema.table);
                return Err(Error::invalid_input(message));
            }
            if schema.has_order_of(set.domain()) && keeps_all(schema, set)? {
                sure.extend(set.touched());
            }
        }
        Ok(sure)
    }
}

/// Whether the database keeps each value of the set as it is.
fn keeps_all(schema: &Schema, set: &WriteSet) -> Result<bool> {
    let (column, domain_type) = &schema.domains[set.domain()];
    let place = schema.column(column)?;
    for key in set.keys() {
        let value = schema.fitted(place, domain_key::value(*domain_type, key)?);
        if !schema.keeps(place, &value) {
            return Ok(false);
        }
    }
    Ok(!set.has_null() || schema.keeps(place, &SqlValue::Null))
}

/// Checks that statements of the application read or write rows, one statement each.
pub(super) fn checked_words(statements: &[Statement]) -> Result<()> {
    for statement in statements {
        let word = statement.sql.split_whitespace().next().unwrap_or("").to_ascii_uppercase();
        if !WORDS.contains(&word.as_str()) {
            let message =
                format!("{word} may end the transaction, and the fence with it; use one of {WORDS:?}");
            return Err(Error::invalid_input(message));
        }
        if has_second(&statement.sql) {
            let message = "one statement at a time: a second may end the transaction, and the fence with it";
            return Err(Error::invalid_input(message));
        }
        leaves_session(&statement.sql)?;
    }
    Ok(())
}

/// Refuses SQL that calls a function of [`OF_SESSIONS`], as it does if it only quotes such a call, that writes to the view of
/// all settings, or makes a temporary table, which would stand before the table of that name.
fn leaves_session(sql: &str) -> Result<()> {
    let sql = sql.to_ascii_lowercase();
    if sql.contains("pg_settings") {
        return Err(Error::invalid_input(
            "pg_settings changes the connection for the statements after it: read one setting by current_setting, and give \
             settings in the URL or to the role",
        ));
    }
    if makes_temporary(&sql) {
        return Err(Error::invalid_input(
            "a temporary table stays in the connection, where later statements would read it in place of another: create the \
             table before, and insert into it",
        ));
    }
    let is_called = |name: &&&str| {
        let mut calls = sql.match_indices(**name).map(|(place, _)| &sql[place + name.len()..]);
        calls.any(|rest| {
            let rest = rest.trim_start_matches(['"', '`']).trim_start();
            // A comment may stand before the bracket, or end before it.
            ["(", "/*", "*/", "--", "#"].iter().any(|next| rest.starts_with(next))
        })
    };
    match OF_SESSIONS.iter().find(is_called) {
        Some(name) => Err(Error::invalid_input(format!(
            "{name} changes the connection for the statements after it: give settings in the URL or to the role, and take \
             locks that end with the transaction (pg_advisory_xact_lock, SELECT ... FOR UPDATE)"
        ))),
        None => Ok(()),
    }
}

/// Whether `SELECT ... INTO` makes a temporary table.
fn makes_temporary(sql: &str) -> bool {
    let is_inside = |letter: char| letter.is_alphanumeric() || letter == '_';
    let words: Vec<&str> = sql.split(|letter| !is_inside(letter)).filter(|word| !word.is_empty()).collect();
    words.windows(3).any(|words| {
        let is_write = ["insert", "replace", "merge", "ignore"].contains(&words[0]);
        !is_write
            && words[1] == "into"
            && ["temp", "temporary", "local", "global", "pg_temp"].contains(&words[2])
    })
}

/// Whether a second statement follows a semicolon that is neither quoted nor in a comment: SQLite would run it,
/// too.
fn has_second(mut sql: &str) -> bool {
    while let Some(place) = sql.find([';', '\'', '"', '`', '[', '-', '/']) {
        let rest = &sql[place..];
        let (begin, end) = match rest.as_bytes() {
            [b';', ..] => return !rest[1..].trim().is_empty(),
            [b'-', b'-', ..] => (2, "\n"),
            [b'/', b'*', ..] => (2, "*/"),
            [b'[', ..] => (1, "]"),
            [b'-' | b'/', ..] => (1, ""),
            _ => (1, &rest[..1]),
        };
        let inside = &rest[begin..];
        sql = inside.find(end).map_or("", |place| &inside[place + end.len()..]);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{has_second, leaves_session};

    #[test]
    fn functions_that_change_the_session_are_refused_however_they_are_written() {
        for refused in [
            "SELECT set_config('TimeZone', 'Asia/Tokyo', false)",
            "UPDATE a SET b = pg_catalog.SET_CONFIG ('x', 'y', false)",
            "SELECT \"set_config\"('x', 'y', false)",
            "SELECT pg_advisory_lock(1)",
            "SELECT 1 FROM a WHERE `GET_LOCK`\n('a', 1) = 1",
            "SELECT set_config/**/('TimeZone', 'Asia/Tokyo', false)",
            "SELECT \"set_config\" -- a line\n('x', 'y', false)",
            "SELECT get_lock # a line\n('a', 1)",
            "SELECT /*!50000 get_lock*/('a', 1)",
            "UPDATE pg_catalog.pg_settings SET setting = 'Asia/Tokyo' WHERE name = 'TimeZone'",
            "SELECT 1 AS id INTO TEMP people",
            "WITH a AS (SELECT 1 AS id) SELECT id INTO LOCAL TEMPORARY TABLE people FROM a",
            "SELECT 1 AS id INTO pg_temp.people",
        ] {
            assert!(leaves_session(refused).is_err(), "{refused}");
        }
        for taken in [
            "SELECT pg_advisory_xact_lock(1)",
            "UPDATE a SET get_lock = 1",
            "SELECT nextval('a'), current_setting('TimeZone')",
            "INSERT INTO temp VALUES (1)",
            "UPDATE a SET temp = 1",
        ] {
            assert!(leaves_session(taken).is_ok(), "{taken}");
        }
    }

    #[test]
    fn a_second_statement_is_found_wherever_it_hides() {
        for one in [
            "DELETE FROM a",
            "DELETE FROM a ; \n",
            "SELECT ';x' , \"a;b\" -- it's; this\n",
            "SELECT 5 - 3 / 2 /* ; x */",
        ] {
            assert!(!has_second(one), "{one}");
        }
        for two in [
            "DELETE FROM a; COMMIT",
            "SELECT 'it''s'; x",
            "SELECT 1 -- it's\n; COMMIT",
            "SELECT 1 /* ' */; COMMIT",
        ] {
            assert!(has_second(two), "{two}");
        }
    }
}
