//! A row as the page shows it.

use crate::report::shown_rate;
use crate::{Outcome, Row};

/// Upper bound of a rate, times the number of trials, when none of them hit: -ln(0.05) is 3.0 (the rule of three).
const RULE_OF_THREE: f64 = 3.0;

/// Values that differ by less than this factor count as the same.
const ALIKE: f64 = 1.05;

/// A measured filter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading<'a> {
    pub(super) row: &'a Row,
    /// Whether other budgets of filters stand beside it.
    pub(super) has_budgets: bool,
    /// Whether no other filter is as good in rate, size and time and better in one.
    pub(super) leads: bool,
}

/// A rate of false positives, or what is known of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rate {
    /// This share of the empty queries.
    Measured(f64),
    /// None was seen: below this with 95 % confidence.
    Below(f64),
}

impl Rate {
    fn of(row: &Row) -> Option<Self> {
        row.fpr.map(|rate| match rate {
            0.0 => Self::Below((RULE_OF_THREE / row.empty_count.max(1) as f64).min(1.0)),
            rate => Self::Measured(rate),
        })
    }

    /// Where it is drawn.
    pub(super) fn place(self) -> f64 {
        match self {
            Self::Measured(rate) | Self::Below(rate) => rate,
        }
    }

    pub(super) fn shown(self) -> String {
        match self {
            Self::Measured(rate) => shown_rate(Some(rate)),
            Self::Below(rate) => format!("< {}", shown_rate(Some(rate))),
        }
    }
}

impl<'a> Reading<'a> {
    /// The measured filters among `outcomes`.
    pub(super) fn of_all(outcomes: &[&'a Outcome]) -> Vec<Self> {
        let rows: Vec<&Row> = outcomes.iter().filter_map(|outcome| outcome.row()).collect();
        let has_budgets = rows.iter().any(|row| row.bits_per_key_asked != rows[0].bits_per_key_asked);
        let leads = |row: &Row| Rate::of(row).is_some() && !rows.iter().any(|other| is_better(other, row));
        rows.iter().map(|row| Self { row, has_budgets, leads: leads(row) }).collect()
    }

    pub(super) fn rate(&self) -> Option<Rate> {
        Rate::of(self.row)
    }

    /// Its spec, and its budget where there are several.
    pub(super) fn name(&self) -> String {
        self.row.spec.clone() + &self.budget()
    }

    /// The same on at most `length` characters.
    pub(super) fn short_name(&self, length: usize) -> String {
        let budget = self.budget();
        super::shortened(&self.row.spec, length.saturating_sub(budget.chars().count())) + &budget
    }

    fn budget(&self) -> String {
        if self.has_budgets { format!(" @{}", self.row.bits_per_key_asked) } else { String::new() }
    }

    /// Attributes of what is drawn for it: class, spec, budget.
    pub(super) fn attributes(&self) -> String {
        let class = if self.leads { "point lead" } else { "point" };
        let (spec, bits) = (super::escaped(&self.row.spec), self.row.bits_per_key_asked);
        format!("class=\"{class}\" data-spec=\"{spec}\" data-bits=\"{bits}\"")
    }
}

/// Whether `one` is as good as `other` in rate, size and time, and better in one.
fn is_better(one: &Row, other: &Row) -> bool {
    let qualities = |row: &Row| [Rate::of(row).map_or(1.0, Rate::place), row.bits_per_key, row.ns_per_query];
    let (one, other) = (qualities(one), qualities(other));
    let mut pairs = one.into_iter().zip(other);
    pairs.clone().all(|(one, other)| one <= other * ALIKE) && pairs.any(|(one, other)| one * ALIKE < other)
}
