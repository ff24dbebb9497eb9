//! How the learner finds the files of hints, and what it leaves alone.

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lacuna_rocksdb::{GapLearner, GapOptions, LiveTables, RangeFilters};
use rust_rocksdb::{ColumnFamilyDescriptor, DB, Env, Error, LiveFile};

use crate::support::{BLIND, Learning, compact_all, key, options, rows_of};

/// A range between `key(number)` and the next.
fn inside(number: u64) -> ([u8; 8], [u8; 8]) {
    (((number << 20) + 1_000).to_be_bytes(), ((number << 20) + 2_000).to_be_bytes())
}

/// A database that counts how often it is asked for its tables, and may forget their largest keys.
struct Asked<'a> {
    db: &'a DB,
    count: Cell<u32>,
    forgets: bool,
}

impl LiveTables for Asked<'_> {
    fn live_tables(&self) -> Result<Vec<LiveFile>, Error> {
        self.count.set(self.count.get() + 1);
        let mut files = self.db.live_tables()?;
        if self.forgets {
            files.iter_mut().for_each(|file| file.end_key = None);
        }
        Ok(files)
    }
}

#[test]
fn hints_that_are_settled_ask_for_no_tables() {
    let mut learning = Learning::new(BLIND);
    learning.test.write_table((0..40).map(key));
    learning.test.db.delete(key(20)).unwrap();
    learning.test.db.flush().unwrap();
    compact_all(&learning.test.db);
    learning.test.write_table((0..40).step_by(2).filter(|&number| number != 20).map(key));
    let asked = Asked { db: &learning.test.db, count: Cell::new(0), forgets: false };
    let (lo, hi) = inside(7);
    // Forward and backward, three times: six hints at the same two tables.
    (0..3).for_each(|_| assert!(learning.keys(&lo, &hi).is_empty()));
    learning.learner.follow_all(&asked);
    let counts = learning.stats().gaps;
    assert_eq!((counts.learned, counts.refuted, asked.count.get()), (2, 0, 1), "{counts}");
}

#[test]
fn a_table_whose_end_is_not_known_teaches_nothing() {
    let mut learning = Learning::new(BLIND);
    learning.test.write_table((0..40).map(key));
    let (lo, hi) = inside(7);
    for (forgets, learned) in [(true, 0), (false, 1)] {
        assert!(learning.keys(&lo, &hi).is_empty());
        let asked = Asked { db: &learning.test.db, count: Cell::new(0), forgets };
        learning.learner.follow_all(&asked);
        let counts = learning.stats().gaps;
        assert_eq!((counts.learned, counts.unresolved > 0), (learned, true), "{counts}");
    }
}

#[test]
fn another_database_in_the_same_place_is_looked_into() {
    let env = Env::mem_env().unwrap();
    let lacuna = RangeFilters::parse(BLIND).unwrap().with_learned_gaps(GapOptions::default());
    let opened = options(&env, Some(&lacuna));
    let mut learner = GapLearner::new(&lacuna, &opened).unwrap();
    let mut names = Vec::new();
    for keys in [40, 50] {
        let db = DB::open(&opened, "/db").unwrap();
        (0..keys).for_each(|number| db.put(key(number), b"value").unwrap());
        db.flush().unwrap();
        names.push(db.live_files().unwrap()[0].name.clone());
        let (lo, hi) = inside(7);
        for _ in 0..2 {
            assert!(rows_of(lacuna.read(lo..hi).scan(&db)).is_empty());
            learner.follow_all(&db);
        }
        drop(db);
        DB::destroy(&opened, "/db").unwrap();
    }
    assert_eq!(names[0], names[1], "numbers start over");
    let counts = lacuna.stats().filters.gaps;
    assert_eq!((counts.learned, counts.unresolved), (2, 0), "{counts}");
}

/// A database on disk with one table of 40 keys, and a learner.
struct OnDisk {
    folder: tempfile::TempDir,
    lacuna: RangeFilters,
    learner: GapLearner,
    db: DB,
}

impl OnDisk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let lacuna = RangeFilters::parse(BLIND).unwrap().with_learned_gaps(GapOptions::default());
        let opened = options(&Env::new().unwrap(), Some(&lacuna));
        let learner = GapLearner::new(&lacuna, &opened).unwrap();
        let db = DB::open(&opened, folder.path()).unwrap();
        (0..40).for_each(|number| db.put(key(number), b"value").unwrap());
        db.flush().unwrap();
        Self { folder, lacuna, learner, db }
    }

    fn scan(&self, number: u64) {
        let (lo, hi) = inside(number);
        assert!(rows_of(self.lacuna.read(lo..hi).scan(&self.db)).is_empty());
    }
}

/// Files of the folder that were deleted and are still open in this process.
fn deleted_and_open(folder: &Path) -> usize {
    let is_deleted = |link: &Path| link.starts_with(folder) && link.to_string_lossy().ends_with("(deleted)");
    let links =
        fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    links.filter(|link| is_deleted(link)).count()
}

fn waits_until(is_so: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !is_so() && start.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(20));
    }
    is_so()
}

#[test]
#[cfg(target_os = "linux")]
fn tables_that_are_gone_are_not_kept_open() {
    let mut on_disk = OnDisk::new();
    on_disk.scan(7);
    on_disk.learner.follow_all(&on_disk.db);
    compact_all(&on_disk.db);
    let folder = on_disk.folder.path().to_owned();
    assert!(waits_until(|| deleted_and_open(&folder) > 0), "the learner had it open");
    on_disk.scan(9);
    on_disk.learner.follow_all(&on_disk.db);
    assert!(waits_until(|| deleted_and_open(&folder) == 0), "the next hint closes what is gone");
    // And without another hint, a learner that waits for one.
    compact_all(&on_disk.db);
    assert!(waits_until(|| deleted_and_open(&folder) > 0), "the learner had it open");
    let stop = AtomicBool::new(false);
    let OnDisk { learner, db, .. } = on_disk;
    std::thread::scope(|scope| {
        scope.spawn(|| learner.run(&db, &stop));
        let is_closed = waits_until(|| deleted_and_open(&folder) == 0);
        stop.store(true, Ordering::Relaxed);
        assert!(is_closed, "an idle learner keeps nothing open");
    });
}

#[test]
fn a_file_that_cannot_be_read_now_is_tried_again() {
    let mut on_disk = OnDisk::new();
    let name = on_disk.db.live_files().unwrap()[0].name.clone();
    let here = on_disk.folder.path().join(name.trim_start_matches('/'));
    let there = on_disk.folder.path().join("elsewhere");
    on_disk.scan(7);
    fs::rename(&here, &there).unwrap();
    on_disk.learner.follow_all(&on_disk.db);
    let counts = on_disk.lacuna.stats().filters.gaps;
    assert_eq!((counts.learned, counts.unresolved), (0, 1), "{counts}");
    // A folder in its place can be opened but not read: that is not an answer either.
    fs::create_dir(&here).unwrap();
    on_disk.scan(7);
    on_disk.learner.follow_all(&on_disk.db);
    let counts = on_disk.lacuna.stats().filters.gaps;
    assert_eq!((counts.learned, counts.unresolved, counts.failures), (0, 1, 1), "{counts}");
    fs::remove_dir(&here).unwrap();
    fs::rename(&there, &here).unwrap();
    on_disk.scan(7);
    on_disk.learner.follow_all(&on_disk.db);
    let counts = on_disk.lacuna.stats().filters.gaps;
    assert_eq!((counts.learned, counts.failures), (1, 1), "{counts}");
}

/// What following one hint reads, with a table of another comparator beside it or without.
fn reads_beside(is_foreign: bool) -> u64 {
    let env = Env::mem_env().unwrap();
    let lacuna = RangeFilters::parse(BLIND).unwrap().with_learned_gaps(GapOptions::default());
    let mut backward = options(&env, None);
    backward.create_missing_column_families(true);
    backward.set_comparator("backward", Box::new(|a: &[u8], b: &[u8]| b.cmp(a)));
    let own = options(&env, Some(&lacuna));
    let families =
        [ColumnFamilyDescriptor::new("default", backward.clone()), ColumnFamilyDescriptor::new("own", own)];
    let db = DB::open_cf_descriptors(&backward, "/db", families).unwrap();
    let handle = db.cf_handle("own").unwrap();
    if is_foreign {
        // Its one key is in the range that will be asked for, whatever the order.
        db.put(((7u64 << 20) + 1_500).to_be_bytes(), b"value").unwrap();
        db.flush().unwrap();
    }
    (0..40).for_each(|number| db.put_cf(&handle, key(number), b"value").unwrap());
    db.flush_cf(&handle).unwrap();
    let (lo, hi) = inside(7);
    assert!(rows_of(lacuna.read(lo..hi).scan_cf(&db, &handle)).is_empty());
    let mut learner = GapLearner::new(&lacuna, &options(&env, None)).unwrap();
    learner.follow_all(&db);
    let counts = lacuna.stats().filters.gaps;
    assert_eq!((counts.learned, counts.failures, counts.unresolved), (1, 0, 0), "{counts}");
    counts.reads
}

#[test]
fn blocks_of_tables_that_are_not_ours_are_counted() {
    let (alone, beside) = (reads_beside(false), reads_beside(true));
    assert!(alone > 0 && beside > alone, "{beside} blocks beside another table, {alone} without");
}
