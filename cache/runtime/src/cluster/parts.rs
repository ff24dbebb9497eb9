//! Queries, writes and calls of owners, as parts of messages.

use crate::write_bytes::{decode_write, encode_write};
use lacuna_base::wire::{Reader, Writer};
use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::{
    CallId, Epoch, Form, Interval, LeaseMode, LogRecord, PeerCall, PeerId, Query, RangeId, Session, Stamps,
    Touched, Write, read_chunk, write_chunk,
};

use crate::cluster::frame::malformed;
use crate::cluster::limits::MAX_QUERIES;

pub(crate) fn write_query(to: &mut Writer, query: &Query) {
    let (form, limit) = match query.form {
        Form::All => (0, 0),
        Form::First(limit) => (1, limit),
        Form::Last(limit) => (2, limit),
    };
    let mut key = vec![form];
    key.extend_from_slice(&limit.to_le_bytes());
    key.extend(query.question.iter().flat_map(|question| question.iter()));
    let interval = query.interval.clone();
    let record = LogRecord { lsn: query.fingerprint, domain: query.domain, interval, key: Some(key) };
    let mut records = vec![record];
    if !query.stamps.as_bytes().is_empty() {
        let key = Some(query.stamps.as_bytes().to_vec());
        records.push(LogRecord { lsn: 0, domain: 0, interval: Interval::all(), key });
    }
    let mut chunk = Vec::new();
    write_chunk(&mut chunk, &records);
    to.bytes(&chunk);
}

pub(crate) fn read_query(from: &mut Reader<'_>) -> Result<Query> {
    let mut records = read_chunk(from.bytes()?)?.into_iter();
    let (Some(record), stamps, None) = (records.next(), records.next(), records.next()) else {
        return Err(malformed("query"));
    };
    let stamps = stamps.map_or(Ok(Stamps::NONE), read_stamps)?;
    let Some([form, limit @ ..]) = record.key.as_deref() else { return Err(malformed("form")) };
    let (limit, question) = limit.split_first_chunk().ok_or_else(|| malformed("limit"))?;
    let limit = u32::from_le_bytes(*limit);
    let question = Some(question).filter(|bytes| !bytes.is_empty()).map(Into::into);
    let form = match (form, limit) {
        (0, 0) => Form::All,
        (1, limit) => Form::First(limit),
        (2, limit) => Form::Last(limit),
        _ => return Err(malformed("form")),
    };
    let LogRecord { lsn: fingerprint, domain, interval, .. } = record;
    Ok(Query { domain, interval, form, fingerprint, question, stamps })
}

/// A record without number, domain and interval, whose key they are.
fn read_stamps(record: LogRecord) -> Result<Stamps> {
    let is_plain = (record.lsn, record.domain) == (0, 0) && record.interval == Interval::all();
    match record.key.filter(|key| is_plain && !key.is_empty()) {
        Some(key) => Ok(Stamps::new(&key)),
        None => Err(malformed("stamps")),
    }
}

pub(crate) fn write_queries(to: &mut Writer, queries: &[Query]) {
    to.number(queries.len() as u64);
    queries.iter().for_each(|query| write_query(to, query));
}

pub(crate) fn read_queries(from: &mut Reader<'_>) -> Result<Vec<Query>> {
    let count = from.length()?;
    if !(1..=MAX_QUERIES).contains(&count) {
        return Err(malformed("number of queries"));
    }
    (0..count).map(|_| read_query(from)).collect()
}

/// Ranges and tenures, at least one.
pub(crate) fn write_fences(to: &mut Writer, fences: &[(RangeId, Epoch)]) {
    to.number(fences.len() as u64);
    for (range, epoch) in fences {
        to.number(range.0.into());
        to.number(epoch.0);
    }
}

pub(crate) fn read_fences(from: &mut Reader<'_>) -> Result<Vec<(RangeId, Epoch)>> {
    match from.length()? {
        0 => Err(malformed("number of ranges")),
        count => (0..count).map(|_| Ok((RangeId(from.small()?), Epoch(from.number()?)))).collect(),
    }
}

pub(crate) fn write_touched_write(to: &mut Writer, write: &Write) {
    encode_write(to.bytes_mut(), 0, write);
}

pub(crate) fn read_touched_write(from: &mut Reader<'_>) -> Result<Write> {
    match decode_write(from.take_rest())? {
        (0, write) => Ok(write),
        _ => Err(malformed("number of a write")),
    }
}

pub(crate) fn write_peer(to: &mut Writer, peer: PeerId, call: CallId, what: &PeerCall) {
    to.number(peer.range.0.into());
    to.number(peer.epoch.0);
    to.number(peer.session.0);
    to.number(call.0);
    let (kind, touched) = match what {
        PeerCall::Release => (0, &[][..]),
        PeerCall::Lock(LeaseMode::Shared, touched) => (1, &touched[..]),
        PeerCall::Lock(LeaseMode::Exclusive, touched) => (2, &touched[..]),
    };
    to.byte(kind);
    write_touched(to, touched);
}

/// Intervals, as log records without numbers and keys.
pub(crate) fn write_touched(to: &mut Writer, touched: &[Touched]) {
    let record = |(domain, interval): &Touched| LogRecord {
        lsn: 0,
        domain: *domain,
        interval: interval.clone(),
        key: None,
    };
    let records: Vec<LogRecord> = touched.iter().map(record).collect();
    let mut chunk = Vec::new();
    write_chunk(&mut chunk, &records);
    to.bytes(&chunk);
}

pub(crate) fn read_touched(from: &mut Reader<'_>) -> Result<Vec<Touched>> {
    let records = read_chunk(from.bytes()?)?;
    if records.iter().any(|record| record.lsn != 0 || record.key.is_some()) {
        return Err(malformed("touched intervals"));
    }
    Ok(records.into_iter().map(|record| (record.domain, record.interval)).collect())
}

pub(crate) fn read_peer(from: &mut Reader<'_>) -> Result<(PeerId, CallId, PeerCall)> {
    let (range, epoch) = (RangeId(from.small()?), Epoch(from.number()?));
    let peer = PeerId { range, epoch, session: Session(from.number()?) };
    let (call, kind) = (CallId(from.number()?), from.byte()?);
    let touched = read_touched(from)?;
    let what = match (kind, touched.is_empty()) {
        (0, true) => PeerCall::Release,
        (1, _) => PeerCall::Lock(LeaseMode::Shared, touched),
        (2, _) => PeerCall::Lock(LeaseMode::Exclusive, touched),
        _ => return Err(malformed("call")),
    };
    Ok((peer, call, what))
}
