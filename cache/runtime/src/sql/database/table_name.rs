//! The name of a table, alone or with its schema.
//!
//! A program may call a table `people` if its session searches the schema of that table (PostgreSQL), or is connected to
//! its database (MariaDB), and `sales.people` otherwise. Programs with other sessions call the same table otherwise, and
//! its fence, its leases and its cached results are found by name. So all of them know it by one [shared
//! name](TableName::shared), which no session changes: `people` for `public.people` of PostgreSQL, and with its schema
//! or database for each other. SQL always names the schema. A part with a point in it is quoted: `"my.schema"."my.table"`.

use std::fmt;

use super::Dialect;
use crate::sql::sql_value::SqlValue;

/// The name of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableName {
    /// `None` in SQLite, and where a program does not name it.
    pub(crate) schema: Option<String>,
    pub(crate) table: String,
}

impl TableName {
    /// What `text` may mean, the likeliest first.
    pub(crate) fn meanings(text: &str) -> Vec<Self> {
        let alone = Self { schema: None, table: text.to_owned() };
        let (first, rest) = part(text);
        let qualified = rest.strip_prefix('.').map(|rest| (first, part(rest)));
        match qualified {
            Some((schema, (table, ""))) if !schema.is_empty() && !table.is_empty() => {
                vec![alone, Self { schema: Some(schema), table }]
            }
            _ => vec![alone],
        }
    }

    /// The name by which all programs know an existing table, whatever their sessions search.
    pub(crate) fn shared(&self, dialect: Dialect) -> String {
        let is_public = dialect == Dialect::Postgres && self.schema.as_deref() == Some("public");
        // With a point in it, it would look like a table of another schema.
        if is_public && !self.table.contains('.') { self.table.clone() } else { self.to_string() }
    }

    /// The name in SQL.
    pub(crate) fn quoted(&self, dialect: Dialect) -> String {
        let table = dialect.quoted(&self.table);
        match &self.schema {
            Some(schema) => format!("{}.{table}", dialect.quoted(schema)),
            None => table,
        }
    }

    /// The parameters by which queries of the catalogue find it.
    pub(crate) fn params(&self, dialect: Dialect) -> Vec<SqlValue> {
        match dialect {
            Dialect::Sqlite => vec![self.table.as_str().into()],
            Dialect::Postgres => vec![self.quoted(dialect).into()],
            Dialect::MariaDb => vec![self.schema.clone().into(), self.table.as_str().into()],
        }
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.schema {
            Some(schema) => write!(f, "{}.{}", shown(schema), shown(&self.table)),
            None => f.write_str(&self.table),
        }
    }
}

/// A part of a name, quoted if it would not be read as one part.
fn shown(part: &str) -> String {
    if part.contains(['.', '"']) { Dialect::Postgres.quoted(part) } else { part.to_owned() }
}

/// The first part of a name, and what follows.
fn part(text: &str) -> (String, &str) {
    let Some(mut rest) = text.strip_prefix('"') else {
        let (first, _) = text.split_once('.').unwrap_or((text, ""));
        return (first.to_owned(), &text[first.len()..]);
    };
    let mut name = String::new();
    while let Some((before, after)) = rest.split_once('"') {
        name.push_str(before);
        match after.strip_prefix('"') {
            Some(more) => {
                name.push('"');
                rest = more;
            }
            None => return (name, after),
        }
    }
    // The quote has no end.
    (String::new(), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(schema: Option<&str>, table: &str) -> TableName {
        TableName { schema: schema.map(ToOwned::to_owned), table: table.to_owned() }
    }

    #[test]
    fn a_name_is_read_as_it_is_shown() {
        for (schema, table) in
            [("sales", "orders"), ("a.b", "c"), ("a", "b.c"), ("a\"b", "c\".d"), ("a", "b c")]
        {
            let name = name(Some(schema), table);
            assert_eq!(TableName::meanings(&name.to_string()).last(), Some(&name), "{name}");
        }
    }

    #[test]
    fn a_table_has_one_shared_name() {
        let shared = |dialect, schema, table| name(schema, table).shared(dialect);
        assert_eq!(shared(Dialect::Postgres, Some("public"), "people"), "people");
        assert_eq!(shared(Dialect::Postgres, Some("sales"), "people"), "sales.people");
        assert_eq!(shared(Dialect::Postgres, Some("public"), "a.b"), "public.\"a.b\"");
        assert_eq!(shared(Dialect::MariaDb, Some("shop"), "people"), "shop.people");
        assert_eq!(shared(Dialect::MariaDb, Some("public"), "people"), "public.people");
        assert_eq!(shared(Dialect::Sqlite, None, "a.b"), "a.b");
    }

    #[test]
    fn a_point_may_be_part_of_a_name() {
        assert_eq!(TableName::meanings("people"), [name(None, "people")]);
        assert_eq!(TableName::meanings("a.b"), [name(None, "a.b"), name(Some("a"), "b")]);
        for alone in ["\"a.b", ".b", "a.", "a.b.c", "\"a\"b.c"] {
            assert_eq!(TableName::meanings(alone), [name(None, alone)], "{alone}");
        }
    }

    #[test]
    fn names_are_quoted_for_their_database() {
        let name = name(Some("sa\"les"), "or`ders");
        assert_eq!(name.quoted(Dialect::Postgres), "\"sa\"\"les\".\"or`ders\"");
        assert_eq!(name.quoted(Dialect::MariaDb), "`sa\"les`.`or``ders`");
    }
}
