//! R10 once more: compactions that another process runs, with the collector and without.

use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use lacuna_rocksdb::RangeFilters;
use rust_rocksdb::compaction_service::open_and_compact;
use rust_rocksdb::{
    CompactionService, CompactionServiceJobInfo, CompactionServiceJobStatus,
    CompactionServiceOptionsOverride, DB, Options, ScheduleResponse,
};

use crate::support::{compact_all, gap, key, rows_of};

const SPEC: &str = "grafite@16 codec=fixed_be:8";

/// A worker that compacts what it is sent, with the options it was given.
struct Worker {
    db: PathBuf,
    options: Mutex<Options>,
    jobs: Mutex<Vec<Vec<u8>>>,
    done: AtomicU64,
}

impl CompactionService for Worker {
    fn name(&self) -> &CStr {
        c"worker"
    }

    fn schedule(&self, _: &CompactionServiceJobInfo<'_>, input: &[u8]) -> ScheduleResponse {
        let mut jobs = self.jobs.lock().unwrap();
        jobs.push(input.to_vec());
        let id = (jobs.len() - 1).to_string();
        ScheduleResponse::scheduled(id.as_str(), CompactionServiceJobStatus::Success).unwrap()
    }

    fn wait(&self, id: &CStr, result: &mut Vec<u8>) -> CompactionServiceJobStatus {
        let id = id.to_str().unwrap();
        let input = self.jobs.lock().unwrap()[id.parse::<usize>().unwrap()].clone();
        let with = CompactionServiceOptionsOverride::from_options(&self.options.lock().unwrap());
        let output = format!("job_{id}");
        std::fs::create_dir_all(self.db.join(&output)).unwrap();
        match open_and_compact(&self.db, Path::new(&output), &input, &with) {
            Ok(output) => {
                *result = output;
                self.done.fetch_add(1, Ordering::Relaxed);
                CompactionServiceJobStatus::Success
            }
            Err(problem) => panic!("the worker failed: {problem}"),
        }
    }
}

/// Shares one worker between the database and the test.
struct Shared(std::sync::Arc<Worker>);

impl CompactionService for Shared {
    fn name(&self) -> &CStr {
        self.0.name()
    }
    fn schedule(&self, info: &CompactionServiceJobInfo<'_>, input: &[u8]) -> ScheduleResponse {
        self.0.schedule(info, input)
    }
    fn wait(&self, id: &CStr, result: &mut Vec<u8>) -> CompactionServiceJobStatus {
        self.0.wait(id, result)
    }
}

/// Tables skipped and tables met without a filter, after a worker with or without the collector has compacted.
fn compacted_by(worker_has_collector: bool) -> (u64, u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let lacuna = RangeFilters::parse(SPEC).unwrap();
    let mut of_worker = Options::default();
    if worker_has_collector {
        lacuna.install(&mut of_worker);
    }
    let worker = std::sync::Arc::new(Worker {
        db: path.clone(),
        options: Mutex::new(of_worker),
        jobs: Mutex::default(),
        done: AtomicU64::new(0),
    });
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_disable_auto_compactions(true);
    options.set_compaction_service(Shared(std::sync::Arc::clone(&worker)));
    lacuna.install(&mut options);
    let db = DB::open(&options, &path).unwrap();
    for table in 0..3 {
        (0..100).for_each(|number| db.put(key(3 * number + table), b"value").unwrap());
        db.flush().unwrap();
    }
    db.delete(key(50)).unwrap();
    db.flush().unwrap();
    compact_all(&db);
    assert!(worker.done.load(Ordering::Relaxed) > 0, "the worker was asked");
    assert_eq!(db.live_files().unwrap().len(), 1);
    assert!(rows_of(lacuna.read(gap(5)..=gap(5)).scan(&db)).is_empty());
    let stats = lacuna.stats();
    assert_eq!(rows_of(lacuna.read(key(40)..key(60)).scan(&db)).len(), 19);
    (stats.filters.skipped(), stats.scanned.missing)
}

#[test]
fn a_remote_worker_with_the_collector_writes_filters() {
    assert_eq!(compacted_by(true), (1, 0));
}

#[test]
fn tables_of_a_remote_worker_without_the_collector_are_scanned() {
    assert_eq!(compacted_by(false), (0, 1));
}
