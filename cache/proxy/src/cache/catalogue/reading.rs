//! From facts, the rows of the questions, to a catalogue, or to the reasons why the tables cannot be cached.

use lacuna_base::{Error, Result};

use super::columns::{Kind, Traits};
use super::since::Since;
use super::table::Definition;
use super::{Catalogue, Fact, Name};
use crate::cache::registered::Registered;

impl Catalogue {
    /// # Errors
    /// `InvalidInput` with all reasons why the tables cannot be cached.
    pub(crate) fn read(facts: Vec<Fact>, registered: &Registered, allowed: &[String]) -> Result<Self> {
        let mut catalogue = Self::default();
        let mut problems = Vec::new();
        for fact in &facts {
            problems.extend(catalogue.take(fact, allowed));
        }
        for (number, (schema, table, column)) in registered.columns() {
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
    use crate::cache::catalogue::Meant;

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
