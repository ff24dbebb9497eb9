//! Which questions a filter is asked.

use std::ops::Bound::{self, Excluded, Included, Unbounded};
use std::sync::Arc;

use bytes::Bytes;
use lacuna_base::ByteRange;
use lacuna_slatedb::RangeFilters;
use slatedb::admin::{Admin, CloneSourceSpec};
use slatedb::{BloomFilterPolicy, Db, FilterQuery, PrefixExtractor, PrefixTarget};

use crate::support::{TestDb, entry, range, rows};

const SPECS: [&str; 3] =
    ["grafite@14 codec=fixed_be:8", "bucketing@14 codec=bytes", "grafite@14 codec=composite:7,1"];

fn key(number: u64) -> [u8; 8] {
    (number * 4).to_be_bytes()
}

/// The nine pairs of bounds at two ends.
fn nine_pairs<'a>(lo: &'a [u8], hi: &'a [u8]) -> impl Iterator<Item = (Bound<&'a [u8]>, Bound<&'a [u8]>)> {
    let los = [Included(lo), Excluded(lo), Unbounded];
    los.into_iter().flat_map(move |lo| [Included(hi), Excluded(hi), Unbounded].map(|hi| (lo, hi)))
}

/// Scans must give what a plain look at all keys gives.
async fn check(test: &TestDb, all: &[[u8; 8]], lo: Bound<&[u8]>, hi: Bound<&[u8]>) {
    let Some(wanted) = ByteRange::from_bounds(lo, hi) else {
        let mut found = test.lacuna().scan(&test.db, (lo, hi)).await.unwrap();
        assert!(found.next().await.unwrap().is_none(), "{lo:x?} {hi:x?}");
        return;
    };
    let found = rows(test.db.scan((lo, hi)).await.unwrap()).await;
    let found = found.iter().map(|(key, _)| &key[..]);
    let wanted = all.iter().filter(|key| wanted.contains(&key[..])).map(|key| &key[..]);
    assert!(found.eq(wanted), "{}: {lo:x?} {hi:x?}", test.lacuna().spec());
}

#[tokio::test]
async fn s15_all_nine_pairs_of_bounds() {
    for spec in SPECS {
        let test = TestDb::parse(spec).await;
        let all: Vec<[u8; 8]> = (1..60).map(key).collect();
        test.write_sst(all.iter().step_by(2)).await;
        test.write_sst(all.iter().skip(1).step_by(2)).await;
        for lo in (0..250u64).step_by(3) {
            for hi in [lo, lo + 1, lo + 2, lo + 5, lo + 30, lo.saturating_sub(2)] {
                for (lo, hi) in nine_pairs(&lo.to_be_bytes(), &hi.to_be_bytes()) {
                    check(&test, &all, lo, hi).await;
                }
            }
        }
        assert!(test.lacuna().stats().skipped() > 0, "{spec}");
    }
}

#[test]
fn s15_empty_ranges_are_no_trouble() {
    for spec in SPECS {
        let mut builder = RangeFilters::parse(spec).unwrap().policies()[0].builder();
        builder.add_entry(&entry(&key(5)));
        let filter = builder.build();
        for (lo, hi) in nine_pairs(&key(9), &key(3)) {
            let inverted = !matches!((lo, hi), (Unbounded, _) | (_, Unbounded));
            let answer = filter.might_match(&range(lo, hi));
            assert!(!(inverted && answer) || spec.contains("composite"), "{spec}: {lo:x?} {hi:x?}");
        }
        assert!(filter.might_match(&range(Unbounded, Unbounded)));
    }
}

#[tokio::test]
async fn s16_bounds_of_any_length() {
    for spec in SPECS {
        let test = TestDb::parse(spec).await;
        let all: Vec<[u8; 8]> = (1..60).map(key).collect();
        test.write_sst(&all).await;
        let long = |number: u64, tail: &[u8]| [&key(number)[..], tail].concat();
        let ends: Vec<Vec<u8>> = vec![
            vec![0],
            vec![1],
            vec![0; 7],
            vec![0; 9],
            vec![0xFF; 12],
            key(7)[..7].to_vec(),
            key(7).to_vec(),
            long(7, b"\0"),
            long(7, b"\xFF\xFF"),
            long(8, b""),
            long(8, b"\0\0"),
        ];
        for lo in &ends {
            for hi in &ends {
                for (lo, hi) in nine_pairs(lo, hi) {
                    check(&test, &all, lo, hi).await;
                }
            }
        }
    }
}

#[tokio::test]
async fn s14_projected_clones_show_their_part() {
    let test = TestDb::parse("grafite@14 codec=fixed_be:8").await;
    test.write_sst((0..1_000).map(key)).await;
    test.write_sst((1_000..2_000).map(key)).await;
    // A projected clone may have nothing to replay: the last flush must come after that of the write-ahead log.
    test.db.put(key(0), b"again").await.unwrap();
    test.db.flush().await.unwrap();
    test.flush().await;
    test.db.close().await.unwrap();
    let part = (Included(Bytes::copy_from_slice(&key(500))), Excluded(Bytes::copy_from_slice(&key(1_500))));
    let source = CloneSourceSpec { path: "db".into(), checkpoint: None, projection_range: Some(part) };
    let admin = Admin::builder("clone", test.object_store()).build();
    admin.create_clone_builder_from_source(source).build().await.unwrap();

    let builder = Db::builder("clone", test.object_store()).with_settings(test.settings.clone());
    let clone = test.lacuna().install(builder).build().await.unwrap();
    let found = rows(clone.scan(..=[0xFF; 8]).await.unwrap()).await;
    assert!(
        found.iter().map(|(key, _)| &key[..]).eq((500..1_500)
            .map(key)
            .collect::<Vec<_>>()
            .iter()
            .map(|key| &key[..]))
    );
    for number in (400..1_600).step_by(7) {
        let found = rows(clone.scan(key(number)..=key(number)).await.unwrap()).await;
        assert_eq!(found.len(), usize::from((500..1_500).contains(&number)), "{number}");
        let (lo, hi) = (number * 4 + 1, number * 4 + 3);
        assert!(rows(clone.scan(lo.to_be_bytes()..=hi.to_be_bytes()).await.unwrap()).await.is_empty());
    }
    assert!(test.lacuna().stats().skipped() > 100, "{}", test.lacuna().stats());
    clone.close().await.unwrap();
}

/// Everything up to and with the first colon.
#[derive(Debug)]
struct UpToColon;

impl PrefixExtractor for UpToColon {
    fn name(&self) -> &str {
        "up_to_colon"
    }
    fn prefix_len(&self, target: &PrefixTarget) -> Option<usize> {
        let (PrefixTarget::Point(bytes) | PrefixTarget::Prefix(bytes)) = target;
        bytes.iter().position(|&byte| byte == b':').map(|place| place + 1)
    }
}

#[tokio::test]
async fn prefix_scans_are_answered_however_they_come() {
    let bloom = BloomFilterPolicy::new(10).with_prefix_extractor(Arc::new(UpToColon));
    let alone = RangeFilters::parse("bucketing@24").unwrap();
    let beside = RangeFilters::parse("bucketing@24").unwrap().with_policy(Arc::new(bloom)).unwrap();
    for lacuna in [alone, beside] {
        let test = TestDb::new(Some(lacuna)).await;
        test.write_sst((0..500u32).map(|number| format!("user{:04}:name", number * 7))).await;
        for number in 0..500u32 {
            let prefix = format!("user{number:04}:");
            let found = rows(test.db.scan_prefix(prefix.as_bytes(), ..).await.unwrap()).await;
            assert_eq!(found.len(), usize::from(number % 7 == 0), "{prefix}");
        }
        assert!(test.lacuna().stats().skipped() > 300, "{}", test.lacuna().stats());
    }
}

#[test]
fn prefixes_of_keys_are_never_denied() {
    for spec in SPECS {
        let mut builder = RangeFilters::parse(spec).unwrap().policies()[0].builder();
        (0..300).for_each(|number| builder.add_entry(&entry(&key(number))));
        let filter = builder.build();
        for number in 0..300 {
            for length in 0..=8 {
                let prefix = Bytes::copy_from_slice(&key(number)[..length]);
                assert!(filter.might_match(&FilterQuery::prefix(prefix)), "{spec}: {number}, {length} bytes");
            }
        }
        let behind = Bytes::from_static(b"\xFF\xFFbehind all");
        assert!(!filter.might_match(&FilterQuery::prefix(behind)), "{spec}");
    }
}
