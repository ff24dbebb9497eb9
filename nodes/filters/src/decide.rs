//! When a coordinator may answer "empty": every condition must hold; every other read goes to the replicas.
//!
//! The table has a filter at every replica. The consistency is not `SERIAL` or node-local. The plan names its partitions,
//! and all of them are empty. It is a first page. At *every* replica there is no live row (or, where the store asks for
//! it, at enough replicas to answer the read without the others): each view then shadows all of its cells, so their union has no
//! live row either, and no tombstone need be shipped. The store's own check of availability has passed. Static columns
//! count as presence unless rows are restricted. Each copy is fresh enough for the mode.

use crate::buckets::Buckets;
use crate::config::Mode;
use crate::key_id::{KeyId, NodeId, TableId};
use crate::margins::Side;
use crate::node::Node;
use crate::presence::Presence;
use crate::question::{Asked, Consistency, Decision, Plan, Question, Quorum, Reason};
use crate::slots::Slots;

impl Node {
    /// Whether a read can be answered without asking a replica. Counted in [`counters`](Self::counters). It changes nothing else, so
    /// that many threads may decide at a time.
    pub fn decide(&self, now: u64, question: &Question<'_>) -> Decision {
        self.decided(self.check(question, |_, key| self.may_be_live(now, question.table, key)))
    }

    /// As [`decide`](Self::decide), but it is enough that, for each key of the question, all of its `quorums` are empty: sets
    /// of replicas that could answer the read without the others, such as any two of three for `QUORUM`, or two of each
    /// datacentre for `EACH_QUORUM`. So reads are answered while a replica is down. None is if a replica is known to hold something. A level that one replica can answer
    /// then finds what the store might find: possibly nothing, right after a write that another replica acknowledged.
    pub fn decide_by_quorum(&self, now: u64, question: &Question<'_>, quorums: &[&[Quorum<'_>]]) -> Decision {
        let may_be_live = |at: usize, key: &Asked<'_>| match quorums.get(at) {
            None | Some([]) => Some(Reason::NoKey),
            Some(quorums) => {
                quorums.iter().find_map(|quorum| self.may_be_live_in(now, question.table, key, *quorum))
            }
        };
        self.decided(self.check(question, may_be_live))
    }

    fn decided(&self, reason: Option<Reason>) -> Decision {
        let decision = match reason {
            Some(reason) => Decision::Forward(reason),
            None if self.config().mode == Mode::Shadow => Decision::Forward(Reason::Shadow),
            None => Decision::Empty,
        };
        self.decisions().note(decision);
        decision
    }

    /// Why the read must go to the replicas; `None` if nothing is there.
    fn check(
        &self,
        question: &Question<'_>,
        may_be_live: impl Fn(usize, &Asked<'_>) -> Option<Reason>,
    ) -> Option<Reason> {
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
        question.keys.iter().enumerate().find_map(|(at, key)| may_be_live(at, key))
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
        if is_flawed!(self.config(), AskOneReplica) {
            return answers.next().flatten();
        }
        answers.find_map(|reason| reason)
    }

    /// Why fewer replicas of a quorum than it needs are known to be empty, or one of the others is known to hold something: what is
    /// down or not known may be left out, as the store might leave it out, and a row of which this node knows may not. A replica named
    /// twice counts once.
    fn may_be_live_in(
        &self,
        now: u64,
        table: TableId,
        key: &Asked<'_>,
        quorum: Quorum<'_>,
    ) -> Option<Reason> {
        let asks_fewer = is_flawed!(self.config(), AskFewer);
        let needed = if asks_fewer { quorum.needed.saturating_sub(1) } else { quorum.needed };
        let (mut empty, mut first) = (0, None);
        for (at, replica) in quorum.replicas.iter().enumerate() {
            if quorum.replicas[..at].contains(replica) {
                continue;
            }
            match self.may_be_live_at(now, table, key, *replica) {
                None => empty += 1,
                reason @ Some(Reason::MayBeLive) if !asks_fewer => return reason,
                reason => first = first.or(reason),
            }
        }
        if empty >= needed.max(1) { None } else { first.or(Some(Reason::NoKey)) }
    }

    fn may_be_live_at(&self, now: u64, table: TableId, key: &Asked<'_>, replica: NodeId) -> Option<Reason> {
        if replica != self.id()
            && let Some(reason) = self.is_stale(now, replica)
        {
            return Some(reason);
        }
        if self.is_open(replica, table, key.partition) {
            return Some(Reason::Ingest);
        }
        let presence = |id: KeyId| self.presence_at(replica, table, id);
        let of_partition = reason_of(presence(key.partition));
        match (self.buckets(table), key.slice) {
            (Some(buckets), Some((lo, hi))) if of_partition == Some(Reason::MayBeLive) => {
                if !self.has_buckets(replica, table, buckets) {
                    return Some(Reason::Unknown);
                }
                // If nothing is left, nothing is there.
                let (lo, hi) = self.without_water_marks(replica, table, key.partition, (lo, hi))?;
                let (lo, hi) = self.without_margins(replica, table, key.partition, (buckets, lo, hi))?;
                let Some(cover) = buckets.cover(lo, hi) else { return Some(Reason::TooWide) };
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

    /// The slice without the margins that it begins and ends in; `None` if nothing is left.
    fn without_margins(
        &self,
        replica: NodeId,
        table: TableId,
        partition: KeyId,
        (buckets, lo, hi): (Buckets, u64, u64),
    ) -> Option<(u64, u64)> {
        let is_in_margin = |side: Side, place| {
            let bucket = buckets.finest_of(place);
            let reach = self.margin_at(replica, table, partition.margin(side, bucket));
            reach.is_some_and(|inner| side.holds(inner, place - buckets.first_in(bucket)))
        };
        let from = match is_in_margin(Side::End, lo) {
            true => buckets.last_in(buckets.finest_of(lo)).checked_add(1)?,
            false => lo,
        };
        let to = match is_in_margin(Side::Start, hi) {
            true => buckets.first_in(buckets.finest_of(hi)).checked_sub(1)?,
            false => hi,
        };
        (from <= to).then_some((from, to))
    }

    /// How far a margin reaches at a replica, where margins are kept.
    pub(crate) fn margin_at(&self, replica: NodeId, table: TableId, id: KeyId) -> Option<u64> {
        match self.config().mode {
            Mode::Eventual => None,
            _ if replica == self.id() => self.own_filter(table)?.margin(id),
            _ => self.peer(replica)?.margin(table, id),
        }
    }

    pub(crate) fn is_stale(&self, now: u64, replica: NodeId) -> Option<Reason> {
        let Some(peer) = self.peer(replica) else { return Some(Reason::Unknown) };
        let is_young = |age| age <= self.config().max_age(peer.key_count());
        let is_fresh = match self.config().mode {
            Mode::Safe | Mode::Shadow => peer.has_lease(self.config(), now, self.ring()),
            Mode::Eventual => peer.age(self.config(), now, self.ring()).is_some_and(is_young),
        };
        if is_fresh { None } else { Some(Reason::Stale) }
    }

    /// Whether keys stream into the slot of a partition at a replica. This node's own filter has what came into its own slots.
    pub(crate) fn is_open(&self, replica: NodeId, table: TableId, partition: KeyId) -> bool {
        replica != self.id()
            && self.peer(replica).is_some_and(|peer| peer.open_slots(table).contains(Slots::of(partition)))
    }

    /// Whether a replica puts rows into the buckets that this node asks for: in others, they would be missing.
    pub(crate) fn has_buckets(&self, replica: NodeId, table: TableId, buckets: Buckets) -> bool {
        replica == self.id() || self.peer(replica).is_some_and(|peer| peer.has_buckets(table, buckets))
    }

    /// What is known here of a key at a replica.
    pub(crate) fn presence_at(&self, replica: NodeId, table: TableId, id: KeyId) -> Presence {
        if replica == self.id() {
            return self.own_presence(table, id);
        }
        let known = self.peer(replica).and_then(|peer| peer.presence(table, id));
        let without =
            if is_flawed!(self.config(), TrustUnknown) { Presence::Absent } else { Presence::Unknown };
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
