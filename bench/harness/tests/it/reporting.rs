//! Tables, CSV, JSON lines and the page.

use lacuna_bench::Row;
use lacuna_bench::report::{
    Chart, Point, Scale, Series, Table, to_csv, to_html, to_json_lines, to_table, write_report,
};

use crate::well_formed::problem;

fn row(spec: &str, bits: f64, fpr: Option<f64>) -> Row {
    Row {
        filter: spec.split(':').next().expect("a spec has a family").to_owned(),
        spec: spec.to_owned(),
        keys: "uniform:1k".to_owned(),
        key_count: 1_000,
        bits_per_key_asked: bits,
        bits_per_key: bits - 0.25,
        build_ns_per_key: 21.5,
        queries: "uniform:5k:32".to_owned(),
        query_count: 5_000,
        empty_count: 5_000,
        fpr,
        predicted_fpr: None,
        false_negatives: 0,
        ns_per_query: 60.25,
        ns_per_query_batched: 12.5,
        memory_floor_ns: 30.0,
        seed: 7,
        note: None,
    }
}

fn rows() -> Vec<Row> {
    vec![
        row("grafite", 10.0, Some(0.1234)),
        row("grafite", 14.0, Some(0.00078)),
        row("prefix_bloom:bits=44", 10.0, Some(0.0)),
        row("bloom", 10.0, None),
    ]
}

#[test]
fn json_lines_have_the_agreed_fields() {
    let expected = concat!(
        r#"{"filter":"prefix_bloom","spec":"prefix_bloom:bits=44","keys":"uniform:1k","key_count":1000,"#,
        r#""bits_per_key_asked":10.0,"bits_per_key":9.75,"build_ns_per_key":21.5,"queries":"uniform:5k:32","#,
        r#""query_count":5000,"empty_count":5000,"fpr":0.0,"predicted_fpr":null,"false_negatives":0,"#,
        r#""ns_per_query":60.25,"ns_per_query_batched":12.5,"memory_floor_ns":30.0,"seed":7,"note":null}"#,
        "\n"
    );
    assert_eq!(to_json_lines(&rows()[2..3]), expected);
}

#[test]
fn json_lines_are_read_back() {
    let text = to_json_lines(&rows());
    let read: Vec<Row> =
        text.lines().map(|line| serde_json::from_str(line).expect("one row a line")).collect();
    assert_eq!(read, rows());
}

#[test]
fn csv_has_a_header_and_empty_unknowns() {
    let mut odd = row("bloom", 10.0, None);
    odd.keys = "a, \"b\"".to_owned();
    let expected = "filter,spec,keys,key_count,bits_per_key_asked,bits_per_key,build_ns_per_key,queries,query_count,\
                    empty_count,fpr,predicted_fpr,false_negatives,ns_per_query,ns_per_query_batched,memory_floor_ns,\
                    seed,note\n\
                    bloom,bloom,\"a, \"\"b\"\"\",1000,10.0,9.75,21.5,uniform:5k:32,5000,5000,,,0,60.25,12.5,30.0,7,\n";
    assert_eq!(to_csv(&[odd]), expected);
}

#[test]
fn table_columns_line_up() {
    let expected = "\
filter                keys        queries        asked  bits/key  build ns/key  empty     rate  missed  ns/query  batched  floor
grafite               uniform:1k  uniform:5k:32     10      9.75          21.5   5000   0.1234       0      60.2     12.5   30.0
grafite               uniform:1k  uniform:5k:32     14     13.75          21.5   5000  7.80e-4       0      60.2     12.5   30.0
prefix_bloom:bits=44  uniform:1k  uniform:5k:32     10      9.75          21.5   5000        0       0      60.2     12.5   30.0
bloom                 uniform:1k  uniform:5k:32     10      9.75          21.5   5000        -       0      60.2     12.5   30.0
";
    assert_eq!(to_table(&rows()), expected);
}

#[test]
#[should_panic(expected = "one cell for each column")]
fn lines_of_another_width_are_refused() {
    Table::new(["a", "b"]).push(["1"]);
}

#[test]
fn page_is_well_formed_and_loads_nothing() {
    let page = to_html("Filters <&> \"gaps\"", "lacuna bench filters --keys \"a<b\"", &rows());
    assert_eq!(problem(&page), None);
    assert_eq!(page.matches("<svg").count(), 4);
    assert!(page.contains("Filters &lt;&amp;&gt; &quot;gaps&quot;"));
    for loader in ["http", "src=", "href=", "@import", "url("] {
        assert!(!page.contains(loader), "the page mentions {loader}");
    }
}

#[test]
fn workloads_have_sections_of_their_own() {
    let mut rows = rows();
    rows[3].queries = "points:5k".to_owned();
    let page = to_html("t", "c", &rows);
    assert_eq!(problem(&page), None);
    assert_eq!((page.matches("<h2>").count(), page.matches("<svg").count()), (2, 8));
}

#[test]
fn empty_reports_and_charts_are_drawn() {
    assert_eq!(problem(&to_html("nothing", "nothing", &[])), None);
    for scale in [Scale::Linear, Scale::Logarithmic] {
        let svg = Chart { title: "t", x_label: "x", scale, series: vec![] }.to_svg();
        assert_eq!(problem(&svg), None);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}

#[test]
fn a_single_zero_is_drawn_hollow() {
    let series = vec![Series { name: "none".into(), points: vec![Point { x: 14.0, y: 0.0 }] }];
    let svg = Chart { title: "t", x_label: "x", scale: Scale::Logarithmic, series }.to_svg();
    assert!(svg.contains("fill=\"none\"") && !svg.contains("NaN"), "{svg}");
}

#[test]
fn charts_stay_inside_their_frame() {
    let points = (1..40).map(|x| Point { x: f64::from(x), y: 10_f64.powi(3 - x) }).collect();
    let series = vec![Series { name: "falling".into(), points }];
    let svg = Chart { title: "t", x_label: "x", scale: Scale::Logarithmic, series }.to_svg();
    for circle in svg.lines().filter(|line| line.starts_with("<circle")) {
        let coordinate = |name: &str| -> f64 {
            let rest = circle.split(name).nth(1).expect("a circle has a centre");
            rest.split('"').next().expect("a quote ends it").parse().expect("a number")
        };
        assert!((0.0..=640.0).contains(&coordinate("cx=\"")), "{circle}");
        assert!((0.0..=300.0).contains(&coordinate("cy=\"")), "{circle}");
    }
}

#[test]
fn same_rows_write_the_same_files() {
    let dir = std::env::temp_dir().join(format!("lacuna-bench-report-{}", std::process::id()));
    let read = |paths: &[std::path::PathBuf]| -> Vec<String> {
        paths.iter().map(|path| std::fs::read_to_string(path).expect("just written")).collect()
    };
    let first = read(&write_report(&dir, "t", "c", &rows()).expect("a writable folder"));
    let again = read(&write_report(&dir, "t", "c", &rows()).expect("a writable folder"));
    std::fs::remove_dir_all(&dir).expect("the folder is ours");
    assert_eq!(first.len(), 3);
    assert_eq!(first, again);
}

#[test]
fn unwritable_folders_are_named() {
    let error =
        write_report(std::path::Path::new("/dev/null/report"), "t", "c", &rows()).expect_err("no folder");
    assert!(error.to_string().contains("/dev/null/report"), "{error}");
}
