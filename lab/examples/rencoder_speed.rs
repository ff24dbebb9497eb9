//! Speed of REncoder in standard Blooms: build, points, ranges of 32 keys; dependent and batched.
//!
//! `cargo run --release -p lacuna-lab --example rencoder_speed [keys] [bits_per_key] [spec ...]`

use std::hint::black_box;
use std::time::Instant;

use lacuna_base::{Budget, BuildPlan, DynFilter, SortedKeys, U64Range};
use lacuna_workload::{KeySource, Keys, ReadOptions, Result, Rng};

const QUERIES: usize = 1 << 20;
const ROUNDS: usize = 9;
const BUILDS: usize = 3;
/// Keys of a batch.
const BATCH: usize = 1_024;

struct Candidate {
    spec: String,
    filter: Box<DynFilter<u64>>,
    build_ns: f64,
    rates: [f64; 2],
    times: [Vec<f64>; 4],
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let key_count = arguments.next().unwrap_or_else(|| "10M".to_owned());
    let bits: f64 = arguments.next().map_or(18.0, |text| text.parse().expect("a number"));
    let mut specs: Vec<String> = arguments.collect();
    if specs.is_empty() {
        specs = ["rencoder", "rencoder:ss", "rencoder:po", "blocked_bloom"].map(str::to_owned).to_vec();
    }
    specs.insert(0, "bloom".to_owned());
    let source = KeySource::parse(&format!("uniform:{key_count}"))?;
    let Keys::U64(keys) = source.load(&ReadOptions::default(), 1, &mut |_| {})? else { unreachable!() };
    let plan = BuildPlan::new(Budget::bits_per_key(bits)?).with_seed(1);
    let mut rng = Rng::new(2);
    let starts: Vec<u64> = (0..QUERIES).map(|_| rng.next_u64() >> 1 | 1 << 40).collect();
    let mut candidates = Vec::new();
    for spec in &specs {
        candidates.push(candidate(spec, &keys, &plan, &starts)?);
    }
    for _ in 0..ROUNDS {
        for candidate in &mut candidates {
            let filter = &*candidate.filter;
            for (place, length) in [1, 32].into_iter().enumerate() {
                candidate.times[2 * place].push(dependent(filter, &starts, length));
                candidate.times[2 * place + 1].push(batched(filter, &starts, length));
            }
        }
    }
    report(&candidates);
    Ok(())
}

fn candidate(spec: &str, keys: &[u64], plan: &BuildPlan<u64>, starts: &[u64]) -> Result<Candidate> {
    let family = lacuna_families::spec::<u64>(spec)?;
    let sorted = SortedKeys::integers(keys)?;
    let mut build_times = Vec::new();
    let mut sealed = None;
    for _ in 0..BUILDS {
        let start = Instant::now();
        sealed = Some(family.build(sorted, plan)?);
        build_times.push(start.elapsed().as_nanos() as f64 / keys.len() as f64);
    }
    let filter = lacuna_families::open::<u64, _>(sealed.expect("built at least once").into_bytes())?;
    let rate = |length| positives(&*filter, starts, length) as f64 / starts.len() as f64;
    let rates = [rate(1), rate(32)];
    Ok(Candidate {
        spec: spec.to_owned(),
        filter,
        build_ns: median(&mut build_times),
        rates,
        times: Default::default(),
    })
}

fn range(start: u64, length: u64) -> U64Range {
    U64Range::new(start, start + length - 1).expect("not inverted")
}

fn positives(filter: &DynFilter<u64>, starts: &[u64], length: u64) -> usize {
    starts.iter().filter(|&&start| filter.may_contain_range(range(start, length))).count()
}

fn dependent(filter: &DynFilter<u64>, starts: &[u64], length: u64) -> f64 {
    let begin = Instant::now();
    let mut answer = 0;
    for &start in starts {
        answer = u64::from(filter.may_contain_range(range(start + answer, length)));
    }
    black_box(answer);
    begin.elapsed().as_nanos() as f64 / starts.len() as f64
}

fn batched(filter: &DynFilter<u64>, starts: &[u64], length: u64) -> f64 {
    let ranges: Vec<U64Range> = starts.iter().map(|&start| range(start, length)).collect();
    let mut answers = vec![false; BATCH];
    let begin = Instant::now();
    for ranges in ranges.chunks(BATCH) {
        filter.may_contain_ranges(ranges, &mut answers[..ranges.len()]);
        black_box(&answers);
    }
    begin.elapsed().as_nanos() as f64 / starts.len() as f64
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn report(candidates: &[Candidate]) {
    let mut yardstick: Option<Vec<f64>> = None;
    println!(
        "{:24} {:>16} {:>16} {:>16} {:>16} {:>16} {:>10} {:>10}",
        "spec",
        "build/key",
        "point",
        "point batched",
        "range 32",
        "range batched",
        "point rate",
        "range rate"
    );
    for candidate in candidates {
        let mut numbers = vec![candidate.build_ns];
        numbers.extend(candidate.times.iter().map(|times| median(&mut times.clone())));
        let blooms = yardstick.get_or_insert_with(|| {
            let mut blooms = numbers.clone();
            // A range is held against one point of the standard Bloom filter.
            blooms[3] = blooms[1];
            blooms[4] = blooms[2];
            blooms
        });
        let cells: Vec<String> = numbers
            .iter()
            .zip(&*blooms)
            .map(|(ns, bloom)| format!("{ns:7.1} ({:5.2})", ns / bloom))
            .collect();
        let [point, range] = candidate.rates;
        println!("{:24} {:>16} {point:10.2e} {range:10.2e}", candidate.spec, cells.join(" "));
    }
}
