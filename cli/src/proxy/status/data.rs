//! The data of the page.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use lacuna_proxy::{
    CacheCounts, CacheStatus, ColumnStatus, Counts, Difference, HotRange, Monitor, Segment, ShadowCounts,
};
use serde_json::{Value, json};

/// Most reasons of each kind that are shown, the most frequent first.
const MAX_REASONS: usize = 12;

/// Everything that the page shows; times are in seconds.
pub(super) fn json(monitor: &Monitor, uptime: Duration) -> Value {
    let counts = monitor.cache_counts();
    let mode = match &counts {
        None => "off",
        Some(counts) if counts.shadow.is_some() => "shadow",
        Some(_) => "memory",
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "uptime": uptime.as_secs_f64(),
        "is_stopping": monitor.is_stopping(),
        "mode": mode,
        "sessions": sessions(monitor.counts()),
        "cache": counts.map(|counts| cache(&counts, &monitor.cache_status().unwrap_or_default())),
    })
}

fn sessions(Counts { open, sessions, refused, cancels, unfollowed, .. }: Counts) -> Value {
    json!({ "open": open, "begun": sessions, "refused": refused, "cancels": cancels, "unfollowed": unfollowed })
}

fn cache(counts: &CacheCounts, status: &CacheStatus) -> Value {
    json!({
        "closed": counts.closed,
        "hits": counts.hits,
        "misses": counts.misses,
        "filled": counts.filled,
        "writes": counts.writes,
        "dropped": counts.dropped,
        "doubts": counts.doubts,
        "entries": counts.entries,
        "bytes": counts.bytes,
        "max_bytes": status.max_bytes,
        "hit_time": counts.hit_time.as_secs_f64(),
        "fill_time": counts.fill_time.as_secs_f64(),
        "saved_time": counts.saved_time.as_secs_f64(),
        "relayed": reasons(counts.relayed.iter().map(|(reason, count)| (&reason[..], *count))),
        "shadow": counts.shadow.as_ref().map(shadow),
        "auto": counts.auto.as_ref().map(|auto| json!({
            "registered": sentences(&auto.registered), "refused": sentences(&auto.refused),
        })),
        "columns": status.columns.iter().map(column).collect::<Vec<_>>(),
        "hottest": status.hottest.iter().map(hot).collect::<Vec<_>>(),
    })
}

fn shadow(counts: &ShadowCounts) -> Value {
    json!({
        "would_be_hits": counts.would_be_hits,
        "equal": counts.equal,
        "different": counts.different,
        "not_compared": counts.not_compared(),
        "time": counts.time.as_secs_f64(),
        "reasons": reasons(counts.uncertain.iter().map(|(reason, count)| (*reason, *count))),
        "last": counts.last.iter().rev().map(difference).collect::<Vec<_>>(),
    })
}

/// Columns and what is said of each.
fn sentences(all: &BTreeMap<String, String>) -> Value {
    all.iter().map(|(column, why)| json!({ "column": column, "why": why })).collect()
}

fn difference(Difference { at, column, interval, shape, bytes, what, .. }: &Difference) -> Value {
    let at = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    json!({
        "at": at, "column": column, "low": interval.0, "high": interval.1, "shape": shape,
        "kept_bytes": bytes.0, "answered_bytes": bytes.1, "what": what,
    })
}

fn column(ColumnStatus { column, entries, bytes, hits, segments, .. }: &ColumnStatus) -> Value {
    json!({
        "column": column, "entries": entries, "bytes": bytes, "hits": hits,
        "segments": segments.iter().map(segment).collect::<Vec<_>>(),
    })
}

fn segment(Segment { interval, place, entries, hits, has_gaps, .. }: &Segment) -> Value {
    json!({
        "low": interval.0, "high": interval.1, "from": place.0, "to": place.1,
        "entries": entries, "hits": hits, "has_gaps": has_gaps,
    })
}

fn hot(HotRange { column, interval, shape, hits, bytes, took, .. }: &HotRange) -> Value {
    json!({
        "column": column, "low": interval.0, "high": interval.1, "shape": shape, "hits": hits, "bytes": bytes,
        "took": took.as_secs_f64(),
    })
}

fn reasons<'a>(all: impl Iterator<Item = (&'a str, u64)>) -> Value {
    let mut all: Vec<(&str, u64)> = all.collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let one = |(reason, count): &(&str, u64)| json!({ "reason": reason, "count": count });
    all.iter().take(MAX_REASONS).map(one).collect()
}
