//! How hard to look, and from which seed: the two things a run may change from outside.
//!
//! `LACUNA_LONG=1` turns samples into whole proofs; `LACUNA_SEED=7` draws other sets and queries. Nothing is skipped
//! without them: every fact is checked in every run, on less in a short one.

use lacuna_workload::Rng;

/// The seed unless `LACUNA_SEED` gives another.
const DEFAULT_SEED: u64 = 1;

/// Whether `LACUNA_LONG=1` asks for whole proofs.
pub fn is_long() -> bool {
    std::env::var_os("LACUNA_LONG").is_some_and(|value| value == "1")
}

/// `long` under `LACUNA_LONG=1`, else `short`.
pub fn short_or_long<T>(short: T, long: T) -> T {
    if is_long() { long } else { short }
}

/// The seed of this run; every fault names it.
///
/// # Panics
/// If `LACUNA_SEED` is set to anything but a number.
pub fn seed() -> u64 {
    match std::env::var("LACUNA_SEED") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("LACUNA_SEED={text} is not a whole number")),
        Err(_) => DEFAULT_SEED,
    }
}

/// Random numbers of this run; each `stream` is independent of the others.
pub fn rng(stream: u64) -> Rng {
    Rng::with_stream(seed(), stream)
}
