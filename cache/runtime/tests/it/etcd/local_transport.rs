//! Dendrites that find each other by their addresses, without a network.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use lacuna_cache::WriteError;
use lacuna_cache::cluster::Dendrite;
use lacuna_cache::cluster::testing::{Answer, Forwarding, PeerTransport};
use lacuna_cache::testing::{OpenLease, Written};
use lacuna_cache_protocol::ports::Reply;
use lacuna_cache_protocol::{CallId, PeerCall, PeerId, PeerReply, Query, RangeId, Value, Write};
use lacuna_cache_protocol::{Error, Result};
use tokio::runtime::Handle;

/// Dendrites of one process, each in a runtime of its own, which reach each other by their addresses as strangers do.
#[derive(Debug, Default)]
pub(crate) struct LocalTransport(Mutex<BTreeMap<String, (Handle, Dendrite)>>);

fn gone() -> Error {
    Error::unavailable("no dendrite has this address")
}

fn moved() -> Error {
    Error::unavailable("the owner is elsewhere")
}

impl LocalTransport {
    /// A dendrite that can be reached from now on.
    pub(crate) fn add(&self, address: &str, runtime: Handle, dendrite: Dendrite) {
        self.0.lock().unwrap().insert(address.to_owned(), (runtime, dendrite));
    }

    /// No dendrite can be reached there from now on.
    pub(crate) fn remove(&self, address: &str) {
        self.0.lock().unwrap().remove(address);
    }

    /// Has the dendrite at `address` do something, in its own runtime.
    async fn at<T: Send + 'static, F>(&self, address: &str, what: impl FnOnce(Dendrite) -> F) -> Result<T>
    where
        F: Future<Output = T> + Send + 'static,
    {
        let (runtime, dendrite) = self.0.lock().unwrap().get(address).cloned().ok_or_else(gone)?;
        runtime.spawn(what(dendrite)).await.map_err(|_| gone())
    }
}

impl PeerTransport for LocalTransport {
    fn read<'a>(&'a self, address: &'a str, query: &'a Query, within: Duration) -> Reply<'a, Value> {
        let query = query.clone();
        Box::pin(async move {
            let read = |there: Dendrite| async move { there.read(&query, within, Forwarding::Here).await };
            match self.at(address, read).await?? {
                Answer::Is(value) => Ok(value),
                Answer::At(..) => Err(moved()),
            }
        })
    }

    fn write<'a>(&'a self, address: &'a str, write: &'a Write, within: Duration) -> Written<'a> {
        let write = write.clone();
        Box::pin(async move {
            if !self.0.lock().unwrap().contains_key(address) {
                return Err(WriteError::NotDone(gone()));
            }
            let put = |there: Dendrite| async move { there.write(&write, within, Forwarding::Here).await };
            match self.at(address, put).await.map_err(|_| WriteError::Unknown)?? {
                Answer::Is(()) => Ok(()),
                Answer::At(..) => Err(WriteError::NotDone(moved())),
            }
        })
    }

    fn read_all<'a>(
        &'a self,
        address: &'a str,
        queries: &'a [Query],
        within: Duration,
    ) -> Reply<'a, Vec<Value>> {
        let queries = queries.to_vec();
        Box::pin(async move {
            let read =
                |there: Dendrite| async move { there.read_all(&queries, within, Forwarding::Here).await };
            match self.at(address, read).await?? {
                Answer::Is(values) => Ok(values),
                Answer::At(..) => Err(moved()),
            }
        })
    }

    fn hold<'a>(
        &'a self,
        address: &'a str,
        held: &'a Write,
        lasts: Duration,
        within: Duration,
    ) -> Reply<'a, OpenLease> {
        let held = held.clone();
        Box::pin(async move {
            let ask =
                |there: Dendrite| async move { there.hold(&held, lasts, within, Forwarding::Here).await };
            match self.at(address, ask).await?? {
                Answer::Is(lease) => Ok(lease),
                Answer::At(..) => Err(moved()),
            }
        })
    }

    fn peer<'a>(
        &'a self,
        address: &'a str,
        range: RangeId,
        peer: PeerId,
        call: CallId,
        what: PeerCall,
    ) -> Reply<'a, PeerReply> {
        Box::pin(async move {
            self.at(address, |there| async move { there.peer(range, peer, call, what).await }).await?
        })
    }
}
