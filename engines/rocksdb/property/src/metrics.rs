//! The counts under names, for whatever collects metrics.

use lacuna_guard::Metric;

use crate::table_guard::TableStats;

impl TableStats {
    /// Every count: those of the filters, tables read unasked by reason, and partitions. The first two say how many of the
    /// tables that were met could be asked. [`Metric::text`] makes a page for Prometheus of them.
    pub fn metrics(&self) -> impl Iterator<Item = Metric> {
        let reasons = [
            ("missing", self.scanned.missing),
            ("unsupported", self.scanned.unsupported),
            ("corrupt", self.scanned.corrupt),
            ("comparator", self.scanned.comparator),
        ];
        let unasked = reasons.into_iter().map(|(reason, value)| Metric {
            name: "lacuna_tables_unasked_total",
            label: Some(("reason", reason)),
            value,
        });
        self.filters.metrics().chain(unasked).chain(self.partitions.metrics())
    }
}
