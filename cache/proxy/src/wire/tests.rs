//! Any split of a stream gives the same messages, and no bytes do harm.

use proptest::prelude::*;

use super::startup::{Request, packet_len, request, role, tls_request};
use super::{BadLength, Fields, Framer, Message, Severity, error_response, message, severity_and_code};

const MAX_BODY: usize = 5_000;

fn wanted(tag: u8) -> usize {
    match tag {
        b'D' => 0,
        b'Q' => 100,
        _ => MAX_BODY,
    }
}

/// The messages of a stream that comes in these pieces: type, what is kept, length of the body.
fn messages(pieces: &[&[u8]]) -> Result<Vec<(u8, Vec<u8>, usize)>, BadLength> {
    let mut framer = Framer::new(wanted, MAX_BODY);
    let mut found = Vec::new();
    for piece in pieces {
        framer.feed(piece, |Message { tag, body, body_len }| found.push((tag, body.to_vec(), body_len)))?;
        assert!(framer.kept_len() <= MAX_BODY);
    }
    Ok(found)
}

fn any_message() -> impl Strategy<Value = (u8, Vec<u8>)> {
    (prop::sample::select(b"DQBPZ".to_vec()), prop::collection::vec(any::<u8>(), 0..300))
}

/// `bytes` cut at some places.
fn cut<'a>(bytes: &'a [u8], places: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = places.iter().map(|place| place.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect()
}

proptest! {
    #[test]
    fn any_split_gives_the_same_messages(
        sent in prop::collection::vec(any_message(), 0..12),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let stream: Vec<u8> = sent.iter().flat_map(|(tag, body)| message(*tag, body)).collect();
        let expected: Vec<_> = sent
            .into_iter()
            .map(|(tag, body)| (tag, body[..body.len().min(wanted(tag))].to_vec(), body.len()))
            .collect();
        prop_assert_eq!(messages(&cut(&stream, &places)).unwrap(), expected.clone());
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        prop_assert_eq!(messages(&bytes).unwrap(), expected);
    }

    #[test]
    fn any_bytes_are_messages_or_an_error(
        stream in prop::collection::vec(any::<u8>(), 0..2_000),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
    ) {
        prop_assert_eq!(messages(&cut(&stream, &places)), messages(&[&stream]));
        let _ = (packet_len(&stream), request(&stream), severity_and_code(&stream));
        let mut fields = Fields::new(&stream);
        while fields.value().is_some() && fields.count(4).is_some() && fields.text().is_some() {}
    }
}

#[test]
fn hostile_lengths_are_errors() {
    for length in [i32::MIN, -1, 0, 3, i32::MAX, 5_005] {
        let header = [&b"Zm"[..1], &length.to_be_bytes()].concat();
        let stream = [message(b'Q', b"a"), header].concat();
        assert_eq!(messages(&[&stream]), Err(BadLength(length)));
    }
    assert_eq!(messages(&[&message(b'Q', &[7; 5_000])]).unwrap().len(), 1);
}

#[test]
fn the_stream_may_end_between_messages_only() {
    let mut framer = Framer::new(wanted, MAX_BODY);
    let stream = message(b'Q', b"abc");
    for (count, byte) in stream.iter().enumerate() {
        assert_eq!(framer.is_between_messages(), count == 0);
        framer.feed(&[*byte], |message| assert!(message.is_whole())).unwrap();
    }
    assert!(framer.is_between_messages());
}

#[test]
fn first_packets_are_known() {
    assert_eq!(request(&tls_request()), Some(Request::Tls));
    assert_eq!(packet_len(&tls_request()), Some(Some(8)));
    let numbered = |number: i32| [&12_i32.to_be_bytes()[..], &number.to_be_bytes(), b"abc\0"].concat();
    let known = [
        (80_877_102, Request::Cancel),
        (80_877_104, Request::Gss),
        (196_608, Request::Startup),
        (196_610, Request::Startup),
    ];
    for (number, expected) in known {
        assert_eq!(request(&numbered(number)), Some(expected));
    }
    assert_eq!(packet_len(&[0, 0, 0]), None, "the length has not come");
    for length in [0, 7, -1, 10_001, i32::MAX] {
        assert_eq!(packet_len(&i32::to_be_bytes(length)), Some(None));
    }
}

#[test]
fn errors_are_read_as_they_are_written() {
    let sent = error_response("53300", "too many\0 clients");
    let found = messages(&[&sent]).unwrap();
    let [(b'E', body, _)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(severity_and_code(body), Some((Severity::Fatal, &b"53300"[..])));
    assert_eq!(severity_and_code(b"SERROR\0VERROR\0C42601\0\0"), Some((Severity::Error, &b"42601"[..])));
    assert_eq!(severity_and_code(b"SERROR"), None);
}

#[test]
fn the_last_role_of_a_first_packet_counts() {
    let packet = |body: &[u8]| [&[0; 8], body].concat();
    assert_eq!(role(&packet(b"database\0user\0user\0app\0\0")), Some(&b"app"[..]));
    assert_eq!(role(&packet(b"user\0a\0user\0b\0\0user\0c\0")), Some(&b"b"[..]));
    assert_eq!(role(&packet(b"database\0shop\0\0")), None);
    assert_eq!(role(&packet(b"user\0app")), None, "it is cut");
    assert_eq!(role(b"short"), None);
}
