//! How the account goes on from one server to the next, and all sessions with it.
//!
//! | step | reason |
//! | --- | --- |
//! | the cache is closed, and everything dropped | replies are those of one server |
//! | sessions end, and none begins | what they still write where they are would be missing at the next server |
//! | the tables are claimed at the next server | another process may cache them there |
//! | guards and log are begun anew, and the catalogue is read | server processes and places in the log are those of one server |
//! | sessions begin there | nothing is shown until transactions of before have ended, as after a start |
//!
//! Guarantee: the proxy has sessions at one server at a time. So no reply that is shown is older than a write that was answered through
//! the proxy, but for writes that the next server never got from the last one.

use std::mem;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use lacuna_base::{Error, Result};
use lacuna_cache::sql::{Statement, TableClaim, TableClaims};
use lacuna_cache_protocol::ErrorKind;
use tokio::time::{sleep, timeout};

use super::servers::{OF_OWN, QUESTION, Server, Servers};
use super::{LOOK, Looked, Tables, Watcher, superseded};
use crate::cache::Cache;

/// Longest wait for a connection to the next server.
const ARRIVAL: Duration = Duration::from_secs(10);

impl Watcher {
    /// Goes on to another server if that is due.
    ///
    /// # Errors
    /// Why there is none to be at.
    pub(super) async fn follow(&self, servers: &Servers, cache: &Cache, looked: &mut Looked) -> Result<()> {
        let is_there = servers.is_there();
        if is_there && !looked.has_failed {
            return Ok(());
        }
        let own = if is_there {
            let question = Statement::new(QUESTION);
            let asked = timeout(OF_OWN, self.rows(&question)).await;
            asked.unwrap_or_else(|_| Err(Error::unavailable("it does not answer"))).and_then(Server::read)
        } else {
            Err(Error::unavailable("it was left"))
        };
        if own.is_err() {
            // Servers that wait to be promoted are not asked all the time.
            sleep(LOOK).await;
        }
        let takes_none = own.as_ref().is_ok_and(|own| !own.takes_writes());
        match servers.next(own).await {
            Ok(Some(next)) => self.go_on(servers, next.host, cache, looked).await,
            Ok(None) => Ok(()),
            Err(why) => {
                if is_there && takes_none {
                    // A read there may be older than a write that was answered elsewhere.
                    tracing::warn!(%why, "the account's server takes no writes any more");
                    cache.results.close("the account's server takes no writes any more");
                    let server = servers.connector.leave().await;
                    cache.goes_to_server(server);
                    servers.is_gone();
                }
                Err(why)
            }
        }
    }

    /// Leaves the server for that of another host: see the module.
    async fn go_on(&self, servers: &Servers, host: usize, cache: &Cache, looked: &mut Looked) -> Result<()> {
        let (name, url) = (&servers.names[host], &servers.urls[host]);
        if servers.is_there() {
            tracing::warn!(%name, "the account leaves its server for another one");
        }
        cache.results.close("the account goes on to another server");
        let server = servers.connector.leave().await;
        cache.goes_to_server(server);
        for (_, hold) in mem::take(&mut self.lock().unsettled) {
            cache.release(hold);
        }
        *looked = Looked { has_failed: true, ..Looked::default() };
        let opened = timeout(ARRIVAL, self.claims().open_again(url)).await;
        let claims = opened.map_err(|_| Error::unavailable(format!("{name} does not answer")))??;
        let claimed = self.claimed_at(&claims, cache).await?;
        if let Some(guard) = &self.guard {
            guard.begin_again(url, server).await?;
        }
        if let Some(log) = &cache.log {
            log.go_on(url).await;
        }
        self.lock().claimed = claimed;
        let left = {
            let mut known = self.claims.write().unwrap_or_else(PoisonError::into_inner);
            mem::replace(&mut *known, Arc::new(claims))
        };
        drop(timeout(LOOK, left.close()).await);
        // Otherwise the first sessions would be taken for those of another server. What is wrong with it is found by the look.
        let registered = self.lock().registered.clone();
        if let (Ok(oldest), Ok(catalogue)) = (self.oldest().await, self.reading(&registered).await) {
            cache.read(catalogue, oldest);
        }
        servers.arrive();
        Ok(())
    }

    /// The tables that are claimed, claimed at another server.
    async fn claimed_at(&self, claims: &TableClaims, cache: &Cache) -> Result<Vec<(String, TableClaim)>> {
        let names: Vec<String> = self.lock().claimed.iter().map(|(name, _)| name.clone()).collect();
        let mut claimed = Vec::with_capacity(names.len());
        for name in names {
            match claims.claim(&name).await {
                Ok(claim) => claimed.push((name, claim)),
                Err(why) if why.kind() == ErrorKind::Conflict => return Err(superseded(cache)),
                // One that is not there is claimed once it is; nothing is shown before.
                Err(why) if why.kind() == ErrorKind::InvalidInput && self.is_registered(&name) => {}
                Err(why) => return Err(why.into()),
            }
        }
        Ok(claimed)
    }

    fn is_registered(&self, name: &str) -> bool {
        self.lock().registered.tables().any(|(schema, table)| name == format!("{schema}.{table}"))
    }

    /// Claims registered tables that were not there when the account came to its server.
    pub(super) async fn claim_missing(&self, cache: &Cache) -> Result<()> {
        let missing: Vec<(String, String)> = {
            let Tables { registered, claimed, .. } = &*self.lock();
            let is_missing = |(schema, table): &(&str, &str)| {
                let name = format!("{schema}.{table}");
                claimed.iter().all(|(of, _)| *of != name)
            };
            let missing = registered.tables().filter(is_missing);
            missing.map(|(schema, table)| (schema.to_owned(), table.to_owned())).collect()
        };
        for (schema, table) in missing {
            let name = format!("{schema}.{table}");
            match self.claims().claim(&name).await {
                Ok(claim) => self.lock().claimed.push((name, claim)),
                Err(why) if why.kind() == ErrorKind::Conflict => return Err(superseded(cache)),
                Err(why) => return Err(why.into()),
            }
        }
        Ok(())
    }
}
