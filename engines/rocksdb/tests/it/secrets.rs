//! Filters under a secret: refused without one when they are installed, opened by who has none or another, and named by OPTIONS
//! files that do not hold it.

use lacuna_base::Secret;
use lacuna_rocksdb::{GuardSpec, RangeFilters};
use rust_rocksdb::{Cache, DB, Options};

use crate::support::{TestDb, compact_all, gap, key, options, rows_of};

const SPEC: &str = "ribbon:secret@14 codec=fixed_be:8";
const SECRET: [u8; 16] = *b"sixteen bytes ok";

fn under(secret: [u8; 16]) -> RangeFilters {
    RangeFilters::new(GuardSpec::parse(SPEC).unwrap().with_secret(Secret::new(secret)))
}

/// Every row is found, and most gaps are denied.
fn all_is_answered(lacuna: &RangeFilters, db: &DB, numbers: u64) {
    let before = lacuna.stats().filters.skipped();
    for number in 0..numbers {
        assert_eq!(rows_of(lacuna.read(key(number)..=key(number)).scan(db)).len(), 1, "{number}");
        assert!(lacuna.get(db, key(number)).unwrap().is_some(), "{number}");
        assert!(rows_of(lacuna.read(gap(number)..=gap(number)).scan(db)).is_empty(), "{number}");
    }
    let skipped = lacuna.stats().filters.skipped() - before;
    assert!(skipped > numbers / 2, "{skipped} of {numbers} gaps were denied");
}

#[test]
fn a_missing_secret_is_refused_at_installation() {
    let refused = RangeFilters::parse(SPEC).unwrap_err().to_string();
    assert!(refused.ends_with("hashes under a secret: give one beside the text of the spec"), "{refused}");
    assert!(RangeFilters::parse("grafite@14 codec=fixed_be:8 fallback=grafite:secret").is_err());
    let without = RangeFilters::new(GuardSpec::parse(SPEC).unwrap());
    assert_eq!(without.try_install(&mut Options::default()).unwrap_err().to_string(), refused);
    let panicked = std::panic::catch_unwind(|| {
        RangeFilters::new(GuardSpec::parse(SPEC).unwrap()).install(&mut Options::default());
    });
    assert_eq!(panicked.unwrap_err().downcast_ref::<String>(), Some(&refused));
    let strings = GuardSpec::parse("ribbon:secret@14 codec=bytes").unwrap().with_secret(Secret::new(SECRET));
    let refused = RangeFilters::new(strings).try_install(&mut Options::default()).unwrap_err().to_string();
    assert!(refused.contains("is for integers"), "{refused}");
    under(SECRET).try_install(&mut Options::default()).unwrap();
}

#[test]
fn filters_are_opened_without_their_secret() {
    let TestDb { db, env, lacuna } = TestDb::of(under(SECRET), |_| {});
    (0..300).for_each(|number| db.put(key(number), b"value").unwrap());
    db.flush().unwrap();
    all_is_answered(&lacuna, &db, 300);
    assert_eq!((lacuna.stats().filters.built, lacuna.stats().filters.build_failures), (1, 0));
    drop(db);
    let other = under(*b"sixteen bytes no");
    let db = DB::open(&options(&env, Some(&other)), "/db").unwrap();
    all_is_answered(&other, &db, 300);
    compact_all(&db);
    all_is_answered(&other, &db, 300);
    drop(db);
    let none = RangeFilters::parse("grafite@14 codec=fixed_be:8").unwrap();
    let db = DB::open(&options(&env, Some(&none)), "/db").unwrap();
    all_is_answered(&none, &db, 300);
}

/// RocksDB writes the options of every database it opens, and reads them back to be sure: neither may need the secret. To be
/// called where the collector is registered, by the one test of that.
pub(crate) fn options_files_name_the_spec_and_not_the_secret() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let lacuna = under(SECRET);
    let mut ours = Options::default();
    ours.create_if_missing(true);
    lacuna.install(&mut ours);
    let db = DB::open(&ours, &path).unwrap();
    (0..300).for_each(|number| db.put(key(number), b"value").unwrap());
    db.flush().unwrap();
    all_is_answered(&lacuna, &db, 300);
    drop(db);
    let hex: String = SECRET.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut files = 0;
    for entry in std::fs::read_dir(&path).unwrap() {
        let entry = entry.unwrap();
        let bytes = std::fs::read(entry.path()).unwrap();
        let holds = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        let is_safe = !holds(&SECRET[..8]) && !holds(&SECRET[8..]) && !holds(hex.to_uppercase().as_bytes());
        assert!(is_safe && !holds(hex.as_bytes()), "{entry:?}");
        files += usize::from(holds(b"ribbon:secret@14"));
    }
    assert!(files > 0, "an OPTIONS file names the spec");

    let cache = Cache::new_lru_cache(1 << 20);
    let env = rust_rocksdb::Env::new().unwrap();
    let (loaded, families) = Options::load_latest(&path, env, false, cache).unwrap();
    let db = DB::open_cf_descriptors(&loaded, &path, families).unwrap();
    all_is_answered(&lacuna, &db, 300);
    (300..400).for_each(|number| db.put(key(number), b"value").unwrap());
    db.flush().unwrap();
    assert_eq!(rows_of(lacuna.read(key(0)..=key(400)).scan(&db)).len(), 400);
    assert!(lacuna.stats().scanned.missing > 0, "the new table has no filter, and is read");
}
