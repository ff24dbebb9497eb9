//! REncoder's paper: figures 4 to 13 and 17 to 22, tables 1, 2, 4 and 5.
//!
//! Figures 14 to 16 are measured in a real engine, which `lacuna bench engine` does. What a figure is made of stands in
//! the file named after what it shows.

mod blacklist;
mod filters;
mod header;
mod independence;
mod key_sets;
mod layout;
mod panels;
mod points;
mod probes;
mod ranges;
mod ratios;
mod space;
mod stored_levels;

use super::conclusion::Conclusion;
use super::model::{Figure, Paper, extra, figure, table};

/// Fan and others, VLDB Journal 2024.
pub(super) static PAPER: Paper = Paper {
    name: "rencoder",
    citation: "Zhuochen Fan and others, \"Enabling space-time efficient range queries with REncoder\", VLDB Journal 2024.",
    method: "\
Keys are uniform 64-bit integers unless a figure says otherwise, a million where the paper takes 50 million (`--full` \
takes as many as the paper). Queries are empty, but for figure 21. *Filter throughput* asks each range in a call of its own; nine \
interleaved rounds, medians with the least and the greatest of them in brackets, with a standard Bloom filter of the same \
budget in the same rounds, asked for the first key of each range. A round asks at most 32,768 ranges, which touch a part of a large filter that caches may hold. *Overall* adds 0.1 ms for \
every \"maybe\": a store of two levels whose reads cost that much (the paper \
does not state its price).\n\n\
REncoderSE and the other filters that use a sample get 20,000 further queries of the same law. Each mini-tree has eight levels; \
at most 64 are fetched, which no range of these workloads reaches, so that capped and uncapped filters are the same \
(shown below). *REncoder, published* is `rencoder:published,probes=max`: the layout and the algorithms as the paper prints them, \
with a level a round and as many hash functions as ours; ours is *REncoder*. *Bloom* is asked key by key. *SuRF* is SuRF-Mixed with as many hash as real bits, as many as fit. \
*ProteusNS* is a Bloom filter of 32-bit prefixes: with a million keys only one prefix in 4,300 is taken, with the paper's \
50 million one in 86, so its rates here are those of an easier task. Squares in plots and the first column of tables \
are the paper's own numbers.",
    line_names: &filters::NAMES,
    figures: &FIGURES,
};

static FIGURES: [Figure; 23] = [
    table(1, "three ratios", ratios::run, "Higher is better in all three."),
    table(2, "space cost", space::run, "The rates that the filters reach in the space the paper states."),
    table(4, "independence of bits", independence::run, "If bits are independent, all shares are alike.")
        .concluding(&independence::CONCLUDES),
    figure(
        4,
        "rate and share of ones by stored levels",
        stored_levels::run,
        "The rate is lowest where about half of the bits are ones.",
    ),
    figure(
        5,
        "cost and gain",
        ranges::cost_and_gain,
        "Time to build, and to run ranges of 2 to 32 keys in a store of two levels.",
    )
    .concluding(&ranges::COST_CONCLUDES),
    figure(6, "overall time", ranges::overall_time, "Building and running the workload together.")
        .concluding(&[Conclusion::at_least("budgets at which", 1.0)]),
    figure(7, "rate of range queries", ranges::false_positives, "Lower is better."),
    figure(8, "throughput of range queries", ranges::throughput, "Higher is better, but for the last row.")
        .concluding(&ranges::THROUGHPUT_CONCLUDES),
    figure(9, "points", points::rates_and_speed, "Sampled filters are designed for ranges of 2 to 64 keys.")
        .concluding(&[Conclusion::at_least("filter throughput of Rosetta over", 1.0)]),
    figure(10, "overall throughput of points", points::overall, "REncoderPO asks the lowest level alone.")
        .concluding(&[Conclusion::at_least("overall throughput of REncoderPO", 1.0)]),
    figure(
        11,
        "queries next to keys",
        key_sets::next_to_keys,
        "Ranges of 2 to 32 keys that start 32 after a key: a filter that drops the lowest levels says \"maybe\" to all.",
    )
    .concluding(&[Conclusion::at_least("filter throughput of REncoder", 5.39)]),
    figure(12, "real keys", key_sets::real_sets, "Ranges of 2 to 32 keys that start at keys left out.")
        .concluding(&[Conclusion::at_least("filter throughput of REncoder", 4.7)]),
    figure(
        13,
        "heavily skewed keys",
        key_sets::heavy_skew,
        "99 % of the keys in one hundredth of the space.",
    )
    .concluding(&key_sets::SKEWED_CONCLUDES),
    figure(
        17,
        "the blacklist over two rounds",
        blacklist::overall,
        "The same queries twice, one for five keys as in the paper; the blacklist's memory is taken off the filter's.",
    ),
    figure(18, "the two rounds apart", blacklist::separate_rounds, "The second round has no false positive."),
    figure(19, "seven rounds", blacklist::many_rounds, "At 22 bits per key."),
    figure(
        20,
        "partly repeated queries",
        blacklist::replication,
        "At 22 bits per key; the second round repeats a part of the first.",
    ),
    figure(21, "partly empty queries", blacklist::empty_part, "At 22 bits per key."),
    figure(22, "the blacklist next to keys", blacklist::correlated, "Ranges that start 32 after a key."),
    table(5, "memory of the blacklist", blacklist::memory, "What the blacklists of figure 17 take."),
    extra(
        "layout",
        "the published layout beside ours",
        layout::run,
        "`rencoder:published`: bitmaps at whole bytes, in the paper's order, asked bit by bit.",
    ),
    extra(
        "laws",
        "other laws of keys",
        key_sets::other_laws,
        "Normal, Zipf and clustered keys; half are left out, and each query starts at one of those.",
    ),
    extra(
        "probes",
        "what the bound on fetches costs",
        probes::run,
        "At most 64 fetched mini-trees (4,096 where it says uncapped), by the length of the range.",
    ),
];
