//! Not in the paper: what the bound on fetched mini-trees costs.

use lacuna_base::{AlignedBytes, Result, U64Range};

use super::filters::SYNTHETIC_KEYS;
use crate::paper::grid::{build, plan, ranges};
use crate::paper::{Axis, DataTable, Finding, Line, Plot, Session, Summary};
use lacuna_bench::harness::{Rounds, independent};

const BITS: f64 = 22.0;
/// Mini-trees that an uncapped query may fetch: more than a range of a million keys has.
const UNCAPPED: &str = "probes=4096";
/// Queries of each length: long ranges take long.
const MAX_QUERIES: usize = 20_000;

/// Rates and times by the length of ranges, capped and uncapped; and answers that differ in the paper's ranges.
pub(super) fn run(session: &mut Session<'_>) -> Result<Finding> {
    let keys = session.keys(&format!("uniform:{}", session.key_count(SYNTHETIC_KEYS)))?;
    let names = ["REncoder", "REncoder uncapped", "REncoderSS", "REncoderSS uncapped"];
    let specs =
        ["rencoder", &format!("rencoder:{UNCAPPED}"), "rencoder:ss", &format!("rencoder:ss,{UNCAPPED}")];
    let mut lines: Vec<[Vec<(f64, Summary)>; 2]> = vec![Default::default(); specs.len()];
    for length in (0..=20).step_by(2).map(|power| 1u64 << power) {
        session.say(format!("ranges of {length} keys"));
        let count = session.query_count().min(MAX_QUERIES);
        let test_bed = session.test_bed_of(&keys, &format!("uniform:N:{length}"), count)?;
        let plan = plan(&test_bed, BITS, session.seed())?;
        let asked: Vec<U64Range> = ranges(&test_bed.queries).collect();
        for (spec, [rates, times]) in specs.iter().zip(&mut lines) {
            let filter = build(spec, &test_bed, &plan)?.into_bytes();
            let filter = lacuna_families::open::<u64, AlignedBytes>(filter)?;
            let mut maybes = 0;
            let mut rounds = Rounds::new();
            let task = rounds.add(*spec, asked.len(), || {
                maybes = independent(&asked, 1, |range| filter.may_contain_range(range));
            });
            let timings = rounds.run(3, &mut |_| {});
            times.push((length as f64, Summary::of_ns(&timings, task)));
            rates.push((length as f64, Summary::once(maybes as f64 / asked.len() as f64)));
        }
    }
    let plot = |title: &str, y: Axis, place: usize| Plot {
        title: title.to_owned(),
        x: Axis::logarithmic("keys in the range"),
        y,
        lines: names.iter().zip(&lines).map(|(name, of)| Line::of_runs(*name, of[place].clone())).collect(),
    };
    let plots = vec![
        plot("rate at 22 bits", Axis::logarithmic("false positive rate"), 0),
        plot("time at 22 bits", Axis::logarithmic("filter time (ns a query)"), 1),
    ];
    Ok(Finding { plots, tables: vec![differing(session)?], ..Finding::default() })
}

/// How many answers to the paper's own queries differ between capped and uncapped filters.
fn differing(session: &mut Session<'_>) -> Result<DataTable> {
    let keys = session.keys(&format!("uniform:{}", session.key_count(SYNTHETIC_KEYS)))?;
    let mut rows = Vec::new();
    for queries in ["uniform:N:2-64", "offset:N:2-32:32"] {
        let test_bed = session.test_bed(&keys, queries)?;
        let asked: Vec<U64Range> = ranges(&test_bed.queries).collect();
        for variant in ["", "ss,", "se,"] {
            let plan = plan(&test_bed, 14.0, session.seed())?;
            let answers = |probes: &str| -> Result<Vec<bool>> {
                let sealed = build(&format!("rencoder:{variant}{probes}"), &test_bed, &plan)?;
                let filter = lacuna_families::open::<u64, AlignedBytes>(sealed.into_bytes())?;
                let mut answers = vec![false; asked.len()];
                filter.may_contain_ranges(&asked, &mut answers);
                Ok(answers)
            };
            let (capped, uncapped) = (answers("probes=64")?, answers(UNCAPPED)?);
            let differ = capped.iter().zip(&uncapped).filter(|(one, other)| one != other).count();
            let spec = format!("rencoder:{}", variant.trim_end_matches(','));
            let spec = spec.trim_end_matches(':').to_owned();
            rows.push(vec![spec, queries.to_owned(), asked.len().to_string(), differ.to_string()]);
        }
    }
    Ok(DataTable {
        title: "Answers of filters at 14 bits that differ between at most 64 and 4,096 fetched mini-trees"
            .into(),
        header: ["spec", "queries", "asked", "differ"].map(str::to_owned).to_vec(),
        rows,
    })
}
