//! When a coordinator may answer "empty": every condition must hold, everything else goes on.
//!
//! The table has a filter at every replica. The consistency is not `SERIAL` or node-local. The plan names its partitions,
//! and all of them are empty. It is a first page. At *every* replica there is no live row: each view then shadows all of
//! its cells, so their union has no live row either, and no tombstone need be shipped. The store's own check of
//! availability has passed. Static columns count as presence unless rows are restricted. Each copy is fresh enough for the
//! mode.

use crate::config::{Flaw, Mode};
use crate::key_id::{KeyId, NodeId, TableId};
use crate::node::Node;
use crate::presence::Presence;
use crate::question::{Asked, Consistency, Decision, Plan, Question, Reason};

impl Node {
    /// Whether a read can be answered without asking anybody. Counted in [`counters`](Self::counters).
    pub fn decide(&mut self, now: u64, question: &Question<'_>) -> Decision {
        let decision = match self.check(now, question) {
            Some(reason) => Decision::Forward(reason),
            None if self.config().mode == Mode::Shadow => Decision::Forward(Reason::Shadow),
            None => Decision::Empty,
        };
        self.counters_mut().decided(decision);
        decision
    }

    /// Why the read has to go on; `None` if nothing is there.
    fn check(&self, now: u64, question: &Question<'_>) -> Option<Reason> {
        if !self.is_on() {
            return Some(Reason::Off);
        }
        if question.plan != Plan::Partitions {
            return Some(Reason::Plan);
        }
        if !self.answers_at(question.consistency) {
            return Some(Reason::Consistency);
        }
        if !question.is_first_page {
            return Some(Reason::Page);
        }
        if !question.is_available {
            return Some(Reason::Availability);
        }
        if question.keys.is_empty() || question.keys.iter().any(|key| key.replicas.is_empty()) {
            return Some(Reason::NoKey);
        }
        question.keys.iter().find_map(|key| self.may_be_live(now, question.table, key))
    }

    fn answers_at(&self, consistency: Consistency) -> bool {
        match (self.config().mode, consistency) {
            (_, Consistency::Serial | Consistency::NodeLocal) => false,
            (Mode::Safe | Mode::Shadow, _) | (_, Consistency::One | Consistency::Two) => true,
            (Mode::Eventual, _) => self.config().eventual_at_any_level,
        }
    }

    /// Why a replica may hold a live row of the key.
    fn may_be_live(&self, now: u64, table: TableId, key: &Asked<'_>) -> Option<Reason> {
        let mut answers = key.replicas.iter().map(|replica| self.may_be_live_at(now, table, key, *replica));
        if self.config().has(Flaw::AskOneReplica) {
            return answers.next().flatten();
        }
        answers.find_map(|reason| reason)
    }

    fn may_be_live_at(&self, now: u64, table: TableId, key: &Asked<'_>, replica: NodeId) -> Option<Reason> {
        if replica != self.id()
            && let Some(reason) = self.is_stale(now, replica)
        {
            return Some(reason);
        }
        let presence = |id: KeyId| self.presence_at(replica, table, id);
        if presence(key.partition).is_empty() {
            return None;
        }
        let of_partition = reason_of(presence(key.partition));
        match (self.buckets(table), key.slice) {
            (Some(buckets), Some((lo, hi))) if of_partition == Some(Reason::MayBeLive) => {
                let Some(cover) = buckets.cover(lo, hi) else { return Some(Reason::Unknown) };
                let is_empty = |(level, number): (u32, u64)| {
                    presence(key.partition.bucket(level, number)).is_empty()
                        || buckets
                            .around(level, number)
                            .skip(1)
                            .any(|(level, number)| presence(key.partition.bucket(level, number)).is_empty())
                };
                if cover.into_iter().all(is_empty) { None } else { Some(Reason::MayBeLive) }
            }
            _ => of_partition,
        }
    }

    fn is_stale(&self, now: u64, replica: NodeId) -> Option<Reason> {
        let Some(peer) = self.peer(replica) else { return Some(Reason::Unknown) };
        let most_age = self.config().most_age(peer.key_count());
        let is_fresh = match self.config().mode {
            Mode::Safe | Mode::Shadow => peer.has_lease(self.config(), now, self.ring()),
            Mode::Eventual => peer.age(now, self.ring()).is_some_and(|age| age <= most_age),
        };
        if is_fresh { None } else { Some(Reason::Stale) }
    }

    /// What is known here of a key at a replica.
    fn presence_at(&self, replica: NodeId, table: TableId, id: KeyId) -> Presence {
        if replica == self.id() {
            return self.own_presence(table, id);
        }
        let known = self.peer(replica).and_then(|peer| peer.presence(table, id));
        let without =
            if self.config().has(Flaw::TrustUnknown) { Presence::Absent } else { Presence::Unknown };
        known.unwrap_or(without)
    }
}

fn reason_of(presence: Presence) -> Option<Reason> {
    match presence {
        Presence::Absent | Presence::Dead => None,
        Presence::Live => Some(Reason::MayBeLive),
        Presence::Unknown => Some(Reason::Unknown),
    }
}
