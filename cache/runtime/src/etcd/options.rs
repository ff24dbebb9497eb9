//! What a coordinator is made of.

use std::sync::Arc;
use std::time::Duration;

use lacuna_cache_protocol::RangeTable;
use lacuna_cache_protocol::embedded::SteadyClock;
use lacuna_cache_protocol::ports::{Clock, DataStore};
use lacuna_cache_protocol::{Error, Result};

use crate::etcd::cluster::Cluster;
use crate::etcd::coordinator::EtcdCoordinator;
use crate::etcd::login::{Login, User};
use crate::etcd::session::Session;
use crate::etcd::tls::Certificates;

/// Shortest lease that survives the election of a leader with etcd's own settings.
const LEASE_S: u64 = 5;

/// How to lease ranges through etcd.
///
/// ```no_run
/// use lacuna_cache::etcd::EtcdOptions;
///
/// # async fn open() -> Result<(), lacuna_cache_protocol::Error> {
/// let coordinator = EtcdOptions::new("etcd://10.0.0.1:2379,10.0.0.2:2379,10.0.0.3:2379", "orders")
///     .address("10.0.0.7:7070")
///     .cache_servers(3)
///     .open()
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct EtcdOptions {
    url: String,
    namespace: String,
    address: String,
    lease_s: u64,
    table: Option<RangeTable>,
    certificates: Option<Certificates>,
    user: Option<User>,
    pub(crate) cache_count: usize,
    pub(crate) store: Option<Arc<dyn DataStore>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) goes_past_the_cache: bool,
    pub(crate) keeps_routes: bool,
}

impl EtcdOptions {
    /// The members `etcd://host:port,host:port`, or `etcds://` where connections are encrypted; and a name that all processes
    /// of one cache share.
    pub fn new(url: impl Into<String>, namespace: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            namespace: namespace.into(),
            address: "-".to_owned(),
            lease_s: LEASE_S,
            table: None,
            certificates: None,
            user: None,
            cache_count: 1,
            store: None,
            clock: Arc::new(SteadyClock::new()),
            goes_past_the_cache: false,
            keeps_routes: false,
        }
    }

    /// Other members than those it was made with.
    #[must_use]
    pub fn reaching(mut self, url: impl Into<String>) -> Self {
        self.url = url.into();
        self
    }

    /// The certificate of the authority that signs those of the members, as PEM; of several, one behind the other. `etcds://`
    /// needs it: authorities that the machine believes are not asked.
    #[must_use]
    pub fn authority(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.certificates.get_or_insert_default().authority = pem.into();
        self
    }

    /// A certificate of this process, and its key, both as PEM, for members that ask for one.
    #[must_use]
    pub fn client_certificate(mut self, certificate: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        self.certificates.get_or_insert_default().own = Some((certificate.into(), key.into()));
        self
    }

    /// A user of etcd, who may read and write all keys below `lacuna/` and the namespace, and its password. Tokens are renewed
    /// by themselves.
    #[must_use]
    pub fn user(mut self, name: impl Into<String>, password: impl Into<String>) -> Self {
        self.user = Some(User { name: name.into(), password: password.into() });
        self
    }

    /// Where other processes reach this one; without blanks. Nowhere, if it is not said.
    #[must_use]
    pub fn address(mut self, address: impl Into<String>) -> Self {
        self.address = address.into();
        self
    }

    /// Seconds until the ranges of a dead process are others'; 5 if it is not said, at least 2. A fifth of it should be
    /// longer than etcd's election timeout (1 s as delivered).
    #[must_use]
    pub const fn lease_s(mut self, seconds: u64) -> Self {
        self.lease_s = if seconds < 2 { 2 } else { seconds };
        self
    }

    /// Ranges are cut in etcd: the first process brings this table. Without one, ranges are numbered elsewhere, and any
    /// number may be claimed.
    #[must_use]
    pub fn table(mut self, table: RangeTable) -> Self {
        self.table = Some(table);
        self
    }

    /// Ranges spread over so many cache servers; one if it is not said.
    #[must_use]
    pub const fn cache_servers(mut self, count: usize) -> Self {
        self.cache_count = if count == 0 { 1 } else { count };
        self
    }

    /// Epochs are above those that this store was fenced with, so that they rise even if etcd is restored from an older
    /// copy of itself.
    #[must_use]
    pub fn above_fences_of(mut self, store: Arc<dyn DataStore>) -> Self {
        self.store = Some(store);
        self
    }

    /// While etcd does not answer, the last owner of a range goes on against the store, without the cache. Only for
    /// write-around and write-through, where the store has every acknowledged write: with buffered writes a newer owner
    /// could know what the store does not.
    #[must_use]
    pub const fn going_past_the_cache(mut self) -> Self {
        self.goes_past_the_cache = true;
        self
    }

    /// No other process is ever told where hits of a range are, so that a range can serve as soon as it is cut. All
    /// processes of a cache say so, or none.
    #[must_use]
    pub const fn keeping_routes(mut self) -> Self {
        self.keeps_routes = true;
        self
    }

    /// Another clock than the machine's.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    pub(crate) const fn ttl_ms(&self) -> u64 {
        self.lease_s * 1_000
    }

    /// How long a tenure holds after it was asked for: less than the lease, by what two clocks may differ and by what a
    /// deposed leader of etcd may be late to notice.
    pub(crate) const fn lease_ms(&self) -> u64 {
        self.ttl_ms() - self.ttl_ms() / 5
    }

    /// Joins the cache, in a task of the present runtime that ends with the coordinator.
    ///
    /// # Errors
    /// `InvalidInput` if URL, namespace or address are none, a certificate is not signed by the authority, or the user or its
    /// password is another; `Unavailable` if etcd does not answer.
    pub async fn open(mut self) -> Result<EtcdCoordinator> {
        let is_name = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
        if !is_name(&self.namespace) || self.namespace.contains('/') {
            return Err(Error::invalid_input("a namespace in etcd is a word without blanks and slashes"));
        }
        if !is_name(&self.address) {
            return Err(Error::invalid_input("an address has no blanks, as in 10.0.0.7:7070"));
        }
        let login = self.user.take().map(Login::new);
        let patience = Duration::from_millis(self.ttl_ms() / 3);
        let cluster = Cluster::new(&self.url, patience, self.certificates.as_ref(), login)?;
        cluster.check().await?;
        let prefix = format!("lacuna/{}/", self.namespace);
        let session = Session::new(cluster, prefix, self.address.clone(), self.lease_s)?;
        let table = self.table.take();
        EtcdCoordinator::join(session, self, table).await
    }
}
