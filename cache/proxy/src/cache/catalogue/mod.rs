//! What the catalogue says of the registered tables, and of all that could write them.
//!
//! It is read at the start, after every statement that may have changed it, and once a second besides. A statement is
//! understood by one reading of it: when two readings differ in anything, all results and all understanding begin anew.

mod added;
mod columns;
mod queries;
mod reading;
mod since;
mod table;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use lacuna_base::{Error, Result};
use lacuna_cache::sql::{SqlValue, Statement};

use super::registered::Registered;
use super::settings::Past;
use super::span::ColumnId;
use super::{guard, log};
use crate::recognise::harmless::{self, Mentions};
use added::Added;

pub(crate) use columns::{Kind, Texts};
pub(super) use queries::ACTIVITY;
pub(crate) use since::ReadingMark;
use since::Vanished;
pub(crate) use table::Table;

/// A row of the two questions.
pub(super) type Fact = [String; 6];

/// A schema and a name in it.
type Name = (String, String);

/// One reading of the catalogue.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Catalogue {
    facts: Vec<Fact>,
    tables: BTreeMap<Name, Table>,
    independent: HashSet<Name>,
    others: HashSet<Name>,
    vanished: Vanished,
    added: Added,
    /// Roles that may write a registered table, those that cannot log in too.
    pub(crate) writers: BTreeSet<String>,
    /// When the server was started, and the name of the database.
    pub(crate) start: (String, String),
}

/// What a name in a statement means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meant<'c> {
    Registered(&'c Table),
    /// A plain table whose writes do nothing to others.
    Independent,
    Unknown,
}

/// The question whose rows [`Catalogue::read`] takes.
/// `past` says what must be there in place of rights.
pub(super) fn question(registered: &Registered, writers: &[String], past: Past) -> Statement {
    let lines: Vec<String> = registered.tables().map(|(schema, name)| format!("{schema}\t{name}")).collect();
    Statement::new(queries::FACTS)
        .with(lines.join("\n"))
        .with(writers.join("\n"))
        .with(harmless::called())
        .with(harmless::stable())
        .with(if past == Past::Guards { guard::BODY } else { "" })
        .with(if past == Past::Log { log::BODY } else { "" })
}

/// The rows of a question as texts.
pub(super) fn facts(rows: Vec<Vec<SqlValue>>) -> Result<Vec<Fact>> {
    let text = |value: SqlValue| match value {
        SqlValue::Text(text) => Some(text),
        SqlValue::Null => Some(String::new()),
        _ => None,
    };
    let fact = |row: Vec<SqlValue>| {
        let texts: Option<Vec<String>> = row.into_iter().map(text).collect();
        Fact::try_from(texts?).ok()
    };
    let facts: Option<Vec<Fact>> = rows.into_iter().map(fact).collect();
    facts.ok_or_else(|| Error::unavailable("the catalogue answers in an unknown form"))
}

impl Catalogue {
    /// Takes over since when tables are what they are.
    pub(super) fn continues(&mut self, last: &Self, mark: ReadingMark) {
        self.vanished.clone_from(&last.vanished);
        for gone @ (_, name) in last.names() {
            if !self.has_name(gone) {
                self.vanished.add(name, mark.number);
            }
        }
        for (name, table) in &mut self.tables {
            match last.tables.get(name) {
                Some(last) => table.continues(last, mark.number),
                None => table.begins(self.vanished.last(&name.1), mark),
            }
        }
    }

    fn names(&self) -> impl Iterator<Item = &Name> {
        self.tables.keys().chain(&self.independent).chain(&self.others)
    }

    fn has_name(&self, name: &Name) -> bool {
        self.tables.contains_key(name) || self.independent.contains(name) || self.others.contains(name)
    }

    /// The whole name and the kind of a registered column.
    pub(super) fn registered(&self, column: ColumnId) -> Option<(String, Kind)> {
        self.tables.iter().find_map(|((schema, name), table)| {
            let (registered, _) = table.registered.iter().find(|(_, number)| *number == column)?;
            Some((format!("{schema}.{name}.{registered}"), *table.columns.get(registered)?))
        })
    }

    /// The registered columns, in their order.
    pub(super) fn registered_columns(&self) -> BTreeSet<ColumnId> {
        let columns = self.tables.values().flat_map(|table| &table.registered);
        columns.map(|(_, number)| *number).collect()
    }

    /// Whether the table of a registered column has texts of which equal ones may have other bytes.
    pub(super) fn has_loose_texts(&self, column: ColumnId) -> bool {
        let is_of = |table: &&Table| table.registered.iter().any(|(_, number)| *number == column);
        let table = self.tables.values().find(is_of);
        table.is_some_and(|table| table.columns.values().any(|kind| *kind == Kind::LooseText))
    }

    /// The registered table of this name.
    pub(super) fn registered_table(&self, schema: &str, table: &str) -> Option<&Table> {
        self.tables.get(&(schema.to_owned(), table.to_owned()))
    }

    /// Registered tables.
    pub(super) fn table_count(&self) -> usize {
        self.tables.len()
    }

    /// Whether sessions would say of themselves under both what they say under one.
    pub(super) fn has_same_surroundings(&self, other: &Self) -> bool {
        let of = |catalogue: &Self| -> Vec<Fact> {
            let is_one = |[kind, name, ..]: &&Fact| {
                kind == "version" && ["schemas", "roles", "members", "server"].contains(&&name[..])
            };
            catalogue.facts.iter().filter(is_one).cloned().collect()
        };
        self.start == other.start && of(self) == of(other)
    }

    /// What of a user a statement may call that compares and shows columns of PostgreSQL's types alone.
    pub(crate) fn called_by(&self, mentions: &Mentions) -> Option<String> {
        self.added.called_by(mentions)
    }

    /// What of a user a statement that writes a plain table may run.
    pub(crate) fn run_by(&self, mentions: &Mentions) -> Option<String> {
        self.added.run_by(mentions)
    }

    /// The same of a statement whose tables are not known: they are among what it mentions.
    pub(crate) fn run_or_read_by(&self, mentions: &Mentions) -> Option<String> {
        self.added.run_or_read_by(mentions)
    }

    /// What `name` means to a session that searches these schemas in this order.
    pub(crate) fn meant(&self, schema: Option<&str>, name: &str, searched: &[String]) -> Meant<'_> {
        let named: Vec<&str> = schema.into_iter().collect();
        let searched: Vec<&str> =
            if named.is_empty() { searched.iter().map(String::as_str).collect() } else { named };
        for schema in searched {
            let full = (schema.to_owned(), name.to_owned());
            if let Some(table) = self.tables.get(&full) {
                return Meant::Registered(table);
            }
            if self.independent.contains(&full) {
                return Meant::Independent;
            }
            if self.others.contains(&full) {
                return Meant::Unknown;
            }
        }
        Meant::Unknown
    }
}
