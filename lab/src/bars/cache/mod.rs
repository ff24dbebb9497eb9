//! The bars of the range cache, each a ratio within one run: PASS or FAIL.

mod gaps;
mod hit;
mod scenes;

use std::fmt::Write as _;

use lacuna_base::{Error, Result};
use lacuna_bench::report::Table;
use lacuna_testkit::servers::Redis;

use crate::cache_bench::run::{Bench, runtime};
use crate::cache_bench::setup::Length;

pub(crate) use scenes::{MANY_CLIENTS, bandwidth};

/// What a number must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Limit {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
    /// Less than this.
    Below(f64),
}

/// A bar.
#[derive(Debug, Clone)]
pub(crate) struct Bar {
    name: String,
    /// What was measured, in words.
    value: String,
    number: f64,
    limit: Limit,
}

/// How to measure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// How long each run is.
    pub(crate) length: Length,
    /// Records of each run.
    pub(crate) records: u64,
    /// Requests of a round of the hit bar.
    pub(crate) requests: usize,
    /// Seed of all.
    pub(crate) seed: u64,
}

/// A group of bars that are measured together.
pub(crate) type Group = fn(&mut Bench, &Effort, &mut dyn FnMut(String)) -> Result<Vec<Bar>>;

/// Every group by name.
pub(crate) const GROUPS: [(&str, Group); 6] = [
    ("hit", hit),
    ("delay", scenes::delay),
    ("beta", scenes::beta),
    ("copies", scenes::copies),
    ("servers", scenes::servers),
    ("gaps", gaps::gaps),
];

impl Bar {
    fn new(name: impl Into<String>, value: impl Into<String>, number: f64, limit: Limit) -> Self {
        Self { name: name.into(), value: value.into(), number, limit }
    }

    /// Whether it is met.
    pub(crate) fn passes(&self) -> bool {
        match self.limit {
            Limit::AtMost(max) => self.number <= max,
            Limit::AtLeast(min) => self.number >= min,
            Limit::Below(bound) => self.number < bound,
        }
    }

    fn limit(&self) -> String {
        match self.limit {
            Limit::AtMost(max) => format!("at most {max}"),
            Limit::AtLeast(min) => format!("at least {min}"),
            Limit::Below(bound) => format!("below {bound}"),
        }
    }

    fn cells(&self) -> [String; 5] {
        let verdict = if self.passes() { "PASS" } else { "FAIL" };
        [
            self.name.clone(),
            self.value.clone(),
            format!("{:.2}", self.number),
            self.limit(),
            verdict.to_owned(),
        ]
    }
}

const HEADER: [&str; 5] = ["bar", "value", "number", "limit", "verdict"];

/// Bars for a terminal.
pub(crate) fn to_table(bars: &[Bar]) -> String {
    let mut table = Table::new(HEADER);
    bars.iter().for_each(|bar| table.push(bar.cells()));
    table.to_string()
}

/// Bars as a page.
pub(crate) fn to_page(bars: &[Bar], command: &str, machine: &str) -> String {
    let mut page = format!(
        "# Bars of the range cache\n\n`{command}` on {machine}. Each number is a ratio within one run; servers and clients \
         share the machine. What each run is stands in `lab/src/bars/cache/`.\n\n| {} |\n| --- | --- | ---: | --- | --- |\n",
        HEADER.join(" | ")
    );
    for bar in bars {
        let _ = writeln!(page, "| {} |", bar.cells().join(" | "));
    }
    page
}

/// A hit beside a bare `GET`.
fn hit(_: &mut Bench, effort: &Effort, say: &mut dyn FnMut(String)) -> Result<Vec<Bar>> {
    say("hits beside bare GETs".to_owned());
    let server = Redis::cache().ok_or_else(|| Error::unavailable("redis-server is not installed"))?;
    let hits = runtime()?.block_on(hit::measure(&server, effort.requests))?;
    let micros = |time: std::time::Duration| time.as_secs_f64() * 1e6 / effort.requests as f64;
    let value =
        format!("{:.1} us a hit, {:.1} us a GET of the same 5,000 bytes", micros(hits.hit), micros(hits.get));
    Ok(vec![
        Bar::new("a hit beside a bare GET, 16 under way", value, hits.ratio, Limit::AtMost(1.3)),
        Bar::new(
            "round trips of a warm read",
            format!("{:.3}, {} reads were no hits", hits.trips, hits.misses),
            hits.trips,
            // One, but for reads that an overloaded machine did not let end in time.
            Limit::AtMost(1.001),
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_say_whether_a_bar_is_met() {
        let bar = |number, limit| Bar::new("a", "b", number, limit).passes();
        assert!(bar(1.3, Limit::AtMost(1.3)) && !bar(1.31, Limit::AtMost(1.3)));
        assert!(bar(50.0, Limit::AtLeast(50.0)) && !bar(49.9, Limit::AtLeast(50.0)));
        assert!(!bar(1.0, Limit::Below(1.0)) && !bar(f64::NAN, Limit::AtLeast(1.0)));
    }
}
