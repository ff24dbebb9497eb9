//! The result of a run of the two-level store.

use serde::{Deserialize, Serialize};

use super::store::{Layout, StorePlan, TwoLevelStore};
use lacuna_bench::BenchKey;

/// Exact counts of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) keys: u64,
    pub(super) queries: u64,
    pub(super) hits: u64,
    pub(super) candidates: u64,
    pub(super) reads: u64,
    pub(super) needed: u64,
    pub(super) wrong_answers: u64,
}

/// Counts and times of one store under one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Spec of the filters, or `off`.
    pub spec: String,
    /// `sstables:N` or `leaves:N`.
    pub layout: String,
    /// Keys in the store.
    pub keys: u64,
    /// Tables or leaves.
    pub parts: usize,
    /// Sealed bytes of all filters.
    pub filter_bytes: usize,
    /// Queries asked.
    pub queries: u64,
    /// Queries that found a key.
    pub hits: u64,
    /// Parts that queries would have read without filters.
    pub candidates: u64,
    /// Reads done.
    pub reads: u64,
    /// Reads of a part that held a key of the range.
    pub needed: u64,
    /// Reads that filters avoided.
    pub avoided: u64,
    /// Reads done for nothing.
    pub false_positives: u64,
    /// Answers that differ from a plain scan. Anything but 0 is a bug.
    pub wrong_answers: u64,
    /// Time to build, seal and open all filters, in nanoseconds.
    pub build_ns: f64,
    /// Time of all questions to filters, in nanoseconds; 0 without filters.
    pub filter_ns: f64,
    /// Time of the workload, reads included, in nanoseconds.
    pub overall_ns: f64,
}

impl Outcome {
    pub(super) fn new<K: BenchKey + ?Sized>(
        plan: &StorePlan<'_>,
        store: &TwoLevelStore<K>,
        counts: Counts,
        filter_ns: f64,
        overall_ns: f64,
    ) -> Self {
        let layout = match plan.layout {
            Layout::SsTables { table_count } => format!("sstables:{table_count}"),
            Layout::Leaves { keys_per_leaf } => format!("leaves:{keys_per_leaf}"),
        };
        // A needed read that a filter denied is not a false positive; `wrong_answers` reports it.
        Self {
            spec: plan.spec.to_owned(),
            layout,
            keys: counts.keys,
            parts: store.part_count(),
            filter_bytes: store.filter_bytes(),
            queries: counts.queries,
            hits: counts.hits,
            candidates: counts.candidates,
            reads: counts.reads,
            needed: counts.needed,
            avoided: counts.candidates - counts.reads,
            false_positives: counts.reads.saturating_sub(counts.needed),
            wrong_answers: counts.wrong_answers,
            build_ns: store.build_ns(),
            filter_ns,
            overall_ns,
        }
    }

    /// Questions to filters in a second; none without filters.
    pub fn filter_questions_per_second(&self) -> Option<f64> {
        (self.filter_ns > 0.0).then(|| self.candidates as f64 / self.filter_ns * 1e9)
    }

    /// Queries in a second, reads included; infinite when a run takes no time at all.
    pub fn queries_per_second(&self) -> f64 {
        self.queries as f64 / self.overall_ns * 1e9
    }

    /// Building the filters and running the workload, in nanoseconds.
    pub fn total_ns(&self) -> f64 {
        self.build_ns + self.overall_ns
    }

    /// Sealed bits per key of all filters.
    pub fn bits_per_key(&self) -> f64 {
        self.filter_bytes as f64 * 8.0 / self.keys as f64
    }
}
