//! temporary driver
use lacuna_bench::designer_grid::{Clock, Scale, Summary, cells, run, to_page};
fn main() {
    let args: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let (every, keys, queries) = (args[0], args[1], args[2]);
    let scale = Scale { key_count: keys, query_count: queries, seed: 1, clock: Clock::Counted };
    let mut outcomes = Vec::new();
    let mut skipped = 0;
    for cell in cells().into_iter().skip(args[3]).step_by(every) {
        match run(cell, scale).unwrap() {
            Some(o) => {
                if !o.is_close() {
                    println!(
                        "{cell}: {:.2}\n   {:?}\n   {:?} predicted {:.1}",
                        o.ratio(),
                        o.chosen,
                        o.best,
                        o.predicted_ns
                    );
                }
                outcomes.push(o)
            }
            None => skipped += 1,
        }
    }
    println!("{:?} skipped {skipped}", Summary::of(&outcomes));
    std::fs::write("/tmp/grid.md", to_page(&outcomes, skipped, "x")).unwrap();
}
