//! Families that see byte strings through a place map: long keys, and queries that eight bytes do not tell apart.

use std::sync::Arc;

use lacuna_base::testing::{crossed, forget_crossings};
use lacuna_base::{AlignedBytes, Budget, BuildPlan, ByteColumn, ByteRange, Sample, SortedKeys};

const SEED: u64 = 3;
/// Families of integers.
const SPECS: [&str; 10] = [
    "bucketing",
    "grafite",
    "ribbon",
    "ribbon:cell=30,near=50",
    "snarf",
    "rencoder",
    "rencoder:ss",
    "rencoder:se",
    "rencoder:po",
    "rencoder:float",
];

/// Series of several machines, names with what others begin with, and the ends of the byte order.
fn keys() -> ByteColumn {
    let mut keys: Vec<Vec<u8>> = (0..6_000u32)
        .map(|n| format!("host-{:02}/processor/{:07}", n / 400, n * 37).into_bytes())
        .chain((0..300u32).flat_map(|n| {
            let name = format!("host-03/disk/{:04}", n * 3).into_bytes();
            [[&name[..], &[0]].concat(), [&name[..], &[0xFF; 9]].concat(), name]
        }))
        .chain([
            Vec::new(),
            vec![0],
            vec![0xFF; 3],
            vec![0xFF; 40],
            b"host-03".to_vec(),
            b"host-03/".to_vec(),
        ])
        .collect();
    keys.sort_unstable();
    keys.into_iter().collect()
}

/// What follows each fifth key in its last byte.
fn sample(keys: &ByteColumn) -> Sample<[u8]> {
    let mut sample = Sample::new();
    for key in keys.iter().step_by(5).filter(|key| key.len() > 12) {
        let after = [key, &[b'0'][..]].concat();
        let end = [key, &[b'9'][..]].concat();
        sample.push(after.as_slice(), end.as_slice());
    }
    sample
}

#[test]
fn a_family_denies_no_key_that_it_sees_through_a_place_map() {
    let keys = keys();
    let sample = Arc::new(sample(&keys));
    let sorted = SortedKeys::byte_strings(&keys).expect("ascending");
    for (text, bits) in SPECS.into_iter().flat_map(|text| [10.0, 16.0, 24.0].map(|bits| (text, bits))) {
        let place = format!("{text} at {bits} bits a key, seed {SEED}");
        let plan = BuildPlan::<[u8]>::new(Budget::bits_per_key(bits).expect("in range"))
            .with_sample(sample.clone())
            .with_seed(SEED);
        let sealed = lacuna_families::spec::<[u8]>(text).expect("known").build(sorted, &plan).expect("fits");
        forget_crossings();
        let bytes = AlignedBytes::copy_of(sealed.as_bytes());
        let filter = lacuna_families::open::<[u8], _>(bytes).expect("just sealed");
        if let Some(names) = crossed() {
            assert!(names.contains(&"strings: place map"), "{place} has no map");
        }
        let (mut ranges, mut before) = (Vec::new(), Vec::new());
        for key in keys.iter() {
            assert!(filter.may_contain(key), "{place}: misses {key:?}");
            let after = [key, &[0][..]].concat();
            let parent = key[..key.len().saturating_sub(1)].to_vec();
            let far = [key, &[0xFF; 12][..]].concat();
            ranges.push((before, key.to_vec()));
            ranges.push((parent.clone(), key.to_vec()));
            ranges.push((parent, far.clone()));
            ranges.push((key.to_vec(), after.clone()));
            before = after;
        }
        let asked: Vec<ByteRange<'_>> =
            ranges.iter().map(|(lo, hi)| ByteRange::new(lo, hi).expect("not inverted")).collect();
        for range in &asked {
            assert!(filter.may_contain_range(*range), "{place}: misses a key in {range:?}");
        }
        let mut answers = vec![false; asked.len()];
        filter.may_contain_ranges(&asked, &mut answers);
        assert!(answers.iter().all(|answer| *answer), "{place}: a batch denies what single questions do not");
        let denied =
            keys.iter().filter(|key| !filter.may_contain([*key, &b"?"[..]].concat().as_slice())).count();
        assert!(denied > 0, "{place}: it denies nothing");
    }
}
