//! Panels that many figures have: a grid's rates, speeds and sums over bits per key.

use super::filters::{NAMES, READ_NS};
use crate::paper::{Axis, Cell, GridResult, Line, Plot, Summary};

/// Rates on a logarithmic axis.
pub(super) fn rates(title: &str, result: &GridResult) -> Plot {
    plot(title, Axis::logarithmic("false positive rate"), result, |cell| Some(Summary::once(cell.rate())))
}

/// Queries that a filter answers in a second.
pub(super) fn filter_throughput(title: &str, result: &GridResult) -> Plot {
    plot(title, Axis::linear("filter throughput (Mops/s)"), result, |cell| {
        Some(cell.speed?.query_ns.map(|ns| 1e3 / ns))
    })
}

/// Queries in a second, reads after a "maybe" included.
pub(super) fn overall_throughput(title: &str, result: &GridResult) -> Plot {
    plot(title, Axis::logarithmic("overall throughput (Mops/s)"), result, |cell| {
        Some(overall(cell)?.map(|ns| 1e3 / ns))
    })
}

/// Time of a query in standard Bloom filters of the same budget asked for a point.
pub(super) fn blooms(title: &str, result: &GridResult) -> Plot {
    let axis = Axis::logarithmic("query time in standard Bloom filters");
    plot(title, axis, result, |cell| Some(cell.speed?.query_blooms))
}

/// A panel with a line for each filter that was measured.
pub(super) fn plot(
    title: &str,
    y: Axis,
    result: &GridResult,
    value: impl Fn(&Cell) -> Option<Summary>,
) -> Plot {
    let line = |name: &'static str| {
        let points: Vec<(f64, Summary)> =
            result.of(name).filter_map(|cell| Some((cell.bits, value(cell)?))).collect();
        (!points.is_empty()).then(|| Line::of_runs(name, points))
    };
    let lines = NAMES.into_iter().filter_map(line).collect();
    Plot { title: title.to_owned(), x: Axis::linear("bits per key"), y, lines }
}

/// Median nanoseconds a query in the filter.
pub(super) fn query_ns(cell: &Cell) -> Option<f64> {
    Some(cell.speed?.query_ns.median)
}

/// Nanoseconds a query in a store of two levels: the filter, and a read for each "maybe".
pub(super) fn overall(cell: &Cell) -> Option<Summary> {
    Some(cell.speed?.query_ns.map(|ns| ns + cell.rate() * READ_NS))
}

/// The median of [`overall`].
pub(super) fn overall_ns(cell: &Cell) -> Option<f64> {
    Some(overall(cell)?.median)
}

/// Mean over all budgets of `value` of `ours` divided by that of `theirs`.
pub(super) fn mean_ratio(
    result: &GridResult,
    ours: &str,
    theirs: &str,
    value: impl Fn(&Cell) -> Option<f64>,
) -> Option<f64> {
    let ratio = |cell: &Cell| Some(value(cell)? / value(result.cell(theirs, cell.bits)?)?);
    let ratios: Vec<f64> = result.of(ours).filter_map(ratio).collect();
    (!ratios.is_empty()).then(|| ratios.iter().sum::<f64>() / ratios.len() as f64)
}
