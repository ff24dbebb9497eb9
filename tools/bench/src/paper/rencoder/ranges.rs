//! Figures over range queries.

use lacuna_core::Result;

use super::cast;
use crate::paper::{Axis, Finding, Grid, GridRounds, Line, Plot, Session};

/// Figure 7.
pub(super) fn rates(session: &mut Session<'_>) -> Result<Finding> {
    let grid = Grid {
        keys: format!("uniform:{}", session.key_count(50_000_000)),
        queries: "uniform:N:2-32".into(),
        sample: None,
        contenders: cast::everyone(),
        bits: vec![14.0, 16.0, 18.0, 20.0, 22.0, 24.0, 26.0],
        rounds: GridRounds { queries: 9, builds: 3 },
    };
    let result = session.grid(&grid)?;
    let lines = cast::NAMES
        .iter()
        .filter(|name| result.of(name).next().is_some())
        .map(|name| Line::ours(*name, result.of(name).map(|cell| (cell.bits, cell.rate()))));
    let plot = Plot {
        title: "2-32".into(),
        x: Axis::linear("bits per key"),
        y: Axis::logarithmic("false positive rate"),
        lines: lines.collect(),
    };
    Ok(Finding { plots: vec![plot], notes: result.notes(), ..Finding::default() })
}
