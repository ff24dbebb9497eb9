//! Papers: what is measured, drawn and written.

use lacuna_lab::paper::{
    self, Axis, Claim, DataTable, Figure, Finding, Grid, GridRounds, Line, NamedFilter, Plot, Provenance,
    Session, Setting,
};
use lacuna_lab::two_level::{Layout, ReadPrice, StorePlan, run_store};
use lacuna_workload::{Keys, Queries, Workload};

use crate::well_formed::problem;

fn setting(figure: Option<&str>) -> Setting {
    let only = figure.map(str::to_owned);
    Setting { keys: Some(5_000), queries: Some(2_000), seed: 3, only, ..Setting::default() }
}

fn provenance() -> Provenance {
    Provenance {
        command: "lacuna-lab paper x --seed 3".into(),
        machine: "Fast CPU".into(),
        seed: 3,
        load: Some((7.25, 2)),
    }
}

/// The files of some figures of a paper: name and text.
fn files(figure: &str) -> Vec<(String, String)> {
    let paper = paper::find("rencoder").expect("it is there");
    let findings = paper::run(paper, &setting(Some(figure)), &mut |_| {}).expect("the figure is made");
    let files = paper::files(paper, &findings, &provenance()).expect("the figure is drawn");
    files.into_iter().map(|file| (file.name, file.text)).collect()
}

/// The picture of a finding.
fn picture(finding: Finding) -> String {
    let paper = paper::find("rencoder").expect("it is there");
    let figure: &'static Figure = &paper.figures[3];
    let files = paper::files(paper, &[(figure, finding)], &provenance()).expect("it is drawn");
    files.into_iter().find(|file| file.name.ends_with(".svg")).expect("there are plots").text
}

fn plot(y: Axis, lines: Vec<Line>) -> Plot {
    Plot { title: "a < b & c".into(), x: Axis::linear("x"), y, lines }
}

#[test]
fn a_figure_repeats_from_its_seed() {
    let first = files("4");
    let names: Vec<&str> = first.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["figure-4.csv", "figure-4.svg", "figure-4.md"]);
    assert_eq!(first, files("figure 4"));
    let (csv, page) = (&first[0].1, &first[2].1);
    assert_eq!(csv.lines().next(), Some("panel,line,origin,x,y"));
    assert_eq!(csv.lines().count(), 1 + 2 * 12, "two panels of twelve numbers of levels");
    for part in ["figure-4.svg", "figure-4.csv", "`lacuna-lab paper x --seed 3`", "Fast CPU", "seed 3"] {
        assert!(page.contains(part), "{part} is not in\n{page}");
    }
}

#[test]
fn tables_have_no_picture() {
    let files = files("table4");
    assert_eq!(files.len(), 2, "data and page");
    let page = &files[1].1;
    assert!(page.contains("| share of ones after 11 | 0.484 | 0."), "{page}");
    assert!(page.contains("| share of ones after 11, published layout | 0.484 | 0."), "{page}");
    assert!(page.contains("At its end 7.2 tasks wanted the 2 processors."), "{page}");
}

#[test]
fn pictures_are_well_formed() {
    let drawn = files("4");
    assert_eq!(problem(&drawn[1].1), None);
    let odd = [
        vec![],
        vec![Line::ours("alone", [(14.0, 0.0)])],
        vec![Line::ours("a > b", [(1.0, 0.5), (2.0, 0.0)]), Line::paper("a > b", [(1.0, 0.4)])],
        (0..30).map(|line| Line::ours(line.to_string(), [(0.0, 1e-9), (f64::from(line), 1e9)])).collect(),
    ];
    for lines in odd {
        for axis in [Axis::linear("y"), Axis::logarithmic("y")] {
            let plots = vec![plot(axis, lines.clone()); 3];
            let svg = picture(Finding { plots, ..Finding::default() });
            assert_eq!(problem(&svg), None, "{svg}");
            for bad in ["NaN", "inf", "href"] {
                assert!(!svg.contains(bad), "{bad} in {svg}");
            }
        }
    }
}

#[test]
fn marks_stay_inside_the_picture() {
    let lines = (0..5).map(|line| {
        let height = move |x: i32| 10_f64.powi(-x - line);
        Line::ours(line.to_string(), (0..9).map(|x| (f64::from(x), height(x))))
    });
    let svg =
        picture(Finding { plots: vec![plot(Axis::logarithmic("y"), lines.collect())], ..Finding::default() });
    let mut seen = 0;
    for circle in svg.lines().filter(|line| line.contains("<circle")) {
        let coordinate = |name: &str| -> f64 {
            let rest = circle.split(name).nth(1).expect("a circle has a centre");
            rest.split('"').next().expect("a quote ends it").parse().expect("a number")
        };
        // Below the panel of 320 pixels stands the legend.
        let in_legend = coordinate("cy=\"") > 320.0;
        seen += usize::from(!in_legend);
        assert!(in_legend || (66.0..=444.0).contains(&coordinate("cx=\"")), "{circle}");
        assert!(in_legend || (34.0..=268.0).contains(&coordinate("cy=\"")), "{circle}");
    }
    assert!(seen >= 9, "{seen} circles");
}

#[test]
fn unknown_filters_are_left_out_and_named() {
    let grid = Grid {
        keys: "uniform:2000".into(),
        queries: "uniform:N:2-32".into(),
        sample: None,
        filters: vec![NamedFilter::new("Known", "grafite"), NamedFilter::new("Unknown", "no_such_filter")],
        bits: vec![12.0],
        rounds: GridRounds { queries: 0, builds: 0 },
    };
    let setting = setting(None);
    let mut hear = |_: &paper::Step| {};
    let result = Session::new(&setting, &mut hear).grid(&grid).expect("known filters are measured");
    assert_eq!(result.cells.len(), 1);
    assert!(result.cell("Known", 12.0).is_some() && result.cell("Unknown", 12.0).is_none());
    assert_eq!(result.notes(), ["Unknown: not yet (this build has no `no_such_filter`)."]);
}

#[test]
fn times_keep_the_least_and_the_greatest_of_their_rounds() {
    let grid = Grid {
        keys: "uniform:2000".into(),
        queries: "uniform:N:2-32".into(),
        sample: None,
        filters: vec![NamedFilter::new("Grafite", "grafite")],
        bits: vec![14.0],
        rounds: GridRounds { queries: 5, builds: 3 },
    };
    let setting = setting(None);
    let mut hear = |_: &paper::Step| {};
    let result = Session::new(&setting, &mut hear).grid(&grid).expect("it is measured");
    let speed = result.cell("Grafite", 14.0).and_then(|cell| cell.speed).expect("it was timed");
    for times in [speed.query_ns, speed.query_blooms, speed.build_ns, speed.build_blooms] {
        let (low, high) = times.extent.expect("several rounds");
        assert!(0.0 < low && low <= times.median && times.median <= high, "{times:?}");
    }
}

#[test]
fn unknown_numbers_are_not_made_up() {
    let paper = paper::find("rencoder").expect("it is there");
    let claims = vec![Claim::new("there", 2.0, Some(1.0)), Claim::new("not there", 2.0, None)];
    let table = DataTable {
        title: "t".into(),
        header: vec!["a".into(), "b".into()],
        rows: vec![vec!["x, \"y\"".into(), "1|2".into()]],
    };
    let finding = Finding { claims, tables: vec![table], ..Finding::default() };
    let findings = [(&paper.figures[0], finding)];
    let files = paper::files(paper, &findings, &provenance()).expect("nothing is drawn");
    let (csv, page) = (&files[0].text, &files[1].text);
    assert!(
        csv.contains("claims,not there,ours,,\n") && csv.contains("t,\"x, \"\"y\"\"\",ours,b,1|2\n"),
        "{csv}"
    );
    assert!(page.contains("| there | 2.00 | 1.00 | 0.50 |"), "{page}");
    assert!(page.contains("| not there | 2.00 | not yet | - |") && page.contains("1\\|2"), "{page}");
    assert!(paper::to_text(&findings).contains("not yet"));
}

#[test]
fn unknown_names_list_what_there_is() {
    let error = paper::find("recoder").expect_err("no such paper").to_string();
    assert!(error.contains("`recoder`") && error.contains("rencoder"), "{error}");
    let paper = paper::find("rencoder").expect("it is there");
    let error = paper::figures(paper, Some("99")).expect_err("no such figure").to_string();
    assert!(error.contains("`99`") && error.contains("table2, ") && error.contains(", 22"), "{error}");
}

#[test]
fn figures_have_names_of_their_own() {
    for paper in paper::papers() {
        for figure in paper.figures {
            let argument = figure.id.argument();
            let found = paper::figures(paper, Some(&argument)).expect("it is there");
            assert_eq!(found.len(), 1, "{argument} of {}", paper.name);
        }
    }
}

/// Figures add a price for each "maybe"; the two-level store with one table counts the same reads.
#[test]
fn overall_time_agrees_with_the_two_level_store() {
    let (setting, spec_names) = (setting(None), ["rencoder", "rencoder:ss", "surf:hash=1,real=1", "bloom"]);
    let grid = Grid {
        keys: "uniform:5000".into(),
        queries: "uniform:N:2-32".into(),
        sample: None,
        filters: spec_names.into_iter().map(|spec| NamedFilter::new(spec, spec)).collect(),
        bits: vec![14.0],
        rounds: GridRounds { queries: 0, builds: 0 },
    };
    let mut hear = |_: &paper::Step| {};
    let mut session = Session::new(&setting, &mut hear);
    let result = session.grid(&grid).expect("all are known");
    let keys = session.keys(&grid.keys).expect("a generator");
    let test_bed = session.test_bed(&keys, &grid.queries).expect("a source");
    let workload = Workload {
        inserted: Keys::U64(test_bed.keys.to_vec()),
        held_out: Keys::U64(vec![]),
        queries: Queries::U64(test_bed.queries.to_vec()),
    };
    let mut reads = 0;
    for spec in spec_names {
        let layout = Layout::SsTables { table_count: 1 };
        let plan = StorePlan { spec, bits_per_key: 14.0, layout, seed: setting.seed };
        let outcome = run_store(&workload, &plan, ReadPrice::Accounted(1e5)).expect("the store is built");
        let cell = result.cell(spec, 14.0).expect("it fits");
        assert_eq!(cell.false_positives, outcome.reads, "{spec}");
        assert_eq!(outcome.wrong_answers, 0, "{spec}");
        reads += outcome.reads;
    }
    assert!(reads > 100, "{reads} reads are too few to tell");
}

/// The claims of table 4 in this run: a bit that depends on those before it is not what the paper concludes from.
fn table_four() -> (&'static Figure, Finding) {
    let paper = paper::find("rencoder").expect("it is there");
    let findings = paper::run(paper, &setting(Some("table4")), &mut |_| {}).expect("the table is made");
    findings.into_iter().next().expect("there is one")
}

#[test]
fn a_planted_number_turns_the_verdict_of_a_page() {
    let paper = paper::find("rencoder").expect("it is there");
    let (figure, finding) = table_four();
    let place = finding.claims.iter().position(|claim| claim.what == "farthest from the share overall");
    let place = place.expect("it is claimed");
    let page_with = |ours: f64| {
        let mut finding = finding.clone();
        finding.claims[place].ours = Some(ours);
        let files = paper::files(paper, &[(figure, finding)], &provenance()).expect("nothing is drawn");
        (files[0].text.clone(), files[1].text.clone())
    };
    let ((good_data, good), (bad_data, bad)) = (page_with(0.001), page_with(0.2));
    assert!(
        good.contains(
            "| farthest from the share overall | 0.0134 | 0.00100 | 0.07 | at most 0.0134: holds |"
        ),
        "{good}"
    );
    assert!(bad.contains("| at most 0.0134: **does not hold here** |"), "{bad}");
    // And by the data alone, whatever the page says.
    assert_eq!(paper::judged(&good, figure, &bad_data).expect("well formed"), bad);
    assert_eq!(paper::judged(&bad, figure, &good_data).expect("well formed"), good);
    assert!(paper::judged("# A page", figure, &good_data).is_err(), "there is no such section");
}

#[test]
fn a_section_is_replaced_and_says_so() {
    let (figure, finding) = table_four();
    let old = "# rencoder, figure by figure\n\nHead.\n\n## Table 2: space\n\nOne.\n\n## Table 4: old\n\nTwo.\n\n## Figure 4: x\n\nThree.\n";
    let new = paper::with_section(old, figure, &finding, &provenance());
    let (before, after) = (old.split("## Table 4").next().expect("a head"), "\n## Figure 4: x\n\nThree.\n");
    assert!(new.starts_with(before) && new.ends_with(after) && !new.contains("Two."), "{new}");
    assert!(
        new.contains(
            "Made later than the rest of this page: `lacuna-lab paper x --seed 3`, one thread of Fast CPU"
        ),
        "{new}"
    );
    assert_eq!(paper::with_section(&new, figure, &finding, &provenance()), new);
    let added = paper::with_section("# A page\n", figure, &finding, &provenance());
    assert!(added.starts_with("# A page\n\n## Table 4: "), "{added}");
}

/// Every published verdict is what its figure's data say.
#[test]
fn published_verdicts_follow_their_data() {
    let results = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/results");
    let mut judged = 0;
    for paper in paper::papers() {
        for figure in paper.figures.iter().filter(|figure| !figure.concludes.is_empty()) {
            let (folder, stem) = (results.join(paper.name), figure.id.file_stem());
            let read = |name: String| std::fs::read_to_string(folder.join(name));
            let Ok(data) = read(format!("{stem}.csv")) else { continue };
            let page = read(format!("{stem}.md")).or_else(|_| read("README.md".into())).expect("a page");
            let (name, number) = (paper.name, figure.id.argument());
            let again = paper::judged(&page, figure, &data).expect("well formed");
            let command =
                format!("lacuna-lab paper {name} --figure {number} --verdicts --out docs/results/{name}");
            assert!(again == page, "run `{command}`");
            judged += 1;
        }
    }
    assert!(judged >= 8, "{judged} figures");
}
