//! Random numbers that are the same on every machine: xoshiro256++ seeded by splitmix64.
//!
//! A test that fails must fail again from its printed seed, on another machine and in five years, so the generator
//! is part of this crate and its first numbers are pinned by a test. All results are integers.
//!
//! Guarantee: [`Rng::below`] is exactly uniform. Cost: about one nanosecond a number.
//!
//! Blackman, Vigna, "Scrambled linear pseudorandom number generators", 2021 (xoshiro256++); Steele, Lea, Flood,
//! "Fast splittable pseudorandom number generators", 2014 (splitmix64); Lemire, "Fast random integer generation in
//! an interval", 2019 (`below`).

/// A seeded stream of random integers; not for secrets.
///
/// ```
/// use lacuna_workload::Rng;
///
/// let (mut first, mut again) = (Rng::new(7), Rng::new(7));
/// assert_eq!(first.next_u64(), again.next_u64());
/// assert!(first.below(6) < 6);
/// ```
#[derive(Debug, Clone)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// The stream that belongs to `seed`.
    pub fn new(seed: u64) -> Self {
        let mut mixer = seed;
        Self { state: std::array::from_fn(|_| split_mix(&mut mixer)) }
    }

    /// One of many independent streams of the same `seed`, so that keys and queries never share numbers.
    pub fn with_stream(seed: u64, stream: u64) -> Self {
        let mut mixer = stream;
        Self::new(seed ^ split_mix(&mut mixer))
    }

    /// The next integer, uniform over all 64-bit values.
    pub fn next_u64(&mut self) -> u64 {
        let [s0, s1, s2, s3] = self.state;
        let result = s0.wrapping_add(s3).rotate_left(23).wrapping_add(s0);
        let (t2, t3) = (s2 ^ s0, s3 ^ s1);
        self.state = [s0 ^ t3, s1 ^ t2, t2 ^ (s1 << 17), t3.rotate_left(45)];
        result
    }

    /// An integer uniform over `0..bound`.
    ///
    /// # Panics
    ///
    /// When `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no number below 0");
        let unfair = bound.wrapping_neg() % bound; // this number of low halves would be drawn once too often
        loop {
            let (high, low) = wide_product(self.next_u64(), bound);
            if low >= unfair {
                return high;
            }
        }
    }

    /// An integer uniform over `low..=high`.
    ///
    /// # Panics
    ///
    /// When `low` is above `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        assert!(low <= high, "there is no number between {low} and {high}");
        match (high - low).checked_add(1) {
            Some(span) => low + self.below(span),
            None => self.next_u64(),
        }
    }

    /// An index uniform over `0..len`.
    ///
    /// # Panics
    ///
    /// When `len` is 0.
    pub fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).expect("the number is below a usize")
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The high and the low 64 bits of the product.
#[expect(clippy::cast_possible_truncation, reason = "each half of a 128-bit product has 64 bits")]
fn wide_product(left: u64, right: u64) -> (u64, u64) {
    let product = u128::from(left) * u128::from(right);
    ((product >> 64) as u64, product as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_first_numbers_come_out() {
        let mut rng = Rng { state: [1, 2, 3, 4] };
        let first: [u64; 4] = std::array::from_fn(|_| rng.next_u64());
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
        assert_eq!(split_mix(&mut 0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn numbers_stay_within_their_bounds() {
        let mut rng = Rng::new(1);
        for bound in [1, 2, 3, 10, (1 << 63) + 1, u64::MAX] {
            assert!((0..100).all(|_| rng.below(bound) < bound), "bound {bound}, seed 1");
        }
        assert_eq!(rng.between(5, 5), 5);
        assert!((0..100).all(|_| (u64::MAX - 1..=u64::MAX).contains(&rng.between(u64::MAX - 1, u64::MAX))));
        assert!((0..100).any(|_| rng.between(0, u64::MAX) > 1 << 63));
    }

    #[test]
    fn each_value_is_equally_likely() {
        let mut rng = Rng::new(2);
        let mut seen = [0_u32; 6];
        (0..60_000).for_each(|_| seen[rng.index(6)] += 1);
        assert!(seen.iter().all(|&count| (9_600..10_400).contains(&count)), "{seen:?}, seed 2");
    }

    #[test]
    fn streams_of_one_seed_differ() {
        assert_ne!(Rng::with_stream(1, 0).next_u64(), Rng::with_stream(1, 1).next_u64());
    }
}
