//! Dispatches each event.

use std::sync::Arc;

use super::{LATE_SPLIT, Owner, Parting, Phase};
use crate::config::Application;
use crate::message::{Action, Ending, Event, PeerCall, PeerReply, ReadOutcome, WriteOutcome};
use crate::range_table::RangeTable;

impl<A: Application> Owner<A> {
    pub(super) fn take(&mut self, event: Event) {
        match event {
            Event::Read(request, _) if self.is_stopping() => self.answer_read(request, ReadOutcome::Retry),
            Event::Write(request, _) if self.is_stopping() => self.answer_write(request, WriteOutcome::Retry),
            Event::ReadAll(request, _) if self.is_stopping() => self.answer_read(request, ReadOutcome::Retry),
            Event::ReadAll(request, queries) => self.begin_read_all(request, queries),
            Event::Verify(request, _) if self.is_stopping() => self.answer_read(request, ReadOutcome::Retry),
            Event::Hold(request, _) if self.is_stopping() => self.answer_write(request, WriteOutcome::Retry),
            Event::Peer(peer, call, PeerCall::Lock(..)) if !self.is_serving() && !self.has_guest(peer) => {
                self.actions.push(Action::PeerReply(peer, call, PeerReply::Refused));
            }
            Event::Read(request, query) => self.begin_read(request, query),
            Event::Write(request, write) => self.come_in(request, write),
            Event::Verify(request, query) => self.begin_verification(request, query),
            Event::ForeignWrite(touched) => self.foreign_write(touched),
            Event::Hold(request, held) => self.begin_hold(request, held),
            Event::HoldDone(request) => self.end_hold(request),
            Event::HoldAbandoned(request) => self.abandon_hold(request),
            Event::Peer(peer, call, what) => self.peer_calls(peer, call, what),
            Event::PeerReply(call, reply) => self.peer_answered(call, reply),
            Event::Table(table) => self.take_table(table),
            Event::Load { hits, memory_percent } => self.auto_beta.was_told(hits, memory_percent),
            Event::WorthCaching(bytes) => self.largest_worth = bytes,
            Event::Cache(call, reply) => self.cache_answered(call, reply),
            Event::Store(call, reply) => self.store_answered(call, reply),
            Event::Log(call, reply) => self.log_answered(call, reply),
            Event::Lost(call) => self.give_up_on(call),
            Event::Failed(call) => self.give_up_at_once(call),
            Event::Tick => self.tick(),
            Event::Stop => {
                self.phase = Phase::Stopping(Parting::Finishing);
                self.refuse_unadmitted(0);
                self.trim_logs_if_due();
            }
        }
        self.part_if_idle();
    }

    pub(super) fn tick(&mut self) {
        if matches!(self.phase, Phase::Starting(..)) {
            self.go_on_starting();
        }
        if self.now % LATE_SPLIT < LATE_SPLIT / 8 {
            let late_splits = std::mem::take(&mut self.late_splits);
            self.gaps.split(&late_splits);
        }
        self.give_up_late_calls();
        self.send_late_reads_away();
        self.send_late_tasks_away();
        self.refuse_unadmitted(self.config.request_timeout);
        if self.is_serving() {
            self.append_deletes();
            self.compact_log();
            self.compact_while_idle();
            self.trim_logs_if_due();
        }
        self.renew_holds();
        self.apply_if_due();
        self.admit();
    }

    /// Other ranges may have been cut anew; this one does not change while it is owned.
    pub(super) fn take_table(&mut self, table: Arc<RangeTable>) {
        let Some(known) = &self.config.table else { return };
        if table.version() <= known.version() {
            return;
        }
        if table.intervals(self.config.range) == known.intervals(self.config.range) {
            self.config.table = Some(table);
        } else {
            self.end(Ending::Fenced);
        }
    }
}
