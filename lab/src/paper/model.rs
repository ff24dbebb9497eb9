//! The results of a paper, and ours in their place.

pub use super::figure::{Figure, FigureId};
pub(super) use super::figure::{extra, figure, table};
use super::summary::Summary;

/// A paper whose figures and tables are made again.
#[derive(Debug)]
pub struct Paper {
    /// The name on the command line, such as `rencoder`.
    pub name: &'static str,
    /// Authors, title, place.
    pub citation: &'static str,
    /// How things are measured here and where that differs from the paper; Markdown.
    pub method: &'static str,
    /// Names of lines in the order that gives them their colours; a line keeps its colour in all figures.
    pub line_names: &'static [&'static str],
    /// Its figures and tables in the order of the page.
    pub figures: &'static [Figure],
}

/// The measurements for a figure.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Finding {
    /// Panels, drawn side by side into one picture.
    pub plots: Vec<Plot>,
    /// Tables of text.
    pub tables: Vec<DataTable>,
    /// Numbers that the paper states, beside ours.
    pub claims: Vec<Claim>,
    /// Sentences for the page: what is missing or differs here, and why.
    pub notes: Vec<String>,
}

/// How an axis runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// From 0.
    Linear,
    /// In powers of ten.
    Logarithmic,
}

/// A point of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Place on the level axis.
    pub x: f64,
    /// Height: a value, or the median of some runs.
    pub y: f64,
    /// Least and greatest of the runs, if there were several.
    pub extent: Option<(f64, f64)>,
}

/// A panel with lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// Above the panel.
    pub title: String,
    /// The level axis.
    pub x: Axis,
    /// The upright axis.
    pub y: Axis,
    /// The lines.
    pub lines: Vec<Line>,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// The title, unit included.
    pub title: String,
    /// How it runs.
    pub scale: Scale,
    /// Whether values are shown as shades instead of heights.
    pub is_shade: bool,
}

impl Axis {
    /// A linear axis.
    pub fn linear(title: impl Into<String>) -> Self {
        Self { title: title.into(), scale: Scale::Linear, is_shade: false }
    }

    /// An axis in powers of ten.
    pub fn logarithmic(title: impl Into<String>) -> Self {
        Self { title: title.into(), scale: Scale::Logarithmic, is_shade: false }
    }

    /// Percentages as shades: a panel with this upright axis is a heat map with a row for each line.
    pub fn shade(title: impl Into<String>) -> Self {
        Self { is_shade: true, ..Self::linear(title) }
    }
}

/// Whose points a line has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Measured in this run.
    Ours,
    /// Printed in the paper.
    Paper,
}

impl Origin {
    /// The word in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Paper => "paper",
        }
    }
}

/// A named line.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The text in the legend; a line of the paper has the name of ours beside it.
    pub name: String,
    /// Whose points they are.
    pub origin: Origin,
    /// Points, ascending in x.
    pub points: Vec<Point>,
}

impl Line {
    /// A line of ours from pairs of x and y.
    pub fn ours(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, Origin::Ours, points)
    }

    /// A line of ours from pairs of x and what the runs gave.
    pub(crate) fn of_runs(name: impl Into<String>, points: impl IntoIterator<Item = (f64, Summary)>) -> Self {
        let point = |(x, runs): (f64, Summary)| Point { x, y: runs.median, extent: runs.extent };
        Self { name: name.into(), origin: Origin::Ours, points: points.into_iter().map(point).collect() }
    }

    /// Points that the paper prints.
    pub fn paper(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, Origin::Paper, points)
    }

    fn new(name: impl Into<String>, origin: Origin, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let points = points.into_iter().map(|(x, y)| Point { x, y, extent: None }).collect();
        Self { name: name.into(), origin, points }
    }

    /// Its height at exactly `x`.
    pub fn at(&self, x: f64) -> Option<f64> {
        self.summary_at(x).map(|runs| runs.median)
    }

    /// What the runs gave at exactly `x`.
    pub(crate) fn summary_at(&self, x: f64) -> Option<Summary> {
        let point = self.points.iter().find(|point| point.x == x)?;
        Some(Summary { median: point.y, extent: point.extent })
    }
}

/// A table of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataTable {
    /// Above the table.
    pub title: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// One cell for each column.
    pub rows: Vec<Vec<String>>,
}

/// A number that the paper states, and ours.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// A description of the number and its setting.
    pub what: String,
    /// The paper's value.
    pub paper: f64,
    /// Ours; `None` if something that it needs is not there yet. The median, if there were several runs.
    pub ours: Option<f64>,
    /// Least and greatest of our runs, if there were several.
    pub extent: Option<(f64, f64)>,
}

impl Claim {
    /// A claim of the paper beside our value.
    pub fn new(what: impl Into<String>, paper: f64, ours: Option<f64>) -> Self {
        Self { what: what.into(), paper, ours, extent: None }
    }

    /// A claim of the paper beside what our runs gave.
    pub(crate) fn of_runs(what: impl Into<String>, paper: f64, ours: Option<Summary>) -> Self {
        let extent = ours.and_then(|ours| ours.extent);
        Self { extent, ..Self::new(what, paper, ours.map(|ours| ours.median)) }
    }

    /// What our runs gave.
    pub(super) fn summary(&self) -> Option<Summary> {
        self.ours.map(|median| Summary { median, extent: self.extent })
    }
}

/// `value` with three digits that mean something: `0.0271`, `4.30`, `1.60e-4`, `12,300`.
pub fn shown(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if !(1e-3..1e6).contains(&size) {
        format!("{value:.2e}")
    } else if size >= 99.95 {
        format!("{value:.0}")
    } else {
        #[expect(clippy::cast_possible_truncation, reason = "a size of 0.001 to 100 gives -3 to 1")]
        let digits_before = size.log10().floor() as i32;
        format!("{value:.0$}", usize::try_from(2 - digits_before).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_shown() {
        let cases = [
            (0.0, "0"),
            (0.02714, "0.0271"),
            (4.3, "4.30"),
            (1.6e-4, "1.60e-4"),
            (0.5, "0.500"),
            (12.34, "12.3"),
            (99.96, "100"),
            (12_345.6, "12346"),
            (2.5e7, "2.50e7"),
        ];
        for (value, text) in cases {
            assert_eq!(shown(value), text);
        }
    }
}
