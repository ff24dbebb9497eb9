//! The columns of a table, as its catalogue describes them.

use std::collections::BTreeSet;

use lacuna_cache_protocol::{Error, Result};

use super::computed::doubt;
use super::describe::ask;
use super::table_name::TableName;
use super::{Column, ColumnKind, Database, Dialect, TextOrder};
use crate::sql::sql_value::SqlValue;

/// For each column, as texts: name, declared type, the type without its length, `e` for an enumeration or `h` if `*` leaves it out,
/// `s` if the database alone sets it, how texts are compared, `t` if an index serves ranges, and the expression by which each read
/// computes it, where that may depend on more than the row. SQLite compares the bytes of the
/// encoding of its file.
const SQLITE: &str = "\
    SELECT x.name, x.type, '', '', CASE WHEN hidden IN (2, 3) THEN 's' ELSE '' END, \
      CASE WHEN e.encoding <> 'UTF-8' THEN 'foreign' ELSE '' END || CASE WHEN m.sql LIKE '%collate%' THEN '' ELSE ' exact' END, 't', '' \
    FROM sqlite_master AS m, pragma_table_xinfo(m.name) AS x, pragma_encoding AS e WHERE m.name = ?1 AND m.type = 'table' AND hidden <> 1";

/// A domain is described by the type it stands for. `C` has the order of bytes, and so have the collations of
/// provider `b`; the database's own collation has number 100, that of the catalogue's `C` is 950.
const POSTGRES: &str = "\
    WITH RECURSIVE base (num, id, mod) AS (\
      SELECT attnum, atttypid, atttypmod FROM pg_attribute \
      WHERE attrelid = to_regclass($1::text) AND attnum > 0 AND NOT attisdropped \
      UNION ALL SELECT num, typbasetype, typtypmod FROM base JOIN pg_type ON pg_type.oid = id WHERE typtype = 'd'), \
    own AS (SELECT COALESCE(to_jsonb(d) ->> 'datlocprovider', 'c') AS provider, datcollate AS name \
      FROM pg_database AS d WHERE datname = current_database()), \
    indexes AS (SELECT indkey[0] AS num, indcollation[0] AS collation_id, opfname FROM pg_index \
      JOIN pg_opclass ON pg_opclass.oid = indclass[0] JOIN pg_opfamily ON pg_opfamily.oid = opcfamily \
      JOIN pg_am ON pg_am.oid = opfmethod \
      WHERE indrelid = to_regclass($1::text) AND indisvalid AND indpred IS NULL AND amname = 'btree'), \
    texts AS (SELECT attnum AS num, attcollation AS collation_id, \
      COALESCE(to_jsonb(c) ->> 'collisdeterministic', 'true') = 'true' AS is_exact, \
      c.collprovider = 'b' OR (c.collprovider = 'c' AND c.collcollate IN ('C', 'POSIX')) OR (c.oid = 100 AND EXISTS ( \
        SELECT FROM own WHERE own.provider = 'b' OR (own.provider = 'c' AND own.name IN ('C', 'POSIX')))) AS has_bytes \
      FROM pg_attribute JOIN pg_collation AS c ON c.oid = attcollation WHERE attrelid = to_regclass($1::text)) \
    SELECT attname::text, format_type(base.id, base.mod), format_type(base.id, -1), typtype::text, \
      CASE WHEN attgenerated <> '' OR attidentity = 'a' THEN 's' ELSE '' END, \
      CASE WHEN texts.num IS NULL THEN '' \
        WHEN getdatabaseencoding() NOT IN ('UTF8', 'LATIN1', 'SQL_ASCII') THEN 'foreign' \
        WHEN has_bytes THEN 'bytes' \
        WHEN base.id IN (25, 1043) AND EXISTS (SELECT FROM indexes WHERE num = attnum AND opfname = 'text_pattern_ops') \
          AND NOT EXISTS (SELECT FROM indexes WHERE num = attnum AND indexes.collation_id = 950 AND opfname = 'text_ops') \
          THEN 'pattern' \
        ELSE 'collated' END || CASE WHEN is_exact THEN ' exact' ELSE '' END, \
      CASE WHEN EXISTS (SELECT FROM indexes WHERE num = attnum AND (texts.num IS NULL OR opfname = 'text_pattern_ops' \
        OR (opfname = 'text_ops' AND (has_bytes OR indexes.collation_id = 950)))) THEN 't' ELSE '' END, '' \
    FROM base JOIN pg_type ON pg_type.oid = base.id AND typtype <> 'd' \
    JOIN pg_attribute ON attrelid = to_regclass($1::text) AND attnum = base.num LEFT JOIN texts ON texts.num = attnum \
    ORDER BY attnum";

/// A document is a text with a check here.
const MARIADB: &str = "\
    SELECT COLUMN_NAME, CASE WHEN EXISTS (SELECT 1 FROM information_schema.CHECK_CONSTRAINTS AS k \
        WHERE k.CONSTRAINT_SCHEMA = c.TABLE_SCHEMA AND k.TABLE_NAME = c.TABLE_NAME \
        AND k.CHECK_CLAUSE = CONCAT('json_valid(`', c.COLUMN_NAME, '`)')) THEN 'json' ELSE COLUMN_TYPE END, '', \
      CASE WHEN EXTRA LIKE '%INVISIBLE%' THEN 'h' ELSE '' END, \
      CASE WHEN EXTRA LIKE '%GENERATED%' THEN 's' ELSE '' END, \
      CASE WHEN COLLATION_NAME = 'utf8mb4_nopad_bin' THEN 'bytes exact' WHEN COLLATION_NAME = 'utf8mb4_bin' THEN 'padded' \
        WHEN COLLATION_NAME IN ('utf8mb4_general_ci', 'utf8mb4_general_nopad_ci') THEN 'prefixed' ELSE 'collated' END, \
      CASE WHEN COALESCE(COLLATION_NAME, 'utf8mb4_bin') IN \
        ('utf8mb4_nopad_bin', 'utf8mb4_bin', 'utf8mb4_general_ci', 'utf8mb4_general_nopad_ci') AND EXISTS (SELECT 1 FROM information_schema.STATISTICS AS s WHERE s.TABLE_SCHEMA = c.TABLE_SCHEMA \
        AND s.TABLE_NAME = c.TABLE_NAME AND s.COLUMN_NAME = c.COLUMN_NAME AND SEQ_IN_INDEX = 1 \
        AND INDEX_TYPE = 'BTREE') THEN 't' ELSE '' END, \
      CASE WHEN EXTRA LIKE '%VIRTUAL%' THEN COALESCE(GENERATION_EXPRESSION, '') ELSE '' END \
    FROM information_schema.COLUMNS AS c WHERE c.TABLE_SCHEMA = ? AND c.TABLE_NAME = ? ORDER BY ORDINAL_POSITION";

impl Dialect {
    const fn columns_query(self) -> &'static str {
        match self {
            Self::Sqlite => SQLITE,
            Self::Postgres => POSTGRES,
            Self::MariaDb => MARIADB,
        }
    }

    fn kind(self, words: &str, class: &str) -> ColumnKind {
        match self {
            Self::Sqlite => ColumnKind::affinity(words),
            Self::Postgres => ColumnKind::of_postgres(words, class == "e"),
            Self::MariaDb => ColumnKind::of_mariadb(words),
        }
    }
}

/// What is known of columns besides their declarations.
pub(super) struct Marked {
    /// Columns that do not keep the written value.
    pub(super) changing: BTreeSet<String>,
    /// Columns of numbers that the database may count up.
    pub(super) counting: BTreeSet<String>,
}

/// The columns of an existing table, in their order.
pub(super) async fn columns(
    database: &dyn Database,
    name: &TableName,
    marked: &Marked,
) -> Result<Vec<(String, Column)>> {
    let dialect = database.dialect();
    let found = ask(database, dialect.columns_query(), name).await?;
    let columns = found.into_iter().map(|row| column(dialect, row, marked)).collect::<Result<Vec<_>>>()?;
    Ok(with_spread_doubt(columns))
}

/// A column that is computed from a doubtful one is as doubtful; and so is one that is computed from a time, which a comparison with
/// a day puts on the day of the clock.
fn with_spread_doubt(mut columns: Vec<(String, Column, String)>) -> Vec<(String, Column)> {
    loop {
        let doubtful: Vec<String> = columns
            .iter()
            .filter(|(_, column, _)| column.doubt.is_some() || column.is_time())
            .map(|(name, ..)| name.replace('`', "``").to_lowercase())
            .collect();
        let mut spreads = false;
        for (_, column, expression) in &mut columns {
            if column.doubt.is_none() {
                // Columns have one name in any case.
                let expression = expression.to_lowercase();
                column.doubt =
                    doubtful.iter().find(|name| expression.contains(&format!("`{name}`"))).cloned();
                spreads |= column.doubt.is_some();
            }
        }
        if !spreads {
            return columns.into_iter().map(|(name, column, _)| (name, column)).collect();
        }
    }
}

/// A column, and the expression by which each read computes it.
fn column(dialect: Dialect, row: Vec<SqlValue>, marked: &Marked) -> Result<(String, Column, String)> {
    let texts: Option<Vec<String>> = row.into_iter().map(crate::sql::sql_value::text).collect();
    let unknown = || Error::unavailable("the catalogue describes a column in an unknown form");
    let [name, declared, plain, class, generated, order, indexed, expression] =
        <[String; 8]>::try_from(texts.ok_or_else(unknown)?).map_err(|_| unknown())?;
    let kind = dialect.kind(&declared, &class);
    let is_counter = marked.counting.contains(&name);
    let is_of_floats = matches!(kind, ColumnKind::Float | ColumnKind::Single);
    let column = Column {
        kind: if is_counter && kind == ColumnKind::Integer {
            ColumnKind::Counter { replaces_zero: dialect == Dialect::MariaDb }
        } else {
            kind
        },
        is_changed: marked.changing.contains(&name),
        is_counted: is_counter && is_of_floats && dialect == Dialect::MariaDb,
        is_generated: generated == "s",
        is_hidden: class == "h",
        doubt: doubt(&expression),
        declared,
        cast: (kind != ColumnKind::Text).then_some(plain).filter(|_| dialect == Dialect::Postgres),
        order: text_order(&order),
        is_equal_by_bytes: order.ends_with(" exact"),
        is_indexed: indexed == "t",
    };
    Ok((name, column, expression))
}

fn text_order(words: &str) -> TextOrder {
    match words.split(' ').next() {
        Some("bytes") => TextOrder::Bytes,
        Some("pattern") => TextOrder::Pattern,
        Some("padded") => TextOrder::Padded,
        Some("prefixed") => TextOrder::Prefixed,
        Some("foreign") => TextOrder::Foreign,
        _ => TextOrder::Collated,
    }
}
