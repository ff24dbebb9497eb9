//! Which server the account is to be at, where `--upstream` and `--account` name several hosts: one server and its standbys.
//!
//! One of them takes writes. A standby that is promoted in its place begins a larger *timeline*, and a server that was left may live on
//! without knowing it. So the account is at the server that takes writes and has the largest timeline of all that answer, stays as
//! long as that one takes writes, and then goes on to a server of the same origin with a larger timeline, and to no other.
//!
//! Cost: one question to each server at the start, and after a look that has failed.

use std::cmp::Reverse;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lacuna_base::{Error, Result};
use lacuna_cache::sql::{SqlValue, Statement, TableClaims};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::upstream::{Connector, each_alone};

/// Longest wait for what a server says of itself over the account's connection, and over a new one: together shorter than a lease,
/// so that it can be renewed afterwards.
pub(super) const OF_OWN: Duration = Duration::from_secs(1);
const OF_NEW: Duration = Duration::from_millis(1_500);

/// Origin, timeline if it takes writes, start, and whether it does not take writes. A standby's origin is that of its first server.
pub(super) const QUESTION: &str = "SELECT (SELECT system_identifier FROM pg_catalog.pg_control_system())::text, \
    CASE WHEN pg_catalog.pg_is_in_recovery() THEN '0' \
    ELSE pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8) END, \
    pg_catalog.to_char(pg_catalog.timezone('UTC', pg_catalog.pg_postmaster_start_time()), 'YYYY-MM-DD HH24:MI:SS.US'), \
    pg_catalog.current_setting('transaction_read_only')";

/// The hosts, and at which of them the account is.
#[derive(Debug)]
pub(super) struct Servers {
    pub(super) names: Vec<String>,
    /// The account's URL of each host.
    pub(super) urls: Vec<String>,
    pub(super) connector: Arc<Connector>,
    at: Mutex<At>,
}

/// Where the account is, or is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct At {
    pub(super) host: usize,
    server: Server,
    /// Whether it has the tables there.
    is_there: bool,
}

/// What a server says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Server {
    /// The cluster that it is a copy of.
    origin: String,
    timeline: u32,
    started: String,
    takes_writes: bool,
}

impl Server {
    async fn at(url: String) -> Result<Self> {
        let asked = timeout(OF_NEW, TableClaims::ask(&url, &Statement::new(QUESTION))).await;
        Self::read(asked.map_err(|_| Error::unavailable("it does not answer in time"))??)
    }

    /// # Errors
    /// `Unavailable` if it answers something else.
    pub(super) fn read(rows: Vec<Vec<SqlValue>>) -> Result<Self> {
        let unknown = || Error::unavailable("it says in an unknown form which server it is");
        let row: [SqlValue; 4] =
            rows.into_iter().next().and_then(|row| row.try_into().ok()).ok_or_else(unknown)?;
        let [
            SqlValue::Text(origin),
            SqlValue::Text(timeline),
            SqlValue::Text(started),
            SqlValue::Text(is_read_only),
        ] = row
        else {
            return Err(unknown());
        };
        let timeline = u32::from_str_radix(&timeline, 16).map_err(|_| unknown())?;
        Ok(Self { origin, timeline, started, takes_writes: is_read_only == "off" })
    }
}

impl Servers {
    /// Finds the server to begin at; `None` if there is one host.
    ///
    /// # Errors
    /// `InvalidInput` if both URLs do not name as many hosts, `Unavailable` if it is not certain which of them takes writes.
    pub(super) async fn begin(account: &str, connector: &Arc<Connector>) -> Result<Option<Self>> {
        let (names, urls): (Vec<String>, Vec<String>) = each_alone(account)?.into_iter().unzip();
        let (of_account, of_upstream) = (urls.len(), connector.host_count());
        if of_account != of_upstream {
            return Err(Error::invalid_input(format!(
                "--upstream names {of_upstream} hosts, and --account {of_account}: name the same servers in both, in the same order"
            )));
        }
        if of_account == 1 {
            return Ok(None);
        }
        let (host, server) = chosen(&names, &asked(&urls).await, None)?;
        let at = Mutex::new(At { host, server, is_there: true });
        Ok(Some(Self { names, urls, connector: connector.clone(), at }))
    }

    fn lock(&self) -> MutexGuard<'_, At> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The account's URL of its server.
    pub(super) fn url(&self) -> String {
        self.urls[self.lock().host].clone()
    }

    /// Whether the account has the tables at its server.
    pub(super) fn is_there(&self) -> bool {
        self.lock().is_there
    }

    /// The account has the tables at its server: sessions may begin there.
    pub(super) fn arrive(&self) {
        let mut at = self.lock();
        at.is_there = true;
        self.connector.arrive(at.host);
    }

    /// The account has left its server, and is at no other one yet.
    pub(super) fn is_gone(&self) {
        self.lock().is_there = false;
    }

    /// # Errors
    /// The account's server was started at another moment than when it was looked for: another one may have taken its place meanwhile.
    pub(super) fn check(&self, started: &str) -> Result<()> {
        if self.lock().server.started == started {
            return Ok(());
        }
        Err(Error::unavailable("the server was started anew, or another one has taken its place"))
    }

    /// The server to go on to; `None` if the account's takes writes still, of which `own` says what it says over its connection.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) async fn next(&self, own: Result<Server>) -> Result<Option<At>> {
        let last = self.lock().clone();
        if last.is_there && own.is_ok_and(|own| own == last.server) {
            return Ok(None);
        }
        let (host, server) = chosen(&self.names, &asked(&self.urls).await, Some(&last))?;
        let is_same = last.is_there && host == last.host && server.timeline == last.server.timeline;
        let next = At { host, server, is_there: is_same };
        // From here on the larger timeline is known, whatever becomes of its server.
        *self.lock() = next.clone();
        Ok(Some(next).filter(|_| !is_same))
    }
}

/// What each server says of itself.
async fn asked(urls: &[String]) -> Vec<Result<Server>> {
    let mut asking = JoinSet::new();
    for (host, url) in urls.iter().cloned().enumerate() {
        asking.spawn(async move { (host, Server::at(url).await) });
    }
    let mut answers = asking.join_all().await;
    answers.sort_by_key(|(host, _)| *host);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

/// The server to be at: of those that take writes the one with the largest timeline, which after another one must be of its origin and
/// of a larger timeline, or be the same one.
///
/// # Errors
/// `Unavailable` with the reason for each that it is not, or if there are two of them.
fn chosen(names: &[String], answers: &[Result<Server>], last: Option<&At>) -> Result<(usize, Server)> {
    let (mut candidates, mut reasons) = (Vec::new(), Vec::new());
    for (host, (name, answer)) in names.iter().zip(answers).enumerate() {
        match answer.as_ref().map_err(ToString::to_string).and_then(|server| server.may_follow(host, last)) {
            Ok(server) => candidates.push((host, server)),
            Err(why) => reasons.push(format!("{name}: {why}")),
        }
    }
    let best = candidates.iter().max_by_key(|(host, server)| (server.timeline, Reverse(*host)));
    let Some((host, best)) = best else {
        let reasons = reasons.join("; ");
        return Err(Error::unavailable(format!("no host has a server that takes writes: {reasons}")));
    };
    // The same server may have two names.
    let is_rival = |server: &Server| {
        server.origin != best.origin || (server.timeline == best.timeline && server.started != best.started)
    };
    if let Some((rival, _)) = candidates.iter().find(|(_, server)| is_rival(server)) {
        return Err(Error::unavailable(format!(
            "{} and {} both take writes, and neither follows on the other: stop one of them",
            names[*host], names[*rival]
        )));
    }
    Ok((*host, (*best).clone()))
}

impl Server {
    pub(super) const fn takes_writes(&self) -> bool {
        self.takes_writes
    }

    /// Itself, if sessions may be at it after the last one.
    fn may_follow(&self, host: usize, last: Option<&At>) -> Result<&Self, String> {
        if !self.takes_writes {
            return Err("it takes no writes".to_owned());
        }
        let Some(At { host: last_host, server: last, .. }) = last else { return Ok(self) };
        if self.origin != last.origin {
            return Err("it is no copy of the server that was left".to_owned());
        }
        let is_same = host == *last_host && self.timeline == last.timeline;
        if is_same || self.timeline > last.timeline {
            return Ok(self);
        }
        Err(format!(
            "it is of timeline {}, and the last one is {}: it was left, or never promoted",
            self.timeline, last.timeline
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(timeline: u32, started: &str) -> Server {
        Server { origin: "1".to_owned(), timeline, started: started.to_owned(), takes_writes: true }
    }

    fn standby() -> Result<Server> {
        Ok(Server { takes_writes: false, ..server(0, "noon") })
    }

    fn gone() -> Result<Server> {
        Err(Error::unavailable("it does not answer in time"))
    }

    /// The host, or why there is none.
    fn of(answers: &[Result<Server>], last: Option<At>) -> Result<usize, String> {
        let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
        let found = chosen(&names[..answers.len()], answers, last.as_ref());
        found.map(|(host, _)| host).map_err(|why| why.to_string())
    }

    fn after(host: usize, server: Server) -> Option<At> {
        Some(At { host, server, is_there: true })
    }

    #[test]
    fn the_largest_timeline_is_the_one_to_begin_at() {
        assert_eq!(of(&[standby(), Ok(server(3, "one")), gone()], None), Ok(1));
        assert_eq!(of(&[Ok(server(1, "one")), Ok(server(2, "two")), standby()], None), Ok(1), "a was left");
        assert_eq!(of(&[Ok(server(2, "one")), Ok(server(2, "one"))], None), Ok(0), "one with two names");
        let why = of(&[standby(), gone()], None).unwrap_err();
        assert!(why.contains("a: it takes no writes; b: ") && why.contains("in time"), "{why}");
    }

    #[test]
    fn of_two_that_take_writes_neither_is_chosen() {
        let why = of(&[Ok(server(2, "one")), Ok(server(1, "two")), Ok(server(2, "two"))], None).unwrap_err();
        assert!(why.contains("a and c both take writes"), "{why}");
        let other = Server { origin: "2".to_owned(), ..server(1, "two") };
        assert!(of(&[Ok(server(2, "one")), Ok(other.clone())], None).unwrap_err().contains("a and b both"));
        // After a server of its origin the other is no rival.
        assert_eq!(of(&[Ok(server(2, "one")), Ok(other)], after(0, server(1, "one"))), Ok(0));
    }

    #[test]
    fn a_server_that_was_left_is_left_for_good() {
        let last = || after(1, server(2, "two"));
        for (answers, expected) in [
            ([Ok(server(1, "one")), gone()], Err("a: it is of timeline 1, and the last one is 2")),
            ([Ok(server(2, "one")), gone()], Err("a: it is of timeline 2")),
            ([Ok(Server { origin: "2".to_owned(), ..server(9, "one") }), gone()], Err("a: it is no copy")),
            ([standby(), standby()], Err("b: it takes no writes")),
            ([Ok(server(1, "one")), Ok(server(2, "later"))], Ok(1)),
            ([Ok(server(3, "one")), Ok(server(2, "two"))], Ok(0)),
            ([gone(), Ok(server(3, "later"))], Ok(1)),
        ] {
            match (of(&answers, last()), expected) {
                (Err(why), Err(part)) => assert!(why.contains(part), "{why}"),
                (found, expected) => assert_eq!(found.as_ref().ok(), expected.as_ref().ok(), "{found:?}"),
            }
        }
    }

    #[test]
    fn what_a_server_says_is_read() {
        let texts = |all: [&str; 4]| vec![all.map(|text| SqlValue::Text(text.to_owned())).to_vec()];
        let read = Server::read(texts(["7", "0000001A", "noon", "off"])).unwrap();
        assert_eq!(read, Server { origin: "7".to_owned(), ..server(26, "noon") });
        assert!(!Server::read(texts(["7", "0", "noon", "on"])).unwrap().takes_writes);
        assert!(Server::read(texts(["7", "x", "noon", "on"])).is_err() && Server::read(Vec::new()).is_err());
    }
}
