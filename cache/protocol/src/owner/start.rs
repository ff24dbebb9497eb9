//! Take-over: afterwards no older owner can act for the range, and the store has every acknowledged write.

use std::collections::BTreeMap;

use super::calls::{Call, Pending, Purpose};
use super::{Owner, Phase};
use crate::buffered_writes::BufferedWrite;
use crate::call::{CacheCall, LogCall, LogReply, StoreCall, StoreReply, StoreState};
use crate::config::{Application, Flaw};
use crate::interval::Interval;
use crate::message::{Action, Command, Ending, Epoch, Notice, Write};
use crate::query::Touched;

/// The step of a take-over.
#[derive(Debug, Clone)]
pub(super) enum Starting {
    /// Nothing was done yet.
    Cold,
    /// The cache server is being fenced. The range is cold then, or its log lists its entries.
    Cache,
    /// The logs are being fenced and read.
    Logs(Kept),
    /// The store is being fenced.
    Store(Kept),
    /// What the logs had is being applied.
    Applying,
    /// The store is recording that older log records no longer count.
    Recovering,
    /// Everything is done, but routes to another cache server have not ended yet (P11).
    Routes,
}

impl Starting {
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Cache => "cache",
            Self::Logs(_) => "logs",
            Self::Store(_) => "store",
            Self::Applying => "applying",
            Self::Recovering => "recovering",
            Self::Routes => "routes",
        }
    }
}

/// The writes that the logs kept. A write is acknowledged only if all copies have it, so one complete copy is
/// enough; and as soon as one copy is fenced, no older owner can acknowledge another write.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept {
    writes: BTreeMap<(Epoch, u64), Write>,
    missing: usize,
    any_answered: bool,
    any_whole: bool,
    any_silent: bool,
}

impl<A: Application> Owner<A> {
    /// Takes the next step, if no reply is awaited.
    pub(super) fn go_on_starting(&mut self) {
        let Phase::Starting(starting, _) = &self.phase else { return };
        match starting {
            Starting::Cold => {
                self.set_starting(Starting::Cache);
                let fence = if self.config.keeps_log {
                    CacheCall::TakeOver(self.config.warm_from)
                } else {
                    CacheCall::Fence
                };
                self.call(Purpose::Start, Call::Cache(fence));
            }
            Starting::Cache if !self.is_waiting_to_start() => self.fence_logs(),
            Starting::Applying if self.buffered.is_empty() && !self.is_waiting_to_start() => self.recovered(),
            Starting::Routes if self.now >= self.serve_from() => self.serve(),
            _ => {}
        }
    }

    fn is_waiting_to_start(&self) -> bool {
        self.calls.values().any(Pending::is_start)
    }

    fn serve_from(&self) -> u64 {
        if self.is_flawed(Flaw::ServeAtOnce) { 0 } else { self.config.serve_from }
    }

    fn set_starting(&mut self, next: Starting) {
        if let Phase::Starting(starting, _) = &mut self.phase {
            *starting = next;
        }
    }

    fn fence_logs(&mut self) {
        let missing = self.config.log_count;
        if missing == 0 {
            return self.fence_store(Kept::default());
        }
        self.set_starting(Starting::Logs(Kept { missing, ..Kept::default() }));
        (0..missing).for_each(|server| self.call(Purpose::Start, Call::Log(server, LogCall::Fence)));
    }

    /// `None`: the log server does not answer.
    pub(super) fn start_log_answered(&mut self, reply: Option<LogReply>) {
        let Phase::Starting(Starting::Logs(kept), _) = &mut self.phase else { return };
        kept.missing -= 1;
        if let Some(LogReply::Kept { writes, is_whole }) = reply {
            kept.any_answered = true;
            kept.any_whole |= is_whole;
            kept.writes.extend(writes.into_iter().map(|(epoch, lsn, write)| ((epoch, lsn), write)));
        } else {
            kept.any_silent = true;
        }
        if kept.missing == 0 {
            let kept = std::mem::take(kept);
            if kept.any_answered { self.fence_store(kept) } else { self.end(Ending::NotStarted) }
        }
    }

    fn fence_store(&mut self, kept: Kept) {
        self.set_starting(Starting::Store(kept));
        self.call(Purpose::Start, Call::Store(StoreCall::Fence));
    }

    pub(super) fn start_store_answered(&mut self, reply: StoreReply) {
        let Phase::Starting(starting, _) = &mut self.phase else { return };
        match (std::mem::replace(starting, Starting::Applying), reply) {
            (Starting::Store(kept), StoreReply::State(state)) => self.recover(kept, state),
            (Starting::Recovering, StoreReply::Done) => {
                self.set_starting(Starting::Routes);
                self.go_on_starting();
            }
            (before, _) => self.set_starting(before),
        }
    }

    /// Takes over the buffered writes that the store does not have and that still count.
    fn recover(&mut self, kept: Kept, state: StoreState) {
        if self.config.warm_from.is_some_and(|before| before != state.recovered)
            && !self.index.read().is_empty()
        {
            // Another owner served in between without this cache: the entries do not show its writes.
            self.begin_cold();
        }
        if state.is_buffered && self.config.log_count == 0 {
            // They were acknowledged, and to serve would void them.
            return self.end(Ending::LogsMissing);
        }
        if state.is_buffered && self.config.log_count > 0 && !kept.any_whole {
            if kept.any_silent {
                // A log that does not answer may have them all, and a take-over without it would be final.
                return self.end(Ending::NotStarted);
            }
            self.actions.push(Action::Notice(Notice::BufferedWritesLost));
            // Entries may show the lost writes.
            if !self.index.read().is_empty() {
                self.begin_cold();
            }
        }
        let largest = kept.writes.keys().map(|(_, lsn)| *lsn).max().unwrap_or(0);
        self.next_lsn = largest.max(state.applied_lsn) + 1;
        for ((epoch, lsn), write) in kept.writes {
            if epoch >= state.recovered && lsn > state.applied_lsn {
                let (touched, command) =
                    (self.known_domains(write.touched, &write.command), Some(write.command));
                self.buffered.insert(lsn, BufferedWrite { touched, command, may_apply: true });
            }
        }
        self.drop_unpatched();
        self.apply_next();
        self.go_on_starting();
    }

    /// Entries may lack writes that were in the logs alone. They stay known: a call that is lost may have changed
    /// nothing.
    fn drop_unpatched(&mut self) {
        let replayed = self.buffered.next_to_apply(usize::MAX);
        let touched: Vec<Touched> = replayed.flat_map(|(_, write)| write.touched.iter().cloned()).collect();
        let queries = self.index.read().touched(&touched);
        if !queries.is_empty() && !self.is_flawed(Flaw::WarmUnpatched) {
            let session = self.new_session();
            self.call(Purpose::Start, Call::Cache(CacheCall::Invalidate(session, queries)));
        }
    }

    /// The touched intervals, if the tenure that logged the write had the same domains; otherwise every interval.
    fn known_domains(&self, touched: Vec<Touched>, command: &Command) -> Vec<Touched> {
        let domains = self.config.domain_count;
        let are_mine = touched.iter().all(|(domain, _)| *domain < domains);
        if are_mine && self.application.numbers_domains_of(command) {
            return touched;
        }
        (0..domains).map(|domain| (domain, Interval::all())).collect()
    }

    fn recovered(&mut self) {
        self.set_starting(Starting::Recovering);
        self.call(Purpose::Start, Call::Store(StoreCall::Recovered));
    }

    fn serve(&mut self) {
        let Phase::Starting(_, queue) = std::mem::replace(&mut self.phase, Phase::Serving) else { return };
        self.trim_logs();
        queue.into_iter().for_each(|event| self.take(event));
    }
}
