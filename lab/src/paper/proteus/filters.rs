//! The filters of the paper's evaluation, by the specs that name them here.

use crate::paper::{NamedFilter, Session};

/// Names in the order that gives them their colours.
pub(super) static NAMES: [&str; 8] = [
    "Proteus",
    "SuRF-Real",
    "SuRF-Hash",
    "Rosetta",
    "1PBF",
    "2PBF",
    "Proteus, all probes",
    "Rosetta, 4,096 probes",
];

/// Budgets in bits per key.
pub(super) const BITS: [f64; 6] = [8.0, 10.0, 12.0, 14.0, 16.0, 18.0];

/// Keys of the paper's sets, and here.
pub(super) const PAPER_KEYS: usize = 10_000_000;
const OWN_KEYS: usize = 200_000;
/// Queries here; the paper asks a million.
const OWN_QUERIES: usize = 50_000;

/// Keys of a generated set in this run.
pub(super) fn key_count(session: &Session<'_>) -> usize {
    session.key_count_or(OWN_KEYS, PAPER_KEYS)
}

/// Queries of each kind in this run.
pub(super) fn query_count(session: &Session<'_>) -> usize {
    session.query_count_or(OWN_QUERIES)
}

/// The filters of figures 1, 5 and 9: Proteus and Rosetta with a bound of 64 probes and without one, `SuRF` with as many real bits, or hash
/// bits, as fit.
pub(super) fn all_filters() -> Vec<NamedFilter> {
    let hashes = (1..=10).rev().map(|bits| format!("surf:hash={bits}"));
    vec![
        NamedFilter::new("Proteus", "proteus"),
        NamedFilter::new("SuRF-Real", "surf"),
        NamedFilter { name: "SuRF-Hash", specs: hashes.collect() },
        NamedFilter::new("Rosetta", "rosetta"),
        // As in the paper.
        NamedFilter::new("Proteus, all probes", "proteus:probes=max"),
        NamedFilter::new("Rosetta, 4,096 probes", "rosetta:probes=4096"),
    ]
}
