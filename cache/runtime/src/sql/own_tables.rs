//! The tables that the cache itself needs in the database.
//!
//! They are named without a schema, so each session uses those that it finds: on MariaDB those of its default database, on
//! PostgreSQL those of the first schema of its `search_path` that has them. Two programs that find two sets would both own a
//! table. So a table is opened only if no other set that the catalogue shows has it, by its shared name. The program adds its
//! own row before it looks at the other sets for the last time: of two that begin together, one sees the row of the other.
//!
//! Cost: two queries of the catalogue for each table that is opened, and two for each other set. PostgreSQL shows all sets of a
//! database to every user, MariaDB those in which the user has a right.

use lacuna_cache_protocol::{Error, ErrorKind, Result};

use crate::sql::database::{Database, Dialect};
use crate::sql::sql_value::text;
use crate::sql::statement::Statement;

/// Makes a table unless it is there, so that a process that may not create tables uses what another has made.
///
/// # Errors
/// Those of the database, with the statement for a user who may create the table; `Conflict` if the session finds tables of
/// two sets.
pub(crate) async fn ensure(database: &dyn Database, name: &str, create: &str) -> Result<()> {
    let is_there = Statement::new(format!("SELECT 1 FROM {name} WHERE 1 = 0"));
    if database.query(&is_there).await.is_err() && database.run(create).await.is_err() {
        // Two processes that create it at once may conflict: then it is there now.
        database.run(create).await.map_err(|failure| {
            let message = format!(
                "the table {name} is missing; as a user who may create tables, run `{create}` where all programs that cache \
                 tables find it"
            );
            failure.error.with_context(message)
        })?;
    }
    check_one_schema(database, name).await
}

/// Fails if the session finds a table in another schema than `lacuna_fence`: a program that uses the same fences may find
/// another one.
async fn check_one_schema(database: &dyn Database, name: &str) -> Result<()> {
    if database.dialect() != Dialect::Postgres {
        return Ok(());
    }
    let apart = "SELECT nspname::text FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace \
                 WHERE pg_class.oid = to_regclass($1::text) \
                 AND relnamespace <> (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('lacuna_fence'))";
    let found = database.query(&Statement::new(apart).with(name)).await.map_err(|failure| failure.error)?;
    let Some(schema) = found.into_iter().flatten().next().and_then(text) else { return Ok(()) };
    let message = format!(
        "this user finds the table {name} in the schema {schema}, and lacuna_fence in another one: both belong in one schema. Drop \
         {schema}.{name} if no program uses it, and set a `search_path` that begins with the schema of lacuna_fence"
    );
    Err(Error::new(ErrorKind::Conflict, message))
}

/// Fails if another set of these tables has the table, by its shared name, or may have it.
///
/// # Errors
/// `Conflict` then; those of the database.
pub(crate) async fn check_no_other_set(database: &dyn Database, table: &str) -> Result<()> {
    let dialect = database.dialect();
    let Some(others) = others(dialect) else { return Ok(()) };
    let found = database.query(&Statement::new(others)).await.map_err(|failure| failure.error)?;
    for set in found {
        let mut texts = set.into_iter().map(text);
        let (Some(Some(schema)), Some(Some(readable))) = (texts.next(), texts.next()) else {
            return Err(Error::unavailable("the catalogue describes a table in an unknown form"));
        };
        let fence = format!("{}.lacuna_fence", dialect.quoted(&schema));
        if readable != "t" {
            let why = format!("{fence}, which this user may not read, may have a row of the table {table}");
            return Err(in_two_sets(dialect, &why));
        }
        let row = dialect.statement(&format!("SELECT 1 FROM {fence} WHERE name = {{}}"), &[table.into()]);
        let rows = database.query(&row).await;
        let rows = rows.map_err(|failure| failure.error.with_context(format!("reading {fence}")))?;
        if !rows.is_empty() {
            return Err(in_two_sets(dialect, &format!("{fence} has a row of the table {table}")));
        }
    }
    Ok(())
}

/// The query of the schemas with another table of fences than this session uses, and whether it may be read.
const fn others(dialect: Dialect) -> Option<&'static str> {
    match dialect {
        Dialect::Sqlite => None,
        Dialect::Postgres => Some(
            "SELECT nspname::text, CASE WHEN has_schema_privilege(relnamespace, 'USAGE') \
             AND has_table_privilege(pg_class.oid, 'SELECT') THEN 't' ELSE '' END \
             FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE relname = 'lacuna_fence' \
             AND relkind IN ('r', 'p', 'v', 'm', 'f') AND relpersistence <> 't' \
             AND pg_class.oid IS DISTINCT FROM to_regclass('lacuna_fence')::oid",
        ),
        Dialect::MariaDb => Some(
            "SELECT TABLE_SCHEMA, 't' FROM information_schema.TABLES \
             WHERE TABLE_NAME = 'lacuna_fence' AND TABLE_SCHEMA <> DATABASE()",
        ),
    }
}

fn in_two_sets(dialect: Dialect, why: &str) -> Error {
    let same = if dialect == Dialect::MariaDb { "database in the URL" } else { "`search_path`" };
    let message = format!(
        "{why}, and this program uses another set of the tables lacuna_fence, lacuna_lease and so on: a program with that set would \
         own the table, too. Give all programs that cache it the same {same}, and drop the set that none of them uses any more"
    );
    Error::new(ErrorKind::Conflict, message)
}
