//! Table 5: what blacklists take, and what learned gaps would take.

use lacuna_base::{GapSet, Result};

use super::workloads::{ANYWHERE, query_count};
use super::{ALL, BITS, two_rounds};
use crate::paper::{Claim, DataTable, Finding, Session, shown};

/// Kilobytes after ten million queries at each budget: of REncoder, and of SS and SE.
const BASE_KB: [f64; 7] = [907.1, 379.3, 169.9, 78.6, 37.0, 18.2, 10.7];
const SELECTED_KB: [f64; 7] = [327.2, 190.2, 12.8, 11.5, 6.5, 1.6, 1.1];
/// Millions of queries of the paper's workload.
const PAPER_MILLIONS: f64 = 10.0;

/// Table 5.
pub(in super::super) fn memory(session: &mut Session<'_>) -> Result<Finding> {
    let runs = two_rounds(session, ANYWHERE)?;
    let millions = query_count(session) as f64 / 1e6;
    let mut claims = Vec::new();
    for (variant, sizes) in ALL.into_iter().zip([BASE_KB, SELECTED_KB, SELECTED_KB]) {
        for (bits, paper) in BITS.into_iter().zip(sizes) {
            let run = runs.iter().find(|run| run.variant == variant && run.x == bits);
            let ours = run.map(|run| run.blacklist_bytes as f64 / 1e3 / millions);
            let what = format!("{}, {bits} bits: KB for a million queries", variant.listed_name);
            claims.push(Claim::new(what, paper / PAPER_MILLIONS, ours));
        }
    }
    let rows = runs.iter().filter(|run| run.plain[0] > 0).map(|run| {
        let each = run.blacklist_bytes as f64 / run.plain[0] as f64;
        vec![
            run.variant.listed_name.to_owned(),
            run.x.to_string(),
            run.plain[0].to_string(),
            shown(each),
            GapSet::INTERVAL_BYTES.to_string(),
        ]
    });
    let table = DataTable {
        title: "Bytes for each false positive, ranges of 2 to 32 keys".into(),
        header: ["", "bits per key", "false positives", "blacklist", "learned gap at most"]
            .map(str::to_owned)
            .to_vec(),
        rows: rows.collect(),
    };
    let note = "Counted are an eight-byte prefix and a bitmap for each entry. The paper's figures are for ten million \
                queries over 50 million keys; they are shown per million queries.";
    Ok(Finding { claims, tables: vec![table], notes: vec![note.into()], plots: Vec::new() })
}
