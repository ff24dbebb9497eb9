//! Queries that have not been asked before.

use lacuna_base::{GapSet, Result, U64Range};
use lacuna_families::testing::BlacklistedRencoder;

use super::rounds::Protocol;

/// What is known of the false positives of new queries, after one round of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Newcomers {
    /// False positives of the first round, all remembered by both.
    pub learned: usize,
    /// Bytes of the blacklist that remembers them.
    pub blacklist_bytes: usize,
    /// Bytes of the intervals that remember them.
    pub gap_bytes: usize,
    /// False positives of the filter among the new queries.
    pub false_positives: usize,
    /// Those of them that the blacklist answers.
    pub known_to_blacklist: usize,
    /// Those of them that lie in a learned gap.
    pub known_to_gaps: usize,
}

/// Asks the protocol's queries once at `bits_per_key`, remembers the false positives in a blacklist and the gaps around
/// them in a [`GapSet`], and then asks `new` queries, which are empty too.
///
/// # Errors
/// As `Protocol::seal`.
pub fn new_queries(protocol: &Protocol<'_>, bits_per_key: f64, new: &[(u64, u64)]) -> Result<Newcomers> {
    let mut filter = BlacklistedRencoder::open(protocol.seal(bits_per_key)?)?;
    let plain = BlacklistedRencoder::open(protocol.seal(bits_per_key)?)?;
    let gaps = GapSet::within(protocol.queries.len() * GapSet::INTERVAL_BYTES + size_of::<GapSet>());
    let mut learned = 0;
    for range in protocol.ranges().filter(|&range| plain.may_contain_range(range)) {
        filter.report_false_positive(range);
        learn_around(&gaps, protocol.keys, range);
        learned += 1;
    }
    let new = new.iter().filter_map(|&(lo, hi)| U64Range::new(lo, hi));
    let false_positives: Vec<U64Range> = new.filter(|&range| plain.may_contain_range(range)).collect();
    let count =
        |known: &dyn Fn(U64Range) -> bool| false_positives.iter().filter(|range| known(**range)).count();
    Ok(Newcomers {
        learned,
        blacklist_bytes: filter.blacklist().payload_bytes(),
        gap_bytes: gaps.len() * GapSet::INTERVAL_BYTES,
        false_positives: false_positives.len(),
        known_to_blacklist: count(&|range| !filter.may_contain_range(range)),
        known_to_gaps: count(&|range| gaps.is_known_empty(range)),
    })
}

/// What a look into the file would show.
fn learn_around(gaps: &GapSet, keys: &[u64], range: U64Range) {
    let above = keys.partition_point(|&key| key < range.lo());
    let below = above.checked_sub(1).map(|below| keys[below]);
    gaps.learn_between(below, keys.get(above).copied());
}

#[cfg(test)]
mod tests {
    use lacuna_families::RencoderSpec;
    use lacuna_workload::{Rng, ZipfPool};

    use super::*;

    /// Queries shortly after keys; a few keys are asked for far more often than the rest.
    fn zipfian(keys: &[u64], count: usize, rng: &mut Rng, seed: u64) -> Vec<(u64, u64)> {
        let spread = keys.len() / 2;
        let ranks = ZipfPool::new(spread, seed);
        let starts = ranks.map(|rank| keys[rank * 7_919 % spread] + 33 + rng.below(1 << 20));
        starts.map(|lo| (lo, lo + 15)).take(count).collect()
    }

    /// For fewer bytes, gaps answer much of what is asked anew near popular keys, and the blacklist next to nothing.
    #[test]
    fn gaps_answer_queries_that_were_never_asked() {
        let seed = 9;
        let mut rng = Rng::new(seed);
        let mut keys: Vec<u64> = (0..50_000).map(|_| rng.next_u64() >> 1).collect();
        keys.sort_unstable();
        keys.dedup();
        keys.retain({
            let mut last = 0;
            move |&key| std::mem::replace(&mut last, key) + (1 << 22) < key
        });
        let (first, second) =
            (zipfian(&keys, 40_000, &mut rng, seed), zipfian(&keys, 40_000, &mut rng, seed + 1));
        let protocol =
            Protocol { spec: RencoderSpec::new(), keys: &keys, queries: &first, sample: &[], seed };
        let found = new_queries(&protocol, 14.0, &second).unwrap();
        assert!(found.learned > 300 && found.false_positives > 300, "{found:?}, seed {seed}");
        assert!(found.gap_bytes < found.blacklist_bytes, "{found:?}, seed {seed}");
        assert!(found.known_to_gaps > 20 * found.known_to_blacklist, "{found:?}, seed {seed}");
        assert!(found.known_to_gaps * 5 > found.false_positives * 2, "{found:?}, seed {seed}");
    }
}
