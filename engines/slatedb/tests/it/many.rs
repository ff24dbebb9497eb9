//! Many ranges in one call. That answers are right under random work is the business of `differential`.

use std::ops::Bound::{self, Excluded, Included, Unbounded};

use lacuna_slatedb::prefix_range;

use crate::support::TestDb;

/// Filters that deny all but one in millions of the absent prefixes.
const SPEC: &str = "prefix_bloom:bits=48@40 codec=fixed_be:8";

fn key(user: u64, row: u64) -> [u8; 8] {
    ((user << 16) | row).to_be_bytes()
}

/// All rows of a user.
fn user(number: u64) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
    prefix_range(&number.to_be_bytes()[2..])
}

#[tokio::test]
async fn absent_prefixes_make_no_object_reads() {
    let test = TestDb::parse(SPEC).await;
    for part in 0..4 {
        test.write_sst((part..4_000u64).step_by(4).map(|number| key(4 * number, 7))).await;
    }
    // What writing has left in the cache of blocks would hide reads.
    let test = test.reopen().await;
    let lacuna = test.lacuna();
    // The first question to an SST fetches its filter.
    assert_eq!(lacuna.contains_ranges(&test.db, [user(8_001)]).await.unwrap(), [false]);
    let warm = test.store.reads();
    let absent: Vec<u64> = (0..16_000).filter(|number| number % 4 != 0).take(10_000).collect();
    let found = lacuna.contains_ranges(&test.db, absent.iter().map(|&number| user(number))).await.unwrap();
    assert_eq!(found, [false; 10_000]);
    assert_eq!(test.store.reads(), warm);
    assert_eq!(lacuna.stats().empty_scans, 10_001);
    let present = (0..100).map(|number| user(4 * number));
    assert_eq!(lacuna.contains_ranges(&test.db, present).await.unwrap(), [true; 100]);
    assert!(test.store.reads().gets > warm.gets, "what is there was read");
}

#[tokio::test]
async fn answers_stand_in_the_order_of_the_ranges() {
    let test = TestDb::parse(SPEC).await;
    test.write_sst([key(1, 1), key(5, 1), key(9, 1)]).await;
    test.write_sst([key(2, 1), key(7, 1)]).await;
    test.db.put(key(6, 1), b"new").await.unwrap();
    test.db.delete(key(5, 1)).await.unwrap();
    let (lacuna, asked) = (test.lacuna(), [9, 5, 1, 6, 3, 2, 9, 200]);
    let expected = [true, false, true, true, false, true, true, false];
    assert_eq!(lacuna.contains_ranges(&test.db, asked.map(user)).await.unwrap(), expected);
    let snapshot = test.db.snapshot().unwrap();
    test.db.put(key(3, 1), b"new").await.unwrap();
    assert_eq!(lacuna.contains_ranges(&*snapshot, asked.map(user)).await.unwrap(), expected);
    let ranges = [
        (Included(key(3, 1)), Included(key(3, 1))),
        (Excluded(key(3, 1)), Excluded(key(5, 2))),
        (Included(key(9, 1)), Excluded(key(1, 1))),
        (Unbounded, Unbounded),
    ];
    assert_eq!(lacuna.contains_ranges(&test.db, ranges).await.unwrap(), [true, false, false, true]);
    let none = asked[..0].iter().map(|&number| user(number));
    assert!(lacuna.contains_ranges(&test.db, none).await.unwrap().is_empty());
}
