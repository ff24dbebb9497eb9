//! Requests of a process that owns nothing.
//!
//! A client knows the addresses of some dendrites. It asks one for each range, always the same while that answers, so that
//! ranges that nobody owns go to different dendrites; whoever is asked for what another owns says where that is, and the
//! client goes there from then on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use lacuna_cache_shell::{Counts, Requests, WriteError, Written};
use lacuna_core::{Error, ErrorKind, Result};
use lacuna_range_cache::ports::Reply;
use lacuna_range_cache::{Command, Interval, Notice, Query, RangeId, RangeTable, Touched, Value, Write};
use tokio::sync::broadcast;

use crate::ask::{self, Answered, Asking, Redirected};
use crate::hello::Role;
use crate::link::Link;
use crate::links::Links;
use crate::secret::Secret;
use crate::tally::Tally;

/// How long a request may take unless the client was told otherwise.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest try of a read; to ask another dendrite is safe then.
const READ_TRY: Duration = Duration::from_millis(1_500);
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(5);
/// After so many redirects of one request, dendrites are asked to hand it on themselves.
const MOST_REDIRECTS: u32 = 3;

/// Reads and writes of a collection, by any process that knows the secret. Clones share connections.
///
/// ```no_run
/// use lacuna_range_cache::{Command, Interval, Query};
/// use lacuna_store_dendrite::{Client, Secret};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::connect(&["10.0.0.7:7400", "10.0.0.8:7400"], Secret::from_file("secret".as_ref())?).await?;
/// let ages = Interval::closed(18.into(), 22.into()).expect("18 <= 22");
/// let people = client.get(&Query::all(0, ages)).await?;
/// client.update(vec![(0, Interval::point(20.into()))], Command::new(b"what the store understands")).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Client {
    inner: Arc<Inner>,
    patience: Duration,
}

#[derive(Debug)]
struct Inner {
    addresses: Vec<String>,
    links: Links,
    table: RwLock<Arc<RangeTable>>,
    /// Where owners were said to be.
    places: Mutex<BTreeMap<RangeId, String>>,
    tally: Tally,
    notices: broadcast::Sender<Notice>,
}

/// A request on its way.
struct Journey {
    until: Instant,
    tries: u32,
    redirects: u32,
    range: RangeId,
}

impl Client {
    /// A client of the dendrites at these addresses, one of which must answer.
    ///
    /// # Errors
    /// `InvalidInput` without addresses or for another secret, `Unsupported` if the dendrites speak another version,
    /// `Unavailable` if none answers.
    pub async fn connect(addresses: &[impl AsRef<str>], secret: Secret) -> Result<Self> {
        let addresses: Vec<String> = addresses.iter().map(|address| address.as_ref().to_owned()).collect();
        let links = Links::new(secret);
        let mut why = Error::invalid_input("a client needs the address of at least one dendrite");
        for address in &addresses {
            match links.to(address, Role::Client).await {
                Ok(link) => {
                    let (table, places) = (RwLock::new(link.table.clone()), Mutex::default());
                    let (tally, (notices, _)) = (Tally::default(), broadcast::channel(1));
                    let inner = Arc::new(Inner { addresses, links, table, places, tally, notices });
                    return Ok(Self { inner, patience: PATIENCE });
                }
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    /// How long a request may take; 5 seconds unless set.
    #[must_use]
    pub const fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The result of a query.
    ///
    /// # Errors
    /// `InvalidInput` if the store does not understand the query, `Unavailable` if nobody answers in time.
    pub async fn get(&self, query: &Query) -> Result<Value> {
        let mut journey = self.begin(&[(query.domain, query.interval.clone())])?;
        let value = loop {
            let why = match self.link(&journey).await {
                Ok(link) => {
                    let mut how = self.asking(&journey);
                    how.within = how.within.min(READ_TRY);
                    match ask::read(&link, query, how).await {
                        Ok(Answered::Is(value)) => break value,
                        Ok(Answered::Redirected(to)) => {
                            self.follow(&mut journey, &[(query.domain, query.interval.clone())], to);
                            continue;
                        }
                        Err(why) if why.kind() == ErrorKind::InvalidInput => return Err(why),
                        Err(why) => why,
                    }
                }
                Err(why) => why,
            };
            self.lost(&mut journey, why).await?;
        };
        self.inner.tally.read();
        Ok(value)
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

    /// Carries out a write. When it returns `Ok`, every later read of whoever sees it.
    ///
    /// # Errors
    /// See [`WriteError`]: refused and not done have changed nothing; unknown may have been carried out, or may yet be.
    pub async fn write(&self, write: Write) -> Result<(), WriteError> {
        let touched = self.whole(&write.touched);
        let mut journey = self.begin(&touched)?;
        loop {
            let why = match self.link(&journey).await {
                Ok(link) => match ask::write(&link, &write, self.asking(&journey)).await {
                    Ok(Answered::Is(())) => break,
                    Ok(Answered::Redirected(to)) => {
                        self.follow(&mut journey, &touched, to);
                        continue;
                    }
                    Err(WriteError::NotDone(why)) => why,
                    Err(error) => return Err(error),
                },
                Err(why) => why,
            };
            self.lost(&mut journey, why).await.map_err(WriteError::NotDone)?;
        }
        self.inner.tally.write();
        Ok(())
    }

    fn table(&self) -> Arc<RangeTable> {
        self.inner.table.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// As the owner will see a write: domains that it does not name are taken whole.
    fn whole(&self, touched: &[Touched]) -> Vec<Touched> {
        let mut touched = touched.to_vec();
        for domain in 0..self.table().domain_count() {
            if touched.iter().all(|(named, _)| *named != domain) {
                touched.push((domain, Interval::all()));
            }
        }
        touched
    }

    fn leader(&self, touched: &[Touched]) -> Result<RangeId> {
        let table = self.table();
        if let Some((domain, _)) = touched.iter().find(|(domain, _)| *domain >= table.domain_count()) {
            return Err(Error::invalid_input(format!("the collection has no domain {domain}")));
        }
        let leader = table.parts(touched).into_keys().next();
        leader.ok_or_else(|| Error::invalid_input("the request touches no range"))
    }

    fn begin(&self, touched: &[Touched]) -> Result<Journey> {
        let (until, range) = (Instant::now() + self.patience, self.leader(touched)?);
        Ok(Journey { until, tries: 0, redirects: 0, range })
    }

    fn asking(&self, journey: &Journey) -> Asking {
        Asking {
            within: journey.until.saturating_duration_since(Instant::now()),
            may_redirect: journey.redirects < MOST_REDIRECTS,
            version: self.table().version(),
        }
    }

    /// Where a range is asked for: at its owner if that is known, else always at the same dendrite, and after that did not
    /// answer at the next.
    fn address(&self, journey: &Journey) -> String {
        let places = self.inner.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = places.get(&journey.range) {
            return place.clone();
        }
        let mut addresses: Vec<&String> = self.inner.addresses.iter().collect();
        let weight =
            |address: &&String| lacuna_core::hash::hash_bytes(address.as_bytes(), journey.range.0.into());
        addresses.sort_by_key(weight);
        addresses[journey.tries as usize % addresses.len()].clone()
    }

    async fn link(&self, journey: &Journey) -> Result<Arc<Link>> {
        self.inner.links.to(&self.address(journey), Role::Client).await
    }

    fn follow(&self, journey: &mut Journey, touched: &[Touched], to: Redirected) {
        self.inner.tally.redirect();
        journey.redirects += 1;
        if let Some(table) = to.table {
            let mut known = self.inner.table.write().unwrap_or_else(PoisonError::into_inner);
            if known.version() < table.version() {
                *known = Arc::new(table);
                self.inner.places.lock().unwrap_or_else(PoisonError::into_inner).clear();
            }
        }
        self.inner.places.lock().unwrap_or_else(PoisonError::into_inner).insert(to.range, to.address);
        journey.range = self.leader(touched).unwrap_or(journey.range);
    }

    /// Nothing was done: before another dendrite is asked, a pause; an error if there is no time left.
    async fn lost(&self, journey: &mut Journey, why: Error) -> Result<()> {
        self.inner.places.lock().unwrap_or_else(PoisonError::into_inner).remove(&journey.range);
        journey.tries += 1;
        if Instant::now() >= journey.until {
            return Err(why);
        }
        tokio::time::sleep(PAUSE).await;
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

    fn counts(&self) -> Counts {
        self.inner.tally.counts()
    }

    /// Dendrites tell their notices where they run; nothing is heard here.
    fn notices(&self) -> broadcast::Receiver<Notice> {
        self.inner.notices.subscribe()
    }
}
