//! The outcome of a cell, and of all.

use super::cell::Cell;

/// The cost of a query with a filter.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// Its spec.
    pub spec: String,
    /// Share of "maybe" among empty queries of other draws than the sample.
    pub rate: f64,
    /// Nanoseconds of a question.
    pub question_ns: f64,
    /// Nanoseconds of a question and of the needless reads that follow it.
    pub cost_ns: f64,
}

/// The outcome of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The cell.
    pub cell: Cell,
    /// The filter that `auto` built.
    pub chosen: Cost,
    /// Its predicted cost.
    pub predicted_ns: f64,
    /// The cheapest of all.
    pub best: Cost,
}

/// Tolerance on top of any share, in nanoseconds.
const SLACK_NS: f64 = 5.0;

impl Outcome {
    /// How many times more than the best the chosen filter costs, with a tolerance of 5 ns.
    pub fn ratio(&self) -> f64 {
        f64::max((self.chosen.cost_ns - SLACK_NS) / self.best.cost_ns, 1.0)
    }

    /// Whether it costs at most 10 % and 5 ns more than the best.
    pub fn is_close(&self) -> bool {
        self.ratio() <= 1.1
    }
}

/// The outcome of all cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Cells with an outcome.
    pub cells: usize,
    /// Share of them that are close to the best.
    pub close: f64,
    /// The largest ratio.
    pub worst: f64,
}

impl Summary {
    /// Counts.
    pub fn of(outcomes: &[Outcome]) -> Self {
        let close = outcomes.iter().filter(|outcome| outcome.is_close()).count();
        Self {
            cells: outcomes.len(),
            close: close as f64 / outcomes.len().max(1) as f64,
            worst: outcomes.iter().map(Outcome::ratio).fold(1.0, f64::max),
        }
    }

    /// Whether the bar is met: close in 95 % of the cells, nowhere above 1.5 times.
    pub fn meets_the_bar(&self) -> bool {
        self.close >= 0.95 && self.worst <= 1.5
    }
}
