//! Table 2: how long modelling and building take, part by part.

use std::sync::Arc;

use lacuna_base::{Budget, BuildPlan, Result, Sample, SortedKeys};
use lacuna_families::testing::cpfpr::Phase;
use lacuna_families::{ProteusSpec, TwoPrefixBloomSpec};

use super::filters::PAPER_KEYS;
use crate::paper::{DataTable, Finding, Session, Summary, shown};
use lacuna_bench::BenchKey as _;
use lacuna_bench::harness::WorkClock;

/// Keys here.
const OWN_KEYS: usize = 1_000_000;
/// Sampled queries.
const SAMPLED: usize = 20_000;
/// Times that everything is done, in turn.
const ROUNDS: usize = 3;
/// Parts of the model in the order of the table.
const PHASES: [Phase; 4] =
    [Phase::CountKeyPrefixes, Phase::CalculateTrieMemory, Phase::CountQueryPrefixes, Phase::CalculateRates];
/// What is built: a name, its spec, and what the paper shows for it in all (ms, over 10 million keys).
const FILTERS: [(&str, &str, Option<f64>); 6] = [
    ("Bloom", "bloom", None),
    ("1PBF", "proteus:trie=0", Some(3_181.0)),
    ("2PBF", "two_prefix_bloom", Some(4_236.0)),
    ("Proteus", "proteus", Some(3_235.0)),
    ("SuRF", "surf:real=0,cut", Some(482.0)),
    ("Rosetta", "rosetta", Some(4_778.0)),
];

/// Table 2: 10 bits per key, normal keys, correlated queries of 2 to 2^20 keys.
pub(super) fn breakdown(session: &mut Session<'_>) -> Result<Finding> {
    let count = session.key_count_or(OWN_KEYS, PAPER_KEYS);
    let keys = session.keys(&format!("normal:{count}"))?;
    let test_bed = session.test_bed_of(&keys, "correlated:N:2-1048576:1024", SAMPLED)?;
    let mut sample = Sample::new();
    test_bed.queries.iter().for_each(|&(low, high)| sample.push(low, high));
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(10.0)?).with_seed(session.seed());
    let plan = plan.with_sample(Arc::new(sample));
    let keys = SortedKeys::integers(&test_bed.keys)?;
    let mut times: Vec<Vec<[f64; 6]>> = vec![Vec::new(); FILTERS.len()];
    for round in 0..ROUNDS {
        for ((name, spec, _), times) in FILTERS.iter().zip(&mut times) {
            session.say(format!("{name}, round {} of {ROUNDS}", round + 1));
            times.push(times_of(name, spec, keys, &plan)?);
        }
    }
    let times: Vec<[Summary; 6]> = times.iter().map(|rounds| summaries(rounds)).collect();
    Ok(Finding { tables: vec![table(&times)], notes: notes(count), ..Finding::default() })
}

/// Milliseconds of each phase, of the whole model, and of building with the model included.
fn times_of(name: &str, spec: &str, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Result<[f64; 6]> {
    let mut times = [0.0; 6];
    let start = WorkClock::start();
    match name {
        "Proteus" | "1PBF" => {
            let spec = if name == "1PBF" { ProteusSpec::new().with_trie_bits(0) } else { ProteusSpec::new() };
            let mut last = WorkClock::start();
            spec.predict_in_phases(keys, plan, &mut |phase| {
                let place = PHASES.iter().position(|known| *known == phase).expect("all phases are listed");
                times[place] += milliseconds(&last);
                last = WorkClock::start();
            });
        }
        "2PBF" => {
            TwoPrefixBloomSpec::new().predict(keys, plan);
        }
        _ => {}
    }
    times[4] = milliseconds(&start);
    let start = WorkClock::start();
    u64::spec(spec)?.build(keys, plan).map_err(|error| error.with_context(spec.to_owned()))?;
    times[5] = milliseconds(&start);
    Ok(times)
}

fn milliseconds(since: &WorkClock) -> f64 {
    since.elapsed().as_nanos() as f64 / 1e6
}

fn summaries(rounds: &[[f64; 6]]) -> [Summary; 6] {
    std::array::from_fn(|place| Summary::of(rounds.iter().map(|times| times[place])))
}

fn table(times: &[[Summary; 6]]) -> DataTable {
    let bloom = times[0][5].median;
    let row = |((name, _, paper), times): (&(&str, &str, Option<f64>), &[Summary; 6])| {
        let mut row = vec![(*name).to_owned()];
        let has_phases = ["Proteus", "1PBF"].contains(name);
        row.extend(times[..4].iter().map(|time| if has_phases { time.to_string() } else { "-".into() }));
        let models = times[4].median > 1e-2;
        row.push(if models { times[4].to_string() } else { "-".into() });
        row.push(times[5].to_string());
        row.push(if models { format!("{:.1} %", times[4].median / bloom * 1e2) } else { "-".into() });
        row.push(shown(times[5].median / bloom));
        row.push(paper.map_or("-".into(), shown));
        row
    };
    let header = [
        "",
        "key prefixes",
        "trie memory",
        "query prefixes",
        "rates",
        "model",
        "model and build",
        "model, of Bloom's build",
        "model and build, in Bloom's builds",
        "paper, model and build",
    ];
    DataTable {
        title: "Milliseconds, medians of three rounds with the least and the greatest in brackets".into(),
        header: header.map(str::to_owned).to_vec(),
        rows: FILTERS.iter().zip(times).map(row).collect(),
    }
}

fn notes(count: usize) -> Vec<String> {
    vec![
        format!("{count} normal keys, 10 bits per key, {SAMPLED} sampled queries; the paper has 10 million keys."),
        "The paper cuts the queries of 2PBF to 2^15 keys, where its formula overflows; ours has a closed form. SuRF is \
         cut to as many levels as 10 bits hold."
            .into(),
    ]
}
