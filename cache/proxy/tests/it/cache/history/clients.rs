//! Readers that check what they see, and writers, definers and trespassers beside them.

use std::io::Write as _;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use super::{History, KEYS, UNDONE, WRITERS};
use crate::raw::{Raw, Received, V3_0, bind, execute, parse, query, startup, sync};

/// Numbers from a seed.
pub(crate) struct Random(u64);

impl Random {
    /// From a seed of the moment, which is printed.
    pub(crate) fn new() -> Self {
        let seed = u64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() & 0xffff_ffff).unwrap();
        println!("seed {seed}");
        Self::of(seed)
    }

    /// From this seed.
    pub(crate) const fn of(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, bound: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// A client that connects again after an error of its connection.
struct Client {
    port: u16,
    user: &'static str,
    raw: Option<Raw>,
    is_prepared: bool,
}

impl Client {
    const fn new(port: u16, user: &'static str) -> Self {
        Self { port, user, raw: None, is_prepared: false }
    }

    /// The answer, if the connection has lived for so long.
    fn ask(&mut self, bytes: &[u8]) -> Option<Vec<Received>> {
        let raw = self.connected()?;
        let answer = raw.stream.write_all(bytes).ok().map(|()| raw.until_ready());
        let answer = answer.filter(|answer| answer.last().is_some_and(|(tag, _)| *tag == b'Z'));
        if answer.is_none() {
            self.leave();
            thread::sleep(Duration::from_millis(20));
        }
        answer
    }

    fn connected(&mut self) -> Option<&mut Raw> {
        if self.raw.is_none() {
            // A server that starts anew refuses connections.
            let Some(mut raw) = Raw::try_connect(self.port) else {
                thread::sleep(Duration::from_millis(50));
                return None;
            };
            raw.stream.write_all(&startup(V3_0, &[("user", self.user), ("database", "postgres")])).ok()?;
            let is_ready = raw.until_ready().last().is_some_and(|(tag, _)| *tag == b'Z');
            self.is_prepared = false;
            self.raw = Some(raw).filter(|_| is_ready);
            if self.raw.is_none() {
                thread::sleep(Duration::from_millis(50));
            }
        }
        self.raw.as_mut()
    }

    fn leave(&mut self) {
        self.raw = None;
    }

    /// A client whose transaction went wrong begins anew.
    fn leaves_unless(&mut self, is_done: bool) -> bool {
        if !is_done {
            self.leave();
        }
        is_done
    }

    /// Whether a statement of the simple protocol was done.
    fn run(&mut self, sql: &str) -> bool {
        self.ask(&query(sql)).is_some_and(|answer| answer.iter().all(|(tag, _)| *tag != b'E'))
    }

    /// Versions of keys from `low` to `high`, with the keys.
    fn versions(&mut self, (low, high): (i64, i64), mode: i64) -> Option<Vec<(i64, i64)>> {
        let text = "SELECT k, version FROM rows WHERE k BETWEEN $1 AND $2";
        let values = [low.to_string(), high.to_string()];
        let values = [&values[0][..], &values[1]];
        let answer = match mode {
            0 => {
                self.ask(&query(&format!("SELECT k, version FROM rows WHERE k >= {low} AND k <= {high}")))?
            }
            1 => self.ask(&[parse("", text), bind("", "", &values), execute("", 0), sync()].concat())?,
            2 => {
                self.ask(&query("BEGIN"))?;
                let answer = self
                    .ask(&query(&format!("SELECT k, version FROM rows WHERE k BETWEEN {low} AND {high}")))?;
                self.ask(&query("COMMIT"))?;
                answer
            }
            _ => {
                self.connected()?;
                if !self.is_prepared {
                    self.ask(&[parse("read", text), sync()].concat())?;
                    self.is_prepared = true;
                }
                self.ask(&[bind("", "read", &values), execute("", 0), sync()].concat())?
            }
        };
        if answer.iter().any(|(tag, _)| *tag == b'E') {
            return None;
        }
        Some(answer.iter().filter(|(tag, _)| *tag == b'D').map(|(_, row)| pair(row)).collect())
    }
}

fn pair(row: &[u8]) -> (i64, i64) {
    let number = |at: usize| {
        let len = usize::try_from(u32::from_be_bytes(row[at..at + 4].try_into().unwrap())).unwrap();
        let text = std::str::from_utf8(&row[at + 4..at + 4 + len]).unwrap();
        (text.parse::<i64>().unwrap(), at + 4 + len)
    };
    let (key, next) = number(2);
    (key, number(next).0)
}

pub(super) fn reads(history: &History, port: u16, number: u64) {
    let mut random = Random(history.seed ^ (number << 40));
    let mut client = Client::new(port, "reader");
    while !history.is_over() {
        let low = random.below(KEYS);
        let high = (low + random.below(5) / 3).min(KEYS - 1);
        let floors: Vec<i64> = (low..=high).map(|key| history.floor(key)).collect();
        let Some(mut found) = client.versions((low, high), random.below(6)) else { continue };
        history.reads.fetch_add(1, Ordering::Relaxed);
        found.sort_unstable();
        let keys: Vec<i64> = found.iter().map(|(key, _)| *key).collect();
        if keys != (low..=high).collect::<Vec<_>>() {
            history.violated(format!("{low} to {high}: {found:?}"));
        }
        for ((key, version), floor) in found.into_iter().zip(floors) {
            if version < floor || version >= UNDONE {
                history.violated(format!("key {key} shows {version} after {floor}"));
            }
            history.raise(key, version);
        }
    }
}

/// One writer for keys that leave this remainder.
pub(super) fn writes(history: &History, port: u16, remainder: i64) {
    let mut random = Random(history.seed ^ u64::try_from(remainder + 100).unwrap());
    let mut client = Client::new(port, "postgres");
    let mut next = 0;
    while !history.is_over() {
        thread::sleep(Duration::from_millis(10 + u64::try_from(random.below(40)).unwrap()));
        next += 1;
        let key = random.below(KEYS / WRITERS) * WRITERS + remainder;
        if write(&mut client, &mut random, key, next) {
            history.raise(key, next);
            history.writes.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Whether the version was certainly committed.
fn write(client: &mut Client, random: &mut Random, key: i64, version: i64) -> bool {
    let set = |version: i64| format!("UPDATE rows SET version = {version} WHERE k = {key}");
    let undone = set(UNDONE + version);
    // What may do anything closes the cache until the catalogue was read: it is rare, so that there are hits.
    match random.below(14) {
        0 | 1 => client.run(&set(version)),
        2 => {
            let values = [version.to_string(), key.to_string()];
            let text = "UPDATE rows SET version = $1 WHERE k = $2";
            let bound = bind("", "", &[&values[0], &values[1]]);
            let answer = client.ask(&[parse("", text), bound, execute("", 0), sync()].concat());
            answer.is_some_and(|answer| answer.iter().all(|(tag, _)| *tag != b'E'))
        }
        3 | 4 => {
            let is_done = ["BEGIN", &set(version), "COMMIT"].iter().all(|step| client.run(step));
            client.leaves_unless(is_done)
        }
        5 => {
            // A step counts only if the one before it was done: a new connection would be in no transaction.
            let is_done = ["BEGIN", &undone, "ROLLBACK"].iter().all(|step| client.run(step));
            client.leaves_unless(is_done);
            false
        }
        6 => {
            let steps = ["BEGIN", "SAVEPOINT a", &undone, "ROLLBACK TO a", &set(version), "COMMIT"];
            let is_done = steps.iter().all(|step| client.run(step));
            client.leaves_unless(is_done)
        }
        7 => {
            let fails = "UPDATE rows SET version = 1 / 0 WHERE k = 1";
            let is_begun = ["BEGIN", &undone].iter().all(|step| client.run(step));
            let is_done = is_begun && !client.run(fails) && client.run("COMMIT");
            client.leaves_unless(is_done);
            false
        }
        8 => {
            let steps = [
                "BEGIN".to_owned(),
                format!("DELETE FROM rows WHERE k = {key}"),
                format!("INSERT INTO rows (k, version) VALUES ({key}, {version})"),
                "COMMIT".to_owned(),
            ];
            let is_done = steps.iter().all(|step| client.run(step));
            client.leaves_unless(is_done)
        }
        9 if random.below(20) == 0 => client.run(&format!("BEGIN; {}; COMMIT", set(version))),
        10 if random.below(20) == 0 => client.run(&format!("DO $$ BEGIN {}; END $$", set(version))),
        11 => {
            // The client goes before the answer comes.
            let is_begun = client.run("BEGIN") && client.run(&set(version));
            if let Some(raw) = client.raw.as_mut().filter(|_| is_begun) {
                drop(raw.stream.write_all(&query("COMMIT")));
                if random.below(2) == 0 {
                    drop(socket2::SockRef::from(&raw.stream).set_linger(Some(Duration::ZERO)));
                }
            }
            client.leave();
            false
        }
        12 => {
            let _ = client.run("BEGIN") && client.run(&undone);
            client.leave();
            false
        }
        _ => {
            // All steps in one piece.
            let steps = [query("BEGIN"), query(&set(version)), query("COMMIT")].concat();
            let Some(raw) = client.connected() else { return false };
            let is_sent = raw.stream.write_all(&steps).is_ok();
            let is_done = is_sent
                && (0..3).all(|_| {
                    let answer = raw.until_ready();
                    answer.last().is_some_and(|(tag, _)| *tag == b'Z')
                        && answer.iter().all(|(tag, _)| *tag != b'E')
                });
            if !is_done {
                client.leave();
            }
            is_done
        }
    }
}

/// Statements that empty the table for a moment, or change its definition.
pub(super) fn defines(history: &History, port: u16, pause: Duration) {
    let mut client = Client::new(port, "postgres");
    let mut number = 0;
    while !history.is_over() {
        thread::sleep(pause);
        number += 1;
        let sql = match number % 3 {
            0 => {
                "BEGIN; LOCK TABLE rows; CREATE TEMP TABLE saved ON COMMIT DROP AS SELECT k, version FROM rows; \
                  TRUNCATE rows; INSERT INTO rows (k, version) SELECT k, version FROM saved; COMMIT"
            }
            1 => "ALTER TABLE rows ADD COLUMN note TEXT",
            _ => "ALTER TABLE rows DROP COLUMN IF EXISTS note",
        };
        if !client.run(sql) {
            client.run("ROLLBACK");
        }
    }
}

/// A role without any right gets errors alone.
pub(super) fn trespasses(history: &History, port: u16) {
    let mut random = Random(history.seed);
    let mut client = Client::new(port, "outsider");
    while !history.is_over() {
        let low = random.below(KEYS);
        if let Some(found) = client.versions((low, low), random.below(3) % 2) {
            history.violated(format!("a role without rights sees {found:?}"));
        }
        thread::sleep(Duration::from_millis(2));
    }
}
