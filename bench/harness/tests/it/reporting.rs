//! Tables, CSV, JSON lines and the page.

use lacuna_bench::report::{
    Provenance, Table, to_csv, to_html, to_json_lines, to_table, with_commas, write_report,
};
use lacuna_bench::{Machine, Outcome, Row, Unfit};

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
        build_ns_per_key_low: 21.0,
        build_ns_per_key_high: 24.0,
        queries: "uniform:5k:32".to_owned(),
        query_count: 5_000,
        empty_count: 5_000,
        fpr,
        predicted_fpr: None,
        false_negatives: 0,
        ns_per_query: 60.25,
        ns_per_query_low: 60.0,
        ns_per_query_high: 62.0,
        ns_per_query_batched: 12.5,
        ns_per_query_batched_low: 12.25,
        ns_per_query_batched_high: 13.0,
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

fn measured(rows: Vec<Row>) -> Vec<Outcome> {
    rows.into_iter().map(|row| Outcome::Row(Box::new(row))).collect()
}

/// The rows, and a filter that does not fit.
fn outcomes() -> Vec<Outcome> {
    let unfit = Unfit {
        filter: "surf".to_owned(),
        spec: "surf".to_owned(),
        keys: "uniform:1k".to_owned(),
        key_count: 1_000,
        bits_per_key_asked: 14.0,
        queries: "uniform:5k:32".to_owned(),
        seed: 7,
        smallest_bits_per_key: 35.055,
        note: "does not fit: needs 35.06 bits per key".to_owned(),
    };
    measured(rows()).into_iter().chain([Outcome::Unfit(unfit)]).collect()
}

fn provenance() -> Provenance {
    Provenance {
        command: "lacuna bench filters --keys \"a<b\"".to_owned(),
        version: "1.2.3 (commit abc)".to_owned(),
        date: "2026-11-25".to_owned(),
        machine: Machine {
            processor: "Fast CPU".to_owned(),
            cores: 2,
            memory_gib: None,
            system: "Linux".to_owned(),
            load: None,
        },
    }
}

#[test]
fn commas_stand_every_three_digits() {
    for (number, shown) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
        assert_eq!(with_commas(number), shown);
    }
}

#[test]
fn json_lines_have_the_agreed_fields() {
    let expected = concat!(
        r#"{"filter":"prefix_bloom","spec":"prefix_bloom:bits=44","keys":"uniform:1k","key_count":1000,"#,
        r#""bits_per_key_asked":10.0,"bits_per_key":9.75,"build_ns_per_key":21.5,"#,
        r#""build_ns_per_key_low":21.0,"build_ns_per_key_high":24.0,"queries":"uniform:5k:32","#,
        r#""query_count":5000,"empty_count":5000,"fpr":0.0,"predicted_fpr":null,"false_negatives":0,"#,
        r#""ns_per_query":60.25,"ns_per_query_low":60.0,"ns_per_query_high":62.0,"ns_per_query_batched":12.5,"#,
        r#""ns_per_query_batched_low":12.25,"ns_per_query_batched_high":13.0,"memory_floor_ns":30.0,"seed":7,"note":null}"#,
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
    let expected = "filter,spec,keys,key_count,bits_per_key_asked,bits_per_key,build_ns_per_key,\
                    build_ns_per_key_low,build_ns_per_key_high,queries,query_count,empty_count,fpr,predicted_fpr,\
                    false_negatives,ns_per_query,ns_per_query_low,ns_per_query_high,ns_per_query_batched,\
                    ns_per_query_batched_low,ns_per_query_batched_high,memory_floor_ns,seed,note\n\
                    bloom,bloom,\"a, \"\"b\"\"\",1000,10.0,9.75,21.5,21.0,24.0,uniform:5k:32,5000,5000,,,0,60.25,60.0,62.0,\
                    12.5,12.25,13.0,30.0,7,\n";
    assert_eq!(to_csv(&[odd]), expected);
}

#[test]
fn table_columns_line_up() {
    let expected = "\
filter                keys        queries        asked  bits/key  build ns/key  empty     rate  missed  ns/query  spread  batched  floor
grafite               uniform:1k  uniform:5k:32     10      9.75          21.5   5000   0.1234       0      60.2     3 %     12.5   30.0
grafite               uniform:1k  uniform:5k:32     14     13.75          21.5   5000  7.80e-4       0      60.2     3 %     12.5   30.0
prefix_bloom:bits=44  uniform:1k  uniform:5k:32     10      9.75          21.5   5000        0       0      60.2     3 %     12.5   30.0
bloom                 uniform:1k  uniform:5k:32     10      9.75          21.5   5000        -       0      60.2     3 %     12.5   30.0
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
    let page = to_html("Filters <&> \"gaps\"", &provenance(), &outcomes());
    assert_eq!(problem(&page), None);
    assert!(page.contains("Filters &lt;&amp;&gt; &quot;gaps&quot;"));
    for loader in ["http", "src=", "href=", "@import", "url(", "fetch("] {
        assert!(!page.contains(loader), "the page mentions {loader}");
    }
    assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
}

#[test]
fn the_page_says_how_and_where_it_was_made() {
    let page = to_html("t", &provenance(), &outcomes());
    for fact in
        ["--keys &quot;a&lt;b&quot;", "1.2.3 (commit abc)", "2026-11-25", "Fast CPU, 2 threads, Linux"]
    {
        assert!(page.contains(fact), "{fact} is not in {page}");
    }
    assert!(page.contains("1,000 keys, 5,000 queries, 5,000 of them empty; seed 7"), "{page}");
}

#[test]
fn workloads_have_sections_of_their_own() {
    let mut rows = rows();
    rows[3].queries = "points:5k".to_owned();
    let page = to_html("t", &provenance(), &measured(rows));
    assert_eq!(problem(&page), None);
    assert_eq!(page.matches("<section>").count(), 2);
    // Rate against time and against size, and five values; a section without a rate has the four others.
    assert_eq!(page.matches("<figure ").count(), 7 + 4);
}

#[test]
fn empty_reports_are_drawn() {
    assert_eq!(problem(&to_html("nothing", &provenance(), &[])), None);
}

#[test]
fn a_rate_of_zero_is_drawn_as_its_bound() {
    let page = to_html("t", &provenance(), &measured(vec![row("surf", 14.0, Some(0.0))]));
    // Three in 5,000 empty queries.
    assert!(page.contains("&lt; 6.00e-4"), "{page}");
    assert_eq!(page.matches("class=\"mark bound\"").count(), 2, "among the rates, and against time: {page}");
    let page = to_html("t", &provenance(), &measured(vec![row("surf", 14.0, Some(0.1))]));
    assert!(!page.contains("class=\"mark bound\""), "{page}");
}

#[test]
fn filters_that_do_not_fit_are_rows() {
    let page = to_html("t", &provenance(), &outcomes());
    let line = page.lines().find(|line| line.contains("data-spec=\"surf\"")).expect("a row");
    assert!(line.contains("does not fit: needs 35.06 bits per key"), "{line}");
}

#[test]
fn times_are_drawn_with_the_middle_half_of_their_rounds() {
    let page = to_html("t", &provenance(), &measured(vec![row("surf", 14.0, Some(0.1))]));
    assert_eq!(page.matches("class=\"whisker\"").count(), 3, "one query, in a batch, and build: {page}");
    let figure = page.split("data-field=\"ns_per_query\"").nth(1).expect("a figure");
    assert!(figure.contains("surf: middle half of the rounds 60.0 to 62.0"), "{figure}");
    let whisker = figure.split("class=\"whisker\"").nth(1).expect("it is drawn");
    let (from, to) = (numbers(whisker, "x1=\"")[0], numbers(whisker, "x2=\"")[0]);
    let dot = numbers(whisker, "cx=\"")[0];
    assert!(from < dot && dot < to, "{from} to {to} around {dot}");
    assert!(page.contains("<td data-value=\"0.0331"), "the share of the spread stands in the table: {page}");
}

#[test]
fn values_are_sorted_and_written() {
    let rows = [0.4, 0.002, 0.03].iter().enumerate();
    let rows = rows.map(|(place, rate)| row(&format!("bloom:k={}", place + 1), 14.0, Some(*rate))).collect();
    let page = to_html("t", &provenance(), &measured(rows));
    let rates = page.split("data-field=\"fpr\"").nth(1).expect("a figure").split("</figure>").next();
    let places =
        ["0.0020", "0.0300", "0.4000"].map(|shown| rates.and_then(|text| text.find(&format!(">{shown}<"))));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}: {rates:?}");
}

#[test]
fn a_filter_that_others_beat_does_not_lead() {
    let mut slow = row("slow", 14.0, Some(0.1));
    slow.ns_per_query = 90.0;
    let mut tiny = row("tiny", 14.0, Some(0.9));
    tiny.bits_per_key = 1.0;
    let page = to_html("t", &provenance(), &measured(vec![slow, tiny, row("best", 14.0, Some(0.01))]));
    for (spec, class) in [("slow", ""), ("tiny", "lead"), ("best", "lead")] {
        assert!(page.contains(&format!("<tr class=\"{class}\" data-spec=\"{spec}\">")), "{spec}: {page}");
    }
}

#[test]
fn marks_stay_inside_their_picture() {
    let rows = (1..60).map(|bits| row("falling", f64::from(bits), Some(10_f64.powi(-bits / 4)))).collect();
    let page = to_html("t", &provenance(), &measured(rows));
    let mut count = 0;
    for picture in page.split("<svg ").skip(1) {
        let size: Vec<f64> = numbers(picture, "viewBox=\"");
        for mark in picture.split("<circle ").skip(1) {
            let (x, y) = (numbers(mark, "cx=\"")[0], numbers(mark, "cy=\"")[0]);
            assert!((4.0..=size[2] - 4.0).contains(&x) && (4.0..=size[3] - 4.0).contains(&y), "{mark}");
            count += 1;
        }
    }
    assert_eq!(count, 59 * (5 + 2 * 2), "a mark in each picture, and its reach in two");
}

/// The numbers of an attribute.
fn numbers(text: &str, attribute: &str) -> Vec<f64> {
    let value = text.split(attribute).nth(1).and_then(|rest| rest.split('"').next()).expect("it is there");
    value.split(' ').map(|number| number.parse().expect("a number")).collect()
}

#[test]
fn same_rows_write_the_same_files() {
    let dir = std::env::temp_dir().join(format!("lacuna-bench-report-{}", std::process::id()));
    let read = |paths: &[std::path::PathBuf]| -> Vec<String> {
        paths.iter().map(|path| std::fs::read_to_string(path).expect("just written")).collect()
    };
    let first = read(&write_report(&dir, "t", &provenance(), &outcomes()).expect("a writable folder"));
    let again = read(&write_report(&dir, "t", &provenance(), &outcomes()).expect("a writable folder"));
    std::fs::remove_dir_all(&dir).expect("the folder is ours");
    assert_eq!(first.len(), 3);
    assert_eq!(first, again);
}

#[test]
fn unwritable_folders_are_named() {
    let error = write_report(std::path::Path::new("/dev/null/report"), "t", &provenance(), &outcomes())
        .expect_err("no folder");
    assert!(error.to_string().contains("/dev/null/report"), "{error}");
}
