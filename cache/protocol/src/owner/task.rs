//! Tasks in progress at an owner other than reads of its range, and their steps.

use super::across::Others;
use super::patching::Wish;
use crate::cache_model::RangeId;
use crate::config::Fact;
use crate::lease_table::{LeaseId, LeaseMode};
use crate::message::{CallId, Epoch, PeerId, RequestId, Value, Write};
use crate::query::Query;

/// A write in progress, or another task that takes a lease and clears entries as a write does.
#[derive(Debug, Clone)]
pub(super) struct WriteTask {
    pub(super) kind: Kind,
    /// `None` once it was answered.
    pub(super) request: Option<RequestId>,
    pub(super) step: WriteStep,
    pub(super) write: Write,
    pub(super) lease: LeaseId,
    /// The time of the request, or when other owners last had a message about it; for a guest, when it must have ended.
    pub(super) time: u64,
    /// When other owners were first asked.
    pub(super) asked: u64,
    /// Entries that are gone once it is over.
    pub(super) queries: Vec<Query>,
    /// What it does to the other entries that it touches.
    pub(super) wishes: Vec<Wish>,
    /// Whether it hides them.
    pub(super) is_hiding: bool,
    /// Its number among buffered writes, if it is in all logs.
    pub(super) lsn: Option<u64>,
    /// Whether it is durable and not refused.
    pub(super) is_done: bool,
    /// What was known of its rows.
    pub(super) facts: Vec<Fact>,
    /// Parts of other ranges whose owners are still to be asked.
    pub(super) others: Others,
    /// Other ranges that are held, and the tenures of their owners.
    pub(super) held: Vec<(RangeId, Epoch)>,
    /// How many of them have not said yet that the lease of a read was held until its last row.
    pub(super) unconfirmed: usize,
    /// Results that were read for it.
    pub(super) old: Vec<(Query, Value)>,
    /// Queries that it touches and that were known to find nothing before it.
    pub(super) empty: Vec<Query>,
    /// Whether the leader of this guest has given up.
    pub(super) is_released: bool,
}

impl WriteTask {
    /// Its number among buffered writes, if it has one.
    pub(super) const fn number(&self) -> Option<u64> {
        match self.step {
            WriteStep::Logging { lsn } | WriteStep::Draining { lsn } => Some(lsn),
            _ => self.lsn,
        }
    }

    /// The owner that was asked last may still take the lease: it counts as one that holds it.
    pub(super) fn count_the_last_asked(&mut self) {
        if self.step == WriteStep::Leading {
            self.held.extend(self.others.first().map(|(range, _)| (*range, Epoch(0))));
        }
    }
}

/// The purpose of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A write of this range alone.
    Write,
    /// A write of several ranges, led from here.
    Across,
    /// A read of several ranges, led from here.
    Read(Query),
    /// Several reads of one moment.
    ReadAll(Vec<Query>),
    /// The part of this range in a task that another owner leads, and whom to answer.
    Guest(PeerId, CallId, LeaseMode),
    /// A lease for a caller that reads and writes at the store directly.
    Hold,
    /// A foreign write past the cache that has happened.
    Foreign,
}

impl Kind {
    /// What a read of several ranges asks the store for.
    pub(super) fn queries(&self) -> &[Query] {
        match self {
            Self::Read(query) => std::slice::from_ref(query),
            Self::ReadAll(queries) => queries,
            _ => &[],
        }
    }

    pub(super) const fn mode(&self) -> LeaseMode {
        match self {
            Self::Read(_) | Self::ReadAll(_) => LeaseMode::Shared,
            Self::Guest(_, _, mode) => *mode,
            _ => LeaseMode::Exclusive,
        }
    }
}

/// What a write waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum WriteStep {
    /// For its lease.
    Waiting,
    /// For its entries to be cleared, or read.
    Clearing,
    /// For its entries to be hidden.
    Hiding,
    /// For buffered writes of its intervals to be applied.
    Flushing,
    /// For owners of other ranges.
    Leading,
    /// For owners of other ranges to say that they have held the leases of a read.
    Confirming,
    /// For its leader, or the holder of the lease, to say that it is over.
    Held,
    /// For the store.
    Storing,
    /// For the logs.
    Logging { lsn: u64 },
    /// For the store to take it as a buffered write, because a log has no room.
    Draining { lsn: u64 },
    /// For its entries to be changed.
    Patching,
}

impl Kind {
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Across => "write across",
            Self::Read(_) => "read across",
            Self::ReadAll(_) => "read all",
            Self::Guest(..) => "guest",
            Self::Hold => "hold",
            Self::Foreign => "foreign write",
        }
    }
}

impl WriteStep {
    /// Whether no call that could make it durable was sent to store or logs yet.
    pub(super) const fn is_before_the_store(self) -> bool {
        matches!(
            self,
            Self::Waiting
                | Self::Clearing
                | Self::Hiding
                | Self::Flushing
                | Self::Leading
                | Self::Confirming
                | Self::Held
        )
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Clearing => "clearing",
            Self::Hiding => "hiding",
            Self::Flushing => "flushing",
            Self::Leading => "leading",
            Self::Confirming => "confirming",
            Self::Held => "held",
            Self::Storing => "storing",
            Self::Logging { .. } => "logging",
            Self::Draining { .. } => "draining",
            Self::Patching => "patching",
        }
    }
}
