//! A cache that answers nothing: what it would have answered is compared with what the server answers.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::catalogue::Catalogue;
use super::compare::Verdict;
use super::counters::{add_time, count};
use super::plans::Plan;
use super::results::WouldBe;

/// Most differences that are logged, one by one.
const MAX_LOGGED: u64 = 100;
/// Differences that are remembered: the last ones.
const MAX_REMEMBERED: usize = 20;

/// A reply that the cache would have given, while the server's is on its way.
#[derive(Debug)]
pub(crate) struct Comparison {
    pub(crate) would_be: WouldBe,
    pub(crate) plan: Arc<Plan>,
}

/// What was compared so far.
#[derive(Debug, Default)]
pub(crate) struct Shadow {
    would_be_hits: AtomicU64,
    equal: AtomicU64,
    different: AtomicU64,
    nanos: AtomicU64,
    uncertain: Mutex<BTreeMap<&'static str, u64>>,
    last: Mutex<VecDeque<Difference>>,
}

/// What a cache in the shadow has found. Each would-be hit is equal, different, not compared, or still on its way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShadowCounts {
    /// Statements that the cache would have answered.
    pub would_be_hits: u64,
    /// Those to which the server has answered the same.
    pub equal: u64,
    /// Those to which it has answered what cannot be true together with what the cache had: broken promises.
    pub different: u64,
    /// Those that could not be compared, by reason.
    pub uncertain: BTreeMap<&'static str, u64>,
    /// Time that the server took for those that are equal or different.
    pub time: Duration,
    /// The last ones that are different, the newest last.
    pub last: Vec<Difference>,
}

/// A would-be hit to which the server has answered something else.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// When.
    pub at: SystemTime,
    /// The registered column.
    pub column: String,
    /// The first and the last value of the entry's intervals.
    pub interval: (String, String),
    /// The statement without its constants.
    pub shape: String,
    /// Bytes of the reply that would have been shown, and of the server's.
    pub bytes: (usize, usize),
    /// In what they differ.
    pub what: &'static str,
}

impl Shadow {
    /// A statement goes to the server that the cache would have answered.
    pub(crate) fn begins(&self) {
        count(&self.would_be_hits);
    }

    /// It was compared: `bytes` of the server's reply were read, from `begun` on.
    pub(crate) fn ends(
        &self,
        comparison: &Comparison,
        verdict: Verdict,
        (bytes, begun): (usize, Instant),
        catalogue: &Catalogue,
    ) {
        match verdict {
            Verdict::Uncertain(reason) => return self.uncertain(reason),
            Verdict::Equal => count(&self.equal),
            Verdict::Different(what) => self.differs(comparison, what, bytes, catalogue),
        }
        add_time(&self.nanos, begun);
    }

    fn uncertain(&self, reason: &'static str) {
        *self.uncertain.lock().unwrap_or_else(PoisonError::into_inner).entry(reason).or_default() += 1;
    }

    fn differs(
        &self,
        Comparison { would_be, plan }: &Comparison,
        what: &'static str,
        bytes: usize,
        catalogue: &Catalogue,
    ) {
        let number = self.different.fetch_add(1, Ordering::Relaxed);
        let (column, interval) = catalogue.shown(would_be.column, would_be.spans.hull());
        let difference = Difference {
            at: SystemTime::now(),
            column,
            interval,
            shape: plan.shape.to_string(),
            bytes: (would_be.reply.len(), bytes),
            what,
        };
        if number < MAX_LOGGED {
            let Difference { column, interval: (low, high), shape, bytes: (kept, answered), .. } =
                &difference;
            tracing::error!(
                column,
                low,
                high,
                shape,
                kept_bytes = kept,
                answered_bytes = answered,
                what,
                "shadow: the cache would have shown what the server does not say"
            );
        }
        if number + 1 == MAX_LOGGED {
            tracing::error!("shadow: differences from here on are counted, and not logged");
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() == MAX_REMEMBERED {
            last.pop_front();
        }
        last.push_back(difference);
    }

    pub(crate) fn counts(&self) -> ShadowCounts {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ShadowCounts {
            would_be_hits: of(&self.would_be_hits),
            equal: of(&self.equal),
            different: of(&self.different),
            uncertain: self.uncertain.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            time: Duration::from_nanos(of(&self.nanos)),
            last: self.last.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect(),
        }
    }
}

impl ShadowCounts {
    /// Would-be hits that could not be compared.
    #[must_use]
    pub fn not_compared(&self) -> u64 {
        self.uncertain.values().sum()
    }

    /// As text, the most frequent reason first.
    pub(super) fn report(&self) -> String {
        let Self { would_be_hits, equal, different, uncertain, .. } = self;
        let mut text = format!(
            "shadow: {would_be_hits} would-be hits: {equal} equal, {different} different, {} not compared\n",
            self.not_compared()
        );
        let mut reasons: Vec<_> = uncertain.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (reason, count) in reasons {
            text.push_str(&format!("  {count:>8}  not compared: {reason}\n"));
        }
        text
    }
}
