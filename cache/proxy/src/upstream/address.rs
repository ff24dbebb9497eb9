//! Where the database is.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use lacuna_base::{Error, Result};
use percent_encoding::percent_decode_str;

use crate::listeners::socket_of;

const DEFAULT_PORT: u16 = 5432;

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
/// User, password and name of a database are left out: clients bring their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    host: String,
    port: u16,
    ssl_mode: SslMode,
    authority: Option<PathBuf>,
}

impl Upstream {
    /// The database at `host` and `port`, with TLS if it offers it. A host that begins with `/` is the folder of a Unix socket.
    #[must_use]
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        Self { host: host.into(), port, ssl_mode: SslMode::Prefer, authority: None }
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

    /// The name or address of the host, or the folder of its Unix socket.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Whether connections are encrypted.
    pub const fn ssl_mode(&self) -> SslMode {
        self.ssl_mode
    }

    /// The Unix socket, if that is where it is.
    pub(crate) fn socket(&self) -> Option<PathBuf> {
        self.host.starts_with('/').then(|| socket_of(Path::new(&self.host), self.port))
    }

    /// The file with certificates of authorities.
    pub(crate) fn authority(&self) -> Option<&Path> {
        self.authority.as_deref()
    }

    fn with_parameter(self, name: &str, value: &str) -> Result<Self> {
        match name {
            "sslmode" => Ok(Self { ssl_mode: ssl_mode(value)?, ..self }),
            "sslrootcert" => Ok(Self { authority: Some(value.into()), ..self }),
            "host" => Ok(Self { host: decoded(value)?, ..self }),
            "port" => Ok(Self { port: value.parse().map_err(|_| no_place())?, ..self }),
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
    /// `InvalidInput` if no host is named, if a certificate is to be checked and no authority is named or the other way around, or if a
    /// Unix socket is to be encrypted.
    pub(crate) fn checked(self) -> Result<Self> {
        if self.host.is_empty() {
            return Err(no_place());
        }
        if self.host.starts_with('/') && !matches!(self.ssl_mode, SslMode::Disable | SslMode::Prefer) {
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

impl FromStr for Upstream {
    type Err = Error;

    /// Reads `postgres://HOST:PORT/?sslmode=…&sslrootcert=…`; `host` and `port` may stand among the parameters, too.
    fn from_str(url: &str) -> Result<Self> {
        let scheme = url.strip_prefix("postgres://").or_else(|| url.strip_prefix("postgresql://"));
        let rest = scheme.ok_or_else(|| {
            Error::invalid_input("the upstream is not a URL of PostgreSQL: give postgres://HOST:PORT")
        })?;
        let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let authority = place.split('/').next().unwrap_or_default();
        let authority = authority.rsplit_once('@').map_or(authority, |(_, authority)| authority);
        let (host, port) = host_and_port(authority)?;
        let named = parameters.split('&').filter(|parameter| !parameter.is_empty());
        named
            .map(|parameter| parameter.split_once('=').unwrap_or((parameter, "")))
            .try_fold(Self::new(host, port), |upstream, (name, value)| upstream.with_parameter(name, value))?
            .checked()
    }
}

/// The parts of `HOST:PORT`; an address of version 6 is in brackets. The host may be missing.
fn host_and_port(text: &str) -> Result<(String, u16)> {
    let (host, port) = match text.strip_prefix('[').and_then(|text| text.split_once(']')) {
        Some((host, port)) => (host, port.strip_prefix(':')),
        None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
    };
    let port = port.map_or(Ok(DEFAULT_PORT), |port| port.parse().map_err(|_| no_place()))?;
    Ok((decoded(host)?, port))
}

fn decoded(text: &str) -> Result<String> {
    let decoded = percent_decode_str(text).decode_utf8().map_err(|_| no_place())?;
    Ok(decoded.into_owned())
}

fn no_place() -> Error {
    Error::invalid_input(
        "the upstream has no HOST:PORT after postgres://, nor a folder of a Unix socket as ?host=/FOLDER",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(url: &str) -> (String, u16) {
        let upstream: Upstream = url.parse().unwrap();
        (upstream.host, upstream.port)
    }

    #[test]
    fn hosts_and_ports_are_read() {
        assert_eq!(place("postgres://db"), ("db".to_owned(), 5432));
        assert_eq!(place("postgresql://me:p%40ss@db:7/shop?sslmode=disable"), ("db".to_owned(), 7));
        assert_eq!(place("postgres://[::1]:9/"), ("::1".to_owned(), 9));
        assert_eq!(place("postgres://[::1]"), ("::1".to_owned(), 5432));
        assert_eq!(place("postgres://me@%2Frun%2Fpg:7/shop"), ("/run/pg".to_owned(), 7));
        assert_eq!(place("postgres:///shop?host=/run/pg&port=7"), ("/run/pg".to_owned(), 7));
    }

    #[test]
    fn a_folder_has_a_socket_and_a_host_has_none() {
        let socket = |url: &str| url.parse::<Upstream>().unwrap().socket();
        assert_eq!(socket("postgres:///?host=/run/pg&port=7"), Some(PathBuf::from("/run/pg/.s.PGSQL.7")));
        assert_eq!(socket("postgres://db:7"), None);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let wrong = [
            ("mysql://db", "give postgres://HOST:PORT"),
            ("postgres://", "has no HOST:PORT"),
            ("postgres://db:x", "has no HOST:PORT"),
            ("postgres:///?port=7", "has no HOST:PORT"),
            ("postgres:///?host=/run/pg&port=x", "has no HOST:PORT"),
            ("postgres:///?host=/run/pg&sslmode=require", "a Unix socket has no TLS"),
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
