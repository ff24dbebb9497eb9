//! Puts, flushes and compactions, with filters and without.

use std::time::Instant;

use crate::SPEC;
use crate::database::{Home, Points, Setup};

/// Seconds to write everything and compact it, in alternating rounds.
pub(crate) fn compare(keys: u64, rounds: u64) {
    let mut seconds = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for (spec, seconds) in [None, Some(SPEC)].into_iter().zip(&mut seconds) {
            let home = Home::empty(Setup { spec, points: Points::Bloom }).with_keys(keys);
            let open = home.open(false);
            let start = Instant::now();
            open.fill();
            seconds.push(start.elapsed().as_secs_f64());
        }
    }
    let [without, with] = seconds.map(median);
    println!("put, flush, compact: {without:.1} s without, {with:.1} s with, ratio {:.3}", with / without);
}

/// The middle value.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
