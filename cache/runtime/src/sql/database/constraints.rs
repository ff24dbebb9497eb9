//! What may make the database refuse a row, according to its catalogue.
//!
//! Under write-back a write is acknowledged before the database has it only if the database cannot refuse it
//! (P14). A constraint that is not fully understood here (a check, an index over an expression, a policy) counts
//! as a reason to ask.

use std::collections::BTreeSet;

use lacuna_cache_protocol::Result;

use super::describe::{ask, names};
use super::rights::Rights;
use super::table_name::TableName;
use super::{Database, Dialect};

/// What may make the database refuse a row of a table. A table that was not opened may refuse every row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Constraints {
    /// Whether a constraint involves whole rows: a check, a policy, an index over an expression, a partition.
    pub(crate) are_of_rows: bool,
    /// Columns with constraints other than the primary key: unique indexes, checks, foreign keys and what they refer to, domains,
    /// and indexes whose entries, of several values of any length, may become too long.
    pub(crate) columns: BTreeSet<String>,
    /// Whether other columns than those of the primary key must be unique, or a part of one.
    pub(crate) has_other_keys: bool,
    /// Whether rows of other tables refer to rows of this one.
    pub(crate) is_referred_to: bool,
    /// Columns that cannot be NULL.
    pub(crate) required: BTreeSet<String>,
    /// Columns of text whose character set may lack some letters.
    pub(crate) narrow: BTreeSet<String>,
    /// What the role may write; nothing unless it was asked, under write-back.
    pub(crate) rights: Rights,
}

impl Default for Constraints {
    fn default() -> Self {
        let none = BTreeSet::new;
        Self {
            are_of_rows: true,
            columns: none(),
            has_other_keys: true,
            is_referred_to: true,
            required: none(),
            narrow: none(),
            rights: Rights::default(),
        }
    }
}

/// Queries of a catalogue; each has the name of the table as its parameter and returns names.
struct Queries {
    /// Constraints on whole rows.
    of_rows: &'static [&'static str],
    unique: &'static str,
    columns: &'static str,
    referring: &'static str,
    /// Columns that rows of other tables refer to, where these need not be unique.
    referred: Option<&'static str>,
    required: &'static str,
    narrow: Option<&'static str>,
}

impl Dialect {
    const fn constraint_queries(self) -> Queries {
        match self {
            Self::Sqlite => SQLITE,
            Self::Postgres => POSTGRES,
            Self::MariaDb => MARIADB,
        }
    }
}

const SQLITE: Queries = Queries {
    of_rows: &[
        // A check has no entry of its own in the catalogue, and a strict table refuses values of other types.
        "SELECT name FROM sqlite_master WHERE name = ?1 AND type = 'table' AND (sql LIKE '%check%' OR sql LIKE '%strict%')",
        // Expressions have no name; a partial index depends on its condition, too.
        "SELECT l.name FROM pragma_index_list(?1) AS l, pragma_index_info(l.name) AS i WHERE l.partial OR i.name IS NULL",
    ],
    unique: "SELECT i.name FROM pragma_index_list(?1) AS l, pragma_index_info(l.name) AS i \
             WHERE l.\"unique\" AND l.origin <> 'pk' AND i.name IS NOT NULL",
    columns: "SELECT \"from\" FROM pragma_foreign_key_list(?1)",
    referring: "SELECT m.name FROM sqlite_master AS m, pragma_foreign_key_list(m.name) AS f \
                WHERE m.type = 'table' AND f.\"table\" = ?1 COLLATE NOCASE",
    referred: None,
    required: "SELECT name FROM pragma_table_info(?1) WHERE \"notnull\"",
    narrow: None,
};

const POSTGRES: Queries = Queries {
    of_rows: &[
        "SELECT relname::text FROM pg_class WHERE oid = to_regclass($1::text) \
         AND (relrowsecurity OR relhasrules OR relhassubclass OR relkind = 'p')",
        "SELECT indexrelid::text FROM pg_index WHERE indrelid = to_regclass($1::text) \
         AND (indexprs IS NOT NULL OR indpred IS NOT NULL)",
        // A check of no column, or a constraint of a kind that this list does not know.
        "SELECT conname::text FROM pg_constraint WHERE conrelid = to_regclass($1::text) \
         AND (conkey IS NULL OR contype NOT IN ('c', 'f', 'n', 'p', 'u', 'x'))",
    ],
    unique: "SELECT attname::text FROM pg_attribute JOIN pg_index ON attrelid = indrelid AND attnum = ANY (indkey) \
             WHERE indrelid = to_regclass($1::text) AND (indisexclusion OR (indisunique AND NOT indisprimary))",
    columns: "SELECT attname::text FROM pg_attribute JOIN pg_constraint ON attrelid = conrelid AND attnum = ANY (conkey) \
              WHERE conrelid = to_regclass($1::text) AND contype IN ('c', 'f', 'x') \
              UNION SELECT attname::text FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid \
              WHERE attrelid = to_regclass($1::text) AND attnum > 0 AND (typtype = 'd' OR attidentity = 'a') \
              UNION SELECT attname::text FROM pg_attribute JOIN pg_index ON attrelid = indrelid AND attnum = ANY (indkey) \
              WHERE indrelid = to_regclass($1::text) AND attlen < 0 AND 1 < (SELECT count(*) FROM pg_attribute AS other \
                WHERE other.attrelid = indrelid AND other.attnum = ANY (indkey) AND other.attlen < 0)",
    referring: "SELECT conname::text FROM pg_constraint WHERE confrelid = to_regclass($1::text) AND contype = 'f'",
    referred: None,
    required: "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass($1::text) AND attnum > 0 \
               AND attnotnull",
    narrow: Some(
        "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass($1::text) AND attnum > 0 \
         AND current_setting('server_encoding') <> 'UTF8'",
    ),
};

const MARIADB: Queries = Queries {
    of_rows: &[
        "SELECT CONSTRAINT_NAME FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = ? AND TABLE_NAME = ?",
        "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? \
         AND CREATE_OPTIONS LIKE '%partitioned%'",
    ],
    unique: "SELECT COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? \
             AND NON_UNIQUE = 0 AND (INDEX_NAME <> 'PRIMARY' OR SUB_PART IS NOT NULL)",
    columns: "SELECT COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? \
              AND REFERENCED_TABLE_NAME IS NOT NULL",
    referring: "SELECT CONSTRAINT_NAME FROM information_schema.KEY_COLUMN_USAGE \
                WHERE REFERENCED_TABLE_SCHEMA = ? AND REFERENCED_TABLE_NAME = ?",
    referred: Some(
        "SELECT REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE \
         WHERE REFERENCED_TABLE_SCHEMA = ? AND REFERENCED_TABLE_NAME = ?",
    ),
    required: "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? \
               AND IS_NULLABLE = 'NO'",
    narrow: Some(
        "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? \
         AND CHARACTER_SET_NAME <> 'utf8mb4'",
    ),
};

/// What the catalogue says of an existing table.
pub(super) async fn constraints(database: &dyn Database, table: &TableName) -> Result<Constraints> {
    let queries = database.dialect().constraint_queries();
    let mut are_of_rows = false;
    for query in queries.of_rows {
        are_of_rows |= !ask(database, query, table).await?.is_empty();
    }
    let unique = names(ask(database, queries.unique, table).await?);
    let has_other_keys = !unique.is_empty();
    let mut columns: BTreeSet<String> = unique.into_iter().collect();
    columns.extend(names(ask(database, queries.columns, table).await?));
    let is_referred_to = !ask(database, queries.referring, table).await?.is_empty();
    let required = names(ask(database, queries.required, table).await?).into_iter().collect();
    if let Some(query) = queries.referred {
        columns.extend(names(ask(database, query, table).await?));
    }
    let narrow = match queries.narrow {
        Some(query) => names(ask(database, query, table).await?).into_iter().collect(),
        None => BTreeSet::new(),
    };
    let rights = Rights::default();
    Ok(Constraints { are_of_rows, columns, has_other_keys, is_referred_to, required, narrow, rights })
}
