//! The coordinator: each range has at most one owner with a lease, and epochs only grow.

use std::collections::BTreeMap;

use lacuna_range_cache::{Epoch, RangeId};

/// Where a client goes, until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) owner: usize,
    pub(crate) epoch: Epoch,
    pub(crate) cache: usize,
}

/// A tenure as it is granted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    pub(crate) epoch: Epoch,
    pub(crate) cache: usize,
    /// When all routes to another cache server have ended.
    pub(crate) serve_from: u64,
}

/// How long a route holds after it was asked for.
pub(crate) const ROUTE_LIFE: u64 = 2_000;
/// How long a lease holds after its last renewal.
pub(crate) const LEASE_LIFE: u64 = 1_500;

#[derive(Debug)]
struct Tenure {
    route: Route,
    until: u64,
    moved_at: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Coordinator {
    tenures: BTreeMap<RangeId, Tenure>,
    cache_count: usize,
    next_epoch: u64,
    pub(crate) takeovers: u64,
    pub(crate) moves: u64,
}

impl Coordinator {
    pub(crate) const fn new(cache_count: usize) -> Self {
        Self { tenures: BTreeMap::new(), cache_count, next_epoch: 1, takeovers: 0, moves: 0 }
    }

    /// Grants a range that nobody else has a lease on. `lost_cache`: a cache server that does not answer the claimant.
    pub(crate) fn claim(
        &mut self,
        now: u64,
        range: RangeId,
        owner: usize,
        lost_cache: Option<usize>,
    ) -> Option<Claim> {
        let before = self.tenures.get(&range);
        if before.is_some_and(|tenure| tenure.until > now && tenure.route.owner != owner) {
            return None;
        }
        let old_cache = before.map(|tenure| tenure.route.cache);
        let cache = match old_cache {
            Some(cache) if lost_cache == Some(cache) => (cache + 1) % self.cache_count,
            Some(cache) => cache,
            None => range.0 as usize % self.cache_count,
        };
        let is_move = old_cache.is_some_and(|old| old != cache);
        let moved_at = if is_move { Some(now) } else { before.and_then(|tenure| tenure.moved_at) };
        self.moves += u64::from(is_move);
        self.takeovers += u64::from(before.is_some());
        let epoch = Epoch(self.next_epoch);
        self.next_epoch += 1;
        self.tenures.insert(
            range,
            Tenure { route: Route { owner, epoch, cache }, until: now + LEASE_LIFE, moved_at },
        );
        Some(Claim { epoch, cache, serve_from: moved_at.map_or(0, |moved| moved + ROUTE_LIFE) })
    }

    pub(crate) fn renew(&mut self, now: u64, range: RangeId, owner: usize, epoch: Epoch) -> bool {
        let Some(tenure) = self.tenures.get_mut(&range) else { return false };
        let is_his = tenure.route.owner == owner && tenure.route.epoch == epoch;
        if is_his {
            tenure.until = tenure.until.max(now + LEASE_LIFE);
        }
        is_his
    }

    pub(crate) fn route(&self, range: RangeId) -> Option<Route> {
        self.tenures.get(&range).map(|tenure| tenure.route)
    }
}
