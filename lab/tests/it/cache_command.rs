//! Each command once, small, and wrong arguments.

use std::fs;
use std::process::Output;

use assert_cmd::Command;
use lacuna_lab::CACHE_COLUMNS as COLUMNS;
use lacuna_testkit::effort;
use serde_json::Value;

/// Runs the binary; `None` where its servers are not installed and need not be.
fn lacuna(line: &str) -> Option<Output> {
    if !lacuna_testkit::servers::is_installed("redis-server") {
        return None;
    }
    let mut command = Command::new(crate::BINARY);
    Some(command.args(line.split_whitespace()).output().unwrap())
}

/// What it printed, if it ended well.
fn done(line: &str) -> Option<String> {
    let run = lacuna(line)?;
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(run.status.code() == Some(0) && said.is_empty(), "{line}: {:?} {said}", run.status);
    Some(String::from_utf8(run.stdout).unwrap())
}

const SMALL: &str = "--records 200 --operations 600 --clients 8";

fn rows(line: &str) -> Option<Vec<Value>> {
    let text = done(&format!("{line} {SMALL} --format json"))?;
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("{name} of {row}"))
}

#[test]
fn rows_as_json_have_exactly_the_fields() {
    let Some(rows) = rows("cache-bench --systems all --scans 50 --copies 3") else { return };
    assert_eq!(rows.len(), 7);
    for row in &rows {
        let mut names: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
        let mut expected = COLUMNS.to_vec();
        names.sort_unstable();
        expected.sort_unstable();
        assert_eq!(names, expected);
        assert_eq!(number(row, "scans") + number(row, "updates"), 600.0, "{row}");
        assert_eq!((&row["failures"], &row["lost_updates"]), (&0.into(), &0.into()), "{row}");
    }
    for row in
        rows.iter().filter(|row| ["around", "through", "back"].contains(&row["system"].as_str().unwrap()))
    {
        assert_eq!(row["anomalies"], 0, "{row}");
        assert!(number(row, "hit_rate") > 0.1, "{row}");
        // Writes that wait share a script.
        assert!(number(row, "cache_trips") > 0.3, "{row}");
    }
    let of = |name: &str| rows.iter().find(|row| row["system"] == name).unwrap();
    assert_eq!((number(of("store"), "store_statements"), number(of("store"), "cache_trips")), (1.0, 0.0));
    // Every other operation is an update, and at most eight share an append to each of the three.
    assert!(number(of("back"), "log_trips") > 0.18 && number(of("through"), "log_trips") == 0.0);
    // How much of it waits for the store at a moment is a matter of who is faster.
    assert!(number(of("back"), "pinned_middle") + number(of("back"), "pinned_end") > 0.0, "{}", of("back"));
    assert!(number(of("naive"), "cache_trips") > number(of("naive-lua"), "cache_trips"));
}

#[test]
fn warm_scans_need_one_round_trip_and_no_statement() {
    for servers in [0, 2] {
        let line = format!("cache-bench --systems through --scans 100 --cache-servers {servers}");
        best_of_some(&format!("{servers} cache servers"), || {
            let rows = rows(&line)?;
            let all = ["hit_rate", "cache_trips", "store_statements"].map(|name| number(&rows[0], name));
            Some((all == [1.0, 1.0, 0.0], format!("{all:?}")))
        });
    }
}

/// A server that a busy machine keeps waiting for a quarter of a second is passed over: what holds otherwise is seen in one run
/// of a few. Each says whether it was, and what it saw.
fn best_of_some(what: &str, run: impl Fn() -> Option<(bool, String)>) {
    let mut seen = Vec::new();
    for _ in 0..5 {
        let Some((is_so, saw)) = run() else { return };
        if is_so {
            return;
        }
        seen.push(saw);
    }
    panic!("{what}: {seen:#?}");
}

#[test]
fn database_servers_of_both_kinds_are_asked() {
    let line =
        "cache-bench --store mariadb,postgres-async --systems store,back --scans 50 --delay 1 --columns 1";
    let Some(rows) = rows(line) else { return };
    assert_eq!(rows.len(), 4);
    for row in &rows {
        assert_eq!((&row["anomalies"], &row["lost_updates"]), (&0.into(), &0.into()), "{row}");
        assert!(row["system"] == "back" || number(row, "scan_us") > 1_000.0, "the relay holds back: {row}");
    }
}

#[test]
fn a_store_with_little_memory_keeps_its_rows() {
    let line = "cache-bench --store mariadb --systems store,back --scans 50 --store-memory 6291456";
    let Some(rows) = rows(line) else { return };
    assert_eq!(rows.len(), 2);
    for row in &rows {
        assert_eq!((&row["anomalies"], &row["lost_updates"]), (&0.into(), &0.into()), "{row}");
        assert_eq!(number(row, "store_memory"), 6_291_456.0, "{row}");
    }
}

#[test]
fn zipfian_results_put_together_are_right() {
    let Some(rows) = rows("cache-bench --systems back --scans 60 --beta 0 --spread zipfian --rows 10 --cold")
    else {
        return;
    };
    assert_eq!((&rows[0]["anomalies"], &rows[0]["beta"]), (&0.into(), &0.into()), "{}", rows[0]);
}

#[test]
fn rows_as_csv_and_as_a_table() {
    let Some(csv) = done(&format!("cache-bench --systems store {SMALL} --format csv")) else { return };
    assert_eq!((csv.lines().next(), csv.lines().count()), (Some(COLUMNS.join(",").as_str()), 2));
    let table = done(&format!("cache-bench --systems store,around {SMALL}")).unwrap();
    assert!(table.lines().nth(2).is_some_and(|line| line.starts_with("around")), "{table}");
}

#[test]
fn wrong_arguments_end_with_two() {
    for (line, why) in [
        ("cache-bench --systems redis", "there is no system `redis`"),
        ("cache-bench --store oracle", "sqlite, mariadb"),
        ("cache-bench --delay 5", "--delay needs a database server"),
        ("cache-bench --scans 101", "101"),
        ("cache-bench --cache-servers 9", "9"),
        ("cache-bench --systems aside --cache-servers 0", "needs a cache server"),
        ("cache-bench --rows 50 --records 100 --cache-servers 4", "too few"),
        ("cache-bench --seconds 0", "measures nothing"),
        ("cache-bench --store mariadb --store-memory 1k", "at least 6291456"),
        ("cache-bench --store postgres --store-memory 1k", "at least 131072"),
        ("cache-bench --store mariadb --store-memory 1e15", "more than this machine has"),
        ("cache-bench --store-memory 64M", "--store-memory needs a database server"),
        ("cache-bench --store mariadb --store-memory 64M --data-folder /there/is/none", "is no folder"),
        ("cache-bench --data-folder .", "--store-memory"),
        ("paper rangeqc --seconds 0", "measures nothing"),
        ("paper rangeqc --runs 0", "1 to 99"),
        ("paper rangeqc --keys many", "`many` is not a count"),
        ("paper rencoder --runs 3", "--scans and --points are for rangeqc"),
        ("paper rangeqc --figure 5 --scans 10", "--scans is for --figure 1, 6 or 7"),
        ("paper rangeqc --figure 6 --scans 101", "101"),
        ("paper rangeqc --scans 10", "--figure"),
        ("cache-bench --nonsense", "--nonsense"),
        ("cache-bars --only speed", "hit, delay, beta"),
        ("paper rangeqc --figure 2", "choose one of"),
    ] {
        let Some(run) = lacuna(line) else { return };
        let said = String::from_utf8(run.stderr).unwrap();
        let is_reported = said.contains(why) && said.starts_with("lacuna: ") && said.lines().count() == 1;
        assert!(run.status.code() == Some(2) && is_reported, "{line}: {said}");
    }
}

#[test]
fn help_says_what_the_numbers_mean() {
    let text = done("cache-bench --help").unwrap_or_default();
    assert!(text.is_empty() || text.contains("anomalies") && text.contains("--beta"), "{text}");
}

#[test]
fn a_hit_is_one_round_trip() {
    best_of_some("round trips", || {
        let out = tempfile::tempdir().unwrap();
        let run = lacuna(&format!("cache-bars --only hit --quick --out {}", out.path().display()))?;
        let text = String::from_utf8(run.stdout).unwrap();
        let trips = text.lines().find(|line| line.starts_with("round trips of a warm read")).unwrap();
        // Whether a bar of speed passes is for a quiet machine to say.
        assert!(text.contains("a GET of the same 5,000 bytes"), "{text}");
        let page = fs::read_to_string(out.path().join("bars.md")).unwrap();
        assert!(page.contains("lacuna-lab cache-bars --only hit --quick"));
        let all_hit = text.contains("shared with the cache (0 reads were no hits)");
        Some((trips.contains("1.00") && all_hit, text.clone()))
    });
}

/// The bars of a group that were measured in turn. Whether one of speed passes is for a quiet machine to say.
fn bars_by_turns(group: &str) -> Option<Vec<String>> {
    let run = lacuna(&format!("cache-bars --only {group} --quick"))?;
    let (text, said) = (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap());
    let bars: Vec<String> =
        text.lines().filter(|line| line.contains(" times by turn")).map(str::to_owned).collect();
    let are_right = bars.iter().all(|bar| !bar.contains("NOT CONSISTENT") && !bar.contains("NaN"));
    assert!(are_right && !bars.is_empty(), "{text}{said}");
    Some(bars)
}

#[test]
fn systems_take_turns_beside_a_plain_redis() {
    let Some(bars) = bars_by_turns("redis") else { return };
    assert_eq!(bars.len(), 2, "{bars:?}");
    assert!(bars[0].contains("naive: ") && bars[1].contains("naive-lua: "), "{bars:?}");
}

#[test]
fn write_back_has_a_bar_in_every_scene() {
    if !effort::is_long() {
        return;
    }
    let Some(bars) = bars_by_turns("policies") else { return };
    let of = |what: &str| bars.iter().filter(|bar| bar.contains(what)).count();
    assert_eq!((bars.len(), of("MariaDB"), of("2 ms away"), of("99 % scans")), (12, 6, 6, 4), "{bars:?}");
}

/// A section that is made again does not change what stands above all of them.
#[test]
fn the_page_of_the_report_says_how_it_is_measured() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/results/rangeqc/README.md");
    let method = lacuna_lab::paper::find("rangeqc").unwrap().method;
    let has_method = fs::read_to_string(page).unwrap().contains(&format!("\n{method}\n"));
    assert!(has_method, "put the `method` of lab/src/paper/rangeqc/mod.rs above the first figure");
}

#[test]
fn figures_are_made_small() {
    let out = tempfile::tempdir().unwrap();
    let figure = |name: &str, sizes: &str| {
        let line = format!("paper rangeqc --figure {name} {sizes} --out {}", out.path().display());
        done(&line).map(|_| {
            let id = if name.starts_with("table") {
                name.replace("table", "table-")
            } else {
                format!("figure-{name}")
            };
            fs::read_to_string(out.path().join(format!("{id}.md"))).unwrap()
        })
    };
    let Some(page) = figure("table1", "--keys 200 --queries 600") else { return };
    assert!(page.contains("after over before"), "{page}");
    assert!(page.contains("it does not have yet") && page.contains("| pending |"), "{page}");
    let points = out.path().join("points.csv");
    let page =
        figure("5", &format!("--keys 100 --queries 200 --runs 2 --points {}", points.display())).unwrap();
    assert!(page.contains("0 scans were anomalies") && page.contains("synchronous_commit=off"), "{page}");
    assert!(page.contains("200 operations a point, in each of 2 runs"), "{page}");
    assert!(out.path().join("figure-5.svg").is_file());
    let data = fs::read_to_string(out.path().join("figure-5.csv")).unwrap();
    assert!(data.starts_with("panel,line,origin,x,y,low,high\n"), "{data}");
    let points = fs::read_to_string(points).unwrap();
    assert!(points.starts_with("system,store,") && points.lines().count() == 1 + 3 * 2, "{points}");
    assert!(points.lines().skip(1).all(|line| line.starts_with("back,postgres-async,")), "{points}");
}
