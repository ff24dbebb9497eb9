//! What the catalogue says of the registered tables, and of all that could write them.
//!
//! It is read at the start, after every statement that may have changed it, and once a second besides. A statement is
//! understood by one reading of it: when two readings differ in anything, all results and all understanding begin anew.

mod added;
mod columns;
mod queries;
mod since;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use lacuna_base::{Error, Result};
use lacuna_cache::sql::{SqlValue, Statement};

use super::registered::Registered;
use super::settings::Past;
use super::span::ColumnId;
use super::{guard, log};
use crate::recognise::harmless::{self, Mentions};
use crate::recognise::strict::Read;
use added::Added;

use columns::Traits;
pub(crate) use columns::{Kind, Texts};
pub(super) use queries::ACTIVITY;
pub(crate) use since::ReadingMark;
use since::{Since, Vanished};

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

/// A registered table.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) columns: BTreeMap<String, Kind>,
    /// The registered ones among its columns.
    pub(crate) registered: Vec<(String, ColumnId)>,
    /// Whether rows of other tables change with its own, so that a write to it may do anything.
    pub(crate) acts: bool,
    /// Schemas that have something else of its name, and the first reading with these.
    neighbours: (BTreeSet<String>, u64),
    /// Number and type of each column, which decide the types of a statement's parameters and of its result; those that were
    /// dropped, too, under names of the server's.
    definitions: BTreeMap<String, Definition>,
    /// Since when they are all what they are.
    shape: Since,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Definition {
    text: String,
    /// The low halves of the transactions that have written it, its table's name and its schema's last.
    written: Vec<u32>,
    since: Since,
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
    /// # Errors
    /// `InvalidInput` with all reasons why the tables cannot be cached.
    pub(super) fn read(facts: Vec<Fact>, registered: &Registered, allowed: &[String]) -> Result<Self> {
        let mut catalogue = Self::default();
        let mut problems = Vec::new();
        for fact in &facts {
            problems.extend(catalogue.take(fact, allowed));
        }
        for (number, (schema, table, column)) in registered.columns().enumerate() {
            let found = catalogue.tables.get_mut(&(schema.clone(), table.clone()));
            match found.map(|table| (table.columns.get(column).copied(), table)) {
                Some((Some(kind), table)) if kind.is_registrable() => table.registered.push((column.clone(), number)),
                Some((Some(_), _)) => problems.push(format!(
                    "{schema}.{table}.{column} is no smallint, integer, bigint, numeric, date, timestamp, uuid, text or varchar that is stored as it is written, and of which equal values have equal bytes"
                )),
                Some((None, _)) => problems.push(format!("the table {schema}.{table} has no column {column}")),
                None => problems.push(format!("there is no table {schema}.{table}")),
            }
        }
        if !problems.is_empty() {
            return Err(Error::invalid_input(problems.join("\n")));
        }
        catalogue.name_neighbours();
        catalogue.facts = facts;
        Ok(catalogue)
    }

    fn name_neighbours(&mut self) {
        let names: Vec<Name> = self.tables.keys().cloned().collect();
        for ((schema, name), table) in &mut self.tables {
            let others = self.independent.iter().chain(&self.others).chain(&names);
            let others = others.filter(|(other, same)| same == name && other != schema);
            table.neighbours.0 = others.map(|(other, _)| other.clone()).collect();
        }
    }

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

    /// Keeps a fact, or says what is wrong with it.
    fn take(&mut self, fact: &Fact, allowed: &[String]) -> Option<String> {
        let [kind, first, second, third, fourth, fifth] = fact;
        let name = || (first.clone(), second.clone());
        match &kind[..] {
            "column" => {
                let kind = kind_of(fourth, fifth);
                self.tables.entry(name()).or_default().columns.insert(third.clone(), kind);
            }
            "acts" => self.tables.entry(name()).or_default().acts = true,
            "definition" => {
                let written = fifth.split(' ').filter_map(|number| number.parse().ok()).collect();
                let definition = Definition { text: fourth.clone(), written, since: Since::default() };
                self.tables.entry(name()).or_default().definitions.insert(third.clone(), definition);
            }
            "independent" => drop(self.independent.insert(name())),
            "other" => drop(self.others.insert(name())),
            "added" => self.added.take(first, second),
            "start" => self.start = name(),
            "version" => {}
            "writer" => {
                self.writers.insert(first.clone());
                let is_refused = third == "true" && !allowed.contains(first);
                return is_refused.then(|| unlisted(first, second == "true"));
            }
            "wrong" => return Some(format!("{first}.{second} cannot be registered: {third}")),
            "definer" => {
                return Some(format!(
                    "the function {first} runs with the rights of {second}, and {third} may call it past the proxy: \
                     REVOKE EXECUTE ON FUNCTION {first} FROM PUBLIC, and from that role"
                ));
            }
            "shadow" => return Some(format!("{first} of a user could be taken for one of PostgreSQL's own")),
            "account" => {
                return Some(
                    "the proxy's account may not see when server processes began: GRANT pg_monitor to it"
                        .to_owned(),
                );
            }
            "trigger" => {
                return Some(
                    "the event trigger lacuna_log is missing, changed or not enabled: lacuna proxy init --log makes it".to_owned(),
                );
            }
            "streamer" => {
                return Some(format!(
                    "the proxy's account may not read the log: ALTER ROLE \"{first}\" REPLICATION"
                ));
            }
            "login" => {
                return Some(format!(
                    "the event trigger {first} runs at logins, before a proxy can hold what it may write: ALTER EVENT TRIGGER \
                     \"{first}\" DISABLE, or start the proxy with --writes log"
                ));
            }
            "standby" => return Some("the server is a standby, which is late".to_owned()),
            "encoding" => return Some("the database's encoding is not UTF8".to_owned()),
            _ => return Some(format!("the catalogue says {kind}, which is not known here")),
        }
        None
    }

    /// The whole name and the kind of a registered column.
    pub(super) fn registered(&self, column: ColumnId) -> Option<(String, Kind)> {
        self.tables.iter().find_map(|((schema, name), table)| {
            let (registered, _) = table.registered.iter().find(|(_, number)| *number == column)?;
            Some((format!("{schema}.{name}.{registered}"), *table.columns.get(registered)?))
        })
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

impl Table {
    /// It was registered in the last reading, too.
    fn continues(&mut self, last: &Self, number: u64) {
        let now = Since::reading(number);
        self.neighbours.1 = if self.neighbours.0 == last.neighbours.0 { last.neighbours.1 } else { number };
        for (column, definition) in &mut self.definitions {
            let same = last.definitions.get(column).filter(|last| last.text == definition.text);
            definition.since = same.map_or(now, |last| last.since);
        }
        let texts = |table: &Self| -> Vec<(String, String)> {
            table.definitions.iter().map(|(column, of)| (column.clone(), of.text.clone())).collect()
        };
        self.shape = if texts(self) == texts(last) { last.shape } else { now };
    }

    /// It is registered from now on; what it was before is known by who has written it.
    fn begins(&mut self, vanished: u64, mark: ReadingMark) {
        self.neighbours.1 = vanished;
        for definition in self.definitions.values_mut() {
            definition.since = Since::written(&definition.written, mark);
        }
        self.shape = Since::last(self.definitions.values().map(|definition| definition.since));
    }

    /// Whether a column is to a statement what it was when the server was given the text, as of this mark, if the session
    /// searches the same schemas still.
    pub(super) fn has_column_of(&self, mark: Option<ReadingMark>, column: &str) -> bool {
        mark.zip(self.definitions.get(column)).is_some_and(|(mark, definition)| {
            definition.since.is_before(mark) && self.neighbours.1 <= mark.number
        })
    }

    /// The same of all that a read names or shows.
    pub(crate) fn has_columns_of(&self, mark: Option<ReadingMark>, read: &Read) -> bool {
        let is_shape = !read.shows_all || mark.is_some_and(|mark| self.shape.is_before(mark));
        is_shape && read.needs.iter().all(|(column, _)| self.has_column_of(mark, column))
    }
}

/// The kind of a column by the number and the modifier of its type, and by whether it is generated, deterministic and bytewise.
fn kind_of(number: &str, about: &str) -> Kind {
    let (about, modifier) = about.rsplit_once(' ').unwrap_or((about, ""));
    let about: Vec<bool> = about.split(' ').map(|word| word == "true").collect();
    match (number.parse(), &about[..]) {
        // A generated column is shown like any other, and bounds nothing.
        (Ok(number), [true, about @ ..]) => {
            let is_deterministic = about.first() == Some(&true);
            match Kind::of(number, Traits { is_deterministic, ..Traits::default() }) {
                kind @ (Kind::Other | Kind::LooseText) => kind,
                _ => Kind::Shown,
            }
        }
        (Ok(number), &[false, is_deterministic, is_bytewise]) => {
            modifier.parse().map_or(Kind::Other, |modifier| {
                Kind::of(number, Traits { is_deterministic, modifier, is_bytewise })
            })
        }
        _ => Kind::Other,
    }
}

fn unlisted(role: &str, is_super: bool) -> String {
    let quoted = role.replace('"', "\"\"");
    let remedy = if is_super {
        format!("ALTER ROLE \"{quoted}\" NOSUPERUSER or NOLOGIN")
    } else {
        format!(
            "REVOKE what it has on the table and its schema, and memberships in roles that have it, from \"{quoted}\""
        )
    };
    format!(
        "the role {role} can log in and write a registered table: {remedy}; or name it in --writers if it connects through \
         the proxy only"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(parts: [&str; 6]) -> Fact {
        parts.map(str::to_owned)
    }

    fn read(more: &[[&str; 6]]) -> Result<Catalogue> {
        let registered: Registered = "shop.orders.customer".parse().unwrap();
        let mut facts = vec![
            fact(["column", "shop", "orders", "customer", "23", "false true false -1"]),
            fact(["column", "shop", "orders", "note", "25", "false true false -1"]),
            fact(["independent", "public", "logs", "", "", ""]),
            fact(["other", "first", "orders", "", "", ""]),
            fact(["writer", "app", "false", "true", "", ""]),
            fact(["writer", "owners", "false", "false", "", ""]),
        ];
        facts.extend(more.iter().map(|parts| fact(*parts)));
        Catalogue::read(facts, &registered, &["app".to_owned()])
    }

    #[test]
    fn names_mean_what_the_search_path_finds_first() {
        let catalogue = read(&[]).unwrap();
        let path = |path: &[&str]| path.iter().map(|schema| (*schema).to_owned()).collect::<Vec<_>>();
        let meant = |schema, name, searched: &[&str]| match catalogue.meant(schema, name, &path(searched)) {
            Meant::Registered(_) => 'r',
            Meant::Independent => 'i',
            Meant::Unknown => 'u',
        };
        assert_eq!(meant(Some("shop"), "orders", &[]), 'r');
        assert_eq!(meant(None, "orders", &["pg_catalog", "public", "shop"]), 'r');
        assert_eq!(meant(None, "orders", &["pg_catalog", "first", "shop"]), 'u');
        assert_eq!(meant(None, "orders", &["pg_catalog", "public"]), 'u');
        assert_eq!(meant(None, "logs", &["public"]), 'i');
    }

    #[test]
    fn texts_of_loose_collations_are_shown_and_never_compared() {
        for (about, kind) in [
            ("false false false -1", Kind::LooseText),
            ("true false false -1", Kind::LooseText),
            ("true true false -1", Kind::Shown),
        ] {
            assert_eq!(kind_of("25", about), kind, "{about}");
        }
        assert!(matches!(kind_of("1043", "false true false -1"), Kind::Text(_)));
        assert_eq!(kind_of("114", "false false false -1"), Kind::Shown, "json");
    }

    #[test]
    fn every_problem_is_named() {
        let why = read(&[
            ["wrong", "shop", "orders", "it has row security", "", ""],
            ["writer", "eve", "false", "true", "", ""],
            ["definer", "f()", "app", "bob", "", ""],
            ["surprise", "", "", "", "", ""],
        ]);
        let why = why.unwrap_err().to_string();
        for part in ["row security", "role eve", "REVOKE EXECUTE ON FUNCTION f()", "surprise"] {
            assert!(why.contains(part), "{part}: {why}");
        }
        let registered: Registered = "shop.orders.note,shop.orders.none,none.none.none".parse().unwrap();
        let facts = vec![fact(["column", "shop", "orders", "note", "25", "false false false -1"])];
        let why = Catalogue::read(facts, &registered, &[]).unwrap_err().to_string();
        assert!(
            why.contains("no smallint")
                && why.contains("no column none")
                && why.contains("no table none.none")
        );
    }
}
