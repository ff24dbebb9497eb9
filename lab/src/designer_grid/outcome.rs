//! The outcome of a cell, and of all.

use lacuna_bench::statistics::median;

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
    /// What `auto` would have built without Ribbon and without the gaps that Bucketing leaves out, as before there were any.
    pub before: Cost,
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

    /// How many times as much it costs as the one of before.
    pub fn beside_before(&self) -> f64 {
        self.chosen.cost_ns / self.before.cost_ns
    }

    /// Whether it costs more than the one of before.
    pub fn is_worse(&self) -> bool {
        self.chosen.cost_ns > self.before.cost_ns
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
    /// What is chosen beside what was before.
    pub change: Change,
}

/// What `auto` costs beside what it would have cost before; all 1 or 0 without a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Cells in which it costs more.
    pub worse: usize,
    /// The most that it costs beside before.
    pub most: f64,
    /// The median of the costs beside that of before.
    pub of_median: f64,
    /// The median over the cells of the cost beside that of before.
    pub median: f64,
}

impl Change {
    fn of(outcomes: &[Outcome]) -> Self {
        let median_of = |number: fn(&Outcome) -> f64| match outcomes.is_empty() {
            true => 1.0,
            false => median(&outcomes.iter().map(number).collect::<Vec<_>>()),
        };
        let [now, before] =
            [median_of(|outcome| outcome.chosen.cost_ns), median_of(|outcome| outcome.before.cost_ns)];
        Self {
            worse: outcomes.iter().filter(|outcome| outcome.is_worse()).count(),
            most: outcomes.iter().map(Outcome::beside_before).fold(0.0, f64::max),
            of_median: now / before,
            median: median_of(Outcome::beside_before),
        }
    }
}

impl Summary {
    /// Counts.
    pub fn of(outcomes: &[Outcome]) -> Self {
        let close = outcomes.iter().filter(|outcome| outcome.is_close()).count();
        Self {
            cells: outcomes.len(),
            close: close as f64 / outcomes.len().max(1) as f64,
            worst: outcomes.iter().map(Outcome::ratio).fold(1.0, f64::max),
            change: Change::of(outcomes),
        }
    }

    /// Whether the bar is met: close in 95 % of the cells, nowhere above 1.5 times.
    pub fn meets_the_bar(&self) -> bool {
        self.close >= 0.95 && self.worst <= 1.5
    }
}
