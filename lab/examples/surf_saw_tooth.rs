//! The saw-tooth of SuRF's base over uniform integers: bits a key and rate of uniform points, measured and in closed form.
//!
//! `cargo run --release -p lacuna-lab --example surf_saw_tooth [keys...]` prints rows for
//! `docs/design/surf-saw-tooth.md`. 50 million keys take about a minute and 2 GB.

use lacuna_base::{Budget, BuildPlan, Result, SortedKeys};
use lacuna_workload::{Rng, parse_count};

const QUERIES: usize = 1_000_000;
const COUNTS: [&str; 6] = ["1M", "2M", "5M", "10M", "20M", "50M"];

fn main() -> Result<()> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let counts = if asked.is_empty() { COUNTS.map(str::to_owned).to_vec() } else { asked };
    println!("| keys | bits per key | rate measured | rate in closed form |\n| ---: | ---: | ---: | ---: |");
    for name in counts {
        let count = parse_count(&name)?;
        let mut rng = Rng::new(count);
        let mut keys: Vec<u64> = (0..count).map(|_| rng.next_u64()).collect();
        keys.sort_unstable();
        keys.dedup();
        let plan = BuildPlan::<u64>::new(Budget::bits_per_key(16.0)?);
        let spec = lacuna_families::spec::<u64>("surf:real=0")?;
        let sealed = spec.build(SortedKeys::integers(&keys)?, &plan)?;
        let bits_per_key = sealed.payload().len() as f64 * 8.0 / keys.len() as f64;
        drop(keys);
        let surf = lacuna_families::open::<u64, _>(sealed)?;
        let maybes = (0..QUERIES).filter(|_| surf.may_contain(rng.next_u64())).count();
        let (measured, closed) = (maybes as f64 / QUERIES as f64, closed_form(count as f64));
        println!("| {name} | {bits_per_key:.2} | {:.2} % | {:.2} % |", measured * 100.0, closed * 100.0);
    }
    Ok(())
}

/// Chance that a uniform integer shares the kept bytes of one of `count` uniform integers.
///
/// A key is kept to d + 1 bytes if it shares d bytes with another key and d + 1 with none. So an integer meets one there if
/// exactly one key has its first d + 1 bytes, and a further one its first d.
fn closed_form(count: f64) -> f64 {
    let mean = |depth: i32| count / f64::from(8 * depth).exp2();
    (1..=7)
        .map(|depth| {
            let (own, parent) = (mean(depth), mean(depth - 1));
            let is_shared = if depth == 1 { 1.0 } else { -(own - parent).exp_m1() };
            own * (-own).exp() * is_shared
        })
        .sum()
}
