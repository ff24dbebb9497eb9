//! The papers' figures, small.

use lacuna_bench::paper::{Finding, Provenance, Setting, files, run};
use lacuna_rocksdb_tool::PAPER;

fn finding(figure: &str, keys: usize, queries: usize) -> Finding {
    let only = Some(figure.to_owned());
    let setting = Setting { keys: Some(keys), queries: Some(queries), full: false, seed: 3, only };
    let findings = run(&PAPER, &setting, &mut |_| {}).unwrap_or_else(|error| panic!("{figure}: {error}"));
    let provenance = Provenance { command: "x".into(), machine: "y".into(), seed: 3 };
    let drawn = files(&PAPER, &findings, &provenance).unwrap();
    assert!(drawn.iter().any(|file| file.name == format!("{figure}.md")), "{figure} has a page");
    findings.into_iter().next().expect("one figure was asked for").1
}

/// The height of a line at its last point.
fn last(finding: &Finding, plot: usize, name: &str) -> f64 {
    let line = finding.plots[plot].lines.iter().find(|line| line.name == name);
    line.unwrap_or_else(|| panic!("{name} is drawn")).points.last().expect("it has points").y
}

#[test]
fn fewer_blocks_are_read_for_empty_sensor_ranges() {
    let finding = finding("surf-6", 4_000, 200);
    let [none, bloom, surf] = ["no filter", "RocksDB's Bloom", "SuRF"].map(|name| last(&finding, 1, name));
    assert!(
        surf < 0.4 * none && bloom > 0.8 * none,
        "{none} without, {bloom} with Bloom, {surf} with SuRF, seed 3"
    );
    assert!(finding.claims[0].ours.is_some());
}

#[test]
fn lookups_and_mixed_workloads_are_made() {
    let finding_14 = finding("rencoder-14", 6_000, 200);
    assert_eq!(finding_14.plots.len(), 4);
    let finding_16 = finding("rencoder-16", 6_000, 600);
    assert!(finding_16.plots.iter().all(|plot| plot.lines.len() == 7), "seven filters take part");
}

#[test]
fn proteus_is_compared_by_workload() {
    let finding = finding("proteus-6", 3_000, 150);
    assert_eq!(finding.plots.len(), 4);
    assert!(finding.claims.iter().all(|claim| claim.ours.is_some()), "{:?}", finding.claims);
}

#[test]
fn designs_follow_an_immediate_shift() {
    let finding = finding("proteus-8", 3_000, 1);
    for claim in &finding.claims {
        assert!(claim.ours.is_some_and(|ratio| ratio <= 1.5 + 0.5), "{claim:?}, seed 3");
    }
}
