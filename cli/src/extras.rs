//! What a heavier binary adds to the command line.

use std::ffi::OsString;

use lacuna_base::Result;
use lacuna_bench::engine::{Engine, SlateDbEngine};
use lacuna_bench::paper::{self, Paper};

/// Commands of another binary: the words after its own name, to what became of them.
pub type Commands = fn(&[OsString]) -> crate::Result<()>;

/// Engines, papers and commands that the `lacuna` of the default build does not link.
#[derive(Clone, Copy)]
pub struct Extras {
    /// Engines beside `SlateDB`.
    pub engines: &'static [&'static (dyn Engine + Sync)],
    /// Papers beside those that need no engine.
    pub papers: &'static [&'static Paper],
    /// `bench cache` and `cache`, by these words and what follows them.
    pub cache: Option<Commands>,
}

impl Extras {
    /// Nothing more.
    pub const NONE: Self = Self { engines: &[], papers: &[], cache: None };

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

    /// Whether this binary makes the figures of such a paper.
    pub(crate) fn has_paper(&self, name: &str) -> bool {
        self.papers().any(|paper| paper.name == name)
    }

    /// Every paper.
    pub(crate) fn papers(&self) -> impl Iterator<Item = &'static Paper> {
        paper::PAPERS.into_iter().chain(self.papers.iter().copied())
    }
}
