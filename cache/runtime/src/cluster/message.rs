//! Messages, and their bodies. See [`docs/format/dendrite-protocol.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/dendrite-protocol.md).

use lacuna_base::wire::{Reader, Writer};
use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::{
    CallId, Epoch, PeerCall, PeerId, PeerReply, Query, RangeId, RangeTable, Value, Write,
};

use crate::cluster::fault::Fault;
use crate::cluster::frame::{LONGEST, malformed, reader, write_frame};
use crate::cluster::limits;
use crate::cluster::noticed::{Listen, Noticed};
use crate::cluster::parts::{
    read_fences, read_peer, read_queries, read_query, read_touched_write, write_fences, write_peer,
    write_queries, write_query, write_touched_write,
};

/// The terms of a request: how long the caller waits, and what it knows.
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

/// The number of a message on the wire. 1 to 3 are those of the handshake (`hello.rs`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum MessageKind {
    Welcome = 4,
    Goodbye = 5,
    Read = 16,
    Write = 17,
    Peer = 18,
    ReadAll = 19,
    Hold = 20,
    HoldOver = 21,
    Listen = 22,
    Value = 32,
    Done = 33,
    Failed = 34,
    Redirect = 35,
    Held = 36,
    Values = 37,
    HeldAll = 38,
    Notices = 39,
}

impl MessageKind {
    const ALL: [Self; 17] = [
        Self::Welcome,
        Self::Goodbye,
        Self::Read,
        Self::Write,
        Self::Peer,
        Self::ReadAll,
        Self::Hold,
        Self::HoldOver,
        Self::Listen,
        Self::Value,
        Self::Done,
        Self::Failed,
        Self::Redirect,
        Self::Held,
        Self::Values,
        Self::HeldAll,
        Self::Notices,
    ];

    fn of(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == number)
    }
}

/// The messages after the handshake.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Message {
    Welcome {
        in_flight: u32,
        table: RangeTable,
    },
    Goodbye(Fault),
    Read(u64, Terms, Query),
    Write(u64, Terms, Write),
    ReadAll(u64, Terms, Vec<Query>),
    /// For this many milliseconds, on what this write would touch.
    Hold(u64, Terms, u64, Write),
    /// About the request with the second ticket, and whether nothing that was sent under the lease is under way.
    HoldOver(u64, u64, bool),
    Listen(u64, Listen),
    Peer(u64, RangeId, PeerId, CallId, PeerCall),
    Value(u64, Value),
    Done(u64),
    Failed(u64, How, Fault),
    Redirect(u64, RangeId, String, Option<RangeTable>),
    Held(u64, PeerReply),
    Values(u64, Vec<Value>),
    HeldAll(u64, Vec<(RangeId, Epoch)>),
    Notices(u64, Noticed),
}

impl Message {
    /// The ticket of the request that this message answers.
    pub(crate) const fn answered(&self) -> Option<u64> {
        match self {
            Self::Value(ticket, _)
            | Self::Done(ticket)
            | Self::Failed(ticket, ..)
            | Self::Redirect(ticket, ..)
            | Self::Held(ticket, _)
            | Self::Values(ticket, _)
            | Self::HeldAll(ticket, _)
            | Self::Notices(ticket, _) => Some(*ticket),
            _ => None,
        }
    }

    /// The frame of this message, if its reader takes it.
    ///
    /// # Errors
    /// `InvalidInput` if it goes beyond a limit of the format.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        limits::check(self)?;
        let (kind, body) = self.to_frame();
        write_frame(kind, &body, LONGEST)
    }

    /// Kind and body.
    pub(crate) fn to_frame(&self) -> (u8, Vec<u8>) {
        let mut writer = Writer::default();
        let kind = self.write(&mut writer);
        (kind as u8, writer.into_bytes())
    }

    fn write(&self, to: &mut Writer) -> MessageKind {
        match self {
            Self::Welcome { in_flight, table } => {
                to.number((*in_flight).into());
                to.bytes(&table.to_bytes());
                MessageKind::Welcome
            }
            Self::Goodbye(fault) => {
                fault.write(to);
                MessageKind::Goodbye
            }
            Self::Read(ticket, terms, query) => {
                write_terms(to, *ticket, terms);
                write_query(to, query);
                MessageKind::Read
            }
            Self::Write(ticket, terms, write) => {
                write_terms(to, *ticket, terms);
                write_touched_write(to, write);
                MessageKind::Write
            }
            Self::Peer(ticket, range, peer, call, what) => {
                to.number(*ticket);
                to.number(range.0.into());
                write_peer(to, *peer, *call, what);
                MessageKind::Peer
            }
            Self::ReadAll(ticket, terms, queries) => {
                write_terms(to, *ticket, terms);
                write_queries(to, queries);
                MessageKind::ReadAll
            }
            Self::Hold(ticket, terms, lasts_ms, held) => {
                write_terms(to, *ticket, terms);
                to.number(*lasts_ms);
                write_touched_write(to, held);
                MessageKind::Hold
            }
            Self::HoldOver(ticket, about, is_sure) => {
                to.number(*ticket);
                to.number(*about);
                to.byte((*is_sure).into());
                MessageKind::HoldOver
            }
            Self::Listen(ticket, listen) => {
                to.number(*ticket);
                listen.write(to);
                MessageKind::Listen
            }
            Self::Value(ticket, value) => {
                to.number(*ticket);
                to.fixed(value.as_bytes());
                MessageKind::Value
            }
            Self::Done(ticket) => {
                to.number(*ticket);
                MessageKind::Done
            }
            Self::Failed(ticket, how, fault) => {
                to.number(*ticket);
                to.byte(*how as u8);
                fault.write(to);
                MessageKind::Failed
            }
            Self::Redirect(ticket, range, address, table) => {
                to.number(*ticket);
                to.number(range.0.into());
                to.bytes(address.as_bytes());
                to.bytes(&table.as_ref().map(RangeTable::to_bytes).unwrap_or_default());
                MessageKind::Redirect
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
                MessageKind::Held
            }
            Self::Values(ticket, values) => {
                to.number(*ticket);
                to.number(values.len() as u64);
                values.iter().for_each(|value| to.bytes(value.as_bytes()));
                MessageKind::Values
            }
            Self::HeldAll(ticket, fences) => {
                to.number(*ticket);
                write_fences(to, fences);
                MessageKind::HeldAll
            }
            Self::Notices(ticket, noticed) => {
                to.number(*ticket);
                noticed.write(to);
                MessageKind::Notices
            }
        }
    }

    /// The message of a frame.
    ///
    /// # Errors
    /// `Corrupt` if its kind is unknown, its content inconsistent, or bytes are left over; `Unsupported` if a part
    /// of it is newer.
    pub(crate) fn read(kind: u8, body: &[u8]) -> Result<Self> {
        let mut from = reader(body);
        let message = Self::read_body(kind, &mut from)?;
        if from.is_at_end() { Ok(message) } else { Err(malformed("end")) }
    }

    fn read_body(kind: u8, from: &mut Reader<'_>) -> Result<Self> {
        let Some(kind) = MessageKind::of(kind) else { return Err(malformed("kind")) };
        Ok(match kind {
            MessageKind::Welcome => {
                Self::Welcome { in_flight: from.small()?, table: RangeTable::from_bytes(from.bytes()?)? }
            }
            MessageKind::Goodbye => Self::Goodbye(Fault::read(from)?),
            MessageKind::Read => {
                let (ticket, terms) = read_terms(from)?;
                Self::Read(ticket, terms, read_query(from)?)
            }
            MessageKind::Write => {
                let (ticket, terms) = read_terms(from)?;
                Self::Write(ticket, terms, read_touched_write(from)?)
            }
            MessageKind::Peer => {
                let (ticket, range) = (from.number()?, RangeId(from.small()?));
                let (peer, call, what) = read_peer(from)?;
                Self::Peer(ticket, range, peer, call, what)
            }
            MessageKind::ReadAll => {
                let (ticket, terms) = read_terms(from)?;
                Self::ReadAll(ticket, terms, read_queries(from)?)
            }
            MessageKind::Hold => {
                let (ticket, terms) = read_terms(from)?;
                Self::Hold(ticket, terms, from.number()?, read_touched_write(from)?)
            }
            MessageKind::HoldOver => Self::HoldOver(from.number()?, from.number()?, read_bool(from)?),
            MessageKind::Listen => Self::Listen(from.number()?, Listen::read(from)?),
            MessageKind::Value => Self::Value(from.number()?, Value::new(from.take_rest())),
            MessageKind::Done => Self::Done(from.number()?),
            MessageKind::Failed => {
                let ticket = from.number()?;
                let how = match from.byte()? {
                    0 => How::NotDone,
                    1 => How::Refused,
                    2 => How::Unknown,
                    _ => return Err(malformed("failure")),
                };
                Self::Failed(ticket, how, Fault::read(from)?)
            }
            MessageKind::Redirect => {
                let (ticket, range, address) = (from.number()?, RangeId(from.small()?), from.text()?);
                let table = from.bytes()?;
                let table = (!table.is_empty()).then(|| RangeTable::from_bytes(table)).transpose()?;
                Self::Redirect(ticket, range, address, table)
            }
            MessageKind::Held => {
                let ticket = from.number()?;
                let reply = match (from.byte()?, from.number()?) {
                    (0, 0) => PeerReply::Refused,
                    (1, 0) => PeerReply::Released,
                    (2, epoch) => PeerReply::Held(Epoch(epoch)),
                    _ => return Err(malformed("lease")),
                };
                Self::Held(ticket, reply)
            }
            MessageKind::Values => {
                let (ticket, count) = (from.number()?, from.length()?);
                let values = (0..count).map(|_| Ok(Value::new(from.bytes()?)));
                Self::Values(ticket, values.collect::<Result<_>>()?)
            }
            MessageKind::HeldAll => Self::HeldAll(from.number()?, read_fences(from)?),
            MessageKind::Notices => Self::Notices(from.number()?, Noticed::read(from)?),
        })
    }
}

fn write_terms(to: &mut Writer, ticket: u64, terms: &Terms) {
    to.number(ticket);
    to.number(terms.within_ms);
    to.byte(terms.may_redirect.into());
    to.number(terms.version);
}

fn read_bool(from: &mut Reader<'_>) -> Result<bool> {
    match from.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(malformed("flags")),
    }
}

fn read_terms(from: &mut Reader<'_>) -> Result<(u64, Terms)> {
    let (ticket, within_ms) = (from.number()?, from.number()?);
    let may_redirect = read_bool(from)?;
    Ok((ticket, Terms { within_ms, may_redirect, version: from.number()? }))
}
