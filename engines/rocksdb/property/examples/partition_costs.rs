//! What partitions cost while a table is written: keys a second through the collector, whole and in partitions, in turn.
//!
//! `cargo run --release -p lacuna-rocksdb-property --example partition_costs [KEYS [SPEC]]`

use std::env;
use std::fs;
use std::time::Instant;

use lacuna_base::Result;
use lacuna_rocksdb_property::{Collector, PartitionStore, TableGuard};

const ROUNDS: usize = 5;

fn main() -> Result<()> {
    let mut words = env::args().skip(1);
    let keys = words.next().and_then(|keys| keys.parse().ok()).unwrap_or(1_000_000);
    let spec = words.next().unwrap_or_else(|| "grafite@14 codec=fixed_be:8".to_owned());
    let folder = env::temp_dir().join(format!("lacuna-costs-{}", std::process::id()));
    let whole = TableGuard::parse(&spec)?;
    let partitioned = TableGuard::parse(&spec)?.with_partitions(&PartitionStore::open(&folder, 64 << 20)?);
    for round in 0..ROUNDS {
        let [whole, partitioned] = [&whole, &partitioned].map(|guard| keys_per_second(guard, keys));
        println!(
            "round {round}: whole {whole:.0} keys/s, partitions {partitioned:.0} keys/s, ratio {:.2}",
            partitioned / whole
        );
    }
    println!("{}", partitioned.stats());
    fs::remove_dir_all(&folder).ok();
    Ok(())
}

fn keys_per_second(guard: &TableGuard, keys: u64) -> f64 {
    let start = Instant::now();
    let mut collector = Collector::new(guard, Some(0));
    for number in 0..keys {
        // Unevenly far from each other.
        let key = (number << 24) + ((number * 0x9E37) & 0xFF_FFFF);
        collector.add(Collector::PUT, &key.to_be_bytes());
    }
    let property = collector.finish();
    assert!(property.is_some(), "{}", guard.stats());
    keys as f64 / start.elapsed().as_secs_f64()
}
