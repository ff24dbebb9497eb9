//! One filter with the blacklist and one without, asked round after round.
//!
//! As section 5.11: the blacklist's size is found by a round of its own beforehand and taken off the filter's budget, so
//! that both have the same space. What was a "maybe" without a key is reported at once.

use lacuna_base::{AlignedBytes, DynFilter, Result, Sealed, U64Range};
use lacuna_families::testing::BlacklistedRencoder;

use crate::paper::Session;
use crate::paper::grid::{build, plan};
use crate::paper::session::TestBed;
use lacuna_bench::harness::{Rounds, TaskId, independent};

/// Queries of a timed round, at most.
const TIMED_QUERIES: usize = 1 << 15;
/// Rounds that are timed.
const TIMED_ROUNDS: usize = 9;
/// Least bits a key that are left to a filter beside its blacklist.
const MIN_BITS: f64 = 1.0;

/// A variant under the name that the figures give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Variant {
    pub(super) name: &'static str,
    pub(super) listed_name: &'static str,
    pub(super) spec: &'static str,
}

/// A range, and whether no key lies in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) range: U64Range,
    pub(super) is_empty: bool,
}

/// Keys, a sample, and the queries of each round.
#[derive(Debug)]
pub(super) struct Rounded {
    pub(super) test_bed: TestBed,
    pub(super) rounds: Vec<Vec<Asked>>,
}

/// The result of one variant at one budget.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct VariantRun {
    pub(super) variant: Variant,
    /// Budget in bits a key, and what the figure varies.
    pub(super) x: f64,
    /// False positives in each round, without and with the blacklist.
    pub(super) plain: Vec<u64>,
    pub(super) listed: Vec<u64>,
    /// Empty queries in each round.
    pub(super) empty: Vec<u64>,
    /// Bytes of the blacklist after the round beforehand.
    pub(super) blacklist_bytes: usize,
    /// Nanoseconds a query: without, with an empty blacklist, with the full one.
    pub(super) times: Option<[f64; 3]>,
}

impl VariantRun {
    /// Mean rates over the first `rounds` rounds, without and with the blacklist; `None` without empty queries.
    pub(super) fn mean_rates(&self, rounds: usize) -> Option<[f64; 2]> {
        let empty: u64 = self.empty[..rounds].iter().sum();
        let rate = |positives: &[u64]| positives[..rounds].iter().sum::<u64>() as f64 / empty as f64;
        (empty > 0).then(|| [rate(&self.plain), rate(&self.listed)])
    }

    /// Rates in round `round`, without and with the blacklist.
    pub(super) fn rates_in(&self, round: usize) -> [f64; 2] {
        [&self.plain, &self.listed].map(|positives| positives[round] as f64 / self.empty[round].max(1) as f64)
    }
}

/// Runs `variant` at `bits`; `x` is kept for the figure.
pub(super) fn run_variant(
    session: &mut Session<'_>,
    variant: Variant,
    rounded: &Rounded,
    (bits, x): (f64, f64),
    timed: bool,
) -> Result<VariantRun> {
    session.say(format!("{} with a blacklist, {bits} bits", variant.name));
    let (test_bed, seed) = (&rounded.test_bed, session.seed());
    let plain = sealed(variant, test_bed, bits, seed)?;
    let blacklist_bytes = bytes_beforehand(plain.clone(), rounded)?;
    let taken = blacklist_bytes as f64 * 8.0 / test_bed.keys.len() as f64;
    let listed = sealed(variant, test_bed, (bits - taken).max(MIN_BITS), seed)?;
    let fresh = BlacklistedRencoder::open(listed.clone())?;
    let mut learning = BlacklistedRencoder::open(listed)?;
    let plain = lacuna_families::open::<u64, AlignedBytes>(plain.into_bytes())?;
    let listed = rounded.rounds.iter().map(|round| learn(&mut learning, round)).collect();
    let times = timed.then(|| times(&*plain, &fresh, &learning, rounded));
    Ok(VariantRun {
        variant,
        x,
        plain: rounded.rounds.iter().map(|round| false_positives(&*plain, round)).collect(),
        listed,
        empty: rounded.rounds.iter().map(|round| count_empty(round)).collect(),
        blacklist_bytes,
        times,
    })
}

fn sealed(variant: Variant, test_bed: &TestBed, bits: f64, seed: u64) -> Result<Sealed> {
    build(variant.spec, test_bed, &plan(test_bed, bits, seed)?)
}

fn count_empty(round: &[Asked]) -> u64 {
    round.iter().filter(|asked| asked.is_empty).count() as u64
}

/// What the blacklist of the whole filter takes after the first round.
fn bytes_beforehand(sealed: Sealed, rounded: &Rounded) -> Result<usize> {
    let mut filter = BlacklistedRencoder::open(sealed)?;
    if let Some(first) = rounded.rounds.first() {
        learn(&mut filter, first);
    }
    Ok(filter.blacklist().payload_bytes())
}

/// Asks a round, reports what was a "maybe" for nothing, and counts it.
fn learn(filter: &mut BlacklistedRencoder<Sealed>, round: &[Asked]) -> u64 {
    let mut false_positives = 0;
    for asked in round {
        if filter.may_contain_range(asked.range) && asked.is_empty {
            filter.report_false_positive(asked.range);
            false_positives += 1;
        }
    }
    false_positives
}

fn false_positives(filter: &DynFilter<u64>, round: &[Asked]) -> u64 {
    round.iter().filter(|asked| asked.is_empty && filter.may_contain_range(asked.range)).count() as u64
}

/// Nanoseconds a query of the last round, in interleaved rounds.
fn times(
    plain: &DynFilter<u64>,
    fresh: &BlacklistedRencoder<Sealed>,
    full: &BlacklistedRencoder<Sealed>,
    rounded: &Rounded,
) -> [f64; 3] {
    let last = rounded.rounds.last().expect("there is a round");
    let pool: Vec<U64Range> = last.iter().take(TIMED_QUERIES).map(|asked| asked.range).collect();
    let mut rounds = Rounds::new();
    let tasks: [TaskId; 3] = [
        rounds.add("without", pool.len(), || independent(&pool, 1, |range| plain.may_contain_range(range))),
        rounds
            .add("first round", pool.len(), || independent(&pool, 1, |range| fresh.may_contain_range(range))),
        rounds
            .add("later rounds", pool.len(), || independent(&pool, 1, |range| full.may_contain_range(range))),
    ];
    let timings = rounds.run(TIMED_ROUNDS, &mut |_| {});
    tasks.map(|task| timings.median_ns(task))
}
