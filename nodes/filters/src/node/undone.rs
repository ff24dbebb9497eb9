//! Work that takes long, in pieces: a program that shares a node under a lock does the long parts without it.
//!
//! ```text
//! lock:    undone -> Copied          a piece of a filter was copied; again
//! lock:    undone -> Encode(whole)
//!          whole.encode()            without the lock
//! lock:    encoded(...)
//! ```

use super::Node;
use crate::fetch::{FetchedBytes, FetchedFilter};
use crate::key_id::NodeId;
use crate::publisher::{EncodedFilter, WholeFilter};

/// A piece of work.
#[derive(Debug)]
pub enum Undone {
    /// None is left.
    Nothing,
    /// A piece was done under the lock.
    Copied,
    /// To be dropped.
    Free(Vec<u8>),
    /// To be [encoded](WholeFilter::encode), and given to [`Node::encoded`].
    Encode(WholeFilter),
    /// To be [read](FetchedBytes::read), and given to [`Node::fetched`] with the peer it comes from.
    Read(NodeId, FetchedBytes),
}

impl Node {
    /// The next piece of work that messages and files have left: at most
    /// [`copied_bytes`](crate::Config::copied_bytes) are copied.
    pub fn undone(&mut self) -> Undone {
        if let Some((from, fetched)) = self.fetched.pop() {
            return Undone::Read(from, fetched);
        }
        if let Some(freed) = self.publisher.take_freed() {
            return Undone::Free(freed);
        }
        match self.publisher.copy_more(&self.config) {
            None => Undone::Nothing,
            Some(None) => Undone::Copied,
            Some(Some(whole)) => Undone::Encode(whole),
        }
    }

    /// Takes a filter of this node as bytes.
    pub fn encoded(&mut self, now: u64, encoded: EncodedFilter) {
        let pieces = self.publisher.encoded(&self.config, now, encoded);
        pieces.iter().for_each(|(to, piece)| self.send(*to, piece));
    }

    /// Takes a filter of a peer that was read.
    pub fn fetched(&mut self, now: u64, from: NodeId, fetched: FetchedFilter) {
        let Some(peer) = self.peers.get_mut(&from) else { return };
        let table = fetched.table;
        let was_reduced = peer.copies.get(&table).is_some_and(|copy| copy.is_reduced);
        let next = peer.fetched(&self.config, now, fetched);
        next.iter().for_each(|message| self.send(from, message));
        if was_reduced {
            self.fit_in(from, table);
        }
        self.keep_within_memory();
    }

    /// All of it at once.
    pub(super) fn do_undone(&mut self, now: u64) {
        loop {
            match self.undone() {
                Undone::Nothing => return,
                Undone::Copied | Undone::Free(_) => {}
                Undone::Encode(whole) => self.encoded(now, whole.encode()),
                Undone::Read(from, bytes) => self.fetched(now, from, bytes.read()),
            }
        }
    }
}
