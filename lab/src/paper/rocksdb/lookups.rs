//! `REncoder`'s figures 14 and 15: real keys, empty queries, time split into filters and reads.

use std::rc::Rc;

use crate::paper::{Axis, Claim, Finding, Plot, Session};
use lacuna_base::Result;
use lacuna_bench::engine::{EngineRow, EngineSetting, Manner, Questions};
use lacuna_workload::{Keys, QuerySource};

use super::contest::{Databases, NamedRow, by_budget, io_note, lines, of, plot};
use super::filters;
use super::keys::{OWN_KEYS, at_most, factor, keys};
use lacuna_bench::engine::rocksdb::{Layout, Style};

/// Keys and queries of the paper, and here.
const PAPER: (usize, usize) = (10_000_000, 1_000_000);
const OWN: (usize, usize) = (2 * OWN_KEYS, 1_800);
pub(super) const VALUE_BYTES: usize = 100;
/// Budgets in bits per key.
pub(super) const BITS: [f64; 3] = [12.0, 18.0, 24.0];
/// The keys: half of them are taken out, and queries start at any.
pub(super) const KEYS: &str = "osm_node_ids";

/// Rows by budget.
type ByBits = Vec<(f64, Vec<NamedRow>)>;

struct Measured {
    ranges: ByBits,
    points: ByBits,
}

/// Figure 14.
pub(super) fn ranges(session: &mut Session<'_>) -> Result<Finding> {
    let measured = measured(session)?;
    let claims = claims(&measured.ranges, [("SuRF", 1.48), ("SNARF", 1.33)]);
    Ok(finding(session, &measured.ranges, claims))
}

/// Figure 15.
pub(super) fn points(session: &mut Session<'_>) -> Result<Finding> {
    let measured = measured(session)?;
    let claims = claims(&measured.points, [("SuRF", 3.18), ("SNARF", 2.80)]);
    Ok(finding(session, &measured.points, claims))
}

/// How many times longer others take than `REncoder`, on average over the budgets where both are.
fn claims(rows: &ByBits, others: [(&str, f64); 2]) -> Vec<Claim> {
    let claim = |(name, paper): (&str, f64)| {
        let ratio = |(_, rows): &(f64, Vec<NamedRow>)| {
            Some(of(rows, name)?.ns_per_query / of(rows, "REncoder")?.ns_per_query)
        };
        let ratios: Vec<f64> = rows.iter().filter_map(ratio).collect();
        let mean = (!ratios.is_empty()).then(|| ratios.iter().sum::<f64>() / ratios.len() as f64);
        Claim::new(format!("latency of {name} over REncoder's, on average"), paper, mean)
    };
    others.into_iter().map(claim).collect()
}

fn finding(session: &Session<'_>, rows: &ByBits, claims: Vec<Claim>) -> Finding {
    let panel = |title: &str, value: fn(&EngineRow) -> Option<f64>| -> Plot {
        plot(title, "bits per key", Axis::logarithmic("microseconds a query"), lines(rows, value))
    };
    let plots = vec![
        panel("(a) all (SOL)", |row| Some(row.ns_per_query / 1e3)),
        panel("(b) without the reads (RFL and iterator)", |row| {
            Some((row.ns_per_query - row.read_ns_per_query) / 1e3)
        }),
        panel("(c) reads after false positives (FPL)", |row| Some(row.read_ns_per_query / 1e3)),
        plot(
            "(d) rate",
            "bits per key",
            Axis::logarithmic("false positive rate"),
            lines(rows, |row| row.fpr),
        ),
    ];
    let (_, first) = &rows[0];
    let notes = vec![
        scale_note(session),
        io_note(first),
        "RocksDB tells the time of its reads (`block_read_time`); what remains is filters, index and the iterator itself. \
         The clocks run in one of three rounds, whose share is that of the whole."
            .into(),
    ];
    Finding { plots, claims, notes, tables: Vec::new() }
}

/// What stands in for the paper's setup.
pub(super) fn scale_note(session: &Session<'_>) -> String {
    let (own, asked) = sizes(session);
    format!(
        "The first {own} ids of {KEYS} in place of 10 million of osmc, half of them in the database: a factor of {}; {asked} \
         queries, a factor of {}. Lazy levelling with size ratio 10 is RocksDB's `compaction_style=kCompactionStyleUniversal` \
         with `max_size_amplification_percent=11` and `level0_file_num_compaction_trigger=10`: up to ten runs above one large \
         last one.",
        factor(PAPER.0, own / 2),
        factor(PAPER.1, asked)
    )
}

/// Keys and queries of this run.
pub(super) fn sizes(session: &Session<'_>) -> (usize, usize) {
    (at_most(KEYS, session.key_count_or(OWN.0, 2 * PAPER.0)), session.query_count_or(OWN.1))
}

/// About 16 flushes, a cache for a tenth of the rows.
pub(super) fn layout(key_count: usize) -> Layout {
    let bytes = (key_count * (VALUE_BYTES + 8)) as u64;
    Layout { compactions: Some(Style::Universal), file_bytes: (bytes / 16).max(32 << 10), ..Layout::PLAIN }
}

fn measured(session: &mut Session<'_>) -> Result<Rc<Measured>> {
    session.once("rencoder lookups".into(), |session| {
        let (count, queries) = sizes(session);
        let all = keys(session, KEYS, count)?;
        let source = QuerySource::parse(&format!("half:{queries}:2-64"))?;
        let setting = EngineSetting::new(KEYS, all.clone(), &source, session.seed())?
            .with_value_bytes(VALUE_BYTES)
            .with_levels(3, 10)?
            .with_max_rows(1);
        let points = points_of(&all, queries, &setting, session.seed())?;
        let layout = layout(setting.keys().len());
        let filters = filters::with_budgets(&BITS, filters::every_family);
        let databases = Databases::write(session, layout, &filters, &setting)?;
        Ok(Measured {
            ranges: by_budget(&databases.ask(session, &setting)?, &BITS),
            points: by_budget(&databases.ask(session, &points)?, &BITS),
        })
    })
}

/// Absent single keys of the same halves.
fn points_of(all: &Keys, queries: usize, setting: &EngineSetting, seed: u64) -> Result<EngineSetting> {
    let source = QuerySource::parse(&format!("half:{queries}"))?;
    let drawn = Questions::draw(&source, all, 1.0, seed)?;
    debug_assert_eq!(&drawn.keys, setting.keys(), "one seed takes the same keys out");
    Ok(setting.clone().with_questions(&source.to_string(), drawn.asked, Manner::POINTS))
}
