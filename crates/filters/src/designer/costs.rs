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

/// What is known of a filter before it is modelled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Share of the queries that the smallest and largest key do not settle.
    pub(super) asked: f64,
    pub(super) key_count: usize,
    /// Most bytes of the payload.
    pub(super) payload_bytes: usize,
    /// Nanoseconds that a needless read costs.
    pub(super) price_ns: f64,
}

/// Bytes that a family which takes all the space it gets may leave: part of a cache line or two, and its header.
const LEFT_BYTES: usize = 256;

impl Bounds {
    /// The least that an average query to a filter of `kind` costs: whoever is asked looks at something, which waits for a
    /// line, or says "maybe" without a look.
    pub(super) fn least_ns(&self, kind: Kind) -> f64 {
        let ProbeCosts { call_ns, probe_ns, wait } = row(kind);
        let (probes, fetches) = self.least_looks(kind);
        let look = call_ns + probe_ns * probes + wait * read_ns(self.least_bytes(kind)) * fetches;
        SETTLED_NS + look.min(self.price_ns) * self.asked
    }

    /// Fewest probes and lines of a query: for a trie, each level that so many keys have at least; for SNARF half a block.
    fn least_looks(&self, kind: Kind) -> (f64, f64) {
        let levels = f64::from(self.key_count.max(1).ilog2()) / 8.0;
        match kind {
            Kind::Surf => (levels.max(1.0), 1.0),
            Kind::Snarf => (f64::from(SnarfSpec::BLOCK_KEYS) / 2.0, 1.0),
            _ => (1.0, 1.0),
        }
    }

    /// Fewest bytes of the payload; families that are exact may need far less than they get.
    fn least_bytes(&self, kind: Kind) -> usize {
        match kind {
            Kind::Bloom | Kind::BlockedBloom | Kind::PrefixBloom | Kind::TwoPrefixBloom | Kind::Rencoder => {
                self.payload_bytes.saturating_sub(LEFT_BYTES)
            }
            // A one for each key, and a zero for most.
            Kind::Surf | Kind::Snarf => self.key_count / 8,
            _ => 0,
        }
    }
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
