//! How a seat comes to a tenure and holds on to it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use lacuna_cache_protocol::embedded::MemoryCache;
use lacuna_cache_protocol::ports::Tenure;
use lacuna_cache_protocol::{Application, Epoch, Event, Owner};
use lacuna_cache_protocol::{Error, Result};

use super::{Claims, Seat, Sitting, send_away};
use crate::owner::counters::count;
use crate::owner::desk::Heard;

/// How often a cache server that did not answer is asked whether it is back, in ticks.
const PROBE_TICKS: u64 = 25;
/// How often an owner that chooses β by itself hears of hits and memory, in ticks.
const LOAD_TICKS: u64 = 100;
/// Longest pause before a claim.
const LONGEST_PAUSE_MS: u64 = 500;
/// So many claims in turn that were not granted make the pause longer.
const MAX_DENIALS: u32 = 4;

/// How long the hits of another process may lead to a cache server that cannot be told of this tenure. That process may believe in
/// its lease although the coordinator does not: somebody may have revoked it there. `granted`: the last tenure that was granted here.
///
/// With tenure 5 granted here, and then tenure 9 after 5: nobody else was there, no wait. With tenure 9 after 7: a lease.
fn unfenced_ms(tenure: &Tenure, granted: Option<Epoch>) -> u64 {
    let is_anothers = tenure.before.is_some_and(|before| granted.is_none_or(|granted| granted < before));
    if is_anothers { tenure.lease_ms.unwrap_or(0) } else { 0 }
}

impl<A: Application + Clone + Send + 'static> Seat<A> {
    /// Claims the range, unless a claim is out.
    pub(super) fn claim(&mut self) {
        if std::mem::replace(&mut self.is_claiming, true) {
            return;
        }
        let (desk, lost) = (self.desk.clone(), self.lost_cache);
        let pause = if self.failures == 0 { 0 } else { (5 << self.failures.min(10)).min(LONGEST_PAUSE_MS) };
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(pause)).await;
            // The lease holds from here on: nobody knows how long the answer takes.
            let sent_ms = desk.now_ms();
            let claimed = desk.servers.coordinator.claim(desk.range, lost).await;
            drop(desk.mouth.send(Heard::Claimed { sent_ms, claimed }));
        });
    }

    pub(super) fn sit_down(&mut self, tenure: Tenure, sent_ms: u64) {
        let now = self.desk.now_ms();
        let real = self.desk.servers.caches.get(tenure.cache);
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
            count(&self.desk.counters.bypasses);
            // Nothing in memory is an answer without a cache server that says who the owner is.
            config.max_gaps = 0;
        }
        let owner = Owner::new(config, self.application.clone(), tenure.epoch);
        let until_ms = tenure.lease_ms.map_or(u64::MAX, |lease| sent_ms + lease);
        let (is_published, is_leaving, is_for_others) = (false, false, false);
        self.sitting = Some(Sitting {
            owner,
            tenure,
            cache,
            until_ms,
            is_bypass,
            is_published,
            is_leaving,
            is_for_others,
        });
        self.lost_cache = None;
        self.drive(Event::Tick);
        std::mem::take(&mut self.room).into_iter().for_each(|heard| self.ask(heard));
        if self.stopping.is_some() {
            self.leave();
        }
    }

    /// No tenure for now: whoever waits is told why. Where one is always wanted, the next claim comes soon.
    pub(super) fn go_without(&mut self, why: impl Fn() -> Error) {
        send_away(&mut self.room, why);
        // What another has may be free at any moment.
        self.failures = (self.failures + 1).min(MAX_DENIALS.max(self.failures));
        if self.stopping.is_some() && self.is_drained() {
            return self.finish(None);
        }
        if self.claims == Claims::Always || self.stopping.is_some() {
            self.claim();
        }
    }

    pub(super) fn tick(&mut self) {
        self.ticks += 1;
        if self.lease_is_over() {
            return self.abandon();
        }
        self.drive(Event::Tick);
        self.end_late_loads();
        let Some(sitting) = &self.sitting else { return };
        if let Some(lease) = sitting.tenure.lease_ms
            && self.ticks.is_multiple_of((lease / 30).max(1))
        {
            self.renew(sitting.tenure.epoch);
        }
        if sitting.is_bypass && self.ticks.is_multiple_of(PROBE_TICKS) {
            self.probe(sitting.tenure);
        }
        if self.config.beta_auto && self.ticks.is_multiple_of(LOAD_TICKS) {
            self.ask_memory();
        }
    }

    /// Hears how full the cache server is; one that does not answer soon is not waited for.
    fn ask_memory(&self) {
        let Some(cache) = self.sitting.as_ref().map(|sitting| sitting.cache.clone()) else { return };
        let mouth = self.desk.mouth.clone();
        tokio::spawn(async move {
            let percent = cache.memory_percent().await.unwrap_or(0);
            drop(mouth.send(Heard::Memory(percent)));
        });
    }

    /// Tells the owner what clients did without it.
    pub(super) fn tell_hits(&mut self, memory_percent: u8) {
        let hits = self.desk.untold.swap(0, Ordering::Relaxed);
        self.drive(Event::Load { hits, memory_percent });
    }

    /// Whether another process may have the range by now. Nothing that this one has in memory is an answer then.
    pub(super) fn lease_is_over(&self) -> bool {
        let now = self.desk.now_ms();
        self.sitting.as_ref().is_some_and(|sitting| now >= sitting.until_ms)
    }

    fn renew(&self, epoch: Epoch) {
        let (desk, sent_ms) = (self.desk.clone(), self.desk.now_ms());
        tokio::spawn(async move {
            let is_ours = desk.servers.coordinator.renew(desk.range, epoch).await;
            drop(desk.mouth.send(Heard::Renewed { epoch, sent_ms, is_ours }));
        });
    }

    pub(super) fn renewed(&mut self, epoch: Epoch, sent_ms: u64, is_ours: Result<bool>) {
        let Some(sitting) = self.sitting.as_mut().filter(|sitting| sitting.tenure.epoch == epoch) else {
            return;
        };
        match is_ours {
            Ok(true) => {
                sitting.until_ms = sent_ms + sitting.tenure.lease_ms.unwrap_or(0);
                sitting.is_published = false;
                self.publish();
            }
            Ok(false) => self.abandon(),
            Err(_) => {}
        }
    }

    /// The range is another's. What was sent may have been carried out.
    fn abandon(&mut self) {
        self.desk.route.set(None);
        self.sitting = None;
        self.requests.are_lost();
        self.guests.go_away();
        self.loads.clear();
        self.failures += 1;
        self.claim();
    }

    fn probe(&self, tenure: Tenure) {
        let Some(cache) = self.desk.servers.caches.get(tenure.cache).cloned() else { return };
        let desk = self.desk.clone();
        tokio::spawn(async move {
            if cache.probe(desk.range, tenure.epoch).await.is_ok() {
                drop(desk.mouth.send(Heard::CacheIsBack(tenure.epoch)));
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
