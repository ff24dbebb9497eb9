//! The figures and tables of a paper, measured again.
//!
//! **Problem.** A paper's plots come from its authors' machine, code and data. A user who chooses a filter
//! needs to know what holds on their machine.
//!
//! **Idea.** A [`Paper`] is a list of [`Figure`]s (figures, tables), each a function from a [`Session`] to a
//! [`Finding`]: plots, tables, and the numbers that the paper states beside ours. [`run`] makes those that a
//! [`Setting`] asks for, [`files`] turns them into CSV, SVG and one page of Markdown. Filters are named by the text of
//! their specs: one that this build does not know is listed as "not yet" and joins when it lands.
//!
//! To add a paper: a folder with a `static Paper`, and its line in `papers`. Most figures need only a [`Grid`]:
//! filters, budgets, keys and queries; the session measures each grid once, whichever figures look at it.
//!
//! **Guarantee.** Rates are counts over queries that hold no key, and repeat from the seed on every machine. Times are
//! medians of interleaved rounds with a standard Bloom filter beside them, unless the page says otherwise. No page has a date or the name of a host.
//!
//! ```
//! use lacuna_lab::paper::{Axis, Finding, Line, Plot};
//!
//! let line = Line::ours("REncoder", [(14.0, 0.027), (26.0, 0.00016)]);
//! let (x, y) = (Axis::linear("bits per key"), Axis::logarithmic("false positive rate"));
//! let plot = Plot { title: "ranges of 2 to 32".into(), x, y, lines: vec![line] };
//! let finding = Finding { plots: vec![plot], ..Finding::default() };
//! assert_eq!(finding.plots[0].lines[0].at(14.0), Some(0.027));
//! ```

mod conclusion;
mod csv;
mod figure;
mod frame;
pub mod grid;
mod markdown;
mod marks;
mod model;
mod node_filters;
mod output;
mod page;
mod proteus;
#[cfg(feature = "cache")]
mod rangeqc;
mod rencoder;
#[cfg(feature = "rocksdb")]
mod rocksdb;
mod session;
mod shades;
mod summary;
mod surf;
mod svg;

use lacuna_base::{Error, Result};

pub use conclusion::{Bound, Conclusion};
pub use grid::{Cell, Grid, GridResult, GridRounds, NamedFilter, Speed};
pub use markdown::Provenance;
pub use model::{
    Axis, Claim, DataTable, Figure, FigureId, Finding, Line, Origin, Paper, Plot, Point, Scale, shown,
};
pub use output::{OutputFile, files, to_text};
pub use page::{judged, with_section};
#[cfg(all(test, feature = "cache"))]
pub(crate) use rangeqc::chunks_of;
pub use session::{Session, Setting, Step, TestBed, figures, run};
pub use summary::Summary;
pub use surf::Events as SensorEvents;

/// Every paper of this build.
pub fn papers() -> Vec<&'static Paper> {
    vec![
        &rencoder::PAPER,
        &surf::PAPER,
        &proteus::PAPER,
        &node_filters::PAPER,
        #[cfg(feature = "rocksdb")]
        &rocksdb::PAPER,
        #[cfg(feature = "cache")]
        &rangeqc::PAPER,
    ]
}

/// Papers that need a feature: their names, what they are, and the feature.
const BY_FEATURE: [(&str, &str, &str); 2] = [
    ("rocksdb", "the engine figures of rencoder, surf and proteus over RocksDB", "rocksdb"),
    ("rangeqc", "a cache of range results over real servers", "cache"),
];

/// The name of every paper and what it is, those included that this build cannot make.
pub(crate) fn available() -> Vec<(&'static str, String)> {
    let mut list: Vec<(&str, String)> =
        papers().into_iter().map(|paper| (paper.name, paper.citation.to_owned())).collect();
    for (name, what, feature) in BY_FEATURE {
        if list.iter().all(|(known, _)| *known != name) {
            list.push((name, format!("{what}; build with --features {feature}")));
        }
    }
    list
}

/// The paper with this name.
///
/// # Errors
/// `InvalidInput` if there is none, or this build cannot make it; the message says what to do.
pub fn find(name: &str) -> Result<&'static Paper> {
    if let Some(paper) = papers().into_iter().find(|paper| paper.name == name) {
        return Ok(paper);
    }
    Err(Error::invalid_input(match BY_FEATURE.iter().find(|(known, ..)| *known == name) {
        Some((_, _, feature)) => {
            format!(
                "the paper `{name}` needs a build with `cargo build --release -p lacuna-lab --features {feature}`"
            )
        }
        None => {
            let known: Vec<&str> = available().into_iter().map(|(name, _)| name).collect();
            format!("there is no paper `{name}`; choose one of {}", known.join(", "))
        }
    }))
}
