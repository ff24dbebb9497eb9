//! Whatever the bytes are, opening them yields a guard that denies nothing it does not know.

use std::ops::Bound::{self, Excluded, Included, Unbounded};

use lacuna_base::{ByteRange, ErrorKind};
use lacuna_guard::{Guard, GuardCodec};
use lacuna_workload::Rng;

use crate::support::{CODECS, Workshop, keys, specs};

#[test]
fn cut_and_damaged_headers_are_read_always() {
    let workshop = Workshop::parse("grafite@14 codec=fixed_be:8");
    let sound = workshop.build(&keys(1, 200)).unwrap();
    let sound = sound.as_bytes();
    let reads_always = |bytes: &[u8], case: String| {
        let guard = workshop.open(bytes);
        assert!(guard.problem().is_some(), "{case}");
        assert!(guard.may_contain_key(b"not there"), "{case}");
        assert!(guard.may_contain_bounds(Included(b"b"), Included(b"a")), "{case}");
    };
    (1..sound.len()).for_each(|length| reads_always(&sound[..length], format!("length {length}")));
    for bit in 0..8 * 64 {
        let mut bytes = sound.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        // The checksum of the payload (bytes 56..60) is part of the header's own.
        reads_always(&bytes, format!("bit {bit}"));
    }
    let counts = workshop.counts();
    assert_eq!(counts.open_failures, (sound.len() - 1 + 8 * 64) as u64);
    assert_eq!(counts.asked(), 0, "a guard without a filter counts no query");
}

#[test]
fn filters_of_another_codec_are_read_always() {
    for (built, opened) in [("fixed_be:8", "bytes"), ("bytes", "fixed_be:8"), ("fixed_be:8", "composite:4,4")]
    {
        let workshop = Workshop::parse(&format!("bloom@10 codec={built}"));
        let sealed = workshop.build(&keys(2, 200)).unwrap();
        let codec = GuardCodec::parse(opened).unwrap();
        let guard = Guard::open_or_scan(sealed.as_bytes(), &codec, &workshop.counters);
        assert_eq!(guard.problem().unwrap().kind(), ErrorKind::Unsupported, "{built} as {opened}");
        assert!(guard.may_contain_key(b"anything"));
        assert_eq!(workshop.counts().open_failures, 1);
    }
}

#[test]
fn nothing_stored_is_no_failure() {
    let workshop = Workshop::parse("bloom@10");
    assert!(workshop.open(b"").may_contain_key(b"x"));
    assert_eq!((workshop.counts().unfiltered, workshop.counts().open_failures), (1, 0));
}

#[test]
fn answers_are_counted_by_level() {
    let workshop = Workshop::parse("bloom@20");
    let sealed = workshop.build(&["k"]).unwrap();
    let guard = workshop.open(sealed.as_bytes()).with_level(3);
    assert!(guard.may_contain_key(b"k") && !guard.may_contain_key(b"other"));
    let level = workshop.counts().level(Some(3));
    assert_eq!((level.passed, level.skipped, workshop.counts().level(None).asked()), (1, 1, 0));
}

/// A bound of any kind and length near the keys: a key, cut or extended, or nothing like one.
fn random_bound(rng: &mut Rng, keys: &[[u8; 8]]) -> Bound<Vec<u8>> {
    let mut bytes = keys[rng.index(keys.len())].to_vec();
    match rng.below(4) {
        0 => bytes.truncate(rng.index(9)),
        1 => bytes.push([0, 1][rng.index(2)]),
        2 => bytes[7] ^= [1, 2, 3][rng.index(3)],
        _ => {}
    }
    match rng.below(5) {
        0 => Unbounded,
        1 | 2 => Excluded(bytes),
        _ => Included(bytes),
    }
}

#[test]
fn no_bounds_deny_a_key_between_them() {
    for (seed, codec) in (20..).zip(CODECS) {
        let keys = keys(seed, 300);
        for spec in specs(codec) {
            let workshop = Workshop::new(spec);
            let sealed = workshop.build(&keys).unwrap();
            let guard = workshop.open(sealed.as_bytes());
            let mut rng = Rng::new(seed);
            let mut denied = 0;
            for round in 0..3_000 {
                let (lo, hi) = (random_bound(&mut rng, &keys), random_bound(&mut rng, &keys));
                let (lo, hi) = (lo.as_ref().map(Vec::as_slice), hi.as_ref().map(Vec::as_slice));
                let range = ByteRange::from_bounds(lo, hi);
                let inside = range.is_some_and(|range| keys.iter().any(|key| range.contains(key)));
                let answer = guard.may_contain_bounds(lo, hi);
                assert!(answer || !inside, "{}, seed {seed}, round {round}: {lo:x?} {hi:x?}", workshop.spec);
                denied += usize::from(!answer);
            }
            assert!(denied > 0, "{}, seed {seed}: nothing was ever denied", workshop.spec);
        }
    }
}
