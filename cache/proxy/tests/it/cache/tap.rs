//! A line between the proxy and the server that is slow at times: replies wait, and overtake nothing of their own session. It can be
//! cut, with what is under way on it.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Relays to a port of this machine until the test ends.
pub(crate) struct Tap {
    pub(crate) port: u16,
    /// Replies wait as long as this is set.
    pub(crate) is_stopped: Arc<AtomicBool>,
    /// Requests wait that have this text in them.
    pub(crate) stopped_text: Arc<Mutex<Option<&'static str>>>,
    lines: Arc<Lines>,
}

/// Both ends of each line that was not closed, by its number.
type Lines = Mutex<BTreeMap<u64, [TcpStream; 2]>>;

impl Tap {
    /// One reply in 16 waits up to `max_delay`.
    pub(crate) fn before(server: u16, max_delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let is_stopped = Arc::new(AtomicBool::new(false));
        let (stopped, state) = (is_stopped.clone(), Arc::new(AtomicU64::new(1)));
        let stopped_text = Arc::new(Mutex::new(None));
        let text = stopped_text.clone();
        let lines = Arc::new(Lines::default());
        let all = lines.clone();
        thread::spawn(move || {
            for (number, client) in (0..).zip(listener.incoming().flatten()) {
                let Ok(upstream) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                let (stopped, state, text, all) = (stopped.clone(), state.clone(), text.clone(), all.clone());
                let ends = [&client, &upstream].map(|end| end.try_clone().unwrap());
                let [from, to] = ends.each_ref().map(|end| end.try_clone().unwrap());
                all.lock().unwrap().insert(number, ends);
                thread::spawn(move || {
                    pass(from, to, |request| {
                        let waits = || text.lock().unwrap().is_some_and(|text: &str| holds(request, text));
                        while waits() {
                            thread::sleep(Duration::from_millis(1));
                        }
                    });
                });
                thread::spawn(move || {
                    pass(upstream, client, |_| {
                        while stopped.load(Ordering::SeqCst) {
                            thread::sleep(Duration::from_millis(1));
                        }
                        let random = state
                            .fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed)
                            .wrapping_mul(0xD134_2543_DE82_EF95)
                            >> 32;
                        if random % 16 == 0 && !max_delay.is_zero() {
                            thread::sleep(max_delay.mul_f64((random >> 8) as f64 / f64::from(1 << 24)));
                        }
                    });
                    all.lock().unwrap().remove(&number);
                });
            }
        });
        Self { port, is_stopped, stopped_text, lines }
    }

    /// Cuts one of the lines, which `choice` chooses; what is under way on it is lost.
    pub(crate) fn cut_one(&self, choice: usize) {
        let lines = self.lines.lock().unwrap();
        let Some(ends) = lines.values().nth(choice % lines.len().max(1)) else { return };
        ends.iter().for_each(|end| drop(end.shutdown(Shutdown::Both)));
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, wait: impl Fn(&[u8])) {
    drop((from.set_nodelay(true), to.set_nodelay(true)));
    let mut buffer = [0; 16_384];
    while let Ok(count) = from.read(&mut buffer) {
        wait(&buffer[..count]);
        if count == 0 || to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    drop((to.shutdown(Shutdown::Write), from.shutdown(Shutdown::Read)));
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}
