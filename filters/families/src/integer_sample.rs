//! A plan as integer families see it before they build: integers, room, and the empty queries of the sample.
//!
//! Predictions answer for queries that hold no key. Some of those never reach the body: the smallest and largest key
//! settle them, or, between byte strings, a key shares the window of the range. What is left lies strictly between two
//! neighbouring integers, and the family says what it would answer.

use std::borrow::Cow;
use std::sync::Arc;

use lacuna_base::{BuildPlan, ByteRange, KeyStatistics, SortedKeys};

use crate::integer::places_of;
use crate::string_choice::StringChoice;

/// An empty query strictly between the smallest and the largest integer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InnerQuery {
    pub(crate) lo: u64,
    pub(crate) hi: u64,
    /// Place of the first integer above it; the one before lies below it.
    pub(crate) next: usize,
}

/// The input of a family, and the queries that its body answers.
#[derive(Debug)]
pub(crate) struct IntegerSample<'a> {
    /// The keys, or the windows of byte strings.
    pub(crate) integers: Cow<'a, [u64]>,
    /// Bits that keys have: 64, or those of the window.
    #[cfg_attr(not(feature = "baselines"), allow(dead_code, reason = "only baselines ask for it"))]
    pub(crate) key_bits: u32,
    /// Most bytes of a body.
    pub(crate) max_bytes: usize,
    /// Bytes of the payload that are not the body.
    pub(crate) section_bytes: usize,
    /// Distinct keys.
    pub(crate) key_count: usize,
    /// The sampled queries as a builder sees them, empty or not.
    #[cfg_attr(not(feature = "baselines"), allow(dead_code, reason = "only baselines ask for it"))]
    pub(crate) ranges: Vec<(u64, u64)>,
    /// Empty queries that the body answers.
    pub(crate) inner: Vec<InnerQuery>,
    /// All empty queries of the sample.
    pub(crate) empty_count: usize,
    /// Empty queries that are "maybe" whatever the body answers.
    pub(crate) maybe_count: usize,
}

impl<'a> IntegerSample<'a> {
    /// The plan over integers.
    pub(crate) fn of_integers(keys: SortedKeys<'a, u64>, plan: &BuildPlan<u64>) -> Self {
        let mut sample = Self {
            integers: Cow::Borrowed(keys.column()),
            key_bits: u64::BITS,
            max_bytes: plan.budget().payload_bytes(keys.len()),
            section_bytes: 0,
            key_count: keys.len(),
            ranges: plan.sample().iter().collect(),
            inner: Vec::new(),
            empty_count: 0,
            maybe_count: 0,
        };
        for (lo, hi) in plan.sample().iter() {
            let next = keys.column().partition_point(|&key| key < lo);
            if keys.column().get(next).is_none_or(|&key| key > hi) {
                sample.add_empty(lo, hi);
            }
        }
        sample
    }

    /// The plan over integers with the queries of `known`, whose places are known.
    pub(crate) fn placed(known: &KeyStatistics<'a, u64>) -> Self {
        let queries = known.queries().iter().map(|query| (query.lo, query.hi));
        let empty = known.plan().clone().with_sample(Arc::default());
        let mut sample = Self { ranges: queries.collect(), ..Self::of_integers(known.keys(), &empty) };
        sample.empty_count = known.queries().len();
        let inner =
            known.queries().iter().filter(|query| query.place > 0 && query.place < known.keys().len());
        sample.inner =
            inner.map(|query| InnerQuery { lo: query.lo, hi: query.hi, next: query.place }).collect();
        sample
    }

    /// The plan over byte strings, as [`StringChoice`] sees them.
    pub(crate) fn of_strings(keys: SortedKeys<'a, [u8]>, plan: &BuildPlan<[u8]>) -> Self {
        let payload_bytes = plan.budget().payload_bytes(keys.len());
        let choice = StringChoice::of(keys, plan);
        let (view, section_bytes) = (choice.view(), choice.section_bytes());
        let mut comes_to_body = choice.body_filter();
        let asked = plan.sample().ranges().filter(|range| comes_to_body(*range));
        let covers = asked.filter_map(|range| view.cover(range));
        let mut sample = Self {
            integers: Cow::Owned(places_of(keys, view)),
            key_bits: view.key_bits(),
            max_bytes: payload_bytes - section_bytes,
            section_bytes,
            key_count: keys.len(),
            ranges: covers.map(|cover| (cover.lo(), cover.hi())).collect(),
            inner: Vec::new(),
            empty_count: 0,
            maybe_count: 0,
        };
        let mut comes_to_body = choice.body_filter();
        for range in plan.sample().ranges().filter(|range| holds_none(keys, *range)) {
            match view.cover(range).filter(|_| comes_to_body(range)) {
                Some(cover) => sample.add_empty(cover.lo(), cover.hi()),
                None => sample.empty_count += 1,
            }
        }
        sample
    }

    /// Counts an empty query that the filter sees as `lo..=hi`.
    fn add_empty(&mut self, lo: u64, hi: u64) {
        self.empty_count += 1;
        let (Some(&smallest), Some(&largest)) = (self.integers.first(), self.integers.last()) else { return };
        if hi < smallest || largest < lo {
            return;
        }
        let next = self.integers.partition_point(|&key| key < lo);
        if self.integers[next] <= hi {
            self.maybe_count += 1;
        } else {
            self.inner.push(InnerQuery { lo, hi, next });
        }
    }

    /// Whether the smallest and largest integer say everything, so that there is no body.
    pub(crate) fn is_settled(&self) -> bool {
        self.integers.len() <= 2
    }

    /// The share of empty queries that are "maybe", if the body says so to `inner_positives` of the inner ones.
    pub(crate) fn rate(&self, inner_positives: f64) -> f64 {
        (self.maybe_count as f64 + inner_positives) / self.empty_count.max(1) as f64
    }

    /// Payload bits for each key, with a body of `body_bytes`.
    pub(crate) fn bits_per_key(&self, body_bytes: usize) -> f64 {
        (body_bytes + self.section_bytes) as f64 * 8.0 / self.key_count.max(1) as f64
    }
}

/// Whether no key lies in `range`.
fn holds_none(keys: SortedKeys<'_, [u8]>, range: ByteRange<'_>) -> bool {
    let is_before = |key: &[u8]| if range.lo_excluded() { key <= range.lo() } else { key < range.lo() };
    let (mut start, mut end) = (0, keys.len());
    while start < end {
        let middle = start.midpoint(end);
        if is_before(keys.get(middle)) { start = middle + 1 } else { end = middle }
    }
    start == keys.len() || !range.contains(keys.get(start))
}
