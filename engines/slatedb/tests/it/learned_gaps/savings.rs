//! What learned gaps save, and what learning costs.

use std::time::{Duration, Instant};

use lacuna_slatedb::GapOptions;
use lacuna_workload::Rng;

use crate::support::{BLIND, Learning};

fn key(number: u64) -> [u8; 8] {
    (number << 20).to_be_bytes()
}

fn bytes(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}

async fn three_ssts(options: GapOptions) -> Learning {
    let learning = Learning::with_options(BLIND, options).await;
    for first in 0..3 {
        learning.test.write_sst((first..300).step_by(3).map(key)).await;
    }
    learning
}

#[tokio::test]
async fn a_learned_gap_answers_every_scan_inside() {
    let mut learning = three_ssts(GapOptions::default()).await;
    let db = learning.test.db.clone();
    let base = 100u64 << 20;
    learning.learn_from_nothing(&db, &bytes(base + 1_000), &bytes(base + 2_000)).await;
    let before = learning.lacuna().stats();
    assert_eq!((before.skipped_by_gap(), before.total().false_positives), (3, 3), "{before}");
    assert_eq!((before.gaps.hints, before.gaps.learned, before.gaps.refuted), (1, 3, 0), "{before}");
    for lo in (1..900_000).step_by(7_919) {
        assert!(learning.scan(&db, &bytes(base + lo), &bytes(base + lo + 100_000)).await.is_empty());
    }
    let after = learning.lacuna().stats();
    assert_eq!(after.passed(), before.passed(), "no file was read again");
    assert_eq!((after.gaps.hints, after.total().false_positives), (1, 3));
    // Its neighbours are still there.
    assert_eq!(learning.scan(&db, &key(100), &bytes(base + 9)).await, [key(100)]);
    assert_eq!(learning.scan(&db, &bytes(base + 9), &bytes((101 << 20) + 1)).await, [key(101)]);
}

/// Many blocks, keys at all distances: what is learned reaches from neighbour to neighbour, and no further.
#[tokio::test]
async fn gaps_reach_from_key_to_key_across_blocks() {
    let seed = 31;
    let mut rng = Rng::new(seed);
    let mut keys: Vec<u64> = (0..400).map(|_| rng.below(1 << 30) + (1 << 20)).collect();
    keys.sort_unstable();
    keys.dedup();
    for spec in [BLIND, "bloom@14 codec=bytes", "bloom@14 codec=head:8", "bloom@14 codec=composite:5,3"] {
        let mut learning = Learning::new(spec).await;
        for &key in &keys {
            learning.test.db.put(bytes(key), vec![7; 900]).await.unwrap();
        }
        learning.test.flush().await;
        let db = learning.test.db.clone();
        for _ in 0..150 {
            let above = 1 + rng.index(keys.len() - 1);
            let (below, above) = (keys[above - 1], keys[above]);
            if above - below < 300 {
                continue;
            }
            let lo = below + 1 + rng.below((above - below) / 2);
            learning
                .learn_from_nothing(&db, &bytes(lo), &bytes(lo + rng.between(100, (above - below) / 2 - 1)))
                .await;
            let passed = learning.lacuna().stats().passed();
            assert!(learning.scan(&db, &bytes(below + 1), &bytes(above)).await.is_empty());
            assert_eq!(learning.lacuna().stats().passed(), passed, "{spec}: {below} to {above}, seed {seed}");
            assert_eq!(
                learning.scan(&db, &bytes(below), &bytes(above + 1)).await,
                [bytes(below), bytes(above)]
            );
        }
        let stats = learning.lacuna().stats();
        assert!(
            stats.gaps.learned > 50 && stats.gaps.failures + stats.gaps.unresolved == 0,
            "{spec}: {stats}"
        );
        let max = 1 + 3 * stats.gaps.learned + 400;
        assert!(stats.gaps.reads <= max, "{spec}: one tag, indexes, at most three blocks a look: {stats}");
    }
}

/// The same scan over a deleted key is looked into once, however often it comes.
#[tokio::test]
async fn what_is_no_gap_is_not_read_again() {
    let mut learning = three_ssts(GapOptions::default()).await;
    let db = learning.test.db.clone();
    db.delete(key(100)).await.unwrap();
    learning.test.write_sst([key(0), key(299)]).await;
    let (lo, hi) = (bytes((100 << 20) - 1_000), bytes((100 << 20) + 1_000));
    learning.learn_from_nothing(&db, &lo, &hi).await;
    let before = learning.lacuna().stats().gaps;
    assert_eq!((before.learned, before.refuted), (2, 2), "the value's file and the tombstone's: {before}");
    for _ in 0..20 {
        learning.learn_from_nothing(&db, &lo, &hi).await;
    }
    let after = learning.lacuna().stats().gaps;
    assert_eq!((after.reads, after.refuted), (before.reads, before.refuted), "{after}");
}

#[tokio::test]
async fn the_background_learns_within_its_budget() {
    let options = GapOptions::default().with_reads_per_second(5).with_hints(4);
    let Learning { test, learner } = three_ssts(options).await;
    let start = Instant::now();
    let background = tokio::spawn({
        let db = test.db.clone();
        async move { learner.run(&db).await }
    });
    let scan = |number: u64| {
        let test = &test;
        async move {
            let (lo, hi) = (bytes((number << 20) + 1_000), bytes((number << 20) + 2_000));
            assert!(test.lacuna().scan(&test.db, lo..hi).await.unwrap().next().await.unwrap().is_none());
        }
    };
    for number in 0..60 {
        scan(number).await;
    }
    while test.lacuna().stats().gaps.learned == 0 {
        assert!(start.elapsed() < Duration::from_secs(120), "{}", test.lacuna().stats().gaps);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tokio::time::sleep(Duration::from_millis(700)).await;
    background.abort();
    let counts = test.lacuna().stats().gaps;
    // A second's worth is saved up, and the file that was being read is read to its end.
    let saved_up = 5.0 * (1.0 + start.elapsed().as_secs_f64());
    let max = saved_up + 6.0;
    assert!((counts.reads as f64) <= max, "at most {max}: {counts}");
    // Each that was followed made room for another, and took a read at least.
    let max = saved_up + 7.0;
    assert!(counts.hints_dropped > 0 && (counts.hints as f64) <= max, "four wait at most: {counts}");
}

#[tokio::test]
async fn without_being_asked_nothing_is_learned() {
    let test = crate::support::TestDb::parse(BLIND).await;
    test.write_sst((0..50).map(key)).await;
    let tagged = three_ssts(GapOptions::default()).await;
    let (lo, hi) = (bytes((5 << 20) + 1_000), bytes((5 << 20) + 2_000));
    assert!(test.lacuna().scan(&test.db, lo..hi).await.unwrap().next().await.unwrap().is_none());
    assert!(test.lacuna().learned_gaps().is_none() && test.lacuna().stats().gaps.hints == 0);
    assert!(lacuna_slatedb::GapLearner::new(test.lacuna(), "db", test.object_store()).is_err());
    assert!(tagged.lacuna().learned_gaps().is_some());
}
