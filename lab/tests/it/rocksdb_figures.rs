//! The papers' figures, small.

use std::fs;
use std::path::Path;

use assert_cmd::Command;

/// A folder in memory where there is one: hundreds of small files wait long for a disk.
const IN_MEMORY: &str = "/dev/shm";

/// Makes a figure; gives its page and its data.
fn figure(name: &str, sizes: &str) -> (String, String) {
    let out = tempfile::tempdir().unwrap();
    let mut command = Command::new(crate::BINARY);
    command.args(["paper", "rocksdb", "--seed", "3", "--figure", name, "--out"]).arg(out.path());
    command.args(sizes.split_whitespace());
    if Path::new(IN_MEMORY).is_dir() {
        command.env("TMPDIR", IN_MEMORY);
    }
    let run = command.output().unwrap();
    assert!(run.status.success(), "{name}: {}", String::from_utf8_lossy(&run.stderr));
    let read = |ending: &str| fs::read_to_string(out.path().join(format!("{name}.{ending}"))).unwrap();
    assert!(read("svg").trim_end().ends_with("</svg>"), "{name} is drawn");
    (read("md"), read("csv"))
}

/// The last value of `line` in `panel`.
fn last(data: &str, panel: &str, line: &str) -> f64 {
    let start = format!("{panel},{line},ours,");
    let row =
        data.lines().rfind(|row| row.starts_with(&start)).unwrap_or_else(|| panic!("no {start} in\n{data}"));
    row.rsplit(',').next().unwrap().parse().unwrap()
}

#[test]
fn empty_sensor_ranges_read_fewer_blocks() {
    let (page, data) = figure("surf-6", "--keys 4000 --queries 200");
    let [none, bloom, surf] =
        ["no filter", "RocksDB's Bloom", "SuRF"].map(|name| last(&data, "(b) I/O", name));
    assert!(surf < 0.4 * none && bloom > 0.8 * none, "{none} without, {bloom} with Bloom, {surf} with SuRF");
    assert!(page.contains("throughput of SuRF-Real over no filter, 99 % empty | 5.00 |"), "{page}");
}

#[test]
fn real_keys_are_looked_up() {
    let (_, data) = figure("rencoder-14", "--keys 6000 --queries 200");
    assert!(last(&data, "(d) rate", "REncoder") < 0.2, "{data}");
}

#[test]
fn inserts_mix_with_queries() {
    let (_, data) = figure("rencoder-16", "--keys 6000 --queries 600");
    assert!(
        last(&data, "(b) inserts", "no filter") > 0.0 && last(&data, "(c) queries", "REncoder") > 0.0,
        "{data}"
    );
}

#[test]
fn every_workload_is_compared_by_budget() {
    let (page, data) = figure("proteus-6", "--keys 600 --queries 60");
    for panel in [
        "Uniform keys, Correlated seeks",
        "Normal keys, Uniform seeks",
        "Normal keys, Split seeks",
        "osm_node_ids, seeks at real keys",
    ] {
        let unbounded = ["\"Proteus, all probes\"", "\"Rosetta, 4,096 probes\""];
        for line in ["no filter", "RocksDB's Bloom", "Proteus", "Rosetta", "Grafite", "auto"]
            .into_iter()
            .chain(unbounded)
        {
            assert!(last(&data, &format!("\"{panel}\""), line) > 0.0, "{panel}, {line}:\n{data}");
        }
    }
    for slow in ["Rosetta", "SuRF"] {
        let claim = format!("| integers: latency of {slow} over Proteus', at most | ");
        let ours = page.lines().find_map(|line| line.strip_prefix(&claim)?.split(" | ").nth(1));
        assert!(ours.is_some_and(|ours| ours.parse::<f64>().is_ok()), "{slow}:\n{page}");
    }
}

#[test]
fn points_are_looked_up() {
    let (_, data) = figure("rencoder-15", "--keys 3000 --queries 100");
    assert!(last(&data, "(d) rate", "REncoder") < 0.2, "{data}");
}

#[test]
fn strings_are_compared_by_budget() {
    let (page, data) = figure("proteus-9e", "--keys 2000 --queries 100");
    assert!(last(&data, "gov_hosts", "no filter") > 0.0 && !page.contains("not yet"), "{page}");
}

#[test]
fn designs_follow_an_immediate_shift() {
    let (page, _) = figure("proteus-8", "--keys 3000");
    let claims: Vec<&str> =
        page.lines().filter(|line| line.contains("over that of a new database")).collect();
    assert_eq!(claims.len(), 6, "{page}");
    for claim in claims {
        let ours: f64 = claim.split('|').nth(3).unwrap().trim().parse().unwrap();
        assert!(ours <= 1.5, "{claim}, seed 3");
    }
}

#[test]
fn figures_of_three_papers_are_listed() {
    let text = crate::support::Folder::new().lacuna("paper rocksdb --list").done();
    for figure in ["surf-5", "surf-6", "rencoder-14", "rencoder-16", "proteus-8", "proteus-9e"] {
        assert!(text.lines().any(|line| line.split_whitespace().next() == Some(figure)), "{text}");
    }
}

#[test]
fn unknown_figures_are_refused() {
    let folder = crate::support::Folder::new();
    let run = folder.lacuna("paper rocksdb --figure 99 --out out");
    let sentence = run.sentence(2);
    assert!(sentence.contains("`99`") && sentence.contains("surf-5"), "{sentence}");
    assert!(folder.names().is_empty(), "nothing was made");
}
