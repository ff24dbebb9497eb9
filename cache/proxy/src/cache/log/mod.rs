//! Writes past the proxy, from the log of the database: what they touch is dropped, and a hit waits until the log was read so far.
//!
//! | file | idea |
//! | --- | --- |
//! | `setup.rs` | what the database needs, so that the log says enough |
//! | `account.rs`, `login.rs`, `stream.rs` | a connection that has a slot, and what comes over it |
//! | `lines.rs`, `changes.rs` | what a transaction has changed of the registered columns |
//! | `control.rs`, `snapshots.rs` | how far the log is written, and which transactions reads show by now |
//! | `held.rs` | holds of transactions that reads do not show yet |
//! | `follower.rs` | reads a stream, and another one after it |
//! | `mod.rs` | rounds, for which hits wait |
//!
//! A stranger's `UPDATE … WHERE customer = 7` commits at place 16/A0 of the log. A hit that begins after that asks for a *round*: it
//! asks how far the log is written, at least 16/A0, and ends when the stream has come so far. By then the entry is dropped.
//!
//! A commit is in the log before reads show it: before it has left the list of running transactions, and with synchronous standbys long
//! before. So what a transaction touches is held until a snapshot shows that it has ended; a reply that was read in between is not
//! kept. What was read before a column was registered did not look at it: see [`Log::hold_until_settled`].
//!
//! Guarantee: a hit that begins after a commit was confirmed to anybody shows it or a later state. Where the log cannot be read,
//! everything is held: nothing is shown and nothing kept.
//!
//! Cost: a hit waits for one statement of the account and for what the stream has not read yet; hits that wait together share a round.

mod account;
mod changes;
mod control;
mod follower;
mod held;
mod lines;
mod login;
mod setup;
mod snapshots;
mod stream;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lacuna_base::{Error, Result};
use lacuna_cache::sql::TableClaims;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use super::results::Hold;
use account::Account;

pub(super) use follower::follow;
pub(super) use setup::BODY;
pub use setup::{log_sql, unlog_sql};

/// How long a hit waits before its statement is relayed. The next ones do not wait then until the log was read as far again: a large
/// transaction may take minutes to come.
const PATIENCE: Duration = Duration::from_millis(500);

/// What hits know of the log.
#[derive(Debug)]
pub(crate) struct Log {
    /// Rounds that were asked for.
    wanted: AtomicU64,
    wake: Notify,
    /// Whether the present round takes longer than hits wait.
    is_late: AtomicBool,
    /// Holds of columns that were registered, which wait for transactions that are not known yet.
    unsettled: Mutex<Vec<Hold>>,
    /// The account's URL of the server whose log is to be read, and how often that was another one.
    server: watch::Sender<(u64, String)>,
    state: watch::Sender<Progress>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Progress {
    /// The last round that has ended.
    done: u64,
    /// Why the log is not read, if that is so.
    problem: Option<String>,
    /// The number of the server that is read, or for which everything is held.
    server: u64,
}

impl Log {
    /// The log of the server at this URL.
    pub(super) fn new(url: String) -> Self {
        let problem = Some("the log of the database is not read yet".to_owned());
        Self {
            wanted: AtomicU64::new(0),
            wake: Notify::new(),
            is_late: AtomicBool::new(false),
            unsettled: Mutex::default(),
            server: watch::Sender::new((0, url)),
            state: watch::Sender::new(Progress { problem, ..Progress::default() }),
        }
    }

    /// Returns once everything that was committed before the call has been dropped; `false` if that is not known.
    pub(crate) async fn is_read_so_far(&self) -> bool {
        let mut state = self.state.subscribe();
        // From here on, so that the round begins after the call.
        let wanted = self.wanted.fetch_add(1, Ordering::SeqCst) + 1;
        self.wake.notify_one();
        if self.is_late.load(Ordering::SeqCst) {
            return false;
        }
        let is_over = |state: &Progress| state.done >= wanted || state.problem.is_some();
        let ended = timeout(PATIENCE, state.wait_for(is_over)).await;
        if ended.is_err() {
            self.is_late.store(true, Ordering::SeqCst);
        }
        ended.is_ok_and(|state| state.is_ok_and(|state| state.problem.is_none()))
    }

    /// Releases `hold` once all transactions have ended that are in progress after this call. Call it after a column was
    /// registered: what has come of the log before was not understood as a change of it, and is either shown by every read
    /// from then on or of a transaction in progress.
    pub(super) fn hold_until_settled(&self, hold: Hold) {
        self.unsettled().push(hold);
        self.wake.notify_one();
    }

    /// Reads the log of the server at this URL from now on. Returns when everything is held until that has begun.
    pub(super) async fn go_on(&self, url: &str) {
        self.waits("the log of the next server is not read yet");
        self.server.send_modify(|(number, at)| {
            *number += 1;
            url.clone_into(at);
        });
        let (next, _) = self.server();
        drop(self.state.subscribe().wait_for(|state| state.server >= next).await);
    }

    fn server(&self) -> (u64, String) {
        self.server.borrow().clone()
    }

    /// Returns when the server of this number was left.
    async fn has_left(&self, server: u64) {
        drop(self.server.subscribe().wait_for(|(number, _)| *number != server).await);
    }

    /// Everything is held until the log of this server is read.
    fn holds_for(&self, server: u64) {
        self.state.send_modify(|state| state.server = server);
    }

    fn unsettled(&self) -> MutexGuard<'_, Vec<Hold>> {
        self.unsettled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why the log is not read, if that is so.
    pub(super) fn problem(&self) -> Option<String> {
        self.state.borrow().problem.clone()
    }

    fn wanted(&self) -> u64 {
        self.wanted.load(Ordering::SeqCst)
    }

    /// Returns when a round is asked for, or a column was registered.
    async fn is_asked(&self) {
        while self.wanted() <= self.state.borrow().done && self.unsettled().is_empty() {
            self.wake.notified().await;
        }
    }

    fn ended(&self, round: u64) {
        self.is_late.store(false, Ordering::SeqCst);
        self.state.send_modify(|state| state.done = round);
    }

    /// Why it is not read yet.
    fn waits(&self, why: &str) {
        self.set_problem(Some(why.to_owned()));
    }

    fn set_problem(&self, problem: Option<String>) {
        self.state.send_modify(|state| state.problem = problem);
    }
}

/// Checks that the log can be read.
///
/// # Errors
/// `InvalidInput` with what the server or the account lacks.
pub(super) async fn check(url: &str, claims: &TableClaims) -> Result<()> {
    Account::read(url)?;
    let level = control::level(claims).await?;
    if level == "logical" {
        return Ok(());
    }
    Err(Error::invalid_input(format!(
        "the log of the database says too little: set wal_level = logical, which is {level}, and start it anew"
    )))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[tokio::test]
    async fn the_next_server_is_gone_on_to_once_everything_is_held() {
        let log = Log::new("first".to_owned());
        log.set_problem(None);
        let short = Duration::from_millis(20);
        assert!(timeout(short, log.go_on("second")).await.is_err(), "the follower still reads the first");
        assert!(log.problem().is_some() && !log.is_read_so_far().await);
        assert!(
            timeout(short, log.has_left(0)).await.is_ok() && timeout(short, log.has_left(1)).await.is_err()
        );
        assert_eq!(log.server(), (1, "second".to_owned()));
        let holds = async { log.holds_for(2) };
        assert!(timeout(short, async { tokio::join!(log.go_on("third"), holds) }).await.is_ok());
    }

    #[tokio::test]
    async fn one_hit_waits_for_a_log_that_is_late_and_the_next_ones_do_not() {
        let log = Log::new(String::new());
        log.set_problem(None);
        let begun = Instant::now();
        assert!(!log.is_read_so_far().await && begun.elapsed() >= PATIENCE);
        for _ in 0..100 {
            assert!(!log.is_read_so_far().await);
        }
        assert!(begun.elapsed() < 10 * PATIENCE, "a hundred hits do not wait");
        log.ended(log.wanted());
        let ends = async {
            while log.wanted() == 101 {
                tokio::task::yield_now().await;
            }
            log.ended(log.wanted());
        };
        assert!(tokio::join!(log.is_read_so_far(), ends).0, "it is read again");
    }
}
