//! Section 5.11 of the REncoder paper on keys made here, and what learned gaps answer beyond it:
//! `cargo run --release -p lacuna-lab --example blacklist_rounds [KEYS]`, such as `1M`; a fifth as many queries.

use lacuna_base::{GapSet, Result, U64Range};
use lacuna_families::RencoderSpec;
use lacuna_families::testing::Blacklist;
use lacuna_lab::blacklist_rounds::{Protocol, Rounds, new_queries};
use lacuna_workload::{KeySource, Keys, Queries, QuerySource, ReadOptions, Rng, ZipfPool, parse_count};

const SEED: u64 = 17;
const BUDGETS: [f64; 7] = [16.0, 18.0, 20.0, 22.0, 24.0, 26.0, 28.0];

type Ranges = Vec<(u64, u64)>;

fn draw(keys: &str, queries: &str, seed: u64) -> Result<(Vec<u64>, Ranges)> {
    let keys = KeySource::parse(keys)?.load(&ReadOptions::default(), SEED, &mut |_| {})?;
    let workload = QuerySource::parse(queries)?.workload(keys, seed)?;
    match (workload.inserted, workload.queries) {
        (Keys::U64(keys), Queries::U64(queries)) => Ok((keys, queries)),
        _ => unreachable!("`uniform` makes integers"),
    }
}

fn main() -> Result<()> {
    bytes_per_false_positive();
    let count = parse_count(&std::env::args().nth(1).unwrap_or_else(|| "1M".to_owned()))?;
    let (source, asked) = (format!("uniform:{count}"), count / 5);
    for (queries, paper) in [("uniform", "1.78 and 1.98"), ("offset", "1.78 and 1.93")] {
        let law = |seed| {
            let degree = if queries == "offset" { ":32" } else { "" };
            draw(&source, &format!("{queries}:{asked}:2-32{degree}"), seed)
        };
        let (keys, first) = law(SEED)?;
        println!("\n{queries} ranges of 2 to 32, {count} keys, {asked} queries, paper {paper}");
        // SS lets all ranges next to keys pass, and the blacklist would be larger than the filter.
        let select_start = (queries == "uniform").then(RencoderSpec::select_start);
        for spec in
            [Some(RencoderSpec::new()), select_start, Some(RencoderSpec::select_end())].into_iter().flatten()
        {
            let protocol = Protocol {
                spec,
                keys: &keys,
                queries: &first,
                sample: &first[..first.len().min(20_000)],
                seed: SEED,
            };
            rounds(&protocol)?;
        }
        let protocol =
            Protocol { spec: RencoderSpec::new(), keys: &keys, queries: &first, sample: &[], seed: SEED };
        newcomers(&protocol, queries, &law(SEED + 1)?.1)?;
        if queries == "offset" {
            zipfian(&keys, first.len())?;
        }
    }
    Ok(())
}

/// What one false positive takes, in the blacklist (a prefix and a bitmap each) and as an interval.
fn bytes_per_false_positive() {
    let (mut rng, draws) = (Rng::new(SEED), 10_000u32);
    for (shortest, longest) in [(2, 32), (2, 1_024), (1_024, 1_024)] {
        let mut blacklist = Blacklist::new();
        for _ in 0..draws {
            let lo = rng.next_u64() >> 1;
            let range = U64Range::new(lo, lo + rng.between(shortest, longest) - 1);
            blacklist.insert(range.expect("not inverted"));
        }
        let bytes = blacklist.payload_bytes() as f64 / f64::from(draws);
        let gap = GapSet::INTERVAL_BYTES;
        println!("ranges of {shortest} to {longest}: blacklist {bytes:.1} bytes, gap at most {gap} bytes");
    }
}

fn rounds(protocol: &Protocol<'_>) -> Result<()> {
    let runs: Vec<Rounds> = BUDGETS.iter().map(|&bits| protocol.run(bits, 2)).collect::<Result<_>>()?;
    println!("  {:?}", protocol.spec);
    for (bits, run) in BUDGETS.iter().zip(&runs) {
        let Rounds { free_rate, rates, blacklist_bytes, false_positives, .. } = run;
        println!(
            "    {bits} bits: {free_rate:.6} without, {rates:.6?} with {blacklist_bytes} bytes for \
             {false_positives} false positives, factor {:.2}",
            run.factor()
        );
    }
    let telling = runs.iter().filter(|run| run.false_positives >= 100).map(Rounds::factor);
    let (sum, count) = telling.fold((0.0, 0), |(sum, count), factor| (sum + factor, count + 1));
    if count > 0 {
        let mean = sum / f64::from(count);
        println!("    mean factor {mean:.2} over {count} budgets with at least 100 false positives");
    }
    println!("    seven rounds at 22 bits: {:.2}", protocol.run(22.0, 7)?.factor_over_first());
    Ok(())
}

fn newcomers(protocol: &Protocol<'_>, law: &str, new: &[(u64, u64)]) -> Result<()> {
    println!("  new queries, {law}: {:?}", new_queries(protocol, 14.0, new)?);
    Ok(())
}

/// Ranges up to 2^20 after keys; a few keys are asked for far more often than the rest.
fn zipfian(keys: &[u64], count: usize) -> Result<()> {
    let mut rng = Rng::new(SEED);
    let mut draw = |seed| -> Ranges {
        let popular = ZipfPool::new(keys.len(), seed).map(|rank| keys[rank * 7_919 % keys.len()]);
        let ranges = popular.map(|key| (key + 1 + rng.below(1 << 20), rng.between(1, 31)));
        let ranges = ranges.map(|(lo, more)| (lo, lo + more));
        ranges.filter(|&(lo, hi)| lacuna_workload::is_empty(keys, lo, hi)).take(count).collect()
    };
    let (first, second) = (draw(5), draw(6));
    let protocol = Protocol { spec: RencoderSpec::new(), keys, queries: &first, sample: &[], seed: SEED };
    newcomers(&protocol, "zipfian", &second)
}
