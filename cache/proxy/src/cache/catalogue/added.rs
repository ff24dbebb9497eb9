//! What users have added to the database that a statement could run, by its names.
//!
//! A name counts in every schema: which one a session means need not be known. Functions that an extension brings in C, and
//! that are not volatile, write nothing, and neither do the operators that they are.

use std::collections::HashSet;

use crate::recognise::harmless::Mentions;

/// Names of users' own.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Added {
    /// Functions that have the name of a listed one, or take one value.
    functions: HashSet<String>,
    operators: HashSet<String>,
    /// Types whose values are checked or read by something of a user.
    types: HashSet<String>,
    /// Views, foreign tables and others that run something when they are read.
    relations: HashSet<String>,
    /// What is run without being named: why no statement is certain.
    hazards: Vec<String>,
}

impl Added {
    /// Takes names of a kind, a line each.
    pub(super) fn take(&mut self, kind: &str, names: &str) {
        let names = names.split('\n').filter(|name| !name.is_empty()).map(str::to_owned);
        match kind {
            "functions" => self.functions.extend(names),
            "operators" => self.operators.extend(names),
            "types" => self.types.extend(names),
            "relations" => self.relations.extend(names),
            _ => self.hazards.push(kind.to_owned()),
        }
    }

    /// What of a user a statement may call that compares and shows columns of PostgreSQL's types alone.
    pub(super) fn called_by(&self, mentions: &Mentions) -> Option<String> {
        let is_function = |name: &&String| self.functions.contains(*name);
        let function = mentions.calls.iter().chain(&mentions.fields).find(is_function);
        function.map(|name| format!("a user has a function {name}, which it may call"))
    }

    /// What of a user a statement that writes a plain table may run.
    pub(super) fn run_by(&self, mentions: &Mentions) -> Option<String> {
        let operator = || mentions.operators.iter().find(|name| self.operators.contains(*name));
        let meant = || operator().map(|name| format!("a user has an operator {name}, which it may mean"));
        self.hazards.first().cloned().or_else(|| self.called_by(mentions)).or_else(meant)
    }

    /// The same of a statement whose tables and types are not known.
    pub(super) fn run_or_read_by(&self, mentions: &Mentions) -> Option<String> {
        let is_one = |name: &&String| self.types.contains(*name) || self.relations.contains(*name);
        let read = || mentions.words.iter().find(is_one);
        self.run_by(mentions).or_else(|| {
            read().map(|name| format!("it names {name}, whose reading may run something of a user"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recognise::harmless::examine;

    #[test]
    fn what_is_of_a_user_is_found_wherever_it_stands() {
        let mut added = Added::default();
        let runs = |added: &Added, text| added.run_or_read_by(&examine(text).mentions.unwrap());
        let text = "SELECT lower(t.change), a || b, c::mark FROM s.door AS t";
        assert_eq!(runs(&added, text), None);
        for (kind, name) in [
            ("functions", "lower"),
            ("functions", "change"),
            ("operators", "||"),
            ("types", "mark"),
            ("relations", "door"),
        ] {
            added = Added::default();
            added.take(kind, &format!("other\n{name}"));
            assert!(runs(&added, text).unwrap().contains(name), "{kind}");
            assert_eq!(runs(&added, "SELECT a FROM t"), None);
        }
        added.take("a cast of a user is a function", "");
        assert!(runs(&added, "SELECT 1").unwrap().contains("cast"));
    }
}
