//! SuRF's paper: what its figures hold over small sets.

use lacuna_bench::paper::{self, Finding, Setting};

/// A figure over few keys, asked little.
fn figure(name: &str, keys: usize) -> Finding {
    let setting =
        Setting { keys: Some(keys), queries: Some(400), full: false, seed: 5, only: Some(name.to_owned()) };
    let paper = paper::find("surf").expect("it is there");
    let mut findings = paper::run(paper, &setting, &mut |_| {}).expect("the figure is made");
    findings.remove(0).1
}

/// The height of `line` in the panel whose title begins with `panel`, `place` points from its left.
fn height(finding: &Finding, panel: &str, line: &str, place: usize) -> f64 {
    let plot =
        finding.plots.iter().find(|plot| plot.title.starts_with(panel)).expect("there is such a panel");
    plot.lines.iter().find(|known| known.name == line).expect("there is such a line").points[place].y
}

#[test]
fn hash_bits_help_points_and_real_bits_help_ranges() {
    let finding = figure("3", 6_000);
    assert_eq!(finding.plots.len(), 11, "five sets by points and ranges, and the printed distances");
    let base = height(&finding, "wordnet_lemmas, points", "SuRF-Base", 0);
    let hashed = height(&finding, "wordnet_lemmas, points", "SuRF-Hash", 8);
    assert!(base > 5.0 && hashed < base / 16.0, "{base} % and with eight hash bits {hashed} %, seed 5");
    let base = height(&finding, "gov_hosts, ranges", "SuRF-Base", 0);
    let hashed = height(&finding, "gov_hosts, ranges", "SuRF-Hash", 8);
    let real = height(&finding, "gov_hosts, ranges", "SuRF-Real", 8);
    assert!(hashed == base && real < base, "Base {base} %, Hash {hashed} %, Real {real} %, seed 5");
}

#[test]
fn filters_save_reads_of_sensors() {
    let points = figure("5", 6_000);
    let reads = |name: &str| -> f64 {
        let row = points.tables[0].rows.iter().find(|row| row[0] == name).expect("there is such a row");
        row[2].parse().expect("a number")
    };
    assert!(reads("no filter") > 0.5, "{points:?}");
    assert!(
        reads("SuRF-Hash") < 0.2 * reads("no filter") && reads("Bloom") < 0.2 * reads("no filter"),
        "{points:?}"
    );
    let ranges = figure("6", 6_000);
    let (none, real) = (height(&ranges, "(b)", "no filter", 6), height(&ranges, "(b)", "SuRF-Real", 6));
    assert!(real < 0.3 * none, "{real} and {none} reads where 99 % are empty, seed 5");
    let bloom = height(&ranges, "(b)", "Bloom", 6);
    assert!(bloom > 0.5 * none, "a Bloom filter cannot help ranges: {bloom} and {none}, seed 5");
}
