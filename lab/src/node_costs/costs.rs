//! The costs of node filters in one list, each beside its bar.

use lacuna_base::Result;
use lacuna_base::hash::IntegerHasher;
use lacuna_families::CuckooTable;
use serde::Serialize;

use super::{bloom_insertion, cuckoo_insertion, exchange_costs};
use lacuna_bench::statistics::median;

/// False positive rates of filters whose size is shown.
const RATES: [f64; 3] = [0.01, 0.001, 0.0001];
/// Questions for a rate.
const QUESTIONS: u64 = 1_000_000;
/// Rounds of insertion.
const ROUNDS: u64 = 9;

/// Something measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    /// The name of the cost.
    pub what: String,
    /// How much.
    pub value: f64,
    /// Of what.
    pub unit: &'static str,
    /// The most that the project allows itself, in the same unit.
    pub bar: Option<f64>,
}

/// Measures all costs with filters of `keys` keys. `say` is called with what is being done.
///
/// # Errors
/// As [`CuckooTable::insert_mut`].
pub fn costs(keys: usize, seed: u64, say: &mut dyn FnMut(&str)) -> Result<Vec<Cost>> {
    let mut costs = Vec::new();
    for rate in RATES {
        say(&format!("a filter at {rate}"));
        costs.extend(space(keys as u64, rate, seed)?);
    }
    say("insertion");
    costs.extend(insertion(keys, seed)?);
    say("the exchange");
    costs.extend(exchange(keys as u64));
    Ok(costs)
}

fn cost(what: impl Into<String>, value: f64, unit: &'static str, bar: Option<f64>) -> Cost {
    Cost { what: what.into(), value, unit, bar }
}

fn space(keys: u64, rate: f64, seed: u64) -> Result<[Cost; 2]> {
    let (mut table, hasher) = (CuckooTable::for_rate(keys, rate), IntegerHasher::new(seed));
    for key in 0..keys {
        table.insert_mut(hasher.hash(key))?;
    }
    let bits = table.memory_bytes() as f64 * 8.0 / keys as f64;
    let maybe = (keys..keys + QUESTIONS).filter(|key| table.may_contain(hasher.hash(*key))).count();
    let ideal = ((1.0 / rate).log2() + 3.0) / 0.95;
    Ok([
        cost(format!("filter at {rate}, memory"), bits, "bits a key", Some(1.1 * ideal)),
        cost(
            format!("filter at {rate}, false positives"),
            maybe as f64 / QUESTIONS as f64,
            "of absent keys",
            None,
        ),
    ])
}

fn insertion(keys: usize, seed: u64) -> Result<[Cost; 3]> {
    let (mut blooms, mut cuckoos, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for seed in seed..seed + ROUNDS {
        let bloom = bloom_insertion(keys, 0.9, seed);
        let cuckoo = cuckoo_insertion(keys, 0.9, seed, CuckooTable::insert_all_mut)?;
        blooms.push(bloom);
        cuckoos.push(cuckoo);
        ratios.push(cuckoo / bloom);
    }
    Ok([
        cost("insertion into a standard Bloom filter of 11 bits", median(&blooms), "ns a key", None),
        cost("insertion, many at once, into a cuckoo table at 90 % load", median(&cuckoos), "ns a key", None),
        cost("the same", median(&ratios), "Bloom insertions", Some(3.0)),
    ])
}

fn exchange(keys: u64) -> Vec<Cost> {
    let costs = exchange_costs(keys, 0.01);
    vec![
        cost("copy of a filter at 1 %", costs.snapshot_bytes, "bytes a key", Some(2.0)),
        cost("copy of a filter, both sides", costs.snapshot_ns, "ns a key", None),
        cost("delta without its frame", costs.delta_bytes, "bytes a new key and peer", Some(8.0)),
        cost("interval without news", costs.heartbeat_bytes, "bytes a peer", Some(100.0)),
        cost("interval without news, two nodes", costs.idle_ns / 1e3, "us", None),
        cost("write of a new key", costs.write_ns, "ns", None),
        cost("write of a known key", costs.overwrite_ns, "ns", None),
        cost("new key in a delta of 1,000, for all peers", costs.delta_ns, "ns", None),
        cost("new key from a delta", costs.apply_ns, "ns a peer", None),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_costs_keep_their_bars_and_repeat() {
        let counted = |seed| {
            let mut costs = costs(30_000, seed, &mut |_| {}).expect("it grows");
            costs
                .retain(|cost| !cost.unit.contains("ns") && !["us", "Bloom insertions"].contains(&cost.unit));
            costs
        };
        let first = counted(1);
        assert_eq!(first.len(), 9, "{first:?}");
        for cost in &first {
            assert!(cost.value > 0.0 && cost.bar.is_none_or(|bar| cost.value <= bar), "{cost:?}");
        }
        assert_eq!(first, counted(1));
    }
}
