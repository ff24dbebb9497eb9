//! Which hits are verified.

use std::sync::atomic::{AtomicU64, Ordering};

use lacuna_base::hash::{hash_bytes, reduce};

/// A share of a stream, chosen by a hash of the position, so that under a repeating sequence of queries each is
/// chosen now and then.
///
/// With 40 percent: for example, of the first ten, those at positions 0, 1, 3 and 6.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    percent: AtomicU64,
    seen: AtomicU64,
}

impl Sample {
    pub(crate) fn set(&self, percent: u8) {
        self.percent.store(percent.min(100).into(), Ordering::Relaxed);
    }

    /// Whether there is a share at all.
    pub(crate) fn takes_any(&self) -> bool {
        self.percent.load(Ordering::Relaxed) > 0
    }

    /// Whether the next one is in the share.
    pub(crate) fn takes_next(&self) -> bool {
        let percent = self.percent.load(Ordering::Relaxed);
        if percent == 0 {
            return false;
        }
        let place = self.seen.fetch_add(1, Ordering::Relaxed);
        reduce(hash_bytes(&place.to_le_bytes(), 0), 100) < percent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(percent: u8) -> Sample {
        let sample = Sample::default();
        sample.set(percent);
        sample
    }

    #[test]
    fn a_sample_has_its_share() {
        for percent in [0, 1, 40, 99, 100] {
            let sample = sample(percent);
            let taken = (0..10_000).filter(|_| sample.takes_next()).count();
            assert!(taken.abs_diff(100 * usize::from(percent)) <= 150, "{taken} of 10,000 for {percent} %");
        }
        let (none, all) = (sample(0), sample(100));
        assert!((0..1_000).all(|_| !none.takes_next() && all.takes_next()));
    }

    #[test]
    fn each_of_several_in_turn_is_taken_at_some_time() {
        for turns in [2, 10, 50, 100] {
            let (sample, mut is_taken) = (sample(1), vec![false; turns]);
            (0..1_000 * turns).for_each(|place| is_taken[place % turns] |= sample.takes_next());
            assert!(is_taken.iter().all(|is_taken| *is_taken), "{turns} in turn");
        }
    }
}
