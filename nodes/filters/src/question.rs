//! A read as a coordinator sees it, and what is decided about it.

use crate::key_id::{KeyId, NodeId, TableId};

/// How many replicas a read asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Consistency {
    /// One replica, of any or of the own datacentre.
    One,
    /// Two replicas.
    Two,
    /// Three replicas.
    Three,
    /// More than half, of all, of the own datacentre, or of each.
    Quorum,
    /// All replicas.
    All,
    /// A read inside Paxos: never answered here.
    Serial,
    /// A read of this very node: never answered here.
    NodeLocal,
}

/// What a read reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Plan {
    /// Partitions by their keys.
    Partitions,
    /// A scan or a range of tokens.
    Scan,
    /// A secondary or vector index.
    Index,
}

/// One partition of a read.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The partition.
    pub partition: KeyId,
    /// First and last place of its rows, if clustering columns are restricted: then a partition's static columns do not
    /// count. `None` for the whole partition.
    pub slice: Option<(u64, u64)>,
    /// Every replica of the partition in the coordinator's ring.
    pub replicas: &'a [NodeId],
}

/// Replicas of which any `needed` could answer a read of one partition without the others.
#[derive(Debug, Clone, Copy)]
pub struct Quorum<'a> {
    /// All replicas that count: of the partition, or of one datacentre.
    pub replicas: &'a [NodeId],
    /// How many of them it takes, at least 1.
    pub needed: usize,
}

/// A read.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The table.
    pub table: TableId,
    /// What it reads.
    pub plan: Plan,
    /// How many replicas it asks.
    pub consistency: Consistency,
    /// Whether it is not the continuation of another read.
    pub is_first_page: bool,
    /// Whether enough replicas are alive: the store has checked it as it always does.
    pub is_available: bool,
    /// The partitions.
    pub keys: &'a [Asked<'a>],
}

/// Why a read goes on to the replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Mode shadow: it would have been answered.
    Shadow,
    /// It is switched off.
    Off,
    /// Not a read of partitions by their keys.
    Plan,
    /// A consistency that is never answered here, or not in this mode.
    Consistency,
    /// The continuation of another read.
    Page,
    /// Not enough replicas are alive.
    Availability,
    /// No partition, or one without replicas.
    NoKey,
    /// A replica may hold a live row.
    MayBeLive,
    /// There is no copy of a replica's filter, or it does not know.
    Unknown,
    /// A copy is too old, or its lease has run out.
    Stale,
    /// The slice has too many buckets, as one that is open to one side.
    TooWide,
    /// Keys stream into its slot at a replica, so any of them may be there.
    Ingest,
}

impl Reason {
    /// All of them, in their order.
    pub(crate) const ALL: [Self; 12] = [
        Self::Shadow,
        Self::Off,
        Self::Plan,
        Self::Consistency,
        Self::Page,
        Self::Availability,
        Self::NoKey,
        Self::MayBeLive,
        Self::Unknown,
        Self::Stale,
        Self::TooWide,
        Self::Ingest,
    ];
}

/// What to do with a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Answer it: nothing is there.
    Empty,
    /// Ask the replicas.
    Forward(Reason),
}
