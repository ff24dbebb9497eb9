//! What a role may write of a table, and what its publications allow.
//!
//! Under write-back a write that the role has no right to make is acknowledged only if the database takes it, as that refuses it
//! (P14). PostgreSQL's catalogue says what a role may do, alone or by other roles that it has. That of MariaDB hides from a user what
//! is granted to roles, to `PUBLIC` and to anonymous users, and which of several grants counts. So each kind of write is tried
//! there on no row, as `UPDATE people SET name = name WHERE 1 = 0`: the server looks at rights first. What is refused for another
//! reason, or waits for a lock of the whole table, counts as a right that is missing, which costs speed alone.
//!
//! A publication of PostgreSQL refuses updates and deletions of every role if it cannot say which rows they were: the table has no
//! replica identity, or rows or columns are chosen by others than those of the identity. The server looks at all publications, of
//! the table, its schema or the whole database, when it begins an update; so one is explained there, which is as far as it gets.
//!
//! Cost: three statements for each table that is opened, and on PostgreSQL two transactions; on MariaDB one transaction, and one more
//! statement for each column if the role may not set all of them.

use std::collections::BTreeSet;

use lacuna_cache_protocol::Result;

use super::describe::{Described, ask, names};
use super::table_name::TableName;
use super::{Column, Database, Dialect, Failure, FailureKind, Transaction};

/// What the role of this process may write, as publications allow; nothing before it was asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rights {
    /// Columns that it may set in rows that are there.
    pub(crate) settable: BTreeSet<String>,
    /// Whether it may add rows with values for all columns.
    pub(crate) may_insert: bool,
    pub(crate) may_delete: bool,
}

/// Columns that may be set.
const SETTABLE: &str = "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass($1::text) AND attnum > 0 \
                        AND NOT attisdropped AND has_column_privilege(attrelid, attnum, 'UPDATE')";

/// Columns to which a new row may not give a value.
const NOT_INSERTED: &str = "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass($1::text) AND attnum > 0 \
                            AND NOT attisdropped AND NOT has_column_privilege(attrelid, attnum, 'INSERT')";

/// The table, if its rows may be deleted.
const DELETABLE: &str = "SELECT relname::text FROM pg_class WHERE oid = to_regclass($1::text) \
                         AND has_table_privilege(oid, 'DELETE')";

/// What the role may do now; it may lose a right later.
pub(crate) async fn rights(database: &dyn Database, table: &Described) -> Result<Rights> {
    match database.dialect() {
        Dialect::Sqlite => {
            let settable = table.columns.iter().map(|(name, _)| name.clone()).collect();
            Ok(Rights { settable, may_insert: true, may_delete: true })
        }
        Dialect::Postgres => published(database, table, granted(database, &table.name).await?).await,
        Dialect::MariaDb => tried(database, table).await,
    }
}

async fn granted(database: &dyn Database, table: &TableName) -> Result<Rights> {
    let settable = names(ask(database, SETTABLE, table).await?).into_iter().collect();
    let may_insert = ask(database, NOT_INSERTED, table).await?.is_empty();
    let may_delete = !ask(database, DELETABLE, table).await?.is_empty();
    Ok(Rights { settable, may_insert, may_delete })
}

/// The rights that are left where publications look at each update and deletion.
async fn published(database: &dyn Database, table: &Described, rights: Rights) -> Result<Rights> {
    let name = table.name.quoted(table.dialect);
    let Rights { mut settable, may_insert, may_delete } = rights;
    let is_set = |(name, column): &&(String, Column)| settable.contains(name) && !column.is_generated;
    if let Some((column, _)) = table.columns.iter().find(is_set) {
        let column = table.dialect.quoted(column);
        if !is_explained(database, &format!("UPDATE {name} SET {column} = DEFAULT WHERE false")).await? {
            settable.clear();
        }
    }
    let may_delete = may_delete && is_explained(database, &format!("DELETE FROM {name} WHERE false")).await?;
    Ok(Rights { settable, may_insert, may_delete })
}

/// Whether PostgreSQL begins a statement, of which nothing is executed. It waits a second at most for a lock of the whole table.
async fn is_explained(database: &dyn Database, sql: &str) -> Result<bool> {
    let mut open = database.begin().await.map_err(|failure| failure.error)?;
    let explained = open.run(&format!("SET LOCAL lock_timeout TO '1s'; EXPLAIN {sql}")).await;
    open.rollback().await;
    was_taken(explained)
}

async fn tried(database: &dyn Database, table: &Described) -> Result<Rights> {
    let name = table.name.quoted(table.dialect);
    let columns: Vec<&String> =
        table.columns.iter().filter(|(_, column)| !column.is_generated).map(|(name, _)| name).collect();
    let quoted: Vec<String> = columns.iter().map(|column| table.dialect.quoted(column)).collect();
    let set = |columns: &[String]| {
        let values: Vec<String> = columns.iter().map(|column| format!("{column} = {column}")).collect();
        format!("UPDATE {name} SET {} WHERE 1 = 0", values.join(", "))
    };
    let values = vec!["NULL"; quoted.len()].join(", ");
    let insertion =
        format!("INSERT INTO {name} ({}) SELECT {values} FROM DUAL WHERE 1 = 0", quoted.join(", "));
    let deletion = format!("DELETE FROM {name} WHERE 1 = 0");
    let mut open = database.begin().await.map_err(|failure| failure.error)?;
    let may_insert = is_taken(&mut *open, 1, &insertion).await?;
    let may_delete = is_taken(&mut *open, 1, &deletion).await?;
    let mut settable = BTreeSet::new();
    if is_taken(&mut *open, 1, &set(&quoted)).await? {
        settable.extend(columns.into_iter().cloned());
    } else {
        for (column, quoted) in columns.into_iter().zip(quoted) {
            if is_taken(&mut *open, 0, &set(&[quoted])).await? {
                settable.insert(column.clone());
            }
        }
    }
    open.rollback().await;
    Ok(Rights { settable, may_insert, may_delete })
}

/// Whether the server takes a statement, which waits `wait_s` seconds at most for a lock of the whole table.
async fn is_taken(open: &mut dyn Transaction, wait_s: u32, sql: &str) -> Result<bool> {
    let sql = format!("SET STATEMENT lock_wait_timeout = {wait_s} FOR {sql}");
    was_taken(open.run(&sql).await)
}

/// Whether the server took statements.
fn was_taken(done: Result<Vec<u64>, (usize, Failure)>) -> Result<bool> {
    match done {
        Ok(_) => Ok(true),
        Err((_, failure)) if failure.kind == FailureKind::Unknown => Err(failure.error),
        Err(_) => Ok(false),
    }
}
