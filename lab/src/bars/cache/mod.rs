//! The bars of the range cache, each a ratio within one run: PASS or FAIL.

mod gaps;
mod hit;
mod scenes;
mod updates;

use lacuna_base::{Error, Result};
use lacuna_testkit::servers::Redis;

use crate::bars::bar::{Bar, Limit};
use crate::bars::page::markdown_table;
use crate::cache_bench::run::{Bench, runtime};
use crate::cache_bench::setup::Length;

pub(crate) use scenes::{MANY_CLIENTS, bandwidth};

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
pub(crate) const GROUPS: [(&str, Group); 7] = [
    ("hit", hit),
    ("delay", scenes::delay),
    ("beta", scenes::beta),
    ("copies", scenes::copies),
    ("servers", scenes::servers),
    ("gaps", gaps::gaps),
    ("updates", updates::updates),
];

/// Bars as a page.
pub(crate) fn to_page(bars: &[Bar], command: &str, machine: &str) -> String {
    format!(
        "# Bars of the range cache\n\n`{command}` on {machine}. Each ratio is of two things within one run; servers and clients \
         share the machine. What each run is stands in `lab/src/bars/cache/`.\n\n{}",
        markdown_table(bars)
    )
}

/// A hit beside a bare `GET`.
fn hit(_: &mut Bench, effort: &Effort, say: &mut dyn FnMut(String)) -> Result<Vec<Bar>> {
    say("hits beside bare GETs".to_owned());
    let server = Redis::cache().ok_or_else(|| Error::unavailable("redis-server is not installed"))?;
    let hits = runtime()?.block_on(hit::measure(&server, effort.requests))?;
    let micros = |time: std::time::Duration| time.as_secs_f64() * 1e6 / effort.requests as f64;
    let get = format!("{:.1} us a GET of the same 5,000 bytes", micros(hits.get));
    Ok(vec![
        Bar::number(
            "a hit, 16 under way",
            format!("{:.1} us a hit", micros(hits.hit)),
            get,
            hits.ratio,
            Limit::AtMost(1.3),
        ),
        Bar::number(
            "round trips of a warm read",
            format!("{:.3} round trips", hits.trips),
            format!("1 ({} reads were no hits)", hits.misses),
            hits.trips,
            // One, but for reads that an overloaded machine did not let end in time.
            Limit::AtMost(1.001),
        ),
    ])
}
