//! Any split of a stream gives the same messages, and no bytes do harm.

use proptest::prelude::*;

use super::*;

const WANTED: usize = 40;
const MAX_BODY: usize = 5_000;

/// What is kept of a message, its length, and the numbers of its first and last packets.
type Found = (Vec<u8>, usize, u8, u8);

/// The messages of a stream that comes in these pieces.
fn messages(pieces: &[&[u8]], max_body: usize) -> Result<Vec<Found>, BadLength> {
    let mut framer = Framer::new(WANTED, max_body);
    let mut found = Vec::new();
    for piece in pieces {
        framer.feed(piece, |Message { body, body_len, first, last }| {
            found.push((body.to_vec(), body_len, first, last));
        })?;
        assert!(framer.kept_len() <= WANTED + HEADER);
    }
    Ok(found)
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
        sent in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..300)), 0..12),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let stream: Vec<u8> = sent.iter().flat_map(|(number, body)| packet(*number, body)).collect();
        let expected: Vec<Found> = sent
            .into_iter()
            .map(|(number, body)| (body[..body.len().min(WANTED)].to_vec(), body.len(), number, number))
            .collect();
        prop_assert_eq!(messages(&cut(&stream, &places), MAX_BODY).unwrap(), expected.clone());
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        prop_assert_eq!(messages(&bytes, MAX_BODY).unwrap(), expected);
    }

    #[test]
    fn any_bytes_are_messages_or_too_long(
        stream in prop::collection::vec(any::<u8>(), 0..2_000),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        flags in any::<u64>(),
    ) {
        prop_assert_eq!(messages(&cut(&stream, &places), MAX_BODY), messages(&[&stream], MAX_BODY));
        let message = Message { body: &stream, body_len: stream.len(), first: 0, last: 0 };
        let _ = (ok_status(&stream), eof_status(&stream), end_status(&message), affected_rows(&stream));
        let _ = (prepared(&stream, Capabilities(flags)), is_end(&message, Capabilities(flags)));
        let mut fields = Fields::new(&stream);
        while fields.value().is_some() && fields.number().is_some() && fields.text().is_some() {}
    }
}

/// Packets of 16 MiB less one byte go on in the next one, which may be empty.
#[test]
fn full_packets_are_joined() {
    for rest in [0, 1, 7] {
        let (full, last) = (packet(3, &vec![7; FULL]), packet(4, &vec![8; rest]));
        let stream = [&full[..], &last, &packet(0, b"next")].concat();
        let expected = [(vec![7; WANTED], FULL + rest, 3, 4), (b"next".to_vec(), 4, 0, 0)];
        for size in [1 << 16, FULL, FULL + 5, usize::MAX] {
            let pieces: Vec<&[u8]> = stream.chunks(size).collect();
            assert_eq!(messages(&pieces, usize::MAX).unwrap(), expected, "{rest} {size}");
        }
        let too_long = BadLength { body_len: FULL + rest, number: 4 };
        assert_eq!(
            messages(&[&stream], FULL + rest - 1),
            Err(if rest == 0 { BadLength { number: 3, ..too_long } } else { too_long })
        );
    }
}

#[test]
fn the_stream_may_end_between_messages_only() {
    let mut framer = Framer::new(WANTED, MAX_BODY);
    let stream = packet(0, b"abc");
    for (count, byte) in stream.iter().enumerate() {
        assert_eq!(framer.is_between_messages(), count == 0);
        framer.feed(&[*byte], |message| assert!(message.is_whole())).unwrap();
    }
    assert!(framer.is_between_messages());
}

#[tokio::test]
async fn a_packet_alone_is_read_and_not_a_byte_more() {
    let stream = [packet(1, b"abc"), packet(2, &[7; 200])].concat();
    let mut left = &stream[..];
    assert_eq!(read_packet(&mut left, 100).await.unwrap(), packet(1, b"abc"));
    assert_eq!(left.len(), 204);
    let why = read_packet(&mut left, 100).await.unwrap_err();
    assert_eq!(why.kind(), std::io::ErrorKind::InvalidData);
    let mut cut = &stream[..5];
    let why = read_packet(&mut cut, 100).await.unwrap_err();
    assert_eq!(why.kind(), std::io::ErrorKind::UnexpectedEof);
}

#[test]
fn errors_are_written_as_servers_write_them() {
    let sent = error_packet(2, Complaint::SHUTDOWN, "the end");
    assert_eq!(sent, packet(2, b"\xff\x1d\x04#08S01the end"));
    let in_place_of_a_greeting = error_packet(0, Complaint::TOO_MANY_CONNECTIONS, "full");
    assert_eq!(in_place_of_a_greeting, packet(0, b"\xff\x10\x04full"));
    let long = error_packet(1, Complaint::SHUTDOWN, &"ä".repeat(1_000));
    assert!(std::str::from_utf8(&long[HEADER + 9..]).unwrap().len() == 400);
}

#[test]
fn numbers_have_four_lengths() {
    for (bytes, expected) in [
        (&[0xfa][..], Some(0xfa)),
        (&[0xfc, 1, 2], Some(0x201)),
        (&[0xfd, 1, 2, 3], Some(0x3_0201)),
        (&[0xfe, 1, 0, 0, 0, 0, 0, 0, 0x80], Some(0x8000_0000_0000_0001)),
        (&[0xfb], None),
        (&[0xff], None),
        (&[0xfd, 1, 2], None),
        (&[], None),
    ] {
        assert_eq!(Fields::new(bytes).number(), expected, "{bytes:?}");
    }
}

#[test]
fn ends_differ_from_rows_by_their_lengths() {
    let message = |body_len| Message { body: &[0xfe, 0, 0, 2, 0, 0, 0], body_len, first: 5, last: 5 };
    let (old, new) = (Capabilities::default(), Capabilities::DEPRECATE_EOF);
    for (len, is_old_end, is_new_end) in
        [(5, true, true), (9, false, true), (FULL - 1, false, true), (FULL, false, false)]
    {
        assert_eq!(
            (is_end(&message(len), old), is_end(&message(len), new)),
            (is_old_end, is_new_end),
            "{len}"
        );
    }
    assert_eq!(end_status(&message(5)), Some(Status(2)));
    assert_eq!(end_status(&message(7)), Some(Status(2)));
}
