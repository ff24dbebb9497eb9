//! Filters by the names that legends have.

use lacuna_bench::engine::FilterChoice;

/// Names in the order that gives them their colours.
pub(super) static NAMES: [&str; 16] = [
    "no filter",
    "RocksDB's Bloom",
    "Proteus",
    "SuRF",
    "Rosetta",
    "REncoder",
    "SNARF",
    "Grafite",
    "auto",
    "SuRF-Hash",
    "Bucketing",
    "1PBF",
    "2PBF",
    "Bloom",
    UNBOUNDED[0],
    UNBOUNDED[1],
];

/// `Proteus` and `Rosetta` as in their papers, which know no bound on the prefixes or nodes a query asks for. Rosetta's is 4,096 as
/// in the figures without an engine: a range of a million keys has 40 nodes, and a million probes take longer than a read.
pub(super) const UNBOUNDED: [&str; 2] = ["Proteus, all probes", "Rosetta, 4,096 probes"];

/// A filter and its name.
pub(super) type Named = (&'static str, FilterChoice);

/// No filter, and RocksDB's own of `bits_per_key`.
pub(super) fn without(bits_per_key: f64) -> Vec<Named> {
    vec![(NAMES[0], FilterChoice::None), (NAMES[1], FilterChoice::Engine { bits_per_key })]
}

/// Filters of ours by their names, of `bits_per_key`.
pub(super) fn ours(names: &[&str], bits_per_key: f64) -> Vec<Named> {
    let named = |name: &'static str| (name, FilterChoice::lacuna(family(name), bits_per_key));
    NAMES.into_iter().filter(|name| names.contains(name)).map(named).collect()
}

/// No filter and RocksDB's own once, and filters of ours with each budget.
pub(super) fn with_budgets(bits: &[f64], ours: fn(f64) -> Vec<Named>) -> Vec<Named> {
    let middle = bits[bits.len() / 2];
    without(middle).into_iter().chain(bits.iter().flat_map(|&bits| ours(bits))).collect()
}

/// Every family, and the designer that chooses among them.
pub(super) fn every_family(bits_per_key: f64) -> Vec<Named> {
    let but: Vec<&str> = NAMES[2..].iter().copied().filter(|name| *name != "SuRF-Hash").collect();
    ours(&but, bits_per_key)
}

fn family(name: &str) -> &str {
    match name {
        "Proteus" => "proteus",
        "SuRF" => "surf",
        "SuRF-Hash" => "surf:hash=4",
        "Rosetta" => "rosetta",
        "REncoder" => "rencoder",
        "SNARF" => "snarf",
        "Grafite" => "grafite",
        "Bucketing" => "bucketing",
        "1PBF" => "prefix_bloom",
        "2PBF" => "two_prefix_bloom",
        "Bloom" => "bloom",
        "Proteus, all probes" => "proteus:probes=max",
        "Rosetta, 4,096 probes" => "rosetta:probes=4096",
        _ => "auto",
    }
}
