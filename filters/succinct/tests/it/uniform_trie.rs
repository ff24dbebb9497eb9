//! The trie of uniform depth against the sorted prefixes themselves.

use std::collections::BTreeSet;

use lacuna_succinct::arch::{Isa, Kernel, Scalar, dispatch};
use lacuna_succinct::trie::uniform::{
    IntegerPath, Meeting, StringPath, UniformBuilder, UniformTrie, uniform_bytes,
};

use crate::tools::Random;

fn encode(prefixes: &BTreeSet<u64>, bits: u32) -> Vec<u8> {
    let mut builder = UniformBuilder::new(bits);
    for &prefix in prefixes {
        builder.add(&IntegerPath::new(prefix, bits)).expect("a set ascends");
    }
    let (parts, mut bytes) = (builder.finish(), Vec::new());
    parts.encode(&mut bytes);
    assert_eq!((parts.byte_len(), parts.len()), (bytes.len(), prefixes.len() as u64));
    bytes
}

struct Meet<'a>(&'a UniformTrie, &'a [u8], IntegerPath, IntegerPath);

impl Kernel for Meet<'_> {
    type Output = Meeting;
    fn run<I: Isa>(self, isa: I) -> Meeting {
        self.0.meet(isa, self.1, &self.2, &self.3)
    }
}

/// Prefixes of `bits` bits, crowded into clusters.
fn draw(random: &mut Random, bits: u32, count: u64) -> BTreeSet<u64> {
    let mask = u64::MAX >> (64 - bits);
    let spread = random.below(1 << bits.min(40).div_ceil(2)) + 1;
    let start = random.next() & mask;
    (0..count)
        .map(|_| match random.below(3) {
            0 => random.next() & mask,
            1 => start.wrapping_add(random.below(spread)) & mask,
            _ => mask - random.below(spread).min(mask),
        })
        .collect()
}

fn hold(prefixes: &BTreeSet<u64>, bits: u32, random: &mut Random) {
    let bytes = encode(prefixes, bits);
    let trie = UniformTrie::open(&bytes).expect("just written");
    assert_eq!(trie.byte_len(), bytes.len());
    let mask = u64::MAX >> (64 - bits);
    let members: Vec<u64> = prefixes.iter().copied().collect();
    for _ in 0..60 {
        let near = members[random.below(members.len() as u64) as usize];
        let mut end = || match random.below(3) {
            0 => random.next() & mask,
            1 => near,
            _ => (near.wrapping_add(random.below(5)).wrapping_sub(2)) & mask,
        };
        let (one, other) = (end(), end());
        let (lo, hi) = (one.min(other), one.max(other));
        let path = |prefix| IntegerPath::new(prefix, bits);
        let between = lo < hi && prefixes.range(lo + 1..hi).next().is_some();
        let expected = Meeting { first: prefixes.contains(&lo), last: prefixes.contains(&hi), between };
        for found in [
            dispatch(Meet(&trie, &bytes, path(lo), path(hi))),
            trie.meet(Scalar, &bytes, &path(lo), &path(hi)),
        ] {
            assert_eq!(found.between, between, "{lo:#x}..{hi:#x} of {bits} bits");
            assert!(between || found == expected, "{lo:#x}..{hi:#x} of {bits} bits: {found:?}, {expected:?}");
        }
        assert_eq!(trie.contains(Scalar, &bytes, &path(lo)), prefixes.contains(&lo), "{lo:#x}");
        let next = prefixes.range(lo..).next().copied();
        assert_eq!(trie.next_integer(Scalar, &bytes, lo), next, "from {lo:#x} of {bits} bits");
    }
}

#[test]
fn every_depth_answers_as_the_sorted_prefixes() {
    for bits in 1..=64 {
        for seed in 0..12 {
            let mut random = Random(seed * 64 + u64::from(bits));
            let count = 1 + random.below(600);
            let prefixes = draw(&mut random, bits, count);
            hold(&prefixes, bits, &mut random);
        }
    }
}

#[test]
fn large_tries_answer_as_the_sorted_prefixes() {
    for bits in [17, 24, 31, 48] {
        let mut random = Random(u64::from(bits));
        let prefixes = draw(&mut random, bits, 60_000);
        (0..20).for_each(|_| hold(&prefixes, bits, &mut random));
    }
}

#[test]
fn strings_and_integers_give_the_same_trie() {
    for bits in [3, 8, 13, 24, 37, 64] {
        let mut random = Random(u64::from(bits));
        let prefixes = draw(&mut random, bits, 500);
        let mut builder = UniformBuilder::new(bits);
        for prefix in &prefixes {
            let key = (prefix << (64 - bits)).to_be_bytes();
            // Zeros after a key's end read as zeros in it.
            let end = key.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            builder.add(&StringPath::new(&key[..end], bits)).expect("a set ascends");
        }
        let mut bytes = Vec::new();
        builder.finish().encode(&mut bytes);
        assert!(bytes == encode(&prefixes, bits), "{bits} bits");
    }
}

#[test]
fn long_prefixes_keep_their_last_bits() {
    let mut random = Random(5);
    let mut keys: Vec<Vec<u8>> =
        (0..3_000).map(|_| (0..180).map(|_| random.below(4) as u8 * 85).collect()).collect();
    keys.sort();
    let bits = 1_437;
    let mut builder = UniformBuilder::new(bits);
    keys.iter().for_each(|key| builder.add(&StringPath::new(key, bits)).expect("sorted"));
    let mut bytes = Vec::new();
    builder.finish().encode(&mut bytes);
    let trie = UniformTrie::open(&bytes).expect("just written");
    let mut out = vec![0; 180];
    for key in &keys {
        let mut other = key.clone();
        assert!(trie.contains(Scalar, &bytes, &StringPath::new(key, bits)));
        assert!(trie.next(Scalar, &bytes, &StringPath::new(key, bits), &mut out));
        let path = StringPath::new(key, bits);
        use lacuna_succinct::trie::uniform::Path;
        assert!((0..180).all(|place| out[place] == path.label(place)));
        other[179] ^= 0x08;
        assert!(!trie.contains(Scalar, &bytes, &StringPath::new(&other, bits)));
    }
}

#[test]
fn disorder_is_refused_and_repeats_count_once() {
    let mut builder = UniformBuilder::new(9);
    for prefix in [3, 3, 4] {
        builder.add(&IntegerPath::new(prefix, 9)).expect("ascending");
    }
    assert!(builder.add(&IntegerPath::new(3, 9)).is_err());
    assert_eq!(builder.finish().len(), 2);
}

#[test]
fn the_estimate_is_little_more_than_the_size() {
    for (seed, shape) in [(1, 40), (2, 20), (3, 8), (4, 2)] {
        let mut random = Random(seed);
        let keys: BTreeSet<u64> = (0..20_000).map(|_| random.next() >> random.below(shape)).collect();
        let keys: Vec<u64> = keys.into_iter().collect();
        let distinct = |bits: u32| {
            1 + keys.windows(2).filter(|pair| (pair[0] ^ pair[1]).leading_zeros() < bits).count() as u64
        };
        let differs = |left: u64, right: u64, bits: u32| (left ^ right).leading_zeros() < bits;
        let lone = |bits: u32| {
            let alone = |place: usize| {
                (place == 0 || differs(keys[place - 1], keys[place], bits))
                    && keys.get(place + 1).is_none_or(|&next| differs(keys[place], next, bits))
            };
            (0..keys.len()).filter(|&place| alone(place)).count() as u64
        };
        for bits in (1..=64).step_by(3) {
            let prefixes: BTreeSet<u64> = keys.iter().map(|key| key >> (64 - bits)).collect();
            let size = encode(&prefixes, bits).len();
            let estimate = uniform_bytes(bits, distinct, lone);
            assert!(estimate + 64 >= size, "{bits} bits: {estimate} told, {size} taken, seed {seed}");
            assert!(
                estimate as f64 <= size as f64 * 1.35 + 400.0,
                "{bits} bits: {estimate} told, {size} taken, seed {seed}"
            );
        }
    }
}

#[test]
fn damaged_tries_still_answer() {
    let mut opened = 0;
    for seed in 0..2_000 {
        let mut random = Random(seed);
        let bits = 1 + random.below(64) as u32;
        let count = 1 + random.below(300);
        let mut bytes = encode(&draw(&mut random, bits, count), bits);
        for _ in 0..=random.below(12) {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] ^= random.next() as u8;
        }
        let Ok(trie) = UniformTrie::open(&bytes) else { continue };
        opened += 1;
        let mut out = vec![0; trie.bits().div_ceil(8).min(64) as usize];
        for _ in 0..10 {
            let (lo, hi) = (random.next().to_be_bytes(), random.next().to_be_bytes());
            let (lo, hi) = (StringPath::new(&lo, trie.bits()), StringPath::new(&hi, trie.bits()));
            let _ = trie.meet(Scalar, &bytes, &lo, &hi);
            let _ = trie.next(Scalar, &bytes, &lo, &mut out);
            let _ = trie.next_integer(Scalar, &bytes, random.next());
        }
    }
    assert!(opened > 700, "only {opened} damaged tries opened");
}
