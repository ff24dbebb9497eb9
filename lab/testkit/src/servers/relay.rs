//! The wires between members of a cluster, which can be cut.
//!
//! Each member is announced to the others at a relay, which learns the caller from the first request of a connection
//! (etcd's header `X-Server-From`), and passes bytes on as long as neither end is cut off.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Which members are cut off, and what runs over the wires.
#[derive(Debug, Default)]
pub(crate) struct Wires {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    cut: BTreeSet<String>,
    /// Open connections by their number.
    open: BTreeMap<u64, Connection>,
    last: u64,
}

/// A connection, and the two members at its ends; the one that is called may become known after it was opened.
#[derive(Debug)]
struct Connection {
    from: String,
    to: Name,
    streams: [TcpStream; 2],
}

/// What a member calls itself; empty until that is known.
pub(crate) type Name = Arc<Mutex<String>>;

fn known(name: &Name) -> String {
    name.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

impl Wires {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing reaches this member or comes from it, from now on.
    pub(crate) fn cut(&self, member: &str) {
        let mut state = self.state();
        state.cut.insert(member.to_owned());
        state.open.retain(|_, Connection { from, to, streams }| {
            let is_cut = from == member || known(to) == member;
            if is_cut {
                streams.iter().for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
            }
            !is_cut
        });
    }

    pub(crate) fn mend(&self, member: &str) {
        self.state().cut.remove(member);
    }

    /// Passes on what comes to `listener` to the member `to`, at `port`, until the process ends.
    pub(crate) fn relay(self: &Arc<Self>, listener: TcpListener, port: u16, to: Name) {
        let wires = self.clone();
        thread::spawn(move || {
            for caller in listener.incoming().flatten() {
                let (wires, to) = (wires.clone(), to.clone());
                thread::spawn(move || wires.pass(caller, port, &to));
            }
        });
    }

    /// One connection.
    fn pass(&self, mut caller: TcpStream, port: u16, to: &Name) -> Option<()> {
        let mut head = Vec::new();
        let mut bytes = [0; 4_096];
        while !head.windows(4).any(|end| end == b"\r\n\r\n") {
            let count = caller.read(&mut bytes).ok().filter(|count| *count > 0)?;
            head.extend_from_slice(&bytes[..count]);
        }
        let member = TcpStream::connect(("127.0.0.1", port)).ok()?;
        let streams = [caller.try_clone().ok()?, member.try_clone().ok()?];
        let number = self.open(Connection { from: caller_of(&head), to: to.clone(), streams })?;
        let passed = pass_on(&head, caller, member);
        self.state().open.remove(&number);
        passed
    }

    /// The number of a connection that is open from now on; `None` if one of its ends is cut off.
    fn open(&self, connection: Connection) -> Option<u64> {
        let mut state = self.state();
        if state.cut.contains(&connection.from) || state.cut.contains(&known(&connection.to)) {
            return None;
        }
        state.last += 1;
        let number = state.last;
        state.open.insert(number, connection);
        Some(number)
    }
}

/// Both directions, until both have ended.
fn pass_on(head: &[u8], mut caller: TcpStream, mut member: TcpStream) -> Option<()> {
    member.write_all(head).ok()?;
    let (mut back_from, mut back_to) = (member.try_clone().ok()?, caller.try_clone().ok()?);
    let back = thread::spawn(move || {
        drop(std::io::copy(&mut back_from, &mut back_to));
        drop(back_to.shutdown(Shutdown::Both));
    });
    drop(std::io::copy(&mut caller, &mut member));
    drop(member.shutdown(Shutdown::Both));
    back.join().ok()
}

fn caller_of(head: &[u8]) -> String {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let line = head.lines().find_map(|line| line.strip_prefix("x-server-from: ").map(str::to_owned));
    line.unwrap_or_default().trim().to_owned()
}
