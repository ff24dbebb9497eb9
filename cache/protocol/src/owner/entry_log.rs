//! The log of entries: what the next owner needs to begin warm.
//!
//! Insert records are sent with their values (`read.rs`). Delete records wait here until there is a batch of them
//! or time has passed: an entry that is known but gone costs the next owner only a needless invalidation. A chunk
//! that has twice the records of its last compaction is read, compacted and replaced, as far as it was read.
//!
//! A delete says that no entry remains for its interval, so it is written when the last entry of the interval is
//! gone. A delete gets its number then, an insert gets its number when it is sent, so that the order of numbers is
//! the order of events.

use super::calls::{Call, Purpose};
use super::{Owner, Phase};
use crate::call::{CacheCall, CacheReply};
use crate::config::{Application, Flaw};
use crate::interval::Interval;
use crate::log::{LOG_CHUNKS, LogRecord, compact, read_chunk, replay, write_chunk};
use crate::predicate_index::PredicateIndex;
use crate::query::{DomainId, Query};
use crate::range_key::RangeKey;

/// Chunks with at most this many records are not compacted.
const FEW: u32 = 32;

/// What is known of the log without reading it.
#[derive(Debug, Clone)]
pub(super) struct EntryLog {
    deletes: Vec<LogRecord>,
    /// For each chunk, records now, and after its last compaction.
    counts: Vec<(u32, u32)>,
    /// Bytes of all records that were sent and not compacted since.
    bytes: usize,
    compacting: bool,
}

impl EntryLog {
    pub(super) fn new() -> Self {
        Self { deletes: Vec::new(), counts: vec![(0, 0); LOG_CHUNKS as usize], bytes: 0, compacting: false }
    }

    fn count(&mut self, record: &LogRecord) {
        self.counts[record.chunk(LOG_CHUNKS) as usize].0 += 1;
    }

    /// Bytes of the log in the cache server, as far as it has received what was sent.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    fn largest(&self) -> Option<u32> {
        let is_large = |chunk: &u32| {
            let (now, before) = self.counts[*chunk as usize];
            now > FEW.max(2 * before)
        };
        (0..LOG_CHUNKS).find(is_large)
    }
}

impl<A: Application> Owner<A> {
    /// Notes that an entry may be in the cache, before it can be there (P5).
    pub(super) fn know_entry(&mut self, query: &Query, covered: Interval<RangeKey>) {
        self.patching.forget(query);
        self.spare(query);
        let before = self.index.write().insert(query, covered);
        if let Some(before) = before {
            self.log_delete(query.domain, before);
        }
        self.evict_if_many();
    }

    /// Forgets an entry that has left the cache.
    pub(super) fn forget_entry(&mut self, query: &Query) {
        self.patching.forget(query);
        let covered = self.index.write().remove(query);
        if let Some(covered) = covered {
            self.log_delete(query.domain, covered);
        }
    }

    /// The record that goes out with the value of an entry.
    pub(super) fn insert_record(&mut self, query: &Query, covered: Interval<RangeKey>) -> LogRecord {
        let record = LogRecord::of_entry(self.next_number(), query, covered);
        if self.config.keeps_log {
            self.entry_log.count(&record);
            self.entry_log.bytes += bytes_of([&record]);
        }
        record
    }

    fn log_delete(&mut self, domain: DomainId, interval: Interval<RangeKey>) {
        if !self.config.keeps_log || self.index.read().stands_at(domain, &interval) {
            return;
        }
        let record = LogRecord { lsn: self.next_number(), domain, interval, key: None };
        self.entry_log.count(&record);
        self.entry_log.deletes.push(record);
        if self.entry_log.deletes.len() >= self.config.log_batch {
            self.append_deletes();
        }
    }

    /// Sends the gathered deletes; no task waits for the reply.
    pub(super) fn append_deletes(&mut self) {
        let deletes = std::mem::take(&mut self.entry_log.deletes);
        if !deletes.is_empty() {
            self.entry_log.bytes += bytes_of(&deletes);
            self.call(Purpose::Trim, Call::Cache(CacheCall::AppendLog(deletes)));
        }
    }

    /// Begins to compact a chunk, if one has grown and no compaction is running.
    pub(super) fn compact_log(&mut self) {
        let Some(chunk) = self.entry_log.largest().filter(|_| self.config.keeps_log && self.is_serving())
        else {
            return;
        };
        if !self.entry_log.compacting {
            self.entry_log.compacting = true;
            self.call(Purpose::Compact(chunk), Call::Cache(CacheCall::ReadLog(chunk)));
        }
    }

    /// Continues a compaction; `None`: no reply came.
    pub(super) fn compaction_answered(&mut self, chunk: u32, reply: Option<CacheReply>) {
        self.entry_log.compacting = false;
        let bytes = match reply {
            Some(CacheReply::Log(bytes)) => bytes,
            Some(_) => return,
            // A replacement may still be on its way, and must not meet another: this chunk is never compacted again.
            None => return self.entry_log.counts[chunk as usize] = (0, u32::MAX / 2),
        };
        let Ok(records) = read_chunk(&bytes) else {
            // A damaged chunk stays as it is: the next owner begins cold.
            return self.entry_log.counts[chunk as usize] = (0, u32::MAX / 2);
        };
        if records.is_empty() {
            // The server keeps no log, or has not received these records yet.
            return self.entry_log.counts[chunk as usize] = (0, 0);
        }
        let (read, kept) = (records.len(), compact(records));
        let mut compacted = Vec::new();
        write_chunk(&mut compacted, &kept);
        let count = |records: usize| u32::try_from(records).unwrap_or(u32::MAX);
        let (now, before) = &mut self.entry_log.counts[chunk as usize];
        (*now, *before) =
            (now.saturating_sub(count(read)).saturating_add(count(kept.len())), count(kept.len()));
        self.entry_log.bytes = (self.entry_log.bytes + compacted.len()).saturating_sub(bytes.len());
        self.entry_log.compacting = true;
        let replace = CacheCall::ReplaceLog(chunk, bytes.len(), compacted);
        self.call(Purpose::Compact(chunk), Call::Cache(replace));
    }

    /// Takes over the entries that the previous tenure left in the cache. If its log cannot be read, or no previous tenure was
    /// named, the range begins cold: a cache server takes an epoch that it knows for a repeated call, and some process that
    /// never served may have had this epoch before.
    pub(super) fn take_over_entries(&mut self, chunks: &[Vec<u8>]) {
        if !matches!(self.phase, Phase::Starting(..)) {
            return;
        }
        let read: Result<Vec<Vec<LogRecord>>, _> = chunks.iter().map(|chunk| read_chunk(chunk)).collect();
        let records: Vec<LogRecord> = read.as_ref().map(|chunks| chunks.concat()).unwrap_or_default();
        let last = records.iter().map(|record| record.lsn).max().unwrap_or(0);
        self.next_number = self.next_number.max(last);
        self.entry_log.bytes += chunks.iter().map(Vec::len).sum::<usize>();
        records.iter().for_each(|record| self.entry_log.count(record));
        let standing =
            if self.is_flawed(Flaw::ReplayUnsorted) { in_order_of_place(records) } else { replay(records) };
        let entries: Result<Vec<Query>, _> = standing.iter().map(LogRecord::query).collect();
        let has_predecessor = self.config.warm_from.is_some() || self.is_flawed(Flaw::WarmFromAny);
        let is_known = read.is_ok() && (standing.is_empty() || has_predecessor);
        match entries.ok().filter(|entries| is_known && self.are_mine(entries)) {
            Some(entries) => {
                for (query, record) in entries.iter().zip(standing) {
                    self.index.write().insert(query, record.interval);
                }
            }
            None => self.begin_cold(),
        }
    }

    fn are_mine(&self, entries: &[Query]) -> bool {
        let is_mine = |query: &Query| {
            query.domain < self.config.domain_count && self.application.numbers_domain_of(query)
        };
        entries.iter().all(is_mine)
    }

    /// Begins cold: the content of the cache is unknown or wrong.
    pub(super) fn begin_cold(&mut self) {
        *self.index.write() = PredicateIndex::new(self.config.domain_count);
        self.entry_log = EntryLog::new();
        self.call(Purpose::Start, Call::Cache(CacheCall::Forget));
    }
}

fn bytes_of<'a>(records: impl IntoIterator<Item = &'a LogRecord>) -> usize {
    let mut bytes = Vec::new();
    write_chunk(&mut bytes, records);
    bytes.len()
}

/// The flaw: a delete that was appended late removes later inserts.
fn in_order_of_place(records: Vec<LogRecord>) -> Vec<LogRecord> {
    let mut standing: Vec<LogRecord> = Vec::new();
    for record in records {
        standing.retain(|known| (known.domain, &known.interval) != (record.domain, &record.interval));
        standing.extend(record.key.is_some().then_some(record));
    }
    standing
}
