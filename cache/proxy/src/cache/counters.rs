//! What the cache has done.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::auto::AutoCounts;
use super::shadow::ShadowCounts;

/// Most reasons that are counted, each for itself.
const MAX_REASONS: usize = 200;

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) hits: AtomicU64,
    pub(crate) misses: AtomicU64,
    pub(crate) filled: AtomicU64,
    pub(crate) held: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) logged: AtomicU64,
    pub(crate) doubts: AtomicU64,
    pub(crate) questions: AtomicU64,
    pub(crate) unregistered: AtomicU64,
    pub(crate) hit_nanos: AtomicU64,
    pub(crate) fill_nanos: AtomicU64,
    pub(crate) saved_nanos: AtomicU64,
    relayed: Mutex<BTreeMap<String, u64>>,
}

/// What the cache of a proxy has done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheCounts {
    /// Statements that were answered from the cache.
    pub hits: u64,
    /// Statements that could have been, and whose reply was not there.
    pub misses: u64,
    /// Replies that were kept.
    pub filled: u64,
    /// Writes before which entries were dropped: statements, or commits of transactions.
    pub writes: u64,
    /// Entries that writes have dropped.
    pub dropped: u64,
    /// Transactions in the log of the database that have touched registered columns, those of the proxy's own sessions among them.
    pub logged: u64,
    /// Writes whose answer never came.
    pub doubts: u64,
    /// Questions to sessions about their roles and settings.
    pub questions: u64,
    /// Time from the statement of a hit to its answer, of all hits.
    pub hit_time: Duration,
    /// Time from a statement to its answer, of all whose reply was kept.
    pub fill_time: Duration,
    /// Time that hits have spared: what the server took for the reply when it was kept, less what the hit took.
    pub saved_time: Duration,
    /// Registered tables.
    pub tables: usize,
    /// Registered columns.
    pub columns: usize,
    /// Columns that were taken off the list while it ran.
    pub unregistered: u64,
    /// Entries that are there.
    pub entries: usize,
    /// Bytes that they take, nearly.
    pub bytes: usize,
    /// Statements that were relayed and nothing else, by reason.
    pub relayed: BTreeMap<String, u64>,
    /// Why nothing is shown, if that is so.
    pub closed: Option<String>,
    /// For how long the oldest write without an answer that may touch everything has held everything; zero if there is none.
    pub held: Duration,
    /// What was compared, if the cache is one that answers nothing.
    pub shadow: Option<ShadowCounts>,
    /// What was registered while it ran, if that was asked for.
    pub auto: Option<AutoCounts>,
}

impl Counters {
    pub(crate) fn relayed(&self, reason: &str) {
        let mut relayed = self.relayed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = relayed.get_mut(reason) {
            *count += 1;
        } else if relayed.len() < MAX_REASONS {
            relayed.insert(reason.to_owned(), 1);
        }
    }

    /// A transaction in the log has dropped these entries.
    pub(crate) fn logged(&self, dropped: usize) {
        count(&self.logged);
        self.dropped.fetch_add(dropped as u64, Ordering::Relaxed);
    }

    pub(crate) fn counts(&self) -> CacheCounts {
        let Self {
            hits,
            misses,
            filled,
            held,
            dropped,
            logged,
            doubts,
            questions,
            unregistered,
            hit_nanos,
            fill_nanos,
            saved_nanos,
            relayed,
        } = self;
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        CacheCounts {
            hits: of(hits),
            misses: of(misses),
            filled: of(filled),
            writes: of(held),
            dropped: of(dropped),
            logged: of(logged),
            doubts: of(doubts),
            questions: of(questions),
            unregistered: of(unregistered),
            hit_time: Duration::from_nanos(of(hit_nanos)),
            fill_time: Duration::from_nanos(of(fill_nanos)),
            saved_time: Duration::from_nanos(of(saved_nanos)),
            relayed: relayed.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            ..CacheCounts::default()
        }
    }
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Adds the time since `begun`.
pub(crate) fn add_time(counter: &AtomicU64, begun: Instant) {
    add_duration(counter, begun.elapsed());
}

pub(crate) fn add_duration(counter: &AtomicU64, time: Duration) {
    counter.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
}

impl CacheCounts {
    /// As text, the most frequent reason first.
    #[must_use]
    pub fn report(&self) -> String {
        let Self {
            hits,
            misses,
            filled,
            writes,
            dropped,
            logged,
            doubts,
            questions,
            unregistered,
            entries,
            bytes,
            relayed,
            closed,
            shadow,
            auto,
            ..
        } = self;
        let mut text = format!(
            "cache: {hits} hits, {misses} misses, {filled} replies kept; {writes} writes dropped {dropped} entries, {doubts} of \
             them without an answer; {entries} entries of {bytes} bytes; {questions} questions to sessions\n"
        );
        if *logged > 0 {
            let _ = writeln!(text, "{logged} transactions in the log of the database");
        }
        if *unregistered > 0 {
            let _ = writeln!(text, "{unregistered} columns were taken off the list");
        }
        if let Some(shadow) = shadow {
            text.push_str(&shadow.report());
        }
        if let Some(auto) = auto {
            text.push_str(&auto.report());
        }
        if let Some(why) = closed {
            let _ = writeln!(text, "nothing is shown: {why}");
        }
        let mut reasons: Vec<_> = relayed.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (reason, count) in reasons {
            let _ = writeln!(text, "  {count:>8}  relayed: {reason}");
        }
        text
    }
}
