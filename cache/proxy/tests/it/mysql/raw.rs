//! A client that sends and receives bytes of the protocol.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// First bytes of answers.
pub(super) const OK: u8 = 0;
pub(super) const FILE_REQUEST: u8 = 0xfb;
pub(super) const END: u8 = 0xfe;
pub(super) const ERROR: u8 = 0xff;

/// Commands.
pub(super) const QUERY: u8 = 0x03;
pub(super) const PING: u8 = 0x0e;
pub(super) const PREPARE: u8 = 0x16;
pub(super) const EXECUTE: u8 = 0x17;
pub(super) const LONG_DATA: u8 = 0x18;
pub(super) const CLOSE: u8 = 0x19;
pub(super) const FETCH: u8 = 0x1c;

/// The length of a packet that goes on in the next one.
const FULL: usize = 0xff_ffff;

/// A packet of the server, or several that are one message: the number of the last one, and the bodies.
pub(super) type Received = (u8, Vec<u8>);

pub(super) struct Raw {
    pub(super) stream: TcpStream,
}

/// Packets of one message, from this number on.
pub(super) fn packets(first: u8, body: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    let (mut left, mut number) = (body, first);
    loop {
        let (part, rest) = left.split_at(left.len().min(FULL));
        let [low, middle, high, ..] = u32::try_from(part.len()).unwrap().to_le_bytes();
        all.extend([low, middle, high, number]);
        all.extend_from_slice(part);
        if part.len() < FULL {
            return all;
        }
        (left, number) = (rest, number.wrapping_add(1));
    }
}

pub(super) fn command(code: u8, rest: &[u8]) -> Vec<u8> {
    packets(0, &[&[code][..], rest].concat())
}

impl Raw {
    /// Long flags, a database, files, protocol 4.1, transactions, secure logins, several statements and results, names of logins.
    pub(super) const OLD: u32 = 0x000f_a28c;
    /// The same, and results that end with an OK.
    pub(super) const NEW: u32 = Self::OLD | 1 << 24;

    /// A connection that nothing was sent over.
    pub(super) fn connect(port: u16) -> Self {
        Self::try_connect(port).unwrap()
    }

    /// The same, if the port is listened at.
    pub(super) fn try_connect(port: u16) -> Option<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_nodelay(true).unwrap();
        Some(Self { stream })
    }

    /// A session of the user `root` in the database `test`.
    pub(super) fn login(port: u16, abilities: u32) -> Self {
        Self::try_login(port, abilities).unwrap()
    }

    pub(super) fn try_login(port: u16, abilities: u32) -> Option<Self> {
        let mut raw = Self::try_connect(port)?;
        let (_, greeting) = raw.receive()?;
        (greeting[0] != ERROR).then_some(())?;
        raw.send(&packets(1, &Self::answer("root", abilities)));
        let (_, answer) = raw.receive()?;
        (answer[0] == OK).then_some(raw)
    }

    /// The answer to a greeting, without a password.
    pub(super) fn answer(user: &str, abilities: u32) -> Vec<u8> {
        let fixed = [&abilities.to_le_bytes()[..], &(1_u32 << 30).to_le_bytes(), &[45], &[0; 23]].concat();
        [&fixed[..], user.as_bytes(), b"\0\0test\0mysql_native_password\0"].concat()
    }

    pub(super) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The next message; `None` at the end of the connection.
    pub(super) fn receive(&mut self) -> Option<Received> {
        let mut body = Vec::new();
        loop {
            let mut header = [0; 4];
            match self.stream.read_exact(&mut header) {
                Ok(()) => {}
                Err(why) if is_end(&why) => return None,
                Err(why) => panic!("{why}"),
            }
            let [low, middle, high, number] = header;
            let len = u32::from_le_bytes([low, middle, high, 0]);
            let before = body.len();
            match (&mut self.stream).take(len.into()).read_to_end(&mut body) {
                Ok(_) => {}
                Err(why) if is_end(&why) => return None,
                Err(why) => panic!("{why}"),
            }
            if body.len() - before < FULL {
                return Some((number, body));
            }
        }
    }

    /// The messages of the answer to a command, by their numbers: those of the next one begin with 1 again.
    pub(super) fn ask(&mut self, code: u8, rest: &[u8]) -> Vec<Received> {
        self.send(&[command(code, rest), command(PING, b"")].concat());
        self.until_ping()
    }

    /// What comes up to the answer to a PING.
    pub(super) fn until_ping(&mut self) -> Vec<Received> {
        let mut all: Vec<Received> = Vec::new();
        loop {
            let (number, body) = self.receive().unwrap_or_else(|| panic!("the end after {all:?}"));
            // Numbers of long answers come to 1 again.
            if number == 1 && all.last().is_some_and(|(last, _)| *last != 0) {
                assert_eq!(body[0], OK, "{body:?}");
                return all;
            }
            all.push((number, body));
        }
    }

    pub(super) fn query(&mut self, text: &str) -> Vec<Received> {
        self.ask(QUERY, text.as_bytes())
    }

    /// The number of an error that comes before the end of the connection, and what it says.
    pub(super) fn last_words(&mut self) -> (u16, String) {
        let (_, body) = self.receive().expect("an error comes");
        error(&body)
    }
}

/// Number and sentence of an error.
pub(super) fn error(body: &[u8]) -> (u16, String) {
    assert_eq!(body[0], ERROR, "{body:?}");
    (u16::from_le_bytes([body[1], body[2]]), String::from_utf8_lossy(&body[3..]).into_owned())
}

fn is_end(why: &io::Error) -> bool {
    matches!(why.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset)
}
