//! The coordinator: each range has at most one owner with a lease, and epochs only grow.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lacuna_cache_protocol::{Cut, Epoch, RangeId, RangeTable};

/// Where a client goes, until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) owner: usize,
    pub(crate) epoch: Epoch,
    pub(crate) cache: usize,
}

/// A tenure as it is granted.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub(crate) epoch: Epoch,
    pub(crate) cache: usize,
    /// When all routes to another cache server, and to the ranges it was cut from, have ended.
    pub(crate) serve_from: u64,
    /// The tenure before, if it was on the same cache server and of the same keys.
    pub(crate) before: Option<Epoch>,
    /// How the ranges were cut then.
    pub(crate) table: Arc<RangeTable>,
}

/// What is to become of ranges, once their owners have stopped.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wish {
    Split(RangeId, u64),
    Merge(RangeId, RangeId),
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
    /// Whether its keys are others than the tenure had.
    is_cut_anew: bool,
}

#[derive(Debug)]
pub(crate) struct Coordinator {
    tenures: BTreeMap<RangeId, Tenure>,
    cache_count: usize,
    next_epoch: u64,
    pub(crate) takeovers: u64,
    pub(crate) moves: u64,
    pub(crate) table: Arc<RangeTable>,
    /// Until when it is wished.
    wish: Option<(Wish, u64)>,
    stopped: BTreeSet<RangeId>,
    /// When each range was cut anew the last time, or came from one that was.
    cut_at: BTreeMap<RangeId, u64>,
    pub(crate) cuts: u64,
}

impl Coordinator {
    pub(crate) fn new(cache_count: usize, table: RangeTable) -> Self {
        Self {
            tenures: BTreeMap::new(),
            cache_count,
            next_epoch: 1,
            takeovers: 0,
            moves: 0,
            table: Arc::new(table),
            wish: None,
            stopped: BTreeSet::new(),
            cut_at: BTreeMap::new(),
            cuts: 0,
        }
    }

    /// Begins to wish, and says whose owners are to stop.
    pub(crate) fn wish(&mut self, now: u64, wish: Wish) -> Vec<RangeId> {
        self.stopped.clear();
        self.wish = Some((wish, now + LEASE_LIFE));
        match wish {
            Wish::Split(range, _) => vec![range],
            Wish::Merge(lower, upper) => vec![lower, upper],
        }
    }

    /// The owner of a tenure has nothing left to do.
    pub(crate) fn has_stopped(&mut self, now: u64, range: RangeId, epoch: Epoch) {
        if self.tenures.get(&range).is_none_or(|tenure| tenure.route.epoch != epoch) {
            return;
        }
        self.stopped.insert(range);
        let Some((wish, until)) = self.wish.filter(|(_, until)| *until > now) else { return };
        let (ranges, table) = match wish {
            Wish::Split(range, at) => (vec![range], self.table.split(0, Cut::Before(at.into()))),
            Wish::Merge(lower, upper) => (vec![lower, upper], self.table.merge(upper)),
        };
        if until > now && ranges.iter().all(|range| self.stopped.contains(range)) {
            self.wish = None;
            let Some(table) = table else { return };
            self.cuts += 1;
            // Clients hit what lies under the old fences until their routes end, whoever has the keys now.
            let new = table.ranges().into_iter().filter(|range| !self.tenures.contains_key(range));
            self.cut_at.extend(ranges.iter().copied().chain(new).map(|range| (range, now)));
            self.table = Arc::new(table);
            for range in ranges {
                let tenure = self.tenures.get_mut(&range).unwrap();
                (tenure.until, tenure.is_cut_anew) = (0, true);
            }
        }
    }

    fn is_kept_free(&self, now: u64, range: RangeId) -> bool {
        self.wish.is_some_and(|(_, until)| until > now) && self.stopped.contains(&range)
    }

    /// Grants a range that nobody else has a lease on. `lost_cache`: a cache server that does not answer the claimant.
    pub(crate) fn claim(
        &mut self,
        now: u64,
        range: RangeId,
        owner: usize,
        lost_cache: Option<usize>,
    ) -> Option<Claim> {
        if self.is_kept_free(now, range) || self.table.intervals(range).is_empty() {
            return None;
        }
        self.stopped.remove(&range);
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
        let warm = before.filter(|tenure| !is_move && !tenure.is_cut_anew).map(|tenure| tenure.route.epoch);
        let epoch = Epoch(self.next_epoch);
        self.next_epoch += 1;
        self.tenures.insert(
            range,
            Tenure {
                route: Route { owner, epoch, cache },
                until: now + LEASE_LIFE,
                moved_at,
                is_cut_anew: false,
            },
        );
        let routes_since = moved_at.max(self.cut_at.get(&range).copied());
        let serve_from = routes_since.map_or(0, |since| since + ROUTE_LIFE);
        Some(Claim { epoch, cache, serve_from, before: warm, table: self.table.clone() })
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
