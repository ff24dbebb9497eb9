//! Keys, empty ranges and opened bodies for the tests.

use std::sync::Arc;

use lacuna_base::{Budget, BuildPlan, Envelope, Sample, Sealed};
use lacuna_workload::Rng;

use crate::integer::IntegerBody;
use crate::rosetta::Rosetta;

pub(super) fn uniform_keys(count: usize, rng: &mut Rng) -> Vec<u64> {
    let mut keys: Vec<u64> = (0..count).map(|_| rng.next_u64()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Empty ranges of `shortest` to `longest` keys that start anywhere or, for `behind` above 0, that distance after a
/// key.
pub(super) fn empty_ranges(
    keys: &[u64],
    count: usize,
    (shortest, longest): (u64, u64),
    behind: u64,
    rng: &mut Rng,
) -> Vec<(u64, u64)> {
    let mut ranges = Vec::new();
    while ranges.len() < count {
        let lo = match behind {
            0 => rng.next_u64(),
            _ => keys[rng.index(keys.len())].saturating_add(rng.between(1, behind)),
        };
        let hi = lo.saturating_add(rng.between(shortest, longest) - 1);
        if keys.partition_point(|&key| key < lo) == keys.partition_point(|&key| key <= hi) {
            ranges.push((lo, hi));
        }
    }
    ranges
}

pub(super) fn plan(bits: f64, seed: u64, ranges: &[(u64, u64)]) -> BuildPlan<u64> {
    let mut sample = Sample::new();
    ranges.iter().for_each(|&(lo, hi)| sample.push(lo, hi));
    BuildPlan::new(Budget::bits_per_key(bits).expect("in range"))
        .with_seed(seed)
        .with_sample(Arc::new(sample))
}

pub(super) fn body(sealed: &Sealed) -> Rosetta {
    let (envelope, payload) = Envelope::open(sealed.as_bytes()).expect("just sealed");
    Rosetta::open(payload, &envelope).expect("just sealed")
}

/// Shares of "maybe", and probes, of `ranges`.
pub(super) fn measured(sealed: &Sealed, ranges: &[(u64, u64)]) -> (f64, f64) {
    let rosetta = body(sealed);
    let answers = ranges.iter().map(|&(lo, hi)| rosetta.walk(sealed.payload(), lo, hi));
    let (positives, probes) = answers.fold((0u32, 0u64), |(positives, probes), (answer, walked)| {
        (positives + u32::from(answer), probes + u64::from(walked))
    });
    (f64::from(positives) / ranges.len() as f64, probes as f64 / ranges.len() as f64)
}
