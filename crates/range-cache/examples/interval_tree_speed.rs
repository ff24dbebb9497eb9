//! The interval tree beside `BTreeMap`, in one run: overlap queries, insertion and removal.
//!
//! `cargo run --release -p lacuna-range-cache --example interval_tree_speed [intervals]`
//!
//! Bars: an overlap query costs at most 2.5 `BTreeMap` lookups and half a lookup a hit; insert and remove at most 2.5
//! `BTreeMap` inserts. Medians of nine interleaved rounds.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use lacuna_range_cache::{Interval, IntervalTree};
use lacuna_workload::Rng;

const SEED: u64 = 1;
const ROUNDS: usize = 9;
/// Operations of a round.
const OPERATIONS: usize = 100_000;

/// A bound of a test, made from an integer, in the same order.
trait Key: Ord + Clone {
    const NAME: &'static str;
    fn of(number: u64) -> Self;
}

impl Key for u64 {
    const NAME: &'static str = "8 bytes";
    fn of(number: u64) -> Self {
        number
    }
}

impl Key for [u8; 32] {
    const NAME: &'static str = "32 bytes";
    fn of(number: u64) -> Self {
        let mut key = *b"tenant-07/orders/--------.......";
        key[18..26].copy_from_slice(&number.to_be_bytes());
        key
    }
}

fn main() {
    let count =
        std::env::args().nth(1).map_or(1_000_000, |count| count.parse().expect("a number of intervals"));
    println!(
        "{:9} {:24} {:>6} {:>9} {:>9} {:>7} {:>7}",
        "keys", "intervals", "hits", "tree ns", "map ns", "ratio", "bar"
    );
    for (name, longest, long_share) in
        [("short", 1, 0), ("ten hits", 20, 0), ("hundred hits", 200, 0), ("one in 10,000 long", 1, 10_000)]
    {
        measure::<u64>(count, name, longest, long_share);
        measure::<[u8; 32]>(count, name, longest, long_share);
    }
}

/// Intervals start anywhere on a line on which two neighbours are 1,000 apart on average, and are up to `longest`
/// thousands long; one of `long_share` is up to a hundredth of the line long.
fn measure<K: Key>(count: usize, name: &str, longest: u64, long_share: u64) {
    let mut rng = Rng::new(SEED);
    let line = count as u64 * 1_000;
    let interval = |rng: &mut Rng| {
        let is_long = long_share > 0 && rng.below(long_share) == 0;
        let length = if is_long { line / 100 } else { longest * 1_000 };
        let start = rng.below(line);
        (start, start + rng.below(length))
    };
    let entries: Vec<(u64, u64)> = (0..count).map(|_| interval(&mut rng)).collect();
    let (mut tree, mut map) = (IntervalTree::<K, u32>::new(), BTreeMap::new());
    for (value, &(lo, hi)) in (0u32..).zip(&entries) {
        tree.insert(closed(lo, hi), value);
        map.insert(K::of(lo), u64::from(value));
    }
    let mut samples: [Vec<f64>; 6] = Default::default();
    let mut hits = 0;
    for round in 0..ROUNDS {
        let queries: Vec<(u64, u64)> = (0..OPERATIONS).map(|_| interval(&mut rng)).collect();
        let queries: Vec<Interval<K>> = queries.iter().map(|&(lo, _)| closed(lo, lo + 100)).collect();
        let present: Vec<K> = (0..OPERATIONS).map(|_| K::of(entries[rng.index(count)].0)).collect();
        let new: Vec<(u64, u64)> = (0..OPERATIONS).map(|_| interval(&mut rng)).collect();
        let new_keys: Vec<K> = new.iter().map(|&(lo, _)| K::of(lo)).collect();
        let new: Vec<Interval<K>> = new.iter().map(|&(lo, hi)| closed(lo, hi)).collect();
        let first = u32::try_from(count + round * OPERATIONS).expect("few values");
        samples[0].push(timed(|| {
            hits += queries.iter().map(|query| tree.overlapping(query).count()).sum::<usize>();
        }));
        samples[1].push(timed(|| {
            present.iter().for_each(|key| {
                black_box(map.get(key));
            });
        }));
        samples[2].push(timed(|| {
            for (value, interval) in (first..).zip(&new) {
                tree.insert(interval.clone(), value);
            }
        }));
        samples[3].push(timed(|| {
            for key in &new_keys {
                map.insert(key.clone(), 0);
            }
        }));
        samples[4].push(timed(|| {
            for (value, interval) in (first..).zip(&new) {
                assert!(tree.remove(interval, value));
            }
        }));
        samples[5].push(timed(|| {
            for key in &new_keys {
                black_box(map.remove(key));
            }
        }));
    }
    let [query, lookup, insert, map_insert, remove, map_remove] = samples.map(median);
    let hits = hits as f64 / (ROUNDS * OPERATIONS) as f64;
    let row = |what: &str, ours: f64, theirs: f64, bar: f64| {
        println!(
            "{:9} {:24} {hits:6.1} {ours:9.0} {theirs:9.0} {:7.2} {bar:7.2}{}",
            K::NAME,
            format!("{name}: {what}"),
            ours / theirs,
            if ours / theirs <= bar { "" } else { "  MISSED" }
        );
    };
    row("overlap", query, lookup, 2.5 + 0.5 * hits);
    row("insert", insert, map_insert, 2.5);
    row("remove", remove, map_insert, 2.5);
    println!(
        "{:9} BTreeMap remove {map_remove:.0} ns; {:.0} bytes an entry",
        K::NAME,
        tree.memory_bytes() as f64 / tree.len() as f64
    );
}

fn closed<K: Key>(lo: u64, hi: u64) -> Interval<K> {
    Interval::closed(K::of(lo), K::of(hi)).expect("lo <= hi")
}

/// Nanoseconds an operation.
fn timed(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_nanos() as f64 / OPERATIONS as f64
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
