//! The columns whose results are cached, as a user names them.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use lacuna_base::{Error, Result};

use super::span::ColumnId;

/// Most columns.
const MAX_COLUMNS: usize = 64;

/// Schema, table and column.
pub(crate) type Column = (String, String, String);

/// Columns whose range reads a proxy caches, each as `SCHEMA.TABLE.COLUMN` with the spelling of the catalogue.
///
/// ```
/// let columns: lacuna_proxy::Registered = "public.orders.customer,public.orders.id".parse()?;
/// assert_eq!(columns.to_string(), "public.orders.customer,public.orders.id");
/// assert_eq!(columns.without(&"public.orders.id".parse()?).to_string(), "public.orders.customer");
/// # Ok::<(), lacuna_proxy::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Registered {
    columns: Vec<Column>,
    /// Places of columns that were taken off the list. The others keep theirs.
    gone: BTreeSet<ColumnId>,
}

impl PartialEq for Registered {
    /// Whether the same columns are registered in the same order, whatever was taken off the list before.
    fn eq(&self, other: &Self) -> bool {
        self.columns().map(|(_, column)| column).eq(other.columns().map(|(_, column)| column))
    }
}

impl Eq for Registered {}

impl Registered {
    /// The same without those of these columns that are among them.
    #[must_use]
    pub fn without(&self, others: &Self) -> Self {
        let is_one = |column: &Column| others.columns().any(|(_, other)| other == column);
        let found = self.columns().filter(|&(_, column)| is_one(column)).map(|(place, _)| place);
        let gone = self.gone.iter().copied().chain(found).collect();
        Self { columns: self.columns.clone(), gone }
    }

    /// Place, and schema, table and name of each column, in the order in which they were given.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (ColumnId, &Column)> {
        self.columns.iter().enumerate().filter(move |(place, _)| !self.gone.contains(place))
    }

    /// The same with one more column, and its place: the next one, or that which it had before it was taken off the list.
    pub(crate) fn with(&self, (schema, table, column): (&str, &str, &str)) -> Result<(Self, ColumnId)> {
        let column = one(&format!("{schema}.{table}.{column}"))?;
        let mut all = self.clone();
        let known = all.columns.iter().position(|known| *known == column);
        let place = known.unwrap_or(all.columns.len());
        if known.is_none() {
            all.columns.push(column);
        }
        all.gone.remove(&place);
        if all.len() > MAX_COLUMNS {
            return Err(Error::invalid_input(format!("more than {MAX_COLUMNS} columns are registered")));
        }
        Ok((all, place))
    }

    pub(crate) fn len(&self) -> usize {
        self.columns.len() - self.gone.len()
    }

    /// Places of columns, also of those that were taken off the list.
    pub(crate) const fn place_count(&self) -> usize {
        self.columns.len()
    }

    /// Schema and name of each table, once.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (&str, &str)> {
        let tables: BTreeSet<(&str, &str)> =
            self.columns().map(|(_, (schema, table, _))| (&schema[..], &table[..])).collect();
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
        Ok(Self { columns, gone: BTreeSet::new() })
    }
}

impl fmt::Display for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<String> = self.columns().map(|(_, column)| full_name(column)).collect();
        f.write_str(&columns.join(","))
    }
}

/// A column as users write it.
pub(crate) fn full_name((schema, table, column): &Column) -> String {
    format!("{schema}.{table}.{column}")
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

    #[test]
    fn places_stay_when_a_column_is_taken_off_the_list() {
        let columns: Registered = "a.b.c,a.b.d,e.f.g".parse().unwrap();
        let left = columns.without(&"a.b.c,x.y.z".parse().unwrap());
        let places = |of: &Registered| of.columns().map(|(place, _)| place).collect::<Vec<_>>();
        assert_eq!((left.to_string(), places(&left)), ("a.b.d,e.f.g".to_owned(), vec![1, 2]));
        assert_eq!((left.len(), left.place_count()), (2, 3));
        assert_eq!(left.tables().collect::<Vec<_>>(), [("a", "b"), ("e", "f")]);
        let same: Registered = "a.b.d,e.f.g".parse().unwrap();
        assert_eq!(left, same, "what was there before is no part of it");
        assert_eq!(left.without(&"a.b.d".parse().unwrap()).tables().collect::<Vec<_>>(), [("e", "f")]);
        let (more, place) = left.with(("h", "i", "j")).unwrap();
        assert_eq!((place, places(&more)), (3, vec![1, 2, 3]));
        let (again, place) = more.with(("a", "b", "c")).unwrap();
        assert_eq!((place, places(&again)), (0, vec![0, 1, 2, 3]));
        assert_eq!(again.with(("a", "b", "c")).unwrap(), (again.clone(), 0), "it is there already");
        let none = columns.without(&columns);
        assert_eq!((none.len(), none.to_string(), none.tables().count()), (0, String::new(), 0));
    }

    #[test]
    fn columns_that_are_gone_do_not_count() {
        let mut columns = Registered::default();
        for number in 0..3 * MAX_COLUMNS {
            let name = number.to_string();
            let (more, place) = columns.with(("a", "b", &name)).unwrap();
            assert_eq!(place, number);
            columns = more.without(&format!("a.b.{name}").parse().unwrap());
        }
        for number in 0..MAX_COLUMNS {
            columns = columns.with(("a", "b", &number.to_string())).unwrap().0;
        }
        assert!(columns.len() == MAX_COLUMNS && columns.with(("a", "b", "more")).is_err());
    }
}
