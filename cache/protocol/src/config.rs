//! The settings of an owner.

use std::sync::Arc;

use crate::cache_model::RangeId;
use crate::error::{Error, Result};
use crate::message::{Command, Epoch, Value};
use crate::query::Query;
use crate::range_key::RangeKey;
use crate::range_table::RangeTable;

/// What a write does to cached entries and to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Policy {
    /// Entries are deleted, the store is written.
    WriteAround,
    /// The store is written, entries are updated.
    WriteThrough,
    /// Entries are updated, the write is kept in logs, the store is written later.
    WriteBack,
}

/// Settings of an owner. Times are in the unit of the clock of its driver.
#[derive(Debug, Clone)]
pub struct Config {
    /// What a write does.
    pub policy: Policy,
    /// Registered domains of the collection.
    pub domain_count: usize,
    /// Log servers, all of which keep every buffered write; 0 without write-back.
    pub log_count: usize,
    /// How long to wait for a reply.
    pub call_timeout: u64,
    /// How often to try a call before a server counts as lost.
    pub attempts: u32,
    /// How long to write through after the log was full or the store refused a buffered write.
    pub write_through_for: u64,
    /// How long a buffered write is retried while the store reports a temporary refusal, before it counts as
    /// refused for good.
    pub apply_patience: u64,
    /// Buffered writes in one transaction.
    pub apply_batch: usize,
    /// How long after the last transaction buffered writes gather for the next, unless a task waits for them or they are
    /// enough for one. A transaction costs as much as several writes, and of two writes of a row only the later is sent.
    pub apply_pause: u64,
    /// Limit of buffered writes that the store does not have yet; further writes wait until it has caught up.
    pub max_buffered: usize,
    /// Known-empty intervals to keep.
    pub max_gaps: usize,
    /// Whether an answer of the cache server shows that no other owner has taken over. One that is this owner's alone shows
    /// nothing.
    pub lookups_prove: bool,
    /// Largest percentage of rows that a new entry may share with another (β).
    pub beta: u8,
    /// Largest result to cache, in bytes.
    pub largest_value: usize,
    /// Bytes that writes may add to a value, however short it is, before it is replaced by one without patches.
    pub patch_room: usize,
    /// Entries that the owner knows of, at most; beyond that some are deleted.
    pub max_entries: usize,
    /// Rows whose conditions the owner remembers under write-back.
    pub max_known_rows: usize,
    /// When to start serving: clients may read until then from another cache server (P11), or under the fence of a
    /// range that this one was cut from.
    pub serve_from: u64,
    /// Whether β follows hit rate, memory and share of writes (`beta` is the initial value).
    pub beta_auto: bool,
    /// Whether the largest result to cache is measured (`largest_value` stays the limit): then the driver reports it
    /// ([`Event::WorthCaching`](crate::Event::WorthCaching)).
    pub learns_size: bool,
    /// Whether the cache server keeps a log of entries, so that the next tenure can begin warm.
    pub keeps_log: bool,
    /// The previous tenure, if it was on the same cache server, with the same intervals, and kept a log: its
    /// entries are taken over. Otherwise the cache begins empty.
    pub warm_from: Option<Epoch>,
    /// Number of delete records in one append to the log (α); fewer are appended as time passes.
    pub log_batch: usize,
    /// The range of this owner.
    pub range: RangeId,
    /// The table of all ranges; `None` if this range holds everything.
    pub table: Option<Arc<RangeTable>>,
    /// How long another owner may hold a lease here before its outcome counts as unknown.
    pub peer_timeout: u64,
    /// How long a request may wait for its lease, and for those at other owners; then it is answered with `Retry`.
    pub request_timeout: u64,
    /// The injected flaw, in tests that must fail.
    #[cfg(feature = "flaws")]
    #[doc(hidden)]
    pub flaw: Option<Flaw>,
}

impl Config {
    /// The usual settings for one domain.
    pub const fn new(policy: Policy) -> Self {
        let log_count = if matches!(policy, Policy::WriteBack) { 3 } else { 0 };
        Self {
            policy,
            domain_count: 1,
            log_count,
            call_timeout: 1_000,
            attempts: 5,
            write_through_for: 10_000,
            apply_patience: 300_000,
            apply_batch: 64,
            apply_pause: 0,
            max_buffered: 1_024,
            max_gaps: 10_000,
            lookups_prove: true,
            beta: 100,
            largest_value: 1 << 20,
            patch_room: 1_024,
            max_entries: 1_000_000,
            max_known_rows: if matches!(policy, Policy::WriteBack) { 100_000 } else { 0 },
            serve_from: 0,
            beta_auto: false,
            learns_size: false,
            keeps_log: false,
            warm_from: None,
            log_batch: 64,
            range: RangeId(0),
            table: None,
            peer_timeout: 20_000,
            request_timeout: u64::MAX,
            #[cfg(feature = "flaws")]
            flaw: None,
        }
    }

    /// Refuses settings under which no request would ever be answered.
    ///
    /// # Errors
    /// `InvalidInput` that names the setting, and the smallest that works.
    pub fn check(&self) -> Result<()> {
        let is_buffering = self.policy == Policy::WriteBack;
        let settings = [
            ("domain_count", self.domain_count > 0),
            ("call_timeout", self.call_timeout > 0),
            ("request_timeout", self.request_timeout > 0),
            ("apply_batch", self.apply_batch > 0),
            ("max_buffered", self.max_buffered > 0 || !is_buffering),
            ("log_count", self.log_count > 0 || !is_buffering),
        ];
        match settings.into_iter().find(|(_, is_enough)| !is_enough) {
            Some((name, _)) => Err(Error::invalid_input(format!("{name} of an owner is 0: give at least 1"))),
            None => Ok(()),
        }
    }
}

/// What is known of a row: its value in the first domain, and a digest of whatever the conditions of writes compare.
pub type Fact = (RangeKey, u128);

/// What a write does to a cached result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Patch {
    /// Nothing.
    Nothing,
    /// It adds to its value.
    Append(Addition),
    /// Only the store knows.
    Unknown,
}

/// What a write adds to the value of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addition {
    /// The bytes.
    pub bytes: Arc<[u8]>,
    /// What they speak of; `None` for anything.
    pub about: Option<About>,
}

/// The part of a row that an addition speaks of, in bytes that are the same for the same part alone.
///
/// Two additions about different rows may change places. Of two about the same part of the same row the later stands for
/// both, unless one about another part of that row, or about anything, lies between them. So it may take the place of the
/// earlier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The row.
    pub row: Arc<[u8]>,
    /// The part of the row.
    pub part: Arc<[u8]>,
}

impl Addition {
    /// One that may speak of anything.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { bytes: bytes.into(), about: None }
    }
}

/// What only the application knows: the meaning of commands and results.
pub trait Application {
    /// Whether the domains of `command` are numbered as here. A client that registers other columns, or the same in
    /// another order, means others by its numbers: such a write touches every domain whole.
    fn numbers_domains_of(&self, command: &Command) -> bool {
        let _ = command;
        true
    }

    /// The same of a query.
    fn numbers_domain_of(&self, query: &Query) -> bool {
        let _ = query;
        true
    }

    /// Whether the store is certain to accept `command` once it has all writes that were acknowledged before it.
    /// `shown` holds current results: of entries that the write touches, and of ranges that are known to be empty;
    /// `facts` is what [`Application::facts_of`] and [`Application::facts_after`] said of rows in its intervals.
    /// During the decision, no other write can touch the same intervals. The owner asks with few results first.
    ///
    /// Under write-back only such a write is acknowledged before the store has it (P14): an update whose compared
    /// row is shown to be equal, or an insertion whose key is shown to be free. In doubt return `false`: then the
    /// write is acknowledged after the store has accepted it. Other policies do not ask.
    fn is_certain(&self, command: &Command, shown: &[(Query, Value)], facts: &[Fact]) -> bool {
        let _ = (command, shown, facts);
        false
    }

    /// What a result says of its rows, for [`Application::is_certain`] of later writes.
    fn facts_of(&self, query: &Query, value: &Value) -> Vec<Fact> {
        let _ = (query, value);
        Vec::new()
    }

    /// What is true of its rows after a write that is done.
    fn facts_after(&self, command: &Command) -> Vec<Fact> {
        let _ = command;
        Vec::new()
    }

    /// What a write does to the cached results of these queries, all of which it touches, in their order. A value
    /// followed by the bytes of [`Patch::Append`] must stand for the result after the write, whatever was appended
    /// before.
    fn patch(&self, command: &Command, queries: &[Query]) -> Vec<Patch> {
        let _ = command;
        queries.iter().map(|_| Patch::Unknown).collect()
    }

    /// The result that a value and its patches stand for, byte for byte as the store would give it; `None` if that
    /// needs the store. A query with [stamps](Query::stamps) needs the store if the value was made under others.
    fn settle(&self, query: &Query, value: &Value) -> Option<Value> {
        let _ = query;
        Some(value.clone())
    }

    /// The result of `query` where there are no rows.
    fn empty(&self, query: &Query) -> Value;

    /// One command with the effect of both, if there is one. Both touch the same intervals.
    fn merge(&self, first: &Command, second: &Command) -> Option<Command> {
        let _ = (first, second);
        None
    }

    /// Percentage of the rows of the smaller of two overlapping results that both contain.
    fn shared_percent(&self, new: &Query, value: &Value, other: &Query) -> u8 {
        let _ = (new, value, other);
        100
    }

    /// The result of `query`, which asks for all rows of an interval, from results of queries that differ from it
    /// only in their intervals and together cover it. A row may be in several of them, or outside the interval.
    /// The values have no patches. `None` if that needs the store.
    fn fuse(&self, query: &Query, parts: &[(Query, Value)]) -> Option<Value> {
        let _ = (query, parts);
        None
    }

    /// Whether [`Application::fuse`] is worth asking.
    fn can_fuse(&self) -> bool {
        false
    }
}

/// The protocol with one correction removed: the negative controls of the tests.
#[cfg_attr(
    not(feature = "flaws"),
    allow(dead_code, unreachable_pub, reason = "no build but that of the tests can have a flaw")
)]
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Flaw {
    /// A tenure begins with the table that its process knows, not with that by which it was granted.
    BeginWithOwnTable,
    /// P1: entries of one write are changed one by one, visibly.
    SwapOneByOne,
    /// An entry that is installed while it makes room for others is forgotten.
    ForgetInstalledAnew,
    /// P2: entries are not hidden before the store has the write.
    ShowWhileStoring,
    /// P2: entries are changed before the store has the write.
    CacheBeforeStore,
    /// P3: the store does not check epochs.
    UnfencedStore,
    /// P4: a writer leaves the I leases of readers in place.
    KeepForeignLease,
    /// A change that comes again, or late, is made again.
    RepeatPatch,
    /// A compacted value replaces one that has changed meanwhile.
    CompactLate,
    /// A patch takes the place of another in a value that has changed meanwhile.
    PatchAnywhere,
    /// A patch takes the place of an earlier one of its row, whatever came between them.
    PatchEarlier,
    /// A new owner keeps entries that may lack a write which was in the logs alone.
    WarmUnpatched,
    /// P5: an entry is known to the owner only after the reply to its installation.
    KnowAfterInstall,
    /// P6: after a miss, all buffered writes of the interval are forgotten, applied or not.
    ForgetUnapplied,
    /// P7: buffered writes are applied in the wrong order.
    ApplyBackwards,
    /// P8: a moved row is known by its new value only.
    NewValueOnly,
    /// P9: a write locks only the domain it names.
    OneDomainOnly,
    /// P10: a full result with a limit also answers for values after its last row.
    CoverLastRowOnly,
    /// P11: a new owner begins before the routes to the old cache server have ended.
    ServeAtOnce,
    /// P12: a cache server restarts with old values and old fences.
    RestoreSnapshot,
    /// P13: log servers forget what they acknowledged when they restart.
    ForgetfulLogs,
    /// P13: writes that share an append are acknowledged once one log has them.
    OneLogIsEnough,
    /// P14: a write whose condition may not hold is buffered.
    BufferInDoubt,
    /// A gap is split after the write was acknowledged.
    SplitGapLate,
    /// A new owner takes over entries of any older tenure.
    WarmFromAny,
    /// A new owner replays the log in the order it lies there.
    ReplayUnsorted,
    /// A write over several ranges checks the fence of the leader only.
    OneFenceOnly,
    /// The leader of a write over several ranges does not ask the other owners.
    LeadAlone,
    /// A read over several ranges does not ask whether their owners have held its leases.
    TrustGuests,
    /// A lease of a caller that goes to the store directly covers nothing.
    HoldNothing,
    /// A cache server reads the parts of a result one after the other.
    ReadPartsApart,
    /// The store is queried before it has the buffered writes of the queried interval.
    AskUnflushed,
    /// A result of several tables is taken for current whatever was written to those that are joined.
    KeepStamps,
    /// The stamps of joined tables with buffered writes are not read again after the result.
    StampOnce,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_under_which_nothing_is_answered_are_refused_by_name() {
        for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
            Config::new(policy).check().unwrap();
        }
        let usual = Config::new(Policy::WriteBack);
        let wrong = [
            ("domain_count", Config { domain_count: 0, ..usual.clone() }),
            ("call_timeout", Config { call_timeout: 0, ..usual.clone() }),
            ("request_timeout", Config { request_timeout: 0, ..usual.clone() }),
            ("apply_batch", Config { apply_batch: 0, ..usual.clone() }),
            ("max_buffered", Config { max_buffered: 0, ..usual.clone() }),
            ("log_count", Config { log_count: 0, ..usual }),
        ];
        for (name, config) in wrong {
            let why = config.check().unwrap_err();
            assert_eq!(why.kind(), crate::ErrorKind::InvalidInput, "{why}");
            assert!(why.to_string().starts_with(name), "{why}");
        }
    }
}
