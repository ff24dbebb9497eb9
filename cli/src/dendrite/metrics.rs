//! What a dendrite tells monitoring: `/metrics` for Prometheus and `/healthz`.

use std::fmt::Write as _;
use std::time::Duration;

use lacuna_cache::{Counts, RangeGauges};

use crate::dendrite::Serving;
use crate::monitoring::{Monitored, family, label};

/// How long the store may take to prove that it answers.
const PATIENCE: Duration = Duration::from_secs(2);
const PREFIX: &str = "lacuna_cache";
/// The label of what belongs to a table.
const TABLE: &str = "table";

impl Monitored for Serving {
    fn metrics(&self) -> String {
        metrics(self)
    }

    async fn health(&self) -> Result<String, String> {
        check(self).await.map(|()| "ok".to_owned()).map_err(|why| why.to_string())
    }
}

/// Whether the database answers: without it no range can be claimed, and only hits are served.
async fn check(serving: &Serving) -> lacuna_cache_protocol::Result<()> {
    for (_, cache) in &serving.caches {
        let asked = tokio::time::timeout(PATIENCE, cache.check_database()).await;
        asked.unwrap_or_else(|_| {
            Err(lacuna_cache_protocol::Error::unavailable("the store does not answer"))
        })?;
    }
    Ok(())
}

/// Counters and ranges of each table, in the text format of Prometheus.
fn metrics(serving: &Serving) -> String {
    let tables: Vec<_> = serving
        .dendrites
        .iter()
        .map(|(table, dendrite)| (label(table), dendrite.counts(), dendrite.gauges()))
        .collect();
    let mut text = String::new();
    let names = tables.first().map(|(_, counts, _)| *counts).unwrap_or_default();
    for (place, (name, help, _)) in names.each().enumerate() {
        let name = format!("{PREFIX}_{name}_total");
        let values = tables.iter().map(|(table, counts, _)| {
            (table.as_str(), counts.each().nth(place).map_or(0, |(_, _, value)| value))
        });
        family(&mut text, (&name, "counter", help), TABLE, values);
    }
    let owned = tables.iter().map(|(table, _, gauges)| (table.as_str(), gauges.len() as u64));
    let name = format!("{PREFIX}_owned_ranges");
    family(&mut text, (&name, "gauge", "Ranges that this process serves now."), TABLE, owned);
    held(&mut text, &tables);
    text
}

type Tables = [(String, Counts, Vec<RangeGauges>)];

/// What the ranges of each table hold together, and the requests for each range.
fn held(text: &mut String, tables: &Tables) {
    let first = tables.iter().find_map(|(_, _, gauges)| gauges.first());
    for (place, (name, help, _)) in first.iter().flat_map(|first| first.each()).enumerate() {
        let sum = |gauges: &[RangeGauges]| {
            gauges.iter().filter_map(|range| range.each().nth(place)).map(|(_, _, value)| value).sum()
        };
        let values = tables.iter().map(|(table, _, gauges)| (table.as_str(), sum(gauges)));
        family(text, (&format!("{PREFIX}_{name}"), "gauge", help), TABLE, values);
    }
    let name = format!("{PREFIX}_range_requests_total");
    let _ = write!(text, "# HELP {name} Requests for a range.\n# TYPE {name} counter\n");
    for (table, _, gauges) in tables {
        for range in gauges {
            let _ =
                writeln!(text, "{name}{{table=\"{table}\",range=\"{}\"}} {}", range.range.0, range.requests);
        }
    }
}
