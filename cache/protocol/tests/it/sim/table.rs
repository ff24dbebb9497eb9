//! The application: rows, commands and results, in bytes only it understands.

use std::collections::BTreeMap;

use lacuna_cache_protocol::{
    About, Addition, Application, Command, Fact, Form, Interval, Patch, Query, RangeKey, Touched, Value,
    Write,
};

use super::joined::{FIRST_JOINED, is_join, is_under};

/// Number of a write; also the version of a row it wrote.
pub(crate) type WriteId = u32;

/// A row: its key is its value in domain 0, `other` that in domain 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) key: u64,
    pub(crate) version: WriteId,
    pub(crate) other: u64,
}

pub(crate) type Rows = BTreeMap<u64, Row>;

/// What a write does. Those with a condition change nothing where it does not hold, and are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Put {
        key: u64,
        other: u64,
    },
    Delete {
        key: u64,
    },
    /// Every row there is gets the new version.
    Touch {
        lo: u64,
        hi: u64,
    },
    /// The row leaves one key for another.
    Move {
        from: u64,
        to: u64,
    },
    /// The row is there with the value `was` in domain 1, and gets another.
    Edit {
        key: u64,
        was: u64,
        other: u64,
        domains: usize,
    },
    /// There is no such row, and then there is.
    Add {
        key: u64,
        other: u64,
        domains: usize,
    },
}

impl Change {
    /// Keys it may change.
    pub(crate) fn keys(self) -> Vec<u64> {
        match self {
            Self::Put { key, .. } | Self::Delete { key } | Self::Edit { key, .. } | Self::Add { key, .. } => {
                vec![key]
            }
            Self::Touch { lo, hi } => (lo..=hi).collect(),
            Self::Move { from, to } => vec![from, to],
        }
    }

    /// Whether its condition holds, if the row of its key is `row`.
    pub(crate) fn holds(self, row: Option<&Row>) -> bool {
        match self {
            Self::Edit { was, .. } => row.is_some_and(|row| row.other == was),
            Self::Add { .. } => row.is_none(),
            _ => true,
        }
    }

    pub(crate) fn apply(self, id: WriteId, rows: &mut Rows) {
        match self {
            Self::Put { key, other } | Self::Edit { key, other, .. } | Self::Add { key, other, .. } => {
                rows.insert(key, Row { key, version: id, other });
            }
            Self::Delete { key } => drop(rows.remove(&key)),
            Self::Touch { lo, hi } => rows.range_mut(lo..=hi).for_each(|(_, row)| row.version = id),
            Self::Move { from, to } => {
                rows.remove(&from);
                rows.insert(to, Row { key: to, version: id, other: 0 });
            }
        }
    }

    pub(crate) fn write(self, id: WriteId, new_value_only: bool) -> Write {
        let touched: Vec<Touched> = match self {
            Self::Put { key, .. } | Self::Delete { key } => vec![point(key)],
            Self::Touch { lo, hi } => vec![(0, closed(lo, hi))],
            Self::Move { to, .. } if new_value_only => vec![point(to)],
            Self::Move { from, to } => vec![point(from), point(to)],
            Self::Edit { key, was, other, domains: 2 } => {
                vec![point(key), (1, closed(was, was)), (1, closed(other, other))]
            }
            Self::Add { key, other, domains: 2 } => vec![point(key), (1, closed(other, other))],
            Self::Edit { key, .. } | Self::Add { key, .. } => vec![point(key)],
        };
        Write { touched, command: self.command(id) }
    }

    fn command(self, id: WriteId) -> Command {
        let (kind, a, b, c) = match self {
            Self::Put { key, other } => (0, key, other, 0),
            Self::Delete { key } => (1, key, 0, 0),
            Self::Touch { lo, hi } => (2, lo, hi, 0),
            Self::Move { from, to } => (3, from, to, 0),
            Self::Edit { key, other, was, .. } => (4, key, other, was),
            Self::Add { key, other, .. } => (5, key, other, 0),
        };
        let numbers: [u64; 5] = [kind, a, b, c, u64::from(id)];
        Command::new(&numbers.map(u64::to_le_bytes).concat())
    }

    pub(crate) fn read(command: &Command) -> (WriteId, Self) {
        let number =
            |place: usize| u64::from_le_bytes(command.as_bytes()[place * 8..][..8].try_into().unwrap());
        let (a, b, domains) = (number(1), number(2), 1);
        let change = match number(0) {
            0 => Self::Put { key: a, other: b },
            1 => Self::Delete { key: a },
            2 => Self::Touch { lo: a, hi: b },
            3 => Self::Move { from: a, to: b },
            4 => Self::Edit { key: a, was: number(3), other: b, domains },
            _ => Self::Add { key: a, other: b, domains },
        };
        (u32::try_from(number(4)).unwrap(), change)
    }
}

fn point(key: u64) -> Touched {
    (0, Interval::point(key.into()))
}

pub(crate) fn closed(lo: u64, hi: u64) -> Interval<RangeKey> {
    Interval::closed(lo.into(), hi.into()).unwrap()
}

/// Whether a row belongs to the interval of a query, its limit aside.
pub(crate) fn selects(query: &Query, row: &Row) -> bool {
    let value = if query.domain == 0 { row.key } else { row.other };
    query.interval.contains(&value.into()) || (is_join(query) && row.key >= FIRST_JOINED)
}

/// The result of a query, and whether a limit cut it.
pub(crate) fn select(query: &Query, rows: &Rows) -> (Vec<Row>, bool) {
    let mut found: Vec<Row> = rows.values().filter(|row| selects(query, row)).copied().collect();
    let all = found.len();
    match query.form {
        Form::All => return (found, false),
        Form::First(limit) => found.truncate(limit as usize),
        Form::Last(limit) => drop(found.drain(..all.saturating_sub(limit as usize))),
    }
    let (Form::First(limit) | Form::Last(limit)) = query.form else { unreachable!("returned above") };
    let is_full = found.len() == limit as usize;
    (found, is_full)
}

/// The number of rows, the rows, and what later writes did to them.
pub(crate) fn encode(rows: &[Row]) -> Value {
    let numbers = rows.iter().flat_map(|row| [row.key, u64::from(row.version), row.other]);
    let count = std::iter::once(rows.len() as u64);
    Value::new(&count.chain(numbers).flat_map(u64::to_le_bytes).collect::<Vec<u8>>())
}

/// A result that nothing is added to that only the store knows.
pub(crate) fn decode(value: &Value) -> Vec<Row> {
    settle(value).expect("it is settled")
}

/// `None` if only the store knows the result.
pub(crate) fn settle(value: &Value) -> Option<Vec<Row>> {
    let numbers: Vec<u64> =
        value.as_bytes().chunks(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect();
    let (rows, patches) = numbers[1..].split_at(3 * usize::try_from(numbers[0]).unwrap());
    let row = |row: &[u64]| Row { key: row[0], version: u32::try_from(row[1]).unwrap(), other: row[2] };
    let mut rows: Rows = rows.chunks(3).map(|numbers| (numbers[0], row(numbers))).collect();
    for patch in patches.chunks(4) {
        match patch[0] {
            0 => drop(rows.insert(patch[1], row(&patch[1..]))),
            1 => drop(rows.remove(&patch[1])),
            3 => return None,
            _ => rows
                .range_mut(patch[1]..=patch[2])
                .for_each(|(_, row)| row.version = u32::try_from(patch[3]).unwrap()),
        }
    }
    Some(rows.into_values().collect())
}

fn is_of_rows((query, _): &&(Query, Value)) -> bool {
    query.question.is_none()
}

/// Whether a result with this write is not known without the store.
fn needs_the_store(id: WriteId, other: u64) -> bool {
    id.is_multiple_of(16) && other == 4
}

/// What a write does to a result, as four numbers for each change.
fn patch(id: WriteId, change: Change, query: &Query) -> Patch {
    if query.form != Form::All || query.domain != 0 || query.question.is_some() {
        return Patch::Unknown;
    }
    let is_inside = |key: &u64| query.interval.contains(&(*key).into());
    let put = |key, other| is_inside(&key).then_some([0, key, u64::from(id), other]);
    let gone = |key| is_inside(&key).then_some([1, key, 0, 0]);
    let changes: Vec<[u64; 4]> = match change {
        Change::Put { key, other } if needs_the_store(id, other) => {
            is_inside(&key).then_some([3, 0, 0, 0]).into_iter().collect()
        }
        Change::Put { key, other } | Change::Edit { key, other, .. } | Change::Add { key, other, .. } => {
            put(key, other).into_iter().collect()
        }
        Change::Delete { key } => gone(key).into_iter().collect(),
        Change::Touch { lo, hi } => vec![[2, lo, hi, u64::from(id)]],
        Change::Move { from, to } => gone(from).into_iter().chain(put(to, 0)).collect(),
    };
    if changes.is_empty() {
        return Patch::Nothing;
    }
    // A patch that puts a row replaces the whole row. One of several rows may be about anything.
    let about = match changes[..] {
        [[kind @ (0 | 1), key, ..]] => {
            Some(About { row: key.to_le_bytes()[..].into(), part: kind.to_le_bytes()[..].into() })
        }
        _ => None,
    };
    Patch::Append(Addition {
        bytes: changes.into_iter().flatten().flat_map(u64::to_le_bytes).collect(),
        about,
    })
}

/// Last key of a full result, as the store reports it.
pub(crate) fn last_key(query: &Query, rows: &[Row], is_full: bool) -> Option<RangeKey> {
    let last = if matches!(query.form, Form::Last(_)) { rows.first() } else { rows.last() };
    last.filter(|_| is_full).map(|row| row.key.into())
}

/// What the cache must know of all this.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Table {
    /// Whether two writes to one key are applied as one.
    pub(crate) merges: bool,
    /// Whether clients, and the tenures before, number the domains otherwise.
    pub(crate) is_renumbered: bool,
}

impl Application for Table {
    fn numbers_domains_of(&self, _: &Command) -> bool {
        !self.is_renumbered
    }

    fn numbers_domain_of(&self, _: &Query) -> bool {
        !self.is_renumbered
    }

    /// As a SQL table decides: a compared row has to be known or shown, and a free key by a result that would show
    /// its row.
    fn is_certain(&self, command: &Command, shown: &[(Query, Value)], facts: &[Fact]) -> bool {
        let rows = || shown.iter().filter(is_of_rows).flat_map(|(_, value)| decode(value));
        match Change::read(command).1 {
            change @ Change::Edit { key, was, .. } => {
                facts.contains(&(key.into(), was.into()))
                    || rows().find(|row| row.key == key).is_some_and(|row| change.holds(Some(&row)))
            }
            Change::Add { key, .. } => {
                let would_show = |query: &Query| {
                    (query.domain, query.form) == (0, Form::All) && query.interval.contains(&key.into())
                };
                shown.iter().filter(is_of_rows).any(|(query, _)| would_show(query))
                    && rows().all(|row| row.key != key)
            }
            _ => true,
        }
    }

    fn facts_of(&self, query: &Query, value: &Value) -> Vec<Fact> {
        if query.question.is_some() {
            return Vec::new();
        }
        decode(value).iter().map(|row| (row.key.into(), row.other.into())).collect()
    }

    fn facts_after(&self, command: &Command) -> Vec<Fact> {
        match Change::read(command).1 {
            Change::Put { key, other } | Change::Edit { key, other, .. } | Change::Add { key, other, .. } => {
                vec![(key.into(), other.into())]
            }
            Change::Move { to, .. } => vec![(to.into(), 0)],
            Change::Delete { .. } | Change::Touch { .. } => Vec::new(),
        }
    }

    fn patch(&self, command: &Command, queries: &[Query]) -> Vec<Patch> {
        let (id, change) = Change::read(command);
        let patch = |query| if self.is_renumbered { Patch::Unknown } else { patch(id, change, query) };
        queries.iter().map(patch).collect()
    }

    fn settle(&self, query: &Query, value: &Value) -> Option<Value> {
        settle(value).filter(|rows| is_under(query, rows)).map(|rows| encode(&rows))
    }

    fn empty(&self, _: &Query) -> Value {
        encode(&[])
    }

    fn can_fuse(&self) -> bool {
        true
    }

    fn fuse(&self, query: &Query, parts: &[(Query, Value)]) -> Option<Value> {
        if query.domain != 0 {
            return None;
        }
        let rows: Rows =
            parts.iter().flat_map(|(_, value)| decode(value)).map(|row| (row.key, row)).collect();
        Some(encode(&select(query, &rows).0))
    }

    fn shared_percent(&self, new: &Query, value: &Value, other: &Query) -> u8 {
        if new.question.is_some() || other.question.is_some() {
            return 0;
        }
        let rows = decode(value);
        let shared = rows.iter().filter(|row| selects(other, row)).count();
        u8::try_from(100 * shared / rows.len().max(1)).unwrap()
    }

    fn merge(&self, first: &Command, second: &Command) -> Option<Command> {
        if !self.merges {
            return None;
        }
        // The second alone, where it overwrites what the first did.
        let (Change::Put { .. } | Change::Delete { .. }, Change::Put { .. } | Change::Delete { .. }) =
            (Change::read(first).1, Change::read(second).1)
        else {
            return None;
        };
        Some(second.clone())
    }
}
