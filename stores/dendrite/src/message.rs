//! Messages, and their bodies. See `docs/format/dendrite-protocol.md`.

use lacuna_core::{Error, ErrorKind, Result};
use lacuna_range_cache::{
    CallId, Epoch, PeerCall, PeerId, PeerReply, Query, RangeId, RangeTable, Value, Write,
};

use crate::bytes::{Reader, Writer, malformed};
use crate::parts::{read_peer, read_query, read_touched_write, write_peer, write_query, write_touched_write};

/// Answers that say no more than a code are followed by so much text.
const LONGEST_TEXT: usize = 512;

/// How long a caller waits, and what it knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) within_ms: u64,
    pub(crate) may_redirect: bool,
    /// Version of its range table, 0 for none.
    pub(crate) version: u64,
}

/// How a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    NotDone,
    Refused,
    Unknown,
}

/// What is said once both sides have proved who they are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Message {
    Welcome { in_flight: u32, table: RangeTable },
    Goodbye(Fault),
    Read(u64, Terms, Query),
    Write(u64, Terms, Write),
    Peer(u64, RangeId, PeerId, CallId, PeerCall),
    Value(u64, Value),
    Done(u64),
    Failed(u64, How, Fault),
    Redirect(u64, RangeId, String, Option<RangeTable>),
    Held(u64, PeerReply),
}

/// An error as it is told to another process.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    pub(crate) kind: ErrorKind,
    pub(crate) text: String,
}

impl Fault {
    pub(crate) fn new(error: &Error) -> Self {
        let mut text = error.to_string();
        text.truncate(text.floor_char_boundary(LONGEST_TEXT));
        Self { kind: error.kind(), text }
    }

    pub(crate) fn into_error(self) -> Error {
        Error::new(self.kind, self.text)
    }

    fn write(&self, writer: &mut Writer) {
        writer.byte(code(self.kind));
        writer.bytes(self.text.as_bytes());
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let kind = kind_of(reader.byte()?)?;
        let text = reader.text()?;
        if text.len() > LONGEST_TEXT { Err(malformed("text")) } else { Ok(Self { kind, text }) }
    }
}

const fn code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::InvalidInput => 1,
        ErrorKind::Full => 2,
        ErrorKind::BudgetTooSmall { .. } => 3,
        ErrorKind::Unsupported => 4,
        ErrorKind::Corrupt => 5,
        ErrorKind::Conflict => 7,
        _ => 6,
    }
}

fn kind_of(code: u8) -> Result<ErrorKind> {
    Ok(match code {
        // Budgets are none of ours: whoever hears of one can only change its call.
        1 | 3 => ErrorKind::InvalidInput,
        2 => ErrorKind::Full,
        4 => ErrorKind::Unsupported,
        5 => ErrorKind::Corrupt,
        6 => ErrorKind::Unavailable,
        7 => ErrorKind::Conflict,
        _ => return Err(malformed("code")),
    })
}

impl Message {
    /// The ticket that an answer answers.
    pub(crate) const fn answered(&self) -> Option<u64> {
        match self {
            Self::Value(ticket, _)
            | Self::Done(ticket)
            | Self::Failed(ticket, ..)
            | Self::Redirect(ticket, ..)
            | Self::Held(ticket, _) => Some(*ticket),
            _ => None,
        }
    }

    /// Kind and body.
    pub(crate) fn to_frame(&self) -> (u8, Vec<u8>) {
        let mut writer = Writer::default();
        let kind = self.write(&mut writer);
        (kind, writer.0)
    }

    fn write(&self, to: &mut Writer) -> u8 {
        match self {
            Self::Welcome { in_flight, table } => {
                to.number((*in_flight).into());
                to.bytes(&table.to_bytes());
                4
            }
            Self::Goodbye(fault) => {
                fault.write(to);
                5
            }
            Self::Read(ticket, terms, query) => {
                write_terms(to, *ticket, terms);
                write_query(to, query);
                16
            }
            Self::Write(ticket, terms, write) => {
                write_terms(to, *ticket, terms);
                write_touched_write(to, write);
                17
            }
            Self::Peer(ticket, range, peer, call, what) => {
                to.number(*ticket);
                to.number(range.0.into());
                write_peer(to, *peer, *call, what);
                18
            }
            Self::Value(ticket, value) => {
                to.number(*ticket);
                to.fixed(value.as_bytes());
                32
            }
            Self::Done(ticket) => {
                to.number(*ticket);
                33
            }
            Self::Failed(ticket, how, fault) => {
                to.number(*ticket);
                to.byte(*how as u8);
                fault.write(to);
                34
            }
            Self::Redirect(ticket, range, address, table) => {
                to.number(*ticket);
                to.number(range.0.into());
                to.bytes(address.as_bytes());
                to.bytes(&table.as_ref().map(RangeTable::to_bytes).unwrap_or_default());
                35
            }
            Self::Held(ticket, reply) => {
                to.number(*ticket);
                let (what, epoch) = match reply {
                    PeerReply::Refused => (0, 0),
                    PeerReply::Released => (1, 0),
                    PeerReply::Held(epoch) => (2, epoch.0),
                };
                to.byte(what);
                to.number(epoch);
                36
            }
        }
    }

    /// The message of a frame.
    ///
    /// # Errors
    /// `Corrupt` if it is of no kind that there is, says what cannot be, or has bytes left over; `Unsupported` if a part
    /// of it is newer.
    pub(crate) fn read(kind: u8, body: &[u8]) -> Result<Self> {
        let mut from = Reader(body);
        let message = Self::read_body(kind, &mut from)?;
        if from.0.is_empty() { Ok(message) } else { Err(malformed("end")) }
    }

    fn read_body(kind: u8, from: &mut Reader<'_>) -> Result<Self> {
        Ok(match kind {
            4 => Self::Welcome { in_flight: from.small()?, table: RangeTable::from_bytes(from.bytes()?)? },
            5 => Self::Goodbye(Fault::read(from)?),
            16 => {
                let (ticket, terms) = read_terms(from)?;
                Self::Read(ticket, terms, read_query(from)?)
            }
            17 => {
                let (ticket, terms) = read_terms(from)?;
                Self::Write(ticket, terms, read_touched_write(from)?)
            }
            18 => {
                let (ticket, range) = (from.number()?, RangeId(from.small()?));
                let (peer, call, what) = read_peer(from)?;
                Self::Peer(ticket, range, peer, call, what)
            }
            32 => Self::Value(from.number()?, Value::new(from.rest())),
            33 => Self::Done(from.number()?),
            34 => {
                let ticket = from.number()?;
                let how = match from.byte()? {
                    0 => How::NotDone,
                    1 => How::Refused,
                    2 => How::Unknown,
                    _ => return Err(malformed("failure")),
                };
                Self::Failed(ticket, how, Fault::read(from)?)
            }
            35 => {
                let (ticket, range, address) = (from.number()?, RangeId(from.small()?), from.text()?);
                let table = from.bytes()?;
                let table = (!table.is_empty()).then(|| RangeTable::from_bytes(table)).transpose()?;
                Self::Redirect(ticket, range, address, table)
            }
            36 => {
                let ticket = from.number()?;
                let reply = match (from.byte()?, from.number()?) {
                    (0, 0) => PeerReply::Refused,
                    (1, 0) => PeerReply::Released,
                    (2, epoch) => PeerReply::Held(Epoch(epoch)),
                    _ => return Err(malformed("lease")),
                };
                Self::Held(ticket, reply)
            }
            _ => return Err(malformed("kind")),
        })
    }
}

fn write_terms(to: &mut Writer, ticket: u64, terms: &Terms) {
    to.number(ticket);
    to.number(terms.within_ms);
    to.byte(terms.may_redirect.into());
    to.number(terms.version);
}

fn read_terms(from: &mut Reader<'_>) -> Result<(u64, Terms)> {
    let (ticket, within_ms) = (from.number()?, from.number()?);
    let may_redirect = match from.byte()? {
        0 => false,
        1 => true,
        _ => return Err(malformed("flags")),
    };
    Ok((ticket, Terms { within_ms, may_redirect, version: from.number()? }))
}
