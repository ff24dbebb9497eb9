//! Writes past the proxy, from the log of the database: what they touch is dropped, and a hit waits until the log was read so far.
//!
//! | file | idea |
//! | --- | --- |
//! | `setup.rs` | what the database needs, so that the log says enough |
//! | `account.rs`, `login.rs`, `stream.rs` | a connection that has a slot, and what comes over it |
//! | `lines.rs`, `changes.rs` | what a transaction has changed of the registered columns |
//! | `snapshots.rs` | whether reads show a transaction yet |
//! | `mod.rs` | rounds, for which hits wait, and holds of transactions that reads do not show yet |
//!
//! A stranger's `UPDATE … WHERE customer = 7` commits at place 16/A0 of the log. A hit that begins after that asks for a *round*: it
//! asks how far the log is written, at least 16/A0, and ends when the stream has come so far. By then the entry is dropped.
//!
//! A commit is in the log before reads show it: before it has left the list of running transactions, and with synchronous standbys long
//! before. So what a transaction touches is held until a snapshot shows that it has ended; a reply that was read in between is not
//! kept.
//!
//! Guarantee: a hit that begins after a commit was confirmed to anybody shows it or a later state. Where the log cannot be read,
//! everything is held: nothing is shown and nothing kept.
//!
//! Cost: a hit waits for one statement of the account and for what the stream has not read yet; hits that wait together share a round.

mod account;
mod changes;
mod lines;
mod login;
mod setup;
mod snapshots;
mod stream;

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lacuna_base::{Error, Result};
use lacuna_cache::sql::{SqlValue, Statement, TableClaims};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::Cache;
use super::results::Hold;
#[cfg(feature = "flaws")]
use super::settings::Flaw;
use super::span::Touched;
use account::Account;
use changes::Changes;
use snapshots::Snapshot;
use stream::{Item, Lsn, Stream};

pub(super) use setup::BODY;
pub use setup::{log_sql, unlog_sql};

/// How long a hit waits before its statement is relayed.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long a round waits until the server has written the log so far without being asked, before it is made to.
const WRITTEN: Duration = Duration::from_millis(3);
/// How long after that it is made to again: once a record ends a page, the place after it comes with the next record.
const WRITTEN_AGAIN: Duration = Duration::from_millis(30);
/// A round that takes longer is the end of the stream.
const LONGEST_ROUND: Duration = Duration::from_secs(10);
/// Pause before the first look at transactions that are held, most of which have ended by then.
const SETTLED: Duration = Duration::from_micros(200);
/// Pause between two looks.
const SETTLING: Duration = Duration::from_millis(2);
/// Pause before another stream is tried.
const RETRY: Duration = Duration::from_millis(500);

/// Makes the server write all of its log so far, and writes a record.
const PUSH: &str = "SELECT pg_catalog.pg_logical_emit_message(true, 'lacuna_log', '')::text";
const PLACE: &str = "SELECT pg_catalog.pg_current_wal_insert_lsn()::text, pg_catalog.pg_current_snapshot()::text, \
     pg_catalog.pg_backend_pid()::text";
/// The server process that is asked, if its server has the slot.
const SLOT: &str = "SELECT pg_catalog.pg_backend_pid()::text, s.slot_name::text FROM pg_catalog.pg_replication_slots AS s \
     WHERE s.slot_name::text = $1::text";
/// A push writes to the disk of this server, and does not wait for others.
const LOCAL: &str = "SELECT pg_catalog.set_config('synchronous_commit', 'local', false)";
const LEVEL: &str = "SELECT current_setting('wal_level')";

/// What hits know of the log.
#[derive(Debug)]
pub(crate) struct Log {
    /// Rounds that were asked for.
    wanted: AtomicU64,
    wake: Notify,
    state: watch::Sender<State>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct State {
    /// The last round that has ended.
    done: u64,
    /// Why the log is not read, if that is so.
    problem: Option<String>,
}

impl Log {
    pub(super) fn new() -> Self {
        let problem = Some("the log of the database is not read yet".to_owned());
        Self {
            wanted: AtomicU64::new(0),
            wake: Notify::new(),
            state: watch::Sender::new(State { done: 0, problem }),
        }
    }

    /// Returns once everything that was committed before the call has been dropped; `false` if that is not known.
    pub(crate) async fn is_read_so_far(&self) -> bool {
        let mut state = self.state.subscribe();
        // From here on, so that the round begins after the call.
        let wanted = self.wanted.fetch_add(1, Ordering::SeqCst) + 1;
        self.wake.notify_one();
        let is_over = |state: &State| state.done >= wanted || state.problem.is_some();
        let ended = timeout(PATIENCE, state.wait_for(is_over)).await;
        ended.is_ok_and(|state| state.is_ok_and(|state| state.problem.is_none()))
    }

    /// Why the log is not read, if that is so.
    pub(super) fn problem(&self) -> Option<String> {
        self.state.borrow().problem.clone()
    }

    fn wanted(&self) -> u64 {
        self.wanted.load(Ordering::SeqCst)
    }

    /// Returns when a round is asked for.
    async fn is_asked(&self) {
        while self.wanted() <= self.state.borrow().done {
            self.wake.notified().await;
        }
    }

    fn ended(&self, round: u64) {
        self.state.send_modify(|state| state.done = round);
    }
}

/// Checks that the log can be read.
///
/// # Errors
/// `InvalidInput` with what the server or the account lacks.
pub(super) async fn check(url: &str, claims: &TableClaims) -> Result<()> {
    Account::read(url)?;
    let [level] = row(claims, Statement::new(LEVEL)).await?;
    if level == "logical" {
        return Ok(());
    }
    Err(Error::invalid_input(format!(
        "the log of the database says too little: set wal_level = logical, which is {level}, and start it anew"
    )))
}

/// Reads the log until it is dropped, over connections of its own.
pub(super) async fn follow(url: String, cache: Arc<Cache>, log: Arc<Log>) {
    // Nothing is kept that was read before a stream has begun.
    let mut everything = Some(hold_everything(&cache));
    loop {
        let mut held = Held::default();
        let why = match Follower::open(&url, &cache, &log).await {
            Ok(mut follower) => {
                let why = follower.run(&mut everything).await;
                held = follower.held;
                why
            }
            Err(why) => why,
        };
        everything.get_or_insert_with(|| hold_everything(&cache));
        held.transactions.into_iter().for_each(|transaction| cache.release(transaction.hold));
        let problem = Some(why.to_string());
        if log.problem() != problem {
            tracing::warn!(%why, "the log of the database is not read");
        }
        log.state.send_modify(|state| state.problem = problem);
        sleep(RETRY).await;
    }
}

fn hold_everything(cache: &Cache) -> Hold {
    cache.results.hold(Touched { is_all: true, ..Touched::default() }).0
}

/// Transactions that have committed, and that reads may not show yet.
#[derive(Debug, Default)]
struct Held {
    transactions: Vec<Transaction>,
    /// When it is looked whether they have ended.
    due: Option<Instant>,
}

#[derive(Debug)]
struct Transaction {
    number: u32,
    hold: Hold,
    defines: bool,
}

/// One stream.
#[derive(Debug)]
struct Follower<'c> {
    cache: &'c Cache,
    log: &'c Log,
    /// Asks how far the log is written.
    control: TableClaims,
    /// The server process that answers: another one may be of another server, which has another log.
    process: String,
    stream: Stream,
    changes: Changes,
    held: Held,
}

impl<'c> Follower<'c> {
    async fn open(url: &str, cache: &'c Cache, log: &'c Log) -> Result<Self> {
        let control = TableClaims::open(url).await?;
        control.rows(&Statement::new(LOCAL)).await?;
        let stream = Stream::open(&Account::read(url)?).await?;
        let [process, _] = row(&control, Statement::new(SLOT).with(stream.slot().to_owned())).await?;
        Ok(Self { cache, log, control, process, stream, changes: Changes::default(), held: Held::default() })
    }

    /// Reads until it can not; `everything` is released once all that this stream does not have is shown by reads.
    async fn run(&mut self, everything: &mut Option<Hold>) -> Error {
        let Err(why) = self.read(everything).await;
        why
    }

    async fn read(&mut self, everything: &mut Option<Hold>) -> Result<Infallible> {
        self.stream.start().await?;
        self.begin().await?;
        if let Some(hold) = everything.take() {
            self.cache.release(hold);
        }
        self.log.state.send_modify(|state| state.problem = None);
        loop {
            tokio::select! {
                item = self.stream.next() => self.take(item?).await?,
                () = self.log.is_asked() => self.round().await?,
                () = until(self.held.due) => {
                    let (_, snapshot) = self.place().await?;
                    self.settle(&snapshot);
                }
            }
        }
    }

    /// Waits until reads show everything that was committed before the slot was made: it may have been in the log already and
    /// among the running transactions still.
    async fn begin(&mut self) -> Result<()> {
        let (_, earlier) = self.place().await?;
        loop {
            let (_, snapshot) = self.place().await?;
            if snapshot.is_past(&earlier) {
                return Ok(());
            }
            if let Ok(item) = timeout(SETTLING, self.stream.next()).await {
                self.take(item?).await?;
            }
        }
    }

    /// Reads until everything has come that is in the log when it begins.
    async fn round(&mut self) -> Result<()> {
        let wanted = self.log.wanted();
        let (place, snapshot) = self.place().await?;
        self.settle(&snapshot);
        let (begun, mut patience) = (Instant::now(), WRITTEN);
        while self.stream.position() < place {
            if let Ok(item) = timeout(patience, self.stream.next()).await {
                self.take(item?).await?;
            } else if begun.elapsed() > LONGEST_ROUND {
                return Err(Error::unavailable(
                    "the stream of the log does not come as far as the log is written",
                ));
            } else {
                // A commit that does not wait for the disk is not sent before it is there.
                self.control.rows(&Statement::new(PUSH)).await?;
                patience = WRITTEN_AGAIN;
            }
        }
        self.log.ended(wanted);
        Ok(())
    }

    async fn take(&mut self, item: Item) -> Result<()> {
        let line = match &item {
            Item::Position => return self.stream.confirm().await,
            Item::LongLine => {
                self.changes.lose_sight();
                return Ok(());
            }
            Item::Line(line) => lines::read(line),
        };
        let reading = self.cache.reading();
        if let Some((number, touched)) = self.changes.take(&line, &reading.catalogue) {
            self.hold(number, touched);
        }
        Ok(())
    }

    /// Holds what a transaction has touched until reads show it.
    fn hold(&mut self, number: u32, touched: Touched) {
        // Columns may have other names and types by now.
        let is_doubtful =
            self.held.transactions.iter().any(|held| held.defines) || !self.cache.results.knows_definitions();
        let touched = if is_doubtful && !touched.may_define {
            Touched { is_all: true, ..Touched::default() }
        } else {
            touched
        };
        if touched.is_nothing() {
            return;
        }
        let defines = touched.may_define;
        let (hold, dropped) = self.cache.results.hold(touched);
        self.cache.counters.logged(dropped);
        #[cfg(feature = "flaws")]
        if self.cache.flaw == Some(Flaw::NoSettling) {
            self.cache.release(hold);
            return;
        }
        self.held.transactions.push(Transaction { number, hold, defines });
        self.held.due.get_or_insert_with(|| Instant::now() + SETTLED);
    }

    /// Releases transactions that have ended.
    fn settle(&mut self, snapshot: &Snapshot) {
        let ended = self.held.transactions.extract_if(.., |held| snapshot.has_ended(held.number));
        ended.for_each(|held| self.cache.release(held.hold));
        self.held.due = (!self.held.transactions.is_empty()).then(|| Instant::now() + SETTLING);
    }

    /// How far the log is written, on the disk or not, and which transactions run.
    async fn place(&self) -> Result<(Lsn, Snapshot)> {
        let [place, snapshot, process] = row(&self.control, Statement::new(PLACE)).await?;
        if process != self.process {
            return Err(Error::unavailable("the connection that asks how far the log is written was lost"));
        }
        let read = || Some((place.parse().ok()?, snapshot.parse().ok()?));
        read().ok_or_else(|| {
            Error::unavailable("the database says in an unknown form how far its log is written")
        })
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// The texts of a question with one row.
async fn row<const N: usize>(claims: &TableClaims, question: Statement) -> Result<[String; N]> {
    let mut rows = claims.rows(&question).await?;
    let row = rows.pop().filter(|_| rows.is_empty()).unwrap_or_default();
    let texts =
        row.into_iter().filter_map(|value| if let SqlValue::Text(text) = value { Some(text) } else { None });
    texts
        .collect::<Vec<_>>()
        .try_into()
        .map_err(|_| Error::unavailable("the database answers a question about its log in an unknown form"))
}
