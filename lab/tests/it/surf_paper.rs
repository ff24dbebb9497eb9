//! SuRF's paper: what its figures hold over small sets.

use lacuna_lab::paper::{self, Finding, Setting};

/// A figure over few keys, asked little.
fn figure(name: &str, keys: usize) -> Finding {
    let setting = Setting {
        keys: Some(keys),
        queries: Some(200),
        seed: 5,
        only: Some(name.to_owned()),
        ..Setting::default()
    };
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
