//! The report as a browser shows it: what Chromium reads out of the page is what was measured.
//!
//! Without Chromium these tests pass and say so, unless `LACUNA_REQUIRE=all` is set, as `make test` does.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::devtools::Page;
use crate::support::Folder;

const REPORT: &str = "bench filters --filters all --keys uniform:2k --queries uniform:500:32,correlated:500:32:64 \
                      --bits-per-key 16,20 --quick --report report";

/// Names that distributions give the browser.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The first of [`BROWSERS`] that is there.
fn browser() -> Option<&'static str> {
    let found = BROWSERS.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok());
    let required = std::env::var("LACUNA_REQUIRE").is_ok_and(|required| required == "all");
    assert!(found.is_some() || !required, "LACUNA_REQUIRE=all, and there is none of {BROWSERS:?}");
    if found.is_none() {
        eprintln!("not tested: there is none of {BROWSERS:?}");
    }
    found
}

/// Runs the browser without a window over the report in `folder`.
fn show(browser: &str, folder: &Folder, args: &[&str]) -> Output {
    let page = folder.path("report/report.html");
    let always =
        ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1360,1800"];
    // A profile of its own each time: processes of the last browser may not have let go of theirs. One that gives up on a
    // machine that is out of breath is started again.
    for round in 0.. {
        let profile = folder
            .path(&format!("profile{round}{}", args.concat().replace(|c: char| !c.is_alphanumeric(), "")));
        let output = Command::new(browser)
            .args(always)
            .arg(format!("--user-data-dir={}", profile.display()))
            .args(args)
            .arg(format!("file://{}", page.display()))
            .env("HOME", folder.root())
            .output();
        let output = output.expect("the browser starts");
        if output.status.success() {
            return output;
        }
        assert!(round < 2, "{}", String::from_utf8_lossy(&output.stderr));
    }
    unreachable!("the third failure is the last")
}

/// The value of an attribute in a tag.
fn attribute<'a>(tag: &'a str, name: &str) -> &'a str {
    let rest = tag.split(&format!(" {name}=\"")).nth(1).unwrap_or_else(|| panic!("no {name} in {tag}"));
    rest.split('"').next().expect("splitting gives a part")
}

/// Series, x and y of every point between two places of a page.
fn points(svg: &str) -> Vec<(String, f64, f64)> {
    let tags = svg.split("<g class=\"point\"").skip(1).map(|rest| rest.split('>').next().unwrap_or_default());
    let number = |tag: &str, name: &str| attribute(tag, name).parse::<f64>().expect("a number");
    tags.map(|tag| (attribute(tag, "data-series").to_owned(), number(tag, "data-x"), number(tag, "data-y")))
        .collect()
}

/// The rows of `rows.jsonl`.
fn rows(folder: &Folder) -> Vec<Value> {
    let text = fs::read_to_string(folder.path("report/rows.jsonl")).expect("it was written");
    text.lines().map(|line| serde_json::from_str(line).expect("one row a line")).collect()
}

/// Width, height and bytes of a picture.
fn png(path: &Path) -> (u32, u32, Vec<u8>) {
    let bytes = fs::read(path).expect("the browser wrote it");
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    let side = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    (side(16), side(20), bytes)
}

#[test]
fn a_browser_reads_what_was_measured() {
    let Some(browser) = browser() else { return };
    let folder = Folder::new();
    folder.lacuna(REPORT).done();
    let rows = rows(&folder);
    assert_eq!(
        rows.len(),
        2 * 2 * lacuna_families::FAMILIES.len(),
        "all families, two budgets, two kinds of queries"
    );

    let page = String::from_utf8(show(browser, &folder, &["--dump-dom"]).stdout).expect("a page is text");
    let charts: Vec<&str> = page.split("<svg ").skip(1).collect();
    let fields = ["fpr", "ns_per_query", "ns_per_query_batched", "build_ns_per_key"];
    assert_eq!(charts.len(), 2 * fields.len());
    for (place, (chart, field)) in charts.iter().zip(fields.iter().cycle()).enumerate() {
        let queries = &rows[if place < fields.len() { 0 } else { rows.len() - 1 }]["queries"];
        let mut shown = points(chart.split("</svg>").next().unwrap_or_default());
        let mut measured: Vec<(String, f64, f64)> = rows
            .iter()
            .filter(|row| row["queries"] == *queries)
            .map(|row| {
                let number = |name: &str| row[name].as_f64().expect("a number");
                (
                    row["spec"].as_str().expect("a text").to_owned(),
                    number("bits_per_key_asked"),
                    number(field),
                )
            })
            .collect();
        let order = |left: &(String, f64, f64), right: &(String, f64, f64)| {
            left.0.cmp(&right.0).then(left.1.total_cmp(&right.1))
        };
        shown.sort_by(order);
        measured.sort_by(order);
        assert_eq!(shown, measured, "{field} of {queries}");
    }
    for row in &rows {
        let spec = row["spec"].as_str().expect("a text");
        let size = format!("<td>{:.2}</td>", row["bits_per_key"].as_f64().expect("a number"));
        let line = |line: &&str| line.starts_with(&format!("<tr><td>{spec}</td>")) && line.contains(&size);
        assert!(page.lines().any(|text| line(&text)), "{spec} with {size} is not in the table");
    }
}

#[test]
fn a_browser_draws_light_and_dark() {
    let Some(browser) = browser() else { return };
    let folder = Folder::new();
    folder.lacuna(REPORT).done();
    let mut pictures = Vec::new();
    for scheme in [1, 0] {
        let place = folder.path(&format!("{scheme}.png"));
        let shot = format!("--screenshot={}", place.display());
        show(browser, &folder, &[&shot, &format!("--blink-settings=preferredColorScheme={scheme}")]);
        let (width, height, bytes) = png(&place);
        assert_eq!((width, height), (1360, 1800));
        assert!(bytes.len() > 60_000, "{} bytes: an empty page has a few thousand", bytes.len());
        if let Some(keep) = std::env::var_os("LACUNA_SCREENSHOTS") {
            fs::copy(&place, Path::new(&keep).join(format!("{scheme}.png"))).expect("the folder takes files");
        }
        pictures.push(bytes);
    }
    assert_ne!(pictures[0], pictures[1], "dark is not light");
}

/// Places of the pointer that a test asks about: the middle of each circle of the first chart.
const MIDDLES: &str =
    "[...document.querySelector('svg').querySelectorAll('.point circle:last-of-type')].map(circle => {
    const box = circle.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
})";
/// The texts that can be seen, each with what its point stands for.
const SHOWN: &str = "[...document.querySelectorAll('.point')]
    .filter(point => getComputedStyle(point.querySelector('.tip')).visibility == 'visible')
    .map(point => [point.querySelector('.tip').textContent, point.dataset.series, point.dataset.x])";

#[test]
fn a_pointer_over_a_circle_shows_its_values() {
    let Some(browser) = browser() else { return };
    let folder = Folder::new();
    folder.lacuna(REPORT).done();
    let url = format!("file://{}", folder.path("report/report.html").display());
    let mut page = Page::open(browser, &folder.path("profile"), &url);
    let nothing = |shown: &Value| *shown == json!([]);
    page.wait_for(SHOWN, nothing);
    let middles = page.wait_for(MIDDLES, Value::is_array);
    let middles = middles.as_array().expect("a list");
    assert_eq!(middles.len(), 2 * lacuna_families::FAMILIES.len(), "all families at two budgets");
    for middle in middles {
        let place = |side: usize| middle[side].as_f64().expect("a number");
        page.point_at((place(0), place(1)), SHOWN, |shown| {
            let [text, series, bits] = [0, 1, 2].map(|field| shown[0][field].as_str().unwrap_or_default());
            let whole = !series.is_empty() && text.contains(series) && text.contains(bits);
            shown.as_array().map(Vec::len) == Some(1) && whole
        });
    }
    page.point_at((1.0, 1.0), SHOWN, nothing);
}
