//! Findings as comma-separated values: one point or one number a line.

use std::fmt::Write as _;

use lacuna_base::{Error, Result};

use super::model::{Claim, Finding};
use super::summary::parts;

/// The panel of claims.
const CLAIMS: &str = "claims";

/// A line of the file, before its numbers.
type Place<'a> = [&'a str; 4];

/// A file under way.
struct Lines {
    text: String,
    /// Whether there are columns for the least and the greatest of some runs.
    has_extents: bool,
}

/// All plots, claims and tables of a finding. Columns: `panel, line, origin, x, y`, and `low, high` if anything was measured in
/// several runs, whose median is y; for tables the row's first cell stands for the line, the column's header for x.
pub(super) fn to_csv(finding: &Finding) -> String {
    let has_extents = has_extents(finding);
    let text = if has_extents { "panel,line,origin,x,y,low,high\n" } else { "panel,line,origin,x,y\n" };
    let mut lines = Lines { text: text.to_owned(), has_extents };
    for plot in &finding.plots {
        for line in &plot.lines {
            for point in &line.points {
                let place = [&plot.title, &line.name, line.origin.name(), &point.x.to_string()];
                lines.push_numbers(place, Some(point.y), point.extent);
            }
        }
    }
    for claim in &finding.claims {
        lines.push_numbers([CLAIMS, &claim.what, "paper", ""], Some(claim.paper), None);
        lines.push_numbers([CLAIMS, &claim.what, "ours", ""], claim.ours, claim.extent);
    }
    for table in &finding.tables {
        for row in &table.rows {
            for (column, cell) in table.header.iter().zip(row).skip(1) {
                let (median, extent) = if has_extents { parts(cell) } else { (cell.as_str(), None) };
                lines.push([&table.title, &row[0], "ours", column], median, extent);
            }
        }
    }
    lines.text
}

/// Whether anything was measured in several runs.
fn has_extents(finding: &Finding) -> bool {
    let mut points = finding.plots.iter().flat_map(|plot| &plot.lines).flat_map(|line| &line.points);
    let mut cells = finding.tables.iter().flat_map(|table| table.rows.iter().flatten());
    points.any(|point| point.extent.is_some())
        || finding.claims.iter().any(|claim| claim.extent.is_some())
        || cells.any(|cell| parts(cell).1.is_some())
}

impl Lines {
    fn push_numbers(&mut self, place: Place<'_>, value: Option<f64>, extent: Option<(f64, f64)>) {
        let value = value.map_or(String::new(), |value| value.to_string());
        let extent = extent.map(|(low, high)| (low.to_string(), high.to_string()));
        self.push(place, &value, extent.as_ref().map(|(low, high)| (low.as_str(), high.as_str())));
    }

    fn push(&mut self, place: Place<'_>, value: &str, extent: Option<(&str, &str)>) {
        let (low, high) = extent.unwrap_or_default();
        let columns = if self.has_extents { 7 } else { 5 };
        let [panel, line, origin, x] = place;
        let fields = [panel, line, origin, x, value, low, high].map(quoted);
        writeln!(self.text, "{}", fields[..columns].join(",")).expect("a string takes all text");
    }
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

/// The claims in a file that [`to_csv`] wrote.
///
/// # Errors
/// `Corrupt` if a line has neither five fields nor seven, or a number of the paper is missing or none.
pub(super) fn read_claims(data: &str) -> Result<Vec<Claim>> {
    let corrupt = |line: &str| Error::corrupt(format!("`{line}` is no line of a figure's data"));
    let mut claims: Vec<Claim> = Vec::new();
    for line in data.lines().filter(|line| line.starts_with("claims,")) {
        let fields = fields(line);
        let ([_, what, origin, _, value] | [_, what, origin, _, value, _, _]) = &fields[..] else {
            return Err(corrupt(line));
        };
        let number = |text: &String| text.parse::<f64>().ok();
        let extent = || Some((number(fields.get(5)?)?, number(fields.get(6)?)?));
        let known = claims.last_mut().filter(|claim| claim.what == *what);
        match (origin.as_str(), number(value), known) {
            ("ours", ours, Some(claim)) if ours.is_some() || value.is_empty() => {
                (claim.ours, claim.extent) = (ours, extent());
            }
            ("paper", Some(paper), _) => claims.push(Claim::new(what.clone(), paper, None)),
            _ => return Err(corrupt(line)),
        }
    }
    Ok(claims)
}

/// The fields of a line, quotes taken off.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut is_quoted) = (vec![String::new()], false);
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let field = fields.last_mut().expect("there is one at least");
        match character {
            '"' if is_quoted && characters.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            _ => field.push(character),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::model::{Axis, DataTable, Line, Plot};
    use crate::paper::summary::Summary;

    #[test]
    fn claims_are_read_as_they_are_written() {
        let claims = vec![
            Claim::new("plain", 2.0, Some(1.25)),
            Claim::new("with \"quotes\", and commas", 1e-4, Some(0.1 + 0.2)),
            Claim::new("not measured", 3.0, None),
        ];
        let finding = Finding { claims: claims.clone(), ..Finding::default() };
        assert_eq!(read_claims(&to_csv(&finding)).expect("just written"), claims);
    }

    #[test]
    fn several_runs_have_columns_of_their_own() {
        let runs = Summary::of([1.0, 4.0, 2.5]);
        let claims = vec![
            Claim::of_runs("in runs", 3.0, Some(runs)),
            Claim::of_runs("once", 3.0, Some(Summary::once(1.0))),
        ];
        let plot = Plot {
            title: "p".into(),
            x: Axis::linear("x"),
            y: Axis::linear("y"),
            lines: vec![Line::of_runs("l", [(10.0, runs)])],
        };
        let table = DataTable {
            title: "t".into(),
            header: vec!["a".into(), "b".into()],
            rows: vec![vec!["r".into(), runs.to_string()]],
        };
        let finding =
            Finding { plots: vec![plot], claims: claims.clone(), tables: vec![table], ..Finding::default() };
        let csv = to_csv(&finding);
        assert_eq!(csv.lines().next(), Some("panel,line,origin,x,y,low,high"));
        for line in ["p,l,ours,10,2.5,1,4", "claims,once,ours,,1,,", "t,r,ours,b,2.50,1.00,4.00"] {
            assert!(csv.lines().any(|known| known == line), "{line} is not in\n{csv}");
        }
        assert_eq!(read_claims(&csv).expect("just written"), claims);
    }

    #[test]
    fn misshapen_claims_are_refused() {
        for data in
            ["claims,a,paper,,x", "claims,a,ours,,1", "claims,a,paper,,1\nclaims,b,ours,,1", "claims,a"]
        {
            assert!(read_claims(data).is_err(), "{data}");
        }
    }
}
