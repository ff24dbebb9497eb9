//! The difference of two looks at some dendrites.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::sample::Sample;

type Looks = [Result<Sample, String>];

/// A table over all dendrites that answered both times. Rates are per second.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct TableNow {
    pub(super) table: String,
    pub(super) reads: f64,
    pub(super) hits: f64,
    /// The share of reads that were hits, of 1; nothing without reads.
    pub(super) hit_rate: Option<f64>,
    pub(super) writes: f64,
    pub(super) store_queries: f64,
    pub(super) owned_ranges: u64,
    pub(super) entries: u64,
    pub(super) leases: u64,
    pub(super) buffered_writes: u64,
    pub(super) pinned_bytes: u64,
}

/// A range and where requests for it were answered.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct RangeNow {
    pub(super) table: String,
    pub(super) range: String,
    pub(super) dendrite: String,
    pub(super) requests: f64,
}

/// What is shown of an interval.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Picture {
    pub(super) seconds: f64,
    /// Dendrites that answered, of all that were asked.
    pub(super) answered: usize,
    pub(super) asked: usize,
    /// The address of each that did not answer, and why.
    pub(super) silent: Vec<(String, String)>,
    /// The busiest first.
    pub(super) tables: Vec<TableNow>,
    /// The hottest first.
    pub(super) ranges: Vec<RangeNow>,
}

impl Picture {
    /// Of dendrites at these addresses, in their order.
    pub(super) fn between(addresses: &[String], before: &Looks, now: &Looks, elapsed: Duration) -> Self {
        let seconds = elapsed.as_secs_f64().max(0.001);
        let mut tables: BTreeMap<&str, TableNow> = BTreeMap::new();
        let mut ranges = Vec::new();
        for (dendrite, (before, now)) in addresses.iter().zip(before.iter().zip(now)) {
            let Ok(now) = now else { continue };
            // One that was away is measured from the next look on.
            let before = before.as_ref().unwrap_or(now);
            for (name, numbers) in &now.tables {
                let table = tables
                    .entry(name)
                    .or_insert_with(|| TableNow { table: name.clone(), ..TableNow::default() });
                table.add(before.tables.get(name), numbers, seconds);
            }
            for ((table, range), requests) in &now.ranges {
                let earlier = before.ranges.get(&(table.clone(), range.clone())).copied();
                let requests = rate(earlier, Some(*requests), seconds);
                let (table, range, dendrite) = (table.clone(), range.clone(), dendrite.clone());
                ranges.push(RangeNow { table, range, dendrite, requests });
            }
        }
        let mut tables: Vec<TableNow> = tables.into_values().map(TableNow::with_hit_rate).collect();
        tables.sort_by(|a, b| (b.reads + b.writes).total_cmp(&(a.reads + a.writes)));
        ranges.retain(|range| range.requests > 0.0);
        ranges.sort_by(|a, b| b.requests.total_cmp(&a.requests));
        let answered = now.iter().filter(|answer| answer.is_ok()).count();
        let silent = addresses
            .iter()
            .zip(now)
            .filter_map(|(address, answer)| Some((address.clone(), answer.as_ref().err()?.clone())));
        Self { seconds, answered, asked: now.len(), silent: silent.collect(), tables, ranges }
    }

    /// The interval as one object.
    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl TableNow {
    fn add(&mut self, before: Option<&BTreeMap<String, u64>>, now: &BTreeMap<String, u64>, seconds: f64) {
        let earlier = |name: &str| before.and_then(|before| before.get(name)).copied();
        let per_second = |name: &str| rate(earlier(name), now.get(name).copied(), seconds);
        self.reads += per_second("reads_total");
        self.hits += per_second("hits_total");
        self.writes += per_second("writes_total");
        self.store_queries += per_second("store_queries_total");
        let held = |name: &str| now.get(name).copied().unwrap_or(0);
        self.owned_ranges += held("owned_ranges");
        self.entries += held("entries");
        self.leases += held("leases");
        self.buffered_writes += held("buffered_writes");
        self.pinned_bytes += held("pinned_bytes");
    }

    fn with_hit_rate(self) -> Self {
        let hit_rate = (self.reads > 0.0).then(|| (self.hits / self.reads).min(1.0));
        Self { hit_rate, ..self }
    }
}

/// Of a counter; a process that was started anew counts from 0.
fn rate(before: Option<u64>, now: Option<u64>, seconds: f64) -> f64 {
    let (before, now) = (before.unwrap_or(0), now.unwrap_or(0));
    let more = if now < before { now } else { now - before };
    #[expect(clippy::cast_precision_loss, reason = "a rate needs no more than 53 bits")]
    let more = more as f64;
    more / seconds
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed test panics")]
mod tests {
    use super::*;

    fn look(reads: u64, hits: u64, requests: u64) -> Result<Sample, String> {
        Sample::read(&format!(
            "lacuna_cache_reads_total{{table=\"people\"}} {reads}\nlacuna_cache_hits_total{{table=\"people\"}} {hits}\n\
             lacuna_cache_entries{{table=\"people\"}} 5\nlacuna_cache_range_requests_total{{table=\"people\",range=\"1\"}} {requests}\n"
        ))
    }

    fn between(before: &[Result<Sample, String>], now: &[Result<Sample, String>], seconds: u64) -> Picture {
        let addresses = ["first:1", "second:2"].map(str::to_owned);
        Picture::between(&addresses[..now.len()], before, now, Duration::from_secs(seconds))
    }

    #[test]
    fn rates_are_differences_over_the_time_of_all_dendrites() {
        let before = [look(100, 50, 10), look(0, 0, 0)];
        let now = [look(140, 80, 50), look(20, 15, 90)];
        let picture = between(&before, &now, 2);
        let people = &picture.tables[0];
        assert_eq!((people.reads, people.hits, people.entries), (30.0, 22.5, 10));
        assert_eq!(people.hit_rate, Some(0.75));
        let ranges: Vec<_> = picture.ranges.iter().map(|range| (&*range.dendrite, range.requests)).collect();
        assert_eq!(ranges, [("second:2", 45.0), ("first:1", 20.0)], "the hottest first");
    }

    #[test]
    fn dendrites_that_restart_or_are_away_make_no_nonsense() {
        let away = || Err("connection refused".to_owned());
        let picture = between(&[look(100, 50, 10)], &[look(6, 3, 2)], 1);
        assert_eq!((picture.tables[0].reads, picture.tables[0].hit_rate), (6.0, Some(0.5)));
        let picture = between(&[away()], &[look(1_000_000, 1, 1)], 1);
        assert_eq!((picture.tables[0].reads, picture.tables[0].hit_rate), (0.0, None));
        let picture = between(&[look(1, 1, 1)], &[away()], 1);
        assert_eq!((picture.answered, picture.tables.len()), (0, 0));
        assert_eq!(picture.silent, [("first:1".to_owned(), "connection refused".to_owned())]);
    }
}
