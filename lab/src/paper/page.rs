//! Changes to a page that was made before: one figure measured again, or its claims judged again from its data.

use lacuna_base::{Error, Result};

use super::csv::read_claims;
use super::markdown::{Provenance, claims_table, push_figure, push_table};
use super::model::{Figure, Finding};

/// How the header of every table of claims begins.
const CLAIMS_HEADER: &str = "|  | paper | ours | ours / paper |";

/// The `page` of a whole paper with the section of `figure` made anew from `finding`, at its end if it has none; the section
/// says by which command.
pub fn with_section(page: &str, figure: &Figure, finding: &Finding, provenance: &Provenance) -> String {
    let whole = format!("{page}\n");
    let (before, _, after) = split_at_section(page, figure).unwrap_or((&whole, "", ""));
    let mut finding = finding.clone();
    let Provenance { command, machine, seed, .. } = provenance;
    let load = provenance.load_sentence();
    finding.notes.push(format!(
        "Made later than the rest of this page: `{command}`, one thread of {machine}, seed {seed}.{load}"
    ));
    let mut section = String::new();
    push_figure(&mut section, figure, &finding);
    format!("{before}{}{after}", section.trim_start_matches('\n'))
}

/// The `page` with the table of claims of `figure` made anew from `data`, the figure's file of comma-separated values.
/// Nothing else of the page changes; without claims in the data nothing at all.
///
/// # Errors
/// `InvalidInput` if the page has no such section or table, `Corrupt` if the data does not hold together.
pub fn judged(page: &str, figure: &Figure, data: &str) -> Result<String> {
    let claims = read_claims(data)?;
    if claims.is_empty() {
        return Ok(page.to_owned());
    }
    let heading = figure.id.heading();
    let missing = || Error::invalid_input(format!("the page has no claims of `{heading}`"));
    let (before, section, after) = split_at_section(page, figure).ok_or_else(missing)?;
    let start = section.find(CLAIMS_HEADER).ok_or_else(missing)?;
    let length = section[start..].find("\n\n").map_or(section.len() - start, |end| end + 1);
    let mut table = String::new();
    push_table(&mut table, &claims_table(figure, &claims));
    Ok(format!("{before}{}{table}{}{after}", &section[..start], &section[start + length..]))
}

/// What stands before the section of `figure`, the section from its heading on, and what comes after it.
fn split_at_section<'a>(page: &'a str, figure: &Figure) -> Option<(&'a str, &'a str, &'a str)> {
    let heading = format!("\n## {}: ", figure.id.heading());
    let start = page.find(&heading)? + 1;
    // The empty line between two sections is after the first of them.
    let end = page[start..].find("\n\n## ").map_or(page.len(), |place| start + place + 1);
    Some((&page[..start], &page[start..end], &page[end..]))
}
