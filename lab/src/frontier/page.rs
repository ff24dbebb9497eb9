//! The results as a page of Markdown.

use std::fmt::Write as _;

use lacuna_bench::Machine;
use lacuna_cli::with_commas;

use super::quoted;
use super::run::{BITS, Row, SceneResult, TIMED, Times};

/// Rates that differ by less count as the same.
const SAME: f64 = 1.1;

/// The page; `command` makes it again, `missing` scenes were not run, or not to their end.
pub fn to_page(results: &[SceneResult], command: &str, query_count: usize, missing: usize) -> String {
    let mut page = head(command, query_count) + &about_times(results);
    if missing > 0 {
        let _ = writeln!(page, "**The run was stopped: {missing} scenes are missing or not whole.**\n");
    }
    page += &losses(results);
    for result in results {
        page += &scene(result);
    }
    page += &quoted::section(results);
    page
}

fn head(command: &str, query_count: usize) -> String {
    format!(
        "# The frontier: every family beside every other\n\n`{command}`\n\n\
         The share of \"maybe\" among ranges that hold no key, of 1, 32 and 1,024 keys, {} of each, or as many different ones as there are, at 10, 14 and 18 bits a key. Rates \
         and sizes repeat from the seed on every machine. Each filter is built once for all three lengths, with 2,000 ranges of each as \
         a sample; those that it is asked are others, each once. No filter denied a key. *Bits* is the payload; the envelope adds 64 bytes. The least \
         rate of each column is bold, also where `auto`, which weighs rates against the time of a question, has a higher one. `-` \
         stands for what a budget does not hold, a filter does not answer, or keys leave no room for.\n\n\
         `ribbon` cuts the key space into blocks and stores where in its block the one key is, in a structure that does not store which \
         blocks hold keys: a range of L keys is \"maybe\" with a chance of at most about L / 2^m, m being nearly all of the bits a key, wherever it \
         starts ([how](../design/ribbon.md)).\n\n\
         Texts are byte strings, and their ranges have no length: *the key* is one that was taken out, *its last byte* goes from it to \
         itself with its last byte plus one, *up to the next key* to before the first byte in which the next key that stays differs. Families over integers see texts \
         by an eight-byte *window* or a *place map* ([how](../design/windows.md)), as it stands behind their names; others see whole \
         keys.\n\n",
        with_commas(query_count as u64)
    )
}

/// What a time is, and on which machine it was measured.
fn about_times(results: &[SceneResult]) -> String {
    let has_times = results.iter().flat_map(|result| &result.rows).any(|row| row.times.is_some());
    let origin = if has_times {
        format!("Measured on {}.", Machine::here())
    } else {
        "This page was made with `--no-times`: the same command without it, on a machine with nothing else to do, measures them."
            .to_owned()
    };
    format!(
        "*Time* is that of a question of the second column, each waiting for the last answer, in questions to a standard Bloom filter of the \
         same budget about one key: the median of three runs, and the least and most of them. A round asks each filter at most {} different \
         ranges, which touch a part of a large filter that caches may hold. {origin}\n\n",
        with_commas(TIMED as u64)
    )
}

/// The rows of a scene at one budget.
fn at(result: &SceneResult, budget: f64) -> impl Iterator<Item = &Row> {
    result.rows.iter().filter(move |row| row.budget == budget)
}

/// The least rate of this run at one budget and length, and a row that has it.
pub(super) fn best(result: &SceneResult, budget: f64, place: usize) -> Option<(f64, &Row)> {
    let rates = at(result, budget).filter_map(|row| Some((row.rates[place]?, row)));
    rates.min_by(|(a, _), (b, _)| a.total_cmp(b))
}

/// The least rate of this run or of a quoted filter, and its filter.
fn best_of_all(result: &SceneResult, budget: f64, place: usize) -> Option<(f64, String)> {
    let measured = best(result, budget, place).map(|(rate, row)| (rate, row.contender.name().to_owned()));
    let quoted = quoted::best_quoted(&result.scene, budget, place);
    let quoted = quoted.map(|(rate, name)| (rate, format!("{name}, quoted")));
    measured.into_iter().chain(quoted).min_by(|(a, _), (b, _)| a.total_cmp(b))
}

/// Whether `rate` is lower than `other` by more than a tenth, and by more than three deviations of the difference between
/// two counts among `asked`.
pub(super) fn is_lower(rate: f64, other: f64, asked: usize) -> bool {
    let chance = 3.0 * ((rate + other) / asked as f64).sqrt();
    other > rate * SAME && other - rate > chance
}

/// Where another filter has a rate that is lower than that of `auto`, beyond chance.
fn losses(results: &[SceneResult]) -> String {
    let mut lines = String::new();
    let mut cells = 0;
    for (result, budget) in results.iter().flat_map(|result| BITS.map(|budget| (result, budget))) {
        let Some(auto) = at(result, budget).find(|row| row.contender.name() == "auto") else { continue };
        for (place, column) in result.columns.into_iter().enumerate() {
            let (Some(rate), Some((least, other))) = (auto.rates[place], best_of_all(result, budget, place))
            else {
                continue;
            };
            cells += 1;
            if is_lower(least, rate, result.asked[place]) {
                let _ = writeln!(
                    lines,
                    "| **{}** | **{budget}** | **{}** | **{}** | **{}** | **{}** |",
                    result.scene,
                    column,
                    shown(rate),
                    other,
                    shown(least)
                );
            }
        }
    }
    let count = lines.lines().count();
    let mut section = format!(
        "## Where `auto` loses\n\nIn {count} of {cells} cells another filter has a rate that is lower by more than a tenth, and by more \
         than chance; over uniform keys the [quoted filters](#public-filters-not-measured-by-this-command) take part, \
         with their rates at the size of the budget. `auto` builds one filter for the three lengths and pays for time and reads together, so it may lose one column to \
         win the others.\n\n"
    );
    if count > 0 {
        section += "| keys and starts | bits | range | `auto` | best | rate |\n| --- | ---: | ---: | ---: | --- | ---: |\n";
    }
    section + &lines + "\n"
}

fn scene(result: &SceneResult) -> String {
    let keys = with_commas(result.key_count as u64);
    let asked = result.asked.map(|asked| with_commas(asked as u64)).join(", ");
    let mut section =
        format!("## {}\n\n{keys} keys in the filters; {asked} ranges are asked.\n\n| filter |", result.scene);
    let mut rule = String::from("| --- |");
    for budget in BITS {
        let _ = write!(section, " {budget}: bits | {} | time |", result.columns.join(" | "));
        rule += " ---: | ---: | ---: | ---: | --- |";
    }
    let _ = writeln!(section, "\n{rule}");
    let mut names: Vec<&str> = result.rows.iter().map(|row| row.contender.name()).collect();
    names.truncate(at(result, BITS[0]).count());
    for name in names {
        let _ = write!(section, "| {name}{} |", seen(result, name));
        for budget in BITS {
            match at(result, budget).find(|row| row.contender.name() == name) {
                Some(row) => section += &cells(result, row),
                None => section += " - | - | - | - | - |",
            }
        }
        section.push('\n');
    }
    section + "\n"
}

/// How a filter sees texts, if not whole, in brackets; at small budgets it may be another way than at large ones.
fn seen(result: &SceneResult, name: &str) -> String {
    let rows = result.rows.iter().filter(|row| row.contender.name() == name);
    let mut views: Vec<&str> = rows.filter_map(|row| row.view).collect();
    views.dedup();
    if views.is_empty() { String::new() } else { format!(" ({})", views.join(", ")) }
}

/// The cells of a row.
fn cells(result: &SceneResult, row: &Row) -> String {
    let mut cells = row.bits.map_or(" - |".to_owned(), |bits| format!(" {bits:.2} |"));
    for (place, rate) in row.rates.into_iter().enumerate() {
        let is_best =
            best(result, row.budget, place).is_some_and(|(least, _)| rate.is_some_and(|rate| rate <= least));
        let _ = match rate {
            None => write!(cells, " - |"),
            Some(rate) if is_best => write!(cells, " **{}** |", shown(rate)),
            Some(rate) => write!(cells, " {} |", shown(rate)),
        };
    }
    let _ = match row.times {
        None => write!(cells, " - |"),
        Some(Times([median, least, most])) => write!(cells, " {median:.2} ({least:.2} to {most:.2}) |"),
    };
    cells
}

/// A rate with two digits that mean something.
pub(super) fn shown(rate: f64) -> String {
    match rate {
        0.0 => "0".to_owned(),
        rate if rate >= 0.0995 => format!("{rate:.2}"),
        rate if rate >= 0.000_995 => format!("{rate:.4}"),
        rate => format!("{rate:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::contenders::Contender;
    use super::super::scenes::{Scene, Starts};
    use super::*;

    fn row(name: &'static str, rates: [f64; 3]) -> Row {
        let rates = rates.map(Some);
        Row {
            contender: Contender::Ours(name),
            budget: 10.0,
            bits: Some(9.9),
            view: None,
            rates,
            times: None,
        }
    }

    fn result(rows: Vec<Row>) -> SceneResult {
        let scene = Scene { keys: "uniform:1k".to_owned(), starts: Starts::After(32) };
        SceneResult {
            scene,
            columns: ["1", "32", "1,024"],
            key_count: 1_000,
            asked: [10_000; 3],
            rows,
            is_whole: true,
        }
    }

    #[test]
    fn the_best_of_each_column_is_bold_in_any_row() {
        let page = to_page(
            &[result(vec![row("auto", [0.5, 0.02, 0.3]), row("bloom", [0.25, 0.02, 1.0])])],
            "c",
            10_000,
            0,
        );
        assert!(page.contains("| auto | 9.90 | 0.50 | **0.0200** | **0.30** | - |"), "{page}");
        assert!(page.contains("| bloom | 9.90 | **0.25** | **0.0200** | 1.00 | - |"), "{page}");
        assert!(page.contains("In 1 of 3 cells"), "{page}");
        assert!(page.contains("| **10** | **1** | **0.50** | **bloom** | **0.25** |"), "{page}");
    }

    #[test]
    fn a_cell_that_a_quoted_filter_wins_is_bold() {
        let rows = |rates| {
            let scene = Scene { keys: "uniform:1k".to_owned(), starts: Starts::After(1 << 10) };
            SceneResult { scene, ..result(vec![row("auto", rates), row("bloom", [1.0; 3])]) }
        };
        let lost = to_page(&[rows([0.000_1, 0.04, 0.3])], "c", 10_000, 0);
        assert!(
            lost.contains("| **1,024** | **0.30** | **Proteus (authors), quoted** | **0.13** |"),
            "{lost}"
        );
        assert!(
            lost.contains("| Proteus (authors) | 10.00 |") && lost.contains("0.023 / **0.031** / **0.13**"),
            "{lost}"
        );
        assert!(lost.contains("In 2 of 3 cells"), "{lost}");
        let won = to_page(&[rows([0.000_1, 0.02, 0.1])], "c", 10_000, 0);
        assert!(won.contains("0.023 / 0.031 / 0.13") && won.contains("In 0 of 3 cells"), "{won}");
    }

    #[test]
    fn the_way_to_see_texts_stands_behind_the_name() {
        let seen = |view, rates| Row { view, ..row("ribbon", rates) };
        let rows = vec![seen(Some("window"), [0.5, 0.02, 0.3]), row("bloom", [0.25, 0.02, 1.0])];
        let texts =
            SceneResult { columns: ["the key", "its last byte", "up to the next key"], ..result(rows) };
        let page = to_page(&[texts], "c", 10_000, 0);
        assert!(page.contains("| ribbon (window) | 9.90 | 0.50 |"), "{page}");
        assert!(
            page.contains("| bloom | 9.90 |") && page.contains("10: bits | the key | its last byte |"),
            "{page}"
        );
    }

    #[test]
    fn what_may_be_chance_is_no_loss() {
        let page =
            to_page(&[result(vec![row("auto", [0.000_3; 3]), row("bloom", [0.000_2; 3])])], "c", 10_000, 0);
        assert!(page.contains("In 0 of 3 cells"), "{page}");
    }

    #[test]
    fn a_stopped_run_says_so() {
        assert!(to_page(&[], "c", 10, 4).contains("4 scenes are missing"));
        assert!(!to_page(&[], "c", 10, 0).contains("missing"));
    }
}
