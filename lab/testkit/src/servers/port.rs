//! Ports for servers, which are given a number before they listen.
//!
//! A port that the system picks (`:0`) and that is released may be in use a moment later: by another test, or by an
//! outgoing connection, even one to itself while a test asks whether the server is there. So ports are taken from
//! below those that systems give to connections (32,768 and up on Linux), and each is one process's until that ends:
//! it holds a socket in the abstract namespace whose name is the number. A server that is killed finds its port free
//! when it comes back.

use std::net::TcpListener;
use std::ops::Range;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::{Mutex, PoisonError};

const PORTS: Range<u16> = 12_000..22_000;

/// The sockets that reserve our ports, and the next port to look at.
static TAKEN: Mutex<(Vec<UnixListener>, Option<u16>)> = Mutex::new((Vec::new(), None));

/// A port at which no process listens; no other test is given it while this process lives.
///
/// # Panics
/// If there is none.
pub fn free_port() -> u16 {
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let (held, next) = &mut *taken;
    for _ in PORTS {
        let port = next.unwrap_or_else(first);
        *next = Some(if port + 1 < PORTS.end { port + 1 } else { PORTS.start });
        if let Some(name) = take(port) {
            held.push(name);
            return port;
        }
    }
    panic!("no port from {PORTS:?} is free");
}

/// Far from where other processes begin.
fn first() -> u16 {
    let place = std::process::id().wrapping_mul(61) % u32::try_from(PORTS.len()).expect("ports are 16 bits");
    PORTS.start + u16::try_from(place).expect("less than there are ports")
}

/// The socket that reserves a port, unless another test has it or a process listens there.
fn take(port: u16) -> Option<UnixListener> {
    let name = SocketAddr::from_abstract_name(format!("lacuna-test-port-{port}")).ok()?;
    let held = UnixListener::bind_addr(&name).ok()?;
    TcpListener::bind(("127.0.0.1", port)).ok().map(|_| held)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_port_is_given_once() {
        let ports: BTreeSet<u16> = (0..200).map(|_| free_port()).collect();
        assert!(ports.len() == 200 && ports.iter().all(|port| PORTS.contains(port)));
        // Another process asks in the same way.
        assert!(ports.iter().all(|port| take(*port).is_none()));
    }
}
