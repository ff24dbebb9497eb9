//! Filters in partitions: no key is lost, whatever happens to their files, and memory stays within the budget.

mod damage;

use std::ops::Bound::{self, Excluded, Included, Unbounded};
use std::path::PathBuf;
use std::{fs, thread};

use lacuna_families::FAMILIES;
use lacuna_rocksdb_property::{
    Collector, Direction, OwnedBounds, PartitionStore, Question, Questions, TableGuard,
};
use lacuna_workload::Rng;

use crate::folder::TestFolder;
use crate::table;

/// Keys that are no codec's trouble, spread and ascending.
fn spread(rng: &mut Rng, count: u64) -> Vec<Vec<u8>> {
    let mut numbers: Vec<u64> = (0..count).map(|_| rng.next_u64() >> 8 << 8).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.iter().map(|number| number.to_be_bytes().to_vec()).collect()
}

/// Strings of several lengths, some a prefix of others, after a common prefix.
fn strings(rng: &mut Rng, prefix_bytes: usize, count: usize) -> Vec<Vec<u8>> {
    let draw = |rng: &mut Rng| (0..rng.index(6)).map(|_| [0, 1, 7, 255][rng.index(4)]).collect::<Vec<u8>>();
    let mut strings: Vec<Vec<u8>> =
        (0..count).map(|_| [vec![255; prefix_bytes], draw(rng)].concat()).collect();
    strings.sort_unstable();
    strings
}

fn guard(spec: &str, store: &PartitionStore) -> TableGuard {
    TableGuard::parse(spec).unwrap().with_partitions(store)
}

fn build(guard: &TableGuard, keys: &[Vec<u8>]) -> Vec<u8> {
    let mut collector = Collector::new(guard, Some(1));
    keys.iter().for_each(|key| collector.add(Collector::PUT, key));
    collector.finish().unwrap()
}

fn asks(guard: &TableGuard, property: &[u8], (lo, hi): &OwnedBounds) -> bool {
    let bounds = (lo.as_ref().map(Vec::as_slice), hi.as_ref().map(Vec::as_slice));
    Question::new(guard, bounds, Direction::Forward).may_contain(table(property))
}

fn point(key: &[u8]) -> OwnedBounds {
    (Included(key.to_vec()), Included(key.to_vec()))
}

/// The point right above a key, which none of the tables here holds if keys are `spread`.
fn absent(key: &[u8]) -> OwnedBounds {
    let mut above = key.to_vec();
    *above.last_mut().unwrap() |= 1;
    point(&above)
}

/// A range with ends of every kind, at keys, beside them, or anywhere.
fn draw_range(rng: &mut Rng, keys: &[Vec<u8>]) -> OwnedBounds {
    let start = rng.index(keys.len());
    let reach = if rng.below(2) == 0 { 2 } else { keys.len() };
    let mut ends = [start, (start + rng.index(reach)).min(keys.len() - 1)].map(|place| keys[place].clone());
    for end in &mut ends {
        match rng.below(4) {
            0 => end.push(0),
            1 => *end = end[..rng.index(end.len() + 1)].to_vec(),
            2 => end.extend([[0, 9, 127][rng.index(3)], 3]),
            _ => {}
        }
    }
    let [lo, hi] = ends;
    (draw_kind(rng, lo), draw_kind(rng, hi))
}

fn draw_kind(rng: &mut Rng, end: Vec<u8>) -> Bound<Vec<u8>> {
    match rng.below(9) {
        0 => Unbounded,
        1..5 => Included(end),
        _ => Excluded(end),
    }
}

fn holds(keys: &[Vec<u8>], bounds: &OwnedBounds) -> bool {
    use std::ops::RangeBounds;
    keys.iter().any(|key| bounds.contains(key))
}

#[test]
fn no_family_loses_a_key_to_a_border() {
    let seed = 31;
    let mut rng = Rng::new(seed);
    let folder = TestFolder::new("borders");
    // Room for a few partitions only, so that they come and go.
    let store = PartitionStore::open(folder.path(), 4_000).unwrap().with_partition_bytes(700);
    let sets = [
        ("fixed_be:8", spread(&mut rng, 2_500)),
        ("bytes", spread(&mut rng, 2_500)),
        ("bytes", strings(&mut rng, 0, 3_000)),
        ("bytes", strings(&mut rng, 100, 3_000)),
        ("bytes", strings(&mut rng, 400, 3_000)),
    ];
    for family in FAMILIES.iter().map(|family| family.example).chain(["auto"]) {
        for (set, (codec, keys)) in sets.iter().enumerate() {
            let guard = guard(&format!("{family}@16 codec={codec} cap=128"), &store);
            let property = build(&guard, keys);
            let case = || format!("{family}, set {set}, seed {seed}");
            for _ in 0..300 {
                let key = &keys[rng.index(keys.len())];
                assert!(asks(&guard, &property, &point(key)), "{}: {key:?} is lost", case());
            }
            let ranges: Vec<OwnedBounds> = (0..40).map(|_| draw_range(&mut rng, keys)).collect();
            let questions = Questions::new(&guard, ranges.iter().cloned());
            questions.ask(table(&property));
            for range in &ranges {
                assert!(asks(&guard, &property, range) || !holds(keys, range), "{}: {range:?}", case());
            }
            for place in 0..questions.len() {
                let range = questions.bounds(place);
                assert!(questions.has_passed(place) || !holds(keys, range), "{}: {range:?}, batch", case());
            }
            assert_eq!(guard.stats().scanned.total(), 0, "{}: every question was asked", case());
        }
    }
    let stats = store.stats();
    assert!(stats.evictions > 2_000 && stats.hits > 2_000 && stats.unasked() == 0, "{stats}");
}

#[test]
fn a_batch_answers_as_single_questions_do() {
    let seed = 32;
    let mut rng = Rng::new(seed);
    let folder = TestFolder::new("batch");
    let store = PartitionStore::open(folder.path(), 1 << 20).unwrap().with_partition_bytes(600);
    let guard = guard("grafite@12 codec=fixed_be:8", &store);
    let keys = spread(&mut rng, 5_000);
    let property = build(&guard, &keys);
    let ranges: Vec<OwnedBounds> = (0..2_000).map(|_| absent(&keys[rng.index(keys.len())])).collect();
    let questions = Questions::new(&guard, ranges);
    questions.ask(table(&property));
    let loads = store.stats().loads;
    let mut passed = 0;
    for place in 0..questions.len() {
        let alone = asks(&guard, &property, questions.bounds(place));
        assert_eq!(questions.has_passed(place), alone, "place {place}, seed {seed}");
        passed += usize::from(alone);
    }
    assert!(passed < 200, "{passed} of 2,000 passed");
    assert_eq!(store.stats().loads, loads, "the batch read each partition once");
}

#[test]
fn one_question_reads_one_partition_and_a_wide_one_none() {
    let folder = TestFolder::new("reads");
    let store = PartitionStore::open(folder.path(), 1 << 20).unwrap();
    let guard = guard("grafite@14 codec=fixed_be:8", &store);
    let keys = spread(&mut Rng::new(33), 100_000);
    let property = build(&guard, &keys);
    assert!(property.len() < 1_000, "{} bytes in the property", property.len());
    assert!(asks(&guard, &property, &(Included(keys[7].clone()), Included(keys[60_000].clone()))));
    assert!(asks(&guard, &property, &(Unbounded, Unbounded)));
    assert!(!asks(&guard, &property, &absent(keys.last().unwrap())));
    assert!(!asks(&guard, &property, &(Unbounded, Excluded(keys[0].clone()))));
    assert_eq!(store.stats().loads, 0, "ends are in the directory");
    assert!(asks(&guard, &property, &point(&keys[50_000])));
    let stats = store.stats();
    assert_eq!(stats.loads, 1);
    assert!(stats.resident_bytes < 18_000, "{stats}");
    assert!(guard.stats().to_string().contains("1 loads"), "{}", guard.stats());
}

#[test]
fn memory_stays_within_the_budget_of_many_tables() {
    let (seed, tables, budget) = (34, 24, 40_000);
    let mut rng = Rng::new(seed);
    let folder = TestFolder::new("budget");
    let store = PartitionStore::open(folder.path(), budget).unwrap().with_partition_bytes(1_024);
    let guard = guard("bloom@14 codec=fixed_be:8", &store);
    let keys: Vec<Vec<Vec<u8>>> = (0..tables).map(|_| spread(&mut rng, 4_000)).collect();
    let properties: Vec<Vec<u8>> = keys.iter().map(|keys| build(&guard, keys)).collect();
    let written: u64 = guard.stats().filters.built_bytes;
    assert!(written > 4 * budget as u64, "{written} bytes of filters");
    thread::scope(|scope| {
        for thread in 0..4 {
            let (store, guard, keys, properties) = (&store, &guard, &keys, &properties);
            scope.spawn(move || {
                let mut rng = Rng::new(seed + 1 + thread);
                for step in 0..4_000 {
                    let place = rng.index(tables);
                    let key = &keys[place][rng.index(keys[place].len())];
                    let case = || format!("thread {thread}, step {step}, seed {seed}");
                    assert!(asks(guard, &properties[place], &point(key)), "{}: {key:?} is lost", case());
                    let resident = store.stats().resident_bytes;
                    assert!(resident <= budget as u64, "{}: {resident} bytes", case());
                }
            });
        }
    });
    let stats = store.stats();
    assert!(stats.evictions > 1_000 && stats.hits > 0, "{stats}");
    assert_eq!(stats.loaded_bytes - stats.released_bytes, stats.resident_bytes, "{stats}");
    // A question that all of the budget is held by others for may pass unasked, but hardly any does.
    assert!(stats.crowded < 100 && stats.unasked() == stats.crowded, "{stats}");
}

#[test]
fn a_budget_without_room_is_maybe() {
    let folder = TestFolder::new("room");
    let store = PartitionStore::open(folder.path(), 100).unwrap();
    let guard = guard("grafite@14 codec=fixed_be:8", &store);
    let keys = spread(&mut Rng::new(35), 3_000);
    let property = build(&guard, &keys);
    let (last, others) = keys.split_last().unwrap();
    assert!(others.iter().all(|key| asks(&guard, &property, &absent(key))));
    assert!(!asks(&guard, &property, &absent(last)), "beyond the keys, which the directory knows");
    let stats = store.stats();
    assert_eq!((stats.crowded, stats.loads, stats.resident_bytes), (2_999, 0, 0));
}

/// The one file of a store.
fn only_file(folder: &TestFolder) -> PathBuf {
    let mut files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let file = files.next().unwrap();
    assert!(files.next().is_none(), "one file");
    file
}

/// A table, and the same files opened by a store with nothing in memory.
fn one_table(name: &str, seed: u64) -> (TestFolder, Vec<Vec<u8>>, Vec<u8>) {
    let folder = TestFolder::new(name);
    let store = PartitionStore::open(folder.path(), 1 << 20).unwrap().with_partition_bytes(512);
    let keys = spread(&mut Rng::new(seed), 900);
    let property = build(&guard(SPEC, &store), &keys);
    (folder, keys, property)
}

const SPEC: &str = "grafite@20 codec=fixed_be:8";

/// Of points that are not there, those that are not denied. No key may be.
fn maybes(folder: &TestFolder, keys: &[Vec<u8>], property: &[u8]) -> (usize, PartitionStore) {
    let store = PartitionStore::open(folder.path(), 1 << 20).unwrap();
    let guard = guard(SPEC, &store);
    for key in keys.iter().step_by(7) {
        assert!(asks(&guard, property, &point(key)), "{key:?} is lost");
    }
    let batch = Questions::new(&guard, keys.iter().map(|key| point(key)));
    batch.ask(table(property));
    assert!((0..batch.len()).all(|place| batch.has_passed(place)), "a key is lost in a batch");
    // Beyond the last key, the directory knows.
    (keys[..899].iter().filter(|key| asks(&guard, property, &absent(key))).count(), store)
}

#[test]
fn another_codec_and_no_store_are_unsupported() {
    let (folder, keys, property) = one_table("codec", 42);
    let store = PartitionStore::open(folder.path(), 1 << 20).unwrap();
    let others = ["grafite@20 codec=fixed_be:4", "grafite@20 codec=head:8", "grafite@20 codec=bytes"]
        .map(|spec| guard(spec, &store));
    for guard in others.into_iter().chain([TableGuard::parse(SPEC).unwrap()]) {
        assert!(asks(&guard, &property, &absent(&keys[5])));
        assert_eq!((guard.stats().scanned.unsupported, store.stats().loads), (1, 0), "{}", guard.spec());
    }
}

#[test]
fn small_filters_stay_whole_and_as_they_were() {
    let folder = TestFolder::new("small");
    let store = PartitionStore::open(folder.path(), 1 << 20).unwrap();
    let keys = spread(&mut Rng::new(43), 300);
    let property = build(&guard(SPEC, &store), &keys);
    assert_eq!(property, build(&TableGuard::parse(SPEC).unwrap(), &keys));
    assert_eq!((store.stats().files_written, fs::read_dir(folder.path()).unwrap().count()), (0, 0));
}

#[test]
fn a_partition_that_takes_no_filter_is_maybe() {
    let folder = TestFolder::new("gap");
    let store = PartitionStore::open(folder.path(), 1 << 20).unwrap().with_partition_bytes(512);
    let guard = guard(SPEC, &store);
    let mut keys = spread(&mut Rng::new(44), 3_000);
    // One key is no integer of eight bytes.
    keys[1_500].push(7);
    let property = build(&guard, &keys);
    assert!(keys.iter().all(|key| asks(&guard, &property, &point(key))));
    let maybes = keys.iter().filter(|key| key.len() == 8 && asks(&guard, &property, &absent(key))).count();
    assert!((100..400).contains(&maybes), "{maybes}: those of one partition");
    assert_eq!(guard.stats().filters.build_failures, 1);
}

#[test]
fn a_table_that_hardly_answers_is_counted_once() {
    let folder = TestFolder::new("hardly");
    let store = PartitionStore::open(folder.path(), 1 << 20).unwrap().with_partition_bytes(1_000);
    let guard = guard("prefix_bloom:bits=4@10 codec=fixed_be:8", &store);
    build(&guard, &spread(&mut Rng::new(49), 5_000));
    assert_eq!(guard.stats().filters.hardly_answering, 1, "{}", guard.stats());
}

#[test]
fn the_cap_of_a_table_holds_for_its_file() {
    let folder = TestFolder::new("cap");
    let store = PartitionStore::open(folder.path(), 1 << 20).unwrap().with_partition_bytes(512);
    let guard = guard(SPEC, &store).with_max_bytes(4_000);
    let keys = spread(&mut Rng::new(45), 3_000);
    let property = build(&guard, &keys);
    assert!(keys.iter().all(|key| asks(&guard, &property, &point(key))));
    assert!(fs::metadata(only_file(&folder)).unwrap().len() <= 4_000);
    let filters = guard.stats().filters;
    assert!(filters.coarsened > 0 && filters.not_stored > 0, "{filters}");
}

#[test]
fn files_go_with_what_did_not_become_a_table() {
    let folder = TestFolder::new("orphans");
    let store = PartitionStore::open(folder.path(), 1 << 20).unwrap().with_partition_bytes(512);
    let guard = guard(SPEC, &store);
    let files = || fs::read_dir(folder.path()).unwrap().count();
    let keys = spread(&mut Rng::new(46), 3_000);
    let mut collector = Collector::new(&guard, None);
    keys.iter().for_each(|key| collector.add(Collector::PUT, key));
    assert_eq!(files(), 1, "being written");
    drop(collector);
    assert_eq!(files(), 0, "a flush that failed");

    let mut collector = Collector::new(&guard, None);
    keys.iter().for_each(|key| collector.add(Collector::PUT, key));
    collector.add(Collector::PUT, &keys[0]);
    assert_eq!(collector.finish(), None, "not in the order of bytes");
    assert_eq!((files(), guard.stats().filters.build_failures), (0, 1));

    let property = build(&guard, &keys);
    store.table_failed(&property);
    assert_eq!((files(), store.stats().files_removed), (0, 1), "a table that could not be installed");
}

#[test]
fn a_folder_that_cannot_be_written_costs_the_filter_only() {
    let folder = TestFolder::new("lost");
    let store = PartitionStore::open(folder.path(), 1 << 20).unwrap();
    let guard = guard(SPEC, &store);
    fs::remove_dir_all(folder.path()).unwrap();
    let mut collector = Collector::new(&guard, None);
    spread(&mut Rng::new(47), 30_000).iter().for_each(|key| collector.add(Collector::PUT, key));
    assert_eq!(collector.finish(), None);
    let stats = guard.stats();
    assert_eq!((stats.partitions.files_failed, stats.filters.build_failures), (1, 1));
    assert!(stats.filters.last_problem.unwrap().contains("could not be written"));
}

#[test]
fn files_without_a_table_are_removed_after_a_crash() {
    let folder = TestFolder::new("crash");
    let keys = spread(&mut Rng::new(48), 3_000);
    let store = PartitionStore::open(folder.path(), 1 << 20).unwrap();
    let properties: Vec<Vec<u8>> = (0..3).map(|_| build(&guard(SPEC, &store), &keys)).collect();
    fs::write(folder.path().join("notes.txt"), "not ours").unwrap();

    let store = PartitionStore::open(folder.path(), 1 << 20).unwrap();
    let path = |number: usize| PathBuf::from(format!("/db/00000{number}.sst"));
    store.table_created(&path(1), &properties[0]);
    store.table_created(&path(2), &properties[1]);
    let new = build(&guard(SPEC, &store), &keys);
    assert_eq!(store.remove_unclaimed(), 1, "the third, not the one being written");
    let maybes = |property: &[u8]| asks(&guard(SPEC, &store), property, &absent(&keys[7]));
    assert_eq!(
        [&properties[0], &properties[1], &properties[2], &new].map(|property| maybes(property)),
        [false, false, true, false]
    );

    // A copy of a table keeps the file that they share.
    store.table_created(&path(9), &properties[1]);
    store.table_deleted(&path(1));
    store.table_deleted(&path(2));
    store.table_deleted(&path(3));
    assert_eq!(store.stats().files_removed, 2);
    store.table_deleted(&PathBuf::from("/db//000009.sst"));
    assert_eq!(store.stats().files_removed, 3);
    assert!(folder.path().join("notes.txt").exists());
}
