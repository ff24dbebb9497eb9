//! A table that remembers every state of every row, clients that write down what they saw, and the checker of the
//! simulation over both.

#[path = "changes.rs"]
mod changes;
#[path = "marks.rs"]
mod marks;

use std::collections::BTreeMap;
use std::ops::{Range, RangeBounds};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lacuna_cache::sql::{Cache, DomainType, Options, Rows, Schema, Table, WriteError, WriteSet};
use lacuna_cache_protocol::{DomainValue, Form, Policy, Query};
use lacuna_workload::Rng;

use crate::sim::history::{Checker, How, Moment};
use crate::sim::store::{SlotState, Store};
use crate::sim::table::{Change, Row, WriteId, closed};
pub(crate) use changes::Dialect;
use changes::statements;
use marks::Marks;

/// What a busy machine may take for what takes a moment.
pub(crate) const AT_MOST: Duration = Duration::from_secs(120);

/// Keys of the table, few so that clients meet.
pub(crate) const KEYS: u64 = 40;

pub(crate) struct World {
    pub(crate) cache: Cache,
    pub(crate) table: Table,
    dialect: Dialect,
    history: Mutex<Vec<Moment>>,
    next_read: AtomicU64,
    next_write: AtomicU32,
    pub(crate) unknown: AtomicU64,
    marks: Marks,
}

impl World {
    pub(crate) async fn open(options: Options) -> Arc<Self> {
        Self::open_in(Dialect::Sqlite, options).await
    }

    pub(crate) async fn open_in(dialect: Dialect, options: Options) -> Arc<Self> {
        let cache = options.open().await.unwrap();
        make_tables(&cache, dialect).await;
        let table = cache.table(schema()).await.unwrap();
        Self::over(cache, table, dialect)
    }

    /// With a table whose owners may be elsewhere.
    pub(crate) fn over(cache: Cache, table: Table, dialect: Dialect) -> Arc<Self> {
        Arc::new(Self {
            cache,
            table,
            dialect,
            history: Mutex::default(),
            next_read: AtomicU64::new(1),
            next_write: AtomicU32::new(1),
            unknown: AtomicU64::new(0),
            marks: Marks::new(KEYS),
        })
    }

    fn note(&self, moment: Moment) {
        self.history.lock().unwrap().push(moment);
    }

    /// One client: so many reads and writes, `read_percent` of them reads.
    pub(crate) async fn client(self: Arc<Self>, mut rng: Rng, operations: u64, read_percent: u64) {
        self.client_among(&mut rng, operations, read_percent, 0..KEYS).await;
    }

    /// One client that stays among some of the keys.
    pub(crate) async fn client_among(
        &self,
        rng: &mut Rng,
        operations: u64,
        read_percent: u64,
        keys: Range<u64>,
    ) {
        for _ in 0..operations {
            if rng.below(100) < read_percent {
                self.read(rng, &keys).await;
            } else {
                self.write(rng, &keys).await;
            }
        }
    }

    async fn read(&self, rng: &mut Rng, keys: &Range<u64>) {
        // Few different queries, so that most are cached.
        let lo = keys.start + 4 * rng.below((keys.end - keys.start) / 4);
        let hi = (lo + [0, 3, 7][rng.index(3)]).min(keys.end - 1);
        let (form, limit) = match rng.below(8) {
            0 => (Form::First(3), 3),
            1 => (Form::Last(3), 3),
            _ => (Form::All, 0),
        };
        let query = Query { form, ..Query::all(0, closed(lo, hi)) };
        let range = lo.cast_signed()..=hi.cast_signed();
        let read = self.next_read.fetch_add(1, Ordering::Relaxed);
        self.marks.asks(&query, lo..=hi);
        self.note(Moment::ReadBegan(read));
        let rows = match form {
            Form::All => self.table.get("place", range).await,
            Form::First(_) => self.table.first("place", range, limit).await,
            Form::Last(_) => self.table.last("place", range, limit).await,
        };
        if let Ok(rows) = rows {
            self.note(Moment::ReadEnded(read, query, decoded(&rows), How::Hit));
        }
    }

    async fn write(&self, rng: &mut Rng, keys: &Range<u64>) {
        let id = self.next_write.fetch_add(1, Ordering::Relaxed);
        let len = keys.end - keys.start;
        let place = keys.start + rng.below(len);
        let change = match rng.below(10) {
            0..=4 => Change::Put { key: place, other: rng.below(5) },
            5..=6 => Change::Delete { key: place },
            7 => {
                let to = keys.start + (place - keys.start + 1 + rng.below(9)) % len;
                Change::Move { from: place, to }
            }
            _ => Change::Touch { lo: place, hi: (place + rng.below(3)).min(keys.end - 1) },
        };
        self.note(Moment::WriteBegan(id));
        let done = self.table.execute(&[self.touched(change)], statements(self.dialect, change, id)).await;
        match done {
            Ok(()) => self.note(Moment::WriteDone(id)),
            Err(WriteError::Refused(_) | WriteError::NotDone(_)) => self.note(Moment::WriteNot(id)),
            Err(_) => drop(self.unknown.fetch_add(1, Ordering::Relaxed)),
        }
        self.marks.wrote(&change.keys());
    }

    /// Reads that came behind a write of what they ask for.
    pub(crate) fn behind_writes(&self) -> u64 {
        self.marks.behind()
    }

    /// A run without misses, or without writes, proves nothing: half of the reads were hits, a tenth misses, and a twentieth
    /// came behind a write of what they ask for.
    pub(crate) fn means_something(&self, reads: u64, hits: u64) {
        let (all, behind) = (self.table.counts().reads, self.behind_writes());
        println!("{hits} hits of {reads} reads; {behind} of {all} behind a write");
        assert!(hits * 2 >= reads, "half of the reads are hits: {hits} of {reads}");
        assert!((reads - hits) * 10 >= reads, "a tenth of the reads are misses: {hits} hits of {reads}");
        assert!(behind * 20 >= all, "a twentieth of the reads comes behind a write: {behind} of {all}");
    }

    fn touched(&self, change: Change) -> WriteSet {
        let mut touched = self.table.write_set("place").unwrap();
        for key in change.keys() {
            touched.before(DomainValue::Integer(key.cast_signed())).unwrap();
        }
        touched
    }

    /// What the checker says of everything that was seen, once the database has all writes. `again` opens it once more.
    pub(crate) async fn check(&self, again: Options) {
        let mut store = Store::new(None, false);
        for state in states(again).await {
            store.slots.entry(state.0).or_default().push(state.1);
        }
        // Servers number states of different rows in another order than they commit them.
        let is_ordered = self.dialect == Dialect::Sqlite;
        let history = self.history.lock().unwrap();
        let checked = Checker::new(&store, KEYS, is_ordered).check(&history);
        assert!(checked.is_ok(), "seed {}: {}", lacuna_testkit::effort::seed(), checked.unwrap_err());
    }

    /// What a client finds that asks until it is answered: after faults, owners may be on their way.
    async fn rows(&self, range: impl RangeBounds<i64> + Clone + Send) -> Rows {
        let start = Instant::now();
        loop {
            match self.table.get("place", range.clone()).await {
                Ok(rows) => return rows,
                Err(error) => assert!(start.elapsed() < AT_MOST, "{error}"),
            }
        }
    }

    /// Every result that may be cached is what a fresh query returns.
    pub(crate) async fn cached_is_fresh(&self) {
        let mut fresh = BTreeMap::new();
        for row in self.rows(..).await {
            fresh.insert(row.integer("place").unwrap(), row);
        }
        for lo in (0..KEYS.cast_signed()).step_by(4) {
            for hi in [lo, lo + 3, lo + 7] {
                let rows = self.rows(lo..=hi).await;
                let expected: Rows = fresh.range(lo..=hi).map(|(_, row)| row.clone()).collect();
                assert_eq!(rows, expected, "{lo} to {hi}");
            }
        }
    }
}

/// The table that clients work on.
pub(crate) fn schema() -> Schema {
    Schema::new("slots", "place").with_domain("place", DomainType::Integer)
}

/// The table, and beside it every state of every row.
pub(crate) async fn make_tables(cache: &Cache, dialect: Dialect) {
    let number = match dialect {
        Dialect::Sqlite => "INTEGER PRIMARY KEY",
        Dialect::Postgres => "BIGSERIAL PRIMARY KEY",
        Dialect::MariaDb => "BIGINT AUTO_INCREMENT PRIMARY KEY",
    };
    let sql = format!(
        "CREATE TABLE IF NOT EXISTS slots (place BIGINT PRIMARY KEY, version BIGINT, other BIGINT); \
         CREATE TABLE IF NOT EXISTS states (sequence {number}, place BIGINT, write_id BIGINT, \
         is_there BIGINT, version BIGINT, other BIGINT)"
    );
    cache.run_sql(&sql).await.unwrap();
}

/// The states that the file says, read by a process of its own so to speak.
async fn states(again: Options) -> Vec<(u64, SlotState)> {
    let cache = again.with_policy(Policy::WriteAround).open().await.unwrap();
    let schema = Schema::new("states", "sequence").with_domain("sequence", DomainType::Integer);
    let states = cache.table(schema).await.unwrap().get::<i64>("sequence", ..).await.unwrap();
    cache.stop().await.unwrap();
    let state = |row: &lacuna_cache::sql::Row| {
        let number = |column: &str| row.integer(column).map_or(0, |number| u64::try_from(number).unwrap());
        let write = WriteId::try_from(number("write_id")).unwrap();
        let version = WriteId::try_from(number("version")).unwrap();
        let kept = Row { key: number("place"), version, other: number("other") };
        (
            kept.key,
            SlotState { sequence: number("sequence"), write, row: (number("is_there") == 1).then_some(kept) },
        )
    };
    states.iter().map(state).collect()
}

fn decoded(rows: &Rows) -> Vec<Row> {
    let number =
        |row: &lacuna_cache::sql::Row, column: &str| u64::try_from(row.integer(column).unwrap()).unwrap();
    let row = |row| Row {
        key: number(row, "place"),
        version: WriteId::try_from(number(row, "version")).unwrap(),
        other: number(row, "other"),
    };
    rows.iter().map(row).collect()
}

/// Options of a cache that goes on trying for as long as a busy machine may take.
pub(crate) fn patient(url: impl Into<String>) -> Options {
    Options::new(url).with_patience(AT_MOST)
}

/// A database in a folder that goes with it.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// Opens it, once owners that were left to themselves are done, and processes that this one is starting no longer have
    /// its files open.
    pub(crate) async fn open(&self, policy: Policy) -> Cache {
        let start = Instant::now();
        loop {
            match self.options(policy).open().await {
                Ok(cache) => return cache,
                Err(error) => assert_eq!(error.kind(), lacuna_cache_protocol::ErrorKind::Conflict, "{error}"),
            }
            assert!(start.elapsed() < AT_MOST, "the database stays locked");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub(crate) fn options(&self, policy: Policy) -> Options {
        patient(format!("sqlite:{}", self.folder.path().join("app.db").display())).with_policy(policy)
    }
}
