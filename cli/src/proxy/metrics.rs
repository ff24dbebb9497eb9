//! What a proxy tells monitoring.

use std::fmt::Write as _;
use std::sync::Arc;

use lacuna_proxy::{CacheCounts, Counts, Monitor, ShadowCounts};

use super::status::{Place, Status};
use crate::monitoring::{Monitored, Page, family, label};

const PREFIX: &str = "lacuna_proxy";

/// Name, kind, help and value.
type Metric = (&'static str, &'static str, &'static str, u64);

/// A proxy as monitoring sees it.
#[derive(Debug, Clone)]
pub(super) struct Monitoring {
    monitor: Monitor,
    status: Arc<Status>,
}

impl Monitoring {
    pub(super) fn new(monitor: Monitor, place: Place) -> Self {
        Self { status: Arc::new(Status::new(monitor.clone(), place)), monitor }
    }
}

impl Monitored for Monitoring {
    fn metrics(&self) -> String {
        let mut text = String::new();
        of_sessions(self.monitor.counts()).iter().for_each(|metric| add(&mut text, metric));
        if let Some(counts) = self.monitor.cache_counts() {
            of_cache(&counts).iter().for_each(|metric| add(&mut text, metric));
            if let Some(shadow) = &counts.shadow {
                of_shadow(shadow).iter().for_each(|metric| add(&mut text, metric));
            }
            seconds(&mut text, &counts);
            relayed(&mut text, &counts);
        }
        text
    }

    /// A proxy whose cache shows nothing still relays.
    async fn health(&self) -> Result<String, String> {
        if self.monitor.is_stopping() {
            return Err("the proxy stops".to_owned());
        }
        let closed = self.monitor.cache_counts().and_then(|counts| counts.closed);
        Ok(closed.map_or_else(|| "ok".to_owned(), |why| format!("ok; the cache shows nothing: {why}")))
    }

    async fn page(&self, path: &str, host: Option<&str>) -> Option<Page> {
        self.status.page(path, host).await
    }

    fn paths(&self) -> &'static str {
        "there are GET /, GET /status.json, GET /metrics and GET /healthz\n"
    }
}

fn of_sessions(counts: Counts) -> [Metric; 5] {
    let Counts { open, sessions, refused, cancels, unfollowed, .. } = counts;
    [
        ("sessions", "gauge", "Sessions that are open.", open as u64),
        ("sessions_total", "counter", "Sessions that were begun.", sessions),
        ("refused_total", "counter", "Clients that were refused.", refused),
        ("cancels_total", "counter", "Requests to cancel a statement.", cancels),
        ("unfollowed_total", "counter", "Sessions that were relayed without being followed.", unfollowed),
    ]
}

fn of_cache(counts: &CacheCounts) -> [Metric; 16] {
    let CacheCounts { hits, misses, filled, writes, dropped, logged, doubts, questions, .. } = *counts;
    let of_log = "Transactions in the log of the database that touched registered columns.";
    let of_list = "Columns that were taken off the list of registered ones while it ran.";
    let auto = counts.auto.as_ref();
    let added = auto.map_or(0, |auto| auto.added);
    let refused = auto.map_or(0, |auto| auto.refused.len());
    [
        ("cache_hits_total", "counter", "Statements that were answered from the cache.", hits),
        ("cache_misses_total", "counter", "Statements whose reply could have been there.", misses),
        ("cache_filled_total", "counter", "Replies that were kept.", filled),
        ("cache_writes_total", "counter", "Writes before which entries were dropped.", writes),
        ("cache_dropped_total", "counter", "Entries that writes have dropped.", dropped),
        ("cache_logged_total", "counter", of_log, logged),
        ("cache_doubts_total", "counter", "Writes whose answer never came.", doubts),
        ("cache_questions_total", "counter", "Questions to sessions about their settings.", questions),
        ("cache_entries", "gauge", "Replies that are kept.", counts.entries as u64),
        ("cache_bytes", "gauge", "Bytes that they take, nearly.", counts.bytes as u64),
        ("cache_tables", "gauge", "Registered tables.", counts.tables as u64),
        ("cache_columns", "gauge", "Registered columns.", counts.columns as u64),
        ("cache_columns_removed_total", "counter", of_list, counts.unregistered),
        ("cache_columns_added_total", "counter", "Columns that were registered while it ran.", added),
        (
            "cache_columns_refused",
            "gauge",
            "Columns that would spare enough and may not be registered.",
            refused as u64,
        ),
        ("cache_is_open", "gauge", "Whether replies are shown.", u64::from(counts.closed.is_none())),
    ]
}

fn of_shadow(shadow: &ShadowCounts) -> [Metric; 4] {
    let ShadowCounts { would_be_hits, equal, different, .. } = *shadow;
    let differs = "Those of which the server's reply differs: broken promises.";
    let not_compared = shadow.not_compared();
    [
        ("shadow_hits_total", "counter", "Statements that the cache would have answered.", would_be_hits),
        ("shadow_equal_total", "counter", "Those to which the server answered the same.", equal),
        ("shadow_different_total", "counter", differs, different),
        ("shadow_not_compared_total", "counter", "Those that could not be compared.", not_compared),
    ]
}

fn add(text: &mut String, (name, kind, help, value): &Metric) {
    // A string takes all text.
    let _ = write!(
        text,
        "# HELP {PREFIX}_{name} {help}\n# TYPE {PREFIX}_{name} {kind}\n{PREFIX}_{name} {value}\n"
    );
}

/// Time from a statement to its answer, hits and replies that were kept apart, and for how long everything is held.
fn seconds(text: &mut String, counts: &CacheCounts) {
    let of_held =
        "For how long the oldest write without an answer that may touch everything has held everything.";
    for (name, kind, help, time) in [
        ("cache_hit_seconds_total", "counter", "Time that hits took in the proxy.", counts.hit_time),
        (
            "cache_fill_seconds_total",
            "counter",
            "Time that replies took until they were kept.",
            counts.fill_time,
        ),
        (
            "cache_saved_seconds_total",
            "counter",
            "Time of the server that hits have spared.",
            counts.saved_time,
        ),
        ("cache_held_seconds", "gauge", of_held, counts.held),
    ] {
        let name = format!("{PREFIX}_{name}");
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {}\n", time.as_secs_f64());
    }
}

fn relayed(text: &mut String, counts: &CacheCounts) {
    let name = format!("{PREFIX}_cache_relayed_total");
    let reasons: Vec<(String, u64)> =
        counts.relayed.iter().map(|(reason, count)| (label(reason), *count)).collect();
    let values = reasons.iter().map(|(reason, count)| (&reason[..], *count));
    family(text, (&name, "counter", "Statements that were relayed, by reason."), "reason", values);
}
