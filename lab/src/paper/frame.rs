//! The axes of a panel: what lies at its edges, and where the labels stand.

use super::model::{Axis, Plot, Scale};

/// Where a value lies on an axis: itself, or its decimal logarithm.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    scale: Scale,
    /// Positions of the ends.
    pub(super) low: f64,
    pub(super) high: f64,
    /// Position where zeros stand on a logarithmic axis.
    floor: f64,
    /// Position of the first label of a logarithmic axis.
    first: f64,
}

impl Place {
    /// The level axis of `plot`: from the first point to the last, with a little room at either side.
    pub(super) fn level(plot: &Plot) -> Self {
        let values = || plot.lines.iter().flat_map(|line| &line.points).map(|point| point.x);
        let position =
            |x: f64| if plot.x.scale == Scale::Logarithmic { x.max(f64::MIN_POSITIVE).log10() } else { x };
        let low = values().map(position).fold(f64::INFINITY, f64::min);
        let high = values().map(position).fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if low < high { (low, high) } else { around(low) };
        let room = (high - low) * 0.03;
        Self { scale: plot.x.scale, low: low - room, high: high + room, floor: low, first: low }
    }

    /// The upright axis of `plot`: from zero, or from the least value if that is negative, or from the power of ten below it.
    pub(super) fn upright(plot: &Plot) -> Self {
        let points = || plot.lines.iter().flat_map(|line| &line.points);
        let values = || {
            points().flat_map(|point| {
                let (low, high) = point.extent.unwrap_or((point.y, point.y));
                [low, point.y, high]
            })
        };
        let max = values().fold(0.0, f64::max);
        match plot.y.scale {
            Scale::Linear => {
                let min = values().fold(0.0, f64::min);
                let room = 0.08 * (max - min);
                let (low, high) = (if min < 0.0 { min - room } else { 0.0 }, max + room);
                let high = if low < high { high } else { 1.0 };
                Self { scale: Scale::Linear, low, high, floor: low, first: low }
            }
            Scale::Logarithmic => {
                let min = values().filter(|y| *y > 0.0).fold(f64::INFINITY, f64::min);
                Self::decades(min, max, values().any(|y| y <= 0.0))
            }
        }
    }

    /// Round numbers around `least` and `most`, with a place for zeros below them.
    fn decades(min: f64, max: f64, has_zeros: bool) -> Self {
        let first = if min.is_finite() { round_below(min) } else { -1.0 };
        let high = if max > 0.0 { -round_below(1.0 / max) } else { 0.0 };
        let high = high.max(first + 0.5);
        // Zeros stand below the lowest round number, apart from values on it.
        let low = if has_zeros { first - (high - first) * 0.08 } else { first };
        let room = (high - low) * 0.02;
        Self { scale: Scale::Logarithmic, low: low - room, high: high + room, floor: low, first }
    }

    /// The position of `value`.
    pub(super) fn at(self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Logarithmic if value > 0.0 => value.log10(),
            Scale::Logarithmic => self.floor,
        }
    }

    /// Whether `value` has no place of its own.
    pub(super) fn is_off(self, value: f64) -> bool {
        self.scale == Scale::Logarithmic && value <= 0.0
    }

    /// Labels of the upright axis, as position and text.
    pub(super) fn ticks(self) -> Vec<(f64, String)> {
        match self.scale {
            Scale::Linear => linear_ticks(self.low, self.high),
            Scale::Logarithmic => self.power_ticks(),
        }
    }

    fn power_ticks(self) -> Vec<(f64, String)> {
        let decades = self.high - self.first;
        // At most eight labels: at whole powers, or at 2 and 5 times them too.
        let step = (decades / 8.0).ceil().max(1.0);
        let between: &[f64] = if decades <= 2.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let powers = std::iter::successors(Some(self.first.floor()), |power| Some(power + step));
        powers
            .take_while(|power| *power <= self.high)
            .flat_map(|power| {
                between.iter().map(move |part| (power + part.log10(), round_label(*part, power)))
            })
            .filter(|(position, _)| (self.first - 1e-9..=self.high).contains(position))
            .collect()
    }
}

/// Decimal logarithm of the largest of 1, 2 and 5 times a power of ten that is not above `value`.
fn round_below(value: f64) -> f64 {
    let power = value.log10().floor();
    let part = value / 10_f64.powf(power) * (1.0 + 1e-9);
    power + [5.0, 2.0].into_iter().find(|round| *round <= part).map_or(0.0, f64::log10)
}

/// Labels of the level axis: the values themselves if they are few.
pub(super) fn level_ticks(plot: &Plot, place: Place) -> Vec<(f64, String)> {
    let mut values: Vec<f64> = plot.lines.iter().flat_map(|line| &line.points).map(|point| point.x).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    if values.len() <= MAX_LEVEL_LABELS {
        return values.into_iter().map(|value| (place.at(value), number(value, &plot.x))).collect();
    }
    place.ticks()
}

/// Values on the level axis that all get labels.
const MAX_LEVEL_LABELS: usize = 14;

fn number(value: f64, axis: &Axis) -> String {
    const KIBI: f64 = 1_024.0;
    let is_multiple = |unit: f64| axis.scale == Scale::Logarithmic && value >= unit && value % unit == 0.0;
    if is_multiple(KIBI * KIBI) {
        format!("{}Mi", value / (KIBI * KIBI))
    } else if is_multiple(KIBI) {
        format!("{}Ki", value / KIBI)
    } else {
        value.to_string()
    }
}

fn around(value: f64) -> (f64, f64) {
    if value.is_finite() { (value - 1.0, value + 1.0) } else { (0.0, 1.0) }
}

/// Multiples of 1, 2, 2.5 or 5 times a power of ten, about five of them.
fn linear_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let rough = (high - low) / 5.0;
    let decade = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|part| part * decade).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(10.0 * decade);
    // Not -0.
    let first = (low / step).ceil() + 0.0;
    let counted = std::iter::successors(Some(first), |count| Some(count + 1.0));
    let ticks = counted.map(|count| count * step).take_while(|tick| *tick <= high);
    ticks.map(|tick| (tick, rounded(tick, step))).collect()
}

/// `tick` without the noise of the multiplication.
fn rounded(tick: f64, step: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "decimal exponents of f64 lie within 400 of 0")]
    let digits = (1.0 - step.log10().floor()).max(0.0) as usize;
    let text = format!("{tick:.digits$}");
    let short = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    short.to_owned()
}

/// `part` times ten to the `power`.
fn round_label(part: f64, power: f64) -> String {
    if (0.0..=3.0).contains(&power) {
        (part * 10_f64.powf(power)).to_string()
    } else if (-3.0..0.0).contains(&power) {
        #[expect(clippy::cast_possible_truncation, reason = "1 to 3")]
        let digits = -power as usize;
        format!("{:.digits$}", part * 10_f64.powf(power))
    } else {
        format!("{part}e{power}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::model::Line;

    fn plot(y: Axis, points: &[(f64, f64)]) -> Plot {
        Plot {
            title: "t".into(),
            x: Axis::linear("x"),
            y,
            lines: vec![Line::ours("a", points.iter().copied())],
        }
    }

    #[test]
    fn powers_of_ten_enclose_the_values() {
        let place = Place::upright(&plot(Axis::logarithmic("y"), &[(1.0, 0.02), (2.0, 0.0), (3.0, 5e-6)]));
        let labels: Vec<String> = place.ticks().into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels, ["1e-5", "1e-4", "0.001", "0.01"]);
        assert!(place.is_off(0.0) && place.at(0.0) < place.at(5e-6));
        assert!(place.low < place.at(0.0) && place.at(0.02) < place.high);
    }

    #[test]
    fn narrow_axes_have_labels_between_powers() {
        let place = Place::upright(&plot(Axis::logarithmic("y"), &[(1.0, 0.93), (2.0, 8.8)]));
        let labels: Vec<String> = place.ticks().into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels, ["0.5", "1", "2", "5", "10"]);
    }

    #[test]
    fn ticks_are_round_numbers() {
        let labels = |high| linear_ticks(0.0, high).into_iter().map(|(_, label)| label).collect::<Vec<_>>();
        assert_eq!(labels(1.0), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(labels(13.0), ["0", "5", "10"]);
        assert_eq!(labels(1_080.0), ["0", "250", "500", "750", "1000"]);
    }

    #[test]
    fn values_below_zero_have_a_place() {
        let place = Place::upright(&plot(Axis::linear("y"), &[(1.0, -72.0), (2.0, 97.0)]));
        let labels: Vec<String> = place.ticks().into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels, ["-50", "0", "50", "100"]);
        assert!(place.low < place.at(-72.0) && place.at(97.0) < place.high);
        let nothing = Place::upright(&plot(Axis::linear("y"), &[(1.0, 0.0)]));
        assert!(nothing.low.to_bits() == 0.0_f64.to_bits() && nothing.high > 0.0);
    }

    #[test]
    fn a_single_point_has_room() {
        let place = Place::level(&plot(Axis::linear("y"), &[(14.0, 0.0)]));
        assert!(place.low < 14.0 && 14.0 < place.high);
    }
}
