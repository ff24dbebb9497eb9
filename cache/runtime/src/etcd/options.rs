//! The settings of a coordinator.

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
use crate::tls::Certificates;

/// Shortest lease that survives the election of a leader with etcd's default settings.
const LEASE_S: u64 = 5;
/// Longest lease, a day: for that long the ranges of a dead process would have no owner.
const LONGEST_LEASE_S: u64 = 86_400;

/// How to lease ranges through etcd.
///
/// ```no_run
/// use lacuna_cache::etcd::EtcdOptions;
///
/// # async fn open() -> Result<(), lacuna_cache_protocol::Error> {
/// let coordinator = EtcdOptions::new("etcd://10.0.0.1:2379,10.0.0.2:2379,10.0.0.3:2379", "orders")
///     .with_address("10.0.0.7:7070")
///     .with_cache_servers(3)
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
    /// The members as `etcd://host:port,host:port`, or `etcds://` if connections are encrypted; and a name that
    /// all processes of one cache share.
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

    /// Replaces the members that it was made with.
    #[must_use]
    pub fn with_endpoint(mut self, url: impl Into<String>) -> Self {
        self.url = url.into();
        self
    }

    /// The certificate of the authority that signs those of the members, as PEM; several may follow one another.
    /// `etcds://` needs it: the authorities that the machine trusts are not used.
    #[must_use]
    pub fn with_authority(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.certificates.get_or_insert_default().authority = pem.into();
        self
    }

    /// A certificate of this process, and its key, both as PEM, for members that ask for one.
    #[must_use]
    pub fn with_client_certificate(
        mut self,
        certificate: impl Into<Vec<u8>>,
        key: impl Into<Vec<u8>>,
    ) -> Self {
        self.certificates.get_or_insert_default().own = Some((certificate.into(), key.into()));
        self
    }

    /// A user of etcd and its password. The user must be allowed to read and write all keys below `lacuna/` and
    /// the namespace. Tokens are renewed automatically.
    #[must_use]
    pub fn with_user(mut self, name: impl Into<String>, password: impl Into<String>) -> Self {
        self.user = Some(User { name: name.into(), password: password.into() });
        self
    }

    /// The address at which other processes reach this one, without blanks; none by default.
    #[must_use]
    pub fn with_address(mut self, address: impl Into<String>) -> Self {
        self.address = address.into();
        self
    }

    /// Seconds until other processes may claim the ranges of a dead process; 5 by default, at least 2 and at most a day. A fifth of
    /// it should be longer than etcd's election timeout (1 s by default).
    #[must_use]
    pub const fn with_lease_s(mut self, seconds: u64) -> Self {
        self.lease_s = if seconds < 2 { 2 } else { seconds };
        self
    }

    /// Ranges are cut in etcd: the first process stores this table. Without one, ranges are numbered elsewhere,
    /// and any number may be claimed.
    #[must_use]
    pub fn with_range_table(mut self, table: RangeTable) -> Self {
        self.table = Some(table);
        self
    }

    /// The number of cache servers over which ranges are spread; one by default.
    #[must_use]
    pub const fn with_cache_servers(mut self, count: usize) -> Self {
        self.cache_count = if count == 0 { 1 } else { count };
        self
    }

    /// Epochs are larger than those that this store was fenced with, so that they ascend even if etcd is restored
    /// from an older copy.
    #[must_use]
    pub fn with_fences_of(mut self, store: Arc<dyn DataStore>) -> Self {
        self.store = Some(store);
        self
    }

    /// While etcd does not answer, the last owner of a range goes on against the store, without the cache. Only for
    /// write-around and write-through, where the store has every acknowledged write: with buffered writes a newer owner
    /// could know what the store does not.
    #[must_use]
    pub const fn with_uncached_fallback(mut self) -> Self {
        self.goes_past_the_cache = true;
        self
    }

    /// Declares that no process uses routes of another, so that a range can serve as soon as it is cut. Either all
    /// processes of a cache declare this, or none.
    #[must_use]
    pub const fn without_foreign_routes(mut self) -> Self {
        self.keeps_routes = true;
        self
    }

    /// Another clock than the machine's.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    pub(crate) const fn ttl_ms(&self) -> u64 {
        self.lease_s * 1_000
    }

    /// How long a tenure is valid after it was requested: less than the lease, by the possible difference of two
    /// clocks and by the delay with which a deposed leader of etcd may notice.
    pub(crate) const fn lease_ms(&self) -> u64 {
        self.ttl_ms() - self.ttl_ms() / 5
    }

    /// Joins the cache, in a task of the present runtime that ends with the coordinator.
    ///
    /// # Errors
    /// `InvalidInput` if URL, namespace or address are malformed, the lease is longer than a day, a certificate is not signed by the
    /// authority, or user or password are wrong; `Unavailable` if etcd does not answer.
    pub async fn open(mut self) -> Result<EtcdCoordinator> {
        let is_name = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
        if !is_name(&self.namespace) || self.namespace.contains('/') {
            return Err(Error::invalid_input("a namespace in etcd is a word without blanks and slashes"));
        }
        if !is_name(&self.address) {
            return Err(Error::invalid_input("an address has no blanks, as in 10.0.0.7:7070"));
        }
        if self.lease_s > LONGEST_LEASE_S {
            let message = format!("a lease of {} s is too long: give 2 to {LONGEST_LEASE_S}", self.lease_s);
            return Err(Error::invalid_input(message));
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
