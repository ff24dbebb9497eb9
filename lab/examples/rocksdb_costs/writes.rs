//! Puts, flushes and compactions, with filters and without.

use crate::SPEC;
use crate::clock::Clock;
use crate::database::{Home, Points, Setup};

/// Seconds of all threads to write everything and compact it, in alternating rounds.
pub(crate) fn compare(keys: u64, rounds: u64) {
    let mut seconds = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for (spec, seconds) in [None, Some(SPEC)].into_iter().zip(&mut seconds) {
            let home = Home::empty(Setup { spec, points: Points::Bloom }).with_keys(keys);
            let open = home.open(false);
            seconds.push(Clock::Process.seconds(|| open.fill()));
        }
    }
    let [without, with] = seconds.map(median);
    println!(
        "put, flush, compact: {without:.2} s of processors without, {with:.2} s with, ratio {:.3}",
        with / without
    );
}

/// The middle value.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
