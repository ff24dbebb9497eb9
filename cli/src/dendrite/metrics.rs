//! What a dendrite tells monitoring: `/metrics` for Prometheus and `/healthz`.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use lacuna_cache::{Counts, RangeGauges};
use lacuna_cache_protocol::Result;
use tokio::net::{TcpListener, TcpStream};

use crate::dendrite::Serving;

/// How long the store may take to prove that it answers.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a request may take to arrive.
const HEADER: Duration = Duration::from_secs(5);
const PREFIX: &str = "lacuna_cache";

/// Answers at `listener` until the process ends.
pub(super) async fn serve(listener: TcpListener, serving: Arc<Serving>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(answer_all(stream, serving.clone()));
            }
            // Out of file descriptors, for example: other connections may close soon.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn answer_all(stream: TcpStream, serving: Arc<Serving>) {
    let service = service_fn(|request| {
        let serving = serving.clone();
        async move { Ok::<_, Infallible>(answer(&request, &serving).await) }
    });
    let mut http = http1::Builder::new();
    let connection = http.timer(TokioTimer::new()).header_read_timeout(HEADER);
    // A caller that goes away is none of our business.
    drop(connection.serve_connection(TokioIo::new(stream), service).await);
}

async fn answer(request: &Request<Incoming>, serving: &Serving) -> Response<Full<Bytes>> {
    let (status, text) = match (request.method(), request.uri().path()) {
        (&Method::GET, "/metrics") => (StatusCode::OK, metrics(serving)),
        (&Method::GET, "/healthz") => match check(serving).await {
            Ok(()) => (StatusCode::OK, "ok\n".to_owned()),
            Err(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
        },
        _ => (StatusCode::NOT_FOUND, "there are GET /metrics and GET /healthz\n".to_owned()),
    };
    let mut response = Response::new(Full::new(text.into()));
    *response.status_mut() = status;
    response
}

/// Whether the database answers: without it no range can be claimed, and only hits are served.
async fn check(serving: &Serving) -> Result<()> {
    for (_, cache) in &serving.caches {
        let asked = tokio::time::timeout(PATIENCE, cache.run_sql("SELECT 1")).await;
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
        family(&mut text, &name, "counter", help, values);
    }
    let owned = tables.iter().map(|(table, _, gauges)| (table.as_str(), gauges.len() as u64));
    family(
        &mut text,
        &format!("{PREFIX}_owned_ranges"),
        "gauge",
        "Ranges that this process serves now.",
        owned,
    );
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
        family(text, &format!("{PREFIX}_{name}"), "gauge", help, values);
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

/// One metric of all tables.
fn family<'a>(
    text: &mut String,
    name: &str,
    kind: &str,
    help: &str,
    values: impl Iterator<Item = (&'a str, u64)>,
) {
    // A string takes all text.
    let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    for (table, value) in values {
        let _ = writeln!(text, "{name}{{table=\"{table}\"}} {value}");
    }
}

/// A name as the value of a label.
fn label(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_a_line_for_each_table() {
        let mut text = String::new();
        family(&mut text, "reads_total", "counter", "Reads.", [("a", 1), ("b", 2)].into_iter());
        let expected = "# HELP reads_total Reads.\n# TYPE reads_total counter\nreads_total{table=\"a\"} 1\nreads_total{table=\"b\"} 2\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn names_cannot_end_their_label() {
        assert_eq!(label("a\"} 1\nb\\"), "a\\\"} 1\\nb\\\\");
    }
}
