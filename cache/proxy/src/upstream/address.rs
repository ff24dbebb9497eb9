//! Where the database is.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use lacuna_base::{Error, Result};

use super::hosts::{Host, hosts, no_place, parts};
use super::protocol::Protocol;

/// Whether connections to the database are encrypted, by the names of libpq.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SslMode {
    /// Never.
    Disable,
    /// If the database offers it and no login needs otherwise.
    Prefer,
    /// Always, without a check of the certificate.
    Require,
    /// Always, with a certificate of the host's name that the authority has signed.
    VerifyFull,
}

/// The database that a proxy stands before.
///
/// ```
/// use lacuna_proxy::{SslMode, Upstream};
///
/// let upstream: Upstream = "postgres://db.internal:5433/?sslmode=verify-full&sslrootcert=ca.pem".parse()?;
/// assert_eq!((upstream.host(), upstream.port()), ("db.internal", 5433));
/// assert_eq!(upstream.ssl_mode(), SslMode::VerifyFull);
/// # Ok::<(), lacuna_base::Error>(())
/// ```
///
/// A host that begins with `/` is the folder of a Unix socket, in each of the forms that libpq reads:
///
/// ```
/// # use lacuna_proxy::Upstream;
/// let named: Upstream = "postgres:///?host=/var/run/postgresql&port=5433".parse()?;
/// let encoded: Upstream = "postgres://%2Fvar%2Frun%2Fpostgresql:5433".parse()?;
/// assert_eq!(named, encoded);
/// assert_eq!(named.host(), "/var/run/postgresql");
/// # Ok::<(), lacuna_base::Error>(())
/// ```
///
/// Several hosts are those of one server and its standbys, of which another one may be in its place later:
///
/// ```
/// # use lacuna_proxy::Upstream;
/// let upstream: Upstream = "postgres://db1.internal:5433,db2.internal/".parse()?;
/// assert!(upstream.hosts().eq([("db1.internal", 5433), ("db2.internal", 5432)]));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
///
/// MariaDB and MySQL are at `mysql://HOST:PORT` or `mariadb://HOST:PORT`, without TLS and Unix sockets:
///
/// ```
/// # use lacuna_proxy::{SslMode, Upstream};
/// let upstream: Upstream = "mysql://db.internal/".parse()?;
/// assert_eq!((upstream.port(), upstream.ssl_mode()), (3306, SslMode::Disable));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
///
/// User, password and name of a database are left out: clients bring their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    protocol: Protocol,
    hosts: Vec<Host>,
    ssl_mode: SslMode,
    authority: Option<PathBuf>,
    is_read_write: bool,
}

impl Upstream {
    /// The PostgreSQL server at `host` and `port`, with TLS if it offers it. A host that begins with `/` is the folder of a Unix socket.
    #[must_use]
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        Self::at(Protocol::Postgres, vec![Host { name: host.into(), port }])
    }

    const fn at(protocol: Protocol, hosts: Vec<Host>) -> Self {
        let ssl_mode = match protocol {
            Protocol::Postgres => SslMode::Prefer,
            Protocol::MySql => SslMode::Disable,
        };
        Self { protocol, hosts, ssl_mode, authority: None, is_read_write: false }
    }

    /// The same at this host, too. Without a cache hosts are tried in their order, from the one on that was reached last; with a cache
    /// sessions are begun at the one that takes writes: see [`CacheSettings`](crate::CacheSettings).
    #[must_use]
    pub fn with_host(mut self, host: impl Into<String>, port: u16) -> Self {
        self.hosts.push(Host { name: host.into(), port });
        self
    }

    /// Encrypts as `mode` says; [`SslMode::VerifyFull`] needs [`with_authority`](Self::with_authority).
    #[must_use]
    pub fn with_ssl_mode(self, mode: SslMode) -> Self {
        Self { ssl_mode: mode, ..self }
    }

    /// Takes only certificates that an authority of this file, PEM, has signed for the host's name.
    #[must_use]
    pub fn with_authority(self, path: impl Into<PathBuf>) -> Self {
        Self { ssl_mode: SslMode::VerifyFull, authority: Some(path.into()), ..self }
    }

    /// Begins sessions only where writes are taken, as `target_session_attrs=read-write`. That is so with several hosts and a cache,
    /// whose account asks them, and cannot be had otherwise: then the proxy does not start.
    #[must_use]
    pub fn with_read_write(self) -> Self {
        Self { is_read_write: true, ..self }
    }

    /// The name or address of the first host, or the folder of its Unix socket.
    pub fn host(&self) -> &str {
        &self.hosts[0].name
    }

    /// The port of the first host.
    pub fn port(&self) -> u16 {
        self.hosts[0].port
    }

    /// All hosts and their ports, in their order.
    pub fn hosts(&self) -> impl ExactSizeIterator<Item = (&str, u16)> {
        self.hosts.iter().map(|host| (&host.name[..], host.port))
    }

    /// Whether connections are encrypted.
    pub const fn ssl_mode(&self) -> SslMode {
        self.ssl_mode
    }

    pub(crate) const fn protocol(&self) -> Protocol {
        self.protocol
    }

    pub(crate) fn all_hosts(&self) -> &[Host] {
        &self.hosts
    }

    pub(crate) const fn is_read_write(&self) -> bool {
        self.is_read_write
    }

    /// The file with certificates of authorities.
    pub(crate) fn authority(&self) -> Option<&Path> {
        self.authority.as_deref()
    }

    fn with_parameter(self, name: &str, value: &str) -> Result<Self> {
        match name {
            "sslmode" => Ok(Self { ssl_mode: ssl_mode(value)?, ..self }),
            "sslrootcert" => Ok(Self { authority: Some(value.into()), ..self }),
            "target_session_attrs" => Ok(Self { is_read_write: is_read_write(value)?, ..self }),
            // They belong to the hosts.
            "host" | "port" => Ok(self),
            // It may be the rest of a password.
            _ if !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') => {
                Err(Error::invalid_input(
                    "what stands after `?` is no parameter; write a `?` in a password as %3F",
                ))
            }
            _ => {
                Err(Error::invalid_input(format!("the proxy knows no parameter {name}; leave it to clients")))
            }
        }
    }

    /// # Errors
    /// `InvalidInput` if no host is named, if a certificate is to be checked and no authority is named or the other way around, if a
    /// Unix socket is to be encrypted, or for what is there of PostgreSQL alone.
    pub(crate) fn checked(self) -> Result<Self> {
        if self.hosts.iter().any(|host| host.name.is_empty()) {
            return Err(no_place());
        }
        let has_sockets = self.hosts.iter().any(|host| host.socket().is_some());
        if self.protocol == Protocol::MySql {
            if has_sockets {
                return Err(Error::invalid_input(
                    "a Unix socket of MySQL or MariaDB is not known here yet: give mysql://HOST:PORT",
                ));
            }
            if self.ssl_mode != SslMode::Disable || self.authority.is_some() {
                return Err(Error::invalid_input(
                    "connections of the proxy to MySQL and MariaDB are not encrypted yet: leave sslmode and sslrootcert out, and                      keep the proxy and the server on one machine or in one trusted network",
                ));
            }
        }
        if has_sockets && !matches!(self.ssl_mode, SslMode::Disable | SslMode::Prefer) {
            return Err(Error::invalid_input("a Unix socket has no TLS; leave sslmode out"));
        }
        match (self.ssl_mode, &self.authority) {
            (SslMode::VerifyFull, None) => {
                Err(Error::invalid_input("sslmode=verify-full needs the file of an authority: sslrootcert"))
            }
            (SslMode::Disable | SslMode::Prefer | SslMode::Require, Some(_)) => {
                Err(Error::invalid_input("sslrootcert is read with sslmode=verify-full alone; add that"))
            }
            _ => Ok(self),
        }
    }
}

fn ssl_mode(text: &str) -> Result<SslMode> {
    Ok(match text {
        "disable" => SslMode::Disable,
        "prefer" => SslMode::Prefer,
        "require" => SslMode::Require,
        "verify-full" => SslMode::VerifyFull,
        _ => {
            return Err(Error::invalid_input(format!(
                "sslmode={text} is not known here: give disable, prefer, require or verify-full"
            )));
        }
    })
}

fn is_read_write(text: &str) -> Result<bool> {
    match text {
        "any" => Ok(false),
        "read-write" => Ok(true),
        _ => Err(Error::invalid_input(format!(
            "target_session_attrs={text} is not known here: give any or read-write"
        ))),
    }
}

impl FromStr for Upstream {
    type Err = Error;

    /// Reads `postgres://HOST:PORT,HOST:PORT/?sslmode=…&sslrootcert=…&target_session_attrs=…`; `host` and `port` may stand among the
    /// parameters, too. `mysql://` and `mariadb://` have hosts and ports alone.
    fn from_str(url: &str) -> Result<Self> {
        let parts = parts(url).ok_or_else(|| {
            Error::invalid_input(
                "the upstream is not a URL of PostgreSQL, MySQL or MariaDB: give postgres://HOST:PORT or mysql://HOST:PORT",
            )
        })?;
        let upstream = Self::at(parts.protocol, hosts(&parts)?);
        parts
            .parameters
            .iter()
            .try_fold(upstream, |upstream, (name, value)| upstream.with_parameter(name, value))?
            .checked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(url: &str) -> (String, u16) {
        let upstream: Upstream = url.parse().unwrap();
        (upstream.host().to_owned(), upstream.port())
    }

    #[test]
    fn hosts_and_ports_are_read() {
        assert_eq!(place("postgres://db"), ("db".to_owned(), 5432));
        assert_eq!(place("postgresql://me:p%40ss@db:7/shop?sslmode=disable"), ("db".to_owned(), 7));
        assert_eq!(place("postgres://[::1]:9/"), ("::1".to_owned(), 9));
        assert_eq!(place("postgres://[::1]"), ("::1".to_owned(), 5432));
        assert_eq!(place("postgres://me@%2Frun%2Fpg:7/shop"), ("/run/pg".to_owned(), 7));
        assert_eq!(place("postgres:///shop?host=/run/pg&port=7"), ("/run/pg".to_owned(), 7));
        assert_eq!(place("mysql://root:p%40ss@db/test"), ("db".to_owned(), 3306));
        assert_eq!(place("mariadb://[::1]:9/?sslmode=disable"), ("::1".to_owned(), 9));
    }

    #[test]
    fn a_folder_has_a_socket_and_a_host_has_none() {
        let socket = |url: &str| url.parse::<Upstream>().unwrap().hosts[0].socket();
        assert_eq!(socket("postgres:///?host=/run/pg&port=7"), Some(PathBuf::from("/run/pg/.s.PGSQL.7")));
        assert_eq!(socket("postgres://db:7"), None);
    }

    #[test]
    fn several_hosts_are_read_as_libpq_does() {
        let places = |url: &str| {
            let upstream: Upstream = url.parse().unwrap();
            let hosts = upstream.hosts().map(|(host, port)| format!("{host} {port}"));
            hosts.collect::<Vec<_>>().join(", ")
        };
        for (url, expected) in [
            ("postgres://a:1,b:2/db", "a 1, b 2"),
            ("postgres://me:p%40ss@a,b:2,[::1]:3", "a 5432, b 2, ::1 3"),
            ("postgres:///?host=a,/run/pg&port=1,2", "a 1, /run/pg 2"),
            ("postgres:///?port=7&host=a,b", "a 7, b 7"),
            ("postgres:///?host=a,b", "a 5432, b 5432"),
            ("postgres://a:1,b:2/?port=3", "a 3, b 3"),
        ] {
            assert_eq!(places(url), expected, "{url}");
        }
        let same = Upstream::new("a", 1).with_host("b", 2);
        assert_eq!("postgres://a:1,b:2".parse::<Upstream>().unwrap(), same);
        let is_read_write = |value: &str| {
            let url = format!("postgres://a,b/?target_session_attrs={value}");
            url.parse::<Upstream>().map(|upstream| upstream.is_read_write())
        };
        assert!(!is_read_write("any").unwrap() && is_read_write("read-write").unwrap());
        assert!(is_read_write("standby").unwrap_err().to_string().contains("give any or read-write"));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let wrong = [
            ("redis://db", "give postgres://HOST:PORT or mysql://HOST:PORT"),
            ("mysql://", "has no HOST:PORT"),
            ("mysql:///?host=/run/mysqld", "a Unix socket of MySQL"),
            ("mysql://db/?sslmode=prefer", "are not encrypted yet"),
            ("mariadb://db/?sslrootcert=a", "are not encrypted yet"),
            ("postgres://", "has no HOST:PORT"),
            ("postgres://db:x", "has no HOST:PORT"),
            ("postgres:///?port=7", "has no HOST:PORT"),
            ("postgres:///?host=/run/pg&port=x", "has no HOST:PORT"),
            ("postgres:///?host=/run/pg&sslmode=require", "a Unix socket has no TLS"),
            ("postgres://a,,b", "has no HOST:PORT"),
            ("postgres://a,b:x", "has no HOST:PORT"),
            ("postgres://a,b,c/?port=1,2", "2 ports for 3 hosts"),
            ("postgres://a,%2Frun/?sslmode=require", "a Unix socket has no TLS"),
            ("postgres://db?sslmode=allow", "is not known here"),
            ("postgres://db?sslmode=verify-full", "needs the file of an authority"),
            ("postgres://db?sslmode=require&sslrootcert=a", "with sslmode=verify-full alone"),
            ("postgres://db?application_name=a", "no parameter application_name"),
        ];
        for (url, expected) in wrong {
            let why = url.parse::<Upstream>().unwrap_err().to_string();
            assert!(why.contains(expected), "{url}: {why}");
        }
    }
}
