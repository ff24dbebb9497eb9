//! Table 1: log records of buffered writes, by partitions, before and after compaction.

use crate::paper::{Claim, Finding, Session, Summary, shown};
use lacuna_base::Result;
use lacuna_base::hash::hash_bytes;
use lacuna_cache_protocol::{LogRecord, compact, write_chunk};

use super::stage::{BACK, Runs, notes, run, setup, table};
use crate::cache_bench::row::Row;
use crate::cache_bench::setup::{Setup, StoreKind};

/// Shares of scans.
const SHARES: [(u64, &str); 2] = [(10, "10 % scans"), (99, "99 % scans")];
const PARTITIONS: [usize; 3] = [32, 64, 128];
/// What the report has after compaction over what it has before, by shares and partitions.
const PAPER: [[f64; 3]; 2] =
    [[166.21 / 265.39, 159.26 / 288.82, 151.56 / 297.57], [0.63 / 55.0, 0.24 / 56.37, 0.27 / 56.07]];

/// Table 1.
pub(super) fn sizes(session: &mut Session<'_>) -> Result<Finding> {
    let header = ["", "partitions", "writes", "pending", "before, KB", "after, KB"].map(str::to_owned);
    let (mut rows, mut claims, mut all, mut sentences) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for ((share, name), paper) in SHARES.into_iter().zip(PAPER) {
        let setup = setup(session, BACK, StoreKind::PostgresAsync, share);
        let runs = run(session, Setup { notes_log: true, ..setup })?;
        let logs: Vec<Log> = runs.iter().map(|row| Log::of(row)).collect();
        let of_runs = |value: &dyn Fn(&Log) -> f64| Summary::of(logs.iter().map(value));
        for ((place, partitions), paper) in PARTITIONS.into_iter().enumerate().zip(paper) {
            let after_over_before = of_runs(&|log| log.after(place) / log.before(place));
            let what = format!("{name}, {partitions} partitions: after over before");
            claims.push(Claim::of_runs(what, paper, Some(after_over_before)));
            let values = vec![
                Summary::once(partitions as f64),
                of_runs(&|log| log.writes as f64),
                of_runs(&|log| log.pending as f64),
                of_runs(&|log| log.before(place) / 1e3),
                of_runs(&|log| log.after(place) / 1e3),
            ];
            rows.push((name.to_owned(), values));
        }
        sentences.push(partition_sentence(name, &logs));
        all.push(runs);
    }
    let tables = vec![table("log records", &header, rows)];
    Ok(Finding { tables, claims, notes: all_notes(session, &all, sentences), plots: Vec::new() })
}

fn all_notes(session: &Session<'_>, all: &[Runs], sentences: Vec<String>) -> Vec<String> {
    let mut notes = notes(session, all);
    notes.push(
        "A record for each append and each trimmed write that the log server of a write-back run has carried out, in its order, \
         until the last operation: the drain is not among them. What remains after compaction is what the store does not have \
         yet. The report's key of a record is longer, as it has the names of collection and domain; ours is the number of the write."
            .to_owned(),
    );
    notes.extend(sentences);
    notes
}

/// How far partitions change what is left.
fn partition_sentence(name: &str, logs: &[Log]) -> String {
    let difference = |log: &Log| {
        let after: Vec<f64> = (0..PARTITIONS.len()).map(|place| log.after(place)).collect();
        let (low, high) =
            after.iter().fold((f64::MAX, 0.0_f64), |(low, high), size| (low.min(*size), high.max(*size)));
        if low > 0.0 { (high / low - 1.0) * 100.0 } else { 0.0 }
    };
    let most = logs.iter().map(difference).fold(0.0, f64::max);
    format!(
        "{name}: by partitions, the sizes after compaction differ by {} % at most. All records of an interval are in one chunk, and a chunk \
         has no header, so that nothing depends on their number here.",
        shown(most)
    )
}

/// The log of one run.
struct Log {
    writes: usize,
    pending: usize,
    /// Bytes before and after compaction, by partitions.
    bytes: [(usize, usize); PARTITIONS.len()],
}

impl Log {
    fn of(row: &Row) -> Self {
        let (records, pending) = row.log.as_ref().expect("the run notes its log").records();
        Self {
            writes: records.iter().filter(|record| record.key.is_some()).count(),
            pending: pending.len(),
            bytes: PARTITIONS.map(|partitions| bytes(&records, partitions)),
        }
    }

    fn before(&self, place: usize) -> f64 {
        self.bytes[place].0 as f64
    }

    fn after(&self, place: usize) -> f64 {
        self.bytes[place].1 as f64
    }
}

/// Bytes of all chunks before and after compaction.
fn bytes(records: &[LogRecord], partitions: usize) -> (usize, usize) {
    let size = |records: &[LogRecord]| {
        let mut chunk = Vec::new();
        write_chunk(&mut chunk, records);
        chunk.len()
    };
    let chunks = chunks_of(records, partitions);
    let before = chunks.iter().map(|chunk| size(chunk)).sum();
    (before, chunks.into_iter().map(|chunk| size(&compact(chunk))).sum())
}

/// The records in as many chunks: all records of an interval go to one.
pub(crate) fn chunks_of(records: &[LogRecord], partitions: usize) -> Vec<Vec<LogRecord>> {
    let mut chunks = vec![Vec::new(); partitions];
    for record in records {
        let mut place = Vec::new();
        write_chunk(&mut place, [&LogRecord { lsn: 0, key: None, ..record.clone() }]);
        let chunk =
            usize::try_from(hash_bytes(&place, 0) % partitions as u64).expect("there are few partitions");
        chunks[chunk].push(record.clone());
    }
    chunks
}
