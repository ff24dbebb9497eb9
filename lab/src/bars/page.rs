//! Bars as a table on the terminal and as a page of Markdown.

use std::fmt::Write as _;

use lacuna_bench::report::Table;

use crate::bars::bar::{Bar, Limit, Verdict};
use crate::bars::groups::{GROUPS, Group};
use crate::bars::setting::Setting;

const HEADER: [&str; 7] = ["bar", "value", "beside", "ratio", "limit", "spread", "verdict"];

/// A table whose columns line up.
pub(crate) fn to_text(bars: &[Bar]) -> String {
    let mut table = Table::new(HEADER);
    bars.iter().for_each(|bar| table.push(cells(bar)));
    table.to_string()
}

/// The text above all groups. The same run gives the same words around the numbers, and no date.
const PREFACE: &str = "\
Times are medians of interleaved rounds and ratios are medians within rounds, so the numbers of a group can be compared with \
each other, not with other pages. *Spread* is how far the middle half of the rounds lies apart, as a share of the median: \
above 10 %, the machine was busy with something else. A ratio with two more in brackets is that of the middle one of three \
runs, each with filters built anew; the two are the least and the largest. *Single* questions wait for the answer to the one before, *predicted* \
ones are chosen by it but let the processor guess it, *independent* ones follow a fixed order, *batched* ones come 1,024 a \
call.";

/// One measured group of the page; `command` gives it again.
pub(crate) fn section(
    group: &Group,
    bars: &[Bar],
    setting: &Setting,
    command: &str,
    machine: &str,
) -> String {
    let quick = if setting.quick { " **This was a quick run; its ratios mean nothing.**" } else { "" };
    format!(
        "{}\n\n`{command}` on one thread of {machine}, seed {}.{quick}\n\n{}",
        group.about,
        setting.seed,
        markdown_table(bars)
    )
}

/// The page with these sections, and with those of `page` whose groups are not among them.
pub(crate) fn merged(page: &str, sections: &[(&str, String)]) -> String {
    let body = merged_sections(page, GROUPS.iter().map(|group| group.name), sections);
    format!("# The bars of the project\n\n{}\n\n{PREFACE}\n{body}", passing(&body))
}

/// These sections in the order of `names`, with those of `page` that are not among them.
pub(crate) fn merged_sections<'a>(
    page: &str,
    names: impl IntoIterator<Item = &'a str>,
    sections: &[(&str, String)],
) -> String {
    let kept = |name: &str| {
        let (_, from) = page.split_once(&format!("\n## {name}\n\n"))?;
        Some(from.split("\n## ").next().unwrap_or_default())
    };
    let mut body = String::new();
    for name in names {
        let measured = sections.iter().find(|(measured, _)| *measured == name);
        if let Some(text) = measured.map(|(_, text)| text.as_str()).or_else(|| kept(name)) {
            write!(body, "\n## {name}\n\n{text}").expect("a string takes all text");
        }
    }
    body
}

/// How many bars in the tables of a page passed.
pub(crate) fn passing(body: &str) -> String {
    let count = |verdict: &str| body.matches(&format!("| {verdict} |\n")).count();
    let (pass, fail) = (count("PASS"), count("FAIL"));
    format!("{pass} of {} bars pass.", pass + fail)
}

/// How many bars passed.
pub(crate) fn summary(bars: &[&Bar]) -> String {
    let count = |verdict| bars.iter().filter(|bar| bar.verdict == verdict).count();
    let (pass, fail) = (count(Verdict::Pass), count(Verdict::Fail));
    format!("{pass} of {} bars pass.", pass + fail)
}

/// The table of a page.
pub(crate) fn markdown_table(bars: &[Bar]) -> String {
    let mut text = format!("| {} |\n|{}\n", HEADER.join(" | "), " --- |".repeat(HEADER.len()));
    for bar in bars {
        writeln!(text, "| {} |", cells(bar).join(" | ")).expect("a string takes all text");
    }
    text
}

fn cells(bar: &Bar) -> [String; 7] {
    let limit = match bar.limit {
        Limit::AtMost(max) => format!("<= {max}"),
        Limit::AtLeast(min) => format!(">= {min}"),
        Limit::Below(bound) => format!("< {bound}"),
        Limit::None => "-".to_owned(),
    };
    let runs = bar.runs.map(|[least, largest]| format!(" ({least:.2} to {largest:.2})")).unwrap_or_default();
    let verdict = match bar.verdict {
        Verdict::Pass => "PASS",
        Verdict::Fail => "FAIL",
        Verdict::Info => "info",
    };
    [
        bar.name.clone(),
        bar.value.clone(),
        bar.beside.clone(),
        format!("{:.2}{runs}", bar.ratio),
        limit,
        bar.spread.map_or_else(|| "-".to_owned(), |spread| format!("{:.0} %", spread * 100.0)),
        verdict.to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars() -> Vec<Bar> {
        let rate = |false_positives, passes| {
            Bar::rate("grafite, 14 bits".to_owned(), false_positives, 1_000, 0.01, passes)
        };
        vec![rate(9, true), rate(50, false)]
    }

    #[test]
    fn text_shows_value_ratio_and_verdict() {
        let expected = "\
bar               value                   beside    ratio  limit  spread  verdict
grafite, 14 bits  9.000e-3 (9 of 1000)    1.000e-2   0.90  <= 1        -  PASS
grafite, 14 bits  5.000e-2 (50 of 1000)   1.000e-2   5.00  <= 1        -  FAIL
";
        let shown = to_text(&bars());
        let squeezed = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(squeezed(&shown), squeezed(expected));
    }

    #[test]
    fn runs_stand_beside_their_middle() {
        let run = |ratio| Bar::number("bloom", "9 ns", "10 ns", ratio, Limit::AtMost(1.0));
        let table = markdown_table(&[Bar::middle_of(vec![run(0.9), run(0.85), run(1.25)])]);
        assert!(
            table.contains("| bloom | 9 ns | 10 ns | 0.90 (0.85 to 1.25) | <= 1 | - | PASS |"),
            "{table}"
        );
    }

    fn page(of: usize, command: &str) -> [(&'static str, String); 1] {
        let group = &GROUPS[of];
        let setting = Setting { quick: false, seed: 7 };
        [(group.name, section(group, &bars(), &setting, command, "Fast CPU"))]
    }

    #[test]
    fn page_names_command_machine_and_seed() {
        let page = merged("", &page(0, "make bars"));
        assert!(page.contains("1 of 2 bars pass."), "{page}");
        assert!(page.contains("`make bars` on one thread of Fast CPU, seed 7."), "{page}");
        let columns = |line: &str| line.matches('|').count();
        assert!(page.lines().filter(|line| line.starts_with('|')).all(|line| columns(line) == 8), "{page}");
    }

    #[test]
    fn other_groups_of_a_page_stay() {
        let both = merged(&merged("", &page(1, "old")), &page(0, "old"));
        let renewed = merged(&both, &page(0, "new"));
        assert!(both.contains("2 of 4 bars pass.") && renewed.contains("2 of 4 bars pass."), "{renewed}");
        assert_eq!(renewed, both.replacen("`old`", "`new`", 1));
    }
}
