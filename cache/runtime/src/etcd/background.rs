//! Background work: renewing the lease, watching for changes, executing wishes.
//!
//! A watch signals when anything below the prefix changes; the change is then read, from the majority. So a watch
//! that breaks, or hangs on a member that is cut off, costs only time: everything is read each third of the lease
//! anyway.

use std::sync::Weak;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use lacuna_cache_protocol::Result;
use serde_json::json;
use tokio::time::{sleep, timeout};
use tracing::warn;

use crate::etcd::coordinator::Inner;
use crate::etcd::kv::all_below;
use crate::etcd::recutting;

/// Changes that come together are read together.
const TOGETHER: Duration = Duration::from_millis(20);

/// Runs until the coordinator is dropped.
pub(crate) async fn run(coordinator: Weak<Inner>) {
    let (mut bell, mut fails) = (None, false);
    loop {
        let Some(inner) = coordinator.upgrade() else { return };
        let period = Duration::from_millis(inner.options.ttl_ms() / 3);
        if bell.is_none() {
            bell = hang_up_bell(&inner).await;
        }
        let renewed = round(&inner).await;
        if renewed.is_err() {
            bell = None;
        }
        // Said when it begins and when it ends: while etcd is away there are several rounds a second.
        if renewed.is_err() != std::mem::replace(&mut fails, renewed.is_err()) {
            match renewed {
                Ok(()) => warn!("the lease of this process is renewed in etcd again"),
                Err(error) => warn!(%error, "the lease of this process is not renewed in etcd"),
            }
        }
        drop(inner);
        wait(&mut bell, period).await;
    }
}

async fn round(inner: &Inner) -> Result<()> {
    // What has left stays away: a change that its watch reports may be the end of its own keys.
    let Some(beat) = inner.session.beat_if_joined().await? else { return Ok(()) };
    recutting::carry_out(inner, &beat.map).await.map(drop)
}

async fn hang_up_bell(inner: &Inner) -> Option<Incoming> {
    let body = json!({ "create_request": all_below(&inner.session.prefix) });
    inner.session.cluster.stream("/v3/watch", &body).await.ok()
}

/// Waits until the watch signals, or a third of the lease is over.
async fn wait(bell: &mut Option<Incoming>, period: Duration) {
    let Some(stream) = bell else { return sleep(period / 4).await };
    let Ok(rung) = timeout(period, stream.frame()).await else { return };
    sleep(TOGETHER).await;
    let mut is_open = matches!(rung, Some(Ok(_)));
    while is_open && let Ok(more) = timeout(Duration::ZERO, stream.frame()).await {
        is_open = matches!(more, Some(Ok(_)));
    }
    if !is_open {
        *bell = None;
    }
}
