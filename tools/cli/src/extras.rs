//! What a heavier binary adds to the command line.

use lacuna_bench::engine::{Engine, SlateDbEngine};
use lacuna_bench::paper::{self, Paper};
use lacuna_core::Result;

/// Engines and papers that the `lacuna` of the default build does not link.
#[derive(Clone, Copy)]
pub struct Extras {
    /// Engines beside `SlateDB`.
    pub engines: &'static [&'static (dyn Engine + Sync)],
    /// Papers beside those that need no engine.
    pub papers: &'static [&'static Paper],
}

impl Extras {
    /// Nothing more.
    pub const NONE: Self = Self { engines: &[], papers: &[] };

    /// The engine with this name, if it is linked.
    pub(crate) fn engine(&self, name: &str) -> Option<&'static dyn Engine> {
        if name == SlateDbEngine.name() {
            return Some(&SlateDbEngine);
        }
        self.engines.iter().find(|engine| engine.name() == name).map(|engine| *engine as &dyn Engine)
    }

    /// The paper with this name.
    ///
    /// # Errors
    /// As [`paper::find`].
    pub(crate) fn paper(&self, name: &str) -> Result<&'static Paper> {
        match self.papers.iter().find(|paper| paper.name == name) {
            Some(paper) => Ok(paper),
            None => paper::find(name),
        }
    }

    /// Every paper.
    pub(crate) fn papers(&self) -> impl Iterator<Item = &'static Paper> {
        paper::PAPERS.into_iter().chain(self.papers.iter().copied())
    }
}
