//! SuRF's paper: figures 3 to 6.
//!
//! Figures 3 and 4 ask filters in memory, figures 5 and 6 a database of sensors. The paper's sets are scaled down to what
//! a small machine does in minutes: the text on each page says how, and why the rates stay the same.

mod cases;
mod contest;
mod rates;
mod sensors;
mod throughput;

pub use sensors::Events;

use super::conclusion::Conclusion;
use super::model::{Figure, Paper, extra, figure};

/// Zhang and others, Communications of the ACM 2021.
pub(super) static PAPER: Paper = Paper {
    name: "surf",
    citation: "Huanchen Zhang and others, \"Succinct Range Filters\", Communications of the ACM 64(4), 2021 (SIGMOD 2018).",
    method: "\
Half of the keys of a set, chosen at random, are in the filters; queries are made from all of them, as YCSB C and E do, so \
that about half of the points are there. *Points* are keys. *Ranges* run from K + 2^37 to K + 2^38 over integers, from K to \
K with its last byte plus one over strings. A rate is the share of \"maybe\" among the queries that hold no key. SuRFs \
have 0 to 8 suffix bits; the Bloom filter beside each is given as many bits as it takes.\n\n\
*Integers*: the paper takes 100 million. A set 256 times smaller, asked about distances 256 times longer, has the same \
trie one byte higher up: the same bits per key, rates and share of \"yes\". So 390,625 keys stand for the paper's, and \
2^45 and 2^46 for its 2^37 and 2^38 (`--full` takes the paper's own; `--keys N` lengthens distances as N shrinks). The \
printed distances over the small set are shown too. YCSB's integers have 63 bits, and the paper's rate of 4 % is theirs; over \
64 bits the same number of keys stands elsewhere on the saw-tooth, at 16 %. *Strings*: the paper's 25 million e-mail addresses are private; four \
public sets stand for them, host names with their labels reversed, as the paper's addresses are.\n\n\
Times are medians of seven interleaved rounds, with the least and the greatest of the seven in brackets, each query in a call of \
its own, with a standard Bloom filter of the same size in the same rounds. Small sets fit the cache, and ten million keys do not: there SuRF takes 0.77 to 1.02 times as long as a standard Bloom filter ([bars](../bars.md), group `surf`).",
    line_names: &contest::NAMES,
    figures: &FIGURES,
};

/// Section 4.3: "comparable" is within a factor of two here, and what "does not suffer" loses at most a tenth.
const SPEED_CONCLUDES: [Conclusion; 2] = [
    Conclusion::at_most("SuRF-Hash in standard Bloom filters", 2.0),
    Conclusion::at_least("with 8 hash bits", 0.9),
];

/// Of the figures with Zipf's law.
const ZIPFIAN: &str = "As YCSB's zipfian requests: a few keys are asked for most of the time.";

static FIGURES: [Figure; 6] = [
    figure(
        3,
        "false positive rate against size",
        rates::uniform,
        "Lower is better. Each hash bit halves the rate of points; only real bits help ranges.",
    ),
    figure(4, "throughput against size", throughput::uniform, "Higher is better.")
        .concluding(&SPEED_CONCLUDES),
    figure(
        5,
        "points in a database of sensors",
        sensors::points,
        "Nearly no point is there, so reads are false positives.",
    ),
    figure(
        6,
        "ranges in a database of sensors",
        sensors::ranges,
        "Is there an event in the next R nanoseconds? Longer ranges are empty less often.",
    ),
    extra("zipfrates", "rates, keys chosen by Zipf's law", rates::zipfian, ZIPFIAN),
    extra("zipfspeed", "throughput, keys chosen by Zipf's law", throughput::zipfian, ZIPFIAN),
];
