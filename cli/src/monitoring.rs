//! What a process tells monitoring over HTTP: `/metrics` in the text format of Prometheus, `/healthz`, and pages of its own.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderValue, X_CONTENT_TYPE_OPTIONS,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};

/// How long a request may take to arrive.
const HEADER: Duration = Duration::from_secs(5);
/// What a page may do: run what is in it, and ask this process.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What is monitored.
pub(crate) trait Monitored: Send + Sync + 'static {
    /// All metrics.
    fn metrics(&self) -> String;

    /// What `/healthz` says: `Err` if the process cannot do its work.
    fn health(&self) -> impl Future<Output = Result<String, String>> + Send;

    /// What other paths say, for a caller that has named this host; nothing unless there are pages.
    fn page(&self, _path: &str, _host: Option<&str>) -> impl Future<Output = Option<Page>> + Send {
        std::future::ready(None)
    }

    /// What is said of paths where nothing is.
    fn paths(&self) -> &'static str {
        "there are GET /metrics and GET /healthz\n"
    }
}

/// What is at a path.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) status: StatusCode,
    pub(crate) kind: &'static str,
    pub(crate) text: Bytes,
}

/// Answers at `listener` until the process ends.
pub(crate) async fn serve(listener: TcpListener, monitored: Arc<impl Monitored>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(answer_all(stream, monitored.clone()));
            }
            // Out of file descriptors, for example: other connections may close soon.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn answer_all(stream: TcpStream, monitored: Arc<impl Monitored>) {
    let service = service_fn(|request| {
        let monitored = monitored.clone();
        async move { Ok::<_, Infallible>(answer(&request, &*monitored).await) }
    });
    let mut http = http1::Builder::new();
    let connection = http.timer(TokioTimer::new()).header_read_timeout(HEADER);
    // A caller that goes away is none of our business.
    drop(connection.serve_connection(TokioIo::new(stream), service).await);
}

async fn answer(request: &Request<Incoming>, monitored: &impl Monitored) -> Response<Full<Bytes>> {
    let page = match (request.method(), request.uri().path()) {
        (&Method::GET, "/metrics") => Page {
            kind: "text/plain; version=0.0.4; charset=utf-8",
            ..plain(StatusCode::OK, monitored.metrics())
        },
        (&Method::GET, "/healthz") => match monitored.health().await {
            Ok(text) => plain(StatusCode::OK, format!("{text}\n")),
            Err(why) => plain(StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
        },
        (&Method::GET, path) => {
            let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
            monitored.page(path, host).await.unwrap_or_else(|| nothing(monitored))
        }
        _ => nothing(monitored),
    };
    let mut response = Response::new(Full::new(page.text));
    *response.status_mut() = page.status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(page.kind));
    // A page loads nothing, and nothing of it is kept or taken for another kind.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

fn nothing(monitored: &impl Monitored) -> Page {
    plain(StatusCode::NOT_FOUND, monitored.paths().to_owned())
}

/// A text that is no page.
pub(crate) fn plain(status: StatusCode, text: String) -> Page {
    Page { status, kind: "text/plain; charset=utf-8", text: text.into() }
}

/// One metric, a line for each value of a label.
pub(crate) fn family<'a>(
    text: &mut String,
    (name, kind, help): (&str, &str, &str),
    label: &str,
    values: impl Iterator<Item = (&'a str, u64)>,
) {
    // A string takes all text.
    let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    for (of, value) in values {
        let _ = writeln!(text, "{name}{{{label}=\"{of}\"}} {value}");
    }
}

/// A name as the value of a label.
pub(crate) fn label(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_a_line_for_each_table() {
        let mut text = String::new();
        family(&mut text, ("reads_total", "counter", "Reads."), "table", [("a", 1), ("b", 2)].into_iter());
        let expected = "# HELP reads_total Reads.\n# TYPE reads_total counter\nreads_total{table=\"a\"} 1\nreads_total{table=\"b\"} 2\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn names_cannot_end_their_label() {
        assert_eq!(label("a\"} 1\nb\\"), "a\\\"} 1\\nb\\\\");
    }
}
