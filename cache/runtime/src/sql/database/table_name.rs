//! The name of a table, alone or with its schema.
//!
//! `people` is a table on the search path of PostgreSQL, or of the database that MariaDB is connected to;
//! `sales.orders` is one of another schema or database. A table has one name here however it is asked for, because
//! its fence, its leases and its cached results are found by it: `public.people` is `people` if that leads to the
//! same table. A name with a point in it is quoted: `"my.schema"."my.table"`.

use std::fmt;

use super::Dialect;
use crate::sql::sql_value::SqlValue;

/// The name of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableName {
    /// `None` for the schema that is searched without being named.
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

    /// The one name of a table, which is named by its schema if it is not found without it.
    pub(crate) fn found(schema: &str, table: &str, is_searched: bool) -> Self {
        // Without its schema it would look like a table of another one.
        let is_alone = is_searched && !table.contains('.');
        Self { schema: (!is_alone).then(|| schema.to_owned()), table: table.to_owned() }
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
            let name = TableName::found(schema, table, false);
            assert_eq!(TableName::meanings(&name.to_string()).last(), Some(&name), "{name}");
        }
        assert_eq!(TableName::found("public", "people", true).to_string(), "people");
        assert_eq!(TableName::found("public", "a.b", true).to_string(), "public.\"a.b\"");
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
