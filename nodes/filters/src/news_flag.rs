//! Whether anything that was written here may be unknown to a node that relies on this one: a word that other threads look at
//! without the node's lock.
//!
//! Nearly all the time nothing is new, and then every read may be shown and every write acknowledged. So a reader looks at the
//! word first and asks the [`Node`] only if it is not 0. The caller that has the lock raises the flag at the end of each call, before
//! what was written becomes visible, and lowers it when the last news is known. For example key 7 is new: `write` raises it, reads
//! ask; the last acknowledgement of delta 5 arrives, `receive` lowers it, reads ask no more.
//!
//! Guarantee: while the word is 0, [`may_reveal`](Node::may_reveal) allows every key that was visible when it was read, and
//! [`may_acknowledge`](Node::may_acknowledge) every write. What all have known once they know for ever: a later lease begins with it.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::node::Node;

/// The flag of one [`Node`]; raised at first, since leases of an earlier life may run. It has a cache line of its own, which
/// writes of known keys leave alone.
#[derive(Debug)]
#[repr(align(64))]
pub struct NewsFlag {
    raised: AtomicU64,
    /// The last news that all knew when the flag was lowered. Changed under the node's lock only.
    known: AtomicU64,
}

impl Default for NewsFlag {
    fn default() -> Self {
        Self { raised: AtomicU64::new(1), known: AtomicU64::new(0) }
    }
}

impl NewsFlag {
    /// Whether a node that relies on this one may not know all. Not 0 in the word that [`word`](Self::word) gives.
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::SeqCst) != 0
    }

    /// The word itself, for readers that are not written in Rust.
    pub fn word(&self) -> &AtomicU64 {
        &self.raised
    }

    /// At the end of every call of the node, under its lock.
    pub fn raise_if_news(&self, node: &Node) {
        if node.last_news().number() > self.known.load(Ordering::Relaxed)
            && !is_flawed!(node.config(), NewsRaiseNoFlag)
        {
            self.raise();
        }
    }

    /// For ever, if nothing lowers it: after a failure.
    pub fn raise(&self) {
        self.raised.store(1, Ordering::SeqCst);
    }

    /// At the end of calls that may have brought the last acknowledgement, or the end of a lease; under the lock.
    pub fn lower_if_known(&self, node: &Node, now: u64) {
        let last = node.last_news();
        if node.may_acknowledge(now, last) || is_flawed!(node.config(), FlagLoweredEarly) {
            self.known.store(last.number(), Ordering::Relaxed);
            self.raised.store(0, Ordering::SeqCst);
        }
    }
}
