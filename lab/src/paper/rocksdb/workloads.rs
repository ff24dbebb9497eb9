//! Proteus' figure 6: latency of closed seeks by workload and budget.

use std::rc::Rc;

use crate::paper::{Axis, Claim, Finding, Session};
use lacuna_base::Result;
use lacuna_bench::engine::EngineSetting;
use lacuna_workload::QuerySource;

use super::contest::{Databases, NamedRow, by_budget, io_note, largest_gain, lines, plot};
use super::filters::{self, Named, UNBOUNDED};
use super::keys::{OWN_KEYS, factor, keys};
use lacuna_bench::engine::rocksdb::Layout;

/// Keys and queries of the paper, and here.
const PAPER: (usize, usize) = (50_000_000, 1_000_000);
const OWN: (usize, usize) = (OWN_KEYS, 1_200);
/// Files of the paper's tree.
const FILES: u64 = 8;
const VALUE_BYTES: usize = 512;
/// The paper's block cache is 1 GB, its rows 26 GB.
const CACHE_PART: u64 = 26;
const BITS: [f64; 3] = [8.0, 12.0, 16.0];

/// Names of panels, keys, and queries of `N`.
const WORKLOADS: [(&str, &str, &str); 4] = [
    ("Uniform keys, Correlated seeks", "uniform", "correlated:N:2-128:1024"),
    ("Normal keys, Uniform seeks", "normal", "uniform:N:2-1048576"),
    ("Normal keys, Split seeks", "normal", "split:N:2-1048576:1024"),
    ("osm_node_ids, seeks at real keys", "osm_node_ids", "half:N:2-128"),
];

/// Rows by budget, for one workload.
pub(super) type ByBits = Vec<(f64, Vec<NamedRow>)>;

/// Figure 6.
pub(super) fn latencies(session: &mut Session<'_>) -> Result<Finding> {
    let (count, queries) = (session.key_count_or(OWN.0, PAPER.0), session.query_count_or(OWN.1));
    let mut finding = Finding::default();
    let (mut all, mut first) = (ByBits::new(), Vec::new());
    for (title, key_name, source) in WORKLOADS {
        let measured = measured(session, key_name, &source.replacen('N', &queries.to_string(), 1), count)?;
        let latency = lines(&measured, |row| Some(row.ns_per_query / 1e3));
        let y = Axis::logarithmic("microseconds a seek");
        finding.plots.push(plot(title, "bits per key", y, latency));
        first.clone_from(&measured[0].1);
        all.extend(measured.iter().cloned());
    }
    let gains = [("Rosetta", 3.9), ("SuRF", 3.3)];
    let claim = |(name, paper): (&str, f64)| {
        Claim::new(
            format!("integers: latency of {name} over Proteus', at most"),
            paper,
            largest_gain(&all, name, "Proteus"),
        )
    };
    finding.claims = gains.into_iter().map(claim).collect();
    let [proteus, rosetta] = UNBOUNDED;
    finding.claims.push(Claim::new(
        "integers, bounds lifted: latency of Rosetta over Proteus', at most",
        3.9,
        largest_gain(&all, rosetta, proteus),
    ));
    finding.claims.push(Claim::new(
        "integers: latency of no filter over Proteus', at most",
        1.0,
        largest_gain(&all, "no filter", "Proteus"),
    ));
    finding.notes = vec![
        format!(
            "{count} keys of each set, of a real one as many as it has ({} below the paper), {queries} empty seeks ({} below), values of 512 bytes, half zero, \
             a tree of three full levels below level 0 with size ratio 10 and about {FILES} files in place of 70 of 256 MB; LZ4 \
             on level 2, ZSTD on level 3. Filters are designed by {} sampled seeks.",
            factor(PAPER.0, count),
            factor(PAPER.1, queries),
            queries.min(20_000)
        ),
        io_note(&first),
        "The paper states no ratio for no filter; its 1 is only there to show ours.".into(),
    ];
    Ok(finding)
}

fn measured(session: &mut Session<'_>, key_name: &str, source: &str, count: usize) -> Result<Rc<ByBits>> {
    session.once(format!("proteus 6 {key_name} {source}"), |session| {
        let keys = keys(session, key_name, count)?;
        let source = QuerySource::parse(source)?;
        by_bits(
            session,
            &EngineSetting::new(key_name, keys, &source, session.seed())?,
            &BITS,
            filters::every_family,
        )
    })
}

/// Databases of the paper's shape for each budget, asked closed seeks.
pub(super) fn by_bits(
    session: &mut Session<'_>,
    setting: &EngineSetting,
    bits: &[f64],
    ours: fn(f64) -> Vec<Named>,
) -> Result<ByBits> {
    let keys = setting.keys();
    let bytes = keys.total_bytes() as u64 + (keys.len() * VALUE_BYTES) as u64;
    let setting = setting.clone().with_value_bytes(VALUE_BYTES).with_levels(3, 10)?.with_max_rows(1);
    let setting = setting.with_cache_bytes(bytes / CACHE_PART);
    let layout = Layout { file_bytes: (bytes / FILES).max(64 << 10), compressed: true, ..Layout::PLAIN };
    let databases = Databases::write(session, layout, &filters::with_budgets(bits, ours), &setting)?;
    Ok(by_budget(&databases.ask(session, &setting)?, bits))
}
