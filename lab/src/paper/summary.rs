//! What several runs gave: their median, with the least and the greatest of them.
//!
//! A ratio is made within each run, from two rows that were measured one after the other, and the ratios are summarised:
//! three runs of 100, 40 and 90 operations a second beside 50, 20 and 30 give 2, 2 and 3, so `2.00 (2.00 to 3.00)`. The ratio of
//! the medians, 90 / 30, would be 3.

use std::fmt;

use lacuna_bench::harness::{TaskId, Timings};

use super::model::shown;

/// Median, least and greatest of the values of some runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// The middle one, or the mean of the two in the middle.
    pub median: f64,
    /// Least and greatest; `None` if there was one run.
    pub extent: Option<(f64, f64)>,
}

impl Summary {
    /// The summary of one value a run; not a number without values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        match values[..] {
            [] => Self::once(f64::NAN),
            [value] => Self::once(value),
            [low, .., high] => {
                let (lower, upper) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
                Self { median: f64::midpoint(lower, upper), extent: Some((low, high)) }
            }
        }
    }

    /// Nanoseconds per step of `task`, a value a round.
    pub(super) fn of_ns(timings: &Timings, task: TaskId) -> Self {
        Self::of(timings.rounds_ns(task).iter().copied())
    }

    /// How many times longer `task` takes than `yardstick`, a value a round.
    pub(super) fn of_ratios(timings: &Timings, task: TaskId, yardstick: TaskId) -> Self {
        Self::of(timings.round_ratios(task, yardstick))
    }

    /// The same in another unit, of which a larger value is always more or always less.
    #[must_use]
    pub(super) fn map(self, unit: impl Fn(f64) -> f64) -> Self {
        let ends = |(low, high)| {
            let (low, high): (f64, f64) = (unit(low), unit(high));
            (low.min(high), low.max(high))
        };
        Self { median: unit(self.median), extent: self.extent.map(ends) }
    }

    /// A value that there is one of.
    pub const fn once(value: f64) -> Self {
        Self { median: value, extent: None }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(self.median))?;
        match self.extent {
            Some((low, high)) => write!(f, " ({} to {})", shown(low), shown(high)),
            None => Ok(()),
        }
    }
}

/// Median, least and greatest of a cell that [`Summary`] wrote; any other cell is returned whole, without the two.
pub(super) fn parts(cell: &str) -> (&str, Option<(&str, &str)>) {
    let split = || {
        let (median, extent) = cell.strip_suffix(')')?.split_once(" (")?;
        let (low, high) = extent.split_once(" to ")?;
        let are_numbers = [median, low, high].iter().all(|text| text.parse::<f64>().is_ok());
        are_numbers.then_some((median, Some((low, high))))
    };
    split().unwrap_or((cell, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_lies_between_low_and_high() {
        let odd = Summary::of([3.0, -1.0, 2.0]);
        assert_eq!((odd.median, odd.extent), (2.0, Some((-1.0, 3.0))));
        let even = Summary::of([4.0, 1.0, 2.0, 100.0]);
        assert_eq!((even.median, even.extent), (3.0, Some((1.0, 100.0))));
        assert_eq!(Summary::of([7.0]), Summary::once(7.0));
        assert!(Summary::of([]).median.is_nan());
    }

    #[test]
    fn low_stays_below_high_in_another_unit() {
        let throughput = Summary::of([50.0, 20.0, 100.0]).map(|ns| 1e3 / ns);
        assert_eq!((throughput.median, throughput.extent), (20.0, Some((10.0, 50.0))));
        assert_eq!(Summary::once(4.0).map(|value| value + 1.0), Summary::once(5.0));
    }

    #[test]
    fn rounds_keep_their_least_and_greatest() {
        let (timings, [ours, theirs]) =
            Timings::of([("ours", vec![60.0, 90.0, 62.0]), ("theirs", vec![30.0, 45.0, 62.0])]);
        let ns = Summary::of_ns(&timings, ours);
        assert_eq!((ns.median, ns.extent), (62.0, Some((60.0, 90.0))));
        let ratios = Summary::of_ratios(&timings, ours, theirs);
        assert_eq!((ratios.median, ratios.extent), (2.0, Some((1.0, 2.0))));
    }

    #[test]
    fn a_written_summary_has_its_parts() {
        let text = Summary::of([30.0, 10.0, 20.0]).to_string();
        assert_eq!(text, "20.0 (10.0 to 30.0)");
        assert_eq!(parts(&text), ("20.0", Some(("10.0", "30.0"))));
        assert_eq!(Summary::once(20.0).to_string(), "20.0");
        for other in ["20.0", "a (b to c)", "write-back (median)", "1 (2)"] {
            assert_eq!(parts(other), (other, None));
        }
    }
}
