//! `REncoder`'s figure 16: nine queries for an insert.

use std::time::{Duration, Instant};

use crate::paper::{Axis, Claim, Finding, Line, Plot, Session};
use lacuna_base::{ByteColumn, Error, Result};
use lacuna_bench::engine::{Database, FilterChoice, Manner, Question, half_zero_value, sample_bytes};
use lacuna_guard::GuardCodec;
use lacuna_rocksdb::RangeFilters;
use lacuna_workload::{Keys, QuerySource, Rng, to_be_bytes};

use super::contest::plot;
use super::filters::{self, NAMES, Named};
use super::keys::{integers, keys};
use super::lookups::{BITS, KEYS, VALUE_BYTES, layout, scale_note, sizes};
use lacuna_bench::engine::rocksdb::Layout;
use lacuna_bench::engine::rocksdb::RocksDatabase;

/// Queries for an insert.
const QUERIES_AN_INSERT: usize = 9;
/// Stream of values.
const VALUES: u64 = 311;

/// Keys that are there, keys that come, and queries that stay empty.
struct MixedWorkload {
    there: Vec<u64>,
    coming: Vec<u64>,
    queries: Vec<Question>,
    sample: Vec<u8>,
    codec: GuardCodec,
    seed: u64,
}

/// Microseconds of an operation, of an insert, of a query.
type Latencies = [f64; 3];

/// Figure 16.
pub(super) fn latencies(session: &mut Session<'_>) -> Result<Finding> {
    let workload = workload(session)?;
    let mut measured: Vec<(f64, Vec<(&'static str, Latencies)>)> = Vec::new();
    for bits in [BITS[0], BITS[2]] {
        let mut rows = Vec::new();
        for (name, filter) in filters(bits) {
            session.say(format!("a mixed workload with {name}"));
            rows.push((name, run(&workload, &filter)?));
        }
        measured.push((bits, rows));
    }
    let panel = |title: &str, place: usize| -> Plot {
        let line = |name: &'static str| {
            let of = |(bits, rows): &(f64, Vec<(&str, Latencies)>)| {
                Some((*bits, rows.iter().find(|(own, _)| *own == name)?.1[place]))
            };
            Line::ours(name, measured.iter().filter_map(of))
        };
        let lines = NAMES.into_iter().map(line).filter(|line| !line.points.is_empty()).collect();
        plot(title, "bits per key", Axis::linear("microseconds an operation"), lines)
    };
    let plots = vec![panel("(a) all operations", 0), panel("(b) inserts", 1), panel("(c) queries", 2)];
    let notes = vec![
        scale_note(session),
        format!(
            "{} keys are there, {} come, {} queries; blocks by direct I/O, a cache for a tenth of the rows. An insert's time \
             holds the flushes and compactions that it waits for and not those in the background, which also share the two \
             cores with the queries. SuRF takes what it needs. Each database runs once, by the clock on the wall, waits for the disk included: \
             `no filter`, which is the same at both budgets, shows how far two runs differ, and smaller gains decide nothing.",
            workload.there.len(),
            workload.coming.len(),
            workload.queries.len()
        ),
    ];
    let claims = [("SuRF", 1.42), ("SNARF", 1.31)].map(|(name, paper)| {
        let what = format!("latency of {name} over REncoder's, on average");
        let gain = mean_gain(&measured, name).filter(|gain| gain.max(1.0 / gain) > noise(&measured));
        Claim::new(what, paper, gain)
    });
    Ok(Finding { plots, notes, claims: claims.to_vec(), ..Finding::default() })
}

/// How many times longer all operations take with `name` than with `REncoder`, on average over the budgets.
fn mean_gain(measured: &[(f64, Vec<(&str, Latencies)>)], name: &str) -> Option<f64> {
    let of = |rows: &[(&str, Latencies)], name: &str| {
        rows.iter().find(|(own, _)| *own == name).map(|row| row.1[0])
    };
    let gains: Vec<f64> =
        measured.iter().filter_map(|(_, rows)| Some(of(rows, name)? / of(rows, "REncoder")?)).collect();
    (!gains.is_empty()).then(|| gains.iter().sum::<f64>() / gains.len() as f64)
}

/// How many times longer one run of the database without a filter takes than another.
fn noise(measured: &[(f64, Vec<(&str, Latencies)>)]) -> f64 {
    let runs =
        || measured.iter().flat_map(|(_, rows)| rows).filter(|row| row.0 == NAMES[0]).map(|row| row.1[0]);
    runs().fold(0.0, f64::max) / runs().fold(f64::INFINITY, f64::min)
}

fn filters(bits_per_key: f64) -> Vec<Named> {
    let ours = filters::ours(&["REncoder", "SuRF", "SNARF", "Grafite", "auto"], bits_per_key);
    [filters::without(bits_per_key), ours].concat()
}

fn workload(session: &mut Session<'_>) -> Result<MixedWorkload> {
    let (count, queries) = sizes(session);
    let seed = session.seed();
    let all = keys(session, KEYS, count)?;
    // The keys that were taken out come in later, so queries are drawn to be empty of them too.
    let source = QuerySource::parse(&format!("correlated:{}:2-64:4096", 2 * queries))?;
    let drawn = source.workload(all.clone(), seed)?;
    let mut all = integers(all)?;
    let mut rng = Rng::new(seed);
    for last in (1..all.len()).rev() {
        all.swap(last, rng.index(last + 1));
    }
    let coming = all.split_off(all.len().saturating_sub(queries / QUERIES_AN_INSERT));
    all.sort_unstable();
    let lacuna_workload::Queries::U64(ranges) = drawn.queries else {
        return Err(Error::invalid_input("queries about integers are integers"));
    };
    let question = |(lo, hi): (u64, u64)| Question {
        lo: lo.to_be_bytes().to_vec(),
        hi: hi.to_be_bytes().to_vec(),
        is_empty: true,
    };
    let mut asked: Vec<Question> = ranges.into_iter().map(question).collect();
    let recorded = asked.split_off(queries);
    let codec = GuardCodec::parse("fixed_be:8")?;
    let sample = sample_bytes(&codec, &recorded);
    Ok(MixedWorkload { there: all, coming, queries: asked, sample, codec, seed })
}

fn run(workload: &MixedWorkload, filter: &FilterChoice) -> Result<Latencies> {
    let database = written(workload, filter)?;
    let (mut rng, mut value) = (Rng::with_stream(workload.seed, VALUES), Vec::new());
    let (mut inserting, mut asking) = (Duration::ZERO, Duration::ZERO);
    let mut coming = workload.coming.iter();
    for (place, question) in workload.queries.iter().enumerate() {
        if place % QUERIES_AN_INSERT == 0
            && let Some(key) = coming.next()
        {
            half_zero_value(&mut rng, VALUE_BYTES, &mut value);
            let start = Instant::now();
            database.put(&key.to_be_bytes(), &value)?;
            inserting += start.elapsed();
        }
        let start = Instant::now();
        let rows = database.seek(question, Manner::CLOSED_SEEK.direction, 1)?;
        asking += start.elapsed();
        if rows > 0 {
            return Err(Error::corrupt("a range without a key has a row; this is a bug"));
        }
    }
    database.settle()?;
    let micros = |time: Duration, count: usize| time.as_secs_f64() * 1e6 / count.max(1) as f64;
    let (inserts, queries) = (workload.coming.len(), workload.queries.len());
    Ok([micros(inserting + asking, inserts + queries), micros(inserting, inserts), micros(asking, queries)])
}

fn written(workload: &MixedWorkload, filter: &FilterChoice) -> Result<RocksDatabase> {
    let keys: ByteColumn = to_be_bytes(&workload.there);
    debug_assert!(Keys::U64(workload.there.clone()).to_be_bytes() == keys, "keys are sorted");
    let bytes = (keys.len() * (VALUE_BYTES + 8)) as u64;
    let bloom_bits = match filter {
        FilterChoice::Engine { bits_per_key } => Some(*bits_per_key),
        _ => None,
    };
    let base = layout(keys.len());
    // Inserts are few here; memory holds an eighth of them, so that files are written all the time.
    let coming_bytes = (workload.coming.len() * (VALUE_BYTES + 8)) as u64;
    let layout = Layout { cache_bytes: bytes / 10, bloom_bits, size_ratio: 10, ..base };
    let lacuna = filter.guard_spec(&workload.codec, workload.seed)?.map(RangeFilters::new);
    if let Some(lacuna) = &lacuna {
        lacuna.seed_sample(&workload.sample)?;
    }
    let database = RocksDatabase::write(layout, lacuna, &[], VALUE_BYTES, workload.seed)?;
    database.fill(&keys, layout.file_bytes, VALUE_BYTES, workload.seed)?;
    database.set_memory(coming_bytes / 8)?;
    Ok(database)
}
