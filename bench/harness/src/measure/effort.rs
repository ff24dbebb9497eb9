//! How much work a measurement puts in, the progress that it reports, and when it ends early.

use crate::harness::{BUILD_ROUNDS, QUERY_ROUNDS};

/// How often things are timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Interleaved rounds of queries.
    pub query_rounds: usize,
    /// Interleaved builds.
    pub build_rounds: usize,
    /// Questions of each kind in a round, at least; as many different queries are used as there are, up to this.
    pub questions: usize,
}

impl Effort {
    /// What a published number needs: 9 rounds of 262,144 questions, 3 builds.
    pub const FULL: Self =
        Self { query_rounds: QUERY_ROUNDS, build_rounds: BUILD_ROUNDS, questions: 1 << 18 };

    /// Enough to see that everything works; times are rough.
    pub const SMALL: Self = Self { query_rounds: 3, build_rounds: 1, questions: 1 << 10 };

    /// How often each of `queries` different queries is asked in a round.
    pub(super) fn passes(self, queries: usize) -> usize {
        self.questions.div_ceil(queries.max(1)).max(1)
    }
}

/// The work under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The stage, such as `building`.
    pub stage: &'static str,
    /// Parts of the stage that are done.
    pub done: usize,
    /// Parts of the stage.
    pub of: usize,
}

/// Sees what a measurement does, and may end it early.
pub trait Watch {
    /// The work under way.
    fn progress(&mut self, progress: Progress);

    /// A filter was built and asked, or does not fit; its times come with the row.
    fn found(&mut self, _spec: &str, _bits_per_key: f64, _finding: &str) {}

    /// Whether to end with what there is: nothing more is built, and a round of timing that began is the last.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// Receives the progress and changes nothing.
pub(super) struct Listener<'a>(pub(super) &'a mut dyn FnMut(Progress));

impl Watch for Listener<'_> {
    fn progress(&mut self, progress: Progress) {
        (self.0)(progress);
    }
}
