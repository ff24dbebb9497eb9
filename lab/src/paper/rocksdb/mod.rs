//! The papers' figures over RocksDB, each in the file named after what it shows.

mod contest;
mod filters;
mod keys;
mod lookups;
mod mixed;
mod script;
mod sensors;
mod shift;
mod strings;
mod workloads;

use crate::paper::{Conclusion, Figure, FigureId, Finding, Paper, Session};
use lacuna_base::Result;

/// What three papers show over RocksDB.
pub(super) static PAPER: Paper = Paper {
    name: "rocksdb",
    citation: "SuRF (SIGMOD 2018, CACM 2021), figures 5 and 6; Proteus (SIGMOD 2022), figures 6 to 8 and 9e; REncoder \
               (VLDB Journal 2024), figures 14 to 16.",
    method: "\
Stock RocksDB 11.12 through its own iterators: a file is kept closed by `ReadOptions::table_filter`, which is asked once for each \
file, where the papers changed the code of closed seeks. `get` never asks it, so points are sought as [k, k] wherever the filter \
is ours. *RocksDB's Bloom* has the same bits per key. RocksDB's minimum and maximum query filters are not here: their interface \
is in C++ alone, and every level spans all keys, so that the smallest and largest key of a file say what RocksDB knows already \
(`bindings/c/examples/rocksdb/min_max.cc` asks them: they save 24 blocks of 7,990, where range filters save 7,774). \
Levels are written file by file, the same files for every filter; only the mixed and shifting workloads run compactions. Blocks \
come from the disk by direct I/O unless a line says otherwise; indexes and filters lie on the heap of open tables. Databases take \
turns and times are medians of three rounds, but in REncoder's figure 16 and Proteus's 7 and 8, where each database lives through its workload once. \
Every answer is compared with the keys. Everything is scaled down; each figure \
says by how much. A filter that needs over a tenth (and a bit) more than its budget is left out there.",
    line_names: &filters::NAMES,
    figures: &FIGURES,
};

/// Sections 5.10: the latency of `REncoder` is the shorter one on average.
const SHORTER: [Conclusion; 1] = [Conclusion::at_least("over REncoder's, on average", 1.0)];

static FIGURES: [Figure; 9] = [
    figure("SuRF", "5", "points", sensors::points, "Almost no point is there; reads rule."),
    figure(
        "SuRF",
        "6",
        "closed seeks by the share of empty ones",
        sensors::ranges,
        "The more seeks find nothing, the more a range filter saves.",
    )
    .concluding(&[Conclusion::at_least("throughput of SuRF-Real", 5.0)]),
    figure(
        "REncoder",
        "14",
        "range queries, time split into filters and reads",
        lookups::ranges,
        "Few reads against quick filters.",
    )
    .concluding(&SHORTER),
    figure(
        "REncoder",
        "15",
        "point queries, time split into filters and reads",
        lookups::points,
        "As figure 14, for single keys.",
    )
    .concluding(&SHORTER),
    figure(
        "REncoder",
        "16",
        "nine queries for an insert",
        mixed::latencies,
        "Inserts pay for building filters, queries gain.",
    )
    .concluding(&SHORTER),
    figure(
        "Proteus",
        "6",
        "closed seeks by workload and budget",
        workloads::latencies,
        "Lower is better; what is good in one panel may be bad in another.",
    )
    .concluding(&[
        Conclusion::at_least("latency of Rosetta over", 3.9),
        Conclusion::at_least("latency of SuRF over", 3.3),
    ]),
    figure(
        "Proteus",
        "7",
        "a slow shift of the workload",
        shift::slow,
        "A filter that designs itself follows; others fit one end.",
    ),
    figure(
        "Proteus",
        "8",
        "an immediate shift of the workload",
        shift::immediate,
        "The rate rises, and falls again as files are rewritten.",
    )
    .concluding(&[Conclusion::at_most("rate after rewriting", 1.5)]),
    figure("Proteus", "9e", "strings", strings::latencies, "Latency by budget over real strings.")
        .concluding(&[Conclusion::at_least("latency of SuRF over", 5.3)]),
];

const fn figure(
    whose: &'static str,
    number: &'static str,
    title: &'static str,
    run: fn(&mut Session<'_>) -> Result<Finding>,
    shows: &'static str,
) -> Figure {
    Figure { id: FigureId::Of(whose, number), title, shows, run, concludes: &[] }
}
