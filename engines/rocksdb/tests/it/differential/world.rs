//! The database, its twin, and what is done to both.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::ops::{Bound, RangeBounds};

use lacuna_rocksdb::{
    CountersSnapshot, GapLearner, GapOptions, LiveTables, PartitionStore, RangeFilters, Readable,
};
use lacuna_workload::Rng;
use rust_rocksdb::{
    BottommostLevelCompaction, CompactOptions, Env, ReadOptions, SnapshotWithThreadMode, SstFileWriter,
};

use super::keys::{Bounds, Keys};
use super::store::{Store, small_tables};
use crate::support::{Row, rows_of};

/// Operations between two reopenings.
const EPISODE: u64 = 600;

/// What filters do beside answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extra {
    Nothing,
    /// Gaps are learned.
    Gaps,
    /// Filters are in partitions, few of which are in memory.
    Partitions,
}

/// One of the two databases, closed.
struct Home {
    env: Env,
    lacuna: Option<RangeFilters>,
}

impl Home {
    fn open<S: Store + LiveTables>(&self) -> S {
        let mut options = small_tables(&self.env);
        let Some(lacuna) = &self.lacuna else { return S::open(&options) };
        lacuna.install(&mut options);
        let store = S::open(&options);
        lacuna.remove_unused_partitions(&options, &store).unwrap();
        store
    }
}

pub(crate) struct World<S> {
    case: String,
    rng: Rng,
    keys: Keys,
    lacuna: RangeFilters,
    /// `None` unless gaps are learned.
    learner: Option<GapLearner>,
    /// `None` unless filters are in partitions.
    partitions: Option<tempfile::TempDir>,
    homes: [Home; 2],
    /// Keys of the single-delete discipline that are there.
    singles: BTreeSet<Vec<u8>>,
    ingested: u64,
    store: std::marker::PhantomData<S>,
}

type Snapshots<'a, S> = Vec<[SnapshotWithThreadMode<'a, S>; 2]>;

impl<S: Store + LiveTables> World<S> {
    pub(crate) fn new(spec: &str, seed: u64, keys: Keys, extra: Extra) -> Self {
        let mut lacuna = RangeFilters::parse(spec).unwrap();
        let learns = extra == Extra::Gaps;
        if learns {
            lacuna = lacuna.with_learned_gaps(few_gaps());
        }
        let home = |lacuna| Home { env: Env::mem_env().unwrap(), lacuna };
        let homes = [home(Some(lacuna.clone())), home(None)];
        let learner = learns.then(|| GapLearner::new(&lacuna, &small_tables(&homes[0].env)).unwrap());
        Self {
            case: format!("{spec}, keys {keys:?}, with {extra:?}"),
            rng: Rng::new(seed),
            keys,
            homes,
            partitions: (extra == Extra::Partitions).then(|| tempfile::tempdir().unwrap()),
            learner,
            lacuna,
            singles: BTreeSet::new(),
            ingested: 0,
            store: std::marker::PhantomData,
        }
    }

    /// Does the work and says what the filters did.
    pub(crate) fn run(mut self, operations: u64) -> CountersSnapshot {
        for first in (0..operations).step_by(usize::try_from(EPISODE).unwrap()) {
            self.open_partitions();
            let stores: [S; 2] = [self.homes[0].open(), self.homes[1].open()];
            let mut snapshots: Snapshots<'_, S> = Vec::new();
            for step in first..(first + EPISODE).min(operations) {
                self.act(&stores, &mut snapshots, step);
            }
        }
        let stats = self.lacuna.stats();
        assert!(stats.filters.skipped() > 20, "{}: nothing was skipped\n{stats}", self.case);
        let problems = (stats.filters.build_failures, stats.scanned.corrupt, stats.scanned.unsupported);
        assert_eq!(problems, (0, 0, 0), "{}\n{stats}", self.case);
        assert_eq!(stats.filters.gaps.failures, 0, "{}\n{stats}", self.case);
        let (loads, unasked) = (stats.partitions.loads, stats.partitions.unasked());
        assert!(self.partitions.is_none() || loads > 20 && unasked > 0, "{}\n{stats}", self.case);
        stats.filters
    }

    fn act<'a>(&mut self, stores: &'a [S; 2], snapshots: &mut Snapshots<'a, S>, step: u64) {
        match self.rng.below(100) {
            0..40 => self.write(stores),
            40..46 => self.write_single(stores),
            46..48 => self.delete_range(stores),
            48..50 => self.ingest(stores),
            50..57 => stores.iter().for_each(Store::flush),
            57 => self.compact(stores),
            58 | 59 => snapshots.push([stores[0].snapshot(), stores[1].snapshot()]),
            60..64 => drop(snapshots.pop()),
            64..67 => self.roll_back(stores, step),
            67..70 => {
                self.learn(stores);
                self.damage();
            }
            _ => self.check_everywhere(stores, snapshots, step),
        }
    }

    fn write(&mut self, stores: &[S; 2]) {
        let (key, value) = (self.keys.draw(&mut self.rng), self.rng.below(1_000).to_string());
        let kind = self.rng.below(5);
        for store in stores {
            match kind {
                0 => store.delete(&key),
                1 => store.merge(&key, value.as_bytes()),
                _ => store.put(&key, value.as_bytes()),
            }
        }
    }

    fn write_single(&mut self, stores: &[S; 2]) {
        let key = self.keys.draw_single(&mut self.rng);
        let is_new = self.singles.insert(key.clone());
        for store in stores {
            if is_new { store.put(&key, b"single") } else { store.single_delete(&key) }
        }
        if !is_new {
            self.singles.remove(&key);
        }
    }

    /// Deletes a range on this side of the keys of the single-delete discipline.
    fn delete_range(&mut self, stores: &[S; 2]) {
        let mut ends = [self.keys.draw(&mut self.rng), self.keys.draw(&mut self.rng)];
        ends.sort();
        let [from, to] = ends;
        if self.singles.range(from.clone()..to.clone()).next().is_none() && !spans_singles(&from, &to) {
            stores.iter().for_each(|store| store.delete_range(&from, &to));
        }
    }

    fn ingest(&mut self, stores: &[S; 2]) {
        let keys: BTreeSet<Vec<u8>> =
            (0..=self.rng.below(20)).map(|_| self.keys.draw(&mut self.rng)).collect();
        self.ingested += 1;
        for (home, store) in self.homes.iter().zip(stores) {
            let path = format!("/{}.sst", self.ingested);
            // Every other file comes from a process without the collector.
            let lacuna = home.lacuna.as_ref().filter(|_| self.ingested.is_multiple_of(2));
            let options = crate::support::options(&home.env, lacuna);
            let mut writer = SstFileWriter::create(&options);
            writer.open(&path).unwrap();
            keys.iter().for_each(|key| writer.put(key, b"ingested").unwrap());
            writer.finish().unwrap();
            store.ingest(&path);
        }
    }

    fn compact(&mut self, stores: &[S; 2]) {
        let mut options = CompactOptions::default();
        if self.rng.below(2) == 0 {
            options.set_bottommost_level_compaction(BottommostLevelCompaction::Force);
        }
        stores.iter().for_each(|store| store.compact(&options));
    }

    /// Reads inside transactions with writes of their own, then rolls them back.
    fn roll_back(&mut self, stores: &[S; 2], step: u64) {
        let (Some(guarded), Some(plain)) = (stores[0].begin(), stores[1].begin()) else { return };
        for _ in 0..self.rng.below(4) {
            let (key, deletes) = (self.keys.draw(&mut self.rng), self.rng.below(3) == 0);
            for transaction in [&guarded, &plain] {
                if deletes { transaction.delete(&key) } else { transaction.put(&key, b"uncommitted") }
                    .unwrap();
            }
        }
        let bounds = self.keys.draw_bounds(&mut self.rng);
        self.check(&guarded, &plain, &bounds, &format!("step {step}, transaction"));
        self.check_many(&guarded, &plain, &[bounds], &format!("step {step}, transaction"));
        guarded.rollback().unwrap();
        plain.rollback().unwrap();
    }

    /// Follows what the scans of the database, its snapshots and its transactions have hinted at.
    fn learn(&mut self, stores: &[S; 2]) {
        if let Some(learner) = &mut self.learner {
            learner.follow_all(&stores[0]);
        }
    }

    /// Opens the folder of partitions again, with nothing in memory.
    fn open_partitions(&mut self) {
        let Some(folder) = &self.partitions else { return };
        let store = PartitionStore::open(folder.path(), 4 << 10).unwrap().with_partition_bytes(100);
        self.lacuna = self.lacuna.clone().with_partitions(&store);
        self.homes[0].lacuna = Some(self.lacuna.clone());
    }

    /// Removes, cuts or replaces one of the files of partitions.
    fn damage(&mut self) {
        let Some(folder) = &self.partitions else { return };
        let files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = files.collect();
        files.sort();
        if files.is_empty() {
            return;
        }
        let [one, other] = [0, 1].map(|_| &files[self.rng.index(files.len())]);
        let damaged = match self.rng.below(3) {
            0 => fs::remove_file(one),
            1 => fs::write(one, [7; 90]),
            _ => fs::copy(other, one).map(drop),
        };
        // The database's own threads remove files, too, and give them their names.
        damaged.or_else(|why| if why.kind() == ErrorKind::NotFound { Ok(()) } else { Err(why) }).unwrap();
    }

    fn check_everywhere(&mut self, stores: &[S; 2], snapshots: &Snapshots<'_, S>, step: u64) {
        let bounds = self.keys.draw_bounds(&mut self.rng);
        self.check(&stores[0], &stores[1], &bounds, &format!("step {step}"));
        for [guarded, plain] in snapshots.iter().rev().take(2) {
            self.check(guarded, plain, &bounds, &format!("step {step}, snapshot"));
        }
        if step.is_multiple_of(4) {
            let many: Vec<Bounds> =
                (0..self.rng.below(30)).map(|_| self.keys.draw_bounds(&mut self.rng)).collect();
            self.check_many(&stores[0], &stores[1], &many, &format!("step {step}"));
            if let Some([guarded, plain]) = snapshots.last() {
                self.check_many(guarded, plain, &many, &format!("step {step}, snapshot"));
            }
        }
    }

    /// Many ranges in one call, and their ends as points.
    fn check_many<R: Readable>(&self, guarded: &R, plain: &R, many: &[Bounds], place: &str) {
        let case = || format!("{}, {place}, {many:?}", self.case);
        let ranges = || many.iter().cloned();
        let expected: Vec<bool> = many.iter().map(|bounds| !plain_rows(plain, bounds).is_empty()).collect();
        let may_contain = self.lacuna.may_contain_ranges::<R, Vec<u8>>(guarded, ranges()).unwrap();
        let is_lost = |(may_contain, expected): (&bool, &bool)| *expected && !may_contain;
        assert!(!may_contain.iter().zip(&expected).any(is_lost), "{}: {may_contain:?} {expected:?}", case());
        let contains = self.lacuna.contains_ranges::<R, Vec<u8>>(guarded, ranges()).unwrap();
        assert_eq!(contains, expected, "{}", case());

        let ends = many.iter().flat_map(|(lo, hi)| [lo, hi]);
        let keys: Vec<Vec<u8>> = ends.filter_map(end).collect();
        let value = |key: &Vec<u8>| {
            let point = (Bound::Included(key.clone()), Bound::Included(key.clone()));
            plain_rows(plain, &point).pop().map(|(_, value)| value)
        };
        let expected: Vec<Option<Vec<u8>>> = keys.iter().map(value).collect();
        assert_eq!(self.lacuna.multi_get(guarded, &keys).unwrap(), expected, "{}", case());
        if let (Some(key), Some(value)) = (keys.first(), expected.first()) {
            assert_eq!(&self.lacuna.get(guarded, key).unwrap(), value, "{}", case());
        }
    }

    fn check<R: Readable>(&self, guarded: &R, plain: &R, bounds: &Bounds, place: &str) {
        let expected = plain_rows(plain, bounds);
        let forward = rows_of(self.lacuna.read::<Vec<u8>>(bounds.clone()).scan(guarded));
        assert_eq!(forward, expected, "{}, {place}, {bounds:?}", self.case);
        let mut reverse = rows_of(self.lacuna.read_reverse::<Vec<u8>>(bounds.clone()).scan(guarded));
        reverse.reverse();
        assert_eq!(reverse, expected, "{}, {place}, {bounds:?} backward", self.case);
    }
}

/// Room for the gaps of three tables, so that they come and go.
fn few_gaps() -> GapOptions {
    GapOptions::default().with_memory_bytes(24 << 10).with_memory_bytes_per_file(4 << 10).with_hints(10)
}

/// Whether a key of the single-delete discipline can lie between these, whether or not it is there now.
fn spans_singles(from: &[u8], to: &[u8]) -> bool {
    from <= &b"single\xFF\xFF"[..] && &b"single"[..] <= to
}

/// Rows between the bounds, from an iterator without any bounds or filter.
fn plain_rows<R: Readable>(plain: &R, bounds: &Bounds) -> Vec<Row> {
    let mut rows = plain.raw(ReadOptions::default());
    match &bounds.0 {
        Bound::Included(lo) | Bound::Excluded(lo) => rows.seek(lo),
        Bound::Unbounded => rows.seek_to_first(),
    }
    let mut collected = Vec::new();
    while let Some((key, value)) = rows.item() {
        let key = key.to_vec();
        if bounds.contains(&key) {
            collected.push((key, value.to_vec()));
        } else if above(&bounds.1, &key) {
            break;
        }
        rows.next();
    }
    rows.status().unwrap();
    collected
}

fn end(bound: &Bound<Vec<u8>>) -> Option<Vec<u8>> {
    match bound {
        Bound::Included(key) | Bound::Excluded(key) => Some(key.clone()),
        Bound::Unbounded => None,
    }
}

fn above(hi: &Bound<Vec<u8>>, key: &[u8]) -> bool {
    match hi {
        Bound::Included(hi) | Bound::Excluded(hi) => &hi[..] <= key,
        Bound::Unbounded => false,
    }
}
