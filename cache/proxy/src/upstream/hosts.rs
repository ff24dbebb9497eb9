//! The hosts in a URL, in the forms that libpq reads: `postgres://a:5432,b:5433/db`, and `postgres:///db?host=a,b&port=5432,5433`.

use std::fmt;
use std::path::{Path, PathBuf};

use lacuna_base::{Error, Result};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::protocol::Protocol;
use crate::listeners::socket_of;

/// What is encoded in the name of a host.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'-').remove(b'_');

/// Where one server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Host {
    /// A name or an address, or the folder of a Unix socket.
    pub(crate) name: String,
    pub(crate) port: u16,
}

impl Host {
    /// The Unix socket, if that is where it is.
    pub(crate) fn socket(&self) -> Option<PathBuf> {
        self.name.starts_with('/').then(|| socket_of(Path::new(&self.name), self.port))
    }
}

impl fmt::Display for Host {
    /// As it stands in a URL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, port } = self;
        if name.contains(':') {
            write!(f, "[{name}]:{port}")
        } else {
            write!(f, "{}:{port}", utf8_percent_encode(name, ENCODED))
        }
    }
}

/// A URL in its parts.
#[derive(Debug)]
pub(super) struct Parts<'u> {
    pub(super) protocol: Protocol,
    scheme: &'u str,
    /// User and password with the `@` after them, or nothing.
    login: &'u str,
    hosts: &'u str,
    /// The database with the `/` before it, or nothing.
    path: &'u str,
    pub(super) parameters: Vec<(&'u str, &'u str)>,
}

impl Parts<'_> {
    fn parameter(&self, wanted: &str) -> Option<&str> {
        let found = self.parameters.iter().rev().find(|(name, _)| *name == wanted);
        found.map(|(_, value)| *value)
    }
}

/// The parts of a URL; `None` for one of another kind of database.
pub(super) fn parts(url: &str) -> Option<Parts<'_>> {
    let (scheme, rest) = url.split_once("://")?;
    let protocol = Protocol::of(scheme)?;
    let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = place.split_at(place.find('/').unwrap_or(place.len()));
    let (login, hosts) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
    let parameters = parameters.split('&').filter(|parameter| !parameter.is_empty());
    let parameters =
        parameters.map(|parameter| parameter.split_once('=').unwrap_or((parameter, ""))).collect();
    Some(Parts { protocol, scheme, login, hosts, path, parameters })
}

/// The hosts of a URL. Names may be missing.
///
/// # Errors
/// `InvalidInput` if a port is no number, or there are ports for other hosts than these.
pub(super) fn hosts(parts: &Parts<'_>) -> Result<Vec<Host>> {
    let default_port = parts.protocol.default_port();
    let named = parts.hosts.split(',').map(|host| host_and_port(host, default_port));
    let named = named.collect::<Result<Vec<_>>>()?;
    let names: Vec<String> = match parts.parameter("host") {
        Some(names) => names.split(',').map(decoded).collect::<Result<_>>()?,
        None => named.iter().map(|host| host.name.clone()).collect(),
    };
    let ports: Vec<u16> = match parts.parameter("port") {
        Some(ports) => {
            ports.split(',').map(|port| port.parse().map_err(|_| no_place())).collect::<Result<_>>()?
        }
        None => named.iter().map(|host| host.port).collect(),
    };
    if ports.len() != 1 && ports.len() != names.len() {
        return Err(Error::invalid_input(format!(
            "{} ports for {} hosts: give one for each, or one for all",
            ports.len(),
            names.len()
        )));
    }
    let hosts = names.into_iter().zip(ports.into_iter().cycle());
    Ok(hosts.map(|(name, port)| Host { name, port }).collect())
}

/// Each host of a URL with a URL of it alone. A URL of one host, or of another kind of database, stays as it is.
///
/// # Errors
/// Those of the hosts.
pub(crate) fn each_alone(url: &str) -> Result<Vec<(String, String)>> {
    let Some(parts) = parts(url).filter(|parts| parts.protocol == Protocol::Postgres) else {
        return Ok(vec![(String::new(), url.to_owned())]);
    };
    let hosts = hosts(&parts)?;
    if let [host] = &hosts[..] {
        return Ok(vec![(host.to_string(), url.to_owned())]);
    }
    let Parts { scheme, login, path, parameters, .. } = &parts;
    let others =
        parameters.iter().filter(|(name, _)| !matches!(*name, "host" | "port" | "target_session_attrs"));
    let others: Vec<String> = others.map(|(name, value)| format!("{name}={value}")).collect();
    let others = if others.is_empty() { String::new() } else { format!("?{}", others.join("&")) };
    let alone = |host: Host| (host.to_string(), format!("{scheme}://{login}{host}{path}{others}"));
    Ok(hosts.into_iter().map(alone).collect())
}

/// The parts of `HOST:PORT`; an address of version 6 is in brackets. The host may be missing.
fn host_and_port(text: &str, default_port: u16) -> Result<Host> {
    let (host, port) = match text.strip_prefix('[').and_then(|text| text.split_once(']')) {
        Some((host, port)) => (host, port.strip_prefix(':')),
        None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
    };
    let port = port.map_or(Ok(default_port), |port| port.parse().map_err(|_| no_place()))?;
    Ok(Host { name: decoded(host)?, port })
}

fn decoded(text: &str) -> Result<String> {
    let decoded = percent_decode_str(text).decode_utf8().map_err(|_| no_place())?;
    Ok(decoded.into_owned())
}

pub(super) fn no_place() -> Error {
    Error::invalid_input(
        "the upstream has no HOST:PORT after ://, nor a folder of a Unix socket as ?host=/FOLDER",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_has_a_url_of_its_own() {
        let alone = |url: &str| each_alone(url).unwrap().into_iter().map(|(_, url)| url).collect::<Vec<_>>();
        assert_eq!(
            alone(
                "postgres://me:p%40@a:1,[::1]:2/db?sslmode=require&target_session_attrs=read-write&options=-c%20x=y"
            ),
            [
                "postgres://me:p%40@a:1/db?sslmode=require&options=-c%20x=y",
                "postgres://me:p%40@[::1]:2/db?sslmode=require&options=-c%20x=y",
            ]
        );
        assert_eq!(
            alone("postgresql://me@/db?port=7&host=/run/pg,db-1.x_y"),
            ["postgresql://me@%2Frun%2Fpg:7/db", "postgresql://me@db-1.x_y:7/db"]
        );
        assert_eq!(alone("postgres://a,b"), ["postgres://a:5432", "postgres://b:5432"]);
        let names: Vec<String> =
            each_alone("postgres://me:secret@a,b").unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a:5432", "b:5432"], "without the login");
        for url in ["postgres://me@a:1/db?host=b&application_name=x", "postgres:///db", "mysql://a,b", "x"] {
            assert_eq!(alone(url), [url]);
        }
        assert!(each_alone("postgres://a,b:x").is_err());
    }
}
