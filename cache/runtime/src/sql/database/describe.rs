//! What the catalogue of a database says of a table.

use lacuna_cache_protocol::{Error, Result};

use super::constraints::constraints;
use super::{Column, ColumnKind, Constraints, Database, Dialect, Failure};
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::Statement;

/// A table as its database describes it.
#[derive(Debug)]
pub(crate) struct Described {
    /// Its name in the spelling of the catalogue, whatever the spelling of the request.
    pub(crate) name: String,
    pub(crate) columns: Vec<(String, Column)>,
    /// Columns of its primary key; empty if it has none.
    pub(crate) primary_key: Vec<String>,
    pub(crate) dialect: Dialect,
    /// Whether columns change when others are set: some are generated, or there are triggers.
    pub(crate) changes_itself: bool,
    /// Foreign keys through which rows change when those of other tables do.
    pub(crate) cascades: Vec<String>,
    /// What may make the database refuse a row.
    pub(crate) constraints: Constraints,
}

impl Dialect {
    /// The name, and whether writes to it can be fenced: it must be a table with transactions (a view, or a part
    /// of another table, would be a second way to the same rows).
    const fn table_query(self) -> &'static str {
        match self {
            Self::Sqlite => {
                "SELECT name, type = 'table', sql FROM sqlite_master WHERE name = ?1 COLLATE NOCASE \
                 AND type IN ('table', 'view')"
            }
            Self::Postgres => {
                "SELECT $1::text, relkind IN ('r', 'p') AND relpersistence <> 't' AND NOT EXISTS \
                 (SELECT 1 FROM pg_inherits WHERE inhrelid = pg_class.oid) FROM pg_class WHERE oid = to_regclass(quote_ident($1::text))"
            }
            Self::MariaDb => {
                "SELECT TABLE_NAME, TABLE_TYPE = 'BASE TABLE' AND COALESCE(ENGINE, '') = 'InnoDB' \
                 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?"
            }
        }
    }

    /// Columns that do not keep the written value: generated ones, automatic timestamps, rounded floats.
    const fn changing_query(self) -> &'static str {
        match self {
            // Alone, the function returns what its connection remembers, which may be an earlier table of that
            // name; any statement that reads a table refreshes the schema first.
            Self::Sqlite => {
                "SELECT x.name FROM sqlite_master AS m, pragma_table_xinfo(m.name) AS x \
                 WHERE m.name = ?1 AND m.type = 'table' AND x.hidden IN (2, 3)"
            }
            Self::Postgres => {
                "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass(quote_ident($1::text)) AND attnum > 0 \
                 AND attgenerated <> ''"
            }
            Self::MariaDb => {
                "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? \
                 AND (EXTRA LIKE '%GENERATED%' OR EXTRA LIKE '%on update%' OR COLUMN_TYPE LIKE 'double(%' OR COLUMN_TYPE LIKE 'float(%')"
            }
        }
    }

    const fn primary_key_query(self) -> &'static str {
        match self {
            Self::Sqlite => "SELECT name FROM pragma_table_info(?1) WHERE pk > 0",
            Self::Postgres => {
                "SELECT attname::text FROM pg_attribute JOIN pg_index ON attrelid = indrelid AND attnum = ANY (indkey) \
                 WHERE indrelid = to_regclass(quote_ident($1::text)) AND indisprimary"
            }
            Self::MariaDb => {
                "SELECT COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = DATABASE() \
                 AND TABLE_NAME = ? AND CONSTRAINT_NAME = 'PRIMARY'"
            }
        }
    }

    /// The declared types of columns, in the words of the database. In SQLite values have types, not columns.
    const fn declared_query(self) -> &'static str {
        match self {
            Self::Sqlite => "SELECT name, type FROM pragma_table_xinfo(?1) WHERE hidden <> 1",
            Self::Postgres => {
                "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute \
                 WHERE attrelid = to_regclass(quote_ident($1::text)) AND attnum > 0 AND NOT attisdropped"
            }
            Self::MariaDb => {
                "SELECT COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() \
                 AND TABLE_NAME = ?"
            }
        }
    }

    fn declared(self, words: &str) -> Option<ColumnKind> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => ColumnKind::declared(words, 6).map(|kind| match kind {
                ColumnKind::Moment { digits, .. } => ColumnKind::Moment { digits, is_stamp: false },
                kind => kind,
            }),
            Self::MariaDb => ColumnKind::declared(words, 0),
        }
    }

    /// Triggers of the table.
    const fn trigger_query(self) -> &'static str {
        match self {
            Self::Sqlite => "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?1",
            Self::Postgres => {
                "SELECT tgname::text FROM pg_trigger WHERE tgrelid = to_regclass(quote_ident($1::text)) AND NOT tgisinternal"
            }
            Self::MariaDb => {
                "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE() \
                 AND EVENT_OBJECT_TABLE = ?"
            }
        }
    }

    /// Foreign keys through which rows of the table change when others do.
    const fn cascade_query(self) -> &'static str {
        match self {
            Self::Sqlite => {
                "SELECT \"table\" FROM pragma_foreign_key_list(?1) WHERE on_delete IN ('CASCADE', 'SET NULL', 'SET DEFAULT') \
                 OR on_update IN ('CASCADE', 'SET NULL', 'SET DEFAULT')"
            }
            Self::Postgres => {
                "SELECT conname::text FROM pg_constraint WHERE conrelid = to_regclass(quote_ident($1::text)) \
                 AND contype = 'f' AND (confdeltype IN ('c', 'n', 'd') OR confupdtype IN ('c', 'n', 'd'))"
            }
            Self::MariaDb => {
                "SELECT CONSTRAINT_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE() \
                 AND TABLE_NAME = ? AND (DELETE_RULE IN ('CASCADE', 'SET NULL') OR UPDATE_RULE IN ('CASCADE', 'SET NULL'))"
            }
        }
    }

    /// Columns whose value the database generates if NULL (or 0) is inserted.
    const fn counting_query(self) -> Option<&'static str> {
        match self {
            Self::Sqlite | Self::Postgres => None,
            Self::MariaDb => Some(
                "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? \
                 AND EXTRA LIKE '%auto_increment%'",
            ),
        }
    }
}

/// Reads the description of the table.
pub(crate) async fn describe(database: &dyn Database, table: &str) -> Result<Described> {
    let dialect = database.dialect();
    let found = ask(database, dialect.table_query(), table).await?;
    let name = match found.first().map(Vec::as_slice) {
        Some([SqlValue::Text(name), SqlValue::Integer(1)]) => name.clone(),
        Some([SqlValue::Text(name), SqlValue::Integer(1), SqlValue::Text(sql)])
            if !resolves_conflicts(sql) =>
        {
            name.clone()
        }
        Some(_) => {
            let message = format!(
                "{table} is not a table whose writes can be fenced: a view, a part of another, without transactions, or one that \
                 resolves conflicts on its own"
            );
            return Err(Error::invalid_input(message));
        }
        None => return Err(Error::invalid_input(format!("there is no table {table}"))),
    };
    let declared = pairs(ask(database, dialect.declared_query(), &name).await?);
    // In SQLite a statement that is only prepared may be prepared for an earlier table of that name.
    let columns = match dialect {
        Dialect::Sqlite => {
            declared.iter().map(|(name, words)| (name.clone(), ColumnKind::affinity(words))).collect()
        }
        _ => database.columns(&name).await.map_err(|failure: Failure| failure.error)?,
    };
    let changing = names(ask(database, dialect.changing_query(), &name).await?);
    let triggers = names(ask(database, dialect.trigger_query(), &name).await?);
    let cascades = names(ask(database, dialect.cascade_query(), &name).await?);
    let primary_key = names(ask(database, dialect.primary_key_query(), &name).await?);
    let mut counting = primary_key.clone();
    if let Some(query) = dialect.counting_query() {
        counting.extend(names(ask(database, query, &name).await?));
    }
    let described = |(column, kind): (String, ColumnKind)| {
        let words = declared.iter().find(|(name, _)| *name == column).map_or("", |(_, words)| words);
        let kind = dialect.declared(words).unwrap_or(kind);
        let is_counted = kind == ColumnKind::Integer && counting.contains(&column);
        let kind = if is_counted { ColumnKind::Counter } else { kind };
        let is_changed = changing.contains(&column);
        (column, Column { kind, is_changed, declared: words.to_owned() })
    };
    let columns = columns.into_iter().map(described).collect();
    let changes_itself = !changing.is_empty() || !triggers.is_empty();
    let constraints = constraints(database, &name).await?;
    Ok(Described { name, columns, primary_key, dialect, changes_itself, cascades, constraints })
}

pub(super) async fn ask(database: &dyn Database, sql: &str, table: &str) -> Result<super::Table> {
    let found = database.query(&Statement::new(sql).with(table)).await;
    found.map_err(|failure| failure.error)
}

/// Whether a row of the table is replaced by a new one, or a failed statement of SQLite leaves its first changes
/// in place.
fn resolves_conflicts(sql: &str) -> bool {
    let words: Vec<String> = sql.split_whitespace().map(str::to_ascii_uppercase).collect();
    let words = words.join(" ");
    words.contains("ON CONFLICT REPLACE") || words.contains("ON CONFLICT FAIL")
}

fn pairs(found: super::Table) -> Vec<(String, String)> {
    let pair = |row: Vec<SqlValue>| match <[SqlValue; 2]>::try_from(row) {
        Ok([SqlValue::Text(name), SqlValue::Text(words)]) => Some((name, words)),
        _ => None,
    };
    found.into_iter().filter_map(pair).collect()
}

pub(super) fn names(found: super::Table) -> Vec<String> {
    let name = |row: Vec<SqlValue>| match row.into_iter().next() {
        Some(SqlValue::Text(name)) => Some(name),
        _ => None,
    };
    found.into_iter().filter_map(name).collect()
}
