//! Who may see the page.

use std::net::{IpAddr, Ipv6Addr};

use super::Place;

impl Place {
    /// Other machines see it only where that was asked for. A browser of this machine must have asked for it by a name of this
    /// machine: a web site may let its own name lead here, and would read the answer.
    ///
    /// # Errors
    /// Why the page is not shown.
    pub(super) fn admits(&self, host: Option<&str>) -> Result<(), String> {
        if self.is_for_all {
            return Ok(());
        }
        if !self.address.ip().to_canonical().is_loopback() {
            let why = "the page and /status.json show data of users, and this address is for other machines, too: \
                       give --page, or an address of this machine alone";
            return Err(why.to_owned());
        }
        let name = host.map(name).unwrap_or_default();
        let is_own = name.is_empty()
            || name.eq_ignore_ascii_case("localhost")
            || name == self.name
            || is_address(name);
        if is_own {
            Ok(())
        } else {
            Err(format!("{name} is no name of this machine: ask for {}", self.address))
        }
    }
}

/// A host without its port.
fn name(host: &str) -> &str {
    let without = host.rsplit_once(':').map_or(host, |(name, _)| name);
    if host.ends_with(']') { host } else { without }
}

fn is_address(name: &str) -> bool {
    let inner = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    name.parse::<IpAddr>().is_ok() || inner.is_some_and(|name| name.parse::<Ipv6Addr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(address: &str, is_for_all: bool) -> Place {
        Place { address: address.parse().unwrap(), name: "db.internal".to_owned(), is_for_all }
    }

    #[test]
    fn other_names_and_other_machines_are_refused() {
        let own = place("127.0.0.1:9600", false);
        for host in [
            "127.0.0.1:9600",
            "localhost:9600",
            "LOCALHOST",
            "[::1]:9600",
            "[::1]",
            "db.internal:9600",
            "127.0.0.1",
        ] {
            assert_eq!(own.admits(Some(host)), Ok(()), "{host}");
        }
        assert_eq!(own.admits(None), Ok(()));
        for host in ["evil.example:9600", "localhost.evil.example", "127.0.0.1.evil.example:80", "evil"] {
            assert!(own.admits(Some(host)).is_err(), "{host}");
        }
        for address in ["0.0.0.0:9600", "192.168.0.7:9600", "[::]:9600"] {
            assert!(place(address, false).admits(Some("127.0.0.1:9600")).unwrap_err().contains("--page"));
            assert_eq!(place(address, true).admits(Some("proxy.example")), Ok(()));
        }
        assert_eq!(place("[::ffff:127.0.0.1]:9600", false).admits(None), Ok(()));
    }
}
