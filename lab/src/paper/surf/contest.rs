//! `SuRF` with all suffix lengths and Bloom filters of their sizes over one case, integers or strings.

use std::rc::Rc;

use lacuna_base::{AlignedBytes, Budget, BuildPlan, DynFilter, KeyRange, Result, SortedKeys};
use lacuna_workload::{Keys, Workload};

use super::cases::{Ask, Case};
use crate::paper::{Session, Summary};
use lacuna_bench::BenchKey;
use lacuna_bench::harness::{Rounds, TaskId, batched, independent};

/// Names in the order that gives them their colours.
pub(super) static NAMES: [&str; 5] = ["Bloom", "SuRF-Hash", "SuRF-Real", "SuRF-Base", "no filter"];
/// Most suffix bits.
pub(super) const MAX_SUFFIX_BITS: u32 = 8;
/// More bits per key than any of these tries takes: the spec alone says how large they are.
const ROOM: f64 = 128.0;
/// Queries that are asked in each timed round, at most.
const TIMED_QUERIES: usize = 1 << 15;
/// Interleaved rounds.
const ROUNDS: usize = 7;

/// One filter over one case.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cell {
    /// One of [`NAMES`].
    pub(super) name: &'static str,
    /// Suffix bits, or those of the SuRF that the Bloom filter is as large as.
    pub(super) suffix_bits: u32,
    /// Payload bits per key; of the SuRF beside it for Bloom filters.
    pub(super) bits: f64,
    /// "Maybe" among the queries without a key.
    pub(super) rate: f64,
    /// Nanoseconds a query.
    pub(super) query_ns: Summary,
    /// The same in Bloom filters of the same size asked for the first key.
    pub(super) query_blooms: Summary,
}

/// All filters over one case.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Contest {
    /// Keys in the filters.
    pub(super) key_count: usize,
    /// Share of queries that hold a key.
    pub(super) full_share: f64,
    /// Bloom filters (points only), Base, Hash and Real.
    pub(super) cells: Vec<Cell>,
}

impl Contest {
    /// The cells of `name`, ascending in size; the lines of Hash and Real begin at Base.
    pub(super) fn of(&self, name: &str) -> impl Iterator<Item = &Cell> {
        let begins_at_base = ["SuRF-Hash", "SuRF-Real"].contains(&name);
        let of = move |cell: &&Cell| cell.name == name || begins_at_base && cell.name == "SuRF-Base";
        self.cells.iter().filter(of)
    }

    /// The cell of `name` with `suffix_bits`.
    pub(super) fn cell(&self, name: &str, suffix_bits: u32) -> Option<&Cell> {
        self.of(name).find(|cell| cell.suffix_bits == suffix_bits)
    }
}

/// Builds and asks everything, once for all figures.
///
/// # Errors
/// As drawing the case and building.
pub(super) fn contest(session: &mut Session<'_>, case: Case) -> Result<Rc<Contest>> {
    session.once(format!("surf {case:?}"), |session| {
        session.say(format!("queries: {}", case.title()));
        let workload = case.workload(session)?;
        session.say(case.title());
        match workload.inserted {
            Keys::U64(_) => measure::<u64>(&workload, case.ask, session.seed()),
            Keys::Bytes(_) => measure::<[u8]>(&workload, case.ask, session.seed()),
        }
    })
}

/// A filter that was built.
struct Built<K: BenchKey + ?Sized> {
    name: &'static str,
    suffix_bits: u32,
    bits: f64,
    filter: Box<DynFilter<K>>,
}

fn measure<K: BenchKey + ?Sized>(workload: &Workload, ask: Ask, seed: u64) -> Result<Contest> {
    let column = K::inserted(workload).expect("the caller looked at the keys");
    let keys = SortedKeys::<K>::try_new(K::column(column))?;
    let ranges = K::ranges(&workload.queries);
    let empty: Vec<KeyRange<'_, K>> =
        ranges.iter().copied().filter(|range| K::is_empty(column, *range)).collect();
    let [surfs, blooms] = built(keys, seed)?;
    let times = times(&surfs, &blooms, ask, &ranges);
    let mut cells = Vec::new();
    for (built, (query_ns, query_blooms)) in blooms.iter().chain(&surfs).zip(times) {
        if built.name == "Bloom" && ask != Ask::Points {
            continue;
        }
        let maybes = batched(&empty, 1, |ranges, answers| built.filter.may_contain_ranges(ranges, answers));
        let rate = maybes as f64 / empty.len().max(1) as f64;
        let Built { name, suffix_bits, bits, .. } = *built;
        cells.push(Cell { name, suffix_bits, bits, rate, query_ns, query_blooms });
    }
    let full_share = 1.0 - empty.len() as f64 / ranges.len().max(1) as f64;
    Ok(Contest { key_count: keys.len(), full_share, cells })
}

/// Base, Hash and Real; and a Bloom filter as large as each of Base and Hash.
fn built<K: BenchKey + ?Sized>(keys: SortedKeys<'_, K>, seed: u64) -> Result<[Vec<Built<K>>; 2]> {
    let mut surfs = vec![build(keys, "SuRF-Base", "surf:real=0", 0, ROOM, seed)?];
    for (name, suffix) in [("SuRF-Hash", "hash"), ("SuRF-Real", "real")] {
        for bits in 1..=MAX_SUFFIX_BITS {
            surfs.push(build(keys, name, &format!("surf:{suffix}={bits}"), bits, ROOM, seed)?);
        }
    }
    let sizes = surfs.iter().filter(|surf| surf.name != "SuRF-Real");
    let bloom = |surf: &Built<K>| {
        let bloom = build(keys, "Bloom", "bloom", surf.suffix_bits, surf.bits, seed)?;
        Ok(Built { bits: surf.bits, ..bloom })
    };
    let blooms = sizes.map(bloom).collect::<Result<Vec<_>>>()?;
    Ok([surfs, blooms])
}

fn build<K: BenchKey + ?Sized>(
    keys: SortedKeys<'_, K>,
    name: &'static str,
    spec: &str,
    suffix_bits: u32,
    bits: f64,
    seed: u64,
) -> Result<Built<K>> {
    let plan = BuildPlan::new(Budget::bits_per_key(bits)?).with_seed(seed);
    let sealed = K::spec(spec)?.build(keys, &plan).map_err(|error| error.with_context(spec.to_owned()))?;
    let bits = sealed.payload().len() as f64 * 8.0 / keys.len() as f64;
    let filter = lacuna_families::open::<K, AlignedBytes>(sealed.into_bytes())?;
    Ok(Built { name, suffix_bits, bits, filter })
}

/// Nanoseconds a query of each Bloom filter and then of each SuRF, and the same in Bloom filters of its size.
fn times<K: BenchKey + ?Sized>(
    surfs: &[Built<K>],
    blooms: &[Built<K>],
    ask: Ask,
    ranges: &[KeyRange<'_, K>],
) -> Vec<(Summary, Summary)> {
    let pool = &ranges[..ranges.len().min(TIMED_QUERIES)];
    let mut rounds = Rounds::new();
    let tasks: Vec<(TaskId, u32)> = blooms
        .iter()
        .chain(surfs)
        .map(|built| {
            (task(&mut rounds, built, ask == Ask::Points || built.name == "Bloom", pool), built.suffix_bits)
        })
        .collect();
    let timings = rounds.run(ROUNDS, &mut |_| {});
    let yardstick = |suffix_bits: u32| tasks[suffix_bits as usize].0;
    let time = |&(task, suffix_bits): &(TaskId, u32)| {
        (Summary::of_ns(&timings, task), Summary::of_ratios(&timings, task, yardstick(suffix_bits)))
    };
    tasks.iter().map(time).collect()
}

/// Asks each range of `pool`, or its first key.
fn task<'a, 'k: 'a, K: BenchKey + ?Sized>(
    rounds: &mut Rounds<'a>,
    built: &'a Built<K>,
    is_point: bool,
    pool: &'a [KeyRange<'k, K>],
) -> TaskId {
    let filter = &built.filter;
    if is_point {
        rounds.add(built.name, pool.len(), move || {
            independent(pool, 1, |range| filter.may_contain(K::ends(range).0))
        })
    } else {
        rounds.add(built.name, pool.len(), move || {
            independent(pool, 1, |range| filter.may_contain_range(range))
        })
    }
}
