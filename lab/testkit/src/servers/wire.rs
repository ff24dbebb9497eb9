//! A wire to a server whose host can vanish: no reset, no answer.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::mem;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Passes on what comes to a port of its own.
#[derive(Debug)]
pub struct Wire {
    port: u16,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    is_gone: bool,
    /// How often the host has vanished. A connection of an earlier time is swallowed for ever.
    time: u64,
    delay: Duration,
    /// The ends at the server of open connections, by their numbers.
    servers: BTreeMap<u64, TcpStream>,
    last: u64,
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Wire {
    /// A wire to a port of this machine.
    ///
    /// # Panics
    /// If there is no port for it.
    pub fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let own = listener.local_addr().expect("it listens").port();
        let state =
            State { is_gone: false, time: 0, delay: Duration::ZERO, servers: BTreeMap::new(), last: 0 };
        let state = Arc::new(Mutex::new(state));
        let shared = state.clone();
        thread::spawn(move || {
            for caller in listener.incoming().flatten() {
                let state = shared.clone();
                thread::spawn(move || pass(&caller, port, &state));
            }
        });
        Self { port: own, state }
    }

    /// The URL of a server of this machine, and a wire to it in its place.
    ///
    /// # Panics
    /// If the URL has no port of 127.0.0.1.
    pub fn before(url: &str) -> (Self, String) {
        let (head, rest) = url.split_once("127.0.0.1:").expect("a URL of this machine");
        let digits = rest.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(rest.len());
        let wire = Self::to(rest[..digits].parse().expect("a port"));
        let url = format!("{head}127.0.0.1:{}{}", wire.port, &rest[digits..]);
        (wire, url)
    }

    /// The host is gone: what was connected to it gets no answer any more, and what connects gets none.
    pub fn vanish(&self) {
        let mut state = locked(&self.state);
        state.is_gone = true;
        state.time += 1;
        // The server ends what it did for them, as it does when its machine starts again.
        for server in mem::take(&mut state.servers).into_values() {
            drop(server.shutdown(Shutdown::Both));
        }
    }

    /// The host is back: it answers new connections.
    pub fn come_back(&self) {
        locked(&self.state).is_gone = false;
    }

    /// Answers take this long from now on.
    pub fn delay(&self, delay: Duration) {
        locked(&self.state).delay = delay;
    }
}

/// One connection.
fn pass(caller: &TcpStream, port: u16, state: &Arc<Mutex<State>>) -> Option<()> {
    let (number, server) = {
        let mut state = locked(state);
        let server = TcpStream::connect(("127.0.0.1", port)).ok()?;
        state.last += 1;
        let number = state.last;
        state.servers.insert(number, server.try_clone().ok()?);
        (number, server)
    };
    let time = locked(state).time;
    let (from, to, back) = (server.try_clone().ok()?, caller.try_clone().ok()?, state.clone());
    let answers = thread::spawn(move || copy(&from, &to, &back, time, true));
    copy(caller, &server, state, time, false);
    drop(answers.join());
    locked(state).servers.remove(&number);
    Some(())
}

fn copy(mut from: &TcpStream, mut to: &TcpStream, state: &Mutex<State>, time: u64, is_answer: bool) {
    let mut bytes = [0; 4_096];
    loop {
        let count = from.read(&mut bytes).unwrap_or(0);
        let (is_there, delay) = {
            let state = locked(state);
            (!state.is_gone && state.time == time, state.delay)
        };
        match (count, is_there) {
            // The other end does not learn of it.
            (0, false) => return,
            (0, true) => return drop(to.shutdown(Shutdown::Both)),
            (_, false) => {}
            (count, true) => {
                thread::sleep(if is_answer { delay } else { Duration::ZERO });
                if to.write_all(&bytes[..count]).is_err() {
                    return;
                }
            }
        }
    }
}
