//! Findings as comma-separated values: one point or one number a line.

use std::fmt::Write as _;

use super::model::Finding;

/// All plots, claims and tables of a finding. Columns: `panel, line, origin, x, y`; for tables the row's first cell
/// stands for the line, the column's header for x.
pub(super) fn to_csv(finding: &Finding) -> String {
    let mut text = "panel,line,origin,x,y\n".to_owned();
    for plot in &finding.plots {
        for line in &plot.lines {
            for point in &line.points {
                push(
                    &mut text,
                    [&plot.title, &line.name, line.origin.name(), &point.x.to_string(), &point.y.to_string()],
                );
            }
        }
    }
    for claim in &finding.claims {
        let ours = claim.ours.map_or(String::new(), |ours| ours.to_string());
        push(&mut text, ["claims", &claim.what, "paper", "", &claim.paper.to_string()]);
        push(&mut text, ["claims", &claim.what, "ours", "", &ours]);
    }
    for table in &finding.tables {
        for row in &table.rows {
            for (column, cell) in table.header.iter().zip(row).skip(1) {
                push(&mut text, [&table.title, &row[0], "ours", column, cell]);
            }
        }
    }
    text
}

fn push(text: &mut String, fields: [&str; 5]) {
    writeln!(text, "{}", fields.map(quoted).join(",")).expect("a string takes all text");
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
