//! Findings as files, and as text for a terminal.

use lacuna_base::Result;

use super::csv::to_csv;
use super::markdown::{Provenance, claims_table, to_markdown};
use super::model::{DataTable, Exhibit, Finding, Paper};
use super::svg::to_svg;
use crate::report::Table;

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// Its name in the folder.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// The files of `findings`: for each exhibit the data and, if it has plots, a picture; and the page, which is
/// `README.md` for a whole paper and has the name of the exhibit where only one was made.
///
/// # Errors
/// As drawing the pictures.
pub fn files(
    paper: &Paper,
    findings: &[(&'static Exhibit, Finding)],
    provenance: &Provenance,
) -> Result<Vec<OutputFile>> {
    let mut files = Vec::new();
    for (exhibit, finding) in findings {
        let stem = exhibit.id.file_stem();
        files.push(OutputFile { name: format!("{stem}.csv"), text: to_csv(finding) });
        if !finding.plots.is_empty() {
            files.push(OutputFile { name: format!("{stem}.svg"), text: to_svg(finding, paper.cast)? });
        }
    }
    let name = match findings {
        [(exhibit, _)] if paper.exhibits.len() > 1 => format!("{}.md", exhibit.id.file_stem()),
        _ => "README.md".to_owned(),
    };
    files.push(OutputFile { name, text: to_markdown(paper, findings, provenance) });
    Ok(files)
}

/// The tables of `findings` for a terminal; pictures are left out.
pub fn to_text(findings: &[(&'static Exhibit, Finding)]) -> String {
    let mut text = String::new();
    for (exhibit, finding) in findings {
        text += &format!("{}: {}\n", exhibit.id.heading(), exhibit.title);
        if !finding.claims.is_empty() {
            text += &aligned(&claims_table(exhibit.id, &finding.claims));
        }
        for table in &finding.tables {
            text += &format!("{}\n{}", table.title, aligned(table));
        }
        for note in &finding.notes {
            text += &format!("{note}\n");
        }
        text.push('\n');
    }
    text
}

fn aligned(data: &DataTable) -> String {
    let mut table = Table::new(data.header.clone());
    data.rows.iter().for_each(|row| table.push(row.clone()));
    table.to_string()
}
