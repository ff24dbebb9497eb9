//! What a proxy is started with.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lacuna_base::{Error, Result};

use crate::cache::{Cache, CacheSettings};
use crate::credentials::Files;
use crate::listeners::Listeners;
use crate::proxy::Proxy;
use crate::shared::Shared;
use crate::suggest::Suggestions;
use crate::upstream::{Connector, Protocol, Upstream};

/// Longest message that PostgreSQL takes, body and length (`PQ_LARGE_MESSAGE_LIMIT`).
const MAX_MESSAGE_BYTES: usize = 0x3fff_ffff;

/// Settings of a proxy.
///
/// ```no_run
/// use lacuna_proxy::Options;
///
/// # async fn run() -> Result<(), lacuna_base::Error> {
/// let proxy = Options::new("postgres://127.0.0.1:5432".parse()?)
///     .with_listen("127.0.0.1:6432".parse().expect("an address"))
///     .with_max_connections(200)
///     .start()
///     .await?;
/// println!("clients connect to {}", proxy.address());
/// proxy.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Options {
    pub(crate) upstream: Upstream,
    pub(crate) listen: SocketAddr,
    pub(crate) socket_folder: Option<PathBuf>,
    pub(crate) max_connections: usize,
    pub(crate) max_message_bytes: usize,
    pub(crate) login_timeout: Duration,
    pub(crate) files: Files,
    pub(crate) suggestions: Option<Arc<Suggestions>>,
    pub(crate) cache: Option<CacheSettings>,
}

impl Options {
    /// A relay to `upstream` that listens at a free port of this machine, for at most 1,000 clients at once.
    #[must_use]
    pub fn new(upstream: Upstream) -> Self {
        Self {
            upstream,
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            socket_folder: None,
            max_connections: 1_000,
            max_message_bytes: MAX_MESSAGE_BYTES,
            login_timeout: Duration::from_secs(60),
            files: Files::default(),
            suggestions: None,
            cache: None,
        }
    }

    /// Listens at `address`; with port 0 the system picks one.
    #[must_use]
    pub fn with_listen(self, address: SocketAddr) -> Self {
        Self { listen: address, ..self }
    }

    /// Listens at a Unix socket in `folder`, too: `.s.PGSQL.` and the port of the address, where clients of this machine look for
    /// a server of that port. Every user of the machine who may enter the folder may connect.
    #[must_use]
    pub fn with_socket_folder(self, folder: impl Into<PathBuf>) -> Self {
        Self { socket_folder: Some(folder.into()), ..self }
    }

    /// Refuses clients beyond this number with SQLSTATE 53300, or MySQL's error 1040.
    #[must_use]
    pub fn with_max_connections(self, count: usize) -> Self {
        Self { max_connections: count, ..self }
    }

    /// Ends sessions with SQLSTATE 54000, or MySQL's error 1153, whose client sends a longer message. Messages are relayed in pieces, whatever
    /// their length, and results have no limit: this protects the database, not the proxy.
    #[must_use]
    pub fn with_max_message_bytes(self, count: usize) -> Self {
        Self { max_message_bytes: count.min(MAX_MESSAGE_BYTES), ..self }
    }

    /// How long a client may take for its first packets, and the database to answer a connection. One minute unless set.
    #[must_use]
    pub fn with_login_timeout(self, timeout: Duration) -> Self {
        Self { login_timeout: timeout, ..self }
    }

    /// Offers TLS to clients with the certificate and the key of these files, both PEM.
    #[must_use]
    pub fn with_certificate(mut self, certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.files.identity = Some((certificate.into(), key.into()));
        self
    }

    /// Takes the logins of roles whose keys are in this file, where they cannot pass: of clients that bind to the certificate
    /// of this proxy, before a database that shows another one, or none. A line for each role, as in PgBouncer's
    /// `userlist.txt`: `"role" "SCRAM-SHA-256$..."`, which is what `pg_authid` has in `rolpassword`.
    ///
    /// Who reads the file can pretend to a client to be the database, but cannot log in.
    #[must_use]
    pub fn with_logins(mut self, file: impl Into<PathBuf>) -> Self {
        self.files.logins = Some(file.into());
        self
    }

    /// Follows sessions, and gathers in `suggestions` which columns a cache would serve.
    #[must_use]
    pub fn with_suggestions(self, suggestions: Arc<Suggestions>) -> Self {
        Self { suggestions: Some(suggestions), ..self }
    }

    /// Caches range reads of registered columns, which PostgreSQL alone can have yet.
    #[must_use]
    pub fn with_cache(self, settings: CacheSettings) -> Self {
        Self { cache: Some(settings), ..self }
    }

    /// # Errors
    /// `InvalidInput` for what is there before PostgreSQL alone.
    fn check_for_mysql(&self) -> Result<()> {
        let is_missing = |what: &str| {
            let works = "before MySQL and MariaDB the proxy relays and suggests columns";
            Err(Error::invalid_input(format!("{works}, and {what}")))
        };
        if self.cache.is_some() {
            return is_missing(
                "has no cache yet: leave out --cache, --register, --auto, --writes, --writers and --account, and see by the \
                 suggestions what a cache would spare",
            );
        }
        if self.files.identity.is_some() {
            return is_missing("offers no TLS yet: leave out --certificate, --key and --logins");
        }
        if self.socket_folder.is_some() {
            return is_missing("listens at no Unix socket yet: leave out --unix-socket-dir");
        }
        Ok(())
    }

    /// Starts the proxy. Without a cache the database is not asked: it may come later.
    ///
    /// # Errors
    /// `InvalidInput` if options do not go together, a certificate or a file of logins cannot be used, or columns cannot be cached;
    /// `Unavailable` if a file cannot be read, the address or the socket cannot be listened at, the database of a cache does not answer,
    /// or another process caches one of the tables.
    pub async fn start(mut self) -> Result<Proxy> {
        let upstream = self.upstream.clone().checked()?;
        if upstream.protocol() == Protocol::MySql {
            self.check_for_mysql()?;
        }
        if upstream.is_read_write() && (self.cache.is_none() || upstream.hosts().len() == 1) {
            return Err(Error::invalid_input(
                "target_session_attrs=read-write needs several hosts and a cache, whose account asks them: a relay alone has no login \
                 to ask a server whether it takes writes",
            ));
        }
        let connector = Arc::new(Connector::new(upstream, self.login_timeout)?);
        let credentials = self.files.read()?;
        let listeners = Listeners::bind(self.listen, self.socket_folder.as_deref()).await?;
        let (cache, watch) = match &self.cache {
            Some(settings) => {
                if settings.auto.is_some() {
                    self.suggestions.get_or_insert_default();
                }
                Cache::start(settings, self.suggestions.as_ref(), &connector)
                    .await
                    .map(|(cache, watch)| (Some(cache), Some(watch)))?
            }
            None => (None, None),
        };
        Proxy::start(listeners, Shared::new(self, connector, credentials, cache), watch)
    }
}
