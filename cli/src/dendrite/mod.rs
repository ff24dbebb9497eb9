//! Dendrites of some tables as a process.

pub(crate) mod config;
mod etcd;
mod metrics;
mod plan;
mod redis;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use lacuna_cache::Counts;
use lacuna_cache::cluster::{Dendrite, Membership};
use lacuna_cache::cluster::{Net, Secret, Server};
use lacuna_cache::etcd::EtcdCoordinator;
use lacuna_cache::sql::{Cache, Notice, shared_name};
use lacuna_cache_protocol::{Error, Result};
use tokio::net::TcpListener;
use tokio::sync::broadcast;

use crate::errors::Failure;
use crate::monitoring;
use crate::service::{say, start_log, stop_signal};

pub(crate) use plan::Plan;

/// What the process serves.
struct Serving {
    dendrites: BTreeMap<String, Dendrite>,
    /// The cache of each table, in the order in which they were opened: the first of a database has its connections.
    caches: Vec<(String, Cache)>,
    /// What leases the ranges of tables, where that is etcd.
    coordinators: Vec<Arc<EtcdCoordinator>>,
    /// Databases and shared names of the tables.
    names: BTreeSet<(String, String)>,
}

/// Runs a dendrite of each table until SIGTERM or Ctrl-C. The first plan says where the process listens.
///
/// # Errors
/// `BadInput` if it cannot be started, `DoesNotHold` if it has left acknowledged writes in log servers.
pub(crate) fn run(plans: &[Plan]) -> Result<(), Failure> {
    let ended = begin(plans).map_err(lacuna_base::Error::from)?;
    ended.map_err(|why| Failure::DoesNotHold(why.to_string()))
}

/// Whether it could be started, and then whether it has ended in order.
fn begin(plans: &[Plan]) -> Result<Result<()>> {
    start_log()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::unavailable(error.to_string()))?;
    runtime.block_on(serve(plans))
}

async fn serve(plans: &[Plan]) -> Result<Result<()>> {
    let first = plans.first().ok_or_else(|| Error::invalid_input("there is no table to serve"))?;
    let mut stop = pin!(stop_signal()?);
    let secret = Secret::from_file(&first.secret_file)?;
    let listener = Server::listen(&first.listen).await?;
    let monitored = monitored(first).await?;
    let here = listener.local_addr().map_err(|error| Error::unavailable(error.to_string()))?;
    let address = first.address.clone().unwrap_or_else(|| here.to_string());
    let serving = tokio::select! {
        serving = start_all(plans, &secret, &address) => Arc::new(serving?),
        // A database that does not answer is waited for half a minute. What was claimed is free when its leases end.
        () = &mut stop => return Ok(Ok(())),
    };
    let server = Server::start(listener, serving.dendrites.clone(), secret);
    say(&format!("listening at {address}: {}", listed(&serving.dendrites)));
    if let Some((listener, place)) = monitored {
        say(&format!("metrics at http://{place}/metrics"));
        tokio::spawn(monitoring::serve(listener, serving.clone()));
    }
    stop.await;
    let drained = server.stop().await;
    if drained.is_ok() {
        serving.leave().await;
    }
    let closed = serving.close().await;
    say(&counted(&serving.dendrites));
    Ok(drained.and(closed))
}

/// Where monitoring is answered.
async fn monitored(plan: &Plan) -> Result<Option<(TcpListener, SocketAddr)>> {
    let Some(address) = &plan.metrics else { return Ok(None) };
    let listener = Server::listen(address).await?;
    let here = listener.local_addr().map_err(|error| Error::unavailable(error.to_string()))?;
    Ok(Some((listener, here)))
}

/// A dendrite of each table; if one cannot be started, those that were are stopped.
async fn start_all(plans: &[Plan], secret: &Secret, address: &str) -> Result<Serving> {
    // Each once: many tables share them.
    let servers: BTreeSet<_> = plans.iter().flat_map(Plan::encrypted_servers).collect();
    for (how, url) in servers {
        how.check(url).await?;
    }
    let (caches, coordinators) = (Vec::new(), Vec::new());
    let mut serving = Serving { dendrites: BTreeMap::new(), caches, coordinators, names: BTreeSet::new() };
    for plan in plans {
        if let Err(why) = serving.add(plan, secret, address).await {
            let mut stopped = Ok(());
            for dendrite in serving.dendrites.values() {
                stopped = stopped.and(dendrite.stop().await);
            }
            if stopped.is_ok() {
                serving.leave().await;
            }
            drop(serving.close().await);
            return Err(why.with_context(format!("the table {}", plan.table)));
        }
    }
    Ok(serving)
}

impl Serving {
    async fn add(&mut self, plan: &Plan, secret: &Secret, address: &str) -> Result<()> {
        if self.dendrites.contains_key(&plan.table) {
            return Err(Error::invalid_input("it is named twice"));
        }
        // What is wrong with the settings is said before the database is asked.
        plan.options(&plan.table)?;
        let connected = self.caches.iter().find(|(store, _)| *store == plan.store);
        let name = match connected {
            Some((_, connected)) => connected.shared_name(&plan.table).await?,
            None => shared_name(&plan.store, &plan.table).await?,
        };
        if !self.names.insert((plan.store.clone(), name.clone())) {
            return Err(Error::invalid_input(format!("it is named twice: {name} is the same")));
        }
        let options = plan.options(&name)?;
        let cache = match connected {
            Some((_, connected)) => connected.beside(options).await?,
            None => options.open().await?,
        };
        let started = start(plan, &cache, &name, secret, address).await;
        self.caches.push((plan.store.clone(), cache));
        let (dendrite, etcd) = started?;
        self.coordinators.extend(etcd);
        tokio::spawn(complain(plan.table.clone(), dendrite.notices()));
        self.dendrites.insert(plan.table.clone(), dendrite);
        Ok(())
    }

    /// Leaves etcd once the ranges are released: other dendrites would expect a member to claim them again, until its lease is over.
    /// Where acknowledged writes are left in logs, the lease keeps the ranges from being cut.
    async fn leave(&self) {
        for etcd in &self.coordinators {
            // If etcd does not answer, the lease has to run out.
            drop(etcd.leave().await);
        }
    }

    /// Closes all connections, those that others share at last.
    async fn close(&self) -> Result<()> {
        let mut closed = Ok(());
        for (_, cache) in self.caches.iter().rev() {
            closed = closed.and(cache.stop().await);
        }
        closed
    }
}

/// A dendrite, and what leases its ranges if that is etcd.
type Started = (Dendrite, Option<Arc<EtcdCoordinator>>);

async fn start(plan: &Plan, cache: &Cache, name: &str, secret: &Secret, address: &str) -> Result<Started> {
    let schema = plan.schema()?;
    let cuts = plan.cut(&schema)?;
    let transport = Arc::new(Net::new(secret.clone(), &plan.table));
    let membership = |directory| Membership { directory, transport, address: address.to_owned() };
    if !plan.is_leased_by_etcd() {
        let ranges = Arc::new(cache.shared_ranges(&plan.table, &cuts, address).await?);
        return Ok((cache.dendrite(schema, ranges.clone(), membership(ranges)).await?, None));
    }
    let store = cache.store(schema.clone()).await?;
    let etcd = Arc::new(plan.etcd(name, address, cuts, store)?.open().await?);
    match cache.dendrite(schema, etcd.clone(), membership(etcd.clone())).await {
        Ok(dendrite) => Ok((dendrite, Some(etcd))),
        Err(why) => {
            // Other dendrites need not wait for the lease to expire.
            drop(etcd.leave().await);
            Err(why)
        }
    }
}

/// Prints notices for the application to standard error, a line each.
async fn complain(table: String, mut notices: broadcast::Receiver<Notice>) {
    loop {
        match notices.recv().await {
            Ok(notice) => eprintln!("lacuna: {table}: {notice:?}"),
            Err(broadcast::error::RecvError::Lagged(missed)) => {
                eprintln!("lacuna: {table}: {missed} notices came too fast to be printed");
            }
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}

/// `table people in 3 ranges`, and more of them.
fn listed(dendrites: &BTreeMap<String, Dendrite>) -> String {
    let tables = dendrites
        .iter()
        .map(|(table, dendrite)| format!("table {table} in {} ranges", dendrite.table().ranges().len()));
    tables.collect::<Vec<_>>().join(", ")
}

/// The counters of all tables together, and those of each.
fn counted(dendrites: &BTreeMap<String, Dendrite>) -> String {
    let object = |counts: &Counts| -> serde_json::Map<String, serde_json::Value> {
        counts.each().map(|(name, _, value)| (name.to_owned(), value.into())).collect()
    };
    let sum = dendrites.values().fold(Counts::default(), |sum, dendrite| sum.plus(dendrite.counts()));
    let tables: serde_json::Map<String, serde_json::Value> = dendrites
        .iter()
        .map(|(table, dendrite)| (table.clone(), object(&dendrite.counts()).into()))
        .collect();
    let mut all = object(&sum);
    all.insert("tables".to_owned(), tables.into());
    serde_json::Value::Object(all).to_string()
}
