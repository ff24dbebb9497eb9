//! R8, R11, R17, R18, R19, R21: codecs, failures of ours, and options files.

use std::ops::Bound;
use std::sync::Arc;

use lacuna_base::{CodecId, Cover, KeyCodec, Result, U64Range};
use lacuna_rocksdb::{GuardCodec, GuardSpec, RangeFilters};
use rust_rocksdb::{Cache, DB, Env, Options};

use crate::secrets::options_files_name_the_spec_and_not_the_secret;
use crate::support::{TestDb, compact_all, gap, key, options, rows_of};

const SPEC: &str = "grafite@16 codec=fixed_be:8";

#[test]
fn filters_of_another_codec_are_scanned() {
    let test = TestDb::new(SPEC);
    test.write_table((0..100).map(key));
    let test = test.reopen("grafite@16 codec=bytes", true);
    assert_eq!(test.rows(&key(10), &key(19)).len(), 10);
    assert_eq!((test.lacuna.stats().scanned.unsupported, test.asked()), (2, (0, 0)));
    compact_all(&test.db);
    assert!(test.rows(&gap(10), &gap(10)).is_empty());
    assert_eq!((test.lacuna.stats().scanned.unsupported, test.asked()), (2, (2, 0)));
}

#[test]
fn keys_without_a_place_leave_the_table_readable() {
    let test = TestDb::new(SPEC);
    test.write_table([b"eight by".as_slice(), b"nine byte"]);
    let stats = test.lacuna.stats();
    assert_eq!((stats.filters.built, stats.filters.build_failures), (0, 1), "{stats}");
    let said = stats.filters.check().unwrap_err().to_string();
    assert!(said.contains("1 filters were not built") && said.contains("a key has 9 bytes"), "{said}");
    assert_eq!(test.rows(b"a", b"z").len(), 2);
    assert_eq!(test.lacuna.stats().scanned.missing, 2);
}

/// A codec with a bug.
#[derive(Debug)]
struct Panicking {
    in_key: bool,
}

impl KeyCodec<u64> for Panicking {
    fn id(&self) -> CodecId {
        CodecId { number: 0x8001, parameter: 0 }
    }
    fn name(&self) -> String {
        "panicking".to_owned()
    }
    fn key(&self, key: &[u8]) -> Result<u64> {
        assert!(!self.in_key, "no key for {key:?}");
        Ok(u64::from_be_bytes(key.try_into().unwrap()))
    }
    fn cover<'a>(&self, lo: Bound<&'a [u8]>, hi: Bound<&'a [u8]>) -> Cover<U64Range> {
        panic!("no cover for {lo:?} to {hi:?}")
    }
}

#[test]
fn panics_stay_on_this_side() {
    for in_key in [true, false] {
        let codec = GuardCodec::Integers { codec: Arc::new(Panicking { in_key }), keeps_order: true };
        let lacuna = RangeFilters::new(GuardSpec::parse(SPEC).unwrap().with_codec(codec));
        let env = Env::mem_env().unwrap();
        let db = DB::open(&options(&env, Some(&lacuna)), "/db").unwrap();
        (0..100).for_each(|number| db.put(key(number), b"value").unwrap());
        db.flush().unwrap();
        let (options, _) = lacuna.read(key(10)..key(20)).into_parts();
        let mut rows = db.raw_iterator_opt(options);
        rows.seek_to_first();
        assert_eq!(crate::support::collect(&mut rows).len(), 10);
        let stats = lacuna.stats();
        assert_eq!((stats.scanned.missing, stats.scanned.corrupt), if in_key { (1, 0) } else { (0, 1) });
        assert_eq!(stats.filters.build_failures, u64::from(in_key), "{stats}");
    }
}

#[test]
fn answers_are_not_remembered_across_tables() {
    let test = TestDb::with(SPEC, |options| options.set_max_open_files(10));
    for round in 0..40 {
        assert!(test.rows(&gap(round), &gap(round)).is_empty());
        test.write_table([gap(round)]);
        assert_eq!(test.rows(&gap(round), &gap(round)).len(), 1, "round {round}");
        test.db.delete(gap(round)).unwrap();
        test.db.flush().unwrap();
        assert!(test.rows(&gap(round), &gap(round)).is_empty());
        compact_all(&test.db);
    }
}

#[test]
fn options_files_name_the_collector() {
    let test = TestDb::new(SPEC);
    // Registration is for the whole process, so both halves stand in one test.
    let unregistered = skipped_and_missing(&test, "/unregistered");
    assert_eq!(unregistered, (0, 1), "RocksDB passes over a collector whose name it does not know");
    RangeFilters::register();
    assert_eq!(skipped_and_missing(&test, "/registered"), (1, 0), "the spec was in the file");
    options_files_name_the_spec_and_not_the_secret();
}

/// Fills a database opened with what the OPTIONS file of `test` says, and asks its one table.
fn skipped_and_missing(test: &TestDb, path: &str) -> (u64, u64) {
    let cache = Cache::new_lru_cache(1 << 20);
    let (mut loaded, families) = Options::load_latest("/db", test.env.clone(), false, cache).unwrap();
    loaded.set_env(&test.env);
    loaded.create_if_missing(true);
    let db = DB::open_cf_descriptors(&loaded, path, families).unwrap();
    (0..100).for_each(|number| db.put(key(number), b"value").unwrap());
    db.flush().unwrap();
    let lacuna = RangeFilters::parse(SPEC).unwrap();
    assert!(rows_of(lacuna.read(gap(5)..=gap(5)).scan(&db)).is_empty());
    assert_eq!(rows_of(lacuna.read(key(5)..=key(9)).scan(&db)).len(), 5);
    let stats = lacuna.stats();
    (stats.filters.skipped(), stats.scanned.missing / 2)
}
