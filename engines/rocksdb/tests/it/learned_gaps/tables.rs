//! Whose gaps are whose.

use lacuna_rocksdb::{GapLearner, GapOptions, LiveTables, RangeFilters};
use rust_rocksdb::{
    BlockBasedIndexType, BlockBasedOptions, DB, Env, Error, LiveFile, ReadOptions, SliceTransform,
    SstFileWriter, TransactionDB, TransactionDBOptions,
};

use crate::support::{BLIND, Learning, compact_all, key, options, rows_of};

fn bytes(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}

/// Two tables whose filters are the same to the last bit; one holds a key in the other's gap.
#[test]
fn tables_of_equal_filters_keep_their_own_gaps() {
    let spec = "bucketing@2 codec=fixed_be:8";
    let keys =
        |odd: u64| (0..64u64).map(move |number| bytes((number << 20) + if number == 31 { odd } else { 0 }));
    let (first, second) = (0, 1_000);
    let filters = [first, second].map(|odd| {
        let test = crate::support::TestDb::new(spec);
        test.write_table(keys(odd));
        property_of_the_only_table(&test.db)
    });
    assert_eq!(filters[0], filters[1], "a filter says nothing of the table's identity");

    let mut learning = Learning::new(spec);
    learning.test.write_table(keys(first));
    let (lo, hi) = (bytes((31 << 20) + 500), bytes((31 << 20) + 1_500));
    learning.learn_from_nothing(&lo, &hi);
    assert_eq!(learning.stats().gaps.learned, 1, "{}", learning.stats());
    learning.test.write_table(keys(second));
    assert_eq!(learning.keys(&lo, &hi), [bytes((31 << 20) + second)]);
}

fn property_of_the_only_table(db: &DB) -> Vec<u8> {
    let found = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let mut options = ReadOptions::default();
    let sink = std::sync::Arc::clone(&found);
    options.set_table_filter(move |table| {
        let property = table
            .user_collected_properties()
            .find(|(name, _)| *name == lacuna_rocksdb::PROPERTY_NAME.as_bytes());
        *sink.lock().unwrap() = property.unwrap().1.to_vec();
        true
    });
    db.raw_iterator_opt(options).seek_to_first();
    let found = found.lock().unwrap();
    found.clone()
}

#[test]
fn gaps_outlive_a_closed_database_and_not_the_table() {
    let mut learning = Learning::new(BLIND);
    learning.test.write_table((0..40).map(key));
    learning.test.write_table((0..40).map(|number| bytes((number << 20) + 9)));
    let (lo, hi) = (bytes((7 << 20) + 1_000), bytes((7 << 20) + 2_000));
    learning.learn_from_nothing(&lo, &hi);
    let skipped = learning.stats().skipped_by_gap();
    assert!(skipped >= 2, "{}", learning.stats());
    // Opened again, in the same process: the tables are the same, and so are their gaps.
    let Learning { test, learner } = learning;
    let (env, lacuna) = (test.env.clone(), test.lacuna.clone());
    drop(test.db);
    let db = DB::open(&options(&env, Some(&lacuna)), "/db").unwrap();
    let mut learning = Learning { test: crate::support::TestDb { db, env, lacuna }, learner };
    assert!(learning.keys(&lo, &hi).is_empty());
    assert_eq!(learning.stats().skipped_by_gap(), skipped + 4, "two tables, two directions");
    // Compacted: a new table, about which nothing is known until it is looked into.
    compact_all(&learning.test.db);
    let before = learning.stats();
    learning.learn_from_nothing(&lo, &hi);
    let after = learning.stats();
    assert!(after.passed() > before.passed() && after.skipped_by_gap() > before.skipped_by_gap(), "{after}");
}

/// Tables written before gaps were learned, or by an `SstFileWriter`, are looked into all the same.
#[test]
fn ingested_tables_learn_too() {
    let mut learning = Learning::new(BLIND);
    let writing = options(&learning.test.env, Some(&learning.test.lacuna));
    for (path, step) in [("/even.sst", 0u64), ("/odd.sst", 9)] {
        let mut writer = SstFileWriter::create(&writing);
        writer.open(path).unwrap();
        (0..40).for_each(|number| writer.put(bytes((number << 20) + step), b"value").unwrap());
        writer.finish().unwrap();
        learning.test.db.ingest_external_file(vec![path]).unwrap();
    }
    learning.learn_from_nothing(&bytes((7 << 20) + 1_000), &bytes((7 << 20) + 2_000));
    let stats = learning.stats();
    assert_eq!((stats.gaps.learned, stats.gaps.unresolved, stats.gaps.failures), (2, 0, 0), "{stats}");
    assert_eq!(learning.keys(&key(7), &bytes((7 << 20) + 9)).len(), 2);
}

#[test]
fn tables_of_a_database_that_does_not_learn_give_no_hints() {
    let lacuna = RangeFilters::parse(BLIND).unwrap();
    assert!(GapLearner::new(&lacuna, &rust_rocksdb::Options::default()).is_err());
    assert!(lacuna.learned_gaps().is_none());
}

/// Asked through the index of prefixes, a table would show no key of another prefix, and no gap between two.
#[test]
fn an_index_of_prefixes_hides_no_neighbour() {
    let env = Env::mem_env().unwrap();
    let lacuna = RangeFilters::parse(BLIND).unwrap().with_learned_gaps(GapOptions::default());
    let mut opened = options(&env, Some(&lacuna));
    let mut table = BlockBasedOptions::default();
    table.set_index_type(BlockBasedIndexType::HashSearch);
    opened.set_block_based_table_factory(&table);
    opened.set_prefix_extractor(SliceTransform::create_fixed_prefix(4));
    let db = DB::open(&opened, "/db").unwrap();
    // The prefix of every key is its own, and even.
    (0..40).step_by(2).for_each(|number| db.put(bytes(number << 32), [7; 900]).unwrap());
    db.flush().unwrap();
    let mut learner = GapLearner::new(&lacuna, &opened).unwrap();
    let rows = |lo: u64, hi: u64| {
        let mut all = ReadOptions::default();
        all.set_total_order_seek(true);
        rows_of(lacuna.read(bytes(lo)..=bytes(hi)).with_options(all).scan(&db)).len()
    };
    for number in (1..38).step_by(2) {
        // Nothing has the prefix of this range.
        let (lo, hi) = (number << 32, (number << 32) + 1_000);
        for _ in 0..2 {
            assert_eq!(rows(lo, hi), 0);
            learner.follow_all(&db);
        }
        assert_eq!((rows(lo, (number + 1) << 32), rows((number - 1) << 32, hi)), (1, 1), "{number}");
    }
    let stats = lacuna.stats().filters;
    assert_eq!((stats.gaps.learned, stats.gaps.failures, stats.skipped_by_gap()), (19, 0, 19), "{stats}");
}

/// A second instance that reads along, for a database whose own handle names no files.
struct Secondary(DB);

impl LiveTables for Secondary {
    fn live_tables(&self) -> Result<Vec<LiveFile>, Error> {
        self.0.try_catch_up_with_primary()?;
        self.0.live_tables()
    }
}

#[test]
fn a_locking_database_learns_through_a_second_instance() {
    let (folder, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let lacuna = RangeFilters::parse(BLIND).unwrap().with_learned_gaps(GapOptions::default());
    let opened = options(&Env::new().unwrap(), Some(&lacuna));
    let db: TransactionDB =
        TransactionDB::open(&opened, &TransactionDBOptions::default(), folder.path()).unwrap();
    let secondary = Secondary(DB::open_as_secondary(&opened, folder.path(), second.path()).unwrap());
    let mut learner = GapLearner::new(&lacuna, &opened).unwrap();
    for step in [0u64, 9] {
        (0..40).for_each(|number| db.put(bytes((number << 20) + step), b"value").unwrap());
        db.flush().unwrap();
        for _ in 0..2 {
            let (lo, hi) = (bytes((7 << 20) + 1_000), bytes((7 << 20) + 2_000));
            assert!(rows_of(lacuna.read(lo..hi).scan(&db)).is_empty());
            learner.follow_all(&secondary);
        }
    }
    let stats = lacuna.stats().filters;
    assert_eq!((stats.gaps.learned, stats.gaps.unresolved, stats.gaps.failures), (2, 0, 0), "{stats}");
    assert!(stats.skipped_by_gap() >= 3, "{stats}");
    assert_eq!(rows_of(lacuna.read(key(7)..=bytes((7 << 20) + 9)).scan(&db)).len(), 2);
}
