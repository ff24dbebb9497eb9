//! The lease table (`LeMInT`): which requests may read or write which intervals, in the order of requests.
//!
//! A shared lease keeps writers out of its intervals, an exclusive lease keeps out all others. A request waits for
//! the earlier requests that it conflicts with, granted or waiting, and for nothing else: while one writer holds
//! `[20, 20]` and another waits for `[18, 22]`, a reader of `[21, 21]` waits for the second although 21 is not
//! held. So neither readers nor writers starve. A request names all its intervals, of all domains, at once, and
//! waits only for earlier requests: there is no deadlock.
//!
//! Guarantee: two granted leases never conflict. Cost: a request or a release is one overlap query and one tree
//! change for each interval. A release returns the requests that it grants; nothing polls.
//!
//! Here each waiting request counts its blockers; in the report it backs off and tries again.

use std::collections::BTreeMap;

use crate::interval::Interval;
use crate::tree::IntervalTree;

/// Number of a request, ascending in the order of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId(pub u64);

/// What a lease allows others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LeaseMode {
    /// For readers: others may read.
    Shared,
    /// For writers: all other requests wait.
    Exclusive,
}

/// An interval of one of several domains, which never conflict with each other.
pub type Claim<B> = (usize, Interval<B>);

#[derive(Debug, Clone)]
struct Lease<B> {
    mode: LeaseMode,
    claims: Vec<Claim<B>>,
    /// Pairs of a claim of this request and a conflicting claim of an earlier one; the lease is granted at zero.
    blockers: usize,
}

/// Leases on intervals of several domains, granted in order.
///
/// ```
/// use lacuna_cache_protocol::{Interval, LeaseMode, LeaseTable};
///
/// let mut leases = LeaseTable::new(1);
/// let (reader, granted) = leases.request(LeaseMode::Shared, vec![(0, Interval::closed(18, 22).expect("18 <= 22"))]);
/// assert!(granted);
/// let (writer, granted) = leases.request(LeaseMode::Exclusive, vec![(0, Interval::point(20))]);
/// assert!(!granted);
/// assert_eq!(leases.release(reader), [writer]);
/// ```
#[derive(Debug, Clone)]
pub struct LeaseTable<B> {
    domains: Vec<IntervalTree<B, LeaseId>>,
    leases: BTreeMap<LeaseId, Lease<B>>,
    next: u64,
}

impl<B: Ord + Clone> LeaseTable<B> {
    /// A table over `domain_count` domains.
    pub fn new(domain_count: usize) -> Self {
        let domains = (0..domain_count).map(|_| IntervalTree::new()).collect();
        Self { domains, leases: BTreeMap::new(), next: 0 }
    }

    /// Requests a lease on all of `claims`, and says whether it is granted now; if not, [`LeaseTable::release`]
    /// will name it. The claims of one request do not conflict with each other.
    ///
    /// # Panics
    /// If a claim names a domain that the table does not have.
    pub fn request(&mut self, mode: LeaseMode, mut claims: Vec<Claim<B>>) -> (LeaseId, bool) {
        // The trees hold each interval of a request once, so duplicates must not be counted as blockers.
        claims.sort_unstable();
        claims.dedup();
        let id = LeaseId(self.next);
        self.next += 1;
        let blockers = self.conflicts(mode, &claims).count();
        for (domain, interval) in &claims {
            self.domains[*domain].insert(interval.clone(), id);
        }
        self.leases.insert(id, Lease { mode, claims, blockers });
        (id, blockers == 0)
    }

    /// Earlier requests that conflict with these claims, once for each conflicting pair of claims.
    fn conflicts<'a>(
        &'a self,
        mode: LeaseMode,
        claims: &'a [Claim<B>],
    ) -> impl Iterator<Item = LeaseId> + 'a {
        let overlapping =
            claims.iter().flat_map(|(domain, interval)| self.domains[*domain].overlapping(interval));
        overlapping
            .map(|entry| entry.value)
            .filter(move |id| mode == LeaseMode::Exclusive || self.leases[id].mode == LeaseMode::Exclusive)
    }

    /// Releases a lease, or withdraws a request, and returns the requests that are granted by it, in order. Does
    /// nothing if there is no such lease.
    #[must_use = "the granted requests wait until they are continued"]
    pub fn release(&mut self, id: LeaseId) -> Vec<LeaseId> {
        let Some(lease) = self.leases.remove(&id) else { return Vec::new() };
        for (domain, interval) in &lease.claims {
            self.domains[*domain].remove(interval, id);
        }
        let mut freed: Vec<LeaseId> =
            self.conflicts(lease.mode, &lease.claims).filter(|other| *other > id).collect();
        freed.sort_unstable();
        freed.retain(|other| self.unblock(*other));
        freed
    }

    /// Removes one blocker of a request, and says whether it was the last.
    fn unblock(&mut self, id: LeaseId) -> bool {
        let lease = self.leases.get_mut(&id).expect("requests in the trees are in the map");
        lease.blockers -= 1;
        lease.blockers == 0
    }

    /// Whether a lease is held.
    #[cfg(test)]
    fn is_granted(&self, id: LeaseId) -> bool {
        self.leases.get(&id).is_some_and(|lease| lease.blockers == 0)
    }

    /// Leases and waiting requests.
    pub fn len(&self) -> usize {
        self.leases.len()
    }

    /// Whether no request holds a lease or waits for one.
    pub fn is_empty(&self) -> bool {
        self.leases.is_empty()
    }
}

#[cfg(test)]
#[path = "lease_table_tests.rs"]
mod tests;
