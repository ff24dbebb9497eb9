//! Requests of a process that owns no ranges.
//!
//! A client knows the addresses of some dendrites. It asks one for each range, always the same while that one
//! answers, so that ranges without an owner are spread over dendrites; a dendrite that is asked for the range of
//! another returns its address, and the client goes there from then on.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use crate::owner::{Counts, OpenLease, Requests, WriteError, Written};
use lacuna_cache_protocol::ports::Reply;
use lacuna_cache_protocol::{
    Command, DomainId, Interval, Notice, Query, RangeId, RangeKey, RangeTable, Touched, Value, Write,
};
use lacuna_cache_protocol::{Error, Result};
use tokio::sync::broadcast;

use crate::cluster::ask::{self, Asking};
use crate::cluster::hello::Role;
use crate::cluster::hold;
use crate::cluster::journey::longer_try;
use crate::cluster::links::Links;
use crate::cluster::listening::Listening;
use crate::cluster::network::Network;
use crate::cluster::secret::Secret;
use crate::cluster::tally::Tally;

/// How long a request may take unless set otherwise.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest first try of a read; asking another dendrite is safe then. Each try after one that failed may take twice as long:
/// otherwise a slow query would never end.
const READ_TRY: Duration = Duration::from_millis(1_500);

/// Reads and writes of a collection, by any process that knows the secret. Clones share connections.
///
/// ```no_run
/// use lacuna_cache_protocol::{Command, Interval, Query};
/// use lacuna_cache::cluster::{Client, Secret};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let secret = Secret::from_file("secret".as_ref())?;
/// let client = Client::connect(&["10.0.0.7:7400", "10.0.0.8:7400"], secret, "people").await?;
/// let ages = Interval::closed(18.into(), 22.into()).expect("18 <= 22");
/// let people = client.get(&Query::all(0, ages)).await?;
/// client.update(vec![(0, Interval::point(20.into()))], Command::new(b"what the store understands")).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Client {
    pub(crate) inner: Arc<Inner>,
    pub(crate) patience: Duration,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) addresses: Vec<String>,
    pub(crate) links: Links,
    pub(crate) table: RwLock<Arc<RangeTable>>,
    /// Addresses of owners, as last reported.
    pub(crate) places: Mutex<BTreeMap<RangeId, String>>,
    pub(crate) tally: Tally,
    pub(crate) listening: Listening,
}

impl Client {
    /// A client of the dendrites of a collection at these addresses, one of which must answer. For a table of a
    /// database the collection is its name.
    ///
    /// # Errors
    /// `InvalidInput` without addresses, for another secret or for a collection that is not served there, `Unsupported` if the dendrites speak another version,
    /// `Unavailable` if none answers.
    pub async fn connect(addresses: &[impl AsRef<str>], secret: Secret, collection: &str) -> Result<Self> {
        Self::connect_by(Links::new(secret, collection), addresses).await
    }

    /// The same on another network than the machine's.
    ///
    /// # Errors
    /// As [`Client::connect`].
    #[doc(hidden)]
    pub async fn connect_over(
        network: impl Network,
        addresses: &[impl AsRef<str>],
        secret: Secret,
        collection: &str,
    ) -> Result<Self> {
        Self::connect_by(Links::over(network, secret, collection), addresses).await
    }

    async fn connect_by(links: Links, addresses: &[impl AsRef<str>]) -> Result<Self> {
        let addresses: Vec<String> = addresses.iter().map(|address| address.as_ref().to_owned()).collect();
        let mut why = Error::invalid_input("a client needs the address of at least one dendrite");
        for address in &addresses {
            match links.to(address, Role::Client).await {
                Ok(link) => {
                    let (table, places) = (RwLock::new(link.table.clone()), Mutex::default());
                    let (tally, listening) = (Tally::default(), Listening::default());
                    let inner = Arc::new(Inner { addresses, links, table, places, tally, listening });
                    return Ok(Self { inner, patience: PATIENCE });
                }
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    /// Sets how long a request may take; 5 seconds by default.
    #[must_use]
    pub const fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The result of a query.
    ///
    /// # Errors
    /// `InvalidInput` if the store does not understand the query, or if it or its result is longer than 16 MiB;
    /// `Unavailable` if there is no answer in time.
    pub async fn get(&self, query: &Query) -> Result<Value> {
        let touched = [(query.domain, query.interval.clone())];
        let failed = &AtomicU32::new(0);
        let asked = self.travel_idly(&touched, |link, how| async move {
            let within = how.within.min(longer_try(READ_TRY, failed.load(Ordering::Relaxed)));
            let answer = ask::read(&link, query, Asking { within, ..how }).await;
            failed.fetch_add(u32::from(answer.is_err()), Ordering::Relaxed);
            answer
        });
        let value = asked.await?;
        self.inner.tally.read();
        Ok(value)
    }

    /// Results of several queries, all of one moment: a row that moves from one to another in between is in
    /// exactly one.
    ///
    /// # Errors
    /// As [`Client::get`]; `InvalidInput` without a query, or for more than 256.
    pub(crate) async fn get_all(&self, queries: &[Query]) -> Result<Vec<Value>> {
        let touched: Vec<Touched> =
            queries.iter().map(|query| (query.domain, query.interval.clone())).collect();
        let ask = |link, how| async move { ask::read_all(&link, queries, how).await };
        let values = self.travel_idly(&touched, ask).await?;
        self.inner.tally.read();
        Ok(values)
    }

    /// A lease on what a write would touch, for a caller that reads and writes at the store directly, for at most
    /// `lasts` (and never more than two hours). The command only says whose numbers of domains these are.
    ///
    /// # Errors
    /// `Unavailable` if it is not granted in time.
    pub(crate) async fn hold(&self, held: Write, lasts: Duration) -> Result<OpenLease> {
        let touched = self.table().whole(&held.touched);
        self.travel_idly(&touched, |link, how| hold::ask(link, held.clone(), lasts, how)).await
    }

    /// Adds rows with these values.
    ///
    /// # Errors
    /// As [`Client::write`].
    pub async fn insert(&self, touched: Vec<Touched>, command: Command) -> Result<(), WriteError> {
        self.write(Write { touched, command }).await
    }

    /// Changes rows with these values, before and after.
    ///
    /// # Errors
    /// As [`Client::write`].
    pub async fn update(&self, touched: Vec<Touched>, command: Command) -> Result<(), WriteError> {
        self.write(Write { touched, command }).await
    }

    /// Removes rows with these values.
    ///
    /// # Errors
    /// As [`Client::write`].
    pub async fn delete(&self, touched: Vec<Touched>, command: Command) -> Result<(), WriteError> {
        self.write(Write { touched, command }).await
    }

    /// Executes a write. When it returns `Ok`, every later read by any client sees it.
    ///
    /// # Errors
    /// See [`WriteError`]: refused and not done have changed nothing; unknown may have been executed, or may be
    /// executed later.
    pub async fn write(&self, write: Write) -> Result<(), WriteError> {
        let (touched, write) = (self.table().whole(&write.touched), &write);
        self.travel(&touched, |link, how| async move { ask::write(&link, write, how).await }).await?;
        self.inner.tally.write();
        Ok(())
    }
}

impl Requests for Client {
    fn read(&self, query: Query) -> Reply<'_, Value> {
        Box::pin(async move { self.get(&query).await })
    }

    fn write(&self, write: Write) -> Written<'_> {
        Box::pin(self.write(write))
    }

    fn read_all(&self, queries: Vec<Query>) -> Reply<'_, Vec<Value>> {
        Box::pin(async move { self.get_all(&queries).await })
    }

    fn hold(&self, held: Write, lasts: Duration) -> Reply<'_, OpenLease> {
        Box::pin(self.hold(held, lasts))
    }

    fn pieces(&self, domain: DomainId) -> Vec<Interval<RangeKey>> {
        self.table().pieces(domain)
    }

    fn counts(&self) -> Counts {
        self.inner.tally.counts()
    }

    /// Notices of all dendrites, received in a task of the present runtime. [`Notice::MayBeMissing`] if one was
    /// not reached for a while.
    fn notices(&self) -> broadcast::Receiver<Notice> {
        self.listen()
    }
}
