//! The figures and tables of a paper, measured again.
//!
//! **Problem.** A paper's plots come from its authors' machine, code and data. Whoever chooses a filter wants to know
//! what holds here.
//!
//! **Idea.** A [`Paper`] is a list of [`Exhibit`]s (figures, tables), each a function from a [`Session`] to a
//! [`Finding`]: plots, tables, and the numbers that the paper states beside ours. [`run`] makes those that a
//! [`Setting`] asks for, [`files`] turns them into CSV, SVG and one page of Markdown. Filters are named by the text of
//! their specs: one that this build does not know is listed as "not yet" and joins by itself when it lands.
//!
//! To add a paper: a folder with a `static Paper`, and its line in [`PAPERS`]. Most figures need only a [`Grid`]:
//! filters, budgets, keys and queries; the session measures each grid once, whichever figures look at it.
//!
//! **Guarantee.** Rates are counts over queries that hold no key, and repeat from the seed on every machine. Times are
//! medians of interleaved rounds with a standard Bloom filter beside them. No page has a date or the name of a host.
//!
//! ```
//! use lacuna_bench::paper::{Axis, Finding, Line, Plot};
//!
//! let line = Line::ours("REncoder", [(14.0, 0.027), (26.0, 0.00016)]);
//! let (x, y) = (Axis::linear("bits per key"), Axis::logarithmic("false positive rate"));
//! let plot = Plot { title: "ranges of 2 to 32".into(), x, y, lines: vec![line] };
//! let finding = Finding { plots: vec![plot], ..Finding::default() };
//! assert_eq!(finding.plots[0].lines[0].at(14.0), Some(0.027));
//! ```

mod csv;
mod exhibit;
mod frame;
pub mod grid;
mod markdown;
mod marks;
mod model;
mod node_filters;
mod output;
mod proteus;
mod rencoder;
mod session;
mod shades;
mod surf;
mod svg;

use lacuna_base::{Error, Result};

pub use grid::{Cell, Contender, Grid, GridResult, GridRounds, Speed};
pub use markdown::Provenance;
pub use model::{
    Axis, Claim, DataTable, Exhibit, ExhibitId, Finding, Line, Origin, Paper, Plot, Point, Scale, shown,
};
pub use output::{OutputFile, files, to_text};
pub use session::{Ground, Session, Setting, Step, exhibits, run};
pub use surf::Events as SensorEvents;

/// Every paper.
pub static PAPERS: [&Paper; 4] = [&rencoder::PAPER, &surf::PAPER, &proteus::PAPER, &node_filters::PAPER];

/// The paper with this name.
///
/// # Errors
/// `InvalidInput` if there is none; the message lists what there is.
pub fn find(name: &str) -> Result<&'static Paper> {
    PAPERS.into_iter().find(|paper| paper.name == name).ok_or_else(|| {
        let known: Vec<&str> = PAPERS.iter().map(|paper| paper.name).collect();
        Error::invalid_input(format!("there is no paper `{name}`; choose one of {}", known.join(", ")))
    })
}
