//! One page that holds everything: pictures, the table, where it was measured and how. It loads nothing.
//!
//! | file | idea |
//! | --- | --- |
//! | `reading.rs` | a row as it is shown: its name, its rate or a bound, whether it leads |
//! | `axis.rs` | logarithmic axes and their ticks |
//! | `dots.rs` | one value of all filters, sorted, written beside its dot; times with the spread of their rounds |
//! | `scatter.rs` | rate against time, and against size, each filter named at its mark |
//! | `rows.rs` | the table |
//! | `style.css`, `script.js` | colours for light and dark; sorting, and one filter made to stand out |
//!
//! Without the script all pictures and tables stay.

mod axis;
mod dots;
mod reading;
mod rows;
mod scatter;

use reading::Reading;

use super::with_commas;
use crate::{Machine, Outcome};

/// The words with which every page begins.
pub(super) const OPENING: &str = "A filter answers \"no\" or \"maybe\".";
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// How a page was made: what a reader needs who wants to cite it or to make it again.
#[derive(Debug, Clone, PartialEq)]
pub struct Provenance {
    /// The command that measures the same again.
    pub command: String,
    /// Version and commit of the program.
    pub version: String,
    /// The day, as `2026-11-25`.
    pub date: String,
    /// Where it was measured.
    pub machine: Machine,
}

/// The page over `outcomes`: one section for each pair of keys and queries, in the order in which they come.
pub fn to_html(title: &str, provenance: &Provenance, outcomes: &[Outcome]) -> String {
    let title = escaped(title);
    let sections: String = workloads(outcomes).iter().map(|outcomes| section(outcomes)).collect();
    let facts = facts(provenance);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n\
         <p>{OPENING} \"No\" is always true; the <b>rate</b> is the share of empty \
         queries that are answered \"maybe\" and cost a read. Less is better in every picture. \
         <b class=\"lead\">Blue</b> filters lead: none beside them is as good in rate, size and time (within \
         5 %) and better in one. A <b>hollow triangle</b> is an upper bound: no false positive was seen among n \
         empty queries, so with 95 % confidence the rate is below 3 / n.</p>\n\
         <p class=\"quiet\">Times are medians of interleaved rounds on one thread, and the thin line through a dot is as long as \
         the middle half of the rounds: compare them with each other, not with those of other pages.</p>\n{facts}{sections}</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// The command and the machine.
fn facts(Provenance { command, version, date, machine }: &Provenance) -> String {
    let facts = [
        ("Command", format!("<code>{}</code>", escaped(command))),
        ("Lacuna", escaped(version)),
        ("Measured", escaped(date)),
        ("Machine", escaped(&machine.to_string())),
    ];
    let facts = facts.map(|(name, fact)| format!("<dt>{name}</dt><dd>{fact}</dd>\n"));
    format!("<dl>\n{}</dl>\n", facts.concat())
}

/// The outcomes, grouped by keys and queries.
fn workloads(outcomes: &[Outcome]) -> Vec<Vec<&Outcome>> {
    let mut groups: Vec<Vec<&Outcome>> = Vec::new();
    for outcome in outcomes {
        match groups.iter_mut().find(|group| group[0].workload() == outcome.workload()) {
            Some(group) => group.push(outcome),
            None => groups.push(vec![outcome]),
        }
    }
    groups
}

fn section(outcomes: &[&Outcome]) -> String {
    let readings = Reading::of_all(outcomes);
    let (keys, queries) = outcomes[0].workload();
    let counts = readings.first().map_or(String::new(), |reading| {
        let [keys, queries, empty] =
            [reading.row.key_count, reading.row.query_count, reading.row.empty_count]
                .map(|n| with_commas(n as u64));
        format!(
            "<p class=\"quiet\">{keys} keys, {queries} queries, {empty} of them empty; seed {}</p>\n",
            reading.row.seed
        )
    });
    format!(
        "<section>\n<h2>Keys {}, queries {}</h2>\n{counts}<div class=\"charts\">\n{}{}</div>\n{}</section>\n",
        escaped(keys),
        escaped(queries),
        scatter::all(&readings),
        dots::all(&readings),
        rows::table(outcomes, &readings)
    )
}

/// Text that may stand in HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// At most `length` characters of a name.
fn shortened(name: &str, length: usize) -> String {
    match name.char_indices().nth(length) {
        None => name.to_owned(),
        Some(_) => name.chars().take(length - 1).chain(['…']).collect(),
    }
}

/// A figure of the page: a picture under its caption.
fn figure(field: &str, caption: &str, note: &str, svg: &str) -> String {
    let note = if note.is_empty() { String::new() } else { format!(" <span class=\"quiet\">{note}</span>") };
    format!(
        "<figure data-field=\"{field}\">\n<figcaption><b>{caption}</b>{note}</figcaption>\n{svg}</figure>\n"
    )
}
