//! Whose session it is, and in which settings: all that could make the same statement give other bytes.
//!
//! The proxy asks the session itself, when it begins and after a statement that may have changed the answer: for its roles,
//! its database, the schemas that it searches and every setting. The whole answer belongs to the identity of a reply. A
//! number stands for it, which is given once for each text, so that comparing numbers is comparing answers.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::Reading;
use super::catalogue::Catalogue;
use crate::wire::Fields;

/// Most answers that are remembered; numbers go on.
const MAX_KNOWN: usize = 10_000;

/// What a session is asked. Of its settings it says those that are [read](Answer::check), and a hash of all: they are 15 kB, and as many
/// answers are remembered as sessions have different ones. Every name is written with its schema, whatever the session searches, and the moment of the start
/// in a form that no setting changes. A session that once had temporary tables keeps its temporary schema, of which nothing is said while
/// nothing belongs to it: no name can mean anything there, and a statement that makes something there makes the session be asked again.
/// A line feed within a name or a setting is none between two: settings are quoted, and
/// schemas or statements with such names are left out.
pub(crate) const QUESTION: &str = "SELECT pg_catalog.pg_backend_pid()::pg_catalog.text, session_user::pg_catalog.text, \
    current_user::pg_catalog.text, pg_catalog.current_database()::pg_catalog.text, \
    pg_catalog.to_char(pg_catalog.timezone('UTC', pg_catalog.pg_postmaster_start_time()), 'YYYY-MM-DD HH24:MI:SS.US'), \
    CASE WHEN pg_catalog.strpos(pg_catalog.array_to_string(pg_catalog.current_schemas(true), ''), pg_catalog.chr(10)) OPERATOR(pg_catalog.=) 0 \
    THEN pg_catalog.array_to_string(pg_catalog.array_remove(pg_catalog.current_schemas(true), \
    CASE WHEN NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d WHERE d.refclassid OPERATOR(pg_catalog.=) \
    'pg_catalog.pg_namespace'::pg_catalog.regclass AND d.refobjid OPERATOR(pg_catalog.=) pg_catalog.pg_my_temp_schema()) \
    THEN (SELECT n.nspname FROM pg_catalog.pg_namespace AS n WHERE n.oid OPERATOR(pg_catalog.=) pg_catalog.pg_my_temp_schema()) END), \
    pg_catalog.chr(10)) ELSE '' END, \
    (SELECT pg_catalog.concat(pg_catalog.string_agg(line, pg_catalog.chr(10)) FILTER (WHERE is_read), pg_catalog.chr(10), \
    pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.string_agg(line, pg_catalog.chr(10) ORDER BY name), \
    pg_catalog.getdatabaseencoding())), 'hex')) \
    FROM (SELECT s.name, pg_catalog.concat(s.name, '=', pg_catalog.quote_nullable(s.setting)) AS line, \
    s.name OPERATOR(pg_catalog.=) 'client_encoding' OR s.name OPERATOR(pg_catalog.=) 'default_transaction_isolation' \
    OR s.name OPERATOR(pg_catalog.=) 'standard_conforming_strings' OR s.name OPERATOR(pg_catalog.=) 'transform_null_equals' AS is_read \
    FROM pg_catalog.pg_settings AS s WHERE pg_catalog.textne(s.name, 'application_name')) AS lines), \
    coalesce((SELECT pg_catalog.string_agg(p.name, pg_catalog.chr(10)) FROM pg_catalog.pg_prepared_statements AS p \
    WHERE NOT p.from_sql AND pg_catalog.strpos(p.name, pg_catalog.chr(10)) OPERATOR(pg_catalog.=) 0), '')";

/// What a session has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) pid: i32,
    session_user: String,
    current_user: String,
    database: String,
    /// When its server was started.
    pub(super) started: String,
    pub(crate) searched: Vec<String>,
    settings: String,
    /// Names of statements that were prepared by messages, a line each.
    pub(crate) prepared: String,
}

/// A session whose statements mean what their texts say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) number: u64,
    /// Schemas in the order in which it searches them.
    pub(crate) searched: Vec<String>,
    /// The surroundings in which it was found.
    pub(crate) surroundings: u64,
}

/// Why a session has no identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoIdentity {
    /// It is of another database, whose statements do not touch registered tables.
    Database,
    /// The server was started anew since the catalogue was read.
    Start,
    /// Its statements could mean something else than their texts say, because of this.
    Meaning(&'static str),
    /// Its transactions see another state than that of the last commit.
    Isolation,
}

/// The numbers of answers.
#[derive(Debug, Default)]
pub(crate) struct Identities {
    known: Mutex<(HashMap<String, u64>, u64)>,
}

impl Answer {
    /// Reads the row that answers [`QUESTION`], as the body of its `DataRow`.
    pub(crate) fn read(row: &[u8]) -> Option<Self> {
        let mut fields = Fields::new(row);
        let texts: Option<Vec<String>> =
            (0..fields.count(4)?).map(|_| String::from_utf8(fields.value()??.to_vec()).ok()).collect();
        let [pid, session_user, current_user, database, started, searched, settings, prepared] =
            <[String; 8]>::try_from(texts?).ok()?;
        let searched = searched.split('\n').map(str::to_owned).collect();
        let pid = pid.parse().ok()?;
        Some(Self { pid, session_user, current_user, database, started, searched, settings, prepared })
    }

    /// # Errors
    /// Why the session's replies are not kept.
    fn check(&self, catalogue: &Catalogue) -> Result<(), NoIdentity> {
        let (started, database) = &catalogue.start;
        if self.database != *database {
            return Err(NoIdentity::Database);
        }
        if self.started != *started {
            return Err(NoIdentity::Start);
        }
        // Isolation is that of a statement.
        let is_committed = self.has("default_transaction_isolation='read committed'")
            || self.has("default_transaction_isolation='read uncommitted'");
        match (self.other_meaning(), is_committed) {
            (None, true) => Ok(()),
            (None, false) => Err(NoIdentity::Isolation),
            (Some(why), _) => Err(NoIdentity::Meaning(why)),
        }
    }

    fn has(&self, setting: &str) -> bool {
        self.settings.lines().any(|line| line == setting)
    }

    /// Why a text could mean something else, unless PostgreSQL's own operators and functions come first, there is no temporary
    /// table, constants are read in one way, and names are bytes of UTF-8.
    fn other_meaning(&self) -> Option<&'static str> {
        let first = self.searched.first().map_or("", String::as_str);
        let rules = [
            (!first.starts_with("pg_temp_"), "it has temporary tables"),
            (first == "pg_catalog", "pg_catalog is not the first schema that it searches"),
            (self.has("standard_conforming_strings='on'"), "its standard_conforming_strings is off"),
            (self.has("client_encoding='UTF8'"), "its client_encoding is not UTF8"),
            (self.has("transform_null_equals='off'"), "its transform_null_equals is on"),
        ];
        rules.into_iter().find(|(holds, _)| !holds).map(|(_, why)| why)
    }

    /// All of it but the process, as one text. Lengths keep parts apart.
    fn text(&self, surroundings: u64, with_role: bool) -> String {
        let Self { pid: _, prepared: _, session_user, current_user, database, started, searched, settings } =
            self;
        let searched = searched.join("\n");
        let mut text = surroundings.to_string();
        let roles = [session_user, current_user];
        let parts = [database, started, &searched, settings];
        for part in roles.into_iter().filter(|_| with_role).chain(parts) {
            text.push_str(&format!(" {}:{part}", part.len()));
        }
        text
    }
}

impl Identities {
    /// The identity of a session that has answered so; `with_role` is left out by a control of the tests alone.
    ///
    /// # Errors
    /// Why it has none.
    pub(crate) fn of(
        &self,
        answer: &Answer,
        reading: &Reading,
        with_role: bool,
    ) -> Result<Identity, NoIdentity> {
        answer.check(&reading.catalogue)?;
        let text = answer.text(reading.surroundings, with_role);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (numbers, last) = &mut *known;
        if numbers.len() >= MAX_KNOWN && !numbers.contains_key(&text) {
            numbers.clear();
        }
        let number = *numbers.entry(text).or_insert_with(|| {
            *last += 1;
            *last
        });
        Ok(Identity { number, searched: answer.searched.clone(), surroundings: reading.surroundings })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: &str = "client_encoding='UTF8'\ndefault_transaction_isolation='read committed'\n\
        standard_conforming_strings='on'\ntransform_null_equals='off'";

    fn answer(change: impl FnOnce(&mut [String; 8])) -> Answer {
        let mut texts =
            ["42", "me", "me", "shop", "noon", "pg_catalog\npublic", SETTINGS, ""].map(str::to_owned);
        change(&mut texts);
        let mut row = 8_i16.to_be_bytes().to_vec();
        for text in &texts {
            row.extend(u32::try_from(text.len()).unwrap().to_be_bytes());
            row.extend(text.as_bytes());
        }
        Answer::read(&row).unwrap()
    }

    fn identity(change: impl FnOnce(&mut [String; 8])) -> Result<Identity, NoIdentity> {
        let mut catalogue = Catalogue::default();
        catalogue.start = ("noon".to_owned(), "shop".to_owned());
        let reading = Reading { number: 1, surroundings: 1, oldest: 0, catalogue: catalogue.into() };
        IDENTITIES.with(|identities| identities.of(&answer(change), &reading, true))
    }

    std::thread_local! {
        static IDENTITIES: Identities = Identities::default();
    }

    #[test]
    fn whatever_differs_is_another_identity() {
        let first = identity(|_| {}).unwrap().number;
        assert_eq!(identity(|texts| texts[0] = "43".to_owned()).unwrap().number, first, "another process");
        for (place, value) in [(1, "you"), (2, "you"), (5, "pg_catalog\nother")] {
            assert_ne!(identity(|texts| texts[place] = value.to_owned()).unwrap().number, first, "{value}");
        }
        let other = identity(|texts| texts[6].push_str("\nTimeZone='UTC'")).unwrap().number;
        assert_ne!(other, first);
        // Parts that run together are kept apart.
        let (one, two) = (
            identity(|texts| (texts[1], texts[2]) = ("a 1:b".to_owned(), "c".to_owned())),
            identity(|texts| (texts[1], texts[2]) = ("a".to_owned(), "b 1:c".to_owned())),
        );
        assert_ne!(one.unwrap().number, two.unwrap().number);
    }

    #[test]
    fn sessions_of_other_meanings_have_none() {
        let refused =
            |place: usize, value: &str| identity(|texts| texts[place] = value.to_owned()).unwrap_err();
        assert_eq!(refused(3, "other"), NoIdentity::Database);
        assert_eq!(refused(4, "midnight"), NoIdentity::Start);
        let of_meaning = |place: usize, value: &str, why: &str| match refused(place, value) {
            NoIdentity::Meaning(said) => assert!(said.contains(why), "{value}: {said}"),
            other => panic!("{value}: {other:?}"),
        };
        of_meaning(5, "pg_temp_3\npg_catalog\npublic", "temporary tables");
        of_meaning(5, "public\npg_catalog", "pg_catalog");
        for (from, to, why) in [
            ("UTF8", "LATIN1", "client_encoding"),
            ("strings='on", "strings='off", "standard_conforming_strings"),
        ] {
            of_meaning(6, &SETTINGS.replace(from, to), why);
        }
        assert_eq!(refused(6, &SETTINGS.replace("read committed", "serializable")), NoIdentity::Isolation);
    }
}
