//! The bars of the range cache, each a ratio within one run: PASS or FAIL.

mod gaps;
mod hit;
mod policies;
mod scenes;
mod updates;

use std::time::Duration;

use lacuna_base::{Error, Result};
use lacuna_testkit::servers::Redis;

use crate::bars::bar::{Bar, Limit};
use crate::bars::page::{markdown_table, merged_sections, passing};
use crate::cache_bench::run::{Bench, runtime};
use crate::cache_bench::setup::Length;

pub(crate) use scenes::{MANY_CLIENTS, bandwidth};

/// How to measure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// How long each run is; as each group has it if `None`.
    pub(crate) length: Option<Length>,
    /// Records of each run.
    pub(crate) records: u64,
    /// Requests of a round of the hit bar.
    pub(crate) requests: usize,
    /// Seed of all.
    pub(crate) seed: u64,
}

impl Effort {
    /// How long a run is: as asked, else `own`.
    fn length_or(&self, own: Duration) -> Length {
        self.length.unwrap_or(Length::Time(own))
    }
}

/// A group of bars that are measured together.
pub(crate) type Group = fn(&mut Bench, &Effort, &mut dyn FnMut(String)) -> Result<Vec<Bar>>;

/// Every group by name.
pub(crate) const GROUPS: [(&str, Group); 9] = [
    ("hit", hit),
    ("delay", scenes::delay),
    ("beta", scenes::beta),
    ("copies", scenes::copies),
    ("servers", scenes::servers),
    ("policies", policies::policies),
    ("redis", policies::redis),
    ("gaps", gaps::gaps),
    ("updates", updates::updates),
];

/// One measured group of the page; `command` gives it again.
pub(crate) fn section(bars: &[Bar], command: &str, machine: &str) -> String {
    format!("`{command}` on {machine}.\n\n{}", markdown_table(bars))
}

/// The page with these sections, and with those of `page` whose groups are not among them.
pub(crate) fn to_page(page: &str, sections: &[(&str, String)]) -> String {
    let body = merged_sections(page, GROUPS.iter().map(|(name, _)| *name), sections);
    format!(
        "# Bars of the range cache\n\n{} Each ratio is of two things within one run; servers and clients share the machine. \
         What each run is stands in `lab/src/bars/cache/`.\n{body}",
        passing(&body)
    )
}

/// A hit beside a bare `GET`, and in the memory of this process.
fn hit(_: &mut Bench, effort: &Effort, say: &mut dyn FnMut(String)) -> Result<Vec<Bar>> {
    say("hits beside bare GETs".to_owned());
    let server = Redis::cache().ok_or_else(|| Error::unavailable("redis-server is not installed"))?;
    let hits = runtime()?.block_on(hit::measure(&server, effort.requests))?;
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / effort.requests as f64;
    let get = format!("{:.1} us a GET of the same 5,000 bytes", micros(hits.get));
    say("hits in memory".to_owned());
    let memory = runtime()?.block_on(hit::in_memory(effort.requests))?;
    let (hit, rows) = (micros(memory.hit), micros(memory.rows));
    Ok(vec![
        Bar::number(
            "a hit, 16 under way",
            format!("{:.1} us a hit", micros(hits.hit)),
            get,
            hits.ratio,
            Limit::AtMost(1.25),
        ),
        Bar::number(
            "round trips of a warm read",
            format!("{:.3} round trips", hits.trips),
            format!("1 ({} reads were no hits)", hits.misses),
            hits.trips,
            // One, but for reads that an overloaded machine did not let end in time.
            Limit::AtMost(1.001),
        ),
        Bar::number(
            "a hit in the memory of the process, one after the other, us",
            format!("{hit:.2} us a hit"),
            format!("5,000 bytes, shared with the cache ({} reads were no hits)", memory.misses),
            hit,
            Limit::AtMost(1.0),
        ),
        Bar::number(
            "the same through a table, us",
            format!("{rows:.2} us a read"),
            "5 rows of ten columns, made of such bytes",
            rows,
            Limit::None,
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_were_not_measured_stay_on_the_page() {
        let measured = |number: f64, command: &str| {
            section(&[Bar::number("a bar", "1", "2", number, Limit::AtMost(1.0))], command, "Fast CPU")
        };
        let old = to_page("", &[("beta", measured(2.0, "old beta")), ("hit", measured(0.5, "old hit"))]);
        assert!(old.contains("1 of 2 bars pass.") && old.find("## hit") < old.find("## beta"), "{old}");
        let new = to_page(&old, &[("beta", measured(0.5, "new beta"))]);
        assert!(new.contains("2 of 2 bars pass.") && new.contains("`old hit` on Fast CPU."), "{new}");
        assert!(new.contains("`new beta`") && !new.contains("`old beta`"), "{new}");
        assert_eq!(to_page(&new, &[]), new);
    }
}
