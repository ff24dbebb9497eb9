//! One bar: what was measured, beside what, and whether that is good enough.

use lacuna_bench::harness::{TaskId, Timings};

/// What the ratio must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Limit {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
    /// Less than this.
    Below(f64),
    /// Nothing: the number is for information.
    None,
}

/// Whether the bar is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    Fail,
    /// There is no limit.
    Info,
}

/// A measured bar.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bar {
    /// What is measured, with its setting.
    pub(crate) name: String,
    /// The measured value with its unit.
    pub(crate) value: String,
    /// The yardstick with its value.
    pub(crate) beside: String,
    /// Value over yardstick, or the other way round for speeds; see [`Limit`].
    pub(crate) ratio: f64,
    /// The least and the largest ratio of several runs, of which this bar is the middle one.
    pub(crate) runs: Option<[f64; 2]>,
    pub(crate) limit: Limit,
    /// The spread of the rounds, as a share of the median, for times.
    pub(crate) spread: Option<f64>,
    pub(crate) verdict: Verdict,
}

impl Limit {
    fn verdict(self, ratio: f64) -> Verdict {
        match self {
            Self::AtMost(max) if ratio <= max => Verdict::Pass,
            Self::AtLeast(min) if ratio >= min => Verdict::Pass,
            Self::Below(bound) if ratio < bound => Verdict::Pass,
            Self::None => Verdict::Info,
            Self::AtMost(_) | Self::AtLeast(_) | Self::Below(_) => Verdict::Fail,
        }
    }
}

impl Bar {
    /// How many times longer `task` takes than `yardstick`.
    pub(crate) fn times_longer(
        name: impl Into<String>,
        timings: &Timings,
        [task, yardstick]: [TaskId; 2],
        limit: Limit,
    ) -> Self {
        Self::of_times(name.into(), timings, [task, yardstick], timings.ratio(task, yardstick), limit)
    }

    /// How many times faster `task` is than `yardstick`.
    pub(crate) fn times_faster(
        name: impl Into<String>,
        timings: &Timings,
        [task, yardstick]: [TaskId; 2],
        limit: Limit,
    ) -> Self {
        Self::of_times(name.into(), timings, [task, yardstick], timings.ratio(yardstick, task), limit)
    }

    fn of_times(
        name: String,
        timings: &Timings,
        [task, yardstick]: [TaskId; 2],
        ratio: f64,
        limit: Limit,
    ) -> Self {
        Self {
            name,
            value: format!("{:.1} ns", timings.median_ns(task)),
            beside: format!("{} {:.1} ns", timings.name(yardstick), timings.median_ns(yardstick)),
            ratio,
            runs: None,
            limit,
            spread: Some(timings.spread(task).max(timings.spread(yardstick))),
            verdict: limit.verdict(ratio),
        }
    }

    /// How many times fewer `count` is than `yardstick`; a count of 0 stands for 1.
    pub(crate) fn times_fewer(name: String, count: u64, beside: &str, yardstick: u64, limit: Limit) -> Self {
        let ratio = yardstick as f64 / count.max(1) as f64;
        Self {
            name,
            value: format!("{count} reads"),
            beside: format!("{beside} {yardstick} reads"),
            ratio,
            runs: None,
            limit,
            spread: None,
            verdict: limit.verdict(ratio),
        }
    }

    /// Any number, written as `value`, that is `ratio` times what it stands beside.
    pub(crate) fn number(
        name: impl Into<String>,
        value: impl Into<String>,
        beside: impl Into<String>,
        ratio: f64,
        limit: Limit,
    ) -> Self {
        let (name, value, beside) = (name.into(), value.into(), beside.into());
        Self { name, value, beside, ratio, runs: None, limit, spread: None, verdict: limit.verdict(ratio) }
    }

    /// A rate of `false_positives` among `queries` beside the rate `bar`; `passes` is the statistical verdict.
    pub(crate) fn rate(name: String, false_positives: u64, queries: u64, bar: f64, passes: bool) -> Self {
        let rate = false_positives as f64 / queries as f64;
        Self {
            name,
            value: format!("{rate:.3e} ({false_positives} of {queries})"),
            beside: format!("{bar:.3e}"),
            ratio: rate / bar,
            runs: None,
            limit: Limit::AtMost(1.0),
            spread: None,
            verdict: if passes { Verdict::Pass } else { Verdict::Fail },
        }
    }

    /// Of one bar in several runs the one in the middle, by its ratio.
    pub(crate) fn middle_of(mut runs: Vec<Self>) -> Self {
        runs.sort_by(|one, other| one.ratio.total_cmp(&other.ratio));
        let ends = [runs[0].ratio, runs[runs.len() - 1].ratio];
        let middle = runs.swap_remove(runs.len() / 2);
        Self { runs: Some(ends), ..middle }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_run_is_judged() {
        let run = |ratio: f64| Bar::number("bloom", format!("{ratio} ns"), "1 ns", ratio, Limit::AtMost(1.0));
        let bar = Bar::middle_of(vec![run(1.2), run(0.8), run(0.9)]);
        assert_eq!((bar.value.as_str(), bar.runs, bar.verdict), ("0.9 ns", Some([0.8, 1.2]), Verdict::Pass));
        assert_eq!(Bar::middle_of(vec![run(0.8), run(1.1), run(1.2)]).verdict, Verdict::Fail);
    }

    #[test]
    fn limits_include_themselves() {
        assert_eq!(Limit::AtMost(2.2).verdict(2.2), Verdict::Pass);
        assert_eq!(Limit::AtMost(2.2).verdict(2.21), Verdict::Fail);
        assert_eq!(Limit::AtLeast(2.5).verdict(2.5), Verdict::Pass);
        assert_eq!(Limit::AtLeast(2.5).verdict(2.4), Verdict::Fail);
        assert_eq!(Limit::Below(1.0).verdict(0.99), Verdict::Pass);
        assert_eq!(Limit::Below(1.0).verdict(1.0), Verdict::Fail);
        assert_eq!(Limit::None.verdict(99.0), Verdict::Info);
        for limit in [Limit::AtMost(2.0), Limit::AtLeast(2.0), Limit::Below(2.0)] {
            assert_eq!(limit.verdict(f64::NAN), Verdict::Fail);
        }
    }
}
