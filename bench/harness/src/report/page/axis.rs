//! Logarithmic axes: short ones from 1, 2 or 5 times a power of ten to another, longer ones from power to power.

use super::super::with_commas;

const MANTISSAS: [i32; 3] = [1, 2, 5];
/// Up to this many steps of 1-2-5 every step has a tick; beyond, powers of ten only. Labels of more would touch.
const FINE_STEPS: i32 = 3;
/// Up to this many steps every power of ten has a tick; beyond, every second.
const WIDE_STEPS: i32 = 18;
/// About the width of a sign of a label, and what is free between two labels.
const SIGN: f64 = 6.7;
const GAP: f64 = 4.0;

/// An axis from one step of 1-2-5 to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LogAxis {
    low: i32,
    high: i32,
}

impl LogAxis {
    /// The shortest axis that holds all `values`, which are above 0.
    pub(super) fn around(values: impl Iterator<Item = f64> + Clone) -> Self {
        let min = values.clone().fold(f64::INFINITY, f64::min);
        if !min.is_finite() {
            return Self { low: 0, high: 3 };
        }
        let max = values.fold(min, f64::max);
        let low = last_step_to(min);
        let high = last_step_to(max) + i32::from(value(last_step_to(max)) < max);
        match high - low {
            0 => Self { low: low - 1, high },
            steps if steps <= FINE_STEPS => Self { low, high },
            _ => Self { low: 3 * low.div_euclid(3), high: 3 * (high + 2).div_euclid(3) },
        }
    }

    /// Where `at` lies: 0 at the low end, 1 at the high end.
    pub(super) fn share(self, at: f64) -> f64 {
        let (low, high) = (value(self.low).log10(), value(self.high).log10());
        ((at.log10() - low) / (high - low)).clamp(0.0, 1.0)
    }

    /// Values with a label. On an axis from left to right of this `length`, labels do not touch.
    pub(super) fn ticks(self, length: Option<f64>) -> Vec<(f64, String)> {
        let finest = match self.high - self.low {
            steps if steps <= FINE_STEPS => 1,
            steps if steps <= WIDE_STEPS => 3,
            _ => 6,
        };
        let every = [1, 3, 6, 12].into_iter().filter(|every| *every >= finest);
        let mut tried = every.map(|every| self.ticks_every(every));
        let fits = |ticks: &Vec<(f64, String)>| length.is_none_or(|length| self.have_room(ticks, length));
        tried.clone().find(fits).or_else(|| tried.next_back()).unwrap_or_default()
    }

    fn ticks_every(self, every: i32) -> Vec<(f64, String)> {
        let steps = (self.low..=self.high).filter(|step| step % every == 0);
        steps.map(|step| (value(step), label(step))).collect()
    }

    fn have_room(self, ticks: &[(f64, String)], length: f64) -> bool {
        ticks.windows(2).all(|pair| {
            let apart = (self.share(pair[1].0) - self.share(pair[0].0)) * length;
            let signs = (pair[0].1.len() + pair[1].1.len()) as f64 / 2.0;
            apart >= signs * SIGN + GAP
        })
    }
}

/// The last step that is not above `at`.
fn last_step_to(at: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "decimal exponents of f64 lie within 400 of 0")]
    let decade = at.log10().floor() as i32;
    // The logarithm may have been rounded up.
    (3 * decade - 3..=3 * decade + 3).rev().find(|step| value(*step) <= at).unwrap_or(3 * decade)
}

/// 1, 2 or 5 times a power of ten.
fn value(step: i32) -> f64 {
    scientific(step).parse().expect("a number was written")
}

fn scientific(step: i32) -> String {
    let mantissa = MANTISSAS[usize::try_from(step.rem_euclid(3)).expect("0, 1 or 2")];
    format!("{mantissa}e{}", step.div_euclid(3))
}

fn label(step: i32) -> String {
    let value = value(step);
    match value {
        1.0..1e6 => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "from 1 to a million"
            )]
            let whole = value as u64;
            with_commas(whole)
        }
        0.001..1.0 => value.to_string(),
        _ => scientific(step),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64]) -> String {
        let labels: Vec<String> =
            LogAxis::around(values.iter().copied()).ticks(None).into_iter().map(|tick| tick.1).collect();
        labels.join(" ")
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(labels(&[41.0, 93.0]), "20 50 100");
        assert_eq!(labels(&[1e-4, 1.0]), "1e-4 0.001 0.01 0.1 1");
        assert_eq!(labels(&[3e-9, 0.5]), "1e-8 1e-6 1e-4 0.01 1");
        assert_eq!(labels(&[30.0, 400.0]), "10 100 1,000");
        assert_eq!(labels(&[1.0]), "0.5 1");
        assert_eq!(labels(&[]), "1 2 5 10");
        assert_eq!(labels(&[900.0, 2_100.0]), "500 1,000 2,000 5,000");
    }

    #[test]
    fn labels_beside_each_other_do_not_touch() {
        let labels = |values: [f64; 2], length| {
            let ticks = LogAxis::around(values.into_iter()).ticks(Some(length));
            ticks.into_iter().map(|tick| tick.1).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(labels([120.0, 90_000.0], 150.0), "100 1,000 10,000 100,000");
        assert_eq!(labels([30.0, 90_000.0], 150.0), "100 10,000");
        assert_eq!(labels([30.0, 90_000.0], 300.0), "10 100 1,000 10,000 100,000");
        assert_eq!(labels([900.0, 2_100.0], 60.0), "1,000");
    }

    #[test]
    fn values_keep_their_order_inside_the_axis() {
        let values = [0.07, 0.071, 3.0, 40.0];
        let axis = LogAxis::around(values.into_iter());
        let shares = values.map(|value| axis.share(value));
        assert!(shares.is_sorted() && shares[0] > 0.0 && shares[3] < 1.0, "{shares:?}");
        assert_eq!((axis.share(0.01), axis.share(100.0)), (0.0, 1.0));
    }
}
