//! The lease table (`LeMInT`): who may read or write which intervals, in the order of asking.
//!
//! A shared lease keeps writers out of its intervals, an exclusive one everybody. A request waits for the earlier
//! requests it conflicts with, granted or waiting, and for nothing else: while somebody writes `[20, 20]` and another
//! waits to write `[18, 22]`, a reader of `[21, 21]` waits behind the second although nobody holds 21. So neither
//! readers nor writers starve. A request names all its intervals, of all domains, at once, and waits only for earlier
//! requests: there is no deadlock.
//!
//! Guarantee: two granted leases conflict never. Cost: a request or a release is one overlap query and one tree change
//! an interval. Whoever is released is told at once; nobody polls.
//!
//! Here requests that wait are counted in blockers; the report's back off and try again. A lease that has a deadline can
//! expire; whether it may (a store write in flight may still land) is for its holder to know.

use std::collections::{BTreeMap, BTreeSet};

use crate::interval::Interval;
use crate::tree::IntervalTree;

/// Number of a request, ascending in the order of asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId(pub u64);

/// What a lease lets others do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LeaseMode {
    /// For readers: others may read.
    Shared,
    /// For writers: nobody else may do anything.
    Exclusive,
}

/// An interval of one of several domains, which never conflict with each other.
pub type Claim<B> = (usize, Interval<B>);

#[derive(Debug, Clone)]
struct Lease<B> {
    mode: LeaseMode,
    claims: Vec<Claim<B>>,
    /// Pairs of a claim of this request and a conflicting claim of an earlier one; granted when there is none.
    blockers: usize,
    deadline: Option<u64>,
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
    deadlines: BTreeSet<(u64, LeaseId)>,
    next: u64,
}

impl<B: Ord + Clone> LeaseTable<B> {
    /// A table over `domain_count` domains.
    pub fn new(domain_count: usize) -> Self {
        let domains = (0..domain_count).map(|_| IntervalTree::new()).collect();
        Self { domains, leases: BTreeMap::new(), deadlines: BTreeSet::new(), next: 0 }
    }

    /// Asks for a lease on all of `claims`, and says whether it is granted now; if not, [`LeaseTable::release`] will
    /// name it. The claims of one request do not conflict with each other.
    ///
    /// # Panics
    /// If a claim names a domain that the table does not have.
    pub fn request(&mut self, mode: LeaseMode, mut claims: Vec<Claim<B>>) -> (LeaseId, bool) {
        // The trees hold an interval of a request once, so that it must be counted once.
        claims.sort_unstable();
        claims.dedup();
        let id = LeaseId(self.next);
        self.next += 1;
        let blockers = self.conflicts(mode, &claims).count();
        for (domain, interval) in &claims {
            self.domains[*domain].insert(interval.clone(), id);
        }
        self.leases.insert(id, Lease { mode, claims, blockers, deadline: None });
        (id, blockers == 0)
    }

    /// Requests that conflict with these claims, once for each pair of claims that does.
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

    /// Gives a lease back, or withdraws a request, and names those that are granted by it, in order.
    /// Nothing happens if there is no such lease.
    #[must_use = "whoever is granted waits to be told"]
    pub fn release(&mut self, id: LeaseId) -> Vec<LeaseId> {
        let Some(lease) = self.leases.remove(&id) else { return Vec::new() };
        if let Some(deadline) = lease.deadline {
            self.deadlines.remove(&(deadline, id));
        }
        for (domain, interval) in &lease.claims {
            self.domains[*domain].remove(interval, id);
        }
        let mut freed: Vec<LeaseId> =
            self.conflicts(lease.mode, &lease.claims).filter(|other| *other > id).collect();
        freed.sort_unstable();
        freed.retain(|other| self.unblock(*other));
        freed
    }

    /// Counts one blocker of a request less, and says whether it was the last.
    fn unblock(&mut self, id: LeaseId) -> bool {
        let lease = self.leases.get_mut(&id).expect("requests in the trees are in the map");
        lease.blockers -= 1;
        lease.blockers == 0
    }

    /// Lets a lease or request end at `deadline` unless this is called again; [`LeaseTable::expire`] ends it.
    pub fn set_deadline(&mut self, id: LeaseId, deadline: Option<u64>) {
        let Some(lease) = self.leases.get_mut(&id) else { return };
        if let Some(old) = std::mem::replace(&mut lease.deadline, deadline) {
            self.deadlines.remove(&(old, id));
        }
        self.deadlines.extend(deadline.map(|deadline| (deadline, id)));
    }

    /// Ends leases and requests whose deadline is at or before `now`: those ended, and those granted by it.
    pub fn expire(&mut self, now: u64) -> (Vec<LeaseId>, Vec<LeaseId>) {
        let ended: Vec<LeaseId> =
            self.deadlines.range(..=(now, LeaseId(u64::MAX))).map(|(_, id)| *id).collect();
        let granted: BTreeSet<LeaseId> = ended.iter().flat_map(|id| self.release(*id)).collect();
        let granted = granted.into_iter().filter(|id| self.is_granted(*id)).collect();
        (ended, granted)
    }

    /// Whether a lease is held.
    pub fn is_granted(&self, id: LeaseId) -> bool {
        self.leases.get(&id).is_some_and(|lease| lease.blockers == 0)
    }

    /// Leases and waiting requests.
    pub fn len(&self) -> usize {
        self.leases.len()
    }

    /// Whether nobody holds or waits for anything.
    pub fn is_empty(&self) -> bool {
        self.leases.is_empty()
    }
}

#[cfg(test)]
#[path = "lease_table_tests.rs"]
mod tests;
