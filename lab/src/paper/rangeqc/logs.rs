//! Table 1: log records of buffered writes, by partitions, before and after compaction.

use crate::paper::{Claim, Finding, Session, Summary};
use lacuna_base::Result;
use lacuna_base::hash::hash_bytes;
use lacuna_cache_protocol::{Interval, LogRecord, compact, write_chunk};
use lacuna_workload::Rng;

use super::stage::table;

/// Buffered writes here.
const WRITES: usize = 200_000;
/// Records that they are about, and writes that wait at once, as a share of all writes.
const RECORDS: u64 = 1_000_000;
const PARTITIONS: [usize; 3] = [32, 64, 128];
/// Writes of a thousand that the store does not have yet when the log is looked at: where writes are many and where few.
const PENDING: [(u64, &str); 2] = [(300, "10 % scans"), (1, "99 % scans")];

/// Table 1.
pub(super) fn sizes(session: &mut Session<'_>) -> Result<Finding> {
    const PAPER: [[f64; 3]; 2] =
        [[166.21 / 265.39, 159.26 / 288.82, 151.56 / 297.57], [0.63 / 55.0, 0.24 / 56.37, 0.27 / 56.07]];
    let writes = session.query_count_or(WRITES);
    let header = ["", "partitions", "before, KB", "after, KB"].map(str::to_owned);
    let (mut rows, mut claims) = (Vec::new(), Vec::new());
    for ((pending, name), paper) in PENDING.into_iter().zip(PAPER) {
        for (partitions, paper) in PARTITIONS.into_iter().zip(paper) {
            let (before, after) = chunk_bytes(writes, pending, partitions, session.seed());
            let what = format!("{name}, {partitions} partitions: after over before");
            claims.push(Claim::new(what, paper, Some(after as f64 / before as f64)));
            rows.push((
                name.to_owned(),
                [partitions as f64, before as f64 / 1e3, after as f64 / 1e3].map(Summary::once).to_vec(),
            ));
        }
    }
    let tables = vec![table("log records", &header, rows)];
    let notes = vec![format!(
        "{writes} buffered writes of single records, logged and compacted without servers. What remains after compaction is what \
         the store does not have yet: {} and {} of a thousand writes, which is an assumption; the bytes of a record are not.",
        PENDING[0].0, PENDING[1].0
    )];
    Ok(Finding { tables, claims, notes, plots: Vec::new() })
}

/// Bytes of all chunks before and after.
fn chunk_bytes(writes: usize, pending: u64, partitions: usize, seed: u64) -> (usize, usize) {
    let mut chunks = vec![Vec::new(); partitions];
    let mut rng = Rng::new(seed);
    let last_applied = writes as u64 * (1_000 - pending) / 1_000;
    let mut lsn = 0;
    for write in 0..writes as u64 {
        let record = rng.below(RECORDS);
        let chunk = &mut chunks[place(record, partitions)];
        let mut log = |key: Option<Vec<u8>>| {
            lsn += 1;
            chunk.push(LogRecord { lsn, domain: 0, interval: Interval::point(record.into()), key });
        };
        log(Some(b"w".to_vec()));
        if write < last_applied {
            log(None);
        }
    }
    let bytes = |chunks: &[Vec<LogRecord>]| {
        let size = |records: &Vec<LogRecord>| {
            let mut chunk = Vec::new();
            write_chunk(&mut chunk, records);
            chunk.len()
        };
        chunks.iter().map(size).sum::<usize>()
    };
    let before = bytes(&chunks);
    let compacted: Vec<Vec<LogRecord>> = chunks.into_iter().map(compact).collect();
    (before, bytes(&compacted))
}

/// All records of an interval go to one chunk.
fn place(record: u64, partitions: usize) -> usize {
    usize::try_from(hash_bytes(&record.to_le_bytes(), 0) % partitions as u64)
        .expect("there are few partitions")
}
