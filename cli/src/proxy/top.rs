//! What a proxy does now, as a table: from its `/status.json`.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, stdout};
use std::time::{Duration, Instant};

use lacuna_base::Error;
use serde_json::Value;
use tokio::time::timeout;

use crate::errors::Result;
use crate::http_get::get;
use crate::output::Output;
use crate::terminal::{Line, Screen, cut, percent, short};

/// How long a proxy may take: it looks at all its entries.
const PATIENCE: Duration = Duration::from_secs(10);
/// Lines of each table, so that all fit a small terminal.
const MAX_COLUMNS: usize = 5;
const MAX_RANGES: usize = 8;

type Look = std::result::Result<Value, String>;

/// Draws every `interval` on a terminal, and prints once elsewhere.
pub(crate) fn run(url: &str, interval: Duration) -> Result<()> {
    let address = url.strip_prefix("http://").unwrap_or(url).trim_end_matches('/');
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::unavailable(error.to_string()))?;
    let look = || (Instant::now(), runtime.block_on(look(address)));
    let (mut when, mut before) = look();
    if !stdout().is_terminal() {
        return print(&before.map_err(|why| Error::unavailable(format!("{address}: {why}")))?);
    }
    let screen = Screen::enter();
    screen.draw(&drawn(address, &before, &before, Duration::ZERO))?;
    loop {
        std::thread::sleep(interval.saturating_sub(when.elapsed()));
        let (now, data) = look();
        screen.draw(&drawn(address, &before, &data, now - when))?;
        (when, before) = (now, data);
    }
}

async fn look(address: &str) -> Look {
    let text = timeout(PATIENCE, get(address, "/status.json"))
        .await
        .map_err(|_| "no answer in time".to_owned())??;
    let data: Value = serde_json::from_str(&text).map_err(|_| "no proxy answers there".to_owned())?;
    if data["mode"].is_string() { Ok(data) } else { Err("no proxy answers there".to_owned()) }
}

fn print(data: &Value) -> Result<()> {
    let mut output = Output::new();
    for line in lines(data, data, Duration::ZERO) {
        output.line(line.text.trim_end())?;
    }
    output.finish()
}

fn drawn(address: &str, before: &Look, now: &Look, elapsed: Duration) -> Vec<Line> {
    match now {
        Ok(now) => lines(before.as_ref().unwrap_or(now), now, elapsed),
        Err(why) => vec![
            Line::new("lacuna proxy top", true),
            Line::new(&format!("{address} is silent: {why}"), false),
        ],
    }
}

/// The table; rates are those since the look before.
fn lines(before: &Value, now: &Value, elapsed: Duration) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut add = |text: String, is_title| lines.push(Line::new(&text, is_title));
    let cache = &now["cache"];
    let (mode, up, open) = (text(&now["mode"]), number(&now["uptime"]), number(&now["sessions"]["open"]));
    add(format!("lacuna proxy top   cache {mode}, up {}   {open} sessions", seconds(up)), true);
    if cache.is_null() {
        add("it relays; there is no cache".to_owned(), false);
        return lines;
    }
    if let Some(why) = cache["closed"].as_str() {
        add(format!("nothing is shown: {why}"), false);
    }
    add(reads(&before["cache"], cache, elapsed), false);
    add(memory(cache), false);
    if let Some(line) = shadow(&cache["shadow"]) {
        add(line, false);
    }
    add(String::new(), false);
    add(format!("{:<44}{:>12}{:>12}{:>12}", "column", "entries", "KiB", "asked for"), true);
    for column in list(&cache["columns"]).iter().take(MAX_COLUMNS) {
        let [entries, bytes, hits] = ["entries", "bytes", "hits"].map(|name| number(&column[name]));
        let name = cut(text(&column["column"]), 43);
        add(
            format!("{name:<44}{:>12}{:>12}{:>12}", short(entries), short(bytes / 1_024.0), short(hits)),
            false,
        );
    }
    add(String::new(), false);
    add(format!("{:<32}{:<24}{:>12}{:>12}", "hottest ranges", "interval", "asked for", "took"), true);
    list(&cache["hottest"]).iter().take(MAX_RANGES).for_each(|hot| add(range(hot), false));
    lines
}

fn reads(before: &Value, now: &Value, elapsed: Duration) -> String {
    let name = if now["shadow"].is_null() { "hits" } else { "would-be hits" };
    let hits = |cache: &Value| match &cache["shadow"] {
        Value::Null => number(&cache["hits"]),
        shadow => number(&shadow["would_be_hits"]),
    };
    let all = |cache: &Value| hits(cache) + number(&cache["misses"]);
    let share = (all(now) > 0.0).then(|| hits(now) / all(now));
    let mut line =
        format!("{} of {} reads are {name}: {}", short(hits(now)), short(all(now)), percent(share));
    // A proxy that was started anew counts from 0.
    let more = all(now) - all(before);
    if more > 0.0 && !elapsed.is_zero() {
        let share = percent(Some((hits(now) - hits(before)) / more));
        let _ = write!(line, "; now {} reads/s, {share}", short(more / elapsed.as_secs_f64()));
    }
    line
}

fn memory(cache: &Value) -> String {
    let of = |name: &str| number(&cache[name]);
    format!(
        "{} entries, {:.1} of {:.0} MiB; {} writes dropped {}; saved {} of the server",
        short(of("entries")),
        of("bytes") / f64::from(1 << 20),
        of("max_bytes") / f64::from(1 << 20),
        short(of("writes")),
        short(of("dropped")),
        seconds(of("saved_time")),
    )
}

fn shadow(shadow: &Value) -> Option<String> {
    let of = |name: &str| short(number(&shadow[name]));
    let is_there = !shadow.is_null();
    is_there.then(|| {
        format!("{} equal, {} different, {} not compared", of("equal"), of("different"), of("not_compared"))
    })
}

fn range(hot: &Value) -> String {
    let (low, high) = (text(&hot["low"]), text(&hot["high"]));
    let interval = if low == high { low.to_owned() } else { format!("{low} to {high}") };
    format!(
        "{:<32}{:<24}{:>12}{:>12}",
        cut(text(&hot["column"]), 31),
        cut(&interval, 23),
        short(number(&hot["hits"])),
        seconds(number(&hot["took"])),
    )
}

fn seconds(time: f64) -> String {
    match time {
        90.0.. => format!("{:.1} min", time / 60.0),
        1.0.. => format!("{time:.1} s"),
        0.001.. => format!("{:.1} ms", 1e3 * time),
        _ => format!("{:.0} us", 1e6 * time),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::terminal::WIDTH;

    fn data(hits: u64, misses: u64) -> Value {
        let hot = json!({ "column": "s.".repeat(40), "low": "\u{1b}[2J", "high": "z".repeat(90), "hits": 7, "took": 0.002 });
        let column =
            json!({ "column": "c".repeat(99), "entries": u64::MAX, "bytes": u64::MAX, "hits": u64::MAX });
        json!({
            "mode": "shadow", "uptime": 1e9, "sessions": { "open": 3 },
            "cache": {
                "closed": "x".repeat(200), "hits": hits, "misses": misses, "entries": u64::MAX, "bytes": u64::MAX,
                "max_bytes": u64::MAX, "writes": u64::MAX, "dropped": u64::MAX, "saved_time": 1e12,
                "shadow": { "would_be_hits": hits, "equal": hits, "different": 0, "not_compared": 0 },
                "columns": vec![column; 30], "hottest": vec![hot; 30],
            },
        })
    }

    #[test]
    fn a_table_fits_a_small_terminal_whatever_it_shows() {
        let lines = lines(&data(0, 0), &data(9, 1), Duration::from_secs(2));
        for line in &lines {
            assert!(line.text.chars().count() <= WIDTH && !line.text.contains('\u{1b}'), "{}", line.text);
        }
        assert!(lines.len() <= 23, "and a line for the cursor: {}", lines.len());
        assert!(
            lines
                .iter()
                .any(|line| line.text == "9 of 10 reads are would-be hits: 90.0%; now 5 reads/s, 90.0%")
        );
    }

    #[test]
    fn a_proxy_that_begins_anew_or_is_silent_makes_no_nonsense() {
        let text = |lines: &[Line]| lines.iter().map(|line| line.text.clone()).collect::<Vec<_>>().join("\n");
        let anew = text(&lines(&data(900, 100), &data(3, 1), Duration::from_secs(2)));
        assert!(anew.contains("75.0%\n") && !anew.contains("now"), "{anew}");
        let silent =
            drawn("a:1", &Ok(data(1, 1)), &Err("connection refused".to_owned()), Duration::from_secs(2));
        assert!(text(&silent).contains("a:1 is silent: connection refused"));
        let relay = lines(&json!({ "mode": "off" }), &json!({ "mode": "off" }), Duration::ZERO);
        assert!(text(&relay).contains("there is no cache"));
    }
}
