//! What is in progress at an owner beside reads of its range, and how far it has come.

use super::across::Others;
use crate::cache_model::RangeId;
use crate::lease_table::{LeaseId, LeaseMode};
use crate::message::{CallId, Epoch, PeerId, RequestId, Session, Value, Write};
use crate::query::Query;

/// A write in progress, or what else takes a lease and clears entries as a write does.
#[derive(Debug, Clone)]
pub(super) struct WriteTask {
    pub(super) kind: Kind,
    /// `None` once it was answered.
    pub(super) request: Option<RequestId>,
    pub(super) step: WriteStep,
    pub(super) write: Write,
    pub(super) lease: LeaseId,
    pub(super) session: Session,
    /// When it was asked for, or other owners were first asked; of what another owner leads, when it must have ended.
    pub(super) time: u64,
    /// The entries it may touch; at the end, those that are gone.
    pub(super) queries: Vec<Query>,
    /// Parts of other ranges whose owners are still to be asked.
    pub(super) others: Others,
    /// Other ranges that are held, and the tenures of their owners.
    pub(super) held: Vec<(RangeId, Epoch)>,
    /// Their values before it, where there were any.
    pub(super) old: Vec<(Query, Value)>,
    /// Queries of what it touches that were known to find nothing before it.
    pub(super) empty: Vec<Query>,
    /// Scripts without a reply, under the flaw that makes them many.
    pub(super) commits: usize,
}

/// What a task is for.
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
    /// The part of this range in what another owner leads, and whom to answer.
    Guest(PeerId, CallId, LeaseMode),
    /// Somebody writes past the cache, and says so before.
    Bulk,
    /// Somebody has written past the cache.
    Foreign,
}

impl Kind {
    pub(super) const fn mode(&self) -> LeaseMode {
        match self {
            Self::Read(_) | Self::ReadAll(_) => LeaseMode::Shared,
            Self::Guest(_, _, mode) => *mode,
            _ => LeaseMode::Exclusive,
        }
    }
}

/// How far a write has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum WriteStep {
    /// For its lease.
    Waiting,
    /// For its entries to be cleared.
    Clearing,
    /// For buffered writes of its intervals to be applied.
    Flushing,
    /// For owners of other ranges.
    Leading,
    /// For whoever leads it, or loads, to say that it is over.
    Held,
    /// For the store.
    Storing,
    /// For so many logs.
    Logging { lsn: u64, missing: usize },
    /// For the store to have it as a buffered write, as a log does not.
    Draining { lsn: u64 },
    /// For its entries to have their new values.
    Committing,
}

impl Kind {
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Across => "write across",
            Self::Read(_) => "read across",
            Self::ReadAll(_) => "read all",
            Self::Guest(..) => "guest",
            Self::Bulk => "bulk load",
            Self::Foreign => "foreign write",
        }
    }
}

impl WriteStep {
    /// Whether nothing that was asked of store or logs can make it durable.
    pub(super) const fn is_before_the_store(self) -> bool {
        matches!(self, Self::Waiting | Self::Clearing | Self::Flushing | Self::Leading | Self::Held)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Clearing => "clearing",
            Self::Flushing => "flushing",
            Self::Leading => "leading",
            Self::Held => "held",
            Self::Storing => "storing",
            Self::Logging { .. } => "logging",
            Self::Draining { .. } => "draining",
            Self::Committing => "committing",
        }
    }
}
