//! The Zipf law with exponent 1, in integers only.
//!
//! Popularity is skewed: rank k turns up in proportion to 1/k. The usual samplers invert a logarithm, and the last
//! bit of a logarithm differs between machines. Here a power of two is chosen first, all equally likely, then a rank
//! within [2^i, 2^(i+1)), and rank k is kept with probability 2^i / k. Rank k thus comes out with probability
//! proportional to 2^-i * 2^i / k = 1/k, exactly; for example 3 is chosen half as often as 1 within its octave pair,
//! and kept two times in three.
//!
//! Cost: about 1.4 attempts a rank, up to 2.8 when the largest rank is just above a power of two.

use std::iter::FusedIterator;

use crate::Rng;

/// Draws ranks `1..=largest`, rank k in proportion to 1/k.
///
/// ```
/// use lacuna_workload::{Rng, ZipfRanks};
///
/// let ranks = ZipfRanks::new(100);
/// let mut rng = Rng::new(1);
/// assert!((0..1_000).all(|_| (1..=100).contains(&ranks.draw(&mut rng))));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ZipfRanks {
    largest: u64,
}

impl ZipfRanks {
    /// The law over `1..=largest`; a `largest` of 0 counts as 1.
    pub fn new(largest: u64) -> Self {
        Self { largest: largest.max(1) }
    }

    /// The next rank.
    pub fn draw(self, rng: &mut Rng) -> u64 {
        let octaves = u64::from(self.largest.ilog2()) + 1;
        loop {
            let first = 1_u64 << rng.below(octaves);
            let rank = first + rng.below(first);
            if rank <= self.largest && rng.below(rank) < first {
                return rank;
            }
        }
    }
}

/// An endless stream of indices into a pool of queries: index 0 most often, index k in proportion to 1/(k+1).
///
/// Asking the same few queries again and again is what real users do, and what turns one false positive into many.
///
/// ```
/// use lacuna_workload::ZipfPool;
///
/// let asked: Vec<usize> = ZipfPool::new(1_000, 1).take(10_000).collect();
/// let favourite = asked.iter().filter(|&&index| index == 0).count();
/// assert!(favourite > 1_000, "a uniform choice would ask it 10 times");
/// ```
#[derive(Debug, Clone)]
pub struct ZipfPool {
    ranks: ZipfRanks,
    rng: Rng,
}

impl ZipfPool {
    /// Indices below `pool_size`, which counts as 1 when it is 0.
    pub fn new(pool_size: usize, seed: u64) -> Self {
        Self { ranks: ZipfRanks::new(pool_size as u64), rng: Rng::with_stream(seed, POOL_STREAM) }
    }
}

/// Stream number of pool draws, apart from those of keys and queries.
const POOL_STREAM: u64 = 2;

impl Iterator for ZipfPool {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let rank = self.ranks.draw(&mut self.rng);
        Some(usize::try_from(rank - 1).expect("the rank is at most a usize"))
    }
}

impl FusedIterator for ZipfPool {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_follow_the_law() {
        let (ranks, mut rng, draws) = (ZipfRanks::new(10), Rng::new(1), 200_000_u32);
        let mut seen = [0_u32; 11];
        for _ in 0..draws {
            seen[usize::try_from(ranks.draw(&mut rng)).unwrap()] += 1;
        }
        let harmonic: f64 = (1..=10).map(|rank| 1.0 / f64::from(rank)).sum();
        for rank in 1..=10_u32 {
            let expected = f64::from(draws) / f64::from(rank) / harmonic;
            let difference = (f64::from(seen[rank as usize]) - expected).abs();
            assert!(difference < 4.0 * expected.sqrt(), "rank {rank}: {seen:?}, expected {expected}, seed 1");
        }
    }

    #[test]
    fn smallest_and_largest_laws_work() {
        let mut rng = Rng::new(2);
        assert_eq!(ZipfRanks::new(0).draw(&mut rng), 1);
        assert!((0..1_000).any(|_| ZipfRanks::new(u64::MAX).draw(&mut rng) > 1 << 60));
    }
}
