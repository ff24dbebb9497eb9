//! Writers that share rows: every write compares what its client saw, two columns are registered, and keys come and go.
//!
//! Each write gives its row a mark that no other write gives. So a row is a chain of marks, and whoever changes a row says
//! which mark it took from whom: two acknowledged writes that took the same one, or a mark that was acknowledged and is
//! nowhere, are found without asking the database for its history. The same write gives the row its note, or leaves it as it
//! was with the mark before: so the mark says what the whole row is.

pub(crate) mod history;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use lacuna_cache::sql::{Cache, DomainType, Row, Rows, Schema, SqlValue, Statement, Table, WriteError};
use lacuna_cache_protocol::{DomainValue, ErrorKind};
use lacuna_workload::Rng;

use super::world::{AT_MOST, Dialect};
use history::{Change, Moment, Outcome, Shown, check};

/// Rows that all writers share.
pub(crate) const IDS: i64 = 16;
/// Marks of one row lie together, so that few ranges of marks are asked for.
const MARKS_OF_ROW: i64 = 1_000_000_000;

/// What clients of a table saw.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    history: Mutex<Vec<Moment>>,
    keys: Keys,
    /// Whether each row is in many results.
    overlaps: bool,
    next_mark: AtomicI64,
    next_number: AtomicU64,
    /// Reads that were answered, which the checker looks at.
    pub(crate) checked: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) unknown: AtomicU64,
    pub(crate) done: AtomicU64,
}

/// The type of the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Keys {
    #[default]
    Integer,
    Uuid,
    /// The bytes of UUIDs, where the database does not order these by their bytes.
    Bytes,
    Text,
}

impl Keys {
    pub(crate) fn value(self, id: i64) -> SqlValue {
        match self {
            Self::Integer => id.into(),
            Self::Uuid => SqlValue::uuid(&format!("00000000-0000-4000-8000-{id:012x}")).unwrap(),
            Self::Bytes => [&[0; 8][..], &id.to_be_bytes()].concat().into(),
            Self::Text => format!("row {id:04}").into(),
        }
    }

    pub(crate) fn id(self, row: &Row) -> i64 {
        let key = row.get("id").unwrap();
        (0..IDS)
            .find(|id| self.value(*id) == *key)
            .unwrap_or_else(|| panic!("{key:?} is no key of the table"))
    }

    /// The whole row.
    pub(crate) fn shown(self, row: &Row) -> Shown {
        let number = |column| row.integer(column).unwrap_or_else(|| panic!("{row:?} lacks its {column}"));
        Shown { id: self.id(row), mark: number("mark"), note: Some(number("note")) }
    }

    const fn domain(self) -> DomainType {
        match self {
            Self::Integer => DomainType::Integer,
            Self::Uuid => DomainType::Uuid,
            Self::Bytes => DomainType::Bytes,
            Self::Text => DomainType::Text,
        }
    }

    pub(crate) fn schema(self) -> Schema {
        Schema::new("shared", "id").with_domain("id", self.domain()).with_domain("mark", DomainType::Integer)
    }

    pub(crate) async fn make_table(self, cache: &Cache, dialect: Dialect) {
        let key = match (self, dialect) {
            (Self::Integer, _) => "BIGINT",
            (Self::Uuid, _) => "UUID",
            (Self::Bytes, Dialect::MariaDb) => "BINARY(16)",
            (Self::Bytes, _) => "BYTEA",
            (Self::Text, Dialect::MariaDb) => "VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
            (Self::Text, _) => "TEXT",
        };
        let sql =
            format!("CREATE TABLE IF NOT EXISTS shared (id {key} PRIMARY KEY, mark BIGINT, note BIGINT)");
        cache.run_sql(&sql).await.unwrap();
    }
}

/// The rows that a client saw last.
type Seen = BTreeMap<i64, Option<Row>>;

pub(crate) fn schema() -> Schema {
    Keys::Integer.schema()
}

pub(crate) async fn make_table(cache: &Cache) {
    Keys::Integer.make_table(cache, Dialect::Postgres).await;
}

impl Shared {
    pub(crate) fn with_keys(keys: Keys) -> Self {
        Self { keys, ..Self::default() }
    }

    /// Half of the reads leave a result of any neighbouring rows.
    #[must_use]
    pub(crate) fn with_overlaps(mut self) -> Self {
        self.overlaps = true;
        self
    }

    fn note(&self, moment: Moment) {
        self.history.lock().unwrap().push(moment);
    }

    fn read_ended(&self, read: u64, ids: RangeInclusive<i64>, rows: Vec<Shown>) {
        self.note(Moment::ReadEnded(read, ids, rows));
        self.checked.fetch_add(1, Ordering::Relaxed);
    }

    /// One client: so many operations, `read_percent` of them reads.
    pub(crate) async fn client(
        self: Arc<Self>,
        table: Table,
        dialect: Dialect,
        mut rng: Rng,
        operations: u64,
        read_percent: u64,
    ) {
        let mut seen = Seen::new();
        for _ in 0..operations {
            if rng.below(100) < read_percent {
                self.read(&table, dialect, &mut rng, &mut seen).await;
            } else {
                self.write(&table, dialect, &mut rng, &mut seen).await;
            }
        }
    }

    async fn read(&self, table: &Table, dialect: Dialect, rng: &mut Rng, seen: &mut Seen) {
        let lo = 4 * rng.below(4).cast_signed();
        let ids = lo..=lo + [0, 3][rng.index(2)];
        if self.overlaps && rng.below(2) == 0 {
            let [one, other] = [(); 2].map(|()| rng.below(IDS.cast_unsigned()).cast_signed());
            return self.read_ids(table, one.min(other)..=one.max(other), false, seen).await;
        }
        // Statements of the application are written for integers.
        if self.keys == Keys::Integer && rng.below(4) == 0 {
            return self.ask(table, dialect, ids, rng.below(2) == 0).await;
        }
        if rng.below(8) == 0 {
            return self.read_some_marks(table, lo, rng).await;
        }
        self.read_ids(table, ids, rng.below(3) == 0, seen).await;
    }

    /// Leaves a result that ends between the marks of a row: one of its next marks leads the row into another result.
    async fn read_some_marks(&self, table: &Table, id: i64, rng: &mut Rng) {
        let next = self.next_mark.load(Ordering::Relaxed) + rng.below(20).cast_signed();
        drop(table.get("mark", id * MARKS_OF_ROW..id * MARKS_OF_ROW + next).await);
    }

    async fn read_ids(&self, table: &Table, ids: RangeInclusive<i64>, by_mark: bool, seen: &mut Seen) {
        let read = self.next_number.fetch_add(1, Ordering::Relaxed);
        self.note(Moment::ReadBegan(read));
        let rows = if by_mark {
            let marks = ids.start() * MARKS_OF_ROW..(ids.end() + 1) * MARKS_OF_ROW;
            table.get("mark", marks).await
        } else {
            table.get("id", self.keys.value(*ids.start())..=self.keys.value(*ids.end())).await
        };
        let Ok(rows) = rows else { return };
        self.read_ended(read, ids.clone(), rows.iter().map(|row| self.keys.shown(row)).collect());
        for id in ids {
            let row = rows.iter().find(|row| self.keys.id(row) == id);
            seen.insert(id, row.cloned());
        }
    }

    /// A read by a statement: of whole rows, with a condition on a column that no cache knows, or of the registered columns.
    async fn ask(&self, table: &Table, dialect: Dialect, ids: RangeInclusive<i64>, by_note: bool) {
        let read = self.next_number.fetch_add(1, Ordering::Relaxed);
        let [lo, hi] = if dialect == Dialect::Postgres { ["$1", "$2"] } else { ["?", "?"] };
        let (columns, further) =
            if by_note { ("id, mark, note", " AND note >= 0") } else { ("id, mark", "") };
        let sql = format!("SELECT {columns} FROM shared WHERE id BETWEEN {lo} AND {hi}{further} ORDER BY id");
        self.note(Moment::ReadBegan(read));
        match table.query(&sql, &[(*ids.start()).into(), (*ids.end()).into()]).await {
            Ok(answer) => {
                let rows = answer.rows().iter().map(|row| Shown {
                    id: integer(&row[0]),
                    mark: integer(&row[1]),
                    note: row.get(2).map(integer),
                });
                self.read_ended(read, ids, rows.collect());
            }
            Err(why) => assert_ne!(why.kind(), ErrorKind::InvalidInput, "{sql}: {why}"),
        }
    }

    async fn write(&self, table: &Table, dialect: Dialect, rng: &mut Rng, seen: &mut Seen) {
        let id = rng.below(IDS.cast_unsigned()).cast_signed();
        // Half of the writers look again before they write; others may be late.
        if rng.below(2) == 0 || !seen.contains_key(&id) {
            self.read_ids(table, id..=id, false, seen).await;
        }
        let Some(row) = seen.get(&id).cloned() else { return };
        let mark = id * MARKS_OF_ROW + self.next_mark.fetch_add(1, Ordering::Relaxed);
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let kind = rng.below(10);
        let done = match row {
            // Now and then a key that is there already.
            None => self.insert(table, number, id, mark).await,
            Some(_) if kind == 0 => self.insert(table, number, id, mark).await,
            Some(row) => {
                let from = row.integer("mark").unwrap();
                // Statements of the application are written for integers, and leave the note as it is.
                let swaps = kind == 3 && self.keys == Keys::Integer;
                let drawn = rng.below(100).cast_signed();
                let note = if swaps { row.integer("note").unwrap() } else { drawn };
                let change = if kind <= 2 {
                    Change::Delete { id, from }
                } else {
                    Change::Update { id, from, to: mark, note }
                };
                self.note(Moment::WriteBegan(number, change));
                match kind {
                    1 | 2 => table.delete(&row).await,
                    _ if swaps => {
                        table
                            .execute(&sets(table, id, &[from, mark]), vec![swap(dialect, id, from, mark)])
                            .await
                    }
                    _ => table.update(&row, [("mark", mark.into()), ("note", note.into())]).await,
                }
            }
        };
        self.ended(number, &done);
    }

    async fn insert(&self, table: &Table, number: u64, id: i64, mark: i64) -> Result<(), WriteError> {
        let note = 0;
        self.note(Moment::WriteBegan(number, Change::Insert { id, to: mark, note }));
        table.insert([("id", self.keys.value(id)), ("mark", mark.into()), ("note", note.into())]).await
    }

    fn ended(&self, number: u64, done: &Result<(), WriteError>) {
        let (outcome, counter) = match done {
            Ok(()) => (Outcome::Done, Some(&self.done)),
            Err(WriteError::Refused(_)) => (Outcome::Refused, Some(&self.refused)),
            Err(WriteError::NotDone(_)) => (Outcome::NotDone, None),
            Err(_) => (Outcome::Unknown, Some(&self.unknown)),
        };
        self.note(Moment::WriteEnded(number, outcome));
        if let Some(counter) = counter {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Every result that may be cached is what the database has, once it is quiet.
    pub(crate) async fn is_fresh(&self, table: &Table, rows: &Rows) -> Result<(), String> {
        for lo in (0..IDS).step_by(4) {
            for hi in [lo, lo + 3] {
                let start = Instant::now();
                let found = loop {
                    match table.get("id", self.keys.value(lo)..=self.keys.value(hi)).await {
                        Ok(found) => break found,
                        Err(error) => assert!(start.elapsed() < AT_MOST, "{error}"),
                    }
                };
                let in_range = |row: &&Row| (lo..=hi).contains(&self.keys.id(row));
                let expected: Rows = rows.iter().filter(in_range).cloned().collect();
                if found != expected {
                    return Err(format!("{lo} to {hi}: {found:?} in place of {expected:?}"));
                }
            }
        }
        Ok(())
    }

    /// What the checker says of everything that was seen; `last` is what the database has in the end.
    pub(crate) fn check(&self, last: &[Shown]) -> Result<(), String> {
        check(&self.history.lock().unwrap(), last)
    }
}

fn integer(value: &SqlValue) -> i64 {
    let SqlValue::Integer(number) = value else { panic!("{value:?} is no integer") };
    *number
}

/// What a change of a row touches.
fn sets(table: &Table, id: i64, marks: &[i64]) -> [lacuna_cache::sql::WriteSet; 2] {
    let mut ids = table.write_set("id").unwrap();
    ids.before(DomainValue::Integer(id)).unwrap();
    let mut touched = table.write_set("mark").unwrap();
    for mark in marks {
        touched.before(DomainValue::Integer(*mark)).unwrap();
    }
    [ids, touched]
}

/// The same as an update of the row, in SQL of the application.
fn swap(dialect: Dialect, id: i64, from: i64, to: i64) -> Statement {
    let [a, b, c] = match dialect {
        Dialect::Sqlite => ["?1", "?2", "?3"],
        Dialect::Postgres => ["$1", "$2", "$3"],
        Dialect::MariaDb => ["?", "?", "?"],
    };
    let sql = format!("UPDATE shared SET mark = {a} WHERE id = {b} AND mark = {c}");
    Statement::new(sql).with(to).with(id).with(from).expecting(1)
}
