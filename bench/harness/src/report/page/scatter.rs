//! Rate against time and rate against size: budgets of one filter joined by a line, its name in a column at the right.
//!
//! Names stand in the order of their marks, far enough from each other to be read, and a thin line leads to each.

use super::axis::LogAxis;
use super::dots::arrow;
use super::reading::{Rate, Reading};
use super::{escaped, figure, shortened};
use crate::Row;

const WIDTH: f64 = 360.0;
const LEFT: f64 = 44.0;
/// Where the marks end and the column of names begins.
const RIGHT: f64 = 226.0;
const NAMES: f64 = 246.0;
const TOP: f64 = 20.0;
/// Between two names, from line to line.
const NAME_LINE: f64 = 14.0;
/// Characters of a name that fit into the column.
const NAME_LENGTH: usize = 16;
const MIN_HEIGHT: f64 = 240.0;
/// Room below the marks: labels of the axis, its title, and the values of the mark that is looked at.
const BELOW: f64 = 54.0;
/// Room between the marks and the edges of their area.
const INSET: f64 = 8.0;
/// Radius of the smallest mark, and what the largest has more.
const RADII: (f64, f64) = (2.5, 5.5);

/// What lies along the level axis.
#[derive(Debug, Clone, Copy)]
struct Across {
    key: &'static str,
    caption: &'static str,
    title: &'static str,
    value: fn(&Row) -> f64,
}

const TIME: Across = Across {
    key: "rate_and_time",
    caption: "Rate against time",
    title: "one query, ns",
    value: |row| row.ns_per_query,
};
const SIZE: Across = Across {
    key: "rate_and_size",
    caption: "Rate against size",
    title: "bits per key",
    value: |row| row.bits_per_key,
};

/// The picture over time, and that over size where there are several budgets; none without a rate.
pub(super) fn all(readings: &[Reading<'_>]) -> String {
    let known: Vec<(&Reading<'_>, Rate)> =
        readings.iter().filter_map(|reading| Some((reading, reading.rate()?))).collect();
    if known.is_empty() {
        return String::new();
    }
    let sizes = known.iter().map(|(reading, _)| reading.row.bits_per_key);
    let (min, max) = (sizes.clone().fold(f64::INFINITY, f64::min), sizes.fold(0.0, f64::max));
    let note = format!("marks grow with size, {min:.1} to {max:.1} bits per key");
    let time = Picture::of(TIME, &known, Some(max)).figure(&known, &note);
    let has_budgets = known.iter().any(|(reading, _)| reading.has_budgets);
    let size = has_budgets.then(|| Picture::of(SIZE, &known, None).figure(&known, ""));
    time + &size.unwrap_or_default()
}

/// The frame of a picture.
struct Picture {
    across: Across,
    x: LogAxis,
    y: LogAxis,
    bottom: f64,
    /// Marks grow up to this size, if they do.
    max_bits: Option<f64>,
}

impl Picture {
    fn of(across: Across, known: &[(&Reading<'_>, Rate)], max_bits: Option<f64>) -> Self {
        let x = LogAxis::around(known.iter().map(|(reading, _)| (across.value)(reading.row).max(0.01)));
        let y = LogAxis::around(known.iter().map(|(_, rate)| rate.place()));
        let names = specs(known).len() as f64 * NAME_LINE;
        Self { across, x, y, bottom: TOP + names.max(MIN_HEIGHT), max_bits }
    }

    fn figure(&self, known: &[(&Reading<'_>, Rate)], note: &str) -> String {
        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH} {}\" role=\"group\" aria-label=\"{}\">\n",
            self.bottom + BELOW,
            self.across.caption
        );
        svg += &self.axes();
        svg += &self.names(known);
        let marks: String = known.iter().map(|(reading, rate)| self.mark(reading, *rate)).collect();
        figure(self.across.key, self.across.caption, note, &(svg + &marks + "</svg>\n"))
    }

    fn place(&self, row: &Row, rate: Rate) -> (f64, f64) {
        (self.right_to((self.across.value)(row).max(0.01)), self.down_to(rate.place()))
    }

    fn right_to(&self, value: f64) -> f64 {
        LEFT + INSET + self.x.share(value) * (RIGHT - LEFT - 2.0 * INSET)
    }

    fn down_to(&self, rate: f64) -> f64 {
        self.bottom - INSET - self.y.share(rate) * (self.bottom - TOP - 2.0 * INSET)
    }

    fn axes(&self) -> String {
        let Self { bottom, across, .. } = self;
        let mut svg = "<text class=\"tick\" x=\"0\" y=\"12\">rate</text>\n".to_owned();
        for (value, label) in self.y.ticks(None) {
            let y = self.down_to(value);
            svg +=
                &format!("<line class=\"grid\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\n");
            svg += &format!(
                "<text class=\"tick end\" x=\"{}\" y=\"{:.1}\">{label}</text>\n",
                LEFT - 6.0,
                y + 4.0
            );
        }
        for (value, label) in self.x.ticks(Some(RIGHT - LEFT - 2.0 * INSET)) {
            let x = self.right_to(value);
            svg +=
                &format!("<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom}\"/>\n");
            svg += &format!("<text class=\"tick mid\" x=\"{x:.1}\" y=\"{}\">{label}</text>\n", bottom + 15.0);
        }
        let middle = LEFT.midpoint(RIGHT);
        svg + &format!(
            "<text class=\"tick mid\" x=\"{middle}\" y=\"{}\">{}</text>\n",
            bottom + 31.0,
            across.title
        )
    }

    /// The line through the budgets of each filter, and its name.
    fn names(&self, known: &[(&Reading<'_>, Rate)]) -> String {
        let mut ends: Vec<(f64, f64, Vec<&Reading<'_>>, String)> = Vec::new();
        for spec in specs(known) {
            let of_spec = known.iter().filter(|(reading, _)| reading.row.spec == spec);
            let mut budgets: Vec<(&Reading<'_>, Rate)> = of_spec.copied().collect();
            budgets.sort_by(|left, right| {
                left.0.row.bits_per_key_asked.total_cmp(&right.0.row.bits_per_key_asked)
            });
            let places: Vec<(f64, f64)> =
                budgets.iter().map(|(reading, rate)| self.place(reading.row, *rate)).collect();
            let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let (x, y) = places[places.len() - 1];
            ends.push((x, y, budgets.iter().map(|budget| budget.0).collect(), path.join(" ")));
        }
        ends.sort_by(|left, right| left.1.total_cmp(&right.1));
        let heights = spread(ends.iter().map(|end| end.1), TOP + 6.0, self.bottom - 4.0);
        let name = |((x, y, budgets, path), height): (&(f64, f64, Vec<&Reading<'_>>, String), f64)| {
            let class = if budgets.iter().any(|reading| reading.leads) { "series lead" } else { "series" };
            let spec = &budgets[0].row.spec;
            format!(
                "<g class=\"{class}\" data-spec=\"{}\"><title>{0}</title><polyline class=\"budgets\" points=\"{path}\"/>\
                 <polyline class=\"leader\" points=\"{x:.1},{y:.1} {:.1},{height:.1} {},{height:.1}\"/>\
                 <text x=\"{NAMES}\" y=\"{:.1}\">{}</text></g>\n",
                escaped(spec),
                RIGHT + 6.0,
                NAMES - 4.0,
                height + 4.0,
                escaped(&shortened(spec, NAME_LENGTH)),
            )
        };
        ends.iter().zip(heights).map(name).collect()
    }

    /// A mark, and its values, which are shown while it is looked at.
    fn mark(&self, reading: &Reading<'_>, rate: Rate) -> String {
        let row = reading.row;
        let (x, y) = self.place(row, rate);
        let radius = RADII.0 + RADII.1 * self.max_bits.map_or(0.25, |max| (row.bits_per_key / max).sqrt());
        let mark = match rate {
            Rate::Measured(_) => {
                format!("<circle class=\"mark\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"/>")
            }
            Rate::Below(_) => arrow(x, y, (0.0, 1.0)),
        };
        let values = format!(
            "{}: {}, {:.0} ns, {:.1} bits",
            escaped(&reading.name()),
            escaped(&rate.shown()),
            row.ns_per_query,
            row.bits_per_key
        );
        format!(
            "<g {} tabindex=\"0\" role=\"img\" aria-label=\"{values}\" data-x=\"{}\" data-y=\"{}\">\
             <circle class=\"reach\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"12\"/>{mark}\
             <text class=\"tip mid\" x=\"{}\" y=\"{}\">{values}</text></g>\n",
            reading.attributes(),
            (self.across.value)(row),
            row.fpr.unwrap_or_default(),
            WIDTH / 2.0,
            self.bottom + 49.0
        )
    }
}

/// The specs, each once, in their order.
fn specs<'a>(known: &[(&Reading<'a>, Rate)]) -> Vec<&'a str> {
    let mut specs: Vec<&str> = Vec::new();
    for (reading, _) in known {
        if !specs.contains(&reading.row.spec.as_str()) {
            specs.push(&reading.row.spec);
        }
    }
    specs
}

/// Heights at least [`NAME_LINE`] apart between `top` and `bottom`, near the ascending ones that are wanted.
fn spread(wanted: impl Iterator<Item = f64>, top: f64, bottom: f64) -> Vec<f64> {
    let mut heights: Vec<f64> = Vec::new();
    for height in wanted {
        let free_from = heights.last().map_or(top, |last| last + NAME_LINE);
        heights.push(height.max(free_from));
    }
    let mut free_to = bottom;
    for height in heights.iter_mut().rev() {
        *height = height.min(free_to);
        free_to = *height - NAME_LINE;
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_never_overlap() {
        for wanted in [vec![50.0; 10], vec![290.0; 10], vec![30.0, 31.0, 200.0, 201.0, 289.0, 290.0], vec![]]
        {
            let heights = spread(wanted.iter().copied(), 20.0, 290.0);
            assert!(heights.windows(2).all(|pair| pair[1] - pair[0] >= NAME_LINE - 1e-9), "{heights:?}");
            assert!(heights.iter().all(|height| (20.0..=290.0).contains(height)), "{heights:?}");
        }
        assert_eq!(
            spread([40.0, 100.0].into_iter(), 20.0, 290.0),
            [40.0, 100.0],
            "names stay where there is room"
        );
    }
}
