//! An empty scan is only a hint: what hides a row from a scan is not gone from the file.

use lacuna_guard::Neighbours;
use lacuna_slatedb::GapOptions;
use slatedb::IsolationLevel;
use slatedb::config::{PutOptions, Ttl, WriteOptions};

use crate::support::{BLIND, Learning};

/// Far enough apart for the blind filter to let every scan between two keys pass.
fn key(number: u64) -> [u8; 8] {
    (number << 20).to_be_bytes()
}

/// A little below and above a key.
fn around(number: u64) -> ([u8; 8], [u8; 8]) {
    (((number << 20) - 1_000).to_be_bytes(), ((number << 20) + 1_000).to_be_bytes())
}

/// One SST of the even keys below 20.
async fn even_keys() -> Learning {
    let learning = Learning::new(BLIND).await;
    learning.test.write_sst((0..20).step_by(2).map(key)).await;
    learning
}

#[tokio::test]
async fn a_put_behind_a_snapshot_is_not_hidden() {
    let mut learning = even_keys().await;
    let snapshot = learning.test.db.snapshot().unwrap();
    learning.test.write_sst([key(0), key(7), key(18)]).await;
    let (lo, hi) = around(7);
    learning.learn_from_nothing(&*snapshot, &lo, &hi).await;
    let counts = learning.lacuna().stats().gaps;
    assert_eq!(counts.learned, 1, "the file without the key has a gap there: {counts}");
    assert!(counts.refuted >= 1, "the other holds the key: {counts}");
    assert_eq!(learning.scan(&learning.test.db, &lo, &hi).await, [key(7)]);
    assert_eq!(learning.test.db.get(key(7)).await.unwrap().unwrap(), [b"v", &key(7)[..]].concat());
    // And a put into a gap that was learned before it.
    learning.learn_from_nothing(&learning.test.db.clone(), &around(9).0, &around(9).1).await;
    learning.test.write_sst([key(1), key(9), key(19)]).await;
    assert_eq!(learning.scan(&learning.test.db, &around(9).0, &around(9).1).await, [key(9)]);
}

#[tokio::test]
async fn a_tombstone_keeps_what_it_deletes_deleted() {
    // Room for the gaps of one file, so that learning for one forgets those of the other.
    let options =
        GapOptions::default().with_memory_bytes(12_000).with_memory_bytes_per_file(6_000).with_hints(4);
    let mut learning = Learning::with_options(BLIND, options).await;
    learning.test.write_sst([key(0), key(6), key(7), key(8), key(18)]).await;
    learning.test.db.delete(key(7)).await.unwrap();
    learning.test.write_sst([key(0), key(18)]).await;
    let db = learning.test.db.clone();
    for (number, width) in [(7u64, 1_000), (6, 300_000), (7, 2_000), (8, 300_000), (7, 900_000)] {
        // At the deleted key, and left and right of it.
        let middle = (number << 20) + if number == 7 { 0 } else { 500_000 };
        let (lo, hi) = ((middle - width).to_be_bytes(), (middle + width).to_be_bytes());
        learning.learn_from_nothing(&db, &lo, &hi).await;
        assert_eq!(learning.value(&key(7)).await, None);
        assert_eq!(db.get(key(7)).await.unwrap(), None);
    }
    let counts = learning.lacuna().stats().gaps;
    assert!(counts.learned > 2 && counts.refuted > 2, "{counts}");
    // The test can fail: a false gap in the file of the tombstone brings the old value back.
    let gaps = learning.lacuna().learned_gaps().unwrap();
    for file in (1..=2).filter_map(|number| gaps.file(number)) {
        let (below, above) = (key(0), key(18));
        let lie = Neighbours { below: Some(&below), above: Some(&above), smallest: &below, largest: &above };
        file.learn(&lie);
        let resurrected = db.get(key(7)).await.unwrap().is_some();
        assert_eq!(resurrected, file.number() == 2, "file {}", file.number());
    }
}

#[tokio::test]
async fn a_rolled_back_transaction_teaches_nothing_wrong() {
    let mut learning = even_keys().await;
    let db = learning.test.db.clone();
    let (lo, hi) = around(7);
    let transaction = db.begin(IsolationLevel::Snapshot).unwrap();
    transaction.put(key(7), b"never").unwrap();
    assert_eq!(learning.scan(&transaction, &lo, &hi).await, [key(7)]);
    learning.learn_from_nothing(&db, &lo, &hi).await;
    assert_eq!(learning.scan(&transaction, &lo, &hi).await, [key(7)], "its own writes, gap or not");
    transaction.rollback();
    // A snapshot that does not see the newer rows of a file.
    let transaction = db.begin(IsolationLevel::Snapshot).unwrap();
    learning.test.write_sst([key(1), key(7), key(19)]).await;
    learning.learn_from_nothing(&transaction, &lo, &hi).await;
    transaction.rollback();
    assert_eq!(learning.scan(&db, &lo, &hi).await, [key(7)]);
    let counts = learning.lacuna().stats().gaps;
    assert!(counts.learned == 1 && counts.refuted > 0, "{counts}");
}

/// SlateDB 0.18 shows an expired row until a flush or a compaction turns it into a tombstone. Here it expires after
/// its flush.
#[tokio::test]
async fn an_expired_row_still_hides_what_it_replaced() {
    const LIFE_MS: u64 = 2_000;
    let mut learning = even_keys().await;
    let db = learning.test.db.clone();
    learning.test.write_sst([key(1), key(7), key(19)]).await;
    learning.test.compact(false).await;
    let expiring = PutOptions { ttl: Ttl::ExpireAfterMillis(LIFE_MS) };
    db.put_with_options(key(7), b"brief", &expiring, &WriteOptions::default()).await.unwrap();
    learning.test.write_sst([key(3), key(17)]).await;
    tokio::time::sleep(std::time::Duration::from_millis(LIFE_MS + 20)).await;
    let (lo, hi) = around(7);
    assert_eq!(learning.scan(&db, &lo, &hi).await, [key(7)], "no hint, and no gap, while it is shown");
    learning.test.write_sst([key(0), key(19)]).await;
    learning.test.compact(false).await;
    learning.learn_from_nothing(&db, &lo, &hi).await;
    let counts = learning.lacuna().stats().gaps;
    assert!(counts.learned == 0 && counts.refuted >= 2, "both runs hold the key: {counts}");
    assert_eq!((learning.value(&key(7)).await, db.get(key(7)).await.unwrap()), (None, None));
    learning.test.write_sst([key(7)]).await;
    assert_eq!(learning.scan(&db, &lo, &hi).await, [key(7)]);
}

#[tokio::test]
async fn a_merge_operand_is_not_lost() {
    let mut learning = even_keys().await;
    let db = learning.test.db.clone();
    let before = db.snapshot().unwrap();
    db.merge(key(7), b"+1").await.unwrap();
    learning.test.write_sst([key(1), key(19)]).await;
    let (lo, hi) = around(7);
    // Left and right of the operand, and at it where a snapshot does not see it.
    learning.learn_from_nothing(&db, &((6u64 << 20) + 1).to_be_bytes(), &lo).await;
    learning.learn_from_nothing(&db, &hi, &(8u64 << 20).to_be_bytes()).await;
    learning.learn_from_nothing(&*before, &lo, &hi).await;
    assert_eq!(learning.value(&key(7)).await.as_deref(), Some(&b"+1"[..]));
    db.merge(key(7), b"+2").await.unwrap();
    learning.test.write_sst([key(1), key(19)]).await;
    learning.learn_from_nothing(&*before, &lo, &hi).await;
    assert_eq!(learning.value(&key(7)).await.as_deref(), Some(&b"+1+2"[..]));
    assert!(learning.lacuna().stats().gaps.refuted >= 2, "{}", learning.lacuna().stats());
}
