//! Figure 5: rates of all filters over kinds of keys and queries, by budget.

use std::rc::Rc;

use lacuna_base::{Result, Sample, SortedKeys, U64Range};

use super::contest::result_of;
use super::filters::{self, BITS, NAMES};
use super::mixed::mixed;
use crate::paper::{Axis, Finding, GridResult, Line, Plot, Session, TestBed, grid};

/// Lengths of queries: points, short ranges, long ranges, and points and long ranges in turn.
const LENGTHS: &[(&str, &str)] = &[
    ("points", "1"),
    ("2 to 2^7", "2-128"),
    ("2 to 2^20", "2-1048576"),
    ("points and 2 to 2^20", "1+2-1048576"),
];
/// The gaps between keys of real sets are too short for long ranges.
const SHORT_LENGTHS: &[(&str, &str)] =
    &[("points", "1"), ("2 to 2^7", "2-128"), ("points and 2 to 2^7", "1+2-128")];

/// Keys, queries and lengths of a row; the length stands for `L`.
type Row = (&'static str, &'static str, &'static [(&'static str, &'static str)]);
const ROWS: [Row; 6] = [
    ("uniform", "uniform:N:L", LENGTHS),
    ("uniform", "correlated:N:L:1024", LENGTHS),
    ("normal", "uniform:N:L", LENGTHS),
    ("normal", "split:N:L:1024", LENGTHS),
    ("osm_node_ids", "half:N:L", SHORT_LENGTHS),
    ("places_zorder", "half:N:L", SHORT_LENGTHS),
];

/// Figure 5.
pub(super) fn rates(session: &mut Session<'_>) -> Result<Finding> {
    let mut finding = Finding::default();
    for (keys, queries, lengths) in ROWS {
        for (length, text) in lengths {
            let result = measured(session, keys, queries, text)?;
            let law = queries.split(':').next().unwrap_or_default();
            finding.plots.push(plot(&format!("{keys}, {law}, {length}"), &result));
            finding.notes = result.notes();
        }
    }
    finding.notes.push(
        "Where SuRF is absent it does not fit. The paper shows SuRF's best choice of suffixes, which cannot be made \
         beforehand; here as many real or hash bits as fit. `half` leaves out half of the keys and starts queries there."
            .into(),
    );
    Ok(finding)
}

/// Rates over queries of all `lengths`, which stand around plus signs, in turn.
fn measured(session: &mut Session<'_>, keys: &str, law: &str, lengths: &str) -> Result<Rc<GridResult>> {
    let (keys_count, query_count) = (filters::key_count(session), filters::query_count(session));
    let is_real = keys.contains('_');
    let source = if is_real { keys.to_owned() } else { format!("{keys}:{keys_count}") };
    session.once(format!("proteus {source} {law} {lengths} {query_count}"), |session| {
        let keys = session.keys(&source)?;
        let kinds: Vec<&str> = lengths.split('+').collect();
        let mut test_bed: Option<TestBed> = None;
        for lengths in &kinds {
            let queries = law.replacen('L', lengths, 1);
            let next = session.test_bed_of(&keys, &queries, query_count / kinds.len())?;
            test_bed = Some(test_bed.map_or(next.clone(), |test_bed| mixed(&test_bed, &next)));
        }
        let test_bed = test_bed.expect("there is one kind at least");
        session.say(format!("{law}, {lengths} keys, over {source}"));
        let mut sample = Sample::new();
        test_bed.sample.iter().for_each(|&(low, high)| sample.push(low, high));
        let ranges: Vec<U64Range> = grid::ranges(&test_bed.queries).collect();
        result_of::<u64>(SortedKeys::integers(&test_bed.keys)?, &ranges, sample, &BITS, session.seed())
    })
}

/// Rates over budgets.
pub(super) fn plot(title: &str, result: &GridResult) -> Plot {
    let line = |name: &'static str| Line::ours(name, result.of(name).map(|cell| (cell.bits, cell.rate())));
    Plot {
        title: title.to_owned(),
        x: Axis::linear("bits per key"),
        y: Axis::logarithmic("false positive rate"),
        lines: NAMES.into_iter().map(line).filter(|line| !line.points.is_empty()).collect(),
    }
}
