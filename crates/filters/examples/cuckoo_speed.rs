//! Speed of the cuckoo filter in standard Blooms: lookups of absent and present keys, and insertion of ready-made hashes
//! while 89 to 91 % of the slots are taken.
//!
//! `cargo run --release -p lacuna-filters --example cuckoo_speed [keys] [bits per key]`

#![expect(clippy::cast_possible_truncation, reason = "counts of keys in memory, and times")]

use std::hint::black_box;
use std::time::Instant;

use lacuna_core::hash::{IntegerHasher, reduce};
use lacuna_core::{Budget, BuildPlan, DynFilter, Result, SortedKeys};
use lacuna_filters::CuckooTable;
use lacuna_workload::Rng;

const QUERIES: usize = 1 << 18;
const ROUNDS: usize = 11;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let count =
        arguments.next().and_then(|text| lacuna_workload::parse_count(&text).ok()).unwrap_or(1_000_000);
    let bits: f64 = arguments.next().map_or(11.0, |text| text.parse().expect("a number"));
    let mut rng = Rng::new(1);
    let mut keys: Vec<u64> = (0..count).map(|_| rng.next_u64()).collect();
    keys.sort_unstable();
    keys.dedup();
    let plan = BuildPlan::new(Budget::bits_per_key(bits)?).with_seed(1);
    let build = |spec: &str| {
        let sealed = lacuna_filters::spec::<u64>(spec)?.build(SortedKeys::integers(&keys)?, &plan)?;
        lacuna_filters::open::<u64, _>(sealed.into_bytes())
    };
    let (bloom, cuckoo) = (build("bloom")?, build("cuckoo")?);
    let hasher = IntegerHasher::new(1);
    let table = CuckooTable::new(keys.len() as u64, 10);
    keys.iter().for_each(|&key| insert(&table, hasher.hash(key)));
    let absent: Vec<u64> = (0..QUERIES).map(|_| rng.next_u64()).collect();
    let present: Vec<u64> = (0..QUERIES).map(|_| keys[rng.index(keys.len())]).collect();
    let mut times: [Vec<f64>; 11] = Default::default();
    for round in 0..ROUNDS {
        let live = |key: u64| table.may_contain(hasher.hash(key));
        let measured = [
            asked(&absent, |key| may_contain(&*bloom, key)),
            asked(&absent, |key| may_contain(&*cuckoo, key)),
            asked(&absent, live),
            asked(&present, |key| may_contain(&*bloom, key)),
            asked(&present, |key| may_contain(&*cuckoo, key)),
            asked(&present, live),
            bloom_inserts(keys.len(), bits, round as u64),
            cuckoo_inserts(keys.len() as u64, round as u64, |table, hashes| {
                hashes.iter().for_each(|&hash| insert(table, hash));
            }),
            cuckoo_inserts(keys.len() as u64, round as u64, |table, hashes| {
                hashes.iter().for_each(|&hash| assert!(table.insert_mut(hash).is_ok()));
            }),
            cuckoo_inserts(keys.len() as u64, round as u64, |table, hashes| {
                assert!(table.insert_all(hashes).is_ok());
            }),
            cuckoo_inserts(keys.len() as u64, round as u64, |table, hashes| {
                assert!(table.insert_all_mut(hashes).is_ok());
            }),
        ];
        times.iter_mut().zip(measured).for_each(|(times, time)| times.push(time));
    }
    let medians = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    println!("{count} keys, {bits} bits a key            bloom     cuckoo   (ratio)     live   (ratio)");
    for (name, at) in [("absent key, ns", 0), ("present key, ns", 3)] {
        let [bloom, cuckoo, live] = [0, 1, 2].map(|next| medians[at + next]);
        println!(
            "{name:28} {bloom:10.1} {cuckoo:10.1}   ({:4.2}) {live:9.1}   ({:4.2})",
            cuckoo / bloom,
            live / bloom
        );
    }
    let bloom = medians[6];
    println!("insertion at 90 % load, ns   {bloom:10.1}");
    for (way, cuckoo) in ["shared", "owned", "shared, many", "owned, many"].iter().zip(&medians[7..]) {
        println!("    {way:24} {:>21.1}   ({:4.2})", cuckoo, cuckoo / bloom);
    }
    Ok(())
}

fn may_contain(filter: &DynFilter<u64>, key: u64) -> bool {
    filter.may_contain(key)
}

/// Nanoseconds a question, each of which waits for the answer before it.
fn asked(keys: &[u64], may_contain: impl Fn(u64) -> bool) -> f64 {
    let start = Instant::now();
    let mut answer = 0;
    for key in keys {
        answer = u64::from(may_contain(key.wrapping_add(answer >> 1)));
    }
    black_box(answer);
    start.elapsed().as_nanos() as f64 / keys.len() as f64
}

/// Nanoseconds to set the bits of a key in a standard Bloom filter, its hash at hand.
fn bloom_inserts(keys: usize, bits: f64, seed: u64) -> f64 {
    let bit_count = (keys as f64 * bits) as u64;
    let hash_count = (bits * std::f64::consts::LN_2).round() as u32;
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

/// Nanoseconds to insert a key whose hash is at hand while 89 to 91 % of the slots are taken.
fn cuckoo_inserts(keys: u64, seed: u64, insert_all: impl FnOnce(&mut CuckooTable, &[u64])) -> f64 {
    let mut table = CuckooTable::new(keys, 10);
    // The table has keys / 0.95 slots.
    let from = (keys as f64 * 0.89 / 0.95) as usize;
    let (before, more) = (hashes(seed, 0..from), hashes(seed, from..from + keys as usize / 50));
    assert!(table.insert_all_mut(&before).is_ok());
    let start = Instant::now();
    insert_all(&mut table, &more);
    start.elapsed().as_nanos() as f64 / more.len() as f64
}

fn hashes(seed: u64, keys: std::ops::Range<usize>) -> Vec<u64> {
    let hasher = IntegerHasher::new(seed);
    keys.map(|key| hasher.hash(key as u64)).collect()
}

fn insert(table: &CuckooTable, hash: u64) {
    table.insert(hash).expect("it grows");
}
