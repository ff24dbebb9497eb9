//! Findings as files, and as text for a terminal.

use lacuna_base::Result;

use super::csv::to_csv;
use super::markdown::{Provenance, claims_table, to_markdown};
use super::model::{DataTable, Figure, Finding, Paper};
use super::svg::to_svg;
use lacuna_bench::report::Table;

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// Its name in the folder.
    pub name: String,
    /// Its contents.
    pub text: String,
}

/// The files of `findings`: for each figure the data and, if it has plots, a picture; and the page, which is
/// `README.md` for a whole paper and has the name of the figure where only one was made.
///
/// # Errors
/// As drawing the pictures.
pub fn files(
    paper: &Paper,
    findings: &[(&'static Figure, Finding)],
    provenance: &Provenance,
) -> Result<Vec<OutputFile>> {
    let mut files = Vec::new();
    for (figure, finding) in findings {
        let stem = figure.id.file_stem();
        files.push(OutputFile { name: format!("{stem}.csv"), text: to_csv(finding) });
        if !finding.plots.is_empty() {
            files.push(OutputFile { name: format!("{stem}.svg"), text: to_svg(finding, paper.line_names)? });
        }
    }
    let name = match findings {
        [(figure, _)] if paper.figures.len() > 1 => format!("{}.md", figure.id.file_stem()),
        _ => "README.md".to_owned(),
    };
    files.push(OutputFile { name, text: to_markdown(paper, findings, provenance) });
    Ok(files)
}

/// The tables of `findings` for a terminal; pictures are left out.
pub fn to_text(findings: &[(&'static Figure, Finding)]) -> String {
    let mut text = String::new();
    for (figure, finding) in findings {
        text += &format!("{}: {}\n", figure.id.heading(), figure.title);
        if !finding.claims.is_empty() {
            text += &aligned(&claims_table(figure, &finding.claims));
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
