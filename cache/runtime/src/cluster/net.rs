//! How a dendrite reaches the others.

use std::time::Duration;

use crate::cluster::peer_transport::PeerTransport;
use crate::owner::{OpenLease, WriteError, Written};
use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::ports::Reply;
use lacuna_cache_protocol::{CallId, PeerCall, PeerId, PeerReply, Query, RangeId, Value, Write};

use crate::cluster::ask::{self, Answered, Asking, unexpected_message};
use crate::cluster::hello::Role;
use crate::cluster::hold;
use crate::cluster::links::Links;
use crate::cluster::message::Message;
use crate::cluster::network::Network;
use crate::cluster::secret::Secret;

/// How long the call of an owner may take; the owner repeats it on its own.
const PEER_WITHIN: Duration = Duration::from_secs(10);

/// Dendrites over TCP.
#[derive(Debug)]
pub struct Net {
    links: Links,
}

impl Net {
    /// The dendrites of a collection, which share a secret.
    pub fn new(secret: Secret, collection: &str) -> Self {
        Self { links: Links::new(secret, collection) }
    }

    /// Dendrites on another network than the machine's.
    #[doc(hidden)]
    pub fn over(network: impl Network, secret: Secret, collection: &str) -> Self {
        Self { links: Links::over(network, secret, collection) }
    }

    async fn ask_owner(&self, address: &str, request: impl FnOnce(u64) -> Message) -> Result<PeerReply> {
        let link = self.links.to(address, Role::Owner).await?;
        match link.within(PEER_WITHIN, link.ask_now(request)).await? {
            Message::Held(_, reply) => Ok(reply),
            Message::Failed(.., fault) => Err(fault.into_error()),
            _ => Err(unexpected_message()),
        }
    }
}

/// The terms of a request that must not be forwarded again.
const fn asking(within: Duration) -> Asking {
    Asking { within, may_redirect: false, version: 0 }
}

impl PeerTransport for Net {
    fn register(&self, marks: &[u64]) {
        self.links.register(marks);
    }

    fn read<'a>(&'a self, address: &'a str, query: &'a Query, within: Duration) -> Reply<'a, Value> {
        Box::pin(async move {
            let link = self.links.to(address, Role::Dendrite).await?;
            ask::read(&link, query, asking(within)).await?.is()
        })
    }

    fn write<'a>(&'a self, address: &'a str, write: &'a Write, within: Duration) -> Written<'a> {
        Box::pin(async move {
            let link = self.links.to(address, Role::Dendrite).await.map_err(WriteError::NotDone)?;
            match ask::write(&link, write, asking(within)).await? {
                Answered::Is(()) => Ok(()),
                Answered::Redirected(_) => Err(WriteError::Unknown),
            }
        })
    }

    fn read_all<'a>(
        &'a self,
        address: &'a str,
        queries: &'a [Query],
        within: Duration,
    ) -> Reply<'a, Vec<Value>> {
        Box::pin(async move {
            let link = self.links.to(address, Role::Dendrite).await?;
            ask::read_all(&link, queries, asking(within)).await?.is()
        })
    }

    fn hold<'a>(
        &'a self,
        address: &'a str,
        held: &'a Write,
        lasts: Duration,
        within: Duration,
    ) -> Reply<'a, OpenLease> {
        Box::pin(async move {
            let link = self.links.to(address, Role::Dendrite).await?;
            hold::ask(link, held.clone(), lasts, asking(within)).await?.is()
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
        Box::pin(self.ask_owner(address, move |ticket| Message::Peer(ticket, range, peer, call, what)))
    }
}
