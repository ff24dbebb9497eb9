//! The designer against the best family, on few cells of its grid; 51 under `LACUNA_LONG=1`, all in `lacuna-lab designer-grid`.

use lacuna_lab::designer_grid::{Cell, Clock, Outcome, Scale, Summary, cells, run};

fn outcomes(every: usize, scale: Scale) -> Vec<Outcome> {
    let cells = cells().into_iter().skip(1).step_by(every);
    cells.filter_map(|cell| run(cell, scale).expect("runs")).collect()
}

fn report(outcomes: &[Outcome]) -> String {
    let far = outcomes.iter().filter(|outcome| !outcome.is_close());
    far.map(|outcome| format!("{}: {outcome:?}\n", outcome.cell)).collect()
}

#[test]
fn auto_is_close_to_the_best_family() {
    let long = std::env::var_os("LACUNA_LONG").is_some_and(|value| value == "1");
    // Odd strides meet every length and budget.
    let (every, key_count) = if long { (15, 1_000_000) } else { (61, 30_000) };
    let scale = Scale { key_count, query_count: 20_000, seed: 1, clock: Clock::Counted };
    let outcomes = outcomes(every, scale);
    let summary = Summary::of(&outcomes);
    println!("{summary:?}, seed 1");
    assert!(outcomes.len() >= if long { 48 } else { 12 }, "{summary:?}");
    // Of a dozen cells one may miss: with 20,000 queries a rate is known to a few nanoseconds.
    let close = if long { 0.95 } else { 0.9 };
    assert!(summary.close >= close && summary.worst <= 1.5, "{summary:?}, seed 1\n{}", report(&outcomes));
}

#[test]
fn a_design_for_the_wrong_queries_is_told_apart() {
    let cell = cells()[0];
    let scale = Scale { key_count: 5_000, query_count: 2_000, seed: 1, clock: Clock::Counted };
    let outcome = run(cell, scale).expect("runs").expect("has such queries");
    let mut bad = outcome.clone();
    bad.chosen.cost_ns = outcome.best.cost_ns * 1.6 + 5.0;
    assert!(outcome.ratio() < bad.ratio() && !bad.is_close());
    assert!(!Summary::of(&[bad]).meets_the_bar());
}

/// Ranges of 32 keys right after a key: what was chosen before ribbon is known, and is not ribbon.
#[test]
fn a_choice_is_held_against_the_one_of_before() {
    let is_meant = |cell: &Cell| {
        (cell.keys, cell.starts, cell.lengths) == ("uniform", "correlated 32", "2-32")
            && cell.bits_per_key == 14.0
    };
    let cell = cells().into_iter().find(is_meant).expect("a cell of the grid");
    let scale = Scale { key_count: 20_000, query_count: 4_000, seed: 1, clock: Clock::Counted };
    let outcome = run(cell, scale).expect("runs").expect("has such queries");
    println!("{outcome:?}");
    assert!(outcome.chosen.spec.starts_with("ribbon") && !outcome.before.spec.starts_with("ribbon"));
    assert!(!outcome.is_worse() && outcome.beside_before() < 1.0);
    let mut worse = outcome.clone();
    worse.chosen.cost_ns = 2.0 * worse.before.cost_ns;
    let change = Summary::of(&[outcome.clone(), worse, outcome]).change;
    assert!(change.worse == 1 && change.most == 2.0 && change.median < 1.0 && change.of_median < 1.0);
}
