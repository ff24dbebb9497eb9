//! Findings as a page.

use std::fmt::Write as _;

use super::conclusion::verdict;
use super::model::{Claim, DataTable, Figure, Finding, Line, Origin, Paper, Plot, shown};

/// Columns up to which the points of a panel are also printed as a table.
const MAX_COLUMNS: usize = 12;

/// What a page says about the run that made it.
#[derive(Debug, Clone, PartialEq)]
pub struct Provenance {
    /// The command that makes it again.
    pub command: String,
    /// The processor's model.
    pub machine: String,
    /// Seed of keys, queries and hashes.
    pub seed: u64,
    /// Tasks that wanted a processor beside each other at the end of the run, and the number of processors; `None` if the
    /// system does not say.
    pub load: Option<(f64, usize)>,
}

impl Provenance {
    /// The sentence about what else the machine did.
    pub(super) fn load_sentence(&self) -> String {
        self.load.map_or(String::new(), |(tasks, processors)| {
            format!(" At its end {tasks:.1} tasks wanted the {processors} processors.")
        })
    }
}

/// The page of `findings`.
pub(super) fn to_markdown(paper: &Paper, findings: &[(&Figure, Finding)], provenance: &Provenance) -> String {
    let Provenance { command, machine, seed, .. } = provenance;
    let load = provenance.load_sentence();
    let mut text = format!(
        "# {}, figure by figure\n\n{}\n\n`{command}`: one thread of {machine}, seed {seed}. Counts and sizes are the \
         same on every machine. Times and their ratios depend on the machine and on what else ran on it.{load}\n\n{}\n",
        paper.name, paper.citation, paper.method
    );
    for (figure, finding) in findings {
        push_figure(&mut text, figure, finding);
    }
    text
}

/// Writes the section of a figure.
pub(super) fn push_figure(text: &mut String, figure: &Figure, finding: &Finding) {
    let (heading, stem) = (figure.id.heading(), figure.id.file_stem());
    push(text, &format!("\n## {heading}: {}\n\n{}\n", figure.title, figure.shows));
    if !finding.plots.is_empty() {
        push(text, &format!("\n![{heading}]({stem}.svg)\n"));
    }
    if !finding.claims.is_empty() {
        push(text, "\n");
        push_table(text, &claims_table(figure, &finding.claims));
    }
    for table in &finding.tables {
        push(text, &format!("\n{}\n\n", table.title));
        push_table(text, table);
    }
    for plot in &finding.plots {
        if let Some(table) = points_table(plot) {
            push(text, &format!("\n{}: {} by {}\n\n", plot.title, plot.y.title, plot.x.title));
            push_table(text, &table);
        }
    }
    for note in &finding.notes {
        push(text, &format!("\n- {note}"));
    }
    push(
        text,
        &format!("{}\nData: [{stem}.csv]({stem}.csv)\n", if finding.notes.is_empty() { "" } else { "\n" }),
    );
}

/// The paper's numbers beside ours; with a verdict each if the paper concludes something from them.
pub(super) fn claims_table(figure: &Figure, claims: &[Claim]) -> DataTable {
    let concludes = figure.concludes;
    let row = |claim: &Claim| {
        let ours = claim.summary().map_or("not yet".to_owned(), |ours| ours.to_string());
        let ratio = claim.ours.filter(|_| claim.paper != 0.0);
        let ratio = ratio.map_or("-".to_owned(), |ours| format!("{:.2}", ours / claim.paper));
        let mut row = vec![claim.what.clone(), shown(claim.paper), ours, ratio];
        row.extend((!concludes.is_empty()).then(|| verdict(claim, concludes)));
        row
    };
    let mut header = ["", "paper", "ours", "ours / paper"].map(str::to_owned).to_vec();
    header.extend((!concludes.is_empty()).then(|| "the paper concludes".to_owned()));
    DataTable {
        title: format!("{}: the paper beside ours", figure.id.heading()),
        header,
        rows: claims.iter().map(row).collect(),
    }
}

/// The points of a panel, unless they are too many to read.
fn points_table(plot: &Plot) -> Option<DataTable> {
    let mut columns: Vec<f64> =
        plot.lines.iter().flat_map(|line| &line.points).map(|point| point.x).collect();
    columns.sort_by(f64::total_cmp);
    columns.dedup();
    if columns.is_empty() || columns.len() > MAX_COLUMNS {
        return None;
    }
    let mut header = vec![String::new()];
    header.extend(columns.iter().map(f64::to_string));
    let row = |line: &Line| {
        let whose = if line.origin == Origin::Paper { ", paper" } else { "" };
        let mut cells = vec![format!("{}{whose}", line.name)];
        cells.extend(
            columns.iter().map(|&x| line.summary_at(x).map_or("-".to_owned(), |runs| runs.to_string())),
        );
        cells
    };
    Some(DataTable { title: plot.title.clone(), header, rows: plot.lines.iter().map(row).collect() })
}

pub(super) fn push_table(text: &mut String, table: &DataTable) {
    push(text, &format!("| {} |\n|{}\n", table.header.join(" | "), " --- |".repeat(table.header.len())));
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        push(text, &format!("| {} |\n", cells.join(" | ")));
    }
}

fn push(text: &mut String, more: &str) {
    text.write_str(more).expect("a string takes all text");
}
