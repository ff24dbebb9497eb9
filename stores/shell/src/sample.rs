//! Which hits are looked at once more.

use std::sync::atomic::{AtomicU64, Ordering};

/// A share of a stream, spread evenly over it.
///
/// With 40 percent: the third and fifth of every five.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    percent: AtomicU64,
    seen: AtomicU64,
}

impl Sample {
    pub(crate) fn set(&self, percent: u8) {
        self.percent.store(percent.min(100).into(), Ordering::Relaxed);
    }

    /// Whether the next one is of the share.
    pub(crate) fn takes_next(&self) -> bool {
        let percent = self.percent.load(Ordering::Relaxed);
        if percent == 0 {
            return false;
        }
        let place = self.seen.fetch_add(1, Ordering::Relaxed) % 100;
        (place + 1) * percent / 100 > place * percent / 100
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_its_share_of_every_hundred() {
        for percent in [0, 1, 40, 99, 100] {
            let sample = Sample::default();
            sample.set(percent);
            for _ in 0..3 {
                assert_eq!((0..100).filter(|_| sample.takes_next()).count(), usize::from(percent));
            }
        }
        let sample = Sample::default();
        sample.set(40);
        assert_eq!([0; 5].map(|_| sample.takes_next()), [false, false, true, false, true]);
    }
}
