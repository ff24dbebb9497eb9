//! Insertion into a table of a given load, beside a standard Bloom filter of 11 bits a key.
//!
//! Both get the hashes ready-made and take as many as they can at a time. The Bloom filter sets its eight bits, each of
//! which is a cache miss of its own in a large filter; the cuckoo table looks into two buckets and moves what is in the way.

#![expect(clippy::cast_possible_truncation, reason = "counts of keys in memory")]

use std::hint::black_box;
use std::ops::Range;

use lacuna_base::Result;
use lacuna_base::hash::{IntegerHasher, reduce};
use lacuna_families::CuckooTable;

use lacuna_bench::harness::WorkClock;

/// Bits per key of the Bloom filter: a table of 10-bit fingerprints at 95 % load takes 10.5.
const BITS: f64 = 11.0;
/// Share of the slots that may be taken.
const FULL: f64 = 0.95;

/// Nanoseconds a key for 2 % more keys in a Bloom filter made for `keys`, once `load` of them are in.
pub fn bloom_insertion(keys: usize, load: f64, seed: u64) -> f64 {
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
    let before = (keys as f64 * load) as usize;
    hashes(seed, 0..before).iter().for_each(&mut insert);
    let more = hashes(seed, keys..keys + keys / 50);
    let clock = WorkClock::start();
    more.iter().for_each(&mut insert);
    let elapsed = clock.elapsed().as_nanos() as f64 / more.len() as f64;
    black_box(words);
    elapsed
}

/// Nanoseconds a key for `insert_all` with 2 % more keys into a table made for `keys`, from one percent below `load` of its
/// slots.
///
/// # Errors
/// As `insert_all`.
pub fn cuckoo_insertion(
    keys: usize,
    load: f64,
    seed: u64,
    insert_all: impl FnOnce(&mut CuckooTable, &[u64]) -> Result<u64>,
) -> Result<f64> {
    let mut table = CuckooTable::new(keys as u64, 10);
    // The table has keys / 0.95 slots.
    let from = (keys as f64 * (load - 0.01).max(0.0) / FULL) as usize;
    table.insert_all_mut(&hashes(seed, 0..from))?;
    let more = hashes(seed, keys..keys + keys / 50);
    let clock = WorkClock::start();
    insert_all(&mut table, &more)?;
    Ok(clock.elapsed().as_nanos() as f64 / more.len() as f64)
}

fn hashes(seed: u64, keys: Range<usize>) -> Vec<u64> {
    let hasher = IntegerHasher::new(seed);
    keys.map(|key| hasher.hash(key as u64)).collect()
}
