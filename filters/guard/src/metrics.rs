//! The counts under names, for whatever collects metrics. Both adapters use the same names.

use std::fmt::{self, Write as _};

use crate::counts::{CountersSnapshot, LEVELS};

/// Labels of levels: deeper ones are counted with the last, files of no known level apart.
const LEVEL_LABELS: [&str; LEVELS] = ["0", "1", "2", "3", "4", "5", "6", "7"];

/// A count that only grows while the process lives. Shown as a line of Prometheus' text format.
///
/// ```
/// use lacuna_guard::Metric;
///
/// let name = "lacuna_tables_skipped_total";
/// let metric = Metric { name, label: Some(("level", "1")), value: 12 };
/// assert_eq!(metric.to_string(), "lacuna_tables_skipped_total{level=\"1\"} 12");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// Name of the count.
    pub name: &'static str,
    /// Name and value of the label that distinguishes it from others of its name.
    pub label: Option<(&'static str, &'static str)>,
    /// The count.
    pub value: u64,
}

impl Metric {
    /// These counts in the text format of Prometheus, with the type of each, for the body of an answer to
    /// `GET /metrics`. Counts of one name must follow each other.
    ///
    /// ```
    /// use lacuna_guard::{Counters, Metric};
    ///
    /// let text = Metric::text(Counters::default().snapshot().metrics());
    /// assert!(text.starts_with("# TYPE lacuna_tables_skipped_total counter\nlacuna_tables_skipped_total{level=\"0\"} 0\n"));
    /// ```
    pub fn text(metrics: impl IntoIterator<Item = Self>) -> String {
        let (mut text, mut last) = (String::new(), "");
        for metric in metrics {
            if metric.name != last {
                writeln!(text, "# TYPE {} counter", metric.name).expect("a string takes everything");
                last = metric.name;
            }
            writeln!(text, "{metric}").expect("a string takes everything");
        }
        text
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.label {
            Some((label, of)) => write!(f, "{}{{{label}=\"{of}\"}} {}", self.name, self.value),
            None => write!(f, "{} {}", self.name, self.value),
        }
    }
}

impl CountersSnapshot {
    /// Every count: tables skipped and passed by level, filters built, opened and not, learned gaps.
    pub fn metrics(&self) -> impl Iterator<Item = Metric> {
        self.by_level().chain(self.of_all_levels())
    }

    fn by_level(&self) -> impl Iterator<Item = Metric> {
        let levels = || (0..LEVELS).map(Some).zip(LEVEL_LABELS).chain([(None, "unknown")]);
        let count = |level, place: usize| {
            let asked = self.level(level);
            [asked.skipped, asked.skipped_by_gap, asked.passed, asked.false_positives][place]
        };
        let names = [
            "lacuna_tables_skipped_total",
            "lacuna_tables_skipped_by_gap_total",
            "lacuna_tables_passed_total",
            "lacuna_tables_passed_in_vain_total",
        ];
        names.into_iter().enumerate().flat_map(move |(place, name)| {
            let metric = move |(level, text)| Metric {
                name,
                label: Some(("level", text)),
                value: count(level, place),
            };
            levels().map(metric)
        })
    }

    fn of_all_levels(&self) -> impl Iterator<Item = Metric> {
        let gaps = &self.gaps;
        [
            ("lacuna_filters_built_total", self.built),
            ("lacuna_filters_built_bytes_total", self.built_bytes),
            ("lacuna_filters_coarsened_total", self.coarsened),
            ("lacuna_filters_hardly_answering_total", self.hardly_answering),
            ("lacuna_filters_not_stored_total", self.not_stored),
            ("lacuna_filters_failed_total", self.build_failures),
            ("lacuna_filters_opened_total", self.opened),
            ("lacuna_filters_absent_total", self.unfiltered),
            ("lacuna_filters_not_opened_total", self.open_failures),
            ("lacuna_filters_panicked_total", self.panics),
            ("lacuna_empty_scans_total", self.empty_scans),
            ("lacuna_gap_hints_total", gaps.hints),
            ("lacuna_gap_hints_dropped_total", gaps.hints_dropped),
            ("lacuna_gap_reads_total", gaps.reads),
            ("lacuna_gaps_learned_total", gaps.learned),
            ("lacuna_gap_hints_refuted_total", gaps.refuted),
            ("lacuna_gap_hints_unresolved_total", gaps.unresolved),
            ("lacuna_gap_failures_total", gaps.failures),
        ]
        .into_iter()
        .map(|(name, value)| Metric { name, label: None, value })
    }
}
