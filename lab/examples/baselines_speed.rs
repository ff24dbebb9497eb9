//! Speed of Rosetta and SNARF in standard Blooms, and of REncoder in published Rosettas (its paper: 5 times and more).
//!
//! `cargo run --release -p lacuna-lab --example baselines_speed [keys] [bits_per_key] [longest range]`

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use lacuna_base::{Budget, BuildPlan, DynFilter, Result, Sample, SortedKeys, U64Range};
use lacuna_workload::Rng;

const QUERIES: usize = 1 << 17;
const ROUNDS: usize = 9;
const SPECS: [&str; 7] =
    ["bloom", "rosetta", "rosetta:single", "rosetta:published", "rencoder", "snarf", "snarf:block=32"];

struct Candidate {
    spec: &'static str,
    filter: Box<DynFilter<u64>>,
    build_ns: f64,
    point: Vec<f64>,
    range: Vec<f64>,
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let count =
        arguments.next().and_then(|text| lacuna_workload::parse_count(&text).ok()).unwrap_or(1_000_000);
    let bits: f64 = arguments.next().map_or(14.0, |text| text.parse().expect("a number"));
    let longest: u64 = arguments.next().map_or(64, |text| text.parse().expect("a number"));
    let mut rng = Rng::new(1);
    let mut keys: Vec<u64> = (0..count).map(|_| rng.next_u64()).collect();
    keys.sort_unstable();
    keys.dedup();
    let draw = |rng: &mut Rng| {
        let lo = rng.next_u64() >> 1 | 1 << 40;
        U64Range::new(lo, lo + rng.between(2, longest) - 1).expect("not inverted")
    };
    let mut sample = Sample::new();
    (0..2_000).map(|_| draw(&mut rng)).for_each(|range| sample.push(range.lo(), range.hi()));
    let plan = BuildPlan::new(Budget::bits_per_key(bits)?).with_seed(1).with_sample(Arc::new(sample));
    let queries: Vec<U64Range> = (0..QUERIES).map(|_| draw(&mut rng)).collect();
    let sorted = SortedKeys::integers(&keys)?;
    let mut candidates: Vec<Candidate> =
        SPECS.iter().map(|spec| candidate(spec, sorted, &plan)).collect::<Result<_>>()?;
    for _ in 0..ROUNDS {
        for candidate in &mut candidates {
            candidate.point.push(dependent(&*candidate.filter, &queries, true));
            candidate.range.push(dependent(&*candidate.filter, &queries, false));
        }
    }
    report(&mut candidates, &queries);
    Ok(())
}

fn candidate(spec: &'static str, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Result<Candidate> {
    let family = lacuna_families::spec::<u64>(spec)?;
    let start = Instant::now();
    let sealed = family.build(keys, plan)?;
    let build_ns = start.elapsed().as_nanos() as f64 / keys.len() as f64;
    let filter = lacuna_families::open::<u64, _>(sealed.into_bytes())?;
    Ok(Candidate { spec, filter, build_ns, point: Vec::new(), range: Vec::new() })
}

/// Nanoseconds a question; each question waits for the answer before it.
fn dependent(filter: &DynFilter<u64>, queries: &[U64Range], points: bool) -> f64 {
    let start = Instant::now();
    let mut answer = 0;
    for query in queries {
        let lo = query.lo() + answer;
        let hi = if points { lo } else { query.hi() + answer };
        answer = u64::from(filter.may_contain_range(U64Range::new(lo, hi).expect("not inverted")));
    }
    black_box(answer);
    start.elapsed().as_nanos() as f64 / queries.len() as f64
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn report(candidates: &mut [Candidate], queries: &[U64Range]) {
    let (yardstick, build) = (median(&mut candidates[0].point), candidates[0].build_ns);
    let published = candidates.iter_mut().find(|candidate| candidate.spec == "rosetta:published");
    let published = published.map_or(f64::NAN, |candidate| median(&mut candidate.range));
    println!(
        "spec                build/key          point          range  speed in published Rosettas   rate"
    );
    for Candidate { spec, filter, build_ns, point, range } in candidates {
        let (point, range) = (median(point), median(range));
        let rate = queries.iter().filter(|&&query| filter.may_contain_range(query)).count() as f64
            / queries.len() as f64;
        println!(
            "{spec:18} {build_ns:6.1} ({:4.2}) {point:7.1} ({:5.2}) {range:7.1} ({:5.2}) {:10.2} {rate:23.5}",
            *build_ns / build,
            point / yardstick,
            range / yardstick,
            published / range
        );
    }
}
