//! Figure 1: which filter copes with which queries, by their length and their distance to keys.

use std::rc::Rc;

use lacuna_base::{Result, Sample, SortedKeys, U64Range};

use super::contest::result_of;
use super::filters::{self, NAMES};
use crate::paper::{Axis, DataTable, Finding, GridResult, Line, Plot, Session, grid, shown};

/// Bits per key.
const BITS: f64 = 12.0;
/// Powers of two that ranges are at most long.
const LENGTH_BITS: [u32; 5] = [1, 5, 10, 15, 20];
/// Powers of two that queries start at most after a key; the last row is uniform queries.
const DEGREE_BITS: [u32; 6] = [1, 6, 12, 18, 24, 30];
/// Queries of each of the 35 fields.
const QUERIES: usize = 10_000;

/// One row of the picture: what is asked, and what each length gave.
type Row = (String, Vec<Rc<GridResult>>);

/// Figure 1.
pub(super) fn rates(session: &mut Session<'_>) -> Result<Finding> {
    let near =
        DEGREE_BITS.map(|bits| (format!("at most 2^{bits} from a key"), format!("correlated:N:L:2^{bits}")));
    let laws = near.into_iter().chain([("uniform".to_owned(), "uniform:N:L".to_owned())]);
    let rows: Vec<Row> = laws.map(|(name, law)| Ok((name, fields(session, &law)?))).collect::<Result<_>>()?;
    let present = |name: &&'static str| rows.iter().any(|(_, fields)| fields[0].cell(name, BITS).is_some());
    let names: Vec<&'static str> = NAMES.into_iter().filter(present).collect();
    Ok(Finding {
        plots: names.iter().map(|name| plot(name, &rows)).collect(),
        tables: names.iter().map(|name| table(name, &rows)).collect(),
        notes: vec![format!("{BITS} bits per key, {} uniform keys.", filters::key_count(session))],
        claims: Vec::new(),
    })
}

/// All filters, asked by `law` with ranges of each length.
fn fields(session: &mut Session<'_>, law: &str) -> Result<Vec<Rc<GridResult>>> {
    let keys = session.keys(&format!("uniform:{}", filters::key_count(session)))?;
    let field = |bits: &u32| {
        let queries = law.replacen('L', &format!("1-{}", 1_u64 << bits), 1);
        let count = session.query_count_or(QUERIES);
        let test_bed = session.test_bed_of(&keys, &queries, count)?;
        session.say(queries);
        let mut sample = Sample::new();
        test_bed.sample.iter().for_each(|&(low, high)| sample.push(low, high));
        let ranges: Vec<U64Range> = grid::ranges(&test_bed.queries).collect();
        let keys = SortedKeys::integers(&test_bed.keys)?;
        Ok(Rc::new(result_of::<u64>(keys, &ranges, sample, &[BITS], session.seed())?))
    };
    LENGTH_BITS.iter().map(field).collect()
}

/// Rates of `name` in a row, in percent; none where it could not be built.
fn percents<'a>(name: &'a str, fields: &'a [Rc<GridResult>]) -> impl Iterator<Item = Option<f64>> + 'a {
    fields.iter().map(move |field| field.cell(name, BITS).map(|cell| cell.rate() * 1e2))
}

fn plot(name: &str, rows: &[Row]) -> Plot {
    let line = |(law, fields): &Row| {
        let rates = LENGTH_BITS.iter().zip(percents(name, fields));
        Line::ours(law.clone(), rates.filter_map(|(bits, rate)| Some((f64::from(*bits), rate?))))
    };
    Plot {
        title: name.to_owned(),
        x: Axis::linear("longest range, as a power of two"),
        y: Axis::shade("false positive rate (%)"),
        lines: rows.iter().map(line).collect(),
    }
}

/// The paper's shades as numbers.
fn table(name: &str, rows: &[Row]) -> DataTable {
    let mut header = vec![String::new()];
    header.extend(LENGTH_BITS.map(|bits| format!("1 to 2^{bits}")));
    let row = |(law, fields): &Row| {
        let rates =
            percents(name, fields).map(|rate| rate.map_or("-".into(), |rate| format!("{} %", shown(rate))));
        [vec![law.clone()], rates.collect()].concat()
    };
    DataTable {
        title: format!("{name}: rate by length of ranges"),
        header,
        rows: rows.iter().map(row).collect(),
    }
}
