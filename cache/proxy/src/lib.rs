//! A proxy before PostgreSQL: it relays every byte, says which range reads a cache would answer, and may be that cache. Before MariaDB
//! and MySQL it does the first two.
//!
//! | module | what it is |
//! | --- | --- |
//! | `options`, `proxy`, `shared`, `listeners` | what a proxy is started with, what it runs, where it listens |
//! | `session` | a client from its first packet to its last: encryption, login, relay, cancel, goodbye |
//! | `credentials`, `tls`, `logins`, `scram` | files that are read anew while it runs: the certificate, and roles whose logins may end here |
//! | `upstream` | the database: where it is, and connections to it |
//! | `wire` | the bytes of the protocol: messages in a stream, first packets, errors |
//! | `follow` | what goes on in a session, without a change to its bytes |
//! | `recognise` | statements that bound a column of one table, and writes |
//! | `cache` | replies in memory, what writes do to them, and what the catalogue says |
//! | `suggest` | what the statements of all sessions say about columns worth caching |
//! | `mysql` | the same for sessions of MariaDB and MySQL: protocol, follower, words of statements |
//!
//! Clients, users and passwords stay as they are: logins pass through, or end here where they cannot
//! ([`Options::with_logins`]). Without [`CacheSettings`] nothing is cached.
//!
//! Guarantee: both sides receive the bytes that the other has sent, in order. There are four exceptions: requests for
//! TLS are answered by the proxy, offers of channel binding are left out where no client could use them, a login of a role
//! whose keys are known may be replaced by two, and a session that the proxy ends, or whose database has gone, ends with an
//! error message. Before MariaDB and MySQL the second and third have no meaning, and in place of the first TLS and compression are taken
//! out of the server's greeting. What the follower does not understand is relayed all the same. With a cache, a read that begins after
//! a write was answered shows that write, as long as all writes come through this proxy.
//!
//! Cost: two system calls for each flight of messages, and buffers of 16 to 128 kB a session, whatever its
//! messages. Suggestions remember at most 4 MB of texts of a session, and some 100 MB of all. With a cache a session may hold more,
//! beside the bytes of the cache itself: while it reads, a reply that is to be kept or a copy of one that is shown, of at most 1 MiB
//! and an eighth of the cache (those to be kept take a quarter of it together at most); while it is asked who it is, an answer of
//! at most 1 MiB; in a transaction, the values of 1,000 portals of 4 KiB each; and as long as it lasts, the names and the
//! understood texts of 10,000 prepared statements, of which no other limit is kept.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a failed test panics"))]

mod cache;
mod connection;
mod credentials;
mod follow;
mod listeners;
mod logins;
mod mysql;
mod options;
mod proxy;
mod recognise;
mod scram;
mod session;
mod shared;
mod suggest;
mod tls;
mod upstream;
mod wire;

#[cfg(feature = "flaws")]
#[doc(hidden)]
pub use cache::Flaw;
pub use cache::{
    Auto, AutoCounts, CacheCounts, CacheSettings, CacheStatus, ColumnStatus, Difference, HotRange,
    Registered, Segment, ShadowCounts, guard_sql, log_sql, run_sql, unguard_sql, unlog_sql,
};
pub use lacuna_base::{Error, ErrorKind, Result};
pub use options::Options;
pub use proxy::{Monitor, Proxy};
pub use recognise::{Explanation, explain};
pub use shared::Counts;
pub use suggest::{Suggestion, Suggestions};
pub use upstream::{SslMode, Upstream};

/// The integer that stands for a text of one of the types `date`, `timestamp` and `timestamptz`, if it is read in one way:
/// tests compare it with the server's.
#[cfg(feature = "flaws")]
#[doc(hidden)]
#[must_use]
pub fn moment(name: &str, text: &str) -> Option<i64> {
    use recognise::strict::Moment;
    let moments =
        [("date", Moment::Date), ("timestamp", Moment::Timestamp), ("timestamptz", Moment::Timestamptz)];
    moments.iter().find(|(of, _)| *of == name).and_then(|(_, moment)| moment.read(text))
}

/// The integer that stands for a text of the type `numeric`, if it is read in one way, rounded to `scale` as a column keeps it:
/// tests compare its order with the server's.
#[cfg(feature = "flaws")]
#[doc(hidden)]
#[must_use]
pub fn numeric(text: &str, scale: Option<i32>) -> Option<i64> {
    let number = recognise::strict::Numeric::read(text)?;
    Some(scale.map_or(number.clone(), |scale| number.rounded(scale)).place())
}

/// The same for the bytes of a parameter in binary.
#[cfg(feature = "flaws")]
#[doc(hidden)]
#[must_use]
pub fn binary_numeric(bytes: &[u8]) -> Option<i64> {
    recognise::strict::Numeric::read_binary(bytes).map(|number| number.place())
}
