//! Elias-Fano on damaged bytes: any answer, but an answer.

use lacuna_succinct::OpenError;
use lacuna_succinct::elias_fano::{Geometry, Layout, encode};

use crate::tools::{Random, ask_all};

fn sample(random: &mut Random) -> (Vec<u8>, u64) {
    let last = random.next() >> random.below(60);
    let mut values: Vec<u64> = (0..random.below(300)).map(|_| random.below(last / 2 + 1)).collect();
    values.extend((0..random.below(300)).map(|index| last / 2 + index).filter(|&value| value <= last));
    values.sort_unstable();
    values.dedup();
    let mut bytes = Vec::new();
    let geometry = Geometry::new(random.below(8) as u32, 1 + random.below(40) as u32);
    encode(&values, last, geometry, &mut bytes);
    (bytes, last)
}

fn ask_much(layout: &Layout, bytes: &[u8], last: u64, random: &mut Random) {
    for _ in 0..30 {
        let lo = random.below(last.saturating_add(3));
        let hi = lo.saturating_add(random.next() >> random.below(64));
        ask_all(layout, bytes, lo, hi);
    }
    assert!(layout.iter(bytes).count() as u64 <= layout.len());
}

#[test]
fn damaged_bytes_still_answer() {
    let mut opened = 0;
    for seed in 0..1_500 {
        let mut random = Random(seed);
        let (mut bytes, last) = sample(&mut random);
        let sound = Layout::open(&bytes).expect("just written");
        for _ in 0..=random.below(12) {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] ^= random.next() as u8;
        }
        // After a sound header, and after a damaged header that passes the checks.
        ask_much(&sound, &bytes, last, &mut random);
        if let Ok(layout) = Layout::open(&bytes) {
            assert!(layout.byte_len() <= bytes.len(), "seed {seed}");
            ask_much(&layout, &bytes, last, &mut random);
            opened += 1;
        }
    }
    assert!(opened > 300, "only {opened} damaged headers opened");
}

#[test]
fn bytes_of_noise_still_answer() {
    for seed in 0..500 {
        let mut random = Random(seed);
        let (mut bytes, last) = sample(&mut random);
        bytes[32..].iter_mut().for_each(|byte| *byte = random.next() as u8);
        if let Ok(layout) = Layout::open(&bytes) {
            ask_much(&layout, &bytes, last, &mut random);
        }
    }
}

#[test]
fn fewer_bytes_than_opened_still_answer() {
    for seed in 0..200 {
        let mut random = Random(seed);
        let (bytes, last) = sample(&mut random);
        let layout = Layout::open(&bytes).expect("just written");
        let kept = random.below(bytes.len() as u64) as usize;
        ask_much(&layout, &bytes[..kept], last, &mut random);
    }
}

#[test]
fn impossible_headers_are_refused() {
    let mut sound = Vec::new();
    encode(&[0, 1, 2, 3, 40], 40, Geometry::new(1, 1), &mut sound);
    let refused = |change: fn(&mut [u8])| {
        let mut bytes = sound.clone();
        change(&mut bytes);
        Layout::open(&bytes).is_err()
    };
    assert!(!refused(|_| ()));
    assert!(refused(|bytes| bytes[30] = 64), "64 low bits");
    assert!(refused(|bytes| bytes[31] = 9), "512 buckets in a slice");
    assert!(refused(|bytes| bytes[28..30].fill(0)), "no threshold");
    assert!(refused(|bytes| bytes[29] = 8), "a threshold above 2047");
    assert!(refused(|bytes| bytes[23] = 1), "more spilled values than values");
    assert!(refused(|bytes| bytes[24..28].fill(0)), "spilled values without a heavy slice");
}

#[test]
fn more_spilled_values_than_places_are_refused() {
    // Without low bits, spilled values take no bytes: only the size of their slices bounds their number.
    let mut bytes = Vec::new();
    let dense: Vec<u64> = (0..1_024).collect();
    encode(&dense, 1_023, Geometry::new(7, 1), &mut bytes);
    assert!(Layout::open(&bytes).is_ok());
    assert_eq!((bytes[..8] == bytes[16..24], bytes[30]), (true, 0), "all spilled, no low bits");
    (bytes[7], bytes[23]) = (9, 9);
    assert!(matches!(Layout::open(&bytes), Err(OpenError::Invalid(_))));
}

#[test]
fn truncation_is_reported() {
    for seed in 0..100 {
        let (bytes, _) = sample(&mut Random(seed));
        for kept in 0..bytes.len() {
            let refused = Layout::open(&bytes[..kept]).expect_err("bytes are missing");
            assert!(
                matches!(refused, OpenError::Truncated { needed, .. } if needed > kept),
                "seed {seed}, {refused}"
            );
        }
    }
}
