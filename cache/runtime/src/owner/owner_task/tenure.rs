//! How an owner task gets a tenure and keeps it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use lacuna_cache_protocol::embedded::MemoryCache;
use lacuna_cache_protocol::ports::Tenure;
use lacuna_cache_protocol::{Application, Epoch, Event, Owner, WriteOutcome};
use lacuna_cache_protocol::{Error, Result};
use tracing::{debug, error, warn};

use super::{ActiveTenure, Claims, OwnerTask};
use crate::owner::counters::count;
use crate::owner::error::{logs_missing, same_error};
use crate::owner::owner_handle::OwnerCommand;

/// How often a cache server that did not answer is probed, in ticks.
const PROBE_TICKS: u64 = 25;
/// How often an owner with automatic β receives hits and memory use, and one that measures sizes what is worth caching, in ticks.
const LOAD_TICKS: u64 = 100;
/// Longest pause before a claim.
const LONGEST_PAUSE_MS: u64 = 500;
/// The pause grows with refused claims in a row, up to this many.
const MAX_DENIALS: u32 = 4;

/// How long the hits of another process may lead to a cache server that this tenure cannot fence. That process may
/// rely on its lease although the coordinator does not know it any more: it may have been revoked there.
/// `granted`: the last tenure that was granted here.
///
/// With tenure 5 granted here, and then tenure 9 after 5: no other process had a tenure between, no wait. With
/// tenure 9 after 7: wait for a lease.
fn unfenced_ms(tenure: &Tenure, granted: Option<Epoch>) -> u64 {
    let is_anothers = tenure.before.is_some_and(|before| granted.is_none_or(|granted| granted < before));
    if is_anothers { tenure.lease_ms.unwrap_or(0) } else { 0 }
}

impl<A: Application + Clone + Send + Sync + 'static> OwnerTask<A> {
    /// Claims the range, unless a claim is in flight.
    pub(super) fn claim(&mut self) {
        if self.handle.now_ms() < self.refused_until_ms {
            return self.waiting_for_tenure.send_away(logs_missing);
        }
        if std::mem::replace(&mut self.is_claiming, true) {
            return;
        }
        let (handle, lost) = (self.handle.clone(), self.lost_cache);
        let pause = if self.failures == 0 { 0 } else { (5 << self.failures.min(10)).min(LONGEST_PAUSE_MS) };
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(pause)).await;
            // The lease counts from here on: the time of the answer does not show when it was granted.
            let sent_ms = handle.now_ms();
            let claimed = handle.servers.coordinator.claim(handle.range, lost).await;
            drop(handle.commands.send(OwnerCommand::Claimed { sent_ms, claimed }));
        });
    }

    pub(super) fn begin_tenure(&mut self, tenure: Tenure, sent_ms: u64) {
        let now = self.handle.now_ms();
        if let (Some(table), Some(known)) = (&tenure.table, &self.config.table)
            && table.marks() != known.marks()
        {
            // Said once: the range is claimed again and again.
            if !std::mem::replace(&mut self.is_of_other_columns, true) {
                error!(
                    range = self.handle.range.0,
                    "the ranges were cut anew for other columns while this dendrite is running: stop it"
                );
            }
            // To give it back would say that the store has every write of the owner before.
            return self.is_without_claim(&Error::unavailable("the ranges were cut anew for other columns"));
        }
        self.is_of_other_columns = false;
        // Before this process has seen that ranges were cut anew, it may be granted one of them.
        if let Some(table) = tenure.table.clone() {
            self.take_table(table);
        }
        let real = self.handle.servers.caches.get(tenure.cache);
        let is_bypass = real.is_none() || self.unreachable.contains(&tenure.cache);
        let cache = match real {
            Some(real) if !is_bypass => real.clone(),
            _ => Arc::new(MemoryCache::new(0)),
        };
        let mut config = self.config.clone();
        self.others_until_ms = self.others_until_ms.max(now + unfenced_ms(&tenure, self.granted));
        self.granted = Some(tenure.epoch);
        config.serve_from = now + tenure.serve_after_ms;
        if is_bypass {
            config.serve_from = config.serve_from.max(self.others_until_ms);
        }
        let is_warm = config.keeps_log && !is_bypass && !std::mem::take(&mut self.begins_cold);
        config.warm_from = tenure.before.filter(|_| is_warm);
        if is_bypass {
            warn!(
                range = self.handle.range.0,
                "no cache server answers: the range is served by the store alone"
            );
            count(&self.handle.counters.bypasses);
            // Without a cache server no fence proves the tenure, so known-empty intervals are not answers, and rows are only after a
            // look at the fence in the store.
            config.max_gaps = 0;
            config.lookups_prove = false;
        }
        debug!(range = self.handle.range.0, epoch = tenure.epoch.0, is_warm, "a tenure was granted");
        let owner = Owner::new(config, self.application.clone(), tenure.epoch);
        let until_ms = tenure.lease_ms.map_or(u64::MAX, |lease| sent_ms + lease);
        let (is_published, has_served, is_for_others) = (false, false, false);
        self.was_elsewhere = false;
        self.active = Some(ActiveTenure {
            owner,
            tenure,
            cache,
            until_ms,
            is_bypass,
            is_published,
            has_served,
            leaving_since_ms: None,
            is_for_others,
        });
        self.lost_cache = None;
        self.wish.is_over();
        self.drive(Event::Tick);
        self.ask_those_that_waited();
        if self.stopping.is_some() {
            self.leave();
        }
    }

    /// Another process has the range, or was faster. One that still has it after a while has whatever the logs have for it; a claim
    /// may also have lost a race with a renewal of this task's own former tenure.
    pub(super) fn is_elsewhere(&mut self) {
        self.go_without(|| Error::unavailable("another process owns the range"));
        let is_still_there = std::mem::replace(&mut self.was_elsewhere, true);
        if self.gives_up_draining() {
            self.may_have_left &= !is_still_there;
            return self.finish(None);
        }
        self.claim_if_wanted();
    }

    pub(super) fn is_without_claim(&mut self, why: &Error) {
        self.was_elsewhere = false;
        self.go_without(|| same_error(why));
        if self.stopping.is_some() {
            warn!(range = self.handle.range.0, %why, "a range that is to be given up cannot be claimed");
        }
        if self.gives_up_draining() {
            return self.finish(None);
        }
        self.claim_if_wanted();
    }

    /// No tenure for now: waiting requests are answered with the reason.
    fn go_without(&mut self, why: impl Fn() -> Error) {
        self.answer_durable(WriteOutcome::Unknown);
        self.waiting_for_tenure.send_away(why);
        // A range of another process may become free at any moment.
        self.failures = (self.failures + 1).min(MAX_DENIALS.max(self.failures));
    }

    /// If a tenure is always wanted, the next claim comes soon.
    fn claim_if_wanted(&mut self) {
        if self.claims == Claims::Always || self.stopping.is_some() {
            self.claim();
        }
    }

    pub(super) fn tick(&mut self) {
        self.ticks += 1;
        if self.lease_is_over() {
            return self.abandon("the lease of the range ran out: the coordinator did not renew it in time");
        }
        self.drive(Event::Tick);
        self.end_late_holds();
        self.leave_if_free();
        self.waiting_for_tenure.send_late_away(self.handle.now_ms(), self.config.request_timeout);
        let Some(active) = &self.active else { return };
        if let Some(lease) = active.tenure.lease_ms
            && self.ticks.is_multiple_of((lease / 30).max(1))
        {
            self.renew(active.tenure.epoch);
        }
        if active.is_bypass && self.ticks.is_multiple_of(PROBE_TICKS) {
            self.probe((active.tenure.cache, active.tenure.epoch));
        }
        if self.config.beta_auto && self.ticks.is_multiple_of(LOAD_TICKS) {
            self.ask_memory();
        }
        if self.ticks.is_multiple_of(LOAD_TICKS) {
            self.tell_sizes();
        }
    }

    /// Informs the owner of what is worth caching, where that is measured.
    fn tell_sizes(&mut self) {
        if let Some(largest) = self.handle.sizes.largest() {
            self.drive(Event::WorthCaching(largest));
        }
    }

    /// Asks how full the cache server is; a server that does not answer soon is not waited for.
    fn ask_memory(&self) {
        let Some(cache) = self.active.as_ref().map(|active| active.cache.clone()) else { return };
        let commands = self.handle.commands.clone();
        tokio::spawn(async move {
            let percent = cache.memory_percent().await.unwrap_or(0);
            drop(commands.send(OwnerCommand::Memory(percent)));
        });
    }

    /// Informs the owner of hits that did not reach it.
    pub(super) fn tell_hits(&mut self, memory_percent: u8) {
        let hits = self.handle.untold.swap(0, Ordering::Relaxed);
        self.drive(Event::Load { hits, memory_percent });
    }

    /// Whether another process may have the range by now. Then nothing in the memory of this one is an answer.
    pub(super) fn lease_is_over(&self) -> bool {
        let now = self.handle.now_ms();
        self.active.as_ref().is_some_and(|active| now >= active.until_ms)
    }

    fn renew(&self, epoch: Epoch) {
        let (handle, sent_ms) = (self.handle.clone(), self.handle.now_ms());
        tokio::spawn(async move {
            let is_ours = handle.servers.coordinator.renew(handle.range, epoch).await;
            drop(handle.commands.send(OwnerCommand::Renewed { epoch, sent_ms, is_ours }));
        });
    }

    pub(super) fn renewed(&mut self, epoch: Epoch, sent_ms: u64, is_ours: Result<bool>) {
        let Some(active) = self.active.as_mut().filter(|active| active.tenure.epoch == epoch) else {
            return;
        };
        match is_ours {
            Ok(true) => {
                active.until_ms = sent_ms + active.tenure.lease_ms.unwrap_or(0);
                active.is_published = false;
                self.publish();
            }
            Ok(false) => self.abandon("another process has the range, or may claim it"),
            Err(_) => {}
        }
    }

    /// The tenure is over here and now. Writes that were sent may have been executed.
    fn abandon(&mut self, why: &str) {
        warn!(range = self.handle.range.0, "{why}");
        self.lose_tenure();
    }

    /// Ends the tenure without a word to its owner, and claims the next.
    pub(super) fn lose_tenure(&mut self) {
        self.handle.route.set(None);
        self.look_what_is_left();
        self.active = None;
        self.requests.are_lost();
        self.durable.clear();
        self.peer_leases.go_away();
        self.holds.clear();
        self.failures += 1;
        self.claim();
    }

    fn probe(&self, (place, epoch): (usize, Epoch)) {
        let handle = self.handle.clone();
        let Some(cache) = handle.servers.caches.get(place).cloned() else {
            if handle.servers.coordinator.has_cache_again(handle.range, epoch) {
                drop(handle.commands.send(OwnerCommand::CacheIsBack(epoch)));
            }
            return;
        };
        tokio::spawn(async move {
            if cache.probe(handle.range, epoch).await.is_ok() {
                drop(handle.commands.send(OwnerCommand::CacheIsBack(epoch)));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_cannot_fence_the_cache_server_of_another_waits_for_a_lease() {
        let tenure = |before: Option<u64>, lease_ms| Tenure {
            epoch: Epoch(9),
            cache: 0,
            serve_after_ms: 0,
            before: before.map(Epoch),
            lease_ms,
            table: None,
        };
        let leased = |before| tenure(before, Some(2_400));
        assert_eq!(unfenced_ms(&leased(Some(7)), None), 2_400, "a process that begins");
        assert_eq!(unfenced_ms(&leased(Some(7)), Some(Epoch(5))), 2_400, "another was there meanwhile");
        assert_eq!(
            unfenced_ms(&leased(Some(5)), Some(Epoch(5))),
            0,
            "its own hits have ended with its tenure"
        );
        assert_eq!(unfenced_ms(&leased(Some(5)), Some(Epoch(6))), 0, "a tenure of its own past the cache");
        assert_eq!(unfenced_ms(&leased(None), None), 0, "the first tenure of all");
        assert_eq!(unfenced_ms(&tenure(Some(7), None), None), 0, "there is no other process");
    }
}
