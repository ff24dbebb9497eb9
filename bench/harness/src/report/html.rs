//! One page that holds everything: charts, the table, the command. It loads nothing.

use super::chart::{Chart, Point, Scale, Series, escaped};
use super::table::shown_rate;
use crate::Row;

const STYLE: &str = "\
:root { color-scheme: light dark; --text: #1f2328; --quiet: #59636e; --line: #d1d9e0; --page: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --quiet: #9198a1; --line: #3d444d; --page: #0d1117; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); max-width: 1320px;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; }
p.quiet { color: var(--quiet); } code { font-size: 0.9em; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); gap: 1rem 2rem; }
svg { width: 100%; height: auto; }
svg text { font: 12px system-ui, sans-serif; fill: var(--quiet); }
svg .title { font-size: 14px; font-weight: 600; fill: var(--text); }
svg .mid { text-anchor: middle; } svg .end { text-anchor: end; }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg polyline { fill: none; stroke-width: 2; }
svg .reach { fill: transparent; stroke: none; }
svg .tip { visibility: hidden; pointer-events: none; fill: var(--text); font-weight: 600; paint-order: stroke;
  stroke: var(--page); stroke-width: 6px; stroke-linejoin: round; }
svg .point:hover .tip { visibility: visible; }
svg .point:hover circle { r: 6px; } svg .point:hover .reach { r: 9px; }
.scroll { overflow-x: auto; margin-top: 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { padding: 0.25rem 0.75rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; }
.bug { color: #d1242f; font-weight: 600; }
";

/// The page over `rows`: one section for each pair of keys and queries, in the order in which they come.
pub fn to_html(title: &str, command: &str, rows: &[Row]) -> String {
    let title = escaped(title);
    let sections: String = workloads(rows).iter().map(|rows| section(rows)).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n\
         <p class=\"quiet\">Made by <code>{}</code>. \"No\" is always true, so there are no missed keys; the rate is \
         the share of empty queries that are answered \"maybe\" and cost a read. A hollow circle is a rate of 0; \
         point at a circle to read its values. \
         Times are medians of interleaved rounds on one thread: compare them with each other, not with other pages.\
         </p>\n{sections}</body>\n</html>\n",
        escaped(command)
    )
}

/// The rows, grouped by keys and queries.
fn workloads(rows: &[Row]) -> Vec<Vec<&Row>> {
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        let same = |group: &&mut Vec<&Row>| group[0].keys == row.keys && group[0].queries == row.queries;
        match groups.iter_mut().find(same) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

fn section(rows: &[&Row]) -> String {
    let first = rows[0];
    let charts = [
        chart(rows, "False positive rate", Scale::Logarithmic, |row| row.fpr),
        chart(rows, "Single query, ns", Scale::Linear, |row| Some(row.ns_per_query)),
        chart(rows, "Batched query, ns", Scale::Linear, |row| Some(row.ns_per_query_batched)),
        chart(rows, "Build, ns per key", Scale::Linear, |row| Some(row.build_ns_per_key)),
    ];
    format!(
        "<h2>{} keys of {}, {} queries of {} ({} empty), seed {}</h2>\n<div class=\"charts\">\n{}</div>\n{}",
        first.key_count,
        escaped(&first.keys),
        first.query_count,
        escaped(&first.queries),
        first.empty_count,
        first.seed,
        charts.concat(),
        table(rows)
    )
}

fn chart(rows: &[&Row], title: &str, scale: Scale, height: impl Fn(&Row) -> Option<f64>) -> String {
    let mut series: Vec<Series> = Vec::new();
    for row in rows {
        let Some(y) = height(row) else { continue };
        let point = Point { x: row.bits_per_key_asked, y };
        match series.iter_mut().find(|series| series.name == row.spec) {
            Some(series) => series.points.push(point),
            None => series.push(Series { name: row.spec.clone(), points: vec![point] }),
        }
    }
    series.iter_mut().for_each(|series| series.points.sort_by(|left, right| left.x.total_cmp(&right.x)));
    Chart { title, x_label: "bits per key asked", scale, series }.to_svg()
}

fn table(rows: &[&Row]) -> String {
    let header = [
        "filter",
        "asked",
        "bits/key",
        "rate",
        "missed",
        "ns/query",
        "batched",
        "memory floor",
        "build ns/key",
    ];
    let header: String = header.iter().map(|name| format!("<th>{name}</th>")).collect();
    let lines: String = rows.iter().map(|row| table_line(row)).collect();
    format!("<div class=\"scroll\"><table>\n<tr>{header}</tr>\n{lines}</table></div>\n")
}

fn table_line(row: &Row) -> String {
    let missed = match row.false_negatives {
        0 => "0".to_owned(),
        count => format!("<span class=\"bug\">{count}</span>"),
    };
    let cells = [
        escaped(&row.spec),
        row.bits_per_key_asked.to_string(),
        format!("{:.2}", row.bits_per_key),
        shown_rate(row.fpr),
        missed,
        format!("{:.1}", row.ns_per_query),
        format!("{:.1}", row.ns_per_query_batched),
        format!("{:.1}", row.memory_floor_ns),
        format!("{:.1}", row.build_ns_per_key),
    ];
    let cells: String = cells.iter().map(|cell| format!("<td>{cell}</td>")).collect();
    format!("<tr>{cells}</tr>\n")
}
