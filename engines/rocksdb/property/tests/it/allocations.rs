//! Asking a table takes no memory of the heap.

use lacuna_guard::{GapOptions, Neighbours};
use lacuna_rocksdb_property::{Direction, PartitionStore, TableGuard, TableIdentity};
use lacuna_testkit::{CountingAllocator, count_allocations};

use crate::folder::TestFolder;
use crate::{property, question, table};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn no_family_allocates_when_it_is_asked() {
    assert!(count_allocations(|| vec![1u8; 10]).1.count > 0, "allocations are counted");
    for family in lacuna_families::FAMILIES {
        for codec in ["fixed_be:8", "bytes"] {
            let guard = TableGuard::parse(&format!("{}@16 codec={codec}", family.example)).unwrap();
            let guard = guard.with_learned_gaps(GapOptions::default());
            let bytes = property(&guard, Some(1), (0..2_000).map(|number| number << 20));
            let identity = Some(TableIdentity { session: b"a session", number: 7 });
            for (direction, lo) in [(Direction::Forward, 5u64 << 20), (Direction::Reverse, 3_000 << 20)] {
                for lo in [lo, lo + 999] {
                    let question = question(&guard, lo, lo + 99, direction);
                    let mut facts = table(&bytes);
                    facts.identity = identity;
                    let (_, allocations) = count_allocations(|| question.may_contain(facts));
                    assert_eq!(allocations.count, 0, "{}, {codec}, {lo}", family.example);
                }
            }
        }
    }
}

#[test]
fn a_learned_gap_answers_without_the_heap() {
    for codec in ["fixed_be:8", "bytes"] {
        // One bit a key: a filter that lets every range pass.
        let spec = format!("bucketing@1 codec={codec}");
        let guard = TableGuard::parse(&spec).unwrap().with_learned_gaps(GapOptions::default());
        let bytes = property(&guard, Some(1), (0..2_000).map(|number| number << 20));
        let mut facts = table(&bytes);
        facts.identity = Some(TableIdentity { session: b"a session", number: 7 });
        let ends = [0u64, 5 << 20, 6 << 20, 1_999 << 20].map(u64::to_be_bytes);
        let [smallest, below, above, largest] = ends.each_ref();
        guard.learned_gaps().unwrap().open_file(facts.identity.unwrap().tag().unwrap()).learn(&Neighbours {
            below: Some(below),
            above: Some(above),
            smallest,
            largest,
        });
        for direction in [Direction::Forward, Direction::Reverse] {
            let question = question(&guard, (5 << 20) + 7, (5 << 20) + 9, direction);
            let (may_contain, allocations) = count_allocations(|| question.may_contain(facts));
            assert_eq!((may_contain, allocations.count), (false, 0), "{codec}, {direction:?}");
        }
        assert_eq!(guard.stats().filters.skipped_by_gap(), 2, "{codec}: {}", guard.stats());
    }
}

#[test]
fn a_partition_in_memory_is_asked_without_the_heap() {
    let folder = TestFolder::new("heap");
    let store = PartitionStore::open(folder.path(), 1 << 20).unwrap().with_partition_bytes(512);
    for family in lacuna_families::FAMILIES {
        let guard = TableGuard::parse(&format!("{}@16 codec=fixed_be:8", family.example)).unwrap();
        let guard = guard.with_partitions(&store);
        let bytes = property(&guard, Some(1), (0..2_000).map(|number| number << 20));
        let loads = store.stats().loads;
        let question = question(&guard, 700 << 20, (700 << 20) + 99, Direction::Forward);
        let (_, first) = count_allocations(|| question.may_contain(table(&bytes)));
        let (_, second) = count_allocations(|| question.may_contain(table(&bytes)));
        assert_eq!((first.count > 0, second.count), (true, 0), "{}", family.example);
        assert!(store.stats().loads > loads, "{}", family.example);
    }
}
