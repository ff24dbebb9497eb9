//! The set against a plain model, at its bounds, and between threads.

use proptest::prelude::*;

use super::GapSet;
use crate::range::U64Range;

fn range(lo: u64, hi: u64) -> U64Range {
    U64Range::new(lo, hi).expect("not inverted")
}

/// Which of 64 keys were learned to be absent.
#[derive(Default)]
struct Model(u64);

impl Model {
    fn learn(&mut self, range: U64Range) {
        self.0 |= Self::keys(range);
    }

    fn knows(&self, range: U64Range) -> bool {
        self.0 & Self::keys(range) == Self::keys(range)
    }

    fn keys(range: U64Range) -> u64 {
        (u64::MAX << range.lo()) & (u64::MAX >> (63 - range.hi()))
    }
}

fn all_ranges() -> impl Iterator<Item = U64Range> {
    (0..64).flat_map(|lo| (lo..64).map(move |hi| range(lo, hi)))
}

fn roomy() -> GapSet {
    GapSet::within(100_000)
}

proptest! {
    /// Over a universe of 64 keys: a range is known exactly if all its keys were learned.
    #[test]
    fn the_union_of_what_was_learned_is_known(gaps in prop::collection::vec((0u64..64, 0u64..12), 0..40)) {
        let (set, mut model) = (roomy(), Model::default());
        for (lo, length) in gaps {
            let gap = range(lo, (lo + length).min(63));
            set.learn(gap);
            model.learn(gap);
        }
        for asked in all_ranges() {
            let known = set.is_known_empty(asked);
            prop_assert_eq!(known, model.knows(asked), "{:?} in {:?}", asked, set.intervals());
        }
        for pair in set.intervals().windows(2) {
            prop_assert!(pair[0].hi() + 1 < pair[1].lo(), "{pair:?} should be one");
        }
    }

    /// However little room there is, nothing is known that was not learned, and the room is not exceeded.
    #[test]
    fn eviction_never_invents_a_gap(
        memory in 0usize..400,
        steps in prop::collection::vec((0u64..64, 0u64..4, 0u64..64), 0..60),
    ) {
        let (set, mut model) = (GapSet::within(memory), Model::default());
        for (lo, length, asked) in steps {
            let gap = range(lo, (lo + length).min(63));
            set.learn(gap);
            model.learn(gap);
            let asked = U64Range::point(asked);
            prop_assert!(!set.is_known_empty(asked) || model.knows(asked), "{asked:?}");
            prop_assert!(set.len() <= set.capacity());
        }
        for asked in all_ranges() {
            prop_assert!(!set.is_known_empty(asked) || model.knows(asked), "{asked:?}");
        }
    }
}

#[test]
fn gaps_that_meet_at_a_key_stay_apart() {
    let set = roomy();
    set.learn(range(4, 6));
    set.learn(range(8, 8));
    assert_eq!(set.intervals(), [range(4, 6), range(8, 8)]);
    assert!(!set.is_known_empty(range(6, 8)) && !set.is_known_empty(U64Range::point(7)));
}

#[test]
fn touching_gaps_become_one() {
    let set = roomy();
    set.learn(range(0, 5));
    set.learn(range(10, u64::MAX));
    set.learn(range(6, 9));
    assert_eq!(set.intervals(), [range(0, u64::MAX)]);
    assert!(set.is_known_empty(range(0, u64::MAX)));
}

#[test]
fn memory_stays_within_its_budget() {
    const { assert!(GapSet::INTERVAL_BYTES <= 24) };
    for budget in [0, 50, 200, 4_096, 1 << 20] {
        let set = GapSet::within(budget);
        assert!(set.memory_bytes() <= budget.max(size_of::<GapSet>()), "{budget}");
        (0..1_000).for_each(|key| set.learn(U64Range::point(key * 10)));
        assert!(set.len() <= set.capacity());
        assert!(set.memory_bytes() <= budget.max(size_of::<GapSet>()), "{budget}");
    }
}

#[test]
fn what_is_asked_for_stays() {
    let set = GapSet::within(size_of::<GapSet>() + 8 * GapSet::INTERVAL_BYTES);
    let favourite = U64Range::point(5);
    set.learn(favourite);
    for key in 1..1_000u64 {
        set.learn(U64Range::point(key * 100));
        assert!(set.is_known_empty(favourite), "evicted after {key} others");
    }
    assert_eq!(set.len(), 8);
}

/// While one thread merges and evicts, others never see a key of the file reported empty, and do see what stays.
#[test]
fn readers_never_see_half_a_change() {
    const KEY_DISTANCE: u64 = 1_000;
    let set = GapSet::within(size_of::<GapSet>() + 64 * GapSet::INTERVAL_BYTES);
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for reader in 0..2u64 {
            let (set, done) = (&set, &done);
            scope.spawn(move || {
                let mut state = reader + 1;
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let key = (state >> 40) % 200 * KEY_DISTANCE;
                    let around = range(key.saturating_sub(state >> 60), key + ((state >> 57) & 7));
                    assert!(!set.is_known_empty(around), "{around:?} holds the key {key}");
                }
            });
        }
        for step in 0..200_000u64 {
            // Parts of the gap between two keys, which grow together.
            let key = step.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 200 * KEY_DISTANCE;
            let lo = key + 1 + step % 900;
            set.learn(range(lo, lo + step % 99));
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(!set.is_empty());
}
