//! Golden bytes, and the directory against a plain list of ranges.

use std::fs;
use std::ops::Bound::{self, Excluded, Included, Unbounded};
use std::path::Path;

use lacuna_testkit::golden_bytes_are_kept;
use lacuna_workload::Rng;

use crate::partitions::directory::{Directory, DirectoryBuilder, Touched};
use crate::partitions::file::path_of;
use crate::{Collector, Direction, FileId, PartitionStore, Question, TableFacts, TableGuard};

const ID: FileId = FileId([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);

/// The directory and the file over the keys 3, 5, 6, cut before 7, 9.
fn five_keys(guard: &TableGuard) -> (Vec<u8>, Vec<u8>) {
    let (mut file, mut directory) = (Vec::new(), DirectoryBuilder::default());
    for keys in [&[3u64, 5, 6][..], &[7, 9]] {
        let mut builder = guard.builder();
        keys.iter().for_each(|key| builder.add(&key.to_be_bytes()));
        let sealed = builder.finish().unwrap();
        file.extend_from_slice(sealed.as_bytes());
        directory.add(&keys[0].to_be_bytes(), Some(sealed.as_bytes()), file.len() as u64);
    }
    let upper = [9u64.to_be_bytes().as_slice(), &[0]].concat();
    (directory.finish(Some(1), guard.codec(), ID, Some(&upper)).unwrap(), file)
}

#[test]
fn the_bytes_of_version_2_are_kept() {
    let guard = TableGuard::parse("grafite@16 codec=fixed_be:8 seed=42").unwrap();
    let (property, file) = five_keys(&guard);
    golden_bytes_are_kept(Path::new("tests/golden/property_v2.lacuna"), &property).unwrap();
    golden_bytes_are_kept(Path::new("tests/golden/partitions_v2.lacuna"), &file).unwrap();
}

#[test]
fn stored_bytes_of_version_2_are_read() {
    let folder = std::env::temp_dir().join(format!("lacuna-golden-{}", std::process::id()));
    let store = PartitionStore::open(&folder, 1 << 20).unwrap();
    fs::copy("tests/golden/partitions_v2.lacuna", path_of(&folder, ID)).unwrap();
    let property = fs::read("tests/golden/property_v2.lacuna").unwrap();
    let guard = TableGuard::parse("grafite@16 codec=fixed_be:8").unwrap().with_partitions(&store);
    let facts = TableFacts { comparator: TableFacts::BYTEWISE, property: Some(&property), identity: None };
    let asked = (0..12u64).filter(|key| {
        let key = key.to_be_bytes();
        Question::new(&guard, (Included(&key), Included(&key)), Direction::Forward).may_contain(facts)
    });
    let found: Vec<u64> = asked.collect();
    fs::remove_dir_all(&folder).unwrap();
    assert!([3, 5, 6, 7, 9].iter().all(|key| found.contains(key)), "{found:?}");
    assert!(!found.contains(&2) && !found.contains(&10), "{found:?}: beyond the keys");
    assert_eq!((store.stats().loads, store.stats().unasked()), (2, 0));
}

/// Of two tables that one collector takes, the second begins with the last key of the first.
#[test]
fn a_collector_that_is_used_again_takes_the_next_table_whole() {
    let folder = std::env::temp_dir().join(format!("lacuna-used-again-{}", std::process::id()));
    let store = PartitionStore::open(&folder, 1 << 20).unwrap().with_partition_bytes(1 << 10);
    let guard = TableGuard::parse("grafite@16 codec=fixed_be:8").unwrap().with_partitions(&store);
    for count in [3_u64, 3_000] {
        let mut collector = Collector::new(&guard, None);
        for keys in [0..=count, count..=2 * count] {
            keys.clone().for_each(|key| collector.add(Collector::PUT, &key.to_be_bytes()));
            let property = collector.finish();
            let facts = TableFacts {
                comparator: TableFacts::BYTEWISE,
                property: Some(property.as_deref().unwrap()),
                identity: None,
            };
            let may_hold = |key: u64| {
                let key = key.to_be_bytes();
                Question::new(&guard, (Included(&key), Included(&key)), Direction::Forward).may_contain(facts)
            };
            assert!(keys.clone().all(may_hold), "a key of {keys:?} is denied");
            assert!(!may_hold(keys.end() + 1_000_000), "a filter of {keys:?} that says anything");
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// A directory whose partitions have these lower ends, and this end.
fn directory(lower: &[Vec<u8>], upper: Option<&[u8]>, guard: &TableGuard) -> Vec<u8> {
    let mut builder = DirectoryBuilder::default();
    lower.iter().zip(1..).for_each(|(lower, len)| builder.add(lower, Some(&[]), len));
    builder.finish(None, guard.codec(), ID, upper).unwrap()
}

#[test]
fn a_range_touches_the_partitions_that_a_list_of_ranges_says() {
    let seed = 51;
    let mut rng = Rng::new(seed);
    let guard = TableGuard::parse("grafite@16").unwrap();
    for round in 0..3_000 {
        let draw = |rng: &mut Rng| (0..rng.index(4)).map(|_| [0, 5, 255][rng.index(3)]).collect::<Vec<u8>>();
        let mut ends: Vec<Vec<u8>> = (0..1 + rng.index(9)).map(|_| draw(&mut rng)).collect();
        ends.sort_unstable();
        ends.dedup();
        let upper = if rng.below(3) == 0 || ends.len() == 1 { None } else { ends.pop() };
        let bytes = directory(&ends, upper.as_deref(), &guard);
        let read = Directory::parse(&bytes, guard.codec()).unwrap();
        let [lo, hi] = [0, 1].map(|_| draw(&mut rng));
        let lo = [Included(&lo[..]), Excluded(&lo), Unbounded][rng.index(3)];
        let hi = [Included(&hi[..]), Excluded(&hi), Unbounded][rng.index(3)];
        let case = format!("round {round}, seed {seed}: {lo:?} to {hi:?} in {ends:?}, {upper:?}");
        let end = |place: usize| ends.get(place + 1).or(upper.as_ref()).map(Vec::as_slice);
        let meets = |place: usize| starts_before(&ends[place], hi) && !ends_before(end(place), lo);
        let wanted: Vec<usize> = (0..ends.len()).filter(|&place| meets(place)).collect();
        match read.touched(lo, hi) {
            Touched::Partitions(places) => assert_eq!(places.collect::<Vec<_>>(), wanted, "{case}"),
            Touched::Certain => {
                let inside = |place: &usize| is_inside(&ends[*place], end(*place), lo, hi);
                assert!(wanted.iter().any(inside), "{case}");
            }
        }
    }
}

fn starts_before(lower: &[u8], hi: Bound<&[u8]>) -> bool {
    match hi {
        Included(hi) => lower <= hi,
        Excluded(hi) => lower < hi,
        Unbounded => true,
    }
}

fn ends_before(end: Option<&[u8]>, lo: Bound<&[u8]>) -> bool {
    match (end, lo) {
        (Some(end), Included(lo) | Excluded(lo)) => end <= lo,
        _ => false,
    }
}

/// Whether a range holds all strings from `lower` to below `end`.
fn is_inside(lower: &[u8], end: Option<&[u8]>, lo: Bound<&[u8]>, hi: Bound<&[u8]>) -> bool {
    let begins = match lo {
        Included(lo) => lo <= lower,
        Excluded(lo) => lo < lower,
        Unbounded => true,
    };
    let stays = match (end, hi) {
        (_, Unbounded) => true,
        (Some(end), Included(hi) | Excluded(hi)) => end <= hi,
        (None, _) => false,
    };
    begins && stays
}
