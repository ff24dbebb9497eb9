//! Findings as comma-separated values: one point or one number a line.

use std::fmt::Write as _;

use lacuna_base::{Error, Result};

use super::model::{Claim, Finding};

/// The panel of claims.
const CLAIMS: &str = "claims";

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
        push(&mut text, [CLAIMS, &claim.what, "paper", "", &claim.paper.to_string()]);
        push(&mut text, [CLAIMS, &claim.what, "ours", "", &ours]);
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

/// The claims in a file that [`to_csv`] wrote.
///
/// # Errors
/// `Corrupt` if a line has not five fields, or a number of the paper is missing or none.
pub(super) fn read_claims(data: &str) -> Result<Vec<Claim>> {
    let corrupt = |line: &str| Error::corrupt(format!("`{line}` is no line of a figure's data"));
    let mut claims: Vec<Claim> = Vec::new();
    for line in data.lines().filter(|line| line.starts_with("claims,")) {
        let fields = fields(line);
        let [_, what, origin, _, value] = &fields[..] else { return Err(corrupt(line)) };
        let number = value.parse::<f64>().ok();
        let known = claims.last_mut().filter(|claim| claim.what == *what);
        match (origin.as_str(), number, known) {
            ("ours", ours, Some(claim)) if ours.is_some() || value.is_empty() => claim.ours = ours,
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
    fn misshapen_claims_are_refused() {
        for data in
            ["claims,a,paper,,x", "claims,a,ours,,1", "claims,a,paper,,1\nclaims,b,ours,,1", "claims,a"]
        {
            assert!(read_claims(data).is_err(), "{data}");
        }
    }
}
