//! The bars, one module a group.
//!
//! A group measures its filters and yardsticks side by side and gives back its bars. To add one: a module with
//! `pub(super) fn run(&Setting, &Progress) -> Result<Vec<Bar>>`, and a line in [`GROUPS`].

mod baselines;
mod bounded;
mod contest;
mod cuckoo;
mod designer;
mod intervals;
mod peer_bloom;
mod proteus;
mod ranges;
mod rates;
mod reads;
mod rencoder;
mod speed;
mod strings;
mod succinct;
mod surf;
mod surf_batches;
mod surf_strings;

use lacuna_base::Result;

use crate::bars::bar::Bar;
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

/// Bars that are measured together.
pub(crate) struct Group {
    /// For `--only`.
    pub(crate) name: &'static str,
    /// One sentence.
    pub(crate) about: &'static str,
    /// Measures.
    pub(crate) run: fn(&Setting, &Progress) -> Result<Vec<Bar>>,
}

/// Every group, in the order of the page.
pub(crate) const GROUPS: [Group; 15] = [
    Group {
        name: "speed",
        about: "Speed in standard Bloom filters of the same budget, at 10,000,000 uniform keys and empty ranges of 32 \
                keys; Bloom filters are asked for points.",
        run: speed::run,
    },
    Group {
        name: "peer-bloom",
        about: "The yardstick itself beside crate `fastbloom`: same bits, same number of hashes, same key hash; batches beside \
                the crate's independent questions.",
        run: peer_bloom::run,
    },
    Group {
        name: "ranges",
        about: "`ribbon`, `bucketing` and `grafite` in at most 14 sealed bits a key: rates between 10,000,000 keys and over real \
                sets beside the highest allowed, questions in standard Bloom filters of as many bits, builds in nanoseconds, \
                builds by two threads beside one, and the payload bits that few keys take for a rate of 2^-12.",
        run: ranges::run,
    },
    Group {
        name: "rates",
        about: "Grafite's rate beside 1.1 (1 - exp(-L / 2^(b - 2.2))) for ranges of L keys at b sealed bits per key.",
        run: rates::run,
    },
    Group {
        name: "reads",
        about: "Object reads of an embedded SlateDB with 16 overlapping SSTs for 1,000 empty scans, half of them right \
                after a key.",
        run: reads::run,
    },
    Group {
        name: "rencoder",
        about: "REncoder beside the paper: rates of table 2, next to keys and with a blacklist at 1,000,000 uniform keys; \
                speed at 10,000,000 in standard Bloom filters of 18 bits and in Rosettas as published.",
        run: rencoder::run,
    },
    Group {
        name: "succinct",
        about: "Elias-Fano, rank and select beside crate `sux`, one dependent question at a time.",
        run: succinct::run,
    },
    Group {
        name: "surf",
        about: "SuRF at 10,000,000 uniform keys in standard Bloom filters of 14 bits asked for points, its size and rate \
                over uniform keys, and the cost of bytes that strings share.",
        run: surf::run,
    },
    Group {
        name: "proteus",
        about: "What modelling 10,000,000 normal keys and 20,000 queries takes of a standard Bloom filter's build, rates at \
                10 bits where near and far queries mix, and questions of 64 prefixes in Bloom filters asked for a point.",
        run: proteus::run,
    },
    Group {
        name: "rosetta",
        about: "Questions that use up Rosetta's 64 probes, in standard Bloom filters asked for a point; as published it \
                has no such bound.",
        run: baselines::rosetta,
    },
    Group {
        name: "snarf",
        about: "Questions to SNARF, in standard Bloom filters asked for a point.",
        run: baselines::snarf,
    },
    Group {
        name: "cuckoo",
        about: "The cuckoo filter of 10-bit fingerprints at 10,000,000 uniform keys in standard Bloom filters of 11 bits, its \
                memory, and the bytes that node filters send to one peer.",
        run: cuckoo::run,
    },
    Group {
        name: "designer",
        about: "What choosing a family takes over 1,000,000 uniform keys, and how near `auto` comes to the best family in \
                one cell in 15 of the grid, by the designer's own costs of questions.",
        run: designer::run,
    },
    Group {
        name: "intervals",
        about: "The interval tree of the range cache at 1,000,000 intervals in lookups and insertions of `BTreeMap`, and what \
                the owner of a range keeps of a cached entry.",
        run: intervals::run,
    },
    Group {
        name: "strings",
        about: "Real texts at 20 bits without a codec, one key in ten taken out: empty ranges from such a key, as rates beside SuRF and \
                Proteus, and such keys alone.",
        run: strings::run,
    },
];
