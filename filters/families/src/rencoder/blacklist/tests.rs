//! Section 3.4 of the paper, and what it costs.

use lacuna_base::{Budget, BuildPlan, FilterSpec, SortedKeys, U64Range};
use lacuna_workload::Rng;

use super::table::dyadic;
use super::{Blacklist, BlacklistedRencoder};
use crate::RencoderSpec;

fn range(lo: u64, hi: u64) -> U64Range {
    U64Range::new(lo, hi).expect("not inverted")
}

#[test]
fn dyadic_parts_make_up_the_range() {
    let mut rng = Rng::new(1);
    let mut ranges = vec![range(0, u64::MAX), range(u64::MAX, u64::MAX), range(0, 0), range(160, 165)];
    ranges.extend(
        (0..1_000).map(|_| rng.next_u64() >> rng.below(64)).map(|lo| range(lo, lo.saturating_add(999))),
    );
    for range in ranges {
        let mut next = Some(range.lo());
        for (start, height) in dyadic(range) {
            assert_eq!(Some(start), next, "{range:?}");
            assert_eq!(start & ((1u64 << height) - 1), 0, "{range:?}");
            next = start.checked_add(1 << height);
        }
        assert_eq!(next, range.hi().checked_add(1), "{range:?}");
    }
}

/// Section 5.11: the second round has no false positive, and no key is lost.
#[test]
fn a_second_round_is_without_false_positives() {
    let seed = 3;
    let mut rng = Rng::new(seed);
    let mut keys: Vec<u64> = (0..20_000).map(|_| rng.next_u64()).collect();
    keys.sort_unstable();
    let queries: Vec<U64Range> = (0..50_000)
        .map(|_| (rng.next_u64() >> 1, rng.between(1, 31)))
        .map(|(lo, more)| range(lo, lo + more))
        .filter(|range| {
            keys.partition_point(|&key| key < range.lo()) == keys.partition_point(|&key| key <= range.hi())
        })
        .collect();
    for spec in [RencoderSpec::new(), RencoderSpec::select_start()] {
        let plan = BuildPlan::<u64>::new(Budget::bits_per_key(8.0).expect("in range")).with_seed(seed);
        let sealed = spec.build(SortedKeys::integers(&keys).expect("ascending"), &plan).expect("fits");
        let mut filter = BlacklistedRencoder::open(sealed).expect("just sealed");
        let first: Vec<U64Range> =
            queries.iter().copied().filter(|&range| filter.may_contain_range(range)).collect();
        assert!(first.len() > 100, "{} false positives, seed {seed}", first.len());
        first.iter().for_each(|&range| filter.report_false_positive(range));
        assert_eq!(queries.iter().filter(|&&range| filter.may_contain_range(range)).count(), 0);
        for &key in &keys {
            let around = range(key.saturating_sub(rng.below(32)), key.saturating_add(rng.below(32)));
            assert!(filter.may_contain_range(around), "{around:?}, seed {seed}");
        }
    }
}

/// What a false positive costs to remember here and in a `GapSet`, which also answers the rest of the gap.
#[test]
fn a_gap_set_takes_less_memory() {
    let mut rng = Rng::new(4);
    for (shortest, longest, share) in [(2, 32, 1.0), (2, 1_024, 0.25), (1_024, 1_024, 0.125)] {
        let mut blacklist = Blacklist::new();
        let false_positives = 10_000;
        for _ in 0..false_positives {
            let lo = rng.next_u64() >> 1;
            blacklist.insert(range(lo, lo + rng.between(shortest, longest) - 1));
        }
        let bytes = blacklist.payload_bytes() as f64 / f64::from(false_positives);
        let gap = lacuna_base::GapSet::INTERVAL_BYTES as f64;
        assert!(gap <= share * bytes, "{shortest} to {longest}: {gap} bytes a gap, {bytes} here, seed 4");
    }
}
