//! A dendrite as a process.

mod etcd;
mod plan;

use std::future::Future;
use std::io::Write as _;
use std::sync::Arc;

use lacuna_cache::Counts;
use lacuna_cache::cluster::{Dendrite, Membership};
use lacuna_cache::cluster::{Net, Secret, Server};
use lacuna_cache::sql::{Cache, Notice};
use lacuna_cache_protocol::{Error, Result};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::broadcast;

pub(crate) use plan::Plan;

/// Runs a dendrite until SIGTERM or Ctrl-C.
pub(crate) fn run(plan: &Plan) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::unavailable(error.to_string()))?;
    runtime.block_on(serve(plan))
}

async fn serve(plan: &Plan) -> Result<()> {
    let stop = stop_signal()?;
    let secret = Secret::from_file(&plan.secret_file)?;
    let listener = Server::listen(&plan.listen).await?;
    let here = listener.local_addr().map_err(|error| Error::unavailable(error.to_string()))?;
    let address = plan.address.clone().unwrap_or_else(|| here.to_string());
    let cache = plan.options()?.open().await?;
    let dendrite = start(plan, &cache, &secret, &address).await?;
    tokio::spawn(complain(dendrite.notices()));
    let ranges = dendrite.table().ranges().len();
    let server = Server::start(listener, dendrite.clone(), secret);
    say(&format!("listening at {address}: table {} in {ranges} ranges", plan.table));
    stop.await;
    server.stop().await;
    cache.stop().await?;
    say(&counted(&dendrite.counts()));
    Ok(())
}

async fn start(plan: &Plan, cache: &Cache, secret: &Secret, address: &str) -> Result<Dendrite> {
    let schema = plan.schema()?;
    let cuts = plan.cut(&schema)?;
    let transport = Arc::new(Net::new(secret.clone()));
    let membership = |directory| Membership { directory, transport, address: address.to_owned() };
    if !plan.is_leased_by_etcd() {
        let ranges = Arc::new(cache.shared_ranges(&plan.table, &cuts, address).await?);
        return cache.dendrite(schema, ranges.clone(), membership(ranges)).await;
    }
    let store = cache.store(schema.clone()).await?;
    let etcd = Arc::new(plan.etcd(address, cuts, store)?.open().await?);
    let started = cache.dendrite(schema, etcd.clone(), membership(etcd.clone())).await;
    if started.is_err() {
        // Other dendrites need not wait for the lease to expire.
        drop(etcd.leave().await);
    }
    started
}

/// Resolves at SIGTERM or Ctrl-C.
fn stop_signal() -> Result<impl Future<Output = ()>> {
    let listen = |kind| signal(kind).map_err(|error| Error::unavailable(error.to_string()));
    let (mut terminate, mut interrupt) = (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Prints notices for the application to standard error, a line each.
async fn complain(mut notices: broadcast::Receiver<Notice>) {
    loop {
        match notices.recv().await {
            Ok(notice) => eprintln!("lacuna: {notice:?}"),
            Err(broadcast::error::RecvError::Lagged(missed)) => {
                eprintln!("lacuna: {missed} notices came too fast to be printed");
            }
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}

/// Prints one line for the parent program, which may not read it.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    drop(writeln!(out, "{line}").and_then(|()| out.flush()));
}

fn counted(counts: &Counts) -> String {
    serde_json::json!({
        "reads": counts.reads, "hits": counts.hits, "writes": counts.writes, "store_queries": counts.store_queries,
        "store_writes": counts.store_writes, "cache_calls": counts.cache_calls, "tenures": counts.tenures,
        "bypasses": counts.bypasses, "forwards": counts.forwards, "peer_calls": counts.peer_calls, "verified": counts.verified, "foreign_writes": counts.foreign_writes,
    })
    .to_string()
}
