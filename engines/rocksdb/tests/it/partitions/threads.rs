//! Everything at once: reads, evictions, flushes, compactions, deleted files, dropped column families, and files of
//! partitions that vanish or change.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use lacuna_rocksdb::{PartitionStore, RangeFilters};
use lacuna_workload::Rng;
use rust_rocksdb::{ColumnFamilyDescriptor, DBWithThreadMode, MultiThreaded, Options};

use super::Home;
use crate::support::{gap, key};

type Db = DBWithThreadMode<MultiThreaded>;

const SEED: u64 = 71;
/// Keys from here on may be deleted.
const DOOMED: u64 = 1 << 40;

struct Shared {
    db: Db,
    lacuna: RangeFilters,
    store: PartitionStore,
    /// All keys below are written.
    written: AtomicU64,
    stop: AtomicBool,
}

fn budget() -> usize {
    20_000
}

fn duration() -> Duration {
    let long = std::env::var_os("LACUNA_LONG").is_some_and(|value| value == "1");
    Duration::from_secs(if long { 120 } else { 4 })
}

fn open(home: &Home) -> Shared {
    let store = PartitionStore::open(home.partitions(), budget()).unwrap().with_partition_bytes(512);
    let lacuna = RangeFilters::parse("grafite@16 codec=fixed_be:8").unwrap().with_partitions(&store);
    let mut options = Options::default();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    options.set_write_buffer_size(64 << 10);
    options.set_target_file_size_base(32 << 10);
    options.set_max_bytes_for_level_base(128 << 10);
    options.set_level_zero_file_num_compaction_trigger(2);
    lacuna.install(&mut options);
    let families = ["default", "brief"].map(|name| ColumnFamilyDescriptor::new(name, options.clone()));
    let db = Db::open_cf_descriptors(&options, home.path("db"), families).unwrap();
    Shared { db, lacuna, store, written: AtomicU64::new(0), stop: AtomicBool::new(false) }
}

impl Shared {
    fn is_stopped(&self) -> bool {
        self.stop.load(SeqCst)
    }

    /// Writes one key after the other, some again, and some that will be deleted.
    fn write(&self) {
        let mut rng = Rng::new(SEED);
        for number in 0.. {
            if self.is_stopped() {
                return;
            }
            // Neither in order nor evenly.
            self.db.put(spread(number), b"value").unwrap();
            self.written.store(number + 1, SeqCst);
            if number % 3 == 0 {
                self.db.put(spread(rng.below(number + 1)), b"again").unwrap();
                self.db.put(key(DOOMED + rng.below(50_000)), b"doomed").unwrap();
            }
        }
    }

    fn read(&self, thread: u64) {
        let mut rng = Rng::new(SEED + 1 + thread);
        let mut step = 0;
        while !self.is_stopped() {
            let written = self.written.load(SeqCst);
            if written == 0 {
                continue;
            }
            let keys: Vec<[u8; 8]> = (0..4).map(|_| spread(rng.below(written))).collect();
            let case = || format!("thread {thread}, step {step}, seed {SEED}: {keys:?}");
            assert!(self.lacuna.get(&self.db, keys[0]).unwrap().is_some(), "{}", case());
            let from_below = u64::from_be_bytes(keys[1]).saturating_sub(rng.below(1 << 44)).to_be_bytes();
            let mut rows = self.lacuna.read_reverse(from_below..=keys[1]).scan(&self.db);
            assert_eq!(rows.next_row().unwrap().unwrap().0, keys[1], "{}", case());
            let values = self.lacuna.multi_get(&self.db, &keys).unwrap();
            assert!(values.iter().all(Option::is_some), "{}", case());
            let ranges = keys.iter().map(|&key| key..=key);
            assert!(
                self.lacuna.may_contain_ranges(&self.db, ranges).unwrap().iter().all(|&may| may),
                "{}",
                case()
            );
            let resident = self.store.stats().resident_bytes;
            assert!(resident <= budget() as u64, "{resident} bytes, {}", case());
            let _ = self.lacuna.get(&self.db, gap(rng.below(1 << 40))).unwrap();
            step += 1;
        }
    }

    /// Flushes, compacts, deletes files, makes and drops a column family.
    fn disturb(&self) {
        let mut options = Options::default();
        self.lacuna.install(&mut options);
        let mut rng = Rng::new(SEED + 50);
        while !self.is_stopped() {
            match rng.below(5) {
                0 => self.db.flush().unwrap(),
                1 => self.db.compact_range(None::<&[u8]>, None::<&[u8]>),
                2 => self.db.delete_file_in_range(key(DOOMED), key(DOOMED + 50_000)).unwrap(),
                _ => {
                    let family = self.db.cf_handle("brief").unwrap();
                    (0..500).for_each(|number| self.db.put_cf(&family, key(number), b"brief").unwrap());
                    self.db.flush_cf(&family).unwrap();
                    assert!(self.lacuna.get_cf(&self.db, &family, key(rng.below(500))).unwrap().is_some());
                    drop(family);
                    self.db.drop_cf("brief").unwrap();
                    self.db.create_cf("brief", &options).unwrap();
                }
            }
        }
    }

    /// Removes, cuts, overwrites and swaps partition files.
    fn damage(&self, home: &Home) {
        let mut rng = Rng::new(SEED + 60);
        while !self.is_stopped() {
            thread::sleep(Duration::from_millis(20));
            let files: Vec<_> =
                fs::read_dir(home.partitions()).unwrap().flatten().map(|file| file.path()).collect();
            if files.len() < 2 {
                continue;
            }
            let [one, other] = [0, 1].map(|_| &files[rng.index(files.len())]);
            // Any of them may be gone by now.
            let _ = match rng.below(4) {
                0 => fs::remove_file(one),
                1 => fs::write(one, vec![7; rng.index(5_000)]),
                2 => fs::copy(other, one).map(|_| ()),
                _ => fs::rename(other, one),
            };
        }
    }
}

/// Keys in no order, far from each other and below those that are deleted.
fn spread(number: u64) -> [u8; 8] {
    key(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 26)
}

#[test]
fn no_key_is_lost_while_all_happens_at_once() {
    let home = Home::new();
    let shared = open(&home);
    let end = Instant::now() + duration();
    thread::scope(|scope| {
        let shared = &shared;
        let home = &home;
        let work: Vec<Box<dyn FnOnce() + Send>> = vec![
            Box::new(|| shared.write()),
            Box::new(|| shared.disturb()),
            Box::new(|| shared.damage(home)),
            Box::new(|| shared.read(0)),
            Box::new(|| shared.read(1)),
        ];
        let running: Vec<_> = work.into_iter().map(|work| scope.spawn(work)).collect();
        while Instant::now() < end && !running.iter().any(thread::ScopedJoinHandle::is_finished) {
            thread::sleep(Duration::from_millis(20));
        }
        shared.stop.store(true, SeqCst);
    });
    let stats = shared.lacuna.stats();
    println!("{} keys, {stats}", shared.written.load(SeqCst));
    let partitions = stats.partitions;
    assert!(partitions.evictions > 100 && partitions.unasked() > 20, "{stats}");
    assert!(partitions.files_removed > 10 && stats.filters.skipped() > 1_000, "{stats}");
    assert_eq!(stats.filters.panics, 0, "{stats}");
    for number in 0..shared.written.load(SeqCst) {
        assert!(shared.lacuna.get(&shared.db, spread(number)).unwrap().is_some(), "{number}, seed {SEED}");
    }
}
