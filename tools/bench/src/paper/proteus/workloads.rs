//! Figure 5: rates of everyone over kinds of keys and queries, by budget.

use std::rc::Rc;

use lacuna_core::{Result, Sample, SortedKeys, U64Range};

use super::cast::{self, BITS, NAMES};
use super::contest::result_of;
use crate::paper::{Axis, Finding, GridResult, Line, Plot, Session, grid};

/// Lengths of queries: points, short ranges, long ranges.
const LENGTHS: [(&str, &str); 3] = [("points", "1"), ("2 to 2^7", "2-128"), ("2 to 2^20", "2-1048576")];

/// Keys and queries of a row, and how many of [`LENGTHS`] it has; the length stands for `L`.
const ROWS: [(&str, &str, usize); 6] = [
    ("uniform", "uniform:N:L", 3),
    ("uniform", "correlated:N:L:1024", 3),
    ("normal", "uniform:N:L", 3),
    ("normal", "split:N:L:1024", 3),
    // Between the keys of real sets is no room for long ranges.
    ("osm_node_ids", "half:N:L", 2),
    ("places_zorder", "half:N:L", 2),
];

/// Figure 5.
pub(super) fn rates(session: &mut Session<'_>) -> Result<Finding> {
    let mut finding = Finding::default();
    for (keys, queries, lengths) in ROWS {
        for (length, text) in LENGTHS.into_iter().take(lengths) {
            let result = measured(session, keys, &queries.replacen('L', text, 1))?;
            let law = queries.split(':').next().unwrap_or_default();
            finding.plots.push(plot(&format!("{keys}, {law}, {length}"), &result));
            finding.notes = result.notes();
        }
    }
    finding.notes.push(
        "Where SuRF is absent it does not fit. The paper shows SuRF's best choice of suffixes, which nobody can make \
         beforehand; here as many real or hash bits as fit. `half` leaves out half of the keys and starts queries there."
            .into(),
    );
    Ok(finding)
}

fn measured(session: &mut Session<'_>, keys: &str, queries: &str) -> Result<Rc<GridResult>> {
    let (keys_count, query_count) = (cast::key_count(session), cast::query_count(session));
    let is_real = keys.contains('_');
    let source = if is_real { keys.to_owned() } else { format!("{keys}:{keys_count}") };
    session.once(format!("proteus {source} {queries} {query_count}"), |session| {
        let keys = session.keys(&source)?;
        let ground = session.ground_of(&keys, queries, query_count)?;
        session.say(format!("{queries} over {source}"));
        let mut sample = Sample::new();
        ground.sample.iter().for_each(|&(low, high)| sample.push(low, high));
        let ranges: Vec<U64Range> = grid::ranges(&ground.queries).collect();
        result_of::<u64>(SortedKeys::integers(&ground.keys)?, &ranges, sample, &BITS, session.seed())
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
