//! An empty scan is only a hint: what hides a row from a scan is not gone from the table.

use std::time::Duration;

use lacuna_guard::{FileTag, Neighbours};
use lacuna_rocksdb::{GapLearner, GapOptions, RangeFilters};
use rust_rocksdb::{DB, Env, OptimisticTransactionDB};

use crate::support::{BLIND, Learning, compact_all, key, options, rows_of};

/// A little below and above a key.
fn around(number: u64) -> ([u8; 8], [u8; 8]) {
    (((number << 20) - 1_000).to_be_bytes(), ((number << 20) + 1_000).to_be_bytes())
}

/// One table of the even keys below 20.
fn even_keys() -> Learning {
    let learning = Learning::new(BLIND);
    learning.test.write_table((0..20).step_by(2).map(key));
    learning
}

/// Tags of the tables that an empty scan there meets.
fn tags_at(learning: &Learning, lo: &[u8], hi: &[u8]) -> Vec<FileTag> {
    let gaps = learning.test.lacuna.learned_gaps().unwrap();
    while gaps.take_hint().is_some() {}
    assert!(learning.keys(lo, hi).is_empty());
    gaps.take_hint().map(|hint| hint.tags).unwrap_or_default()
}

#[test]
fn a_put_behind_a_snapshot_is_not_hidden() {
    let mut learning = even_keys();
    let (lo, hi) = around(7);
    let env = learning.test.env.clone();
    let lacuna = learning.test.lacuna.clone();
    {
        let snapshot = learning.test.db.snapshot();
        [key(0), key(7), key(18)].iter().for_each(|key| learning.test.db.put(key, b"value").unwrap());
        learning.test.db.flush().unwrap();
        let mut learner = GapLearner::new(&lacuna, &options(&env, None)).unwrap();
        for _ in 0..2 {
            assert!(learning.scan(&snapshot, &lo, &hi).is_empty());
            learner.follow_all(&learning.test.db);
        }
    }
    let counts = learning.stats().gaps;
    assert_eq!(counts.learned, 1, "the table without the key has a gap there: {counts}");
    assert!(counts.refuted >= 1, "the other holds the key: {counts}");
    assert_eq!(learning.keys(&lo, &hi), [key(7)]);
    // And a put into a gap that was learned before it.
    let (lo, hi) = around(9);
    learning.learn_from_nothing(&lo, &hi);
    learning.test.write_table([key(1), key(9), key(19)]);
    assert_eq!(learning.keys(&lo, &hi), [key(9)]);
}

#[test]
fn a_tombstone_keeps_what_it_deletes_deleted() {
    // Room for the gaps of one table, so that learning for one forgets those of the other.
    let options =
        GapOptions::default().with_memory_bytes(12_000).with_memory_bytes_per_file(6_000).with_hints(4);
    let mut learning = Learning::with_options(BLIND, options);
    learning.test.write_table([key(0), key(6), key(7), key(8), key(18)]);
    learning.test.db.delete(key(7)).unwrap();
    learning.test.write_table([key(0), key(18)]);
    for (number, width) in [(7u64, 1_000), (6, 300_000), (7, 2_000), (8, 300_000), (7, 900_000)] {
        // At the deleted key, and left and right of it.
        let middle = (number << 20) + if number == 7 { 0 } else { 500_000 };
        learning.learn_from_nothing(&(middle - width).to_be_bytes(), &(middle + width).to_be_bytes());
        assert!(learning.keys(&key(7), &key(7)).is_empty());
    }
    let counts = learning.stats().gaps;
    assert!(counts.learned > 2 && counts.refuted > 2, "{counts}");
    // The test can fail: a false gap in the table of the tombstone brings the old value back.
    let (lo, hi) = around(7);
    let gaps = learning.test.lacuna.learned_gaps().unwrap();
    let mut resurrected = 0;
    for tag in tags_at(&learning, &lo, &hi) {
        let (below, above) = (key(0), key(18));
        let lie = Neighbours { below: Some(&below), above: Some(&above), smallest: &below, largest: &above };
        gaps.open_file(tag).learn(&lie);
        resurrected += learning.keys(&lo, &hi).len();
    }
    assert_eq!(resurrected, 1, "only the lie about the table of the tombstone shows");
}

#[test]
fn a_rolled_back_transaction_teaches_nothing_wrong() {
    let env = Env::mem_env().unwrap();
    let lacuna = RangeFilters::parse(BLIND).unwrap().with_learned_gaps(GapOptions::default());
    let db: OptimisticTransactionDB =
        OptimisticTransactionDB::open(&options(&env, Some(&lacuna)), "/transactions").unwrap();
    let mut learner = GapLearner::new(&lacuna, &options(&env, None)).unwrap();
    (0..20).step_by(2).for_each(|number| db.put(key(number), b"value").unwrap());
    db.flush().unwrap();
    let (lo, hi) = around(7);
    let transaction = db.transaction();
    transaction.put(key(7), b"never").unwrap();
    assert_eq!(rows_of(lacuna.read(lo..hi).scan(&transaction)).len(), 1);
    for _ in 0..2 {
        assert!(rows_of(lacuna.read(lo..hi).scan(&db)).is_empty());
        learner.follow_all(&db);
    }
    assert_eq!(rows_of(lacuna.read(lo..hi).scan(&transaction)).len(), 1, "its own writes, gap or not");
    transaction.rollback().unwrap();
    // A deletion that never happened must not look like a gap.
    transaction.delete(key(8)).unwrap();
    let (lo_8, hi_8) = around(8);
    for _ in 0..2 {
        assert!(rows_of(lacuna.read(lo_8..hi_8).scan(&transaction)).is_empty());
        learner.follow_all(&db);
    }
    transaction.rollback().unwrap();
    assert_eq!(rows_of(lacuna.read(lo_8..hi_8).scan(&db)).len(), 1);
    db.put(key(7), b"now").unwrap();
    db.flush().unwrap();
    assert_eq!(rows_of(lacuna.read(lo..hi).scan(&db)).len(), 1);
    let counts = lacuna.stats().filters.gaps;
    assert!(counts.learned == 1 && counts.refuted > 0, "{counts}");
}

/// RocksDB shows an expired row until a compaction drops it, and until then it hides what it replaced.
#[test]
fn an_expired_row_still_hides_what_it_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let env = Env::new().unwrap();
    let lacuna = RangeFilters::parse(BLIND).unwrap().with_learned_gaps(GapOptions::default());
    let opened = options(&env, Some(&lacuna));
    let db = DB::open_with_ttl(&opened, folder.path(), Duration::from_secs(1)).unwrap();
    let mut learner = GapLearner::new(&lacuna, &opened).unwrap();
    let gaps = lacuna.learned_gaps().unwrap();
    let (lo, hi) = around(7);
    let before = db.snapshot();
    for value in ["replaced", "expired"] {
        [0, 7, 18].iter().for_each(|&number| db.put(key(number), value).unwrap());
        db.flush().unwrap();
    }
    std::thread::sleep(Duration::from_millis(2_100));
    let value = || rows_of(lacuna.read(lo..hi).scan(&db)).pop().map(|(_, value)| value);
    assert_eq!(value().as_deref(), Some(&b"expired"[..]), "shown until it is compacted");
    // The snapshot is older than both rows, so that its scan hints at both tables.
    let hint = || {
        assert!(rows_of(lacuna.read(lo..hi).scan(&before)).is_empty());
        gaps.take_hint().unwrap()
    };
    let tags = hint().tags;
    assert_eq!(tags.len(), 2);
    assert!(rows_of(lacuna.read(lo..hi).scan(&before)).is_empty());
    learner.follow_all(&db);
    let counts = lacuna.stats().filters.gaps;
    assert_eq!((counts.learned, counts.refuted), (0, 2), "both tables hold the key: {counts}");
    assert_eq!(value().as_deref(), Some(&b"expired"[..]));
    // This would notice a learner that passes over expired rows: the newest table is the first that is asked.
    let (below, above) = (key(0), key(18));
    let lie = Neighbours { below: Some(&below), above: Some(&above), smallest: &below, largest: &above };
    gaps.open_file(tags[0]).learn(&lie);
    assert_eq!(value().as_deref(), Some(&b"replaced"[..]), "what a gap that is none would show");
}

#[test]
fn a_merge_operand_is_not_lost() {
    let mut learning = even_keys();
    let (lo, hi) = around(7);
    learning.test.db.merge(key(7), b"+1").unwrap();
    learning.test.write_table([key(1), key(19)]);
    // Left and right of the operand.
    learning.learn_from_nothing(&((6u64 << 20) + 1).to_be_bytes(), &lo);
    learning.learn_from_nothing(&hi, &((8u64 << 20) - 1).to_be_bytes());
    assert_eq!(learning.test.rows(&key(7), &key(7))[0].1, b"+1");
    learning.test.db.merge(key(7), b"+2").unwrap();
    learning.test.write_table([key(1), key(19)]);
    learning.learn();
    assert_eq!(learning.test.rows(&lo, &hi)[0].1, b"+1+2");
    assert_eq!(learning.stats().gaps.learned, 3, "two in the upper table: {}", learning.stats());
}

/// Range deletions are applied from skipped tables too, gap or not.
#[test]
fn a_range_deletion_is_applied_from_a_table_with_a_gap() {
    let mut learning = even_keys();
    compact_all(&learning.test.db);
    let mut batch = rust_rocksdb::WriteBatch::default();
    batch.delete_range(key(5), key(9));
    batch.put(key(1), b"left");
    batch.put(key(19), b"right");
    learning.test.db.write(&batch).unwrap();
    learning.test.db.flush().unwrap();
    for number in [6, 8] {
        learning.learn_from_nothing(&around(number).0, &around(number).1);
    }
    let counts = learning.stats();
    assert!(counts.gaps.learned >= 1 && counts.gaps.refuted >= 1 && counts.skipped_by_gap() > 0, "{counts}");
    assert_eq!(learning.keys(&key(4), &key(10)), [key(4), key(10)]);
}
