//! Speed of SuRF beside the standard Bloom filter at 14 bits, on uniform integers.
//!
//! `cargo run --release -p lacuna-lab --example surf_speed [keys]`; the last lines are strings whose shared bytes
//! stand after bytes that differ, so that the trie walks them one by one.

use std::hint::black_box;
use std::time::Instant;

use lacuna_base::{
    Budget, BuildPlan, ByteColumn, CountEstimate, DynFilter, Result, Sealed, SortedKeys, U64Range,
};
use lacuna_families::Surf;
use lacuna_workload::Rng;

/// Keys of a range.
const WIDTH: u64 = 32;
const QUERIES: usize = 1 << 18;
const ROUNDS: usize = 9;
const SURFS: [(&str, f64); 4] =
    [("surf:real=0", 24.0), ("surf:real=4", 24.0), ("surf:hash=4", 24.0), ("surf:hash=8,real=8", 40.0)];

fn main() -> Result<()> {
    let count = std::env::args()
        .nth(1)
        .and_then(|text| lacuna_workload::parse_count(&text).ok())
        .unwrap_or(10_000_000);
    let mut rng = Rng::new(42);
    let mut keys: Vec<u64> = (0..count).map(|_| rng.next_u64()).collect();
    keys.sort_unstable();
    keys.dedup();
    let keys = SortedKeys::integers(&keys)?;
    let starts: Vec<u64> = (0..QUERIES).map(|_| rng.next_u64() >> 1).map(|start| start << 1).collect();

    let bloom_build = median((0..3).map(|_| time(keys.len(), || build("bloom", 14.0, keys))));
    let bloom = lacuna_families::open::<u64, _>(build("bloom", 14.0, keys)?)?;
    println!("bloom              14.00 bits  build {bloom_build:6.1} ns a key");
    let mut opened = Vec::new();
    for (spec, bits) in SURFS {
        let build_ns = median((0..3).map(|_| time(keys.len(), || build(spec, bits, keys))));
        let sealed = build(spec, bits, keys)?;
        let bits = (sealed.as_bytes().len() - 64) as f64 * 8.0 / keys.len() as f64;
        let ratio = build_ns / bloom_build;
        println!("{spec:18} {bits:5.2} bits  build {build_ns:6.1} ns a key, {ratio:4.2} Blooms");
        opened.push(Surf::<u64, _>::open(sealed)?);
    }
    let mut floors = Vec::new();
    let mut rounds = vec![[const { Vec::new() }; 3]; SURFS.len()];
    for _ in 0..ROUNDS {
        floors.push(time(QUERIES, || points(&*bloom, &starts)));
        for (surf, rounds) in opened.iter().zip(&mut rounds) {
            rounds[0].push(time(QUERIES, || points(surf, &starts)));
            rounds[1].push(time(QUERIES, || ranges(surf, &starts)));
            rounds[2].push(time(QUERIES, || counts(surf, &starts)));
        }
    }
    let bloom_ns = median(floors.into_iter());
    println!("bloom              point {bloom_ns:6.1} ns");
    for ((spec, _), rounds) in SURFS.iter().zip(&rounds) {
        let [point, range, count] = rounds.each_ref().map(|times| median(times.iter().copied()));
        let [points, ranges, counts] = [point, range, count].map(|ns| ns / bloom_ns);
        println!(
            "{spec:18} point {point:6.1} ns {points:4.2} Blooms  range {range:6.1} ns {ranges:4.2}  \
             count {count:6.1} ns {counts:4.2}"
        );
    }
    let few: Vec<f64> = [0, 20, 40].iter().map(|&shared| strings(shared)).collect::<Result<_>>()?;
    println!(
        "strings: point {:.0} ns, with 20 shared bytes {:+.0} ns, with 40 {:+.0} ns",
        few[0],
        few[1] - few[0],
        few[2] - few[0]
    );
    Ok(())
}

/// A point of a million strings in 200 groups that share `shared` bytes each.
fn strings(shared: usize) -> Result<f64> {
    let mut rng = Rng::new(8);
    let draw = |rng: &mut Rng| {
        let group = u8::try_from(rng.below(200)).expect("below 200");
        [&[group][..], &vec![b'x'; shared], &rng.next_u64().to_be_bytes()].concat()
    };
    let mut keys: Vec<Vec<u8>> = (0..1_000_000).map(|_| draw(&mut rng)).collect();
    keys.sort();
    let column: ByteColumn = keys.iter().collect();
    let plan = BuildPlan::<[u8]>::new(Budget::bits_per_key(40.0)?);
    let sealed =
        lacuna_families::spec::<[u8]>("surf:real=4")?.build(SortedKeys::byte_strings(&column)?, &plan)?;
    let surf = lacuna_families::open::<[u8], _>(sealed)?;
    let asked: Vec<Vec<u8>> = (0..QUERIES).map(|_| draw(&mut rng)).collect();
    Ok(median(
        (0..ROUNDS).map(|_| time(QUERIES, || asked.iter().filter(|key| surf.may_contain(key)).count())),
    ))
}

fn build(spec: &str, bits_per_key: f64, keys: SortedKeys<'_, u64>) -> Result<Sealed> {
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(bits_per_key)?).with_seed(7);
    lacuna_families::spec::<u64>(spec)?.build(keys, &plan)
}

/// Each question depends on the answer before it.
fn points(filter: &DynFilter<u64>, starts: &[u64]) -> u64 {
    starts.iter().fold(0, |answer, &start| u64::from(filter.may_contain(start | answer)))
}

fn ranges(filter: &DynFilter<u64>, starts: &[u64]) -> u64 {
    starts.iter().fold(0, |answer, &start| {
        let lo = start | answer;
        let range = U64Range::new(lo, lo.saturating_add(WIDTH - 1)).expect("not inverted");
        u64::from(filter.may_contain_range(range))
    })
}

fn counts<B>(surf: &Surf<u64, B>, starts: &[u64]) -> u64
where
    Surf<u64, B>: CountEstimate<u64>,
{
    starts.iter().fold(0, |answer, &start| {
        let lo = start | answer;
        let range = U64Range::new(lo, lo.saturating_add(1 << 50)).expect("not inverted");
        surf.count_range(range).max & 1
    })
}

fn time<T>(steps: usize, work: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    black_box(work());
    start.elapsed().as_nanos() as f64 / steps as f64
}

fn median(times: impl Iterator<Item = f64>) -> f64 {
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
