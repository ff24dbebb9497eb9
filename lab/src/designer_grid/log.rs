//! Cells that are done, one a line, so that a run of hours can be broken off and resumed.

use super::cell::{Cell, cells};
use super::outcome::{Cost, Outcome};

/// Between the fields of a line; no name of a cell and no spec has one.
const SEPARATOR: char = '\t';

/// The line of `cell`: what came out of it, or nothing but its name where it has no such queries.
pub fn to_line(cell: &Cell, outcome: Option<&Outcome>) -> String {
    let mut fields = vec![cell.to_string()];
    if let Some(Outcome { chosen, predicted_ns, best, before, .. }) = outcome {
        fields.push(predicted_ns.to_string());
        for Cost { spec, rate, question_ns, cost_ns } in [chosen, best, before] {
            fields.push(spec.clone());
            fields.extend([rate, question_ns, cost_ns].map(ToString::to_string));
        }
    }
    fields.join(&SEPARATOR.to_string())
}

/// The cell of a line with what came out of it; `None` for a line that [`to_line`] does not write, such as one cut short.
pub fn from_line(line: &str) -> Option<(Cell, Option<Outcome>)> {
    let mut fields = line.split(SEPARATOR);
    let name = fields.next()?;
    let cell = cells().into_iter().find(|cell| cell.to_string() == name)?;
    let Some(predicted) = fields.next() else { return Some((cell, None)) };
    let predicted_ns = predicted.parse().ok()?;
    let mut cost = || {
        let spec = fields.next()?.to_owned();
        let mut number = || fields.next()?.parse::<f64>().ok();
        Some(Cost { spec, rate: number()?, question_ns: number()?, cost_ns: number()? })
    };
    let (chosen, best, before) = (cost()?, cost()?, cost()?);
    fields.next().is_none().then_some((cell, Some(Outcome { cell, chosen, predicted_ns, best, before })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_written() {
        let cost = |spec: &str, rate: f64| Cost {
            spec: spec.to_owned(),
            rate,
            question_ns: rate / 3.0 + 61.7,
            cost_ns: rate * 20_000.0 + 1e-7,
        };
        let cell = cells()[301];
        let (chosen, best) = (cost("rencoder:k=3,ss", 0.1), cost("proteus:trie=0,bloom=58", 1.0 / 3.0));
        let before = cost("bucketing:gap=64", 0.25);
        let outcome = Outcome { cell, chosen, predicted_ns: 7.0 / 3.0, best, before };
        let line = to_line(&cell, Some(&outcome));
        assert_eq!(from_line(&line), Some((cell, Some(outcome))));
        assert_eq!(from_line(&to_line(&cell, None)), Some((cell, None)));
        for cut in cell.to_string().len() + 1..line.rfind(SEPARATOR).expect("several fields") + 1 {
            assert_eq!(from_line(&line[..cut]), None, "cut after {cut} bytes");
        }
        assert_eq!(from_line(&format!("{line}\t1")), None);
        assert_eq!(from_line("uniform, uniform, 3 keys, 8 bits"), None);
    }

    #[test]
    fn names_tell_cells_apart() {
        let names: std::collections::BTreeSet<String> = cells().iter().map(Cell::to_string).collect();
        assert_eq!(names.len(), cells().len());
    }
}
