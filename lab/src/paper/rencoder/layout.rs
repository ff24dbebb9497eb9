//! Not in the paper: its own layout beside ours, in sizes, rates and times.

use std::rc::Rc;

use lacuna_base::Result;

use super::filters::{BITS, PUBLISHED, PUBLISHED_SPEC, SYNTHETIC_KEYS};
use super::header::Header;
use super::{key_sets, points, ranges};
use crate::paper::grid::{build, plan};
use crate::paper::{Cell, DataTable, Finding, GridResult, Session, Summary, shown};

/// Both layouts: names in figures, specs, and readers of their headers.
type Layout = (&'static str, &'static str, fn(&[u8]) -> Header);
const LAYOUTS: [Layout; 2] =
    [("REncoder", "rencoder", Header::of), (PUBLISHED, PUBLISHED_SPEC, Header::of_published)];

/// Sizes and designs by budget; then rates and times of what other figures ask.
pub(super) fn run(session: &mut Session<'_>) -> Result<Finding> {
    let asked: [(&str, Rc<GridResult>); 3] = [
        ("ranges of 2 to 32 keys (figures 5 and 7)", ranges::short(session)?),
        ("ranges that start 32 after a key (figure 11)", key_sets::correlated(session)?),
        ("points (figure 9)", points::points(session)?),
    ];
    let mut tables = vec![designs(session)?];
    tables.extend(asked.iter().map(|(title, result)| beside(title, result)));
    let notes = vec![
        "Both fill about half of their bits. The roots that the published layout stores, and bits of a byte that the same \
         nodes compete for, make its rate higher at equal size; a bitmap from any byte on lies in two cache lines, and bits \
         are looked at one by one."
            .to_owned(),
    ];
    Ok(Finding { tables, notes, ..Finding::default() })
}

/// What is built at each budget.
fn designs(session: &mut Session<'_>) -> Result<DataTable> {
    let keys = session.keys(&format!("uniform:{}", session.key_count(SYNTHETIC_KEYS)))?;
    let test_bed = session.test_bed_of(&keys, "uniform:N:2-32", 2)?;
    let mut rows = Vec::new();
    for bits in BITS {
        for (name, spec, header) in LAYOUTS {
            let sealed = build(spec, &test_bed, &plan(&test_bed, bits, session.seed())?)?;
            let Header { level_count, hash_count, ones, .. } = header(sealed.payload());
            let taken = sealed.payload().len() as f64 * 8.0 / keys.len() as f64;
            rows.push(vec![
                format!("{name}, {bits} bits"),
                format!("{taken:.3}"),
                hash_count.to_string(),
                level_count.to_string(),
                shown(ones),
            ]);
        }
    }
    let header = ["", "bits per key", "hash functions", "stored levels", "share of ones"];
    Ok(table("Sizes and designs", &header, rows))
}

/// Rates and times of both layouts over one workload.
fn beside(title: &str, result: &GridResult) -> DataTable {
    let row = |bits: &f64| {
        let cells = [result.cell("REncoder", *bits)?, result.cell(PUBLISHED, *bits)?];
        let mut row = vec![format!("{bits} bits")];
        for value in [rate as fn(&Cell) -> Summary, query_ns, build_ns] {
            let [ours, published] = cells.map(value);
            let ratio = Summary::once(published.median / ours.median);
            row.extend([ours, published, ratio].map(cell_text));
        }
        Some(row)
    };
    let header = [
        "",
        "rate, ours",
        "published",
        "published / ours",
        "ns a query, ours",
        "published",
        "published / ours",
        "ns a key to build, ours",
        "published",
        "published / ours",
    ];
    table(title, &header, BITS.iter().filter_map(row).collect())
}

/// A number; nothing where it was not measured.
fn cell_text(value: Summary) -> String {
    if value.median.is_finite() && value.median > 0.0 { value.to_string() } else { "-".to_owned() }
}

fn rate(cell: &Cell) -> Summary {
    Summary::once(cell.rate())
}

fn query_ns(cell: &Cell) -> Summary {
    cell.speed.map_or(Summary::once(0.0), |speed| speed.query_ns)
}

fn build_ns(cell: &Cell) -> Summary {
    cell.speed.map_or(Summary::once(0.0), |speed| speed.build_ns)
}

fn table(title: &str, header: &[&str], rows: Vec<Vec<String>>) -> DataTable {
    DataTable {
        title: title.to_owned(),
        header: header.iter().map(|cell| (*cell).to_owned()).collect(),
        rows,
    }
}
