//! Runs a workload against a store.

use std::hint::black_box;
use std::time::{Duration, Instant};

use lacuna_base::{Error, KeyRange, Result};
use lacuna_workload::Workload;

use super::outcome::{Counts, Outcome};
use super::part::{Found, truth};
use super::store::{StorePlan, TwoLevelStore};
use lacuna_bench::BenchKey;

/// The cost of a read of one part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ReadPrice {
    /// Nanoseconds, added on paper.
    Accounted(f64),
    /// Nanoseconds, spent in a loop at every read.
    Spun(f64),
}

/// Builds a store over the workload's keys, asks it the workload's queries, and compares every answer with the keys.
///
/// ```
/// use lacuna_lab::two_level::{Layout, ReadPrice, StorePlan, run_store};
/// use lacuna_workload::{Keys, QuerySource};
///
/// let keys = Keys::from_u64s((0..10_000).map(|key: u64| key << 40).collect());
/// let workload = QuerySource::parse("uniform:1k:32")?.workload(keys, 1)?;
/// let layout = Layout::SsTables { table_count: 8 };
/// let plan = StorePlan { spec: "grafite", bits_per_key: 14.0, layout, seed: 1 };
/// let outcome = run_store(&workload, &plan, ReadPrice::Accounted(100_000.0))?;
/// assert_eq!(outcome.wrong_answers, 0);
/// assert!(outcome.reads * 20 < outcome.candidates);
/// # Ok::<(), lacuna_base::Error>(())
/// ```
///
/// # Errors
/// As `TwoLevelStore::build`; `InvalidInput` if there are no queries.
pub fn run_store(workload: &Workload, plan: &StorePlan<'_>, price: ReadPrice) -> Result<Outcome> {
    if workload.queries.is_empty() {
        return Err(Error::invalid_input("there are no queries to run; give at least one"));
    }
    match u64::inserted(workload) {
        Some(_) => run_over::<u64>(workload, plan, price),
        None => run_over::<[u8]>(workload, plan, price),
    }
}

fn run_over<K: BenchKey + ?Sized>(
    workload: &Workload,
    plan: &StorePlan<'_>,
    price: ReadPrice,
) -> Result<Outcome> {
    let keys = K::inserted(workload).expect("the caller looked at the keys");
    let ranges = K::ranges(&workload.queries);
    let store = TwoLevelStore::<K>::build(keys, plan)?;
    let mut counts = count(&store, keys, &ranges);
    counts.keys = workload.inserted.len() as u64;
    let filter_ns = if store.has_filters() { time_filters(&store, &ranges) } else { 0.0 };
    let overall_ns = match price {
        ReadPrice::Accounted(ns) => filter_ns + ns * counts.reads as f64,
        ReadPrice::Spun(ns) => time_everything(&store, &ranges, ns),
    };
    Ok(Outcome::new(plan, &store, counts, filter_ns, overall_ns))
}

/// Runs everything once, untimed, and counts.
fn count<K: BenchKey + ?Sized>(
    store: &TwoLevelStore<K>,
    keys: &K::OwnedColumn,
    ranges: &[KeyRange<'_, K>],
) -> Counts {
    let mut counts = Counts { queries: ranges.len() as u64, ..Counts::default() };
    for &range in ranges {
        let mut answer = Found::default();
        for part in store.candidates(range) {
            let found = store.read(part, range);
            let read = store.may_hold(part, range);
            counts.candidates += 1;
            counts.needed += u64::from(found.keys > 0);
            counts.reads += u64::from(read);
            if read {
                answer.keys += found.keys;
                answer.place_sum += found.place_sum;
            }
        }
        counts.hits += u64::from(answer.keys > 0);
        counts.wrong_answers += u64::from(answer != truth::<K>(keys, range));
    }
    counts
}

/// Time of all questions to filters, finding the candidates included, in nanoseconds.
fn time_filters<K: BenchKey + ?Sized>(store: &TwoLevelStore<K>, ranges: &[KeyRange<'_, K>]) -> f64 {
    let start = Instant::now();
    let mut maybes = 0;
    for &range in ranges {
        maybes += store.candidates(range).filter(|part| store.may_hold(*part, range)).count();
    }
    black_box(maybes);
    start.elapsed().as_nanos() as f64
}

/// Time of the whole workload with reads of `read_ns`, in nanoseconds.
fn time_everything<K: BenchKey + ?Sized>(
    store: &TwoLevelStore<K>,
    ranges: &[KeyRange<'_, K>],
    read_ns: f64,
) -> f64 {
    let read_time = Duration::from_secs_f64(read_ns.max(0.0) * 1e-9);
    let start = Instant::now();
    for &range in ranges {
        for part in store.candidates(range) {
            if store.may_hold(part, range) {
                spin(read_time);
                black_box(store.read(part, range));
            }
        }
    }
    start.elapsed().as_nanos() as f64
}

fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}
