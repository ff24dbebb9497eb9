//! The filters of the paper's evaluation, by the specs that name them here.

use crate::paper::Contender;

/// Names in the order that gives them their colours.
pub(super) static NAMES: [&str; 10] = [
    "REncoder",
    "REncoderSS",
    "REncoderSE",
    "REncoderPO",
    "SuRF",
    "Rosetta",
    "Bloom",
    "SNARF",
    "ProteusNS",
    "Proteus",
];

/// The filters of most figures.
pub(super) fn everyone() -> Vec<Contender> {
    vec![
        Contender::new("REncoder", "rencoder"),
        Contender::new("REncoderSS", "rencoder:ss"),
        Contender::new("REncoderSE", "rencoder:se"),
        surf_mixed(),
        Contender::new("Rosetta", "rosetta"),
        Contender::new("Bloom", "bloom"),
        Contender::new("SNARF", "snarf"),
        Contender::new("ProteusNS", "prefix_bloom:bits=32"),
        Contender::new("Proteus", "proteus"),
    ]
}

/// SuRF-Mixed: as many hash bits as real bits, as many as fit; the cut trie where not even the plain one does.
fn surf_mixed() -> Contender {
    let halves = (0..=10).rev().map(|half| format!("surf:hash={half},real={half}"));
    Contender { name: "SuRF", specs: halves.chain(["surf:real=0,cut".to_owned()]).collect() }
}
