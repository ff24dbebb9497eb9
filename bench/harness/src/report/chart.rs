//! Line charts as SVG text.
//!
//! One chart, a few series, a linear or logarithmic upright axis with gridlines, a legend below. Zeros have no place on
//! a logarithmic axis; they stand on its lower edge as hollow circles. Numbers are printed with one decimal, so the
//! same points give the same text everywhere.
//!
//! Each point is a group of class `point` with its exact values in `data-series`, `data-x` and `data-y`, and a text of
//! class `tip` that the page shows while the pointer is over it.

use std::fmt::Write as _;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 44.0;
const LEGEND_COLUMNS: usize = 4;
const LEGEND_LINE: f64 = 18.0;

/// Colours that stay apart for the colour-blind (Okabe and Ito, without yellow and black).
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
/// Dash patterns for series beyond the colours.
const DASHES: [&str; 3] = ["none", "6 3", "2 3"];

/// How the upright axis runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// From 0.
    Linear,
    /// In powers of ten.
    Logarithmic,
}

/// A point of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Place on the level axis.
    pub x: f64,
    /// Height; not below 0.
    pub y: f64,
}

/// A named line.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The text in the legend.
    pub name: String,
    /// Its points, ascending in `x`.
    pub points: Vec<Point>,
}

/// A chart to be drawn.
///
/// ```
/// use lacuna_bench::report::{Chart, Point, Scale, Series};
///
/// let points = vec![Point { x: 10.0, y: 0.1 }, Point { x: 14.0, y: 0.01 }];
/// let series = vec![Series { name: "grafite".into(), points }];
/// let chart = Chart { title: "rate", x_label: "bits per key", scale: Scale::Logarithmic, series };
/// assert!(chart.to_svg().starts_with("<svg"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Chart<'a> {
    /// Above the chart.
    pub title: &'a str,
    /// Below the level axis.
    pub x_label: &'a str,
    /// How the upright axis runs.
    pub scale: Scale,
    /// The lines.
    pub series: Vec<Series>,
}

impl Chart<'_> {
    /// The chart as one `<svg>` element.
    pub fn to_svg(&self) -> String {
        let frame = Frame::around(self);
        let legend_lines = self.series.len().div_ceil(LEGEND_COLUMNS);
        let height = HEIGHT + legend_lines as f64 * LEGEND_LINE;
        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" aria-label=\"{0}\">\n\
             <text class=\"title\" x=\"{LEFT}\" y=\"18\">{0}</text>\n",
            escaped(self.title)
        );
        frame.draw_axes(&mut svg, self.x_label);
        for (index, series) in self.series.iter().enumerate() {
            frame.draw_line(&mut svg, index, series);
            draw_legend(&mut svg, index, &series.name);
        }
        // After all lines, so that none runs over a tip.
        for (index, series) in self.series.iter().enumerate() {
            frame.draw_points(&mut svg, index, series);
        }
        svg + "</svg>\n"
    }
}

/// Text that may stand in HTML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Which values lie at the edges.
struct Frame {
    scale: Scale,
    x: (f64, f64),
    /// Values for a linear axis, decimal logarithms for the other.
    y: (f64, f64),
    x_ticks: Vec<f64>,
}

impl Frame {
    fn around(chart: &Chart<'_>) -> Self {
        let points = || chart.series.iter().flat_map(|series| &series.points);
        let mut x_ticks: Vec<f64> = points().map(|point| point.x).collect();
        x_ticks.sort_by(f64::total_cmp);
        x_ticks.dedup();
        let x = (x_ticks.first().copied().unwrap_or(0.0), x_ticks.last().copied().unwrap_or(0.0));
        let x = if x.0 < x.1 { x } else { (x.0 - 1.0, x.1 + 1.0) };
        let max = points().map(|point| point.y).fold(0.0, f64::max);
        let y = match chart.scale {
            Scale::Linear => (0.0, nice_step(max) * 5.0),
            Scale::Logarithmic => {
                let min = points().map(|point| point.y).filter(|y| *y > 0.0).fold(f64::INFINITY, f64::min);
                let min = if min.is_finite() { min.log10().floor() } else { -1.0 };
                let max = if max > 0.0 { max.log10().ceil() } else { 0.0 };
                (min, max.max(min + 1.0))
            }
        };
        Self { scale: chart.scale, x, y, x_ticks }
    }

    fn x_at(&self, x: f64) -> f64 {
        LEFT + (x - self.x.0) / (self.x.1 - self.x.0) * (WIDTH - LEFT - RIGHT)
    }

    /// The height of an axis position: a value, or its logarithm.
    fn y_of_position(&self, position: f64) -> f64 {
        let share = ((position - self.y.0) / (self.y.1 - self.y.0)).clamp(0.0, 1.0);
        HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
    }

    fn y_at(&self, y: f64) -> f64 {
        match self.scale {
            Scale::Linear => self.y_of_position(y),
            Scale::Logarithmic if y > 0.0 => self.y_of_position(y.log10()),
            Scale::Logarithmic => self.y_of_position(self.y.0),
        }
    }

    fn draw_axes(&self, svg: &mut String, x_label: &str) {
        let right = WIDTH - RIGHT;
        for (position, label) in self.y_ticks() {
            let y = self.y_of_position(position);
            line(
                svg,
                &format!("<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"),
            );
            let (x, y) = (LEFT - 8.0, y + 4.0);
            line(svg, &format!("<text class=\"end\" x=\"{x}\" y=\"{y:.1}\">{label}</text>"));
        }
        let y = HEIGHT - BOTTOM + 18.0;
        for tick in &self.x_ticks {
            let x = self.x_at(*tick);
            line(svg, &format!("<text class=\"mid\" x=\"{x:.1}\" y=\"{y}\">{tick}</text>"));
        }
        let (x, y) = (LEFT.midpoint(right), y + 16.0);
        line(svg, &format!("<text class=\"mid\" x=\"{x}\" y=\"{y}\">{}</text>", escaped(x_label)));
    }

    /// Positions and labels of the gridlines.
    fn y_ticks(&self) -> Vec<(f64, String)> {
        let (low, high) = self.y;
        match self.scale {
            Scale::Linear => {
                (0..=5).map(|part| high * f64::from(part) / 5.0).map(|y| (y, y.to_string())).collect()
            }
            Scale::Logarithmic => {
                let decades = std::iter::successors(Some(low), |decade| Some(decade + 1.0));
                decades
                    .take_while(|decade| *decade <= high)
                    .map(|decade| (decade, power_of_ten(decade)))
                    .collect()
            }
        }
    }

    fn draw_line(&self, svg: &mut String, index: usize, series: &Series) {
        let (colour, dash) = look(index);
        let mut path = String::new();
        for point in &series.points {
            write!(path, "{:.1},{:.1} ", self.x_at(point.x), self.y_at(point.y))
                .expect("a string takes all text");
        }
        let path = path.trim_end();
        line(svg, &format!("<polyline points=\"{path}\" stroke=\"{colour}\" stroke-dasharray=\"{dash}\"/>"));
    }

    fn draw_points(&self, svg: &mut String, index: usize, series: &Series) {
        let (colour, _) = look(index);
        let name = escaped(&series.name);
        for Point { x: value_x, y: value_y } in &series.points {
            let hollow = self.scale == Scale::Logarithmic && *value_y == 0.0;
            let fill = if hollow { "none" } else { colour };
            let (x, y) = (self.x_at(*value_x), self.y_at(*value_y));
            let place = format!("cx=\"{x:.1}\" cy=\"{y:.1}\"");
            let data = format!("data-series=\"{name}\" data-x=\"{value_x}\" data-y=\"{value_y}\"");
            line(svg, &format!("<g class=\"point\" {data}>"));
            line(svg, &format!("<circle class=\"reach\" {place} r=\"9\"/>"));
            line(svg, &format!("<circle {place} r=\"3.5\" fill=\"{fill}\" stroke=\"{colour}\"/>"));
            draw_tip(svg, (x, y), &format!("{name}: {value_y} at {value_x}"));
            line(svg, "</g>");
        }
    }
}

/// The text of a point: above it where there is room, and on the side where there is more.
fn draw_tip(svg: &mut String, (x, y): (f64, f64), text: &str) {
    let (x, anchor) = if x < WIDTH / 2.0 { (x + 8.0, "") } else { (x - 8.0, " end") };
    let y = if y < TOP + 16.0 { y + 18.0 } else { y - 10.0 };
    line(svg, &format!("<text class=\"tip{anchor}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>"));
}

fn line(svg: &mut String, element: &str) {
    svg.push_str(element);
    svg.push('\n');
}

fn look(index: usize) -> (&'static str, &'static str) {
    (COLOURS[index % COLOURS.len()], DASHES[index / COLOURS.len() % DASHES.len()])
}

fn draw_legend(svg: &mut String, index: usize, name: &str) {
    let (colour, dash) = look(index);
    let column_width = (WIDTH - LEFT - RIGHT) / LEGEND_COLUMNS as f64;
    let x = LEFT + (index % LEGEND_COLUMNS) as f64 * column_width;
    let y = HEIGHT + (index / LEGEND_COLUMNS) as f64 * LEGEND_LINE + 6.0;
    let end = x + 20.0;
    line(
        svg,
        &format!(
            "<line x1=\"{x:.1}\" x2=\"{end:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"{colour}\" stroke-width=\"2\" \
         stroke-dasharray=\"{dash}\"/>"
        ),
    );
    let (x, y) = (end + 6.0, y + 4.0);
    line(svg, &format!("<text x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(name)));
}

/// A fifth of the smallest of 0.5, 1, 2.5, 5, 10, ... that is not below `most`.
fn nice_step(max: f64) -> f64 {
    let max = if max > 0.0 { max } else { 1.0 };
    let decade = 10_f64.powi(decade_of(max));
    let top = [1.0, 2.5, 5.0, 10.0].into_iter().map(|part| part * decade).find(|top| *top >= max);
    top.unwrap_or(10.0 * decade) / 5.0
}

fn decade_of(value: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "decimal exponents of f64 lie within 400 of 0")]
    let decade = value.log10().floor() as i32;
    decade
}

fn power_of_ten(decade: f64) -> String {
    if (-3.0..=3.0).contains(&decade) { 10_f64.powf(decade).to_string() } else { format!("1e{decade}") }
}
