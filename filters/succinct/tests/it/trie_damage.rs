//! The trie on damaged bytes: any answer, but an answer.

use lacuna_succinct::OpenError;
use lacuna_succinct::trie::{Builder, Divide, Plan, Trie};

use crate::tools::Random;

fn sample(random: &mut Random) -> Vec<u8> {
    let letters = 2 + random.below(254);
    let mut keys: Vec<Vec<u8>> = (0..random.below(400))
        .map(|_| (0..random.below(7)).map(|_| random.below(letters) as u8).collect())
        .collect();
    keys.sort();
    keys.dedup();
    let divide = Divide::Levels(random.below(4) as usize);
    let mut builder = Builder::new(Plan { value_bits: random.below(12) as u32, divide, ..Plan::default() });
    for key in keys {
        builder.add(&key, random.next()).expect("ascending");
    }
    builder.finish()
}

fn ask_much<B: AsRef<[u8]>>(trie: &Trie<B>, random: &mut Random) {
    let mut cursor = trie.cursor();
    for _ in 0..12 {
        let mut query = || (0..random.below(9)).map(|_| random.next() as u8).collect::<Vec<u8>>();
        let (lo, hi) = (query(), query());
        let _ = (trie.get(&lo), trie.count(&lo, Some(&hi)), trie.count(&lo, None));
        cursor.seek(&lo);
        let _ = (cursor.key().map(<[u8]>::len), cursor.value());
        (0..4).for_each(|_| cursor.step());
        cursor.seek_back(&hi);
        (0..4).for_each(|_| cursor.step_back());
        cursor.seek_last();
        cursor.seek_first();
    }
}

#[test]
fn damaged_tries_still_answer() {
    let mut opened = 0;
    for seed in 0..3_000 {
        let mut random = Random(seed);
        let mut bytes = sample(&mut random);
        for _ in 0..=random.below(12) {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] ^= random.next() as u8;
        }
        if let Ok(trie) = Trie::open(&bytes) {
            ask_much(&trie, &mut random);
            opened += 1;
        }
    }
    assert!(opened > 1_000, "only {opened} damaged tries opened");
}

#[test]
fn tries_of_noise_still_answer() {
    for seed in 0..800 {
        let mut random = Random(seed);
        let mut bytes = sample(&mut random);
        bytes[32..].iter_mut().for_each(|byte| *byte = random.next() as u8);
        ask_much(&Trie::open(&bytes).expect("the header is sound"), &mut random);
    }
}

#[test]
fn truncated_tries_are_refused() {
    for seed in 0..60 {
        let bytes = sample(&mut Random(seed));
        for kept in 0..bytes.len() {
            let refused = Trie::open(&bytes[..kept]).expect_err("bytes are missing");
            assert!(matches!(refused, OpenError::Truncated { needed, .. } if needed > kept), "seed {seed}");
        }
    }
}

#[test]
fn impossible_tries_are_refused() {
    let mut builder = Builder::new(Plan::default());
    builder.add(b"key", 0).expect("the first");
    let sound = builder.finish();
    let refused = |change: fn(&mut [u8])| {
        let mut bytes = sound.clone();
        change(&mut bytes);
        Trie::open(&bytes).is_err()
    };
    assert!(!refused(|_| ()));
    assert!(refused(|bytes| bytes[7] = 0xFF), "more nodes than memory");
    assert!(refused(|bytes| bytes[15] = 0xFF), "more slots than memory");
    assert!(refused(|bytes| bytes[16] = 9), "more leaves than slots");
    assert!(refused(|bytes| bytes[24] = 9), "more levels than slots");
    assert!(refused(|bytes| bytes[28] = 65), "values of 65 bits");
}
