//! What learned gaps save, and what learning costs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lacuna_rocksdb::GapOptions;
use lacuna_workload::Rng;

use crate::support::{BLIND, Learning, key};

fn bytes(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}

fn three_tables(options: GapOptions) -> Learning {
    let learning = Learning::with_options(BLIND, options);
    for first in 0..3 {
        learning.test.write_table((first..300).step_by(3).map(key));
    }
    learning
}

#[test]
fn a_learned_gap_answers_every_scan_inside() {
    let mut learning = three_tables(GapOptions::default());
    let base = 100u64 << 20;
    learning.learn_from_nothing(&bytes(base + 1_000), &bytes(base + 2_000));
    let before = learning.stats();
    assert_eq!((before.gaps.learned, before.gaps.refuted), (3, 0), "{before}");
    for lo in (1..900_000).step_by(7_919) {
        assert!(learning.keys(&bytes(base + lo), &bytes(base + lo + 100_000)).is_empty());
    }
    let after = learning.stats();
    assert_eq!(after.passed(), before.passed(), "no table was read again");
    assert_eq!(after.gaps.hints, before.gaps.hints);
    // Its neighbours are still there.
    assert_eq!(learning.keys(&key(100), &bytes(base + 9)), [key(100)]);
    assert_eq!(learning.keys(&bytes(base + 9), &bytes(101 << 20)), [key(101)]);
}

/// Many blocks, keys at all distances, every codec: what is learned reaches from neighbour to neighbour, and no further.
#[test]
fn gaps_reach_from_key_to_key_across_blocks() {
    let seed = 31;
    let mut rng = Rng::new(seed);
    let mut keys: Vec<u64> = (0..400).map(|_| rng.below(1 << 30) + (1 << 20)).collect();
    keys.sort_unstable();
    keys.dedup();
    for spec in [BLIND, "bloom@14 codec=bytes", "bloom@14 codec=head:8", "bloom@14 codec=composite:5,3"] {
        let mut learning = Learning::new(spec);
        for &key in &keys {
            learning.test.db.put(bytes(key), [7; 900]).unwrap();
        }
        learning.test.db.flush().unwrap();
        for pair in keys.windows(2).filter(|pair| pair[1] - pair[0] > 4) {
            let (lo, hi) = (pair[0] + 1, pair[1] - 1);
            learning.learn_from_nothing(&bytes(lo), &bytes(lo + 1));
            assert!(learning.keys(&bytes(lo), &bytes(hi)).is_empty(), "{spec}, seed {seed}");
            assert_eq!(learning.keys(&bytes(pair[0]), &bytes(hi)), [bytes(pair[0])], "{spec}, seed {seed}");
            assert_eq!(learning.keys(&bytes(lo), &bytes(pair[1])), [bytes(pair[1])], "{spec}, seed {seed}");
        }
        let stats = learning.stats();
        assert!(stats.gaps.learned > 100 || spec.contains("composite"), "{spec}: {stats}");
        assert_eq!((stats.gaps.failures, stats.gaps.unresolved), (0, 0), "{spec}: {stats}");
    }
}

#[test]
fn the_background_keeps_to_its_budget() {
    let reads_per_second = 40;
    let learning =
        three_tables(GapOptions::default().with_reads_per_second(reads_per_second).with_hints(1_000));
    for number in 0..200 {
        let base = number << 20;
        assert!(learning.keys(&bytes(base + 10), &bytes(base + 1_000)).is_empty());
    }
    let Learning { test, learner } = learning;
    let (stop, start) = (AtomicBool::new(false), Instant::now());
    std::thread::scope(|scope| {
        scope.spawn(|| learner.run(&test.db, &stop));
        let has_read = || test.lacuna.stats().filters.gaps.reads > 0;
        let (min, max) = (Duration::from_millis(1_500), Duration::from_secs(120));
        while start.elapsed() < min || (!has_read() && start.elapsed() < max) {
            std::thread::sleep(Duration::from_millis(50));
        }
        stop.store(true, Ordering::Relaxed);
    });
    let reads = test.lacuna.stats().filters.gaps.reads;
    // A second's worth is saved up, and the last hint is followed to its end.
    let max = f64::from(reads_per_second) * (1.0 + start.elapsed().as_secs_f64()) + 20.0;
    assert!(reads > 0 && (reads as f64) < max, "{reads} blocks of at most {max}");
}
