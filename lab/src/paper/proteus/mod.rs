//! Proteus' paper: figures 1, 4, 5 and 9a to 9d, tables 1 and 2.
//!
//! What a figure is made of stands in the file named after what it shows. The paper's databases (figures 6 to 8, 9e) are
//! measured by engines, not here.

mod accuracy;
mod contest;
mod costs;
mod filters;
mod landscape;
mod mixed;
mod sample_size;
mod strings;
mod workloads;

use super::conclusion::Conclusion;
use super::model::{Figure, Paper, figure, table};

/// Knorr and others, SIGMOD 2022.
pub(super) static PAPER: Paper = Paper {
    name: "proteus",
    citation: "Eric R. Knorr and others, \"Proteus: A Self-Designing Range Filter\", SIGMOD 2022.",
    method: "\
The paper takes 10 million keys, a million queries and samples of 20,000 (10,000 for figure 4); here it is 200,000 keys and \
50,000 queries unless the command above or a figure says otherwise (`--full` takes the paper's keys). With fewer keys, uniform queries lie farther from \
them, and every filter looks better there. All queries are empty. *1PBF* and *2PBF* are one and two Bloom filters of \
prefixes. Figures 1, 5 and 9 show Proteus with at most 64 prefixes a query (`Proteus`), which the model knows, and as in the \
paper with as many as a query touches (`Proteus, all probes`: `probes=max`); Rosetta likewise with at most 64 probes and with 4,096; \
figure 4 is as in the paper. Real sets are \
ours, in place of the paper's Books and Facebook.",
    line_names: &filters::NAMES,
    figures: &FIGURES,
};

/// Section 4.3: the rates of the best designs (and a tenth), Proteus' less than half of that of 2PBF, and as the model expects.
const ACCURACY_CONCLUDES: [Conclusion; 4] = [
    Conclusion::at_most("2PBF, best design", 13.5),
    Conclusion::at_most("Proteus, best design", 5.5),
    Conclusion::at_most("over that of 2PBF", 0.5),
    Conclusion::at_most("measured over expected", 1.1),
];

static FIGURES: [Figure; 6] = [
    table(
        1,
        "bounds on the error of a sample",
        sample_size::bounds,
        "The paper's first entry is a tenth of its formula.",
    ),
    table(
        2,
        "cost of modelling and building",
        costs::breakdown,
        "Shares of a standard Bloom filter's build beside it compare.",
    ),
    figure(
        1,
        "who copes with which queries",
        landscape::rates,
        "A filter that designs itself is good in more of the plane than those with one design.",
    ),
    figure(
        4,
        "predicted and measured rates",
        accuracy::designs,
        "Both lines of a pair should lie on each other.",
    )
    .concluding(&ACCURACY_CONCLUDES),
    figure(5, "rates over workloads and budgets", workloads::rates, "Lower is better."),
    figure(
        9,
        "strings of fixed length",
        strings::rates,
        "The paper shows 1,440 bits and says that the others look the same.",
    ),
];
