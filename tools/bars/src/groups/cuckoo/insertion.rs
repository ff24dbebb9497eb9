//! Insertion while 89 to 91 % of a table's slots are taken, in insertions into a standard Bloom filter of 11 bits a key.
//!
//! Both get the hashes ready-made and take as many as they can at a time. The Bloom filter sets its eight bits, each of
//! which is a cache miss of its own in a large filter; the cuckoo table looks into two buckets and moves what is in the way.

#![expect(clippy::cast_possible_truncation, reason = "counts of keys in memory, and times")]

use std::hint::black_box;
use std::ops::Range;
use std::time::Instant;

use lacuna_bench::statistics::median;
use lacuna_core::Result;
use lacuna_core::hash::{IntegerHasher, reduce};
use lacuna_filters::CuckooTable;

use super::BITS;
use crate::bar::Bar;
use crate::bar::Limit::{AtMost, None};
use crate::console::Console;
use crate::setting::Setting;

type InsertAll = fn(&mut CuckooTable, &[u64]) -> Result<u64>;

/// The ways to insert: by an only owner, many at once or one by one, and beside readers.
const WAYS: [(&str, InsertAll); 4] = [
    ("owned, many", |table, hashes| table.insert_all_mut(hashes)),
    ("owned, one by one", |table, hashes| {
        hashes.iter().map(|&hash| table.insert_mut(hash).map(u64::from)).sum()
    }),
    ("shared, many", |table, hashes| table.insert_all(hashes)),
    ("shared, one by one", |table, hashes| {
        hashes.iter().map(|&hash| table.insert(hash).map(u64::from)).sum()
    }),
];

/// Measures all ways; the bar is for an owner.
pub(super) fn bars(setting: &Setting, console: &mut Console) -> Vec<Bar> {
    let (keys, of) = (setting.speed_keys(), setting.query_rounds());
    let mut times: [Vec<f64>; 5] = Default::default();
    for round in 0..of {
        console.say(&format!("cuckoo: insertion, round {} of {of}", round + 1));
        let seed = setting.seed + round as u64;
        times[0].push(bloom(keys, seed));
        for (times, (_, insert_all)) in times[1..].iter_mut().zip(WAYS) {
            times.push(cuckoo(keys, seed, insert_all));
        }
    }
    let [bloom, cuckoos @ ..] = &times;
    let bar = |((name, _), cuckoo): (&(&str, InsertAll), &Vec<f64>)| {
        let ratios: Vec<f64> = cuckoo.iter().zip(bloom).map(|(cuckoo, bloom)| cuckoo / bloom).collect();
        let (value, beside) = (format!("{:.1} ns", median(cuckoo)), format!("bloom {:.1} ns", median(bloom)));
        let limit = if name.starts_with("owned") { AtMost(3.0) } else { None };
        Bar::number(format!("cuckoo insertion at 90 % load, {name}"), value, beside, median(&ratios), limit)
    };
    WAYS.iter().zip(cuckoos).map(bar).collect()
}

fn bloom(keys: usize, seed: u64) -> f64 {
    let bit_count = (keys as f64 * BITS) as u64;
    let hash_count = (BITS * std::f64::consts::LN_2).round() as u32;
    let mut words = vec![0u64; bit_count as usize / 64 + 1];
    let mut insert = |&hash: &u64| {
        let mut hash = hash;
        for _ in 0..hash_count {
            let place = reduce(hash, bit_count);
            words[(place >> 6) as usize] |= 1 << (place & 63);
            hash = hash.wrapping_mul(0xF135_7AEA_2E62_A9C5);
        }
    };
    let (before, more) = (hashes(seed, 0..keys * 9 / 10), hashes(seed, keys..keys + keys / 50));
    before.iter().for_each(&mut insert);
    let start = Instant::now();
    more.iter().for_each(&mut insert);
    let elapsed = start.elapsed().as_nanos() as f64 / more.len() as f64;
    black_box(words);
    elapsed
}

fn cuckoo(keys: usize, seed: u64, insert_all: InsertAll) -> f64 {
    let mut table = CuckooTable::new(keys as u64, 10);
    // The table has keys / 0.95 slots.
    let from = (keys as f64 * 0.89 / 0.95) as usize;
    let (before, more) = (hashes(seed, 0..from), hashes(seed, from..from + keys / 50));
    table.insert_all_mut(&before).expect("it grows");
    let start = Instant::now();
    insert_all(&mut table, &more).expect("it grows");
    start.elapsed().as_nanos() as f64 / more.len() as f64
}

fn hashes(seed: u64, keys: Range<usize>) -> Vec<u64> {
    let hasher = IntegerHasher::new(seed);
    keys.map(|key| hasher.hash(key as u64)).collect()
}
