//! The counts under names, for whatever collects metrics.

use std::fmt;

use crate::table_guard::TableStats;

/// Labels of levels: deeper ones are counted with the last, tables of no known level apart.
const LEVELS: [(Option<usize>, &str); 9] = [
    (Some(0), "0"),
    (Some(1), "1"),
    (Some(2), "2"),
    (Some(3), "3"),
    (Some(4), "4"),
    (Some(5), "5"),
    (Some(6), "6"),
    (Some(7), "7"),
    (None, "unknown"),
];

/// A count that only grows while the process lives. Shown as a line of Prometheus' text format.
///
/// ```
/// use lacuna_rocksdb_property::Metric;
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

impl TableStats {
    /// Every count: tables skipped and passed by level, tables read unasked by reason, filters built or not. Together
    /// they say how many of the tables that were met could be asked.
    pub fn metrics(&self) -> impl Iterator<Item = Metric> {
        self.by_level().chain(self.of_all_levels())
    }

    fn by_level(&self) -> impl Iterator<Item = Metric> {
        LEVELS.into_iter().flat_map(|(level, text)| {
            let asked = self.filters.level(level);
            [
                ("lacuna_tables_skipped_total", asked.skipped),
                ("lacuna_tables_skipped_by_gap_total", asked.skipped_by_gap),
                ("lacuna_tables_passed_total", asked.passed),
                ("lacuna_tables_passed_in_vain_total", asked.false_positives),
            ]
            .map(|(name, value)| Metric { name, label: Some(("level", text)), value })
        })
    }

    fn of_all_levels(&self) -> impl Iterator<Item = Metric> {
        let (scanned, filters) = (&self.scanned, &self.filters);
        [
            ("lacuna_tables_unasked_total", Some("missing"), scanned.missing),
            ("lacuna_tables_unasked_total", Some("unsupported"), scanned.unsupported),
            ("lacuna_tables_unasked_total", Some("corrupt"), scanned.corrupt),
            ("lacuna_tables_unasked_total", Some("comparator"), scanned.comparator),
            ("lacuna_filters_built_total", None, filters.built),
            ("lacuna_filters_built_bytes_total", None, filters.built_bytes),
            ("lacuna_filters_coarsened_total", None, filters.coarsened),
            ("lacuna_filters_not_stored_total", None, filters.not_stored),
            ("lacuna_filters_failed_total", None, filters.build_failures),
            ("lacuna_empty_scans_total", None, filters.empty_scans),
        ]
        .into_iter()
        .map(|(name, reason, value)| Metric {
            name,
            label: reason.map(|reason| ("reason", reason)),
            value,
        })
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
