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

/// The same of a few filters and one kind of queries.
const SMALL_REPORT: &str = "bench filters --filters bloom,grafite,bucketing --keys uniform:2k --queries uniform:500:32 \
                            --bits-per-key 16,20 --quick --report report";

/// Names that distributions give the browser.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The first of [`BROWSERS`] that is there.
pub(crate) fn browser() -> Option<&'static str> {
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
    show_url(browser, folder, &format!("file://{}", folder.path("report/report.html").display()), args)
}

/// The same over a page.
pub(crate) fn show_url(browser: &str, folder: &Folder, url: &str, args: &[&str]) -> Output {
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
            .arg(url)
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

/// Spec, budget and value of every mark of a figure.
fn points(figure: &str) -> Vec<(String, f64, f64)> {
    let tags =
        figure.split("<g class=\"point").skip(1).map(|rest| rest.split('>').next().unwrap_or_default());
    let number = |tag: &str, name: &str| attribute(tag, name).parse::<f64>().expect("a number");
    tags.map(|tag| {
        (attribute(tag, "data-spec").to_owned(), number(tag, "data-bits"), number(tag, "data-value"))
    })
    .collect()
}

/// The rows of `rows.jsonl`.
fn rows(folder: &Folder) -> Vec<Value> {
    let text = fs::read_to_string(folder.path("report/rows.jsonl")).expect("it was written");
    text.lines().map(|line| serde_json::from_str(line).expect("one row a line")).collect()
}

/// Width, height and bytes of a picture.
pub(crate) fn png(path: &Path) -> (u32, u32, Vec<u8>) {
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
    let sections: Vec<&str> = page.split("<section>").skip(1).collect();
    assert_eq!(sections.len(), 2);
    for (place, section) in sections.iter().enumerate() {
        let queries = &rows[if place == 0 { 0 } else { rows.len() - 1 }]["queries"];
        for field in ["fpr", "bits_per_key", "ns_per_query", "ns_per_query_batched", "build_ns_per_key"] {
            let figure = section.split(&format!("<figure data-field=\"{field}\">")).nth(1).expect("a figure");
            let mut shown = points(figure.split("</figure>").next().unwrap_or_default());
            let mut measured = measured(&rows, queries, field);
            let order = |left: &(String, f64, f64), right: &(String, f64, f64)| {
                left.0.cmp(&right.0).then(left.1.total_cmp(&right.1))
            };
            shown.sort_by(order);
            measured.sort_by(order);
            // A reader of JSON may miss the last digit of a long number.
            let same = |(left, right): (&(String, f64, f64), &(String, f64, f64))| {
                (&left.0, left.1) == (&right.0, right.1) && (left.2 - right.2).abs() <= 1e-12 * right.2.abs()
            };
            let is_same = shown.len() == measured.len() && shown.iter().zip(&measured).all(same);
            assert!(is_same, "{field} of {queries}: {shown:?} beside {measured:?}");
        }
    }
    for row in &rows {
        let spec = row["spec"].as_str().expect("a text");
        let size = format!(">{:.2}</td>", row["bits_per_key"].as_f64().expect("a number"));
        let line = |line: &str| line.contains(&format!("data-spec=\"{spec}\"")) && line.contains(&size);
        assert!(page.split("<tr ").any(line), "{spec} with {size} is not in the table");
    }
}

/// Spec, budget and `field` of each row about `queries`.
fn measured(rows: &[Value], queries: &Value, field: &str) -> Vec<(String, f64, f64)> {
    let number = |row: &Value, name: &str| row[name].as_f64().expect("a number");
    let about = rows.iter().filter(|row| row["queries"] == *queries);
    let spec = |row: &Value| row["spec"].as_str().expect("a text").to_owned();
    about.map(|row| (spec(row), number(row, "bits_per_key_asked"), number(row, field))).collect()
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

/// Places of the pointer that a test asks about: the middle of each mark of the first picture.
const MIDDLES: &str = "[...document.querySelector('svg').querySelectorAll('.point .reach')].map(circle => {
    const box = circle.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
})";
/// The values that can be seen, each with what its mark stands for.
const SHOWN: &str = "[...document.querySelectorAll('.point')]
    .filter(point => point.querySelector('.tip'))
    .filter(point => getComputedStyle(point.querySelector('.tip')).visibility == 'visible')
    .map(point => [point.querySelector('.tip').textContent, point.dataset.spec, point.dataset.bits])";

/// The report of a few filters, opened.
fn opened(browser: &str) -> (Folder, Page) {
    let folder = Folder::new();
    folder.lacuna(SMALL_REPORT).done();
    let url = format!("file://{}", folder.path("report/report.html").display());
    let page = Page::open(browser, &folder.path("profile"), &url);
    (folder, page)
}

#[test]
fn a_mark_that_is_looked_at_shows_its_values() {
    let Some(browser) = browser() else { return };
    let (_folder, mut page) = opened(browser);
    let nothing = |shown: &Value| *shown == json!([]);
    let is_whole = |shown: &Value| {
        let [text, spec, bits] = [0, 1, 2].map(|field| shown[0][field].as_str().unwrap_or_default());
        let named = !spec.is_empty() && text.contains(spec) && text.contains(&format!("@{bits}"));
        shown.as_array().map(Vec::len) == Some(1) && named
    };
    page.wait_for(SHOWN, nothing);
    let middles = page.wait_for(MIDDLES, Value::is_array);
    let middles = middles.as_array().expect("a list");
    assert_eq!(middles.len(), 3 * 2, "three filters at two budgets");
    let place = |middle: &Value, side: usize| middle[side].as_f64().expect("a number");
    for middle in middles {
        page.point_at((place(middle, 0), place(middle, 1)), SHOWN, is_whole);
    }
    page.point_at((1.0, 1.0), SHOWN, nothing);
    // By keyboard: the first mark is the first thing that Tab reaches.
    page.press("Tab");
    page.wait_for(SHOWN, is_whole);
    // With a finger: the filter that is touched stands out in all pictures, until Escape.
    page.tap((place(&middles[5], 0), place(&middles[5], 1)));
    page.wait_for(
        "[...new Set([...document.querySelectorAll('.picked')].map(shown => shown.dataset.spec))].length",
        |n| *n == 1,
    );
    page.wait_for("document.querySelectorAll('figure:has(.picked)').length", |n| *n == 7);
    page.press("Escape");
    page.wait_for("document.querySelectorAll('.picked').length", |n| *n == 0);
    assert_eq!(page.complaints(), &[] as &[Value]);
}

/// Values of a column from top to bottom, and which way the heading says that they are sorted.
const COLUMN: &str = "(() => {
    const headings = [...document.querySelectorAll('thead th')];
    const column = headings.findIndex(heading => heading.textContent == 'ns/query');
    const rows = [...document.querySelector('tbody').rows];
    return [headings[column].ariaSort, rows.map(row => Number(row.cells[column].dataset.value))];
})()";
const FOCUS: &str = "[...document.querySelectorAll('thead button')].find(button => button.textContent == 'ns/query').focus() ?? 1";

#[test]
fn the_table_is_sorted_by_keyboard() {
    let Some(browser) = browser() else { return };
    let (_folder, mut page) = opened(browser);
    page.wait_for(FOCUS, |done| *done == 1);
    for (way, sign) in [("ascending", 1.0), ("descending", -1.0)] {
        page.press("Enter");
        page.wait_for(COLUMN, |column| {
            let values: Vec<f64> = column[1]
                .as_array()
                .expect("a list")
                .iter()
                .filter_map(Value::as_f64)
                .map(|ns| sign * ns)
                .collect();
            column[0] == way && values.len() == 3 * 2 && values.is_sorted()
        });
    }
    assert_eq!(page.complaints(), &[] as &[Value]);
}

/// Texts and marks whose contrast with the page is too low, and texts that stand out of their picture or are too small.
pub(crate) const ILLEGIBLE: &str = r"(() => {
    const channels = colour => colour.match(/[\d.]+/g).map(Number);
    const luminance = colour => channels(colour).slice(0, 3)
        .map(part => part / 255)
        .map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
    const page = luminance(getComputedStyle(document.body).backgroundColor);
    const contrast = colour => {
        const own = luminance(colour);
        return (Math.max(own, page) + 0.05) / (Math.min(own, page) + 0.05);
    };
    const bad = [];
    for (const element of document.querySelectorAll('main *')) {
        const style = getComputedStyle(element);
        const ownText = [...element.childNodes].some(node => node.nodeType == 3 && node.data.trim());
        const isDrawn = element.closest('svg');
        if (element.matches('.mark')) {
            const colour = element.matches('.bound') ? style.stroke : style.fill;
            if (contrast(colour) < 3) bad.push(['mark', contrast(colour)]);
        } else if (ownText && element.tagName != 'title') {
            const colour = isDrawn ? style.fill : style.color;
            if (contrast(colour) < 4.5) bad.push([element.textContent, contrast(colour)]);
        }
        if (isDrawn && element.tagName == 'text') {
            const [text, frame] = [element.getBoundingClientRect(), isDrawn.getBoundingClientRect()];
            if (text.left < frame.left - 1 || text.right > frame.right + 1 || text.bottom > frame.bottom + 1)
                bad.push([element.textContent, 'stands out', text.left - frame.left, frame.right - text.right]);
            if (parseFloat(style.fontSize) * frame.width / isDrawn.viewBox.baseVal.width < 11)
                bad.push([element.textContent, 'is too small']);
        }
    }
    return bad;
})()";
/// Pairs of texts of one picture that lie on each other; the values of marks stand in one place, one at a time.
const OVERLAPPING: &str = "[...document.querySelectorAll('svg')].flatMap(svg => {
    const texts = [...svg.querySelectorAll('text:not(.tip)')].map(text => [text.textContent, text.getBoundingClientRect()]);
    return texts.flatMap(([one, a], place) => texts.slice(place + 1)
        .filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 4 && b.top < a.bottom - 4)
        .map(([other]) => [one, other]));
})";
pub(crate) const SIDEWAYS: &str =
    "document.documentElement.scrollWidth - document.documentElement.clientWidth";

#[test]
fn everything_is_legible_narrow_and_wide_light_and_dark() {
    let Some(browser) = browser() else { return };
    let folder = Folder::new();
    folder.lacuna(REPORT).done();
    let url = format!("file://{}", folder.path("report/report.html").display());
    let mut page = Page::open(browser, &folder.path("profile"), &url);
    for width in [400, 1_400] {
        for scheme in ["light", "dark"] {
            page.look_like(width, scheme);
            let dark = format!("[innerWidth, matchMedia('(prefers-color-scheme: {scheme})').matches]");
            page.wait_for(&dark, |state| *state == json!([width, true]));
            for (question, wanted) in [(ILLEGIBLE, json!([])), (OVERLAPPING, json!([])), (SIDEWAYS, json!(0))]
            {
                let found = page.wait_for(question, |found| !found.is_null());
                assert_eq!(found, wanted, "{width} pixels, {scheme}");
            }
        }
    }
    assert_eq!(page.complaints(), &[] as &[Value]);
}
