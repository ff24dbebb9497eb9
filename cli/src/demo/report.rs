//! The table, and one sentence.

use std::time::Duration;

use super::measured::{Measured, Scans};
use super::questions::Questions;
use super::source::Source;
use crate::errors::Result;
use crate::output::{Output, counted, with_commas};

/// Prints what was asked, what each store did, and what that means.
pub(super) fn print(
    source: &Source,
    questions: &Questions,
    ssts: usize,
    filter: &str,
    latency_ms: u64,
    measured: &[Measured; 3],
) -> Result<()> {
    let mut out = Output::new();
    out.line(&source.story)?;
    out.line(&format!(
        "{ssts} overlapping SSTables in a local folder{}, a block cache of a tenth of the rows, warmed up.",
        if latency_ms == 0 { String::new() } else { format!(", each read delayed by {latency_ms} ms") }
    ))?;
    out.line(&format!(
        "{} short scans that find nothing ({} of them right after a row), {} that find something.",
        counted(questions.empty.len()),
        counted(questions.behind_a_row),
        counted(questions.full.len())
    ))?;
    out.line("")?;
    table(&mut out, "scans that find nothing", measured, |store| &store.empty)?;
    table(&mut out, "scans that find something", measured, |store| &store.full)?;
    let [none, _, lacuna] = measured;
    let filter_bytes = lacuna.filter_bytes.unwrap_or(0);
    let bits_per_row = filter_bytes as f64 * 8.0 / source.rows.len() as f64;
    out.line(&format!(
        "Filters: {filter}, {} bytes in all, {bits_per_row:.1} bits a row.",
        with_commas(filter_bytes)
    ))?;
    out.line(&about_ribbon(filter))?;
    out.line(&sentence(&none.empty, &lacuna.empty))?;
    out.finish()
}

fn table(
    out: &mut Output,
    title: &str,
    measured: &[Measured; 3],
    scans: impl Fn(&Measured) -> &Scans,
) -> Result<()> {
    out.line(&format!(
        "{title:26} {:>12} {:>14} {:>11} {:>11}",
        "object reads", "bytes read", "median", "p99"
    ))?;
    for store in measured {
        let Scans { reads, median, p99, .. } = scans(store);
        out.line(&format!(
            "  {:24} {:>12} {:>14} {:>11} {:>11}",
            store.name,
            with_commas(reads.gets),
            with_commas(reads.bytes),
            time(*median),
            time(*p99)
        ))?;
    }
    out.line("")
}

/// What `ribbon` is, and how to get it where another filter was shown.
fn about_ribbon(filter: &str) -> String {
    let option = if filter.starts_with("ribbon") { "" } else { " (`--filter ribbon@14`)" };
    format!(
        "`ribbon`{option} stores where in its block of the key space the one key is, and not which blocks hold keys."
    )
}

/// The sentence that sums up the table.
fn sentence(none: &Scans, lacuna: &Scans) -> String {
    let asked = counted(none.count);
    match (none.reads.gets, lacuna.reads.gets) {
        (0, _) => format!(
            "To answer {asked} scans with \"nothing there\", nothing had to be read: the cache held it all."
        ),
        (without, 0) => format!(
            "To answer {asked} scans with \"nothing there\", the store read {} objects without a filter and none with \
             Lacuna; all answers were the same.",
            with_commas(without)
        ),
        (without, with) => format!(
            "To answer {asked} scans with \"nothing there\", the store read {} objects without a filter and {} with \
             Lacuna, {:.0} times fewer; all answers were the same.",
            with_commas(without),
            with_commas(with),
            without as f64 / with as f64
        ),
    }
}

fn time(duration: Duration) -> String {
    let micros = duration.as_secs_f64() * 1e6;
    if micros < 1_000.0 { format!("{micros:.0} us") } else { format!("{:.2} ms", micros / 1_000.0) }
}

#[cfg(test)]
mod tests {
    use lacuna_slatedb::measure::Reads;

    use super::*;

    fn scans(gets: u64) -> Scans {
        let time = Duration::from_micros(5);
        Scans { count: 1_000, reads: Reads { gets, bytes: gets * 4_096 }, median: time, p99: time }
    }

    #[test]
    fn the_sentence_says_how_much_was_saved() {
        assert!(
            sentence(&scans(16_000), &scans(40))
                .contains("16,000 objects without a filter and 40 with Lacuna, 400")
        );
        assert!(sentence(&scans(16_000), &scans(0)).contains("none with Lacuna"));
        assert!(sentence(&scans(0), &scans(0)).contains("the cache held it all"));
    }

    #[test]
    fn ribbon_is_explained_and_offered_beside_other_filters() {
        assert!(about_ribbon("grafite@14").starts_with("`ribbon` (`--filter ribbon@14`) stores where"));
        assert!(about_ribbon("ribbon@12").starts_with("`ribbon` stores where"));
    }

    #[test]
    fn times_are_shown_in_their_unit() {
        assert_eq!(time(Duration::from_micros(999)), "999 us");
        assert_eq!(time(Duration::from_micros(1_500)), "1.50 ms");
    }
}
