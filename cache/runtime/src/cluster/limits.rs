//! The limits of the format, which the writer of a message keeps: its reader ends the connection, with all other requests
//! on it.
//!
//! | limit | kept by |
//! | --- | --- |
//! | 16 MiB a frame | `write_frame` in `frame.rs` |
//! | 512 bytes of an error's text | `Fault::new`, which shortens it |
//! | 900 bytes of a collection's name | `Introduction::to_bytes` in `hello.rs` |
//! | all others | [`check`] |

use lacuna_cache_protocol::{Error, Query, RangeTable, Result};

use crate::cluster::message::Message;

/// Queries of one request.
pub(crate) const MAX_QUERIES: usize = 256;
/// Domains of a collection.
pub(crate) const MAX_DOMAINS: usize = RangeTable::MAX_DOMAINS;

/// Fails if the reader of the message would not take it.
///
/// # Errors
/// `InvalidInput` with the number and the limit.
pub(crate) fn check(message: &Message) -> Result<()> {
    match message {
        Message::Welcome { table, .. } | Message::Redirect(.., Some(table)) => check_table(table),
        Message::Read(.., query) => check_query(query),
        Message::ReadAll(.., queries) => check_queries(queries),
        Message::HeldAll(_, fences) if fences.is_empty() => {
            Err(Error::invalid_input("0 ranges of a lease; at least 1 is needed"))
        }
        _ => Ok(()),
    }
}

fn check_table(table: &RangeTable) -> Result<()> {
    let count = table.domain_count();
    if count <= MAX_DOMAINS {
        return Ok(());
    }
    let message =
        format!("{count} domains of a collection; {MAX_DOMAINS} are allowed: register fewer columns");
    Err(Error::invalid_input(message))
}

fn check_queries(queries: &[Query]) -> Result<()> {
    if (1..=MAX_QUERIES).contains(&queries.len()) {
        return queries.iter().try_for_each(check_query);
    }
    let message =
        format!("{} queries at once; 1 to {MAX_QUERIES} are allowed: ask in several requests", queries.len());
    Err(Error::invalid_input(message))
}

/// A question without bytes would arrive as none, which has another result.
fn check_query(query: &Query) -> Result<()> {
    match query.question.as_deref() {
        Some([]) => Err(Error::invalid_input("a question has 0 bytes; at least 1 is needed: leave it out")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use lacuna_cache_protocol::{
        CallId, Command, Epoch, ErrorKind, Interval, LeaseMode, PeerCall, PeerId, RangeId, RangeKey, Session,
        Stamps, Touched, Value, Write,
    };

    use super::*;
    use crate::cluster::fault::Fault;
    use crate::cluster::frame::{LONGEST, LONGEST_OPEN, write_frame};
    use crate::cluster::hello::{Introduction, Role};
    use crate::cluster::message::{How, Terms};
    use crate::cluster::noticed::Noticed;

    const TERMS: Terms = Terms { within_ms: 5_000, may_redirect: true, version: 0 };

    fn queries(count: usize) -> Message {
        Message::ReadAll(1, TERMS, vec![Query::all(0, Interval::all()); count])
    }

    fn asked(question: &[u8]) -> Query {
        Query { question: Some(question.into()), ..Query::all(0, Interval::all()) }
    }

    fn welcome(domains: usize) -> Message {
        Message::Welcome { in_flight: u32::MAX, table: RangeTable::new(domains) }
    }

    fn redirect(domains: usize) -> Message {
        Message::Redirect(1, RangeId(1), "a".to_owned(), Some(RangeTable::new(domains)))
    }

    fn held(ranges: usize) -> Message {
        Message::HeldAll(1, vec![(RangeId(u32::MAX), Epoch(u64::MAX)); ranges])
    }

    /// Messages up to a limit, the number that the next one names, and the next one.
    #[test]
    fn what_is_sent_is_read_and_all_else_is_refused_by_its_writer() {
        let limits = [
            (vec![queries(1), queries(MAX_QUERIES)], "257 queries", queries(MAX_QUERIES + 1)),
            (vec![], "0 queries", queries(0)),
            (vec![welcome(0), welcome(MAX_DOMAINS)], "1025 domains", welcome(MAX_DOMAINS + 1)),
            (vec![redirect(MAX_DOMAINS)], "1025 domains", redirect(MAX_DOMAINS + 1)),
            (vec![held(1), held(300)], "0 ranges", held(0)),
            (vec![Message::Read(1, TERMS, asked(&[0]))], "0 bytes", Message::Read(1, TERMS, asked(&[]))),
            (vec![], "0 bytes", Message::ReadAll(1, TERMS, vec![asked(&[])])),
        ];
        for (taken, number, refused) in limits {
            for message in taken {
                comes_back(&message);
            }
            let why = refused.to_bytes().unwrap_err();
            assert_eq!(why.kind(), ErrorKind::InvalidInput);
            assert!(why.to_string().contains(number), "{why}");
            let (kind, body) = refused.to_frame();
            assert!(
                Message::read(kind, &body).ok().as_ref() != Some(&refused),
                "{number}: it need not be refused"
            );
        }
    }

    fn comes_back(message: &Message) {
        let bytes = message.to_bytes().unwrap();
        assert!(
            Message::read(bytes[4], &bytes[5..bytes.len() - 4]).unwrap() == *message,
            "a message of {} bytes",
            bytes.len()
        );
    }

    /// One of each kind, with a part of this length.
    fn long(len: usize) -> Vec<Message> {
        let touched: Vec<Touched> = vec![(0, Interval::point(RangeKey::from_bytes(&vec![7; len])))];
        let write = || Write { touched: Vec::new(), command: Command::new(&vec![7; len]) };
        let peer = PeerId { range: RangeId(0), epoch: Epoch(9), session: Session(31) };
        let lock = PeerCall::Lock(LeaseMode::Shared, touched.clone());
        let value = || Value::new(&vec![7; len]);
        let members = vec!["a".repeat(len)];
        vec![
            Message::Read(1, TERMS, asked(&vec![7; len])),
            Message::Read(1, TERMS, Query { stamps: Stamps::new(&vec![7; len]), ..asked(&[1]) }),
            Message::ReadAll(1, TERMS, vec![Query::all(0, touched[0].1.clone())]),
            Message::Write(1, TERMS, write()),
            Message::Write(1, TERMS, Write { touched, command: Command::new(b"") }),
            Message::Hold(1, TERMS, 9, write()),
            Message::Peer(1, RangeId(1), peer, CallId(7), lock),
            Message::Value(1, value()),
            Message::Values(1, vec![value()]),
            Message::Redirect(1, RangeId(1), "a".repeat(len), None),
            Message::Notices(1, Noticed { journal: 1, next: 1, members, notices: Vec::new() }),
        ]
    }

    #[test]
    fn every_kind_of_message_is_as_long_as_a_frame_or_refused() {
        long(LONGEST - 100).iter().for_each(comes_back);
        for message in long(LONGEST) {
            let why = message.to_bytes().unwrap_err();
            assert_eq!(why.kind(), ErrorKind::InvalidInput);
            assert!(why.to_string().contains(&format!("{LONGEST} of a frame")), "{why}");
        }
    }

    #[test]
    fn long_texts_of_errors_are_shortened() {
        let long = Error::unavailable("é".repeat(LONGEST));
        comes_back(&Message::Failed(1, How::Unknown, Fault::new(&long)));
        comes_back(&Message::Goodbye(Fault::new(&long)));
    }

    #[test]
    fn a_hello_with_the_longest_name_fits_before_the_handshake_is_over() {
        let secret = crate::cluster::secret::Secret::new(b"the secret of golden frames").unwrap();
        let hello = |len| {
            let introduction = Introduction { role: Role::Client, collection: "x".repeat(len) };
            crate::cluster::hello::Calling::begin(&secret, &introduction).map(|(_, hello)| hello)
        };
        assert!(write_frame(1, &hello(900).unwrap(), LONGEST_OPEN).is_ok());
        assert!(hello(901).err().unwrap().to_string().contains("900"));
    }
}
