//! The page of a proxy and its data: what the cache spares, and which intervals of each column are there.
//!
//! | file | idea |
//! | --- | --- |
//! | `data.rs` | the data as JSON |
//! | `host.rs` | which names of this host a browser may have asked for |
//! | `page.html`, `style.css`, `script.js` | the page, which asks for the data every two seconds |
//!
//! Both show statements without their constants, and bounds of ranges: data of users.

mod data;
mod host;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::StatusCode;
use hyper::body::Bytes;
use lacuna_proxy::Monitor;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use crate::monitoring::{Page, plain};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// How old data may be: all entries are looked at, so not for each of many readers.
const FRESH: Duration = Duration::from_secs(1);

/// What the page shows, for those who may see it.
#[derive(Debug)]
pub(super) struct Status {
    monitor: Monitor,
    place: Place,
    begun: Instant,
    last: Mutex<Option<(Instant, Bytes)>>,
}

/// Where monitoring is answered.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) address: SocketAddr,
    /// The host as the command line names it.
    pub(super) name: String,
    /// Whether the page is shown to other machines, too.
    pub(super) is_for_all: bool,
}

impl Status {
    pub(super) fn new(monitor: Monitor, place: Place) -> Self {
        Self { monitor, place, begun: Instant::now(), last: Mutex::default() }
    }

    /// The page or its data.
    pub(super) async fn page(self: &Arc<Self>, path: &str, host: Option<&str>) -> Option<Page> {
        if !matches!(path, "/" | "/status.json") {
            return None;
        }
        if let Err(why) = self.place.admits(host) {
            return Some(plain(StatusCode::FORBIDDEN, format!("{why}\n")));
        }
        let (kind, text) = match path {
            "/" => ("text/html; charset=utf-8", html().into()),
            _ => ("application/json", self.data().await),
        };
        Some(Page { status: StatusCode::OK, kind, text })
    }

    /// What is asked for again while it is made waits for it.
    async fn data(self: &Arc<Self>) -> Bytes {
        let mut last = self.last.lock().await;
        if let Some((_, data)) = last.as_ref().filter(|(made, _)| made.elapsed() < FRESH) {
            return data.clone();
        }
        let status = self.clone();
        // Off the threads that relay.
        let made = spawn_blocking(move || data::json(&status.monitor, status.begun.elapsed())).await;
        let data: Bytes = made.map(|value| value.to_string()).unwrap_or_default().into();
        *last = Some((Instant::now(), data.clone()));
        data
    }
}

fn html() -> String {
    PAGE.replace("/* style */", STYLE).replace("/* script */", SCRIPT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_holds_all_that_it_needs() {
        let html = html();
        assert!(html.contains("status.json") && html.contains("--page:"));
        for other in ["http://", "https://", "src=", "@import", "url(", "innerHTML", "insertAdjacentHTML"] {
            let without = html.replace("http://www.w3.org/2000/svg", "");
            assert!(!without.contains(other), "{other}");
        }
    }
}
