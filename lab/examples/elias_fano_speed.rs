//! Speed of the sliced Elias-Fano next to one random memory access.
//!
//! `cargo run --release -p lacuna-lab --example elias_fano_speed [values] [low_bits]`

#![expect(
    clippy::cast_possible_truncation,
    reason = "lines are counted in memory; filling bytes are meant to be cut"
)]

use std::hint::black_box;
use std::time::Instant;

use lacuna_succinct::EliasFano;
use lacuna_succinct::arch::{Isa, Kernel, dispatch};
use lacuna_succinct::elias_fano::{Geometry, Layout, encode};

/// Keys of a question.
const WIDTH: u64 = 32;
const QUESTIONS: usize = 1 << 20;
const ROUNDS: usize = 9;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let count = arguments.next().unwrap_or(10_000_000);
    let bits = arguments.next().unwrap_or(12);
    let universe = count << bits;
    let mut random = Random(42);
    let mut values: Vec<u64> = (0..count).map(|_| random.below(universe)).collect();
    values.sort_unstable();
    values.dedup();

    let mut bytes = Vec::new();
    let encode_ns = median((0..5).map(|_| {
        bytes.clear();
        time(values.len(), || encode(&values, universe - 1, Geometry::default(), &mut bytes))
    }));
    let sequence = EliasFano::open(&bytes[..]).expect("just written");
    let bits_per_value = bytes.len() as f64 * 8.0 / values.len() as f64;
    println!("values {}  bytes {}  bits per value {bits_per_value:.3}", values.len(), bytes.len());
    println!("encode           {encode_ns:7.2} ns per value");

    let starts: Vec<u64> = (0..QUESTIONS).map(|_| random.below(universe - WIDTH)).collect();
    let ends: Vec<(u64, u64)> = starts.iter().map(|&lo| (lo, lo + WIDTH - 1)).collect();
    let mut answers = vec![false; ends.len()];
    let mut lines = vec![0_u8; bytes.len().next_multiple_of(64)];
    lines.iter_mut().enumerate().for_each(|(index, byte)| *byte = index as u8);

    let mut rounds: [Vec<f64>; 5] = Default::default();
    for _ in 0..ROUNDS {
        rounds[0].push(time(QUESTIONS, || memory_floor(&lines, &starts)));
        rounds[1].push(time(QUESTIONS, || dependent(&sequence, &starts)));
        rounds[2].push(time(QUESTIONS, || {
            dispatch(DependentInline { layout: sequence.layout(), bytes: &bytes, starts: &starts })
        }));
        rounds[3].push(time(QUESTIONS, || {
            starts.iter().filter(|&&lo| sequence.any_in(lo, lo + WIDTH - 1)).count()
        }));
        rounds[4].push(time(QUESTIONS, || sequence.any_in_each(&ends, &mut answers)));
    }
    let expected = starts.iter().filter(|&&lo| oracle(&values, lo)).count();
    assert_eq!(answers.iter().filter(|&&answer| answer).count(), expected);
    let names = ["memory floor", "dependent", "dependent inline", "independent", "batched"];
    let floor = median(rounds[0].iter().copied());
    for (name, rounds) in names.iter().zip(&rounds) {
        let ns = median(rounds.iter().copied());
        println!("{name:16} {ns:7.2} ns per question  {:5.2} floors", ns / floor);
    }
}

fn oracle(values: &[u64], lo: u64) -> bool {
    let at = values.partition_point(|&value| value < lo);
    values.get(at).is_some_and(|&value| value < lo + WIDTH)
}

fn dependent(sequence: &EliasFano<&[u8]>, starts: &[u64]) -> u64 {
    let mut answer = 0;
    for &start in starts {
        let lo = start + answer;
        answer = u64::from(sequence.any_in(lo, lo + WIDTH - 1));
    }
    answer
}

struct DependentInline<'a> {
    layout: &'a Layout,
    bytes: &'a [u8],
    starts: &'a [u64],
}

impl Kernel for DependentInline<'_> {
    type Output = u64;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> u64 {
        let mut answer = 0;
        for &start in self.starts {
            let lo = start + answer;
            answer = u64::from(self.layout.any_in(isa, self.bytes, lo, lo + WIDTH - 1));
        }
        answer
    }
}

/// One 64-byte line a step, its place known only after the line before.
fn memory_floor(lines: &[u8], starts: &[u64]) -> u64 {
    let count = (lines.len() / 64) as u64;
    let mut seen = 0_u64;
    for &start in starts {
        let mixed = (start ^ seen).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let line = ((u128::from(mixed) * u128::from(count)) >> 64) as usize;
        let words = &lines[line * 64..][..64];
        seen = words
            .chunks_exact(8)
            .fold(0, |sum, word| sum ^ u64::from_le_bytes(word.try_into().expect("eight")));
    }
    seen
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(mixed ^ mixed >> 31) * u128::from(bound)) >> 64) as u64
    }
}

fn time<T>(steps: usize, work: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    black_box(work());
    start.elapsed().as_nanos() as f64 / steps as f64
}

fn median(times: impl Iterator<Item = f64>) -> f64 {
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
