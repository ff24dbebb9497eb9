//! The filters of the paper's evaluation, by the specs that name them here.

use crate::paper::{Grid, GridRounds, NamedFilter};

/// Names in the order that gives them their colours.
pub(super) static NAMES: [&str; 14] = [
    "REncoder",
    "REncoderSS",
    "REncoderSE",
    "SuRF",
    "Bloom",
    "Rosetta",
    "SNARF",
    "REncoderPO",
    "ProteusNS",
    "Proteus",
    "REncoder-BL",
    "REncoderSS-BL",
    "REncoderSE-BL",
    PUBLISHED,
];

/// The layout of the paper, and its spec without a bound on fetches, which the paper has none of.
pub(super) const PUBLISHED: &str = "REncoder, published";
pub(super) const PUBLISHED_SPEC: &str = "rencoder:published,probes=max";

/// Budgets of most figures, in bits per key.
pub(super) const BITS: [f64; 7] = [14.0, 16.0, 18.0, 20.0, 22.0, 24.0, 26.0];

/// Keys of the paper's synthetic set.
pub(super) const SYNTHETIC_KEYS: usize = 50_000_000;

/// Time of a read from the second level, in nanoseconds.
///
/// The paper does not say its own. Its figure 10 has reads outweigh filters up to rates of about 1e-4; with filters of
/// about 100 ns that is a tenth of a millisecond, a flash drive with a file system above it.
pub(super) const READ_NS: f64 = 100_000.0;

/// The filters of most figures.
pub(super) fn all_filters() -> Vec<NamedFilter> {
    vec![
        NamedFilter::new("REncoder", "rencoder"),
        NamedFilter::new("REncoderSS", "rencoder:ss"),
        NamedFilter::new("REncoderSE", "rencoder:se"),
        surf_mixed(),
        NamedFilter::new("Bloom", "bloom"),
        NamedFilter::new("Rosetta", "rosetta"),
        NamedFilter::new("SNARF", "snarf"),
        NamedFilter::new("ProteusNS", "prefix_bloom:bits=32"),
        NamedFilter::new("Proteus", "proteus"),
        NamedFilter::new(PUBLISHED, PUBLISHED_SPEC),
    ]
}

/// SuRF-Mixed: as many hash bits as real bits, as many as fit; the cut trie where not even the plain one does.
fn surf_mixed() -> NamedFilter {
    let halves = (0..=10).rev().map(|half| format!("surf:hash={half},real={half}"));
    NamedFilter { name: "SuRF", specs: halves.chain(["surf:real=0,cut".to_owned()]).collect() }
}

/// All filters at all budgets over `keys`, asked `queries`.
pub(super) fn grid(keys: impl Into<String>, queries: &str) -> Grid {
    Grid {
        keys: keys.into(),
        queries: queries.to_owned(),
        sample: None,
        filters: all_filters(),
        bits: BITS.to_vec(),
        rounds: GridRounds { queries: 9, builds: 0 },
    }
}
