//! The calls of a log server, from which the log records of a real run are made.
//!
//! The cache keeps buffered writes in a list of its log servers; the report keeps an interval index of them, whose log has a
//! record for each write that enters and one for each that leaves. [`NotingLog`] passes each call on and notes it once the server
//! has done it. The notes `append 7, append 8, trim 7` about two writes of record 5 give the records `insert 14 [5, 5] "7"`,
//! `insert 16 [5, 5] "8"`, `delete 15 [5, 5]`.
//!
//! Guarantee: of the records of a run, replay leaves the writes that were appended and not trimmed. A delete takes every insert of its
//! interval with a lower number away, and a trim takes every write up to its number, so a delete has the number after that of its
//! own write: it leaves a later write of the same interval alone.
//!
//! Cost: a lock and a copy of the touched intervals for each call, so that a run with it is slightly slower.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use lacuna_cache_protocol::ports::{LogServer, Reply};
use lacuna_cache_protocol::{Epoch, LogCall, LogRecord, LogReply, RangeId, Touched};

/// A log server whose calls are noted.
#[derive(Debug)]
pub(crate) struct NotingLog {
    server: Arc<dyn LogServer>,
    notes: SharedNotes,
}

/// Notes under way.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedNotes(Arc<Mutex<LogNotes>>);

/// The calls that a log server has carried out, in order. They are about one range.
#[derive(Debug, Clone, Default)]
pub(crate) struct LogNotes(Vec<Note>);

#[derive(Debug, Clone)]
enum Note {
    /// A write is kept.
    Appended(u64, Vec<Touched>),
    /// The store has all writes up to this number.
    Trimmed(u64),
}

impl NotingLog {
    /// Notes what `server` does from now on.
    pub(crate) fn new(server: Arc<dyn LogServer>) -> Self {
        Self { server, notes: SharedNotes::default() }
    }

    /// What it has noted, and notes later.
    pub(crate) fn notes(&self) -> SharedNotes {
        self.notes.clone()
    }
}

impl LogServer for NotingLog {
    fn call(&self, range: RangeId, epoch: Epoch, call: LogCall) -> Reply<'_, LogReply> {
        let notes: Vec<Note> = match &call {
            LogCall::Append(writes) => {
                writes.iter().map(|(lsn, write)| Note::Appended(*lsn, write.touched.clone())).collect()
            }
            LogCall::Trim(applied) => vec![Note::Trimmed(*applied)],
            LogCall::Fence => Vec::new(),
        };
        Box::pin(async move {
            let reply = self.server.call(range, epoch, call).await?;
            if reply == LogReply::Done {
                self.notes.0.lock().unwrap_or_else(PoisonError::into_inner).0.extend(notes);
            }
            Ok(reply)
        })
    }
}

impl SharedNotes {
    /// The notes so far.
    pub(crate) fn copied(&self) -> LogNotes {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl LogNotes {
    /// The log records, and the numbers of the writes that are pending.
    pub(crate) fn records(&self) -> (Vec<LogRecord>, Vec<u64>) {
        let mut pending: BTreeMap<u64, &[Touched]> = BTreeMap::new();
        let mut records = Vec::new();
        for note in &self.0 {
            match note {
                // The same append may be repeated.
                Note::Appended(lsn, _) if pending.contains_key(lsn) => {}
                Note::Appended(lsn, touched) => {
                    records.extend(of_write(touched, 2 * lsn, Some(key(*lsn))));
                    pending.insert(*lsn, touched);
                }
                Note::Trimmed(applied) => {
                    let later = pending.split_off(&(applied + 1));
                    for (lsn, touched) in std::mem::replace(&mut pending, later) {
                        records.extend(of_write(touched, 2 * lsn + 1, None));
                    }
                }
            }
        }
        (records, pending.into_keys().collect())
    }
}

/// The key of a buffered write in the index: its number.
fn key(lsn: u64) -> Vec<u8> {
    lsn.to_string().into_bytes()
}

/// A record for each interval of a write.
fn of_write(touched: &[Touched], lsn: u64, key: Option<Vec<u8>>) -> impl Iterator<Item = LogRecord> {
    touched.iter().map(move |(domain, interval)| LogRecord {
        lsn,
        domain: *domain,
        interval: interval.clone(),
        key: key.clone(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use lacuna_cache_protocol::{Command, Interval, Write, replay};
    use lacuna_workload::Rng;

    use super::*;
    use crate::paper::chunks_of;

    /// A server that carries out every call but each seventh, which it refuses.
    #[derive(Debug, Default)]
    struct Unsure(Mutex<u64>);

    impl LogServer for Unsure {
        fn call(&self, _: RangeId, _: Epoch, _: LogCall) -> Reply<'_, LogReply> {
            let mut calls = self.0.lock().unwrap();
            *calls += 1;
            let reply = if calls.is_multiple_of(7) { LogReply::Full } else { LogReply::Done };
            Box::pin(std::future::ready(Ok(reply)))
        }
    }

    fn write(record: u64) -> Write {
        Write { touched: vec![(0, Interval::point(record.into()))], command: Command::new(&[]) }
    }

    /// Notes of random appends and trims, and what is pending after them.
    async fn history(seed: u64) -> (LogNotes, BTreeSet<u64>) {
        let (log, mut rng) = (NotingLog::new(Arc::new(Unsure::default())), Rng::new(seed));
        let mut pending = BTreeSet::new();
        for lsn in 1..500 {
            let append = LogCall::Append([(lsn, write(rng.below(20)))].into());
            if log.call(RangeId(0), Epoch(1), append).await.unwrap() == LogReply::Done {
                pending.insert(lsn);
            }
            if lsn % 11 == 0 {
                let applied = lsn - rng.below(30).min(lsn);
                if log.call(RangeId(0), Epoch(1), LogCall::Trim(applied)).await.unwrap() == LogReply::Done {
                    pending.retain(|lsn| *lsn > applied);
                }
            }
        }
        (log.notes().copied(), pending)
    }

    #[tokio::test]
    async fn pending_is_what_was_appended_and_not_trimmed() {
        for seed in 0..20 {
            let (notes, pending) = history(seed).await;
            let (records, left) = notes.records();
            assert!(left.iter().eq(&pending), "seed {seed}");
            let inserts = records.iter().filter(|record| record.key.is_some()).count();
            assert_eq!(inserts - (records.len() - inserts), pending.len(), "seed {seed}");
        }
    }

    #[tokio::test]
    async fn compacted_chunks_replay_to_the_pending_writes() {
        for seed in 0..20 {
            let (notes, pending) = history(seed).await;
            let (records, _) = notes.records();
            for partitions in [1, 32, 128] {
                let chunks = chunks_of(&records, partitions).into_iter().map(lacuna_cache_protocol::compact);
                let chunks: Vec<LogRecord> = chunks.flatten().collect();
                let kept: Vec<Option<Vec<u8>>> =
                    replay(chunks).into_iter().map(|record| record.key).collect();
                assert_eq!(
                    kept,
                    pending.iter().map(|lsn| Some(key(*lsn))).collect::<Vec<_>>(),
                    "seed {seed}"
                );
            }
        }
    }
}
