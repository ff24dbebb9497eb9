//! Connections to the dendrites of one collection by their addresses, made at first use.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use lacuna_cache_protocol::{Error, ErrorKind, Result};
use tokio::time::Instant;
use tracing::debug;

use crate::cluster::hello::Role;
use crate::cluster::link::Link;
use crate::cluster::network::{Dial, Network, Tcp};
use crate::cluster::secret::Secret;

/// How long an address that did not answer is not tried again.
const REST: Duration = Duration::from_millis(150);

#[derive(Debug, Default)]
struct Place {
    link: Option<Arc<Link>>,
    failed: Option<(Instant, Error)>,
}

impl Place {
    /// Whether its connection is open, or has just failed.
    fn is_known(&self) -> bool {
        let has_just_failed = self.failed.as_ref().is_some_and(|(when, _)| when.elapsed() < REST);
        has_just_failed || self.link.as_ref().is_some_and(|link| link.is_open())
    }
}

type Shared = Arc<tokio::sync::Mutex<Place>>;

type Places = BTreeMap<(Role, String), Shared>;

/// Whether a call has taken it from the places and still needs it, or the next would learn something from it.
fn is_needed(place: &Shared) -> bool {
    Arc::strong_count(place) > 1 || place.try_lock().is_ok_and(|place| place.is_known())
}

/// Connections that all requests share.
#[derive(Debug)]
pub(crate) struct Links {
    network: Box<dyn Dial>,
    secret: Secret,
    collection: String,
    /// The marks of the caller's domains, if it is a dendrite.
    marks: OnceLock<Vec<u64>>,
    places: Mutex<Places>,
}

impl Links {
    pub(crate) fn new(secret: Secret, collection: &str) -> Self {
        Self::over(Tcp, secret, collection)
    }

    pub(crate) fn over(network: impl Network, secret: Secret, collection: &str) -> Self {
        let (network, collection) = (Box::new(network), collection.to_owned());
        Self { network, secret, collection, marks: OnceLock::new(), places: Mutex::default() }
    }

    pub(crate) fn collection(&self) -> &str {
        &self.collection
    }

    /// From now on dendrites with other marks are refused. They are registered once.
    pub(crate) fn register(&self, marks: &[u64]) {
        self.marks.get_or_init(|| marks.to_vec());
    }

    /// The connection to an address, made anew if the last one has ended.
    ///
    /// # Errors
    /// As [`Link::connect`], `Conflict` if the dendrite has other marks; for a short while after a failure, the same again.
    pub(crate) async fn to(&self, address: &str, role: Role) -> Result<Arc<Link>> {
        let place = {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            let key = (role, address.to_owned());
            if !places.contains_key(&key) {
                // Dendrites come and go, each at an address of its own.
                places.retain(|_, place| is_needed(place));
            }
            places.entry(key).or_default().clone()
        };
        let mut place = place.lock().await;
        if let Some(link) = place.link.as_ref().filter(|link| link.is_open()) {
            return Ok(link.clone());
        }
        if let Some((when, why)) = &place.failed
            && when.elapsed() < REST
        {
            return Err(Error::new(why.kind(), why.to_string()));
        }
        let dialled = self.network.dial(address, &self.secret, (role, &self.collection)).await;
        match dialled.and_then(|link| self.check(link, address)) {
            Ok(link) => {
                debug!(address, ?role, collection = self.collection, "connected to a dendrite");
                let link = Arc::new(link);
                (place.link, place.failed) = (Some(link.clone()), None);
                Ok(link)
            }
            Err(why) => {
                debug!(address, ?role, %why, "no connection to a dendrite");
                let again = Error::new(why.kind(), why.to_string());
                (place.link, place.failed) = (None, Some((Instant::now(), why)));
                Err(again)
            }
        }
    }

    fn check(&self, link: Link, address: &str) -> Result<Link> {
        if self.marks.get().is_none_or(|marks| marks == link.table.marks()) {
            return Ok(link);
        }
        let what = "has registered other columns than this one, or in another order: stop all dendrites of the table, and start \
                    them with the same";
        Err(Error::new(ErrorKind::Conflict, format!("the dendrite at {address} {what}")))
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use tokio::io::DuplexStream;

    use super::*;

    /// Has no listeners. At one address that is known only after a while.
    #[derive(Debug)]
    struct Empty;

    impl Network for Empty {
        type Incoming = DuplexStream;
        type Outgoing = DuplexStream;

        async fn connect(&self, address: &str) -> io::Result<(DuplexStream, DuplexStream)> {
            if address == "slow" {
                tokio::time::sleep(3 * REST).await;
            }
            Err(io::ErrorKind::ConnectionRefused.into())
        }
    }

    #[tokio::test]
    async fn addresses_of_dendrites_that_are_gone_are_forgotten() {
        let secret = Secret::new(b"0123456789abcdef").unwrap();
        let links = Links::over(Empty, secret, "people");
        for number in 1..=3 {
            links.to(&format!("10.0.0.{number}:7400"), Role::Client).await.unwrap_err();
        }
        let next = async {
            tokio::time::sleep(REST).await;
            links.to("10.0.0.4:7400", Role::Client).await.unwrap_err();
            let places = links.places.lock().unwrap();
            places.keys().map(|(_, address)| address.clone()).collect::<Vec<_>>()
        };
        let (waited, known) = tokio::join!(links.to("slow", Role::Client), next);
        assert!(waited.is_err());
        assert_eq!(known, ["10.0.0.4:7400", "slow"]);
    }
}
