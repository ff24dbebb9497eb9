//! What a statement does, by its plan, its values, the catalogue and what is known of the session.

use super::catalogue::{Catalogue, Kind, Meant, ReadingMark, Table};
use super::plans::Plan;
use super::span::{ColumnId, Span, Spans, Touched};
use super::values::Values;
use crate::recognise::strict::{AboutSession, NUMERIC, Name, Need, Operand, Range, Read, Statement, Write};

/// Types of parameters that conditions may compare with; 0 where nothing was declared.
const COMPARED: [u32; 12] = [0, 16, 20, 21, 23, 25, 1_043, 1_082, 1_114, 1_184, NUMERIC, 2_950];

/// What a statement does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Its reply may be kept: it shows rows with these values of the column.
    Cacheable(ColumnId, Spans),
    /// It changes nothing of a registered table.
    Nothing(String),
    Write(Touched),
    Begin {
        is_plain: bool,
    },
    Commit,
    Rollback,
    Savepoint,
    Session(AboutSession),
    /// It may do anything.
    Unknown(String),
}

/// `prepared` is the reading by which the server was given the text, if the session has searched the same schemas since;
/// `searched` are these schemas if they are known and names mean what they say, and otherwise why not.
pub(crate) fn effect(
    plan: &Plan,
    prepared: Option<ReadingMark>,
    values: &[u8],
    catalogue: &Catalogue,
    searched: Result<&[String], &str>,
) -> Effect {
    let of = |name: &Name| meant(catalogue, name, searched.ok());
    match &plan.statement {
        Statement::Begin { is_plain } => Effect::Begin { is_plain: *is_plain },
        Statement::Commit => Effect::Commit,
        Statement::Rollback => Effect::Rollback,
        Statement::Savepoint => Effect::Savepoint,
        Statement::Show => Effect::Nothing("it reads no table".to_owned()),
        Statement::Session(session) => Effect::Session(*session),
        Statement::Unknown(reason) => Effect::Unknown(reason.clone()),
        Statement::Harmless(reason) => nothing(plan, reason, catalogue, searched),
        Statement::Read(read) => {
            let found = match of(&read.table) {
                Meant::Registered(table) if !table.has_columns_of(prepared, read) => Err(CHANGED.to_owned()),
                Meant::Registered(table) => read_of(plan, read, table, values),
                Meant::Independent | Meant::Unknown => Err("its table is not registered".to_owned()),
            };
            match (found, catalogue.called_by(&plan.mentions)) {
                (Ok((column, spans)), None) => Effect::Cacheable(column, spans),
                (Ok(_), Some(why)) => Effect::Unknown(why),
                (Err(reason), _) => nothing(plan, &reason, catalogue, searched),
            }
        }
        Statement::Write(write) => match (of(&write.table), catalogue.run_by(&plan.mentions)) {
            (_, Some(why)) => Effect::Unknown(why),
            (Meant::Registered(table), None) => write_of(plan, prepared, write, table, values),
            (Meant::Independent, None) => {
                Effect::Nothing("it writes a table that is not registered".to_owned())
            }
            (Meant::Unknown, None) => Effect::Unknown(NO_TABLE.to_owned()),
        },
    }
}

/// Why the reply of a prepared statement is not kept.
pub(crate) const CHANGED: &str = "its table, or what its session searches, was changed after it was prepared";
const NO_TABLE: &str = "its table is no plain one, or the session may mean another";

/// Why code of users may run before the statement is executed, if that may be: input functions of its constants as it is parsed, and of
/// its values as they are bound, functions and indexes as it is planned. Where all columns have types of PostgreSQL, that is no more than
/// the execution may run. `searched` are the schemas that the session has searched since it was prepared, if they are known.
pub(crate) fn runs_early(plan: &Plan, catalogue: &Catalogue, searched: Option<&[String]>) -> Option<String> {
    let of = |name: &Name| meant(catalogue, name, searched);
    match &plan.statement {
        // Neither analysed nor planned.
        Statement::Begin { .. }
        | Statement::Commit
        | Statement::Rollback
        | Statement::Savepoint
        | Statement::Show
        | Statement::Session(_) => None,
        Statement::Unknown(reason) => Some(reason.clone()),
        Statement::Read(read) if matches!(of(&read.table), Meant::Registered(table) if fits(plan, read, table).is_ok()) => {
            catalogue.called_by(&plan.mentions)
        }
        Statement::Write(write)
            if match of(&write.table) {
                Meant::Registered(table) => table.is_plain(),
                Meant::Independent => true,
                Meant::Unknown => false,
            } =>
        {
            catalogue.run_by(&plan.mentions)
        }
        Statement::Read(_) | Statement::Write(_) | Statement::Harmless(_) => {
            catalogue.run_or_read_by(&plan.mentions)
        }
    }
}

/// What a name means to a session that searches these schemas, if they are known and names mean what they say.
pub(crate) fn meant<'c>(catalogue: &'c Catalogue, name: &Name, searched: Option<&[String]>) -> Meant<'c> {
    searched.map_or(Meant::Unknown, |searched| catalogue.meant(name.schema.as_deref(), &name.table, searched))
}

/// A statement without a reply that could be kept: it writes nothing, unless something of a user is among what it names.
fn nothing(plan: &Plan, reason: &str, catalogue: &Catalogue, searched: Result<&[String], &str>) -> Effect {
    let why = match (searched, catalogue.run_or_read_by(&plan.mentions)) {
        (Err(why), _) => Some(format!("what its session means by a name is not known: {why}")),
        _ if !plan.is_harmless => Some("what it runs is not known".to_owned()),
        (Ok(_), why) => why,
    };
    why.map_or_else(|| Effect::Nothing(reason.to_owned()), Effect::Unknown)
}

/// # Errors
/// Why its reply is not kept.
fn read_of(plan: &Plan, read: &Read, table: &Table, bytes: &[u8]) -> Result<(ColumnId, Spans), String> {
    let values = Values { bytes, declared: &plan.declared, counts: &read.params };
    fits(plan, read, table)?;
    let is_certain = |(column, operand): &(String, Operand)| {
        table.columns.get(column).is_some_and(|kind| values.is_certain(operand, *kind))
    };
    if !read.compared.iter().all(is_certain) {
        return Err("it compares with a constant that may be another in another session".to_owned());
    }
    let spans = table.registered.iter().filter_map(|(column, number)| {
        let (_, range) = read.ranges.iter().find(|(bounded, _)| bounded == column)?;
        Some((*number, values.spans(range, *table.columns.get(column)?)?))
    });
    let narrowest = spans.min_by_key(|(_, spans)| spans.width());
    narrowest.ok_or_else(|| "it bounds no registered column by plain constants".to_owned())
}

/// Whether the table's columns are what the statement needs.
fn fits(plan: &Plan, read: &Read, table: &Table) -> Result<(), String> {
    if read.shows_all && !table.columns.values().all(|kind| kind.is_shown()) {
        return Err("it shows a column of a type of users or of the catalogue".to_owned());
    }
    if !plan.declared.iter().all(|declared| COMPARED.contains(declared)) {
        return Err("a parameter has a type that is not known here".to_owned());
    }
    read.needs.iter().try_for_each(|(column, need)| match table.columns.get(column) {
        None => Err("it names what is no column of the table".to_owned()),
        Some(kind) if is_met(*need, *kind) => Ok(()),
        Some(_) => {
            Err("it compares or shows a column of a type that is not known to be immutable".to_owned())
        }
    })
}

const fn is_met(need: Need, kind: Kind) -> bool {
    match need {
        Need::Any => true,
        Need::Shown => kind.is_shown(),
        Need::Integer => matches!(kind, Kind::Integer),
        Need::Number => matches!(kind, Kind::Integer | Kind::Numeric(_)),
        Need::Ordered => kind.is_ordered(),
        Need::Bool => matches!(kind, Kind::Bool),
        Need::Text => {
            matches!(kind, Kind::Text(_) | Kind::Uuid | Kind::Moment(_) | Kind::Numeric(_))
        }
        Need::Equal => kind.is_registrable() || matches!(kind, Kind::Bool),
    }
}

fn write_of(
    plan: &Plan,
    prepared: Option<ReadingMark>,
    write: &Write,
    table: &Table,
    bytes: &[u8],
) -> Effect {
    if !table.is_plain() {
        return Effect::Unknown("it writes a table with columns of types of users".to_owned());
    }
    if table.acts {
        return Effect::Write(Touched { is_all: true, ..Touched::default() });
    }
    let values = Values { bytes, declared: &plan.declared, counts: &write.params };
    let spans = table.registered.iter().flat_map(|(column, number)| {
        let range: Option<&(String, Range)> = write.ranges.iter().find(|(bounded, _)| bounded == column);
        // Otherwise its values have the type that the column had.
        let range = range.filter(|_| table.has_column_of(prepared, column));
        let kind = table.columns.get(column).copied().unwrap_or(Kind::Other);
        let known = range.and_then(|(_, range)| values.spans(range, kind));
        let spans = known.unwrap_or_else(|| Span::ALL.into());
        spans.iter().map(|span| (*number, span)).collect::<Vec<_>>()
    });
    Effect::Write(Touched { spans: spans.collect(), ..Touched::default() })
}

impl Table {
    /// Whether no column has a type of users, whose operators and casts could do anything.
    fn is_plain(&self) -> bool {
        self.columns.values().all(|kind| kind.is_shown())
    }
}
