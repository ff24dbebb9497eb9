//! What goes into a filter, how large it is, and when there is none.

use lacuna_base::Envelope;
use lacuna_slatedb::RangeFilters;
use slatedb::config::Settings;
use slatedb::{Filter, ValueDeletable};
use std::ops::Bound::Included;
use std::sync::Arc;

use crate::support::{TestDb, entry, point, quiet_settings, range, row, rows, tombstone};

const SPEC: &str = "grafite@14 codec=fixed_be:8";

fn key(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}

/// A filter over these rows, as its builder returns it.
fn build(spec: &str, rows: &[slatedb::RowEntry]) -> Arc<dyn Filter> {
    let mut builder = RangeFilters::parse(spec).unwrap().policies()[0].builder();
    rows.iter().for_each(|row| builder.add_entry(row));
    builder.build()
}

fn encoded(filter: &dyn Filter) -> Vec<u8> {
    let mut bytes = Vec::new();
    filter.encode(&mut bytes);
    bytes
}

#[test]
fn s1_tombstones_and_merge_operands_are_added() {
    let merge = row(&key(2 << 20), ValueDeletable::Merge(b"m".as_slice().into()));
    let filter = build(SPEC, &[entry(&key(0)), tombstone(&key(1 << 20)), merge, entry(&key(3 << 20))]);
    for number in 0..4u64 {
        assert!(filter.might_match(&point(&key(number << 20))), "{number}");
        let (lo, hi) = (key((number << 20).saturating_sub(9)), key((number << 20) + 9));
        assert!(filter.might_match(&range(Included(&lo), Included(&hi))), "{number}");
    }
    assert!(!filter.might_match(&range(Included(&key(5 << 18)), Included(&key((5 << 18) + 9)))));
}

#[tokio::test]
async fn s1_deleted_rows_stay_deleted() {
    let test = TestDb::parse(SPEC).await;
    test.write_sst((0..100).map(key)).await;
    test.db.delete(key(50)).await.unwrap();
    test.db.merge(key(60), b"+m").await.unwrap();
    test.flush().await;
    for _ in 0..2 {
        assert!(rows(test.db.scan(key(50)..=key(50)).await.unwrap()).await.is_empty());
        assert!(test.db.get(key(50)).await.unwrap().is_none());
        let merged = [b"v", &key(60)[..], b"+m"].concat();
        assert_eq!(rows(test.db.scan(key(60)..=key(60)).await.unwrap()).await, [(key(60).to_vec(), merged)]);
        test.compact(true).await;
    }
}

#[test]
fn s4_s6_size_and_clamp_are_exact() {
    for family in lacuna_families::FAMILIES {
        let rows: Vec<_> = (0..777u64).map(|number| entry(&key(number * 1_000))).collect();
        let filter = build(&format!("{}@14 codec=fixed_be:8", family.example), &rows);
        let clamped = filter.clamp_allocated_size();
        let bytes = encoded(&*filter);
        assert!(bytes.len() > 777, "{}", family.example);
        assert_eq!((filter.size(), clamped.size()), (bytes.len(), bytes.len()), "{}", family.example);
        assert_eq!(encoded(&*clamped), bytes, "{}", family.example);
    }
}

#[tokio::test]
async fn s5_one_filter_is_smaller_than_two_and_answers_points() {
    let lacuna = RangeFilters::parse(SPEC).unwrap();
    let both = RangeFilters::parse(SPEC).unwrap().with_slatedb_bloom(10).unwrap();
    let keys = || (0..2_000u64).map(|number| key(number * 1_000));
    let (one, two) = (TestDb::new(Some(lacuna)).await, TestDb::new(Some(both)).await);
    one.write_sst(keys()).await;
    two.write_sst(keys()).await;
    let (one_length, two_length) = (one.filter_lengths()[0], two.filter_lengths()[0]);
    assert!(one_length + 2_000 * 10 / 8 <= two_length, "{one_length} {two_length}");
    for number in 0..100 {
        assert!(one.db.get(key(number * 1_000 + 500)).await.unwrap().is_none());
    }
    assert!(one.lacuna().stats().skipped() >= 98, "{}", one.lacuna().stats());
}

#[tokio::test]
async fn s7_small_ssts_have_no_filter() {
    let settings = Settings { min_filter_keys: Settings::default().min_filter_keys, ..quiet_settings() };
    let test = TestDb::parse(SPEC).await;
    let test = TestDb::open(test.store, test.lacuna, settings).await;
    test.write_sst((0..999).map(key)).await;
    test.write_sst((0..1_000).map(key)).await;
    let mut lengths = test.filter_lengths();
    lengths.sort_unstable();
    assert!(lengths[0] == 0 && lengths[1] > 0, "{lengths:?}");
    assert_eq!(rows(test.db.scan(key(990)..).await.unwrap()).await.len(), 10);
}

#[tokio::test]
async fn s12_versions_of_one_key_count_once() {
    let filter = build(SPEC, &[entry(&key(7)), tombstone(&key(7)), entry(&key(7)), entry(&key(8))]);
    assert_eq!(Envelope::open(&encoded(&*filter)).unwrap().0.key_count, 2);

    let test = TestDb::parse(SPEC).await;
    let mut snapshots = Vec::new();
    for version in 0..20u64 {
        test.db.put(key(7), key(version)).await.unwrap();
        snapshots.push(test.db.snapshot().unwrap());
    }
    test.flush().await;
    test.compact(true).await;
    for (version, snapshot) in (0..).zip(&snapshots) {
        let found = rows(snapshot.scan(key(0)..key(9)).await.unwrap()).await;
        assert_eq!(found, [(key(7).to_vec(), key(version).to_vec())]);
    }
    assert_eq!(test.lacuna().stats().build_failures, 0, "{}", test.lacuna().stats());
}

#[test]
fn s13_estimates_bound_the_encoded_length() {
    for count in [0, 1, 2, 3, 100, 5_000usize] {
        for family in lacuna_families::FAMILIES {
            for codec in ["bytes", "fixed_be:8"] {
                // Without a higher cap: the estimate is that of the configured bits.
                let spec = format!("{}@14 cap=14 codec={codec}", family.example);
                let rows: Vec<_> = (0..count as u64).map(|number| entry(&key(number * number))).collect();
                let lacuna = RangeFilters::parse(&spec).unwrap();
                let estimate = lacuna.policies()[0].estimate_size(count);
                let length = build(&spec, &rows).size();
                assert!(length <= estimate, "{spec}, {count} keys: {length} > {estimate}");
            }
        }
    }
}

#[tokio::test]
async fn keys_the_codec_does_not_take_are_still_found() {
    let test = TestDb::parse(SPEC).await;
    test.write_sst([&b"eight by"[..], b"nine byte", b"ten bytes!"]).await;
    test.write_sst([&b"eight b2"[..]]).await;
    for key in [&b"eight by"[..], b"nine byte", b"ten bytes!", b"eight b2"] {
        assert_eq!(rows(test.db.scan(key..=key).await.unwrap()).await.len(), 1);
        assert!(test.db.get(key).await.unwrap().is_some());
    }
    let stats = test.lacuna().stats();
    assert_eq!((stats.build_failures, stats.built), (1, 1), "{stats}");
    let said = stats.check().unwrap_err().to_string();
    assert!(said.contains("1 filters were not built") && said.contains("a key has 9 bytes"), "{said}");
    test.compact(true).await;
    assert_eq!(rows(test.db.scan(..).await.unwrap()).await.len(), 4);
    assert_eq!(test.lacuna().stats().build_failures, 2);
}
