//! Insertion while 89 to 91 % of a table's slots are taken, in insertions into a standard Bloom filter of 11 bits a key.

use crate::node_costs::{bloom_insertion, cuckoo_insertion};
use lacuna_base::Result;
use lacuna_bench::statistics::median;
use lacuna_families::CuckooTable;

use crate::bars::bar::Bar;
use crate::bars::bar::Limit::{AtMost, None};
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

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
pub(super) fn bars(setting: &Setting, progress: &Progress) -> Vec<Bar> {
    let (keys, of) = (setting.speed_keys(), setting.query_rounds());
    let mut times: [Vec<f64>; 5] = Default::default();
    for round in 0..of {
        progress.say(format!("cuckoo: insertion, round {} of {of}", round + 1));
        let seed = setting.seed + round as u64;
        times[0].push(bloom_insertion(keys, 0.9, seed));
        for (times, (_, insert_all)) in times[1..].iter_mut().zip(WAYS) {
            times.push(cuckoo_insertion(keys, 0.9, seed, insert_all).expect("it grows"));
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
