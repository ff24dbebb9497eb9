//! What asking a filter costs, in nanoseconds: a table of constants.
//!
//! A question costs a call, some work for each probe, and the wait for the cache lines it needs, which grows with the
//! size of the filter. The numbers were fitted to questions that wait for one another, to filters that take turns, so that
//! none finds its lines in the nearest cache: by `cargo run --release -p lacuna-lab --example designer_costs -- 4000` over
//! 1,000 to 4,000,000 integers and the four real sets of byte strings, and by the filters of the designer's own grid. With them
//! the median filter of a family is told to within 10 to 40 %; runs an hour apart differ as much. Other machines have
//! others, but what decides is their proportion, and a choice that followed a clock would not be the same twice. Version 3
//! tells byte strings from integers, which cost their window and comparisons, and waits as long as filters do, where
//! version 2 waited as long as bare reads of memory.

use lacuna_base::{KeySpaceId, Prediction};

use crate::SnarfSpec;
use crate::kind::Kind;

/// Number of this table; a change of it may change what `auto` builds.
pub const COSTS_VERSION: u32 = 3;

/// Needless reads cost this many nanoseconds unless the spec says otherwise: a block from a fast local disk.
pub(crate) const DEFAULT_PRICE_NS: u32 = 20_000;

/// Nanoseconds of a question that the smallest and the largest key settle, and part of any other.
pub fn settled_ns(key_space: KeySpaceId) -> f64 {
    match key_space {
        KeySpaceId::U64 => 4.0,
        KeySpaceId::Bytes => 13.0,
    }
}

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
fn row(kind: Kind, key_space: KeySpaceId) -> ProbeCosts {
    let (integers_ns, strings_ns, probe_ns, wait) = match kind {
        Kind::Bloom => (4.0, 5.0, 7.9, 0.8),
        Kind::BlockedBloom => (24.0, 25.0, 3.0, 0.6),
        Kind::PrefixBloom => (16.0, 3.0, 3.2, 0.7),
        Kind::Bucketing => (34.0, 12.0, 8.2, 0.46),
        Kind::Grafite => (36.0, 36.0, 6.5, 0.65),
        Kind::Rencoder => (39.0, 47.0, 3.0, 0.54),
        Kind::Surf => (0.0, 0.0, 14.6, 0.54),
        Kind::Proteus => (30.0, 26.0, 3.4, 0.68),
        Kind::TwoPrefixBloom => (16.0, 3.0, 3.6, 0.7),
        Kind::Rosetta => (18.0, 2.0, 6.4, 0.66),
        Kind::Snarf => (55.0, 20.0, 2.4, 0.28),
        // Not measured: the designer has no use for deletion, so the family does not take part.
        Kind::Cuckoo => (4.0, 14.0, 4.0, 0.9),
    };
    let call_ns = match key_space {
        KeySpaceId::U64 => integers_ns,
        KeySpaceId::Bytes => strings_ns,
    };
    ProbeCosts { call_ns, probe_ns, wait }
}

/// Nanoseconds that one read in an array of 2^14, 2^16, ... 2^30 bytes waits, when other filters were asked before.
const READ_NS: [f64; 9] = [1.0, 3.0, 50.0, 112.0, 370.0, 420.0, 460.0, 510.0, 560.0];
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
pub fn probe_ns(kind: Kind, key_space: KeySpaceId, prediction: &Prediction) -> f64 {
    let ProbeCosts { call_ns, probe_ns, wait } = row(kind, key_space);
    let Prediction { probes, fetches, payload_bytes, .. } = *prediction;
    // Whoever asks a body waits for a line at least.
    settled_ns(key_space)
        + call_ns * fetches.min(1.0)
        + probe_ns * probes
        + wait * read_ns(payload_bytes) * fetches
}

/// What is known of a filter before it is modelled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) key_space: KeySpaceId,
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
    pub(super) fn min_ns(&self, kind: Kind) -> f64 {
        let ProbeCosts { call_ns, probe_ns, wait } = row(kind, self.key_space);
        let (probes, fetches) = self.min_looks(kind);
        let look = call_ns * fetches + probe_ns * probes + wait * read_ns(self.min_bytes(kind)) * fetches;
        settled_ns(self.key_space) + look.min(self.price_ns) * self.asked
    }

    /// Fewest probes and lines of a query: for a trie, each level that so many keys have at least; for SNARF a quarter of a block,
    /// half of which an average query decodes.
    fn min_looks(&self, kind: Kind) -> (f64, f64) {
        let levels = f64::from(self.key_count.max(1).ilog2()) / 8.0;
        match kind {
            Kind::Surf => (levels.max(1.0), 1.0),
            Kind::Snarf => (f64::from(SnarfSpec::BLOCK_KEYS) / 4.0, 1.0),
            Kind::Bucketing => (1.0, 0.5),
            _ => (1.0, 1.0),
        }
    }

    /// Fewest bytes of the payload; families that are exact may need far less than they get.
    fn min_bytes(&self, kind: Kind) -> usize {
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
