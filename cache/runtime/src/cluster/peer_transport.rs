//! The messages of a dendrite to other dendrites.

use std::fmt::Debug;
use std::time::Duration;

use lacuna_cache_protocol::ports::Reply;
use lacuna_cache_protocol::{CallId, PeerCall, PeerId, PeerReply, Query, RangeId, Value, Write};

use crate::owner::open_lease::OpenLease;
use crate::owner::requests::Written;

/// Passes requests and calls to the dendrite at an address, which does not forward them again.
pub trait PeerTransport: Debug + Send + Sync {
    /// The marks of the domains of this dendrite ([`RangeTable::marks`](lacuna_cache_protocol::RangeTable::marks)), before anything
    /// is sent: one with others means other domains by the same numbers, and must not be asked.
    fn register(&self, marks: &[u64]) {
        let _ = marks;
    }

    /// The result of a query.
    ///
    /// # Errors
    /// `InvalidInput` if the store does not understand it, `Unavailable` if the dendrite is not there or not the owner.
    fn read<'a>(&'a self, address: &'a str, query: &'a Query, within: Duration) -> Reply<'a, Value>;

    /// Executes a write: [`NotDone`](crate::WriteError::NotDone) only if it certainly was not executed and will not be.
    fn write<'a>(&'a self, address: &'a str, write: &'a Write, within: Duration) -> Written<'a>;

    /// Results of several queries, all of one moment.
    ///
    /// # Errors
    /// As [`PeerTransport::read`].
    fn read_all<'a>(
        &'a self,
        address: &'a str,
        queries: &'a [Query],
        within: Duration,
    ) -> Reply<'a, Vec<Value>>;

    /// A lease on what `held` would touch, for at most `lasts`.
    ///
    /// # Errors
    /// As [`PeerTransport::read`].
    fn hold<'a>(
        &'a self,
        address: &'a str,
        held: &'a Write,
        lasts: Duration,
        within: Duration,
    ) -> Reply<'a, OpenLease>;

    /// Asks the owner of `range` for a lease, or releases one.
    ///
    /// # Errors
    /// `Unavailable` if no reply came.
    fn peer<'a>(
        &'a self,
        address: &'a str,
        range: RangeId,
        peer: PeerId,
        call: CallId,
        what: PeerCall,
    ) -> Reply<'a, PeerReply>;
}
