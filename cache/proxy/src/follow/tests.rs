//! Sessions as bytes of both sides, and what is known of them.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

/// A session whose statements are observed.
struct Session {
    follower: Follower,
    suggestions: Arc<Suggestions>,
    start: Instant,
    millis: u64,
}

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap();
    [&[tag], &length.to_be_bytes()[..], body].concat()
}

impl Session {
    /// One that has logged in.
    fn new() -> Self {
        let suggestions = Arc::new(Suggestions::default());
        let follower = Follower::new(MAX_PROTOCOL, Some(suggestions.clone()));
        let mut session = Self { follower, suggestions, start: Instant::now(), millis: 0 };
        session.server(&[(b'R', &[0; 4]), (b'K', &[7; 8]), (b'Z', b"I")]);
        session
    }

    /// Each message comes a millisecond after the one before.
    fn now(&mut self) -> Instant {
        self.millis += 1;
        self.start + Duration::from_millis(self.millis)
    }

    fn client(&mut self, messages: Sent<'_>) {
        for (tag, body) in messages {
            let now = self.now();
            self.follower.client_sent(&message(*tag, body), now).unwrap();
        }
    }

    fn server(&mut self, messages: Sent<'_>) {
        for (tag, body) in messages {
            let now = self.now();
            self.follower.server_sent(&message(*tag, body), now);
        }
    }

    fn is_followed(&self) -> bool {
        self.follower.exchange.is_some()
    }

    fn is_idle(&self) -> bool {
        self.follower.exchange.as_ref().is_some_and(Exchange::is_idle)
    }

    /// Column, how often it was asked, and for how many milliseconds.
    fn asked(&self) -> Vec<(String, u64, u128)> {
        let all = self.suggestions.all().into_iter();
        all.map(|found| (found.column, found.asked, found.time.as_millis())).collect()
    }
}

/// Messages of one side.
type Sent<'m> = &'m [(u8, &'m [u8])];

const READ: &[u8] = b"SELECT * FROM t WHERE a = 1\0";
const PARSE: &[u8] = b"s\0SELECT * FROM t WHERE a = $1\0\0\0";
/// Unnamed portal, statement `s`, one value, as text: 42.
const BIND: &[u8] = b"\0s\0\0\0\0\x01\0\0\0\x0242\0\0";
const EXECUTE: &[u8] = b"\0\0\0\0\0";
const FAILED: &[u8] = b"SERROR\0VERROR\0C22012\0Mno\0\0";

#[test]
fn simple_statements_are_observed() {
    let mut session = Session::new();
    session.client(&[(b'Q', READ)]);
    assert!(!session.is_idle());
    session.server(&[(b'T', b""), (b'D', &[1; 500]), (b'C', b"SELECT 1\0"), (b'Z', b"I")]);
    assert!(session.is_idle());
    assert_eq!(session.asked(), [("a".to_owned(), 1, 4)]);
}

#[test]
fn prepared_statements_are_observed() {
    let mut session = Session::new();
    session.client(&[(b'P', PARSE), (b'D', b"Ss\0"), (b'S', b"")]);
    session.server(&[(b'1', b""), (b't', b"\0\x01\0\0\0\x17"), (b'T', b""), (b'Z', b"I")]);
    for _ in 0..2 {
        session.client(&[(b'B', BIND), (b'E', EXECUTE), (b'S', b"")]);
        session.server(&[(b'2', b""), (b'C', b"SELECT 1\0"), (b'Z', b"I")]);
    }
    assert!(session.is_idle());
    let [found] = &session.suggestions.all()[..] else { panic!("{session:?}", session = session.asked()) };
    assert_eq!((found.asked, found.repeated, found.spared), (2, 1, 1));
}

/// In a pipeline a statement begins when the one before it ends.
#[test]
fn statements_of_a_pipeline_have_their_own_times() {
    let mut session = Session::new();
    let step: [(u8, &[u8]); 2] = [(b'B', BIND), (b'E', EXECUTE)];
    session.client(&[(b'P', PARSE), step[0], step[1], step[0], step[1], (b'S', b"")]);
    session.server(&[(b'1', b""), (b'2', b""), (b'C', b"SELECT 1\0"), (b'2', b""), (b'C', b"SELECT 0\0")]);
    session.server(&[(b'Z', b"I")]);
    assert!(session.is_idle());
    // 3 more messages and 3 answers; 1 answer and the next.
    assert_eq!(session.asked(), [("a".to_owned(), 2, 6 + 2)]);
}

#[test]
fn an_error_ends_what_comes_up_to_the_next_sync() {
    let mut session = Session::new();
    session.client(&[(b'P', PARSE), (b'B', BIND), (b'E', EXECUTE), (b'E', EXECUTE)]);
    session.server(&[(b'1', b""), (b'E', FAILED)]);
    assert!(!session.is_idle());
    // Sent before the client has read of the error, and skipped by the server.
    session.client(&[(b'E', EXECUTE), (b'S', b"")]);
    session.server(&[(b'Z', b"I")]);
    assert!(session.is_idle() && session.asked().is_empty());
    session.client(&[(b'B', BIND), (b'E', EXECUTE), (b'S', b"")]);
    session.server(&[(b'2', b""), (b'C', b"SELECT 1\0"), (b'Z', b"I")]);
    assert!(session.is_idle() && session.asked()[0].1 == 1);
}

/// Some drivers close a statement without a `Sync`, and go on with the simple protocol.
#[test]
fn a_simple_statement_may_follow_an_extended_message() {
    let mut session = Session::new();
    session.client(&[(b'C', b"Ss\0"), (b'H', b""), (b'Q', READ)]);
    session.server(&[(b'3', b""), (b'T', b""), (b'C', b"SELECT 1\0"), (b'Z', b"I")]);
    assert!(session.is_idle() && session.asked()[0].1 == 1);
    // It is skipped after an error.
    session.client(&[(b'P', PARSE), (b'Q', READ), (b'S', b"")]);
    session.server(&[(b'E', FAILED), (b'Z', b"I")]);
    assert!(session.is_idle() && session.asked()[0].1 == 1);
    session.client(&[(b'P', PARSE)]);
    session.server(&[(b'E', FAILED)]);
    session.client(&[(b'Q', READ)]);
    assert!(!session.is_idle());
    session.client(&[(b'S', b"")]);
    session.server(&[(b'Z', b"I")]);
    assert!(session.is_idle() && session.is_followed());
}

#[test]
fn function_calls_are_followed() {
    let mut session = Session::new();
    for answer in [(b'V', &b"\0\0\0\0"[..]), (b'E', FAILED)] {
        session.client(&[(b'F', b"")]);
        session.server(&[answer, (b'Z', b"I")]);
        assert!(session.is_followed() && session.is_idle());
    }
    session.client(&[(b'P', PARSE), (b'F', b""), (b'S', b"")]);
    session.server(&[(b'E', FAILED), (b'Z', b"I")]);
    assert!(session.is_followed() && session.is_idle(), "the call was skipped");
}

#[test]
fn transactions_are_not_idle() {
    let mut session = Session::new();
    for (status, is_idle) in [(b"T", false), (b"E", false), (b"I", true)] {
        session.client(&[(b'Q', b"SELECT 1\0")]);
        session.server(&[(b'C', b"SELECT 1\0"), (b'Z', status)]);
        assert_eq!(session.is_idle(), is_idle);
    }
}

/// libpq sends a `Sync` before the data, which the server ignores, and one after it.
#[test]
fn copies_in_the_extended_protocol_are_followed() {
    let mut session = Session::new();
    session.client(&[(b'P', b"\0COPY t FROM STDIN\0\0\0"), (b'B', b"\0\0\0\0\0\0\0\0"), (b'E', EXECUTE)]);
    session.client(&[(b'S', b"")]);
    session.server(&[(b'1', b""), (b'2', b""), (b'G', b"")]);
    session.client(&[(b'd', b"1\n"), (b'c', b""), (b'S', b"")]);
    session.server(&[(b'C', b"COPY 1\0"), (b'Z', b"I")]);
    assert!(session.is_followed() && session.is_idle());
}

#[test]
fn what_is_not_understood_is_followed_no_more() {
    let lost: [(Sent<'_>, Sent<'_>); 7] = [
        (&[(b'!', b"")], &[]),
        (&[], &[(b'Z', b"I")]),
        (&[], &[(b'C', b"SELECT 1\0")]),
        (&[(b'Q', READ)], &[(b'W', b"")]),
        (&[(b'P', PARSE)], &[(b'2', b"")]),
        (&[(b'E', EXECUTE)], &[(b'Z', b"I")]),
        (&[(b'S', b""), (b'c', b"")], &[]),
    ];
    for (client, server) in lost {
        let mut session = Session::new();
        session.client(client);
        session.server(server);
        assert!(!session.is_followed() && !session.is_idle(), "{client:?} {server:?}");
        // It goes on nevertheless.
        session.client(&[(b'Q', READ), (b'X', b"")]);
        assert!(session.follower.has_left);
    }
}

#[test]
fn the_end_of_a_session_is_known() {
    let mut session = Session::new();
    session.server(&[(b'E', FAILED)]);
    assert!(!session.follower.is_fatal);
    session.server(&[(b'E', b"SFATAL\0VFATAL\0C57P01\0Mthe end\0\0")]);
    assert!(session.follower.is_fatal);
}

#[test]
fn messages_of_a_login_are_no_statements() {
    let suggestions = Arc::new(Suggestions::default());
    let mut follower = Follower::new(1_000, Some(suggestions.clone()));
    let now = Instant::now();
    // A client that does not wait for the end of the login.
    let sent = [message(b'p', b"proof"), message(b'Q', READ)].concat();
    follower.client_sent(&sent, now).unwrap();
    let login = [message(b'R', &[0; 4]), message(b'S', b"a\0b\0"), message(b'Z', b"I")].concat();
    follower.server_sent(&login, now);
    assert!(!follower.exchange.as_ref().unwrap().is_idle());
    follower.server_sent(&[message(b'C', b"SELECT 1\0"), message(b'Z', b"I")].concat(), now);
    assert!(follower.exchange.as_ref().unwrap().is_idle());
    assert_eq!(follower.client_sent(b"Q\0\0\x10\0", now), Err(TooLong(4_096)));
    assert_eq!(suggestions.all()[0].asked, 1);
}

proptest! {
    #[test]
    fn any_messages_do_no_harm(
        sides in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 0..40)), 0..60),
    ) {
        let mut session = Session::new();
        for (is_client, tag, body) in sides {
            let tags: &[u8] = if is_client { b"QPBEDCSHFdcfpX" } else { b"RSKZ12TDCEIsntGHWNAV" };
            let one = [(*tag.get(tags), &body[..])];
            if is_client { session.client(&one) } else { session.server(&one) }
        }
        drop(session.asked());
    }
}
