//! The figures, as they were measured.

use super::{Figure, Peer};
use crate::frontier::columns::COLUMNS;
use crate::frontier::run::BITS;

/// Rate of a length that a filter was not asked.
const NO: f64 = f64::NAN;
const ONES: [f64; COLUMNS] = [1.0; COLUMNS];
const ANEW: &str = "built anew for each length";

/// All of them.
pub(super) static PEERS: [Peer; 19] = [
    peer(
        "Grafite (authors)",
        "denies keys across blocks",
        [
            Some((10.61, [0.004, 0.12, 0.98], [0.003_9, 0.12, 0.98])),
            Some((14.62, [0.000_22, 0.007_6, 0.22], [0.000_25, 0.007_8, 0.22])),
            Some((18.62, [1.7e-5, 0.000_44, 0.016], [1.5e-5, 0.000_53, 0.016])),
        ],
    ),
    peer(
        "Grafite (authors), sdsl",
        "denies keys across blocks",
        [
            Some((10.46, [0.003_9, 0.12, 0.98], [0.003_7, 0.12, 0.98])),
            Some((14.46, [0.000_24, 0.007_7, 0.22], [0.000_22, 0.007_8, 0.22])),
            Some((18.46, [6.7e-6, 0.000_47, 0.016], [1.7e-5, 0.000_55, 0.015])),
        ],
    ),
    peer(
        "Memento",
        ANEW,
        [
            Some((9.64, [0.008_2, 0.23, NO], [0.007_9, 0.23, NO])),
            Some((13.86, [0.000_57, 0.016, 0.4], [0.000_47, 0.016, 0.4])),
            Some((18.09, [3.7e-5, 0.001_1, 0.032], [1.5e-5, 0.000_99, 0.032])),
        ],
    ),
    peer(
        "crate grafite 0.2.0",
        "",
        [
            Some((12.1, [0.004_1, 0.12, 0.98], [0.004_2, 0.12, 0.98])),
            Some((16.1, [0.000_26, 0.007_9, 0.22], [0.000_26, 0.007_6, 0.22])),
            Some((20.1, [2.5e-5, 0.000_47, 0.015], [1.5e-5, 0.000_49, 0.015])),
        ],
    ),
    peer(
        "Bucketing (authors of Grafite)",
        "",
        [
            Some((10.61, [0.004, 0.003_9, 0.003_9], ONES)),
            Some((14.62, [0.000_29, 0.000_26, 0.000_25], ONES)),
            Some((18.62, [1.7e-5, 1e-5, 1.5e-5], ONES)),
        ],
    ),
    peer(
        "Diva",
        "",
        [
            Some((11.75, [0.004_8, 0.004_7, 0.004_6], ONES)),
            Some((14.88, [0.000_66, 0.000_64, 0.000_64], ONES)),
            Some((19.13, [4.3e-5, 2.3e-5, 3e-5], ONES)),
        ],
    ),
    peer(
        "crate range-filters 0.1.0",
        "Diva; 1,000,000 keys, 9.9 bits asked for",
        [Some((15.62, [0.004_8, 0.004_7, 0.004_3], ONES)), None, None],
    ),
    peer(
        "SNARF (authors)",
        "denies keys: 29 of 300,000 ranges",
        [
            Some((9.38, [0.007_8, 0.008, 0.007_9], ONES)),
            Some((13.36, [0.000_59, 0.000_54, 0.000_45], ONES)),
            Some((17.38, [3.3e-5, 1.7e-5, 3e-5], ONES)),
        ],
    ),
    peer(
        "Oasis+",
        ANEW,
        [
            Some((9.93, [0.005_5, 0.005_2, 0.005_3], ONES)),
            Some((13.93, [0.000_4, 0.000_3, 0.000_34], ONES)),
            Some((17.93, [4.5e-5, 1e-5, 5e-6], ONES)),
        ],
    ),
    peer(
        "Proteus (authors)",
        "trained on the workload of each length",
        [
            Some((10.0, [0.008, 0.008_1, 0.008_4], [0.023, 0.031, 0.13])),
            Some((14.0, [0.001, 0.001_2, 0.001_2], [0.015, 0.008_8, 0.05])),
            Some((18.0, [0.000_23, 0.000_16, 0.000_12], [0.014, 0.003, 0.018])),
        ],
    ),
    peer(
        "prefix Bloom (written to compare)",
        ANEW,
        [
            Some((10.0, [0.008_2, 0.016, 0.016], [0.008_2, 0.032, 0.51])),
            Some((14.0, [0.001_3, 0.002_4, 0.002_4], [0.001_2, 0.018, 0.5])),
            Some((18.0, [0.000_18, 0.000_38, 0.000_4], [0.000_16, 0.016, 0.5])),
        ],
    ),
    peer(
        "Rosetta (by the authors of Memento)",
        ANEW,
        [
            Some((10.0, [0.008_5, 0.25, 1.0], [0.008_3, 0.25, 1.0])),
            Some((14.0, [0.001_2, 0.058, 0.74], [0.001_2, 0.057, 0.73])),
            Some((18.0, [0.000_15, 0.015, 0.17], [0.000_2, 0.015, 0.17])),
        ],
    ),
    peer(
        "REncoder (authors)",
        "",
        [
            Some((10.0, [0.01, 0.26, 1.0], [0.009_8, 0.26, 1.0])),
            Some((14.0, [0.002_1, 0.062, 0.87], [0.002_3, 0.062, 0.87])),
            Some((18.0, [0.000_57, 0.017, 0.44], [0.000_68, 0.018, 0.43])),
        ],
    ),
    peer(
        "REncoder SS (authors)",
        "",
        [
            Some((10.0, [0.008_4, 0.008_5, 0.008_1], ONES)),
            Some((14.0, [0.001_5, 0.001_4, 0.001_3], ONES)),
            Some((18.0, [0.000_3, 0.000_26, 0.000_26], ONES)),
        ],
    ),
    peer(
        "REncoder SE (authors)",
        "trained on the workload of each length",
        [
            Some((10.0, [0.008_4, 0.008_5, 0.008_1], [0.017, 0.26, 1.0])),
            None,
            Some((18.0, [0.000_3, 0.000_26, 0.000_26], [0.003_8, 0.023, 0.41])),
        ],
    ),
    peer(
        "REncoder (authors), layout for SIMD",
        "its AVX-512 in pairs of AVX2",
        [None, Some((14.0, [0.001_3, 0.04, 0.73], [0.001_3, 0.041, 0.73])), None],
    ),
    peer(
        "bloomRF (not by its authors)",
        "",
        [
            Some((10.0, [0.008_8, 0.017, 0.028], [0.31, 0.62, 0.98])),
            Some((14.0, [0.001_4, 0.003_3, 0.007], [0.2, 0.51, 0.97])),
            Some((18.0, [0.000_3, 0.000_86, 0.002_1], [0.14, 0.43, 0.95])),
        ],
    ),
    peer(
        "SuRF (authors), real suffixes",
        "of 2, 4 and 8 bits",
        [
            Some((10.22, [0.14, 0.082, 0.083], ONES)),
            Some((12.22, [0.04, 0.021, 0.021], ONES)),
            Some((16.22, [0.002_8, 0.001_3, 0.001_4], ONES)),
        ],
    ),
    peer(
        "SuRF (authors), hashed suffixes",
        "of 4 and 8 bits, asked for keys",
        [
            None,
            Some((12.22, [0.021, NO, NO], [0.062, NO, NO])),
            Some((16.22, [0.001_3, NO, NO], [0.003_5, NO, NO])),
        ],
    ),
];

const fn peer(name: &'static str, remark: &'static str, figures: [Option<Figure>; BITS.len()]) -> Peer {
    Peer { name, remark, figures }
}
