//! Changes of the range table, each a single compare-and-swap.
//!
//! A *wish* names the range to cut or the ranges to join. It exists in etcd for ten seconds at most. Owners of its
//! ranges stop, which drains them, and release their ranges; no process may claim these meanwhile. Then any
//! process swaps the table, if table, wish, ranges and owners are unchanged since it read them. So no owner ever
//! sees its interval change, and no paused owner keeps an old one: a range whose owner died is claimed and fenced
//! again before it is cut.
//!
//! A fence belongs to the number of a range. After a cut the fence of one half does not cover the keys that moved
//! to the other, so the next owners wait until routes to the whole have ended, unless no route ever leaves the
//! process of its owner (P11).

use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::{Epoch, RangeId, RangeLoad, RangeTable, Recut};
use tracing::info;

use crate::etcd::coordinator::Inner;
use crate::etcd::http::Failed;
use crate::etcd::kv::{Change, grant};
use crate::etcd::map::Map;
use crate::etcd::record::{RangeRecord, TABLE, WISH, load_key, owner_key, range_key, write_load, write_wish};

/// How long owners may take to stop.
const WISH_S: u64 = 10;

/// Stores the wish; returns whether it exists now.
pub(crate) async fn wish(inner: &Inner, map: &Map, wish: &Recut) -> Result<bool> {
    let session = &inner.session;
    let is_possible = map.table().is_some_and(|table| changed(table, wish).is_some());
    if map.wish().is_some() || !is_possible {
        return Ok(false);
    }
    let (lease, _) = grant(&session.cluster, WISH_S).await?;
    let change = Change::below(&session.prefix).if_same(WISH, &map.seen).if_same(TABLE, &map.seen);
    let change = change.put_with(WISH, write_wish(wish).as_bytes(), lease);
    let is_wished = change.commit(&session.cluster).await.map_err(Failed::into_error)?;
    match wish {
        Recut::Split(range, ..) if is_wished => {
            info!(range = range.0, "a range with much load is to be cut: its owner leaves it");
        }
        Recut::Merge(lower, upper) if is_wished => {
            info!(
                lower = lower.0,
                upper = upper.0,
                "ranges with little load are to be joined: their owners leave them"
            );
        }
        _ => {}
    }
    Ok(is_wished)
}

/// The table after the wish.
fn changed(table: &RangeTable, wish: &Recut) -> Option<RangeTable> {
    match wish {
        Recut::Split(range, domain, cut) => {
            let split = table.split(*domain, cut.clone())?;
            let new = new_range(table, &split)?;
            // The cut must be inside that range and no other.
            (split.below(new) == Some(*range)).then_some(split)
        }
        Recut::Merge(lower, upper) => {
            if table.below(*upper) == Some(*lower) {
                table.merge(*upper)
            } else {
                None
            }
        }
    }
}

fn new_range(before: &RangeTable, after: &RangeTable) -> Option<RangeId> {
    let old = before.ranges();
    after.ranges().into_iter().find(|range| !old.contains(range))
}

/// Swaps the table if the ranges of the wish are free; returns whether it did.
pub(crate) async fn carry_out(inner: &Inner, map: &Map) -> Result<bool> {
    let session = &inner.session;
    let (Some(wish), Some(table)) = (map.wish(), map.table()) else { return Ok(false) };
    let ranges = map.wished();
    if !ranges.iter().all(|range| map.is_free(*range)) {
        return Ok(false);
    }
    let Some(next) = changed(table, wish) else { return withdraw(inner, map).await };
    let mut change = Change::below(&session.prefix).if_same(TABLE, &map.seen).if_same(WISH, &map.seen);
    for range in &ranges {
        change = change.if_same(&range_key(*range), &map.seen).if_same(&owner_key(*range), &map.seen);
    }
    let change = change.put(TABLE, &next.to_bytes()).delete(WISH);
    let routes_ms = if inner.options.keeps_routes { 0 } else { inner.options.lease_ms() };
    let change = match wish {
        Recut::Split(old, ..) => match new_range(table, &next) {
            Some(new) => after_split(change, map, [*old, new], routes_ms),
            None => change,
        },
        Recut::Merge(lower, upper) => after_merge(change, map, *lower, *upper, routes_ms),
    };
    change.commit(&session.cluster).await.map_err(Failed::into_error)
}

/// The record of a range whose intervals have changed: no tenure had this epoch, so that the next owner begins
/// cold.
const fn cut(record: RangeRecord, routes_ms: u64) -> RangeRecord {
    RangeRecord { routes_ms, epoch: Epoch(record.epoch.0 + 1), ..record }
}

/// The new range inherits the epochs of the old: its next is larger than any under which its keys were served.
fn after_split<'a>(change: Change<'a>, map: &Map, halves: [RangeId; 2], routes_ms: u64) -> Change<'a> {
    let half = RangeLoad { requests: map.load(halves[0]).requests / 2, middle: None };
    let record = map.records.get(&halves[0]).map(|record| cut(*record, routes_ms));
    halves.iter().fold(change, |change, range| {
        let change = change.put(&load_key(*range), write_load(&half).as_bytes());
        match record {
            Some(record) => change.put(&range_key(*range), record.write().as_bytes()),
            None => change,
        }
    })
}

fn after_merge<'a>(
    change: Change<'a>,
    map: &Map,
    lower: RangeId,
    upper: RangeId,
    routes_ms: u64,
) -> Change<'a> {
    let requests = map.load(lower).requests + map.load(upper).requests;
    let load = write_load(&RangeLoad { requests, middle: None });
    let change = change.put(&load_key(lower), load.as_bytes()).delete(&load_key(upper));
    let records: Vec<RangeRecord> =
        [lower, upper].iter().filter_map(|range| map.records.get(range).copied()).collect();
    let Some(newest) = records.iter().map(|record| record.epoch).max() else { return change };
    let joined = cut(RangeRecord { epoch: newest, ..records[0] }, routes_ms);
    change.put(&range_key(lower), joined.write().as_bytes()).delete(&range_key(upper))
}

/// Removes a wish that is impossible because the table has changed since.
async fn withdraw(inner: &Inner, map: &Map) -> Result<bool> {
    let session = &inner.session;
    let change = Change::below(&session.prefix).if_same(WISH, &map.seen).delete(WISH);
    change.commit(&session.cluster).await.map_err(Failed::into_error)?;
    Ok(false)
}
