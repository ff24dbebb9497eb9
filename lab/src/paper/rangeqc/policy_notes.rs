//! Which write policy does best where writes are many, and what it does for an operation, from the rows of the runs.

use crate::paper::shown;

use super::stage::{Runs, improvement, summary};
use crate::cache_bench::row::Row;

/// A sentence about the policies at the share of scans of `rows`, the first of which is write-back.
pub(super) fn best_sentence(title: &str, rows: &[(&str, &Runs)], alone: &Runs) -> String {
    let share = rows.first().and_then(|(_, runs)| runs.first()).map_or(0, |row| row.setup.scan_percent);
    let gain = |runs: &Runs| improvement(runs, alone);
    let best = rows.iter().max_by(|one, other| gain(one.1).median.total_cmp(&gain(other.1).median));
    let (Some((name, runs)), Some((first, first_runs))) = (best, rows.first()) else { return String::new() };
    let mut sentence =
        format!("Of the policies, {title}, {name} does best at {share} % scans: {} %. ", gain(runs));
    if name == first {
        return sentence + &work(name, runs) + ".";
    }
    sentence +=
        &format!("{first} has {} %. {}; {}. ", gain(first_runs), work(name, runs), work(first, first_runs));
    sentence + &why(name, runs, first, first_runs)
}

/// What a policy does for an operation.
fn work(name: &str, runs: &Runs) -> String {
    let a = |value: fn(&Row) -> f64| shown(summary(runs, value).median);
    format!(
        "{name} asks cache servers {} times, log servers {} times and the store {} times for an operation, takes {} us for an update and \
         {} us for a scan, has {} % of its scans from the cache at once, and drains for {} % of the time",
        a(Row::cache_trips),
        a(Row::log_trips),
        a(Row::store_statements),
        a(|row| row.update_us.unwrap_or(0.0)),
        a(|row| row.scan_us.unwrap_or(0.0)),
        a(|row| row.hit_rate().unwrap_or(0.0) * 100.0),
        a(|row| row.drain_seconds / (row.seconds + row.drain_seconds) * 100.0),
    )
}

/// What makes the difference, by the times of a mean operation.
fn why(name: &str, runs: &Runs, first: &str, first_runs: &Runs) -> String {
    let spent = |row: &Row, us: Option<f64>, count: u64| {
        us.unwrap_or(0.0) * count as f64 / row.operations().max(1) as f64
    };
    let of = |runs: &Runs, value: &dyn Fn(&Row) -> f64| summary(runs, value).median;
    let updates = |row: &Row| spent(row, row.update_us, row.updates);
    let scans = |row: &Row| spent(row, row.scan_us, row.scans);
    let saved = of(first_runs, &updates) - of(runs, &updates);
    let lost = of(runs, &scans) - of(first_runs, &scans);
    let times = |us: f64| format!("{} us {}", shown(us.abs()), if us < 0.0 { "more" } else { "less" });
    format!(
        "Of a mean operation, updates take {} with {name} than with {first}, and scans {}: that, and the drain, is the difference.",
        times(saved),
        times(-lost)
    )
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::paper::rangeqc::stage::row_of;

    fn runs(updates: u64, update_us: f64) -> Runs {
        vec![Rc::new(Row { updates, update_us: Some(update_us), ..row_of(10) })]
    }

    #[test]
    fn the_best_policy_is_named_by_its_numbers() {
        let (slow, fast) = (runs(90, 900.0), runs(190, 400.0));
        let alone = runs(190, 1.0);
        let sentence = best_sentence("in memory", &[("write-back", &slow), ("write-around", &fast)], &alone);
        assert!(sentence.starts_with("Of the policies, in memory, write-around does best"), "{sentence}");
        assert!(
            sentence.contains("write-back has -50.0 %") && sentence.contains("us less with write-around"),
            "{sentence}"
        );
        let sentence = best_sentence("in memory", &[("write-back", &fast), ("write-around", &slow)], &alone);
        assert!(
            sentence.contains("write-back does best") && !sentence.contains("write-around"),
            "{sentence}"
        );
    }
}
