//! Rank and select against their definitions.

use lacuna_succinct::arch::{Isa, IsaKind, Kernel, dispatch_on};
use lacuna_succinct::rank_select::Samples;
use lacuna_succinct::{BitVector, OpenError, RankSelect};

use crate::tools::Random;

const SAMPLES: [Samples; 3] = [
    Samples { ones: false, zeros: false },
    Samples { ones: true, zeros: false },
    Samples { ones: true, zeros: true },
];

/// Everything that can be asked at one number.
struct AskAt<'a>(RankSelect, &'a [u8], u64);

impl Kernel for AskAt<'_> {
    type Output = (u64, u64, Option<u64>, Option<u64>, bool);
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        let Self(bits, bytes, at) = self;
        (
            bits.rank1(isa, bytes, at),
            bits.rank0(isa, bytes, at),
            bits.select1(isa, bytes, at),
            bits.select0(isa, bytes, at),
            bits.get(bytes, at),
        )
    }
}

fn ask(bits: RankSelect, bytes: &[u8], at: u64) -> Vec<<AskAt<'_> as Kernel>::Output> {
    IsaKind::ALL.into_iter().filter_map(|kind| dispatch_on(kind, AskAt(bits, bytes, at))).collect()
}

/// Bits with `ones` ones in 100 on average, in stretches that are denser and emptier.
fn random_bits(len: usize, ones: u64, random: &mut Random) -> BitVector {
    let mut share = ones;
    (0..len)
        .map(|index| {
            if index % 3_000 == 0 {
                share = if random.below(4) == 0 { random.below(101) } else { ones };
            }
            random.below(100) < share
        })
        .collect()
}

fn check(bits: &BitVector, samples: Samples, places: impl Iterator<Item = u64>) {
    // Other bytes after the structure must not be counted.
    let mut bytes = Vec::new();
    RankSelect::encode(bits, samples, &mut bytes);
    let view = RankSelect::open(&bytes).expect("just written");
    assert_eq!(
        (view.len(), view.count_ones(), view.byte_len()),
        (bits.len() as u64, bits.count_ones(), bytes.len())
    );
    bytes.extend([0xFF; 100]);
    let marks =
        |kind: bool| (0..bits.len()).filter(move |&index| bits.get(index) == kind).map(|index| index as u64);
    let (ones, zeros): (Vec<u64>, Vec<u64>) = (marks(true).collect(), marks(false).collect());
    for at in places {
        let expected = (
            ones.partition_point(|&one| one < at) as u64,
            zeros.partition_point(|&zero| zero < at) as u64,
            ones.get(at as usize).copied(),
            zeros.get(at as usize).copied(),
            at < view.len() && bits.get(at as usize),
        );
        for found in ask(view, &bytes, at) {
            assert_eq!(found, expected, "at {at} of {} bits, {samples:?}", bits.len());
        }
    }
}

#[test]
fn short_vectors_count_and_find_exactly() {
    for len in [0, 1, 63, 64, 65, 511, 512, 513, 1_000, 1_536] {
        for ones in [0, 1, 50, 99, 100] {
            let bits = random_bits(len, ones, &mut Random(len as u64 + ones));
            for samples in SAMPLES {
                check(&bits, samples, 0..len as u64 + 3);
            }
        }
    }
}

#[test]
fn long_vectors_count_and_find_exactly() {
    for (seed, ones) in [(1, 2), (2, 50), (3, 98)] {
        let mut random = Random(seed);
        let bits = random_bits(300_000, ones, &mut random);
        for samples in SAMPLES {
            let places: Vec<u64> = (0..20_000).map(|_| random.below(300_100)).collect();
            check(&bits, samples, places.into_iter());
        }
    }
}

#[test]
fn counts_go_on_behind_a_restart() {
    // Just above 2^25 bits, where the 32-bit counts restart.
    let mut bits = BitVector::new();
    for _ in 0..(1 << 19) + 40 {
        bits.push_bits(0xF0F0_0000_0000_0001, 64);
    }
    let mut bytes = Vec::new();
    RankSelect::encode(&bits, Samples { ones: true, zeros: true }, &mut bytes);
    let view = RankSelect::open(&bytes).expect("just written");
    for word in [(1 << 19) - 1, 1 << 19, (1 << 19) + 39_u64] {
        for found in ask(view, &bytes, word * 64 + 1) {
            assert_eq!((found.0, found.4), (word * 9 + 1, false));
        }
        for found in ask(view, &bytes, word * 9) {
            assert_eq!(found.2, Some(word * 64));
        }
        for found in ask(view, &bytes, word * 55) {
            assert_eq!(found.3, Some(word * 64 + 1));
        }
    }
}

#[test]
fn index_takes_seven_percent_and_a_half() {
    let bits = random_bits(1 << 20, 30, &mut Random(9));
    let mut bytes = Vec::new();
    RankSelect::encode(&bits, Samples { ones: true, zeros: true }, &mut bytes);
    let share = bytes.len() as f64 * 8.0 / bits.len() as f64 - 1.0;
    assert!(share < 0.0725, "{share}");
}

#[test]
fn damaged_bits_still_answer() {
    for seed in 0..400 {
        let mut random = Random(seed);
        let len = random.below(20_000) as usize;
        let bits = random_bits(len, 40, &mut random);
        let mut bytes = Vec::new();
        RankSelect::encode(&bits, SAMPLES[random.below(3) as usize], &mut bytes);
        let sound = RankSelect::open(&bytes).expect("just written");
        for _ in 0..=random.below(40) {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] = random.next() as u8;
        }
        let damaged = RankSelect::open(&bytes).ok();
        for view in [Some(sound), damaged].into_iter().flatten() {
            for _ in 0..50 {
                for found in ask(view, &bytes, random.below(len as u64 + 2)) {
                    assert!(found.2.is_none_or(|place| place < view.len()), "seed {seed}");
                    assert!(found.3.is_none_or(|place| place < view.len()), "seed {seed}");
                }
                ask(view, &bytes, random.next());
            }
        }
    }
}

#[test]
fn truncated_bits_are_refused() {
    let mut bytes = Vec::new();
    RankSelect::encode(&random_bits(2_000, 30, &mut Random(1)), SAMPLES[2], &mut bytes);
    for kept in 0..bytes.len() {
        assert!(matches!(RankSelect::open(&bytes[..kept]), Err(OpenError::Truncated { .. })));
    }
    bytes[15] = 1;
    assert!(matches!(RankSelect::open(&bytes), Err(OpenError::Invalid(_))));
}
