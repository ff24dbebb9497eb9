//! What asking a filter costs, in nanoseconds: a table of constants.
//!
//! A question costs a call, some work for each probe, and the wait for the cache lines it needs, which grows with the
//! size of the filter. The numbers were measured by `cargo run --release -p lacuna-bench --example designer_costs`, alone
//! on the machine, as the time of questions that follow one another over 1,000 to 1,000,000 keys: per family, those that
//! keep the relative error least, rounded. With them the median filter of a family is told to within 10 to 30 %. Other
//! machines have others, but what decides is their proportion, and a choice that followed a clock would not be the same
//! twice. Version 2 has Proteus, two prefix Bloom filters, Rosetta and SNARF measured, which were guesses before.

use lacuna_core::Prediction;

use crate::SnarfSpec;
use crate::kind::Kind;

/// Number of this table; a change of it may change what `auto` builds.
pub const COSTS_VERSION: u32 = 2;

/// Needless reads cost this many nanoseconds unless the spec says otherwise: a block from a fast local disk.
pub(crate) const DEFAULT_PRICE_NS: u32 = 20_000;

/// Nanoseconds of a question that the smallest and the largest key settle, and part of any other.
const SETTLED_NS: f64 = 4.0;

/// One row of the table.
#[derive(Debug, Clone, Copy)]
struct ProbeCosts {
    /// The question itself.
    call_ns: f64,
    /// Each of the family's probes.
    probe_ns: f64,
    /// Share of the time for a line from memory that each of its fetches waits for: some overlap.
    wait: f64,
}

/// The row of a family.
fn row(kind: Kind) -> ProbeCosts {
    let (call_ns, probe_ns, wait) = match kind {
        Kind::Bloom => (2.0, 6.5, 1.3),
        Kind::BlockedBloom => (6.0, 2.5, 1.0),
        Kind::PrefixBloom => (2.0, 6.5, 1.25),
        Kind::Bucketing => (12.0, 5.0, 1.15),
        Kind::Grafite => (20.0, 6.0, 1.15),
        Kind::Rencoder => (2.0, 17.0, 1.05),
        Kind::Surf => (2.0, 18.0, 1.15),
        Kind::Proteus => (6.0, 6.5, 1.25),
        Kind::TwoPrefixBloom => (4.0, 6.5, 1.25),
        Kind::Rosetta => (6.0, 8.0, 1.25),
        Kind::Snarf => (66.0, 1.5, 0.55),
        // Not measured: the designer has no use for deletion, so the family does not take part.
        Kind::Cuckoo => (4.0, 4.0, 1.1),
    };
    ProbeCosts { call_ns, probe_ns, wait }
}

/// Nanoseconds that one dependent read in an array of 2^14, 2^16, ... 2^30 bytes takes longer than one in the first-level
/// cache, on a machine whose caches others use too.
const READ_NS: [f64; 9] = [0.5, 2.0, 25.0, 75.0, 125.0, 150.0, 180.0, 230.0, 280.0];
/// Size of the array of the first of them, as a power of two.
const FIRST_READ_LOG2: f64 = 14.0;

/// Nanoseconds that one dependent read in an array of `bytes` waits.
fn read_ns(bytes: usize) -> f64 {
    // The whole part of the logarithm and the straight line between two powers of two: no library decides the digits.
    let bytes = bytes.max(1) as u64;
    let whole = bytes.ilog2();
    let part = bytes as f64 / (1u64 << whole) as f64 - 1.0;
    let place = ((f64::from(whole) + part - FIRST_READ_LOG2) / 2.0).clamp(0.0, (READ_NS.len() - 1) as f64);
    #[expect(clippy::cast_possible_truncation, reason = "an index of the table")]
    let index = (place as usize).min(READ_NS.len() - 2);
    let share = place - index as f64;
    READ_NS[index] * (1.0 - share) + READ_NS[index + 1] * share
}

/// Expected nanoseconds of a question to a filter of `kind` that is as predicted, by the table.
pub fn probe_ns(kind: Kind, prediction: &Prediction) -> f64 {
    let ProbeCosts { call_ns, probe_ns, wait } = row(kind);
    let Prediction { probes, fetches, payload_bytes, .. } = *prediction;
    // Whoever asks a body waits for a line at least.
    SETTLED_NS + call_ns * fetches.min(1.0) + probe_ns * probes + wait * read_ns(payload_bytes) * fetches
}

/// The least that an average question to a filter of `kind` over `key_count` keys costs, if a share of `asked` is not
/// settled at once: one probe of something small; for a trie, of each level that so many keys have at least; for SNARF,
/// of half a block.
pub(crate) fn least_ns(kind: Kind, asked: f64, key_count: usize) -> f64 {
    let levels = f64::from(key_count.max(1).ilog2()) / 8.0;
    let probes = match kind {
        Kind::Surf => levels.max(1.0),
        Kind::Snarf => f64::from(SnarfSpec::BLOCK_KEYS) / 2.0,
        _ => 1.0,
    };
    SETTLED_NS + (row(kind).call_ns + row(kind).probe_ns * probes) * asked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_cost_more_in_larger_arrays() {
        let costs: Vec<f64> = (0..40).map(|log2| read_ns(1 << log2)).collect();
        assert!(costs.is_sorted(), "{costs:?}");
        assert_eq!((read_ns(0), read_ns(1 << 16), read_ns(usize::MAX)), (READ_NS[0], READ_NS[1], READ_NS[8]));
    }
}
