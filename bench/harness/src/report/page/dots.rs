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
}

const FIELDS: [Field; 5] = [
    Field {
        key: "fpr",
        caption: "False positive rate",
        note: "share of the empty queries",
        value: |reading| {
            let rate = reading.rate()?;
            let is_bound = matches!(rate, Rate::Below(_));
            Some(Value { exact: reading.row.fpr?, place: rate.place(), shown: rate.shown(), is_bound })
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
        value: |reading| Some(Value::plain(reading.row.ns_per_query, 1)),
    },
    Field {
        key: "ns_per_query_batched",
        caption: "Query in a batch",
        note: "nanoseconds each, 1,024 a call",
        value: |reading| Some(Value::plain(reading.row.ns_per_query_batched, 1)),
    },
    Field {
        key: "build_ns_per_key",
        caption: "Build",
        note: "nanoseconds per key",
        value: |reading| Some(Value::plain(reading.row.build_ns_per_key, 1)),
    },
];

impl Value {
    fn plain(exact: f64, decimals: usize) -> Self {
        // A logarithmic axis has no place for 0, which a clock may show.
        Self { exact, place: exact.max(0.01), shown: format!("{exact:.decimals$}"), is_bound: false }
    }
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
    let axis = LogAxis::around(lines.iter().map(|(value, _)| value.place));
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
    format!(
        "<g {} data-value=\"{}\"><title>{}</title>\
         <text x=\"0\" y=\"{baseline}\">{}</text>\
         <line class=\"guide\" x1=\"{}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\"/>{mark}\
         <text class=\"end\" x=\"{WIDTH}\" y=\"{baseline}\">{}</text></g>\n",
        reading.attributes(),
        value.exact,
        escaped(&reading.name()),
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
