//! The page of a proxy as a browser shows it: what Chromium reads out of it is what the proxy has counted.

use std::collections::HashSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::browser::{ILLEGIBLE, SIDEWAYS, browser, png, show_url};
use crate::devtools::Page;
use crate::served::Served;
use crate::support::Folder;

/// Names and values with HTML in them, which must be shown and never be obeyed.
const TABLES: &str = r#"CREATE TABLE orders (id INT PRIMARY KEY, customer BIGINT, day DATE);
    INSERT INTO orders SELECT n, n % 1000, '2026-01-01'::date + n % 300 FROM generate_series(1, 3000) AS n;
    CREATE TABLE "<i>notes</i>" (title TEXT COLLATE "C"); INSERT INTO "<i>notes</i>" VALUES ('<b>bold</b>')"#;
const COLUMNS: &str = "public.orders.customer,public.orders.day,public.<i>notes</i>.title";

/// A proxy, and the statements whose replies its cache has.
struct Filled {
    served: Served,
    statements: Mutex<Vec<String>>,
}

impl Filled {
    /// Twelve entries in all columns.
    fn start(mode: &str) -> Option<Self> {
        let served = Served::start(&["--cache", mode, "--no-suggestions"], TABLES, COLUMNS)?;
        let mut statements = Vec::new();
        for low in [5, 40, 41, 42, 300, 301, 700, 950] {
            let read =
                format!("SELECT id, customer FROM orders WHERE customer BETWEEN {low} AND {}", low + 4);
            statements.extend(vec![read; 1 + usize::try_from(low % 7).unwrap()]);
        }
        for day in ["2026-02-01", "2026-02-02", "2026-09-30"] {
            statements.extend(vec![format!("SELECT count(*) FROM orders WHERE day = '{day}'"); 3]);
        }
        statements
            .extend(vec![r#"SELECT title FROM "<i>notes</i>" WHERE title = '<b>bold</b>'"#.to_owned(); 4]);
        let filled = Self { served, statements: Mutex::new(statements) };
        filled.fill();
        Some(filled)
    }

    fn fill(&self) {
        let statements = self.statements.lock().unwrap().clone();
        self.served.psql(&statements.iter().map(|statement| &statement[..]).collect::<Vec<_>>());
    }

    /// Runs a test, and fills the cache again where it has begun cold: on a machine that is very busy its lease runs out.
    fn kept<T>(&self, test: impl FnOnce(&Served) -> T) -> T {
        let is_over = AtomicBool::new(false);
        let done = thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::SeqCst) {
                    let wanted = self.statements.lock().unwrap().iter().collect::<HashSet<_>>().len() as u64;
                    if self.served.status()["cache"]["entries"].as_u64() < Some(wanted) {
                        self.fill();
                    }
                    thread::sleep(Duration::from_millis(200));
                }
            });
            let done = catch_unwind(AssertUnwindSafe(|| test(&self.served)));
            is_over.store(true, Ordering::SeqCst);
            done
        });
        done.unwrap_or_else(|why| resume_unwind(why))
    }
}

fn opened(browser: &str, served: &Served) -> (Folder, Page) {
    let folder = Folder::new();
    let page = Page::open(browser, &folder.path("profile"), &format!("http://{}/", served.monitoring));
    (folder, page)
}

/// A tile of the page by its name.
fn tile(name: &str) -> String {
    format!(
        "[...document.querySelectorAll('#tiles dt')].find(dt => dt.textContent == '{name}')?.nextSibling.textContent"
    )
}

#[test]
fn a_browser_reads_what_was_counted() {
    let Some(browser) = browser() else { return };
    let Some(filled) = Filled::start("memory") else { return };
    filled.kept(|served| {
        let (_folder, mut page) = opened(browser, served);
        page.wait_for(&tile("Entries"), |entries| *entries == "12");
        page.wait_for(&tile("Hits"), |shown| {
            let cache = &served.status()["cache"];
            let [hits, misses] = ["hits", "misses"].map(|name| cache[name].as_u64().unwrap());
            *shown == format!("{:.1} %", 100.0 * hits as f64 / (hits + misses) as f64).as_str()
        });
        page.wait_for("document.getElementById('state').textContent", |state| *state == "The cache is open.");
        let names = json!(["public.orders.customer", "public.orders.day", "public.<i>notes</i>.title"]);
        let shown = "[...document.querySelectorAll('figure')].map(figure => figure.dataset.column)";
        page.wait_for(shown, |shown| *shown == names);
        // 40 to 46 and 300 to 305 are several reads, and one interval each.
        let bars = "[...document.querySelectorAll('figure svg')].map(svg => svg.children.length)";
        page.wait_for(bars, |bars| *bars == json!([5, 2, 1]));
        page.wait_for("document.querySelector('#hottest tbody tr')?.textContent", |row| {
            let most = &served.status()["cache"]["hottest"][0];
            let parts =
                [&most["shape"], &most["low"]].map(|part| part.as_str().unwrap_or("missing").to_owned());
            parts.iter().all(|part| row.as_str().is_some_and(|row| row.contains(part)))
        });
        // What users have named is text.
        page.wait_for("document.querySelectorAll('i, main b b, td b').length", |count| *count == 0);
        let is_text = "document.querySelector('#hottest').textContent.includes(\"'<b>bold\")";
        page.wait_for(is_text, |is_text| *is_text == true);
        assert_eq!(page.complaints(), &[] as &[Value]);
    });
}

/// New data comes in place: the page is not loaded again, and what was chosen by keyboard stays chosen.
#[test]
fn the_page_follows_the_proxy() {
    let Some(browser) = browser() else { return };
    let Some(filled) = Filled::start("memory") else { return };
    let (_folder, mut page) = filled.kept(|served| {
        let (folder, mut page) = opened(browser, served);
        page.wait_for(&tile("Entries"), |entries| *entries == "12");
        page.wait_for("window.isTheSame = true", |done| *done == true);
        let said = "document.querySelector('figure output').textContent";
        page.press("Tab");
        page.press("ArrowRight");
        page.wait_for(said, |said| {
            said.as_str().is_some_and(|said| said.starts_with("5 to 9: 1 entry, asked for 5 times"))
        });
        page.press("ArrowRight");
        page.wait_for(said, |said| said.as_str().is_some_and(|said| said.starts_with("40 to 46: 3 entries")));
        page.press("End");
        page.wait_for(said, |said| said.as_str().is_some_and(|said| said.starts_with("950 to 954")));
        let mark = "document.querySelectorAll('figure')[0].querySelectorAll('.chosen').length";
        page.wait_for(mark, |count| *count == 1);
        filled
            .statements
            .lock()
            .unwrap()
            .push("SELECT id, customer FROM orders WHERE customer BETWEEN 100 AND 104".to_owned());
        filled.fill();
        page.wait_for(&tile("Entries"), |entries| *entries == "13");
        page.wait_for(said, |said| said.as_str().is_some_and(|said| said.starts_with("950 to 954")));
        page.wait_for("[window.isTheSame, document.activeElement.tagName]", |state| {
            *state == json!([true, "svg"])
        });
        page.press("Escape");
        page.wait_for(said, |said| *said == "");
        (folder, page)
    });
    let served = filled.served;
    served.psql(&["DELETE FROM orders WHERE customer = 950"]);
    page.wait_for(&tile("Dropped by writes"), |dropped| dropped.as_str().is_some_and(|text| text != "0"));
    assert_eq!(page.complaints(), &[] as &[Value]);
    // Two moves and an end: what is old says so.
    served.stop();
    page.wait_for("document.getElementById('state').textContent", |state| {
        state.as_str().is_some_and(|state| state.starts_with("The proxy does not answer"))
    });
}

#[test]
fn the_page_is_legible_narrow_and_wide_light_and_dark() {
    let Some(browser) = browser() else { return };
    for mode in ["memory", "shadow"] {
        let Some(filled) = Filled::start(mode) else { return };
        filled.kept(|served| {
            let (_folder, mut page) = opened(browser, served);
            page.wait_for(&tile("Entries"), |entries| *entries == "12");
            for width in [400, 1_400] {
                for scheme in ["light", "dark"] {
                    page.look_like(width, scheme);
                    let looks =
                        format!("[innerWidth, matchMedia('(prefers-color-scheme: {scheme})').matches]");
                    page.wait_for(&looks, |state| *state == json!([width, true]));
                    for (question, wanted) in [
                        (ILLEGIBLE, json!([])),
                        (SIDEWAYS, json!(0)),
                        (NARROW, json!([])),
                        (FAINT, json!([])),
                    ] {
                        let found = page.wait_for(question, |found| !found.is_null());
                        assert_eq!(found, wanted, "{mode}, {width} pixels, {scheme}");
                    }
                }
            }
            assert_eq!(page.complaints(), &[] as &[Value]);
        });
    }
}

/// Bars that are too narrow to be seen.
const NARROW: &str = "[...document.querySelectorAll('.mark')].map(bar => bar.getBoundingClientRect().width).filter(width => width < 1)";
/// Bars whose contrast with the ground of their own map is too low.
const FAINT: &str = r"(() => {
    const luminance = colour => colour.match(/[\d.]+/g).map(Number).slice(0, 3)
        .map(part => part / 255)
        .map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
    return [...document.querySelectorAll('.mark')].map(bar => {
        const [own, ground] = [getComputedStyle(bar).fill, getComputedStyle(bar.parentNode).backgroundColor].map(luminance);
        return (Math.max(own, ground) + 0.05) / (Math.min(own, ground) + 0.05);
    }).filter(contrast => contrast < 3);
})()";

#[test]
fn a_browser_draws_the_page_light_and_dark() {
    let Some(browser) = browser() else { return };
    let Some(filled) = Filled::start("memory") else { return };
    let folder = Folder::new();
    let mut pictures = Vec::new();
    for (scheme, width) in [(1, 1_360), (0, 1_360), (1, 500)] {
        let place = folder.path(&format!("{scheme}-{width}.png"));
        let shot = format!("--screenshot={}", place.display());
        let colours = format!("--blink-settings=preferredColorScheme={scheme}");
        let window = format!("--window-size={width},1800");
        let args = [&shot[..], &colours, &window, "--virtual-time-budget=3000"];
        let shown =
            |served: &Served| show_url(browser, &folder, &format!("http://{}/", served.monitoring), &args);
        filled.kept(shown);
        let (drawn, height, bytes) = png(&place);
        assert_eq!((drawn, height), (width, 1_800));
        assert!(bytes.len() > 40_000, "{} bytes: an empty page has a few thousand", bytes.len());
        if let Some(keep) = std::env::var_os("LACUNA_SCREENSHOTS") {
            fs::copy(&place, Path::new(&keep).join(format!("proxy-{scheme}-{width}.png"))).unwrap();
        }
        pictures.push(bytes);
    }
    assert_ne!(pictures[0], pictures[1], "dark is not light");
}

/// The page shows data of users: who may see it is decided before it is made.
#[test]
fn the_page_is_for_this_machine() {
    let columns = "public.orders.customer";
    let Some(own) = Served::start(&["--cache", "memory"], TABLES, columns) else { return };
    let ask = |host: &str, path: &str| {
        own.ask(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    };
    let own_host = own.monitoring.clone();
    for path in ["/", "/status.json"] {
        let answer = ask(&own_host, path);
        assert!(
            answer.starts_with("HTTP/1.1 200")
                && answer.contains("content-security-policy: default-src 'none'"),
            "{answer}"
        );
        let refused = ask("evil.example", path);
        assert!(refused.starts_with("HTTP/1.1 403") && !refused.contains("orders"), "{refused}");
    }
    assert!(ask("evil.example", "/metrics").starts_with("HTTP/1.1 200"));
    assert!(own.get("/else").contains("there are GET /, GET /status.json, GET /metrics"));
    drop(own);
    for (arguments, is_shown) in
        [(&["--cache", "memory"][..], false), (&["--cache", "memory", "--page"], true)]
    {
        let Some(others) = Served::start_at(arguments, TABLES, columns, "0.0.0.0:0") else { return };
        for path in ["/", "/status.json"] {
            let answer = others.get(path);
            assert!(answer.starts_with(if is_shown { "HTTP/1.0 200" } else { "HTTP/1.0 403" }), "{answer}");
        }
        assert!(others.get("/metrics").starts_with("HTTP/1.0 200"));
    }
}
