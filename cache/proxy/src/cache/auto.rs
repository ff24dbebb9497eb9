//! Columns that are registered while the proxy runs, because what sessions ask says that a cache of them would spare enough.
//!
//! A column is advised if a cache of it would have answered a number of statements, and a fifth of those that bound it. It is
//! registered only if an operator could have: the catalogue, the rights of roles and the claim of its table are checked as
//! at the start. What is refused is said once, and tried again a minute later.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::registered::Registered;
use crate::suggest::{Suggestion, Suggestions};

/// Of this many statements that bound a column one must have been spared.
const MAX_ASKED_A_SPARED: u64 = 5;
/// Pause between two looks at suggestions.
const PAUSE: Duration = Duration::from_secs(2);
/// Pause after which what was refused is tried again.
const REFUSED: Duration = Duration::from_mins(1);

/// Why a column is not registered that an operator does not want.
const BARRED: &str = "it was taken off the list of registered columns";

/// How many columns a cache may register while it runs, and for which gain.
///
/// ```
/// let auto = lacuna_proxy::Auto::default().with_min_spared(500).with_max_tables(2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Auto {
    min_spared: u64,
    max_tables: usize,
    max_columns: usize,
}

impl Default for Auto {
    /// 100 statements spared, four tables, eight columns.
    fn default() -> Self {
        Self { min_spared: 100, max_tables: 4, max_columns: 8 }
    }
}

impl Auto {
    /// Statements that a cache of a column must have spared before it is registered.
    #[must_use]
    pub const fn with_min_spared(self, count: u64) -> Self {
        Self { min_spared: count, ..self }
    }

    /// Most tables that are registered, those that the operator has named among them.
    #[must_use]
    pub const fn with_max_tables(self, count: usize) -> Self {
        Self { max_tables: count, ..self }
    }

    /// Most columns that are registered, those that the operator has named among them.
    #[must_use]
    pub const fn with_max_columns(self, count: usize) -> Self {
        Self { max_columns: count, ..self }
    }
}

/// What a cache has registered while it ran.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AutoCounts {
    /// Columns, and why each was registered; not those that were taken off the list since.
    pub registered: BTreeMap<String, String>,
    /// How many it has registered, those that were taken off the list among them.
    pub added: u64,
    /// Columns that would spare enough, and why each was not registered.
    pub refused: BTreeMap<String, String>,
}

/// Reads suggestions, and remembers what became of them.
#[derive(Debug)]
pub(super) struct Advisor {
    auto: Auto,
    suggestions: Arc<Suggestions>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    counts: AutoCounts,
    /// Columns as statements name them, which were registered, or are not tried again before that moment.
    settled: BTreeMap<String, Option<Instant>>,
    /// Whole names of columns that an operator has taken off the list.
    barred: BTreeSet<String>,
    looked: Option<Instant>,
}

impl Advisor {
    pub(super) fn new(auto: Auto, suggestions: Arc<Suggestions>) -> Self {
        Self { auto, suggestions, state: Mutex::default() }
    }

    /// What is to be registered now: the largest gain.
    pub(super) fn advice(&self) -> Option<Suggestion> {
        let mut state = self.lock();
        if state.looked.is_some_and(|looked| looked.elapsed() < PAUSE) {
            return None;
        }
        state.looked = Some(Instant::now());
        self.suggestions
            .all()
            .into_iter()
            .find(|one| self.auto.is_worth(one) && !state.is_settled(&name(one)))
    }

    /// An operator has registered this column.
    pub(super) fn may_register(&self, column: &str) {
        let mut state = self.lock();
        state.barred.remove(column);
        state.counts.refused.remove(column);
    }

    /// An operator has taken this column off the list.
    pub(super) fn may_not_register(&self, column: &str) {
        let mut state = self.lock();
        state.barred.insert(column.to_owned());
        if state.counts.registered.remove(column).is_some() {
            state.counts.refused.insert(column.to_owned(), BARRED.to_owned());
        }
    }

    /// Whether these may be registered together, of which this column is the new one.
    ///
    /// # Errors
    /// The limit that they pass, or that the column was taken off the list.
    pub(super) fn admits(&self, registered: &Registered, column: &str) -> Result<(), String> {
        if self.lock().barred.contains(column) {
            return Err(BARRED.to_owned());
        }
        let Auto { max_tables, max_columns, .. } = self.auto;
        if registered.tables().count() > max_tables {
            return Err(format!("{max_tables} tables are registered, which is the limit"));
        }
        if registered.len() > max_columns {
            return Err(format!("{max_columns} columns are registered, which is the limit"));
        }
        Ok(())
    }

    pub(super) fn registered(&self, advice: &Suggestion, column: &str) {
        let Suggestion { asked, spared, spared_time, .. } = advice;
        let why = format!(
            "a cache would have answered {spared} of {asked} statements, and spared {spared_time:.1?}"
        );
        // Of the level that is shown unless another one was asked for.
        tracing::warn!(column, why, "a column was registered");
        let mut state = self.lock();
        state.settled.insert(name(advice), None);
        state.counts.refused.remove(&name(advice));
        state.counts.added += u64::from(state.counts.registered.insert(column.to_owned(), why).is_none());
    }

    pub(super) fn refused(&self, advice: &Suggestion, why: String) {
        let column = name(advice);
        let mut state = self.lock();
        if state.counts.refused.get(&column) != Some(&why) {
            tracing::warn!(column, why, "a column would spare statements, and is not registered");
        }
        state.settled.insert(column.clone(), Some(Instant::now() + REFUSED));
        state.counts.refused.insert(column, why);
    }

    pub(super) fn counts(&self) -> AutoCounts {
        self.lock().counts.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Auto {
    const fn is_worth(self, Suggestion { asked, spared, .. }: &Suggestion) -> bool {
        *spared >= self.min_spared && spared.saturating_mul(MAX_ASKED_A_SPARED) >= *asked
    }
}

impl State {
    fn is_settled(&self, column: &str) -> bool {
        self.settled.get(column).is_some_and(|until| until.is_none_or(|until| Instant::now() < until))
    }
}

impl AutoCounts {
    /// A line for each column.
    pub(super) fn report(&self) -> String {
        let lines = |what: &str, all: &BTreeMap<String, String>| -> String {
            all.iter()
                .map(|(column, why)| format!("{what} {column}: {}\n", why.replace('\n', "; ")))
                .collect()
        };
        lines("registered", &self.registered) + &lines("not registered", &self.refused)
    }
}

fn name(advice: &Suggestion) -> String {
    format!("{}.{}", advice.table, advice.column)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(asked: u64, spared: u64) -> Suggestion {
        let (time, spared_time) = (Duration::ZERO, Duration::ZERO);
        let (table, column) = ("t".to_owned(), "a".to_owned());
        Suggestion { table, column, asked, rows: 0, time, repeated: spared, spared, spared_time, writes: 0 }
    }

    #[test]
    fn few_or_rare_gains_are_not_worth_it() {
        let auto = Auto::default();
        for (asked, spared, is_worth) in
            [(100, 100, true), (99, 99, false), (500, 100, true), (501, 100, false)]
        {
            assert_eq!(auto.is_worth(&advice(asked, spared)), is_worth, "{spared} of {asked}");
        }
    }

    #[test]
    fn limits_count_what_the_operator_has_named() {
        let advisor = Advisor::new(Auto::default().with_max_tables(2).with_max_columns(3), Arc::default());
        let admits = |columns: &str| advisor.admits(&columns.parse().unwrap(), "s.t.a");
        assert_eq!(admits("s.t.a,s.t.b,s.u.a"), Ok(()));
        assert!(admits("s.t.a,s.u.a,s.v.a").unwrap_err().contains("2 tables"));
        assert!(admits("s.t.a,s.t.b,s.t.c,s.u.a").unwrap_err().contains("3 columns"));
    }

    #[test]
    fn what_was_settled_is_not_advised_again() {
        let advisor = Advisor::new(Auto::default(), Arc::default());
        let one = advice(100, 100);
        advisor.refused(&one, "a role may write".to_owned());
        assert!(advisor.lock().is_settled("t.a") && !advisor.lock().is_settled("t.b"));
        assert!(advisor.counts().report().contains("not registered t.a: a role may write\n"));
        advisor.registered(&one, "public.t.a");
        let counts = advisor.counts();
        assert!(
            counts.refused.is_empty()
                && counts.report().starts_with("registered public.t.a: a cache would have")
        );
    }

    #[test]
    fn what_was_taken_off_the_list_is_refused_until_an_operator_registers_it() {
        let advisor = Advisor::new(Auto::default(), Arc::default());
        let columns: Registered = "public.t.a".parse().unwrap();
        advisor.registered(&advice(100, 100), "public.t.a");
        advisor.may_not_register("public.t.a");
        assert!(advisor.admits(&columns, "public.t.a").unwrap_err().contains("taken off the list"));
        assert_eq!(advisor.admits(&columns, "public.t.b"), Ok(()));
        let counts = advisor.counts();
        assert_eq!((counts.registered.len(), counts.added), (0, 1));
        assert!(counts.report().contains("not registered public.t.a: it was taken off the list"));
        advisor.may_register("public.t.a");
        assert_eq!(advisor.admits(&columns, "public.t.a"), Ok(()));
        assert_eq!(advisor.counts().report(), "");
    }
}
