//! One value of all filters: a line for each, sorted, with its value written beside its dot.

use super::axis::LogAxis;
use super::reading::{Rate, Reading};
use super::{escaped, figure};

const WIDTH: f64 = 360.0;
/// Characters of a name that fit before the dots.
const NAME_LENGTH: usize = 20;
/// From the first to the last dot.
const DOTS: (f64, f64) = (142.0, 292.0);
const LINE: f64 = 18.0;
/// Room below the lines for the labels of the axis.
const BELOW: f64 = 22.0;

/// A value of a row.
#[derive(Debug, Clone, Copy)]
struct Field {
    /// The name of the row's field.
    key: &'static str,
    caption: &'static str,
    note: &'static str,
    value: fn(&Reading<'_>) -> Option<Value>,
}

struct Value {
    /// As it stands in the row.
    exact: f64,
    /// Where it is drawn.
    place: f64,
    shown: String,
    is_bound: bool,
    /// The least and the greatest of the middle half of the rounds.
    spread: Option<(f64, f64)>,
}

const FIELDS: [Field; 5] = [
    Field {
        key: "fpr",
        caption: "False positive rate",
        note: "share of the empty queries",
        value: |reading| {
            let rate = reading.rate()?;
            let is_bound = matches!(rate, Rate::Below(_));
            let (exact, place) = (reading.row.fpr?, rate.place());
            Some(Value { exact, place, shown: rate.shown(), is_bound, spread: None })
        },
    },
    Field {
        key: "bits_per_key",
        caption: "Size",
        note: "bits per key, all included",
        value: |reading| Some(Value::plain(reading.row.bits_per_key, 2)),
    },
    Field {
        key: "ns_per_query",
        caption: "One query",
        note: "nanoseconds, each after the answer before it",
        value: |Reading { row, .. }| {
            Some(Value::time(row.ns_per_query, [row.ns_per_query_low, row.ns_per_query_high]))
        },
    },
    Field {
        key: "ns_per_query_batched",
        caption: "Query in a batch",
        note: "nanoseconds each, 1,024 a call",
        value: |Reading { row, .. }| {
            let ends = [row.ns_per_query_batched_low, row.ns_per_query_batched_high];
            Some(Value::time(row.ns_per_query_batched, ends))
        },
    },
    Field {
        key: "build_ns_per_key",
        caption: "Build",
        note: "nanoseconds per key",
        value: |Reading { row, .. }| {
            Some(Value::time(row.build_ns_per_key, [row.build_ns_per_key_low, row.build_ns_per_key_high]))
        },
    },
];

impl Value {
    fn plain(exact: f64, decimals: usize) -> Self {
        let shown = format!("{exact:.decimals$}");
        Self { exact, place: drawable(exact), shown, is_bound: false, spread: None }
    }

    fn time(exact: f64, ends: [f64; 2]) -> Self {
        let [low, high] = ends.map(drawable);
        Self { spread: Some((low, high)), ..Self::plain(exact, 1) }
    }

    /// All places that it needs on the axis.
    fn places(&self) -> [f64; 3] {
        let (low, high) = self.spread.unwrap_or((self.place, self.place));
        [low, self.place, high]
    }
}

/// A logarithmic axis has no place for 0, which a clock may show.
fn drawable(exact: f64) -> f64 {
    exact.max(0.01)
}

/// A picture for each value that some filter has.
pub(super) fn all(readings: &[Reading<'_>]) -> String {
    FIELDS.iter().map(|field| plot(*field, readings)).collect()
}

fn plot(field: Field, readings: &[Reading<'_>]) -> String {
    let mut lines: Vec<(Value, &Reading<'_>)> =
        readings.iter().filter_map(|reading| Some(((field.value)(reading)?, reading))).collect();
    if lines.is_empty() {
        return String::new();
    }
    lines.sort_by(|left, right| left.0.place.total_cmp(&right.0.place));
    let axis = LogAxis::around(lines.iter().flat_map(|(value, _)| value.places()));
    let bottom = LINE * lines.len() as f64 + 4.0;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"{}: all values are in the table below\">\n",
        bottom + BELOW,
        field.caption
    );
    for (at, label) in axis.ticks(Some(DOTS.1 - DOTS.0)) {
        let x = across(axis, at);
        svg += &format!(
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"0\" y2=\"{bottom}\"/>\n\
             <text class=\"tick mid\" x=\"{x:.1}\" y=\"{}\">{label}</text>\n",
            bottom + 15.0
        );
    }
    for (place, (value, reading)) in lines.iter().enumerate() {
        svg += &line(axis, LINE * (place as f64 + 0.5), value, reading);
    }
    figure(field.key, field.caption, field.note, &(svg + "</svg>\n"))
}

/// A name, its dot and its value.
fn line(axis: LogAxis, y: f64, value: &Value, reading: &Reading<'_>) -> String {
    let (x, baseline) = (across(axis, value.place), y + 4.0);
    let mark = if value.is_bound {
        arrow(x, y, (-1.0, 0.0))
    } else {
        format!("<circle class=\"mark\" cx=\"{x:.1}\" cy=\"{y}\" r=\"4\"/>")
    };
    let (whisker, title) = value.spread.map_or((String::new(), reading.name()), |(low, high)| {
        let [from, to] = [low, high].map(|end| across(axis, end));
        let whisker =
            format!("<line class=\"whisker\" x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{y}\" y2=\"{y}\"/>");
        (whisker, format!("{}: middle half of the rounds {low:.1} to {high:.1}", reading.name()))
    });
    format!(
        "<g {} data-value=\"{}\"><title>{}</title>\
         <text x=\"0\" y=\"{baseline}\">{}</text>\
         <line class=\"guide\" x1=\"{}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\"/>{whisker}{mark}\
         <text class=\"end\" x=\"{WIDTH}\" y=\"{baseline}\">{}</text></g>\n",
        reading.attributes(),
        value.exact,
        escaped(&title),
        escaped(&reading.short_name(NAME_LENGTH)),
        DOTS.0 - 8.0,
        DOTS.1 + 6.0,
        escaped(&value.shown),
    )
}

/// A hollow triangle at a place, which points where the value lies.
pub(super) fn arrow(x: f64, y: f64, (right, down): (f64, f64)) -> String {
    let corners = [(6.0, 0.0), (-4.0, 5.0), (-4.0, -5.0)];
    let corners = corners.map(|(along, aside)| {
        format!("{:.1},{:.1}", x + along * right - aside * down, y + along * down + aside * right)
    });
    format!("<polygon class=\"mark bound\" points=\"{}\"/>", corners.join(" "))
}

fn across(axis: LogAxis, at: f64) -> f64 {
    DOTS.0 + axis.share(at) * (DOTS.1 - DOTS.0)
}
