//! What the catalogue of PostgreSQL says of watched tables and their parts.
//!
//! A definition rewrites the row of its table in `pg_class`, which shows in the number of the transaction that
//! wrote it (`xmin`): `ALTER TABLE`, `TRUNCATE`, every statement that rewrites all rows. When a part is attached
//! or detached, its row in `pg_inherits` appears, disappears or changes; when columns are renamed, rows in
//! `pg_attribute` change. `VACUUM` and `ANALYZE` change none of them.

use std::collections::{BTreeMap, BTreeSet};

use lacuna_cache_protocol::{Error, ErrorKind, Result};

use super::family::{Family, Member};
use crate::sql::database::Database;

/// For names, quoted as in SQL, in place of `{}`: the table it is a part of, its name in the log, a value that changes with its
/// definition, whether the log has its rows, and whether it is the table itself.
const QUERY: &str = "WITH RECURSIVE family (watched, id, link) AS (\
     SELECT watched, to_regclass(watched)::oid, ''::text FROM unnest(ARRAY[{}]::text[]) AS tables (watched) \
     UNION SELECT watched, inhrelid, pg_inherits.xmin::text FROM pg_inherits JOIN family ON inhparent = family.id) \
     SELECT watched, quote_ident(nspname) || '.' || quote_ident(relname), \
     concat_ws(' ', pg_class.oid, pg_class.xmin, link, CASE WHEN link = '' THEN (\
     SELECT string_agg(pg_attribute.xmin::text, ' ' ORDER BY attnum) FROM pg_attribute \
     WHERE attrelid = pg_class.oid AND attnum > 0) END), \
     relpersistence = 'p' AND relkind IN ('r', 'p'), link = '' \
     FROM family JOIN pg_class ON pg_class.oid = family.id JOIN pg_namespace ON pg_namespace.oid = relnamespace";

/// The table as it is now.
///
/// # Errors
/// `Unsupported` if the log does not have its rows, or those of a part.
pub(super) async fn family(database: &dyn Database, table: &str) -> Result<Family> {
    let found = members(database, &[table.to_owned()]).await?.remove(table);
    let family = found.and_then(Family::of);
    let family = family.ok_or_else(|| Error::invalid_input(format!("there is no table {table}")))?;
    if family.is_unseen() {
        let message = format!(
            "{table}, or a part of it, is an unlogged or a foreign table: no log shows a watchdog its writes"
        );
        return Err(Error::new(ErrorKind::Unsupported, message));
    }
    Ok(family)
}

/// The existing tables among these, with their parts.
pub(super) async fn members(
    database: &dyn Database,
    tables: &[String],
) -> Result<BTreeMap<String, BTreeSet<Member>>> {
    let names: Vec<String> = tables.iter().map(|table| literal(table)).collect();
    let sql = QUERY.replace("{}", &names.join(", "));
    let mut found = BTreeMap::<String, BTreeSet<Member>>::new();
    let mut keep = |row: &[Option<String>]| -> Result<()> {
        let [Some(watched), Some(name), Some(definition), Some(is_logged), Some(is_itself)] = row else {
            return Err(Error::unavailable(format!("the catalogue has an unknown form: {row:?}")));
        };
        let (name, definition) = (name.clone(), definition.clone());
        let member = Member { name, definition, is_logged: is_logged == "t", is_itself: is_itself == "t" };
        found.entry(watched.clone()).or_default().insert(member);
        Ok(())
    };
    database.each_row(&sql, &mut keep).await?;
    Ok(found)
}

/// A text as a literal of a statement, whatever the settings of the server.
fn literal(text: &str) -> String {
    format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_ends_its_text() {
        assert_eq!(literal("some: parts"), "E'some: parts'");
        assert_eq!(literal("a'b\\'c"), "E'a''b\\\\''c'");
    }
}
