//! Size, rate and speed of the ribbon filter beside its bound and the standard Bloom filter.
//!
//! `cargo run --release -p lacuna-lab --example ribbon_rates [keys] [bits] [spec]`

use std::hint::black_box;
use std::time::Instant;

use lacuna_base::{AlignedBytes, Budget, BuildPlan, DynFilter, SortedKeys, U64Range};
use lacuna_bench::harness::{Rounds, TaskId, batched, dependent, independent};
use lacuna_workload::Rng;

/// Questions of each kind in a round.
const QUESTIONS: usize = 1 << 20;
const ROUNDS: usize = 7;
const SEED: u64 = 42;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let count: usize = arguments.next().map_or(1_000_000, |text| text.parse().expect("a number of keys"));
    let bits: f64 = arguments.next().map_or(14.0, |text| text.parse().expect("bits per key"));
    let spec = arguments.next().unwrap_or_else(|| "ribbon".to_owned());
    let mut rng = Rng::new(SEED);
    let mut keys: Vec<u64> = (0..count).map(|_| rng.next_u64()).collect();
    keys.sort_unstable();
    keys.dedup();
    let build = |spec: &str| {
        let plan = BuildPlan::<u64>::new(Budget::bits_per_key(bits).expect("in range")).with_seed(SEED);
        let spec = lacuna_families::spec::<u64>(spec).expect("known");
        spec.build(SortedKeys::integers(&keys).expect("ascending"), &plan).expect("fits")
    };
    let open =
        |spec: &str| lacuna_families::open::<u64, AlignedBytes>(build(spec).into_bytes()).expect("sealed");
    let (bloom, filter) = (open("bloom"), open(&spec));
    println!("{spec}: {:.4} bits a key", filter.size_in_bytes() as f64 * 8.0 / keys.len() as f64);
    rates(&*filter, &keys, &mut rng);
    times(&*bloom, &*filter, &keys, &mut rng);
    for _ in 0..3 {
        let ns = |spec: &str| {
            let start = Instant::now();
            black_box(build(spec));
            start.elapsed().as_secs_f64() * 1e9 / keys.len() as f64
        };
        println!("build: bloom {:.1} ns, {spec} {:.1} ns", ns("bloom"), ns(&spec));
    }
}

/// Empty ranges of `len` keys that start up to `degree` after a key.
fn near(keys: &[u64], rng: &mut Rng, len: u64, degree: u64, wanted: usize) -> Vec<U64Range> {
    let mut ranges = Vec::with_capacity(wanted);
    while ranges.len() < wanted {
        let lo = keys[rng.index(keys.len())].saturating_add(1 + rng.below(degree));
        let hi = lo.saturating_add(len - 1);
        let next = keys.partition_point(|&key| key < lo);
        if keys.get(next).is_none_or(|&key| key > hi) {
            ranges.extend(U64Range::new(lo, hi));
        }
    }
    ranges
}

fn rates(filter: &DynFilter<u64>, keys: &[u64], rng: &mut Rng) {
    for degree in [1, 1_023, 1 << 13, 1 << 20, 1 << 36] {
        for len in [1, 32, 1_024] {
            let ranges = near(keys, rng, len, degree, 2_000_000);
            let maybes = batched(&ranges, 1, |ranges, answers| filter.may_contain_ranges(ranges, answers));
            let rate = maybes as f64 / ranges.len() as f64;
            println!("offsets to {degree:>12}, L {len:>5}: {rate:.3e}, bound {:.3e}", filter.rate_bound(len));
        }
    }
}

fn times(bloom: &DynFilter<u64>, filter: &DynFilter<u64>, keys: &[u64], rng: &mut Rng) {
    let pool = near(keys, rng, 32, 1 << 36, QUESTIONS);
    let points: Vec<U64Range> = pool.iter().map(|range| U64Range::point(range.lo())).collect();
    let (pool, points) = (&pool[..], &points[..]);
    let mut rounds = Rounds::new();
    let blooms = add(&mut rounds, "bloom", bloom, points);
    let filters = add(&mut rounds, "filter", filter, pool);
    let timings = rounds.run(ROUNDS, &mut |_| {});
    for (task, yardstick) in filters.into_iter().zip(blooms) {
        let (name, ns, of) = (timings.name(task), timings.median_ns(task), timings.median_ns(yardstick));
        println!("{name}: {ns:.1} ns, bloom {of:.1} ns, {:.2} Blooms", timings.ratio(task, yardstick));
    }
}

/// One question after another, one beside another, and many at once.
fn add<'a>(
    rounds: &mut Rounds<'a>,
    name: &str,
    filter: &'a DynFilter<u64>,
    pool: &'a [U64Range],
) -> [TaskId; 3] {
    let one = |range| filter.may_contain_range(range);
    let many = |ranges: &[U64Range], answers: &mut [bool]| filter.may_contain_ranges(ranges, answers);
    [
        rounds.add_serial(format!("{name} single"), pool.len(), move || dependent(pool, 1, one)),
        rounds.add(format!("{name} independent"), pool.len(), move || independent(pool, 1, one)),
        rounds.add(format!("{name} batched"), pool.len(), move || batched(pool, 1, many)),
    ]
}
