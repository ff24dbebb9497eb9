//! What the catalogue of a database says of a table.

use lacuna_core::{Error, Result};

use super::{ColumnKind, Database, Dialect, Failure};
use crate::sql_value::SqlValue;
use crate::statement::Statement;

/// A table as its database knows it.
#[derive(Debug)]
pub(crate) struct Described {
    /// Its name: the same whatever letters it was asked for by.
    pub(crate) name: String,
    pub(crate) columns: Vec<(String, ColumnKind)>,
    /// Whether some of them change as others are set.
    pub(crate) changes_itself: bool,
}

impl Dialect {
    /// The name, and whether writes to it can be fenced: a table (a view would be a second way to the same rows) whose
    /// transactions can be undone.
    const fn table_query(self) -> &'static str {
        match self {
            Self::Sqlite => {
                "SELECT name, type = 'table' FROM sqlite_master WHERE name = ?1 COLLATE NOCASE AND type IN ('table', 'view')"
            }
            Self::Postgres => {
                "SELECT $1::text, relkind IN ('r', 'p') AND relpersistence <> 't' FROM pg_class \
                 WHERE oid = to_regclass(quote_ident($1::text))"
            }
            Self::MariaDb => {
                "SELECT TABLE_NAME, TABLE_TYPE = 'BASE TABLE' AND COALESCE(ENGINE, '') = 'InnoDB' \
                 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?"
            }
        }
    }

    /// Columns that hold something else than what is put into them: generated ones, those of a clock, rounded floats.
    const fn changing_query(self) -> &'static str {
        match self {
            // By itself the function says what its connection remembers, which may be an earlier table of that name;
            // whatever reads a table has the schema looked at anew first.
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
                 AND (EXTRA LIKE '%GENERATED%' OR EXTRA LIKE '%on update%' OR COLUMN_TYPE LIKE 'double(%')"
            }
        }
    }

    /// Columns whose value the database makes up where NULL (or 0) is put in.
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

/// What there is to know of the table with primary key `key`.
pub(crate) async fn describe(database: &dyn Database, table: &str, key: &str) -> Result<Described> {
    let dialect = database.dialect();
    let found = ask(database, dialect.table_query(), table).await?;
    let name = match found.first().map(Vec::as_slice) {
        Some([SqlValue::Text(name), SqlValue::Integer(1)]) => name.clone(),
        Some(_) => {
            let message =
                format!("{table} is no table whose writes can be fenced: a view, or without transactions");
            return Err(Error::invalid_input(message));
        }
        None => return Err(Error::invalid_input(format!("there is no table {table}"))),
    };
    let mut columns = database.columns(&name).await.map_err(|failure: Failure| failure.error)?;
    let changing = names(ask(database, dialect.changing_query(), &name).await?);
    let mut counting = vec![key.to_owned()];
    if let Some(query) = dialect.counting_query() {
        counting.extend(names(ask(database, query, &name).await?));
    }
    for (column, kind) in &mut columns {
        if changing.contains(column) {
            *kind = ColumnKind::Other;
        } else if counting.contains(column) && *kind == ColumnKind::Integer {
            *kind = ColumnKind::Counter;
        }
    }
    Ok(Described { name, columns, changes_itself: !changing.is_empty() })
}

async fn ask(database: &dyn Database, sql: &str, table: &str) -> Result<super::Table> {
    let found = database.query(&Statement::new(sql).with(table)).await;
    found.map_err(|failure| failure.error)
}

fn names(found: super::Table) -> Vec<String> {
    let name = |row: Vec<SqlValue>| match row.into_iter().next() {
        Some(SqlValue::Text(name)) => Some(name),
        _ => None,
    };
    found.into_iter().filter_map(name).collect()
}
