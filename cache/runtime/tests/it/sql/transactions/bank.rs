//! A storm of transfers between shared accounts, on every database, under every policy, with connections that are cut.
//!
//! At any time: the sum of all accounts is what it was; an account has what its moves say; and a read shows each change of a
//! row that was acknowledged before it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use lacuna_cache::sql::{
    Cache, DomainType, DomainValue, Error, Options, Policy, Row, Rows, Schema, SqlValue, Statement, Table,
    WriteError,
};
use lacuna_cache_protocol::Flaw;
use lacuna_testkit::effort;
use lacuna_testkit::servers::{MariaDb, Postgres};
use lacuna_workload::Rng;

use crate::sql::storms::{Course, POLICIES, assert_right, at_a_server, work};
use crate::sql::world::Place;

const ACCOUNTS: i64 = 12;
const START: i64 = 1_000;
const CLIENTS: u64 = 6;
const OPERATIONS: u64 = 60;

/// What was wrong, or an error that a fault explains.
enum Trouble {
    Wrong(String),
    Fault,
}

impl From<Error> for Trouble {
    fn from(_: Error) -> Self {
        Self::Fault
    }
}

impl From<WriteError> for Trouble {
    fn from(_: WriteError) -> Self {
        Self::Fault
    }
}

type Step = Result<(), Trouble>;

struct Bank {
    cache: Cache,
    accounts: Table,
    moves: Table,
    next_move: AtomicI64,
    /// Acknowledged changes of each account.
    floors: Vec<AtomicI64>,
    commits: AtomicU64,
    reads: AtomicU64,
}

fn number(row: &Row, column: &str) -> i64 {
    row.integer(column).expect("an integer")
}

fn wrong(what: impl Into<String>) -> Trouble {
    Trouble::Wrong(what.into())
}

fn as_number(value: &SqlValue) -> Option<i64> {
    match value {
        SqlValue::Null => Some(0),
        SqlValue::Integer(value) => Some(*value),
        SqlValue::Decimal { digits, scale: 0 } => i64::try_from(*digits).ok(),
        _ => None,
    }
}

impl Bank {
    async fn open(options: Options) -> Self {
        let cache = options.open().await.unwrap();
        for sql in [
            "DROP TABLE IF EXISTS accounts",
            "DROP TABLE IF EXISTS moves",
            "CREATE TABLE accounts (id BIGINT NOT NULL PRIMARY KEY, cents BIGINT NOT NULL, version BIGINT NOT NULL)",
            "CREATE TABLE moves (id BIGINT NOT NULL PRIMARY KEY, account BIGINT NOT NULL, cents BIGINT NOT NULL)",
        ] {
            cache.run_sql(sql).await.unwrap();
        }
        let bank = Self::over(cache).await;
        for id in 0..ACCOUNTS {
            let row = [("id", id.into()), ("cents", START.into()), ("version", 0.into())];
            bank.accounts.insert(row).await.unwrap();
        }
        bank
    }

    async fn over(cache: Cache) -> Self {
        let schema = |table, domain| Schema::new(table, "id").with_domain(domain, DomainType::Integer);
        let accounts = cache.table(schema("accounts", "id")).await.unwrap();
        let moves = cache.table(schema("moves", "account")).await.unwrap();
        let floors = (0..ACCOUNTS).map(|_| AtomicI64::new(0)).collect();
        let (next_move, commits, reads) = (AtomicI64::new(1), AtomicU64::new(0), AtomicU64::new(0));
        Self { cache, accounts, moves, next_move, floors, commits, reads }
    }

    fn floors(&self) -> Vec<i64> {
        self.floors.iter().map(|floor| floor.load(Ordering::SeqCst)).collect()
    }

    fn raise(&self, account: i64) {
        self.floors[usize::try_from(account).unwrap()].fetch_add(1, Ordering::SeqCst);
    }

    fn check(rows: &Rows, floors: &[i64]) -> Step {
        for row in rows {
            let (id, version) = (number(row, "id"), number(row, "version"));
            let floor = floors[usize::try_from(id).unwrap()];
            if version < floor {
                return Err(wrong(format!(
                    "account {id} shows change {version} after {floor} were acknowledged"
                )));
            }
        }
        Ok(())
    }

    /// Cached reads of a range of accounts, or of all.
    async fn read(&self, rng: &mut Rng) -> Step {
        let floors = self.floors();
        let lo = i64::try_from(rng.below(ACCOUNTS.unsigned_abs())).unwrap();
        let (lo, hi) = if rng.below(2) == 0 { (0, ACCOUNTS - 1) } else { (lo, (lo + 3).min(ACCOUNTS - 1)) };
        let rows = self.accounts.get("id", lo..=hi).await?;
        self.reads.fetch_add(1, Ordering::Relaxed);
        Self::check(&rows, &floors)?;
        let sum: i64 = rows.iter().map(|row| number(row, "cents")).sum();
        if (lo, hi) == (0, ACCOUNTS - 1) && (rows.len() != 12 || sum != ACCOUNTS * START) {
            return Err(wrong(format!("{} accounts have {sum} together", rows.len())));
        }
        let answer = self.accounts.query("SELECT SUM(cents) FROM accounts WHERE id >= 0", &[]).await?;
        match as_number(&answer.rows()[0][0]) {
            Some(sum) if sum == ACCOUNTS * START => Ok(()),
            sum => Err(wrong(format!("all accounts have {sum:?} together, by a statement"))),
        }
    }

    /// A change of one account past any transaction, which write-back buffers.
    async fn touch(&self, rng: &mut Rng) -> Step {
        let id = i64::try_from(rng.below(ACCOUNTS.unsigned_abs())).unwrap();
        let mut touched = self.accounts.write_set("id")?;
        touched.before(DomainValue::Integer(id))?;
        let change = format!("UPDATE accounts SET version = version + 1 WHERE id = {id}");
        self.accounts.execute(&[touched], vec![Statement::new(change).never_refused()]).await?;
        self.raise(id);
        Ok(())
    }

    async fn transfer(&self, rng: &mut Rng) -> Step {
        let from = i64::try_from(rng.below(ACCOUNTS.unsigned_abs())).unwrap();
        let to = (from + 1 + i64::try_from(rng.below(ACCOUNTS.unsigned_abs() - 1)).unwrap()) % ACCOUNTS;
        let begin = self.cache.transaction();
        let begin = begin.on(&self.accounts, "id", from..=from).on(&self.accounts, "id", to..=to);
        let begin = begin.on(&self.moves, "account", from..=from).on(&self.moves, "account", to..=to);
        let floors = self.floors();
        let mut open = begin.begin().await?;
        for (account, cents) in [(from, -7), (to, 7)] {
            let rows = open.get(&self.accounts, "id", account..=account).await?;
            Self::check(&rows, &floors)?;
            let moves = open.get(&self.moves, "account", account..=account).await?;
            let (had, sum) =
                (number(&rows[0], "cents"), moves.iter().map(|row| number(row, "cents")).sum::<i64>());
            if had != START + sum {
                return Err(wrong(format!("account {account} has {had}, and its moves {sum}")));
            }
            let version = number(&rows[0], "version") + 1;
            let values = [("cents", (had + cents).into()), ("version", version.into())];
            open.update(&self.accounts, &rows[0], values).await?;
            let id = self.next_move.fetch_add(1, Ordering::Relaxed);
            let row = [("id", id.into()), ("account", account.into()), ("cents", cents.into())];
            open.insert(&self.moves, row).await?;
        }
        if rng.below(8) == 0 {
            open.rollback().await;
            return Ok(());
        }
        open.commit().await?;
        self.raise(from);
        self.raise(to);
        self.commits.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    async fn client(self: Arc<Self>, mut rng: Rng) -> Result<u64, String> {
        let mut faults = 0;
        for _ in 0..OPERATIONS {
            let step = match rng.below(10) {
                0..5 => self.read(&mut rng).await,
                5..7 => self.touch(&mut rng).await,
                _ => self.transfer(&mut rng).await,
            };
            match step {
                Ok(()) => {}
                Err(Trouble::Fault) => faults += 1,
                Err(Trouble::Wrong(what)) => return Err(what),
            }
        }
        Ok(faults)
    }

    /// What the database has, as a process sees it that comes later.
    async fn last(options: Options, floors: &[i64]) -> Result<(), String> {
        let bank = Self::over(options.with_policy(Policy::WriteAround).open().await.unwrap()).await;
        let rows = bank.accounts.get("id", 0..).await.unwrap();
        let mut sums: BTreeMap<i64, i64> = BTreeMap::new();
        for row in &bank.moves.get("account", 0..).await.unwrap() {
            *sums.entry(number(row, "account")).or_default() += number(row, "cents");
        }
        for row in &rows {
            let (id, cents) = (number(row, "id"), number(row, "cents"));
            let sum = sums.get(&id).copied().unwrap_or(0);
            if cents != START + sum {
                return Err(format!("in the end account {id} has {cents}, and its moves {sum}"));
            }
        }
        bank.cache.stop().await.unwrap();
        match Self::check(&rows, floors) {
            Err(Trouble::Wrong(what)) => Err(what),
            _ => Ok(()),
        }
    }
}

/// Clients at work until it is over; the number of steps that failed.
async fn storm(options: Options, again: Options, course: Arc<Course>) -> Result<u64, String> {
    let bank = Arc::new(Bank::open(options).await);
    let faults = work(&course, CLIENTS, |number| bank.clone().client(effort::rng(9_000 + number))).await?;
    let (commits, reads) = (bank.commits.load(Ordering::Relaxed), bank.reads.load(Ordering::Relaxed));
    println!("{commits} commits, {reads} reads, {faults} steps failed; {:?}", bank.accounts.counts());
    assert!(commits > 0 && reads > 0);
    bank.cache.stop().await.unwrap();
    Bank::last(again, &bank.floors()).await.map(|()| faults)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transfers_on_sqlite_lose_nothing() {
    for policy in POLICIES {
        let place = Place::new();
        let seen = storm(place.options(policy), place.options(policy), Course::calm().into()).await;
        assert_eq!(assert_right(seen, policy), 0, "nothing breaks: {policy:?}");
    }
}

/// With leases that hold nothing, transactions overlap, and results that they change stay cached.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transfers_under_leases_that_hold_nothing_are_found() {
    for _ in 0..20 {
        let place = Place::new();
        let options = place.options(Policy::WriteThrough);
        let flawed = options.clone().with_flaw(Flaw::HoldNothing);
        if let Err(what) = storm(flawed, options, Course::calm().into()).await {
            println!("found: {what}");
            return;
        }
    }
    panic!("seed {}: not found", effort::seed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transfers_on_postgres_lose_nothing_though_connections_and_tenures_break() {
    let Some(server) = Postgres::start() else { return };
    at_a_server(&server.url(), "bank", 2, storm).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transfers_on_mariadb_lose_nothing_though_connections_and_tenures_break() {
    let Some(server) = MariaDb::start() else { return };
    at_a_server(&server.url(), "bank", 2, storm).await;
}
