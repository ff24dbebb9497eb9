//! Comma-separated values with a header, quoted as RFC 4180 says.

use serde::Serialize;
use serde_json::Value;

/// The first columns of every version, by which a report is known.
pub(super) const FIRST_COLUMNS: usize = 7;
/// The names of the columns, in the order of [`Row`]'s fields.
pub(super) const COLUMNS: [&str; 24] = [
    "filter",
    "spec",
    "keys",
    "key_count",
    "bits_per_key_asked",
    "bits_per_key",
    "build_ns_per_key",
    "build_ns_per_key_low",
    "build_ns_per_key_high",
    "queries",
    "query_count",
    "empty_count",
    "fpr",
    "predicted_fpr",
    "false_negatives",
    "ns_per_query",
    "ns_per_query_low",
    "ns_per_query_high",
    "ns_per_query_batched",
    "ns_per_query_batched_low",
    "ns_per_query_batched_high",
    "memory_floor_ns",
    "seed",
    "note",
];

/// A header and one line a row; what is unknown stays empty. Rows are [`Row`](crate::Row)s or
/// [`Outcome`](crate::Outcome)s.
pub fn to_csv<R: Serialize>(rows: &[R]) -> String {
    csv_of(&COLUMNS, rows)
}

/// The same for rows of any kind, by the names of their fields.
pub fn csv_of<R: Serialize>(columns: &[&str], rows: &[R]) -> String {
    let mut text = columns.join(",") + "\n";
    for row in rows {
        let row = serde_json::to_value(row).expect("a row holds numbers and texts");
        let fields: Vec<String> = columns.iter().map(|column| field(&row[*column])).collect();
        text += &fields.join(",");
        text.push('\n');
    }
    text
}

fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) if text.contains([',', '"', '\n', '\r']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
