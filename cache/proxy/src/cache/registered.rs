//! The columns whose results are cached, as a user names them.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use lacuna_base::{Error, Result};

/// Most columns.
const MAX_COLUMNS: usize = 64;

/// Schema, table and column.
pub(crate) type Column = (String, String, String);

/// Columns whose range reads a proxy caches, each as `SCHEMA.TABLE.COLUMN` with the spelling of the catalogue.
///
/// ```
/// let columns: lacuna_proxy::Registered = "public.orders.customer,public.orders.id".parse()?;
/// assert_eq!(columns.to_string(), "public.orders.customer,public.orders.id");
/// # Ok::<(), lacuna_proxy::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Registered {
    columns: Vec<Column>,
}

impl Registered {
    /// Schema, table and column of each, in the order in which they were given.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter()
    }

    /// The same with one more column, whose number is the next.
    pub(crate) fn with(&self, (schema, table, column): (&str, &str, &str)) -> Result<Self> {
        let column = one(&format!("{schema}.{table}.{column}"))?;
        let mut columns = self.columns.clone();
        if !columns.contains(&column) {
            columns.push(column);
        }
        if columns.len() > MAX_COLUMNS {
            return Err(Error::invalid_input(format!("more than {MAX_COLUMNS} columns are registered")));
        }
        Ok(Self { columns })
    }

    pub(crate) const fn len(&self) -> usize {
        self.columns.len()
    }

    /// Schema and name of each table, once.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (&str, &str)> {
        let tables: BTreeSet<(&str, &str)> =
            self.columns.iter().map(|(schema, table, _)| (&schema[..], &table[..])).collect();
        tables.into_iter()
    }
}

impl FromStr for Registered {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let columns: Vec<_> = text.split(',').map(|column| one(column.trim())).collect::<Result<_>>()?;
        let distinct: BTreeSet<_> = columns.iter().collect();
        if distinct.len() < columns.len() {
            return Err(Error::invalid_input("a column is registered twice"));
        }
        if columns.len() > MAX_COLUMNS {
            return Err(Error::invalid_input(format!("more than {MAX_COLUMNS} columns are registered")));
        }
        Ok(Self { columns })
    }
}

impl fmt::Display for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<String> =
            self.columns.iter().map(|(schema, table, column)| format!("{schema}.{table}.{column}")).collect();
        f.write_str(&columns.join(","))
    }
}

fn one(column: &str) -> Result<Column> {
    let parts: Vec<&str> = column.split('.').collect();
    // Names with a point, a tab or a quote in them would be read in two ways.
    let is_plain = |part: &&str| !part.is_empty() && !part.contains(['"', '\t', '\n', '\'', ' ']);
    match parts[..] {
        [schema, table, column] if parts.iter().all(is_plain) => {
            Ok((schema.to_owned(), table.to_owned(), column.to_owned()))
        }
        _ => Err(Error::invalid_input(format!("{column} is no SCHEMA.TABLE.COLUMN with plain names"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_column_is_refused() {
        for text in
            ["", "orders", "public.orders", "public..id", "a.b.c.d", "a.b.\"c\"", "a.b.c,a.b.c", "a.b c.d"]
        {
            assert!(text.parse::<Registered>().is_err(), "{text}");
        }
        let columns: Registered = "a.b.c, a.b.d,e.f.g".parse().unwrap();
        assert_eq!(columns.tables().collect::<Vec<_>>(), [("a", "b"), ("e", "f")]);
        assert_eq!(columns.len(), 3);
    }
}
