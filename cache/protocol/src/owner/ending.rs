//! The end of a tenure: every request is answered, with no more than is known.

use super::calls::{Call, Purpose};
use super::task::{Kind, WriteStep};
use super::{Owner, Parting, Phase};
use crate::call::StoreCall;
use crate::config::{Application, Policy};
use crate::message::{Action, Ending, Event, PeerReply, ReadOutcome, WriteOutcome};

impl<A: Application> Owner<A> {
    /// Takes the next step of an end in order, if nothing is in progress. An owner that buffered writes first has the
    /// store record that it has them all. After that the next owner may be one without logs.
    pub(super) fn part_if_idle(&mut self) {
        let Phase::Stopping(parting) = self.phase else { return };
        if !self.is_idle() {
            return;
        }
        match parting {
            Parting::Finishing if self.config.policy == Policy::WriteBack => {
                self.phase = Phase::Stopping(Parting::Recording);
                self.call(Purpose::Drained, Call::Store(StoreCall::Drained));
            }
            Parting::Recording => {}
            Parting::Finishing | Parting::Recorded => self.end(Ending::Stopped),
        }
    }

    /// The store has recorded it, or does not answer: then the next owner needs the logs, which have nothing for it.
    pub(super) fn drained_is_recorded(&mut self) {
        if self.is_stopping() {
            self.phase = Phase::Stopping(Parting::Recorded);
            self.part_if_idle();
        }
    }

    /// Answers every request and does nothing from now on.
    pub(super) fn end(&mut self, ending: Ending) {
        let phase = std::mem::replace(&mut self.phase, Phase::Ended);
        if matches!(phase, Phase::Ended) {
            return;
        }
        for (_, read) in std::mem::take(&mut self.reads) {
            read.requests
                .into_iter()
                .chain(read.late)
                .for_each(|request| self.answer_read(request, ReadOutcome::Retry));
        }
        for (task, mut write) in std::mem::take(&mut self.writes) {
            let may_be_done = !write.step.is_before_the_store();
            let outcome = if may_be_done { WriteOutcome::Unknown } else { WriteOutcome::Retry };
            if write.step == WriteStep::Patching {
                self.actions.extend(write.request.map(Action::Durable));
                continue;
            }
            write.request.into_iter().for_each(|request| self.answer_task(&write.kind, request, outcome));
            // The holder does not report here: other owners stay closed until their own tenures are over.
            let is_held = write.kind == Kind::Hold && write.step == WriteStep::Held;
            if !may_be_done && !is_held {
                write.count_the_last_asked();
                self.release_peers(task, &write);
            }
        }
        self.refuse_unadmitted(0);
        if let Phase::Starting(_, queue) = phase {
            queue.into_iter().for_each(|event| self.refuse(event));
        }
        self.actions.push(Action::Ended(ending));
    }

    pub(super) fn refuse(&mut self, event: Event) {
        match event {
            Event::Read(request, _) => self.answer_read(request, ReadOutcome::Retry),
            Event::Write(request, _) | Event::Hold(request, _) => {
                self.answer_write(request, WriteOutcome::Retry);
            }
            Event::Verify(request, _) | Event::ReadAll(request, _) => {
                self.answer_read(request, ReadOutcome::Retry);
            }
            Event::Peer(peer, call, _) => {
                self.actions.push(Action::PeerReply(peer, call, PeerReply::Refused));
            }
            _ => {}
        }
    }
}
