//! The results as a page of Markdown.

use std::fmt::Write as _;

use super::outcome::{Change, Outcome, Summary};
use super::run::{Clock, MAX_TIMED};

/// The page `docs/results/designer.md`; `command` makes it again.
pub fn to_page(outcomes: &[Outcome], skipped: usize, command: &str, clock: Clock) -> String {
    let Summary { cells, close, worst, change } = Summary::of(outcomes);
    let Change { worse, most, of_median, median } = change;
    let mut page = String::from("# The designer beside the best family\n\n");
    let times = match clock {
        Clock::Counted => "A question's time is predicted by the designer's constants.".to_owned(),
        Clock::Measured(rounds) => format!(
            "A question's time is the median of {rounds} interleaved rounds of at most {MAX_TIMED} questions that wait for one \
             another, which touch a part of a large filter that caches may hold. Times differ from machine to \
             machine, and the best of twenty is partly the luckiest."
        ),
    };
    let shares = format!("{:.1} % of {cells} cells", close * 100.0);
    let _ = writeln!(
        page,
        "`{command}`\n\n`auto` costs at most 10 % and 5 ns more than the best of all families in {shares}, at worst \
         {worst:.2} times (bars: 95 %, 1.5). {skipped} cells have no such empty ranges. Cost: nanoseconds of a question \
         and 20,000 for each needless read; rates are counted on other draws than the sample, which share \
         ranges with it where few keys were taken out or a range is one key. {times} \
         Two prefix Bloom filters are not a rival: `auto` models them on request only (`auto:two_prefix_bloom`).\n\n\
         *Before* is what `auto` would build without Ribbon, and without the gaps that Bucketing leaves out. Beside it the median \
         cost is {of_median:.2} times as high, the cost of the median cell {median:.2} times, and {worse} cells are worse, at most \
         {most:.2} times as dear (bars: 0.75, no cell).\n"
    );
    page += "| keys | starts | lengths | bits | chosen | rate | cost ns | predicted | best | rate | cost ns | ratio ";
    page += "| before | rate | cost ns | beside it |\n";
    page +=
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for outcome in outcomes {
        let Outcome { cell, chosen, best, before, predicted_ns } = outcome;
        let mark = if outcome.is_close() { "" } else { " **" };
        let worse = if outcome.is_worse() { " worse" } else { "" };
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {:.5} | {:.1} | {predicted_ns:.1} | {} | {:.5} | {:.1} | {:.2}{mark} | {} | {:.5} | {:.1} | {:.2}{worse} |",
            cell.keys,
            cell.starts,
            cell.lengths,
            cell.bits_per_key,
            chosen.spec,
            chosen.rate,
            chosen.cost_ns,
            best.spec,
            best.rate,
            best.cost_ns,
            outcome.ratio(),
            before.spec,
            before.rate,
            before.cost_ns,
            outcome.beside_before(),
        );
    }
    page
}
