//! The server's greeting.

use std::io;
use std::ops::Range;

use super::Refusal;
use crate::mysql::wire::{Capabilities, ERROR, Fields, HEADER};

/// The version of the greeting that every server has sent since 1998.
const VERSION: u8 = 10;

/// A greeting as the client gets it.
#[derive(Debug)]
pub(super) struct Greeting {
    pub(super) packet: Vec<u8>,
    /// What it offers.
    pub(super) offered: Capabilities,
}

/// Takes out of a greeting what the proxy does not offer.
///
/// # Errors
/// The server's own error, or `Lost` if it is no greeting.
pub(super) fn read(mut packet: Vec<u8>) -> Result<Greeting, Refusal> {
    if packet.get(HEADER) == Some(&ERROR) {
        return Err(Refusal::Answer(packet));
    }
    let no_greeting = || Refusal::Lost(io::Error::other("its first packet is not one of MySQL or MariaDB"));
    let body = packet.get_mut(HEADER..).ok_or_else(no_greeting)?;
    let places = Places::of(body).ok_or_else(no_greeting)?;
    let offered = places.read(body).without(Capabilities::NOT_OFFERED);
    places.write(body, offered);
    Ok(Greeting { packet, offered })
}

/// Where the abilities are in a greeting.
#[derive(Debug)]
struct Places {
    low: usize,
    /// None before MySQL 4.1.
    high: Option<usize>,
    /// MariaDB's own.
    mariadb: Option<usize>,
}

impl Places {
    /// `None` if it is no greeting.
    fn of(body: &[u8]) -> Option<Self> {
        let mut fields = Fields::new(body);
        fields.byte().filter(|&version| version == VERSION)?;
        // The server's version.
        fields.text()?;
        // The number of the connection, the first part of the nonce, and a zero.
        fields.bytes(4 + 8 + 1)?;
        let low = body.len() - fields.rest().len();
        let is_mysql = Capabilities(fields.int16()?.into()).has(Capabilities::MYSQL);
        // Character set and status.
        let high = fields.bytes(1 + 2).map(|_| body.len() - fields.rest().len());
        let high = high.filter(|_| fields.int16().is_some());
        // The length of the nonce, and what is always zero.
        let mariadb = fields.bytes(1 + 6).map(|_| body.len() - fields.rest().len());
        let mariadb = mariadb.filter(|_| !is_mysql && fields.int32().is_some());
        Some(Self { low, high, mariadb })
    }

    /// The places, and which bytes of the abilities are there.
    fn parts(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let low = Some((self.low, 0..2));
        let high = self.high.map(|place| (place, 2..4));
        let mariadb = self.mariadb.map(|place| (place, 4..8));
        [low, high, mariadb].into_iter().flatten()
    }

    fn read(&self, body: &[u8]) -> Capabilities {
        let mut bytes = [0; 8];
        for (place, range) in self.parts() {
            let len = range.len();
            bytes[range].copy_from_slice(&body[place..place + len]);
        }
        Capabilities(u64::from_le_bytes(bytes))
    }

    fn write(&self, body: &mut [u8], capabilities: Capabilities) {
        let bytes = capabilities.0.to_le_bytes();
        for (place, range) in self.parts() {
            body[place..place + range.len()].copy_from_slice(&bytes[range]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mysql::wire::packet;

    /// A greeting of a server that can do everything.
    fn greeting(low: u16) -> Vec<u8> {
        let [first, second] = low.to_le_bytes();
        let fixed =
            [&[VERSION][..], b"5.5.5-10.11.19-MariaDB\0", &[7, 0, 0, 0], b"12345678\0", &[first, second]];
        let rest =
            [&[45, 2, 0, 0xff, 0xff, 21][..], &[0; 6], &[0xff; 4], b"123456789012\0mysql_native_password\0"];
        packet(0, &[fixed.concat(), rest.concat()].concat())
    }

    #[test]
    fn what_is_not_offered_is_taken_out_and_nothing_else() {
        for (low, is_mysql) in [(0xfffe, false), (0xffff, true)] {
            let sent = greeting(low);
            let Greeting { packet, offered } = read(sent.clone()).unwrap();
            assert!(!offered.has(Capabilities::NOT_OFFERED));
            assert!(offered.has(Capabilities::DEPRECATE_EOF) && offered.has(Capabilities::PROTOCOL_41));
            let changed: Vec<u8> = sent.iter().zip(&packet).map(|(one, other)| one ^ other).collect();
            let changed: Vec<u8> = changed.into_iter().filter(|byte| *byte != 0).collect();
            // Compression, TLS, and compression by zstd; MariaDB's cached definitions, where these bytes are MariaDB's.
            let expected: &[u8] = if is_mysql { &[0x20, 0x08, 0x04] } else { &[0x20, 0x08, 0x04, 0x10] };
            assert_eq!(changed, expected);
            assert_eq!(packet.len(), sent.len());
        }
    }

    #[test]
    fn old_greetings_end_early() {
        let old = packet(0, &[&[VERSION][..], b"4.0.1\0", &[7, 0, 0, 0], b"12345678\0", &[0x2c, 0]].concat());
        let read = read(old).unwrap();
        assert_eq!(read.offered, Capabilities(0x0c));
    }

    #[test]
    fn an_error_is_passed_on_and_other_packets_are_not() {
        let error = packet(0, b"\xff\x10\x04Too many connections");
        assert!(matches!(read(error.clone()), Err(Refusal::Answer(answer)) if answer == error));
        for body in [&b""[..], b"\x09old\0", b"\x0a", b"HTTP/1.1 400", b"\x0a5.5\0short"] {
            assert!(matches!(read(packet(0, body)), Err(Refusal::Lost(_))), "{body:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_do_no_harm(body in prop::collection::vec(any::<u8>(), 0..200), is_greeting in any::<bool>()) {
            let first: &[u8] = if is_greeting { b"\x0a8.4\0" } else { b"" };
            let sent = packet(0, &[first, &body].concat());
            if let Ok(Greeting { packet, offered }) = read(sent.clone()) {
                prop_assert_eq!(packet.len(), sent.len());
                prop_assert!(!offered.has(Capabilities::NOT_OFFERED));
            }
        }
    }
}
