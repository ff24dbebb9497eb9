//! Proteus' figure 9e: latency of closed seeks over real strings.

use crate::paper::{Axis, Claim, Finding, Session};
use lacuna_base::Result;
use lacuna_bench::engine::EngineSetting;
use lacuna_workload::QuerySource;

use super::contest::{io_note, largest_gain, lines, plot};
use super::filters::{self, Named, UNBOUNDED};
use super::keys::{OWN_KEYS, factor, keys};
use super::workloads::{ByBits, by_bits};

/// Keys and queries of the paper, and here.
const PAPER: (usize, usize) = (30_000_000, 1_000_000);
const OWN: (usize, usize) = (OWN_KEYS, 900);
const BITS: [f64; 4] = [8.0, 12.0, 16.0, 20.0];
const SETS: [&str; 3] = ["gov_hosts", "repo_paths", "nab_series_points"];

/// Figure 9e.
pub(super) fn latencies(session: &mut Session<'_>) -> Result<Finding> {
    let (count, queries) = (session.key_count_or(OWN.0, PAPER.0), session.query_count_or(OWN.1));
    let mut finding = Finding::default();
    let mut all = ByBits::new();
    for name in SETS {
        let keys = keys(session, name, count)?;
        // The upper end is the key that was taken out with its last byte plus one.
        let source = QuerySource::parse(&format!("lastbyte:{queries}"))?;
        let setting = EngineSetting::new(name, keys, &source, session.seed())?;
        let measured = by_bits(session, &setting, &BITS, ours)?;
        let latency = lines(&measured, |row| Some(row.ns_per_query / 1e3));
        finding.plots.push(plot(name, "bits per key", Axis::logarithmic("microseconds a seek"), latency));
        let rates = lines(&measured, |row| row.fpr);
        finding.plots.push(plot(name, "bits per key", Axis::logarithmic("false positive rate"), rates));
        finding.notes.push(format!("{name}: {}", io_note(&measured[0].1)));
        all.extend(measured);
    }
    let gain = |slow: &str| largest_gain(&all, slow, "Proteus");
    finding.claims = vec![
        Claim::new("strings: latency of SuRF over Proteus', at most", 5.3, gain("SuRF")),
        Claim::new("strings: latency of no filter over Proteus', at most", 1.0, gain("no filter")),
    ];
    finding.notes.push(format!(
        "At most {count} keys of each set ({} below the paper's .org domains), {queries} empty seeks from a key that was taken \
         out to the same key with its last byte plus one. The paper states no ratio for no filter; its 1 is only there to \
         show ours. SuRF stands only where it fits.",
        factor(PAPER.0, count)
    ));
    Ok(finding)
}

fn ours(bits_per_key: f64) -> Vec<Named> {
    let names = ["Proteus", "SuRF", "auto", "Grafite", "Bucketing", "REncoder", "2PBF", UNBOUNDED[0]];
    filters::ours(&names, bits_per_key)
}
