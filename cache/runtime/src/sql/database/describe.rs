//! What the catalogue of a database says of a table.

use lacuna_cache_protocol::{Error, Result};

use super::columns::{Marked, columns};
use super::constraints::constraints;
use super::table_name::TableName;
use super::{Column, Constraints, Database, Dialect};
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::Statement;

/// A table as its database describes it.
#[derive(Debug)]
pub(crate) struct Described {
    /// Its name with its schema, in the spelling of the catalogue.
    pub(crate) name: TableName,
    /// Whether this session finds it without its schema.
    pub(crate) is_searched: bool,
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
    /// Schema and name, whether it is found without its schema, whether writes to it can be fenced (`t`, or a word that says why
    /// not), and its definition. It must be a table with transactions (a view, or a part of another table, would be a second way
    /// to the same rows, and a key need not be unique in a table with those that inherit from it).
    const fn table_query(self) -> &'static str {
        match self {
            Self::Sqlite => {
                "SELECT '', name, 't', CASE type WHEN 'table' THEN 't' ELSE '' END, COALESCE(sql, '') FROM sqlite_master \
                 WHERE name = ?1 COLLATE NOCASE AND type IN ('table', 'view')"
            }
            Self::Postgres => {
                "SELECT nspname::text, relname::text, CASE WHEN pg_table_is_visible(pg_class.oid) THEN 't' ELSE '' END, \
                 CASE WHEN relpersistence = 'u' THEN 'unlogged' WHEN relkind IN ('r', 'p') AND row_security_active(pg_class.oid) \
                 THEN 'rows' WHEN relkind IN ('r', 'p') AND relpersistence = 'p' AND NOT EXISTS (SELECT 1 FROM pg_inherits \
                 WHERE inhrelid = pg_class.oid OR (inhparent = pg_class.oid AND relkind = 'r')) THEN 't' ELSE '' END, '' \
                 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE pg_class.oid = to_regclass($1::text)"
            }
            Self::MariaDb => {
                "SELECT TABLE_SCHEMA, TABLE_NAME, CASE WHEN TABLE_SCHEMA = DATABASE() THEN 't' ELSE '' END, \
                 CASE WHEN TABLE_TYPE = 'BASE TABLE' AND COALESCE(ENGINE, '') = 'InnoDB' THEN 't' ELSE '' END, '' \
                 FROM information_schema.TABLES WHERE TABLE_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = ?"
            }
        }
    }

    /// Columns that do not keep the written value: generated ones, automatic timestamps, rounded floats, and texts in character
    /// sets of Japan, two of whose letters become one.
    const fn changing_query(self) -> &'static str {
        match self {
            // Alone, the function returns what its connection remembers, which may be an earlier table of that
            // name; any statement that reads a table refreshes the schema first.
            Self::Sqlite => {
                "SELECT x.name FROM sqlite_master AS m, pragma_table_xinfo(m.name) AS x \
                 WHERE m.name = ?1 AND m.type = 'table' AND x.hidden IN (2, 3)"
            }
            Self::Postgres => {
                "SELECT attname::text FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid \
                 WHERE attrelid = to_regclass($1::text) AND attnum > 0 \
                 AND (attgenerated <> '' OR (typcategory = 'S' AND current_setting('server_encoding') = 'EUC_JP'))"
            }
            Self::MariaDb => {
                "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? \
                 AND (EXTRA LIKE '%GENERATED%' OR EXTRA LIKE '%on update%' OR COLUMN_TYPE LIKE 'double(%' OR COLUMN_TYPE LIKE 'float(%' \
                 OR CHARACTER_SET_NAME = 'cp932')"
            }
        }
    }

    const fn primary_key_query(self) -> &'static str {
        match self {
            Self::Sqlite => "SELECT name FROM pragma_table_info(?1) WHERE pk > 0",
            Self::Postgres => {
                // Columns after INCLUDE are in the index and not in the key.
                "SELECT attname::text FROM pg_attribute JOIN pg_index ON attrelid = indrelid \
                 AND attnum = ANY ((indkey::int2[])[0:indnkeyatts - 1]) WHERE indrelid = to_regclass($1::text) AND indisprimary"
            }
            Self::MariaDb => {
                "SELECT COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = ? \
                 AND TABLE_NAME = ? AND CONSTRAINT_NAME = 'PRIMARY'"
            }
        }
    }

    /// Triggers of the table, its partitions and its heirs, and rules, which do other things than a write says.
    const fn trigger_query(self) -> &'static str {
        match self {
            // A trigger keeps the spelling that its own statement gave the table.
            Self::Sqlite => {
                "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE"
            }
            Self::Postgres => {
                "WITH RECURSIVE family (id) AS (SELECT to_regclass($1::text)::oid \
                 UNION SELECT inhrelid FROM pg_inherits JOIN family ON inhparent = id) \
                 SELECT tgname::text FROM pg_trigger JOIN family ON tgrelid = id WHERE NOT tgisinternal \
                 UNION ALL SELECT rulename::text FROM pg_rewrite JOIN family ON ev_class = id"
            }
            Self::MariaDb => {
                "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = ? \
                 AND EVENT_OBJECT_TABLE = ?"
            }
        }
    }

    /// The privilege without which triggers do not show in the catalogue. The parameters are the schema twice, and the
    /// table. `None` if every user sees them.
    const fn sight_query(self) -> Option<&'static str> {
        match self {
            Self::Sqlite | Self::Postgres => None,
            Self::MariaDb => Some(
                "SELECT PRIVILEGE_TYPE FROM (SELECT PRIVILEGE_TYPE, GRANTEE FROM information_schema.USER_PRIVILEGES \
                 UNION ALL SELECT PRIVILEGE_TYPE, GRANTEE FROM information_schema.SCHEMA_PRIVILEGES WHERE ? LIKE TABLE_SCHEMA \
                 UNION ALL SELECT PRIVILEGE_TYPE, GRANTEE FROM information_schema.TABLE_PRIVILEGES \
                 WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?) AS granted \
                 WHERE PRIVILEGE_TYPE = 'TRIGGER' AND GRANTEE = CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''')",
            ),
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
                "WITH RECURSIVE family (id) AS (SELECT to_regclass($1::text)::oid \
                 UNION SELECT inhrelid FROM pg_inherits JOIN family ON inhparent = id) \
                 SELECT conname::text FROM pg_constraint JOIN family ON conrelid = id \
                 WHERE contype = 'f' AND (confdeltype IN ('c', 'n', 'd') OR confupdtype IN ('c', 'n', 'd'))"
            }
            Self::MariaDb => {
                "SELECT CONSTRAINT_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = ? \
                 AND TABLE_NAME = ? AND (DELETE_RULE IN ('CASCADE', 'SET NULL') OR UPDATE_RULE IN ('CASCADE', 'SET NULL'))"
            }
        }
    }
}

/// Columns whose value the database generates if NULL (or, in MariaDB, 0) is inserted. PostgreSQL has them, too, but refuses NULL there.
async fn counting(database: &dyn Database, name: &TableName, primary_key: &[String]) -> Result<Vec<String>> {
    match database.dialect() {
        Dialect::Postgres => Ok(Vec::new()),
        Dialect::Sqlite => Ok(primary_key.to_vec()),
        Dialect::MariaDb => {
            let query = "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? \
                         AND EXTRA LIKE '%auto_increment%'";
            Ok(names(ask(database, query, name).await?))
        }
    }
}

/// An existing table, by its name with its schema.
struct Located {
    name: TableName,
    is_searched: bool,
    /// Why its results cannot be cached, if they cannot.
    obstacle: Option<&'static str>,
}

/// Why the results of a table cannot be cached, by the word of [`Dialect::table_query`].
fn obstacle(word: &str, definition: &str) -> Option<&'static str> {
    match word {
        "t" if !resolves_conflicts(definition) => None,
        "rows" => Some(
            "has row security that applies to this role: which rows it sees may change with other tables, settings and the clock, \
             without a write of the table; connect as its owner, or as a role with BYPASSRLS",
        ),
        "unlogged" => Some("is unlogged: it may lose what results have shown when the server crashes"),
        _ => Some(
            "is not a table whose writes can be fenced: a view, a part of another, one that others inherit from, without \
             transactions, or one that resolves conflicts on its own",
        ),
    }
}

/// The name by which all programs know a table, however it is asked for.
pub(crate) async fn canonical(database: &dyn Database, table: &str) -> Result<String> {
    Ok(located(database, table).await?.name.shared(database.dialect()))
}

/// Reads the description of the table.
pub(crate) async fn describe(database: &dyn Database, table: &str) -> Result<Described> {
    let dialect = database.dialect();
    let Located { name, is_searched, obstacle } = located(database, table).await?;
    if let Some(obstacle) = obstacle {
        return Err(Error::invalid_input(format!("{table} {obstacle}")));
    }
    if name.table.rsplit_once('#').is_some_and(|(_, part)| part.bytes().all(|digit| digit.is_ascii_digit())) {
        let message = format!(
            "{table} is called as a part of another table would be, by `#` and a number at the end: rename it"
        );
        return Err(Error::invalid_input(message));
    }
    let list = async |query| Ok::<_, Error>(names(ask(database, query, &name).await?));
    let changing = list(dialect.changing_query()).await?;
    let triggers = list(dialect.trigger_query()).await?;
    let cascades = list(dialect.cascade_query()).await?;
    let primary_key = list(dialect.primary_key_query()).await?;
    let counting = counting(database, &name, &primary_key).await?.into_iter().collect();
    let may_have_triggers = !triggers.is_empty() || !sees_triggers(database, &name).await?;
    let changes_itself = !changing.is_empty() || may_have_triggers;
    let marked = Marked { changing: changing.into_iter().collect(), counting };
    let columns = columns(database, &name, &marked).await?;
    let constraints = constraints(database, &name).await?;
    Ok(Described { name, is_searched, columns, primary_key, dialect, changes_itself, cascades, constraints })
}

/// Whether the catalogue shows this user the triggers of the table. Where a role gives the privilege, it says no.
async fn sees_triggers(database: &dyn Database, table: &TableName) -> Result<bool> {
    let Some(query) = database.dialect().sight_query() else { return Ok(true) };
    let schema = table.schema.as_deref().unwrap_or_default();
    let statement = Statement::new(query).with(schema).with(schema).with(table.table.as_str());
    let found = database.query(&statement).await.map_err(|failure| failure.error)?;
    Ok(!found.is_empty())
}

async fn located(database: &dyn Database, table: &str) -> Result<Located> {
    let dialect = database.dialect();
    for meaning in TableName::meanings(table) {
        if meaning.schema.is_some() && dialect == Dialect::Sqlite {
            continue;
        }
        let found = ask(database, dialect.table_query(), &meaning).await?.into_iter().next();
        let Some(row) = found else { continue };
        let texts: Option<Vec<String>> = row.into_iter().map(crate::sql::sql_value::text).collect();
        let Ok([schema, name, searched, fenceable, sql]) = <[String; 5]>::try_from(texts.unwrap_or_default())
        else {
            return Err(Error::unavailable("the catalogue describes a table in an unknown form"));
        };
        let name = TableName { schema: Some(schema).filter(|_| dialect != Dialect::Sqlite), table: name };
        return Ok(Located { name, is_searched: searched == "t", obstacle: obstacle(&fenceable, &sql) });
    }
    Err(Error::invalid_input(format!("there is no table {table}")))
}

pub(super) async fn ask(database: &dyn Database, sql: &str, table: &TableName) -> Result<super::Table> {
    let statement = table.params(database.dialect()).into_iter().fold(Statement::new(sql), Statement::with);
    let found = database.query(&statement).await;
    found.map_err(|failure| failure.error)
}

/// Whether a row of the table is replaced by a new one, or a failed statement of SQLite leaves its first changes
/// in place.
fn resolves_conflicts(sql: &str) -> bool {
    let words: Vec<String> = sql.split_whitespace().map(str::to_ascii_uppercase).collect();
    let words = words.join(" ");
    words.contains("ON CONFLICT REPLACE") || words.contains("ON CONFLICT FAIL")
}

pub(super) fn names(found: super::Table) -> Vec<String> {
    let name = |row: Vec<SqlValue>| match row.into_iter().next() {
        Some(SqlValue::Text(name)) => Some(name),
        _ => None,
    };
    found.into_iter().filter_map(name).collect()
}
