//! What statements have said about tables and columns.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use super::Suggestion;
use super::interval::Interval;
use crate::follow::{Seen, Value};
use crate::recognise::{Bounded, Grammar, Reason, Recognised, Template, UNREADABLE};

/// Most texts of a grammar whose meaning is remembered, most columns, most results of each, and most reasons.
const MAX_TEXTS: usize = 4_096;
const MAX_COLUMNS: usize = 500;
const MAX_RESULTS: usize = 5_000;
const MAX_REASONS: usize = 200;
/// What a hit would take.
const HIT: Duration = Duration::from_micros(20);

/// A statement, or why it is none that is known.
type Meaning = Arc<Result<Recognised, Reason>>;

/// Counters of all statements that were read.
#[derive(Debug, Default)]
pub(super) struct Learned {
    meanings: HashMap<Grammar, HashMap<Box<str>, Meaning>>,
    /// Those that are read; writes of others matter to none.
    tables: BTreeMap<String, Table>,
    column_count: usize,
    pub(super) reasons: BTreeMap<Reason, u64>,
    pub(super) statements: u64,
    pub(super) reads: u64,
    pub(super) writes: u64,
}

#[derive(Debug, Default)]
struct Table {
    writes: u64,
    columns: BTreeMap<String, Column>,
}

#[derive(Debug, Default)]
struct Column {
    asked: u64,
    rows: u64,
    time: Duration,
    repeated: u64,
    spared: u64,
    spared_time: Duration,
    /// Writes that have touched every value.
    whole_writes: u64,
    /// What a cache would know of the statements that were asked, by their texts and values.
    results: HashMap<u64, Known>,
}

#[derive(Debug)]
struct Known {
    interval: Interval,
    /// The column's `whole_writes` when it was asked for last; none once a write to its interval has come since.
    held_since: Option<u64>,
}

impl Learned {
    pub(super) fn learn(&mut self, seen: &Seen) {
        self.statements += 1;
        let (meaning, values) = self.meaning(seen);
        match &*meaning {
            _ if seen.has_failed => {}
            Ok(Recognised::Read { table, columns }) => self.read(table, columns, seen, &values),
            Ok(Recognised::Write { table, columns }) => self.write(table, columns, &values),
            Err(reason) => self.reason(reason),
        }
    }

    /// What a statement means, and the values of its parameters. Constants of the simple protocol are parameters, too,
    /// unless the grammar has no place for one there, as in `varchar(10)`.
    fn meaning(&mut self, seen: &Seen) -> (Meaning, Vec<Value>) {
        let (grammar, text) = (seen.statement.grammar, &seen.statement.text);
        let template = seen.values.is_none().then(|| grammar.template(text)).flatten();
        if let Some(Template { text, constants }) = template {
            let meaning = self.remembered(grammar, &text);
            if !meaning.as_ref().as_ref().is_err_and(|reason| reason.starts_with(UNREADABLE)) {
                return (meaning, constants.into_iter().map(Value::from_text).collect());
            }
        }
        (self.remembered(grammar, text), seen.values())
    }

    /// From memory if it is there: each text is parsed once.
    fn remembered(&mut self, grammar: Grammar, text: &str) -> Meaning {
        let meanings = self.meanings.entry(grammar).or_default();
        if let Some(known) = meanings.get(text) {
            return known.clone();
        }
        if meanings.len() >= MAX_TEXTS {
            meanings.clear();
        }
        let meaning = Arc::new(grammar.recognise(text));
        meanings.insert(text.into(), meaning.clone());
        meaning
    }

    fn reason(&mut self, reason: &Reason) {
        if self.reasons.len() < MAX_REASONS || self.reasons.contains_key(reason) {
            *self.reasons.entry(reason.clone()).or_default() += 1;
        }
    }

    /// The counters of a column; none if there are too many columns.
    fn column(&mut self, table: &str, name: &str) -> Option<&mut Column> {
        let is_known = self.tables.get(table).is_some_and(|table| table.columns.contains_key(name));
        if !is_known {
            if self.column_count >= MAX_COLUMNS {
                return None;
            }
            self.column_count += 1;
            let table = self.tables.entry(table.to_owned()).or_default();
            table.columns.insert(name.to_owned(), Column::default());
        }
        self.tables.get_mut(table)?.columns.get_mut(name)
    }

    fn read(&mut self, table: &str, columns: &[Bounded], seen: &Seen, values: &[Value]) {
        self.reads += 1;
        let identity = identity(seen);
        for Bounded { column, bounds } in columns {
            if let Some(column) = self.column(table, column) {
                column.rows += seen.rows;
                column.read(identity, Interval::of(bounds, values), seen.elapsed);
            }
        }
    }

    fn write(&mut self, table: &str, columns: &[Bounded], values: &[Value]) {
        self.writes += 1;
        let Some(table) = self.tables.get_mut(table) else { return };
        table.writes += 1;
        for (name, column) in &mut table.columns {
            let bounded = columns.iter().find(|bounded| bounded.column == *name);
            let touched = bounded.map_or(Interval::All, |bounded| Interval::of(&bounded.bounds, values));
            column.write(&touched);
        }
    }

    /// The largest gain first.
    pub(super) fn suggestions(&self) -> Vec<Suggestion> {
        let columns = self.tables.iter().flat_map(|(name, table)| {
            let columns = table.columns.iter();
            columns.map(move |(column, counts)| counts.suggestion(name, column, table.writes))
        });
        let mut all: Vec<Suggestion> = columns.collect();
        all.sort_by(|one, other| {
            let gain =
                |suggestion: &Suggestion| (suggestion.spared_time, suggestion.spared, suggestion.asked);
            gain(other).cmp(&gain(one))
        });
        all
    }
}

impl Column {
    fn read(&mut self, identity: u64, interval: Interval, elapsed: Duration) {
        self.asked += 1;
        self.time += elapsed;
        if let Some(known) = self.results.get_mut(&identity) {
            self.repeated += 1;
            if known.held_since == Some(self.whole_writes) {
                self.spared += 1;
                self.spared_time += elapsed.saturating_sub(HIT);
            }
            known.held_since = Some(self.whole_writes);
            return;
        }
        if self.results.len() >= MAX_RESULTS {
            self.results.clear();
        }
        self.results.insert(identity, Known { interval, held_since: Some(self.whole_writes) });
    }

    fn write(&mut self, touched: &Interval) {
        if *touched == Interval::All {
            // Most writes that are not bounded are these, and there may be thousands a second.
            self.whole_writes += 1;
            return;
        }
        for known in self.results.values_mut().filter(|known| known.interval.overlaps(touched)) {
            known.held_since = None;
        }
    }

    fn suggestion(&self, table: &str, column: &str, writes: u64) -> Suggestion {
        Suggestion {
            table: table.to_owned(),
            column: column.to_owned(),
            asked: self.asked,
            rows: self.rows,
            time: self.time,
            repeated: self.repeated,
            spared: self.spared,
            spared_time: self.spared_time,
            writes,
        }
    }
}

/// Equal for the same text with the same values. Two others may share one, which changes an estimate by one statement.
fn identity(seen: &Seen) -> u64 {
    let mut hasher = DefaultHasher::new();
    seen.statement.text.hash(&mut hasher);
    seen.values.hash(&mut hasher);
    hasher.finish()
}
