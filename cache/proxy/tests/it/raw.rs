//! A client that sends and receives bytes of the protocol.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A message of a client.
pub(crate) fn message(tag: u8, body: &[&[u8]]) -> Vec<u8> {
    let body = body.concat();
    let length = u32::try_from(body.len() + 4).unwrap();
    [&[tag][..], &length.to_be_bytes(), &body].concat()
}

pub(crate) fn query(text: &str) -> Vec<u8> {
    message(b'Q', &[text.as_bytes(), b"\0"])
}

pub(crate) fn parse(name: &str, text: &str) -> Vec<u8> {
    message(b'P', &[name.as_bytes(), b"\0", text.as_bytes(), b"\0\0\0"])
}

/// Binds texts, and asks for results as text.
pub(crate) fn bind(portal: &str, statement: &str, values: &[&str]) -> Vec<u8> {
    let mut body = [portal.as_bytes(), b"\0", statement.as_bytes(), b"\0\0\0"].concat();
    body.extend(u16::try_from(values.len()).unwrap().to_be_bytes());
    for value in values {
        body.extend(u32::try_from(value.len()).unwrap().to_be_bytes());
        body.extend(value.as_bytes());
    }
    message(b'B', &[&body, b"\0\0"])
}

pub(crate) fn describe(kind: u8, name: &str) -> Vec<u8> {
    message(b'D', &[&[kind], name.as_bytes(), b"\0"])
}

pub(crate) fn execute(portal: &str, max_rows: u32) -> Vec<u8> {
    message(b'E', &[portal.as_bytes(), b"\0", &max_rows.to_be_bytes()])
}

pub(crate) fn close(kind: u8, name: &str) -> Vec<u8> {
    message(b'C', &[&[kind], name.as_bytes(), b"\0"])
}

pub(crate) fn sync() -> Vec<u8> {
    message(b'S', &[])
}

/// A first packet: a number and parameters.
pub(crate) fn startup(version: u32, parameters: &[(&str, &str)]) -> Vec<u8> {
    let mut body = version.to_be_bytes().to_vec();
    for (name, value) in parameters {
        body.extend([name.as_bytes(), b"\0", value.as_bytes(), b"\0"].concat());
    }
    body.push(0);
    let length = u32::try_from(body.len() + 4).unwrap();
    [&length.to_be_bytes()[..], &body].concat()
}

pub(crate) const V3_0: u32 = 3 << 16;
pub(crate) const V3_2: u32 = (3 << 16) + 2;
pub(crate) const AS_POSTGRES: [(&str, &str); 2] = [("user", "postgres"), ("database", "postgres")];

/// A message of the server.
pub(crate) type Received = (u8, Vec<u8>);

pub(crate) struct Raw {
    pub(crate) stream: TcpStream,
}

impl Raw {
    /// A connection that nothing was sent over.
    pub(crate) fn connect(port: u16) -> Self {
        Self::try_connect(port).unwrap()
    }

    /// The same, if the port is listened at.
    pub(crate) fn try_connect(port: u16) -> Option<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_nodelay(true).unwrap();
        Some(Self { stream })
    }

    /// A session of the user `postgres`; and what the server has sent until it was ready.
    pub(crate) fn login(port: u16) -> (Self, Vec<Received>) {
        let mut raw = Self::connect(port);
        raw.send(&startup(V3_0, &AS_POSTGRES));
        let greeting = raw.until_ready();
        (raw, greeting)
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The next message; `None` at the end of the connection.
    pub(crate) fn receive(&mut self) -> Option<Received> {
        let mut header = [0; 5];
        match self.stream.read_exact(&mut header) {
            Ok(()) => {}
            Err(why) if is_end(&why) => return None,
            Err(why) => panic!("{why}"),
        }
        let [tag, length @ ..] = header;
        let len = u32::from_be_bytes(length).saturating_sub(4);
        let mut body = Vec::new();
        // Errors of version 2 have no length: they end with the connection.
        match Read::by_ref(&mut self.stream).take(len.into()).read_to_end(&mut body) {
            Ok(_) => {}
            Err(why) if is_end(&why) => {}
            Err(why) => panic!("{why}"),
        }
        Some((tag, body))
    }

    /// All messages up to the next `ReadyForQuery`, or to the end of the connection.
    pub(crate) fn until_ready(&mut self) -> Vec<Received> {
        let mut all = Vec::new();
        while let Some(message) = self.receive() {
            all.push(message);
            if all.last().unwrap().0 == b'Z' {
                break;
            }
        }
        all
    }

    /// The types of the messages that answer `text`, as letters.
    pub(crate) fn ask(&mut self, text: &str) -> String {
        self.send(&query(text));
        letters(&self.until_ready())
    }
}

fn is_end(why: &io::Error) -> bool {
    matches!(why.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset)
}

pub(crate) fn letters(messages: &[Received]) -> String {
    messages.iter().map(|(tag, _)| char::from(*tag)).collect()
}

/// The field of an error: `C` is its code, `M` its sentence.
pub(crate) fn error_field(messages: &[Received], field: u8) -> String {
    let (_, body) = messages.iter().find(|(tag, _)| *tag == b'E').expect("an error came");
    let mut fields = body.split(|byte| *byte == 0);
    let found = fields.find(|text| text.first() == Some(&field)).expect("the field is there");
    String::from_utf8_lossy(&found[1..]).into_owned()
}
