//! Sessions as bytes of both sides, and what is known of them.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::mysql::wire::packet;
use crate::suggest::Suggestions;

/// A command's number, its body, and the packets that answer it.
type Exchanged<'a> = (u8, &'a [u8], &'a [&'a [u8]]);

const OLD: Capabilities = Capabilities::PROTOCOL_41;
const NEW: Capabilities = Capabilities(Capabilities::PROTOCOL_41.0 | Capabilities::DEPRECATE_EOF.0);

/// Autocommit, outside of a transaction.
const IDLE: u8 = 2;
const IN_TRANSACTION: u8 = 3;
const MORE: u8 = 8;
const CURSOR: u8 = 0x40;

fn followed(capabilities: Capabilities, suggestions: Arc<Suggestions>) -> Follower {
    Follower::new(1 << 20, Some(Exchange::new(capabilities, 2, Some(suggestions))))
}

/// A session whose statements are observed.
struct Session {
    follower: Follower,
    suggestions: Arc<Suggestions>,
    start: Instant,
    millis: u64,
    capabilities: Capabilities,
}

impl Session {
    /// One that has logged in, with a switch of the way to do so.
    fn new(capabilities: Capabilities) -> Self {
        let suggestions = Arc::new(Suggestions::default());
        let follower = followed(capabilities, suggestions.clone());
        let mut session = Self { follower, suggestions, start: Instant::now(), millis: 0, capabilities };
        session.server(2, &[b"\xfemysql_native_password\0nonce"]);
        session.packet_of_client(3, b"proof");
        assert!(!session.is_idle());
        session.server(4, &[&ok(0, IDLE)]);
        assert!(session.is_idle());
        session
    }

    /// Each message comes a millisecond after the one before.
    fn now(&mut self) -> Instant {
        self.millis += 1;
        self.start + Duration::from_millis(self.millis)
    }

    fn packet_of_client(&mut self, number: u8, body: &[u8]) {
        let now = self.now();
        self.follower.client_sent(&packet(number, body), now).unwrap();
    }

    fn command(&mut self, code: u8, rest: &[u8]) {
        self.packet_of_client(0, &[&[code][..], rest].concat());
    }

    fn query(&mut self, text: &str) {
        self.command(3, text.as_bytes());
    }

    /// Packets of the server, from this number on.
    fn server(&mut self, first: u8, bodies: &[&[u8]]) {
        for (number, body) in (first..).zip(bodies) {
            let now = self.now();
            self.follower.server_sent(&packet(number, body), now);
        }
    }

    /// A result of one column and so many rows.
    fn rows(&mut self, count: usize, status: u8) {
        self.server(1, &[b"\x01", DEFINITION]);
        if self.capabilities == OLD {
            self.server(3, &[&eof(IDLE)]);
        }
        (0..count).for_each(|_| self.server(4, &[b"\x011"]));
        self.end(status);
    }

    fn end(&mut self, status: u8) {
        let end = if self.capabilities == OLD {
            eof(status).to_vec()
        } else {
            [&[0xfe][..], &ok(0, status)[1..]].concat()
        };
        self.server(7, &[&end]);
    }

    fn is_followed(&self) -> bool {
        self.follower.exchange.is_some()
    }

    fn is_idle(&self) -> bool {
        self.follower.exchange.as_ref().is_some_and(Exchange::is_idle)
    }

    fn next(&self) -> u8 {
        self.follower.exchange.as_ref().unwrap().next_number()
    }

    /// Column, how often it was asked, and its rows.
    fn asked(&self) -> Vec<(String, u64, u64)> {
        let all = self.suggestions.all().into_iter();
        all.map(|found| (found.column, found.asked, found.rows)).collect()
    }
}

const READ: &str = "SELECT * FROM t WHERE a = 1";
const DEFINITION: &[u8] = b"\x03def";
const FAILED: &[u8] = b"\xff\x26\x04#23000Duplicate entry";

fn ok(rows: u8, status: u8) -> [u8; 7] {
    [0, rows, 0, status, 0, 0, 0]
}

fn eof(status: u8) -> [u8; 5] {
    [0xfe, 0, 0, status, 0]
}

fn a(asked: u64, rows: u64) -> Vec<(String, u64, u64)> {
    vec![("a".to_owned(), asked, rows)]
}

#[test]
fn texts_are_observed() {
    for capabilities in [OLD, NEW] {
        let mut session = Session::new(capabilities);
        session.query(READ);
        assert!(!session.is_idle());
        session.rows(3, IDLE);
        assert!(session.is_idle());
        assert_eq!(session.asked(), a(1, 3));
        // Two statements in one text, of which the first one has a result without rows.
        session.query("SELECT 1; SELECT 2");
        session.server(1, &[&ok(0, IDLE | MORE)]);
        session.rows(2, IDLE | MORE);
        assert!(!session.is_idle());
        session.rows(0, IDLE);
        assert!(session.is_idle() && session.is_followed());
    }
}

#[test]
fn a_row_may_look_like_an_end_or_an_ok() {
    let mut session = Session::new(NEW);
    session.query(READ);
    session.server(1, &[b"\x01", DEFINITION, b"\x00", b"\xfb", &[0xfa; 0xfb]]);
    let long = [&packet(6, &[&[0xfe][..], &vec![7; 0xff_fffe]].concat())[..], &packet(7, b"x")].concat();
    let now = session.now();
    session.follower.server_sent(&long, now);
    assert!(!session.is_idle());
    session.end(IDLE);
    assert!(session.is_idle());
    assert_eq!(session.asked(), a(1, 4));
}

#[test]
fn prepared_statements_are_observed() {
    for capabilities in [OLD, NEW] {
        let mut session = Session::new(capabilities);
        session.command(0x16, b"SELECT * FROM t WHERE a = ?");
        session.server(1, &[b"\0\x07\0\0\0\x01\0\x01\0\0\0\0", DEFINITION]);
        if capabilities == OLD {
            session.server(3, &[&eof(IDLE), DEFINITION, &eof(IDLE)]);
        } else {
            session.server(3, &[DEFINITION]);
        }
        assert!(session.is_idle());
        let head = b"\x07\0\0\0\0\x01\0\0\0";
        for values in [&b"\0\x01\x03\0\x2a\0\0\0"[..], b"\0\0\x2a\0\0\0", b"\0\0\x2b\0\0\0"] {
            session.command(0x17, &[&head[..], values].concat());
            session.rows(1, IDLE);
        }
        let [found] = &session.suggestions.all()[..] else { panic!("{:?}", session.asked()) };
        assert_eq!((found.asked, found.repeated, found.rows), (3, 1, 3));
        // A value that was sent alone, a statement that is closed.
        session.command(0x18, b"\x07\0\0\0\0\0abc");
        session.command(0x17, &[&head[..], b"\0\0"].concat());
        session.rows(1, IDLE);
        session.command(0x19, b"\x07\0\0\0");
        session.command(0x17, &[&head[..], b"\0\0\x2a\0\0\0"].concat());
        session.server(1, &[FAILED]);
        assert!(session.is_idle() && session.is_followed());
        assert_eq!(session.asked(), a(4, 4));
    }
}

/// MariaDB's clients prepare and execute at once, and name the statement that was prepared last.
#[test]
fn commands_of_a_pipeline_have_their_own_answers() {
    let mut session = Session::new(NEW);
    session.command(0x16, b"SELECT * FROM t WHERE a = ?");
    session.command(0x17, b"\xff\xff\xff\xff\0\x01\0\0\0\0\x01\x01\0\x05");
    session.command(0x19, b"\x07\0\0\0");
    session.query(READ);
    session.server(1, &[b"\0\x07\0\0\0\x01\0\x01\0\0\0\0", DEFINITION, DEFINITION]);
    session.rows(2, IDLE);
    assert!(!session.is_idle());
    session.rows(1, IDLE);
    assert!(session.is_idle());
    assert_eq!(session.asked(), a(2, 3));
}

#[test]
fn rows_of_a_cursor_are_fetched() {
    for capabilities in [OLD, NEW] {
        let mut session = Session::new(capabilities);
        session.command(0x17, b"\x07\0\0\0\x01\x01\0\0\0");
        session.server(1, &[b"\x01", DEFINITION]);
        session.end(IDLE | CURSOR);
        assert!(session.is_idle());
        session.command(0x1c, b"\x07\0\0\0\x0a\0\0\0");
        session.server(1, &[b"\0\0\x01", b"\0\0\x02"]);
        assert!(!session.is_idle());
        session.end(IDLE | 0x80);
        assert!(session.is_idle() && session.is_followed());
    }
}

#[test]
fn files_of_the_client_are_followed() {
    let mut session = Session::new(NEW);
    session.query("LOAD DATA LOCAL INFILE 'f' INTO TABLE t");
    session.server(1, &[b"\xfbf"]);
    // More packets than there are numbers; each of them looks like QUIT.
    for nth in 0..600_u32 {
        session.packet_of_client(nth.wrapping_add(2).to_le_bytes()[0], &[1]);
    }
    assert!(!session.is_idle());
    session.packet_of_client(90, b"");
    assert_eq!(session.next(), 91);
    session.server(91, &[&ok(7, IDLE)]);
    assert!(session.is_idle() && session.is_followed() && !session.follower.has_left);
}

#[test]
fn each_command_has_its_answer() {
    let user = b"\xfemysql_native_password\0nonce";
    let answers: [Exchanged<'_>; 12] = [
        (0x02, b"test", &[&ok(0, IDLE)]),
        (0x04, b"t\0", &[DEFINITION, DEFINITION, &eof(IDLE)]),
        (0x09, b"", &[b"Uptime: 7"]),
        (0x0a, b"", &[b"\x01", DEFINITION, b"\x011", &eof(IDLE)]),
        (0x0c, b"\x07\0\0\0", &[&ok(0, IDLE)]),
        (0x0d, b"", &[&eof(IDLE)]),
        (0x0e, b"", &[&ok(0, IDLE)]),
        (0x11, b"root\0", &[user, &ok(0, IDLE)]),
        (0x1a, b"\x07\0\0\0", &[&ok(0, IDLE)]),
        (0x1b, b"\0\0", &[&eof(IDLE)]),
        (0x1f, b"", &[&ok(0, IDLE)]),
        (0xfa, b"\x07\0\0\0", &[FAILED]),
    ];
    for (code, rest, answer) in answers {
        let mut session = Session::new(NEW);
        session.command(code, rest);
        assert!(!session.is_idle(), "{code}");
        session.server(1, answer);
        assert!(session.is_idle() && session.is_followed(), "{code}");
    }
}

#[test]
fn transactions_are_not_idle() {
    let mut session = Session::new(NEW);
    for (status, is_idle) in [(IN_TRANSACTION, false), (1, false), (0, true), (IDLE, true)] {
        session.query("UPDATE t SET b = 1 WHERE a = 1");
        session.server(1, &[&ok(1, status)]);
        assert_eq!(session.is_idle(), is_idle, "{status}");
    }
}

#[test]
fn after_an_error_the_transaction_is_not_known() {
    for (before, is_idle) in [(IDLE, true), (IN_TRANSACTION, false), (0, false)] {
        let mut session = Session::new(NEW);
        for (answer, is_idle) in
            [(&ok(0, before)[..], before & 1 == 0), (FAILED, is_idle), (&ok(0, IDLE), true)]
        {
            session.query("SELECT 1");
            session.server(1, &[answer]);
            assert_eq!(session.is_idle(), is_idle, "{before} {answer:?}");
        }
    }
}

#[test]
fn reports_of_progress_end_nothing() {
    let mut session = Session::new(NEW);
    session.query("ALTER TABLE t ENGINE=InnoDB");
    session.server(1, &[b"\xff\xff\xff\x01\x01\x02\0\0\0"]);
    assert!(!session.is_idle());
    session.server(2, &[&ok(0, IDLE)]);
    assert!(session.is_idle() && session.is_followed());
}

#[test]
fn a_packet_of_the_proxy_has_the_next_number() {
    let mut session = Session::new(OLD);
    assert_eq!(session.next(), 1, "the client takes it for the answer to its next command");
    session.query(READ);
    assert_eq!(session.next(), 1);
    session.server(1, &[b"\x01", DEFINITION]);
    assert_eq!(session.next(), 3);
    session.query(READ);
    assert_eq!(session.next(), 3, "the answer to the first one is under way");
    session.server(3, &[&eof(IDLE), &eof(IDLE)]);
    assert_eq!(session.next(), 1);
}

#[test]
fn attributes_stand_before_a_text() {
    let capabilities = Capabilities(NEW.0 | Capabilities::QUERY_ATTRIBUTES.0);
    let mut session = Session::new(capabilities);
    session.query(&format!("\0\x01{READ}"));
    session.rows(1, IDLE);
    assert_eq!(session.asked(), a(1, 1));
    session.query(&format!("\x01\x01attributes{READ}"));
    session.rows(1, IDLE);
    assert_eq!(session.asked(), a(1, 1));
}

#[test]
fn a_result_may_come_without_its_definitions() {
    let mut session = Session::new(Capabilities(NEW.0 | Capabilities::OPTIONAL_METADATA.0));
    for (count, definitions) in [(b"\x02\x01", &[DEFINITION; 2][..]), (b"\x02\x00", &[])] {
        session.query(READ);
        session.server(1, &[count]);
        session.server(2, definitions);
        session.server(4, &[b"\x011\x012"]);
        session.end(IDLE);
        assert!(session.is_idle() && session.is_followed());
    }
    assert_eq!(session.asked(), a(2, 2));
}

#[test]
fn what_is_not_understood_is_followed_no_more() {
    let lost: [Exchanged<'_>; 8] = [
        // A stream of the log, and a command that is not known.
        (0x12, b"", &[]),
        (0x7f, b"", &[]),
        (0x19, b"\x07", &[]),
        (0x0e, b"", &[b"\0"]),
        (0x03, b"SELECT 1", &[b"\xfe"]),
        (0x03, b"SELECT 1", &[b"\xfbf", &ok(0, IDLE)]),
        (0x16, b"SELECT 1", &[b"\0\x07"]),
        (0x01, b"", &[&ok(0, IDLE)]),
    ];
    for (code, rest, answer) in lost {
        let mut session = Session::new(NEW);
        session.command(code, rest);
        session.server(1, answer);
        assert!(!session.is_followed(), "{code} {answer:?}");
        // It goes on nevertheless.
        session.query(READ);
        session.command(1, b"");
        assert!(session.follower.has_left);
    }
    let mut session = Session::new(NEW);
    session.packet_of_client(5, b"in the middle of nothing");
    assert!(!session.is_followed());
}

#[test]
fn the_end_of_a_session_is_known() {
    let mut session = Session::new(NEW);
    session.query(READ);
    session.server(1, &[FAILED]);
    assert!(!session.follower.is_fatal);
    session.server(1, &[b"\xff\xbf\x0fThe client was disconnected"]);
    assert!(session.follower.is_fatal && session.is_followed());
}

#[test]
fn a_message_that_is_too_long_is_refused_at_its_number() {
    let mut session = Session::new(NEW);
    let now = session.now();
    let long = packet(0, &vec![3; (1 << 20) + 1]);
    assert_eq!(session.follower.client_sent(&long[..100], now), Err(TooLong((1 << 20) + 1)));
    assert_eq!(session.next(), 1);
}

proptest! {
    #[test]
    fn any_packets_do_no_harm(
        flags in any::<u64>(),
        sides in prop::collection::vec((any::<bool>(), any::<bool>(), any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 0..40)), 0..80),
    ) {
        let suggestions = Arc::new(Suggestions::default());
        let mut follower = followed(Capabilities(flags), suggestions.clone());
        let now = Instant::now();
        follower.server_sent(&packet(2, &ok(0, IDLE)), now);
        for (is_client, is_known, first, body) in sides {
            let known: &[u8] = if is_client { b"\x01\x03\x16\x17\x18\x19\x1a\x1c\x1f\x11\x04" } else { b"\0\x01\x02\xfb\xfe\xff" };
            let first: &[u8] = if is_known { &[*first.get(known)] } else { &[] };
            let sent = packet(0, &[first, &body].concat());
            if is_client {
                prop_assert!(follower.client_sent(&sent, now).is_ok());
            } else {
                follower.server_sent(&sent, now);
            }
        }
        drop(suggestions.report());
    }
}
