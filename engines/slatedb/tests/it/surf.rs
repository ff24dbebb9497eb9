//! SuRF over byte keys as they are: composite keys of any length, asked by point, range and prefix.

use std::ops::Bound::{Excluded, Included, Unbounded};

use lacuna_base::ByteRange;
use lacuna_workload::Rng;
use slatedb::IterationOrder;
use slatedb::config::ScanOptions;

use crate::support::{TestDb, rows};

const SPECS: [&str; 4] =
    ["surf@24", "surf:real=8@48 codec=bytes", "surf:hash=4@40", "surf:hash=4,real=4,cut@12 codec=bytes"];
const SSTS: usize = 6;

/// Hosts written from the right, with a path after some of them; every key another one's prefix now and then.
fn keys() -> Vec<Vec<u8>> {
    let mut rng = Rng::new(77);
    let (tops, names) =
        (["gov.", "com.", "org.", "gov.nasa."], ["data", "www", "mars", "x", "archive", "dataset"]);
    let mut keys = Vec::new();
    for _ in 0..1_200 {
        let mut key = [tops[rng.index(4)], names[rng.index(6)], names[rng.index(6)]].concat();
        if rng.below(2) == 0 {
            key.push_str(&format!("/{:04}", rng.below(4_000)));
        }
        keys.push(key.into_bytes());
    }
    keys.sort();
    keys.dedup();
    keys
}

/// The even keys, dealt out to overlapping SSTs, and the odd ones, which are not there.
async fn open(spec: &str) -> (TestDb, Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let (present, absent): (Vec<_>, Vec<_>) =
        keys().into_iter().enumerate().partition(|(place, _)| place % 2 == 0);
    let [present, absent] =
        [present, absent].map(|keys| keys.into_iter().map(|(_, key)| key).collect::<Vec<_>>());
    let test = TestDb::parse(spec).await;
    for sst in 0..SSTS {
        test.write_sst(present.iter().skip(sst).step_by(SSTS)).await;
    }
    let stats = test.lacuna().stats();
    assert_eq!((stats.built, stats.build_failures), (SSTS as u64, 0), "{spec}\n{stats}");
    (test, present, absent)
}

/// Fewest SSTs that are skipped by `questions`; a trie cut to a few levels skips few.
fn min(spec: &str, questions: usize) -> u64 {
    (if spec.contains("cut") { questions / 20 } else { questions }) as u64
}

#[tokio::test]
async fn surf_points_are_answered() {
    for spec in SPECS {
        let (test, present, absent) = open(spec).await;
        for key in &present {
            assert!(test.db.get(key).await.unwrap().is_some(), "{spec}: {key:?}");
        }
        let before = test.lacuna().stats().skipped();
        for key in &absent {
            assert!(test.db.get(key).await.unwrap().is_none(), "{spec}: {key:?}");
        }
        let skipped = test.lacuna().stats().skipped() - before;
        assert!(skipped > min(spec, absent.len()), "{spec}: {skipped} of {} times {SSTS}", absent.len());
    }
}

#[tokio::test]
async fn surf_ranges_read_what_is_there() {
    for spec in SPECS {
        let (test, present, absent) = open(spec).await;
        for (place, pair) in absent.windows(2).enumerate() {
            let (lo, hi) = (&pair[0][..], &pair[1][..]);
            let (lo, hi) =
                [(Included(lo), Excluded(hi)), (Excluded(lo), Included(hi)), (Included(lo), Unbounded)]
                    [place % 7 % 3];
            // Open ends read half of the data, so only a few of them are asked.
            if hi == Unbounded && place % 50 != 2 {
                continue;
            }
            let range = ByteRange::from_bounds(lo, hi).unwrap();
            let wanted: Vec<&Vec<u8>> = present.iter().filter(|key| range.contains(key)).collect();
            let descending = ScanOptions { order: IterationOrder::Descending, ..ScanOptions::default() };
            for options in [ScanOptions::default(), descending] {
                let is_descending = matches!(options.order, IterationOrder::Descending);
                let mut found = rows(test.db.scan_with_options((lo, hi), &options).await.unwrap()).await;
                if is_descending {
                    found.reverse();
                }
                assert!(found.iter().map(|(key, _)| key).eq(wanted.iter().copied()), "{spec}: {range:?}");
            }
        }
        let stats = test.lacuna().stats();
        assert!(stats.skipped() > min(spec, 2 * absent.len()), "{spec}\n{stats}");
    }
}

#[tokio::test]
async fn surf_prefix_scans_skip_what_is_elsewhere() {
    for spec in SPECS {
        let (test, present, absent) = open(spec).await;
        let mut empty = 0;
        for key in present.iter().chain(&absent).step_by(3) {
            for len in [1, 4, key.len() / 2 + 2, key.len() - 1, key.len()] {
                let prefix = &key[..len];
                let wanted: Vec<&Vec<u8>> = present.iter().filter(|key| key.starts_with(prefix)).collect();
                let found = rows(test.db.scan_prefix(prefix, ..).await.unwrap()).await;
                assert!(found.iter().map(|(key, _)| key).eq(wanted.iter().copied()), "{spec}: {prefix:?}");
                empty += usize::from(found.is_empty());
            }
        }
        let skipped = test.lacuna().stats().skipped();
        assert!(
            empty > 20 && skipped > min(spec, empty),
            "{spec}: {skipped} SSTs skipped, {empty} empty scans"
        );
    }
}
