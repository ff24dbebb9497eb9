//! Errors as a server says them to a client.

use super::answer::ERROR;

/// Longest sentence that is sent: a server's own are at most 512 bytes.
const MAX_SENTENCE: usize = 400;

/// What the proxy complains of: a number of MySQL's errors and its SQLSTATE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub(crate) number: u16,
    state: [u8; 5],
}

impl Complaint {
    pub(crate) const TOO_MANY_CONNECTIONS: Self = Self { number: 1040, state: *b"08004" };
    pub(crate) const BAD_HANDSHAKE: Self = Self { number: 1043, state: *b"08S01" };
    pub(crate) const SHUTDOWN: Self = Self { number: 1053, state: *b"08S01" };
    pub(crate) const MESSAGE_TOO_LONG: Self = Self { number: 1153, state: *b"08S01" };
    pub(crate) const CANNOT_CONNECT: Self = Self { number: 2003, state: *b"08S01" };
    pub(crate) const CONNECTION_LOST: Self = Self { number: 2013, state: *b"08S01" };
}

/// The packet of this number that ends a connection, with a sentence. The SQLSTATE is left out of packet 0, which stands in the place of
/// a greeting: the client has not said yet that it reads one.
pub(crate) fn error_packet(number: u8, complaint: Complaint, sentence: &str) -> Vec<u8> {
    let mut body = vec![ERROR];
    body.extend(complaint.number.to_le_bytes());
    if number > 0 {
        body.push(b'#');
        body.extend(complaint.state);
    }
    let end = (0..=MAX_SENTENCE.min(sentence.len())).rev().find(|end| sentence.is_char_boundary(*end));
    body.extend(sentence.as_bytes().iter().take(end.unwrap_or(0)));
    let [low, high] = u16::try_from(body.len()).expect("a sentence is short").to_le_bytes();
    [&[low, high, 0, number][..], &body].concat()
}
