//! What a cache is started with.

use super::auto::Auto;
use super::registered::Registered;

/// Settings of a proxy's cache.
///
/// ```
/// use lacuna_proxy::CacheSettings;
///
/// let columns = "public.orders.customer".parse()?;
/// let settings = CacheSettings::new("postgres://lacuna@127.0.0.1:5432/shop", columns)
///     .with_writers(["app".to_owned(), "postgres".to_owned()])
///     .with_bytes(256 << 20);
/// # Ok::<(), lacuna_proxy::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct CacheSettings {
    pub(crate) account: String,
    pub(crate) registered: Registered,
    pub(crate) writers: Vec<String>,
    pub(crate) bytes: usize,
    pub(crate) is_shadow: bool,
    pub(crate) past: Past,
    pub(crate) auto: Option<Auto>,
    pub(crate) grows: bool,
    #[cfg(feature = "flaws")]
    pub(crate) flaw: Option<Flaw>,
}

/// What keeps writes past the proxy from making readers wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Past {
    /// No role has the right to write there.
    Rights,
    /// Triggers refuse them.
    Guards,
    /// They are read in the log.
    Log,
}

/// A rule that is left out, so that a test can see whether it would be missed.
#[cfg(feature = "flaws")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum Flaw {
    /// Writes drop nothing and hold nothing back.
    NoHold,
    /// A reply is kept though a write has overtaken its read.
    NoFillCheck,
    /// Replies of one role are shown to another.
    NoRole,
    /// A transaction is forgotten that has written before a column was registered.
    NoLongView,
    /// A hit does not wait until the log was read.
    NoLogWait,
    /// A transaction in the log is taken for one that reads show.
    NoSettling,
    /// What is committed while no stream reads the log is missed.
    NoGap,
}

impl CacheSettings {
    /// A cache of 64 MiB for these columns, before the database that `account` leads to: the proxy's own login, by which it
    /// reads the catalogue and holds its lease. With several hosts, which must be those of the upstream in the same order, it finds the one
    /// that takes writes, and sessions are begun there; when another one takes its place, sessions end and the cache begins cold.
    #[must_use]
    pub fn new(account: impl Into<String>, registered: Registered) -> Self {
        Self {
            account: account.into(),
            registered,
            writers: Vec::new(),
            bytes: 64 << 20,
            is_shadow: false,
            past: Past::Rights,
            auto: None,
            grows: false,
            #[cfg(feature = "flaws")]
            flaw: None,
        }
    }

    /// Roles that may write registered tables, because they connect through this proxy only. The proxy does not start while
    /// another role could.
    #[must_use]
    pub fn with_writers(self, writers: impl IntoIterator<Item = String>) -> Self {
        Self { writers: writers.into_iter().collect(), ..self }
    }

    /// Relies on guard triggers ([`guard_sql`](crate::guard_sql)) in place of rights: any role may write that has the right to, and
    /// its writes fail past the proxy. The proxy does not start while a registered table has none.
    #[must_use]
    pub fn with_guards(self) -> Self {
        Self { past: Past::Guards, ..self }
    }

    /// Lets anybody write past the proxy, and reads in the log of the database what they have changed: a hit waits until the log was
    /// read as far as it was written when the statement came. The database needs what [`log_sql`](crate::log_sql) makes,
    /// `wal_level = logical`, and an account with the right `REPLICATION` and a password in its URL, if it has one.
    #[must_use]
    pub fn with_log(self) -> Self {
        Self { past: Past::Log, ..self }
    }

    /// Bytes of replies that are kept at most, with what it takes to find them.
    #[must_use]
    pub fn with_bytes(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }

    /// Answers nothing from the cache: the server answers every statement, and its replies to those that the cache would have
    /// answered are compared with what the cache had. See [`ShadowCounts`](crate::ShadowCounts).
    #[must_use]
    pub fn with_shadow(self) -> Self {
        Self { is_shadow: true, ..self }
    }

    /// Registers columns while it runs that would spare enough, besides those that were given, which may be none:
    /// `Registered::default()`. What the rights of roles forbid is not registered.
    #[must_use]
    pub fn with_auto(self, auto: Auto) -> Self {
        Self { auto: Some(auto), ..self }
    }

    /// Lets [`Proxy::register`](crate::Proxy::register) and [`Proxy::unregister`](crate::Proxy::unregister) change the list of
    /// columns while it runs. Sessions remember then, as with [`with_auto`](Self::with_auto), that their transaction has written.
    #[must_use]
    pub fn with_registration(self) -> Self {
        Self { grows: true, ..self }
    }

    #[cfg(feature = "flaws")]
    #[doc(hidden)]
    #[must_use]
    pub fn with_flaw(self, flaw: Flaw) -> Self {
        Self { flaw: Some(flaw), ..self }
    }
}
