//! Measures up to which size a result is worth caching.
//!
//! Two times are kept for each class of sizes (1 to 2 bytes, 2 to 4, ...): the time of a lookup that finds such a
//! value, and the time of a store query with such a result. The threshold is the end of the last class below the
//! first whose lookups take longer than its queries. Classes without enough samples of both count as worth caching,
//! so that they get samples. So do those whose two times are equal: they may both be shorter than the clock can show, and a
//! result that is not cached is mostly looked up all the same.
//!
//! The times are moving means in which the first sixteen samples count alike and each later one a sixteenth, and as at most eight times the mean: one that waited
//! for a busy machine shows nothing of its size. Cost: a few additions.
//!
//! Report, section 8 ("cardinality of cache predicates"), which fills a histogram in quiet hours; here the samples
//! come from normal operation.

/// Samples of both kinds that a class needs before it counts.
const ENOUGH: u32 = 32;
/// A sample counts as at most this many times the mean.
const MAX_TIMES: u64 = 8;
/// Queries with results of a class that is left out, after which it is tried again: its lookups may have become faster, or the first of
/// them may have waited for a busy machine.
const AGAIN: u32 = 1_024;
/// Means are kept in this many parts of a unit, so that rounding does not stop them.
const PARTS: u64 = 256;

/// Times of lookups and store queries by size of the value, all in one unit: nanoseconds, for a cache in memory takes less than a
/// microsecond.
///
/// ```
/// use lacuna_cache_protocol::SizeThreshold;
///
/// let mut sizes = SizeThreshold::new();
/// assert_eq!(sizes.largest(), usize::MAX, "nothing is known yet");
/// for _ in 0..100 {
///     sizes.found(1_000, 1);
///     sizes.stored(1_000, 20);
///     sizes.found(1_000_000, 30);
///     sizes.stored(1_000_000, 20);
/// }
/// assert!((1_000..1_000_000).contains(&sizes.largest()));
/// ```
#[derive(Debug, Clone)]
pub struct SizeThreshold {
    classes: [Class; usize::BITS as usize + 1],
}

#[derive(Debug, Clone, Copy, Default)]
struct Class {
    lookup: Mean,
    query: Mean,
    /// Queries since it was found not to be worth caching.
    left_out: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    count: u32,
    parts: u64,
}

impl Mean {
    fn add(&mut self, time: u64) {
        let parts = time.saturating_mul(PARTS);
        let limit = if self.count == 0 { u64::MAX } else { self.parts.saturating_mul(MAX_TIMES).max(PARTS) };
        let weight = u64::from(self.count.min(15)) + 1;
        self.parts = self.parts - self.parts / weight + parts.min(limit) / weight;
        self.count = self.count.saturating_add(1);
    }
}

impl Class {
    const fn is_worth_it(&self) -> bool {
        let is_known = self.lookup.count >= ENOUGH && self.query.count >= ENOUGH;
        !is_known || self.lookup.parts <= self.query.parts
    }
}

const fn class_of(bytes: usize) -> usize {
    (usize::BITS - bytes.leading_zeros()) as usize
}

impl SizeThreshold {
    /// Without samples: everything is worth caching.
    pub const fn new() -> Self {
        const NOTHING: Class =
            Class { lookup: Mean { count: 0, parts: 0 }, query: Mean { count: 0, parts: 0 }, left_out: 0 };
        Self { classes: [NOTHING; usize::BITS as usize + 1] }
    }

    /// A lookup found a value of `bytes` bytes and took `time`.
    pub fn found(&mut self, bytes: usize, time: u64) {
        self.classes[class_of(bytes)].lookup.add(time);
    }

    /// The store answered with `bytes` bytes and took `time`.
    pub fn stored(&mut self, bytes: usize, time: u64) {
        let class = &mut self.classes[class_of(bytes)];
        class.query.add(time);
        if class.is_worth_it() {
            class.left_out = 0;
            return;
        }
        class.left_out += 1;
        if class.left_out == AGAIN {
            *class = Class { query: class.query, ..Class::default() };
        }
    }

    /// Bytes of the largest value that is worth caching.
    pub fn largest(&self) -> usize {
        match self.classes.iter().position(|class| !class.is_worth_it()) {
            Some(class) => (1usize << class.saturating_sub(1)) - 1,
            None => usize::MAX,
        }
    }
}

impl Default for SizeThreshold {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_where_lookups_stop_being_faster() {
        let mut sizes = SizeThreshold::new();
        for _ in 0..ENOUGH {
            for class in 0..20u64 {
                let bytes = 1usize << class;
                // Lookups take time by size, queries take a fixed time.
                sizes.found(bytes, 1 << class);
                sizes.stored(bytes, 1 << 12);
            }
        }
        assert_eq!(sizes.largest(), (1 << 13) - 1, "the last class whose lookups take no longer");
    }

    #[test]
    fn single_samples_that_took_long_change_little() {
        let mut sizes = SizeThreshold::new();
        for _ in 0..ENOUGH {
            sizes.found(100, 1_000);
            sizes.stored(100, 50_000);
        }
        for _ in 0..4 {
            sizes.found(100, 10_000_000);
        }
        assert_eq!(sizes.largest(), usize::MAX, "four lookups waited for something else");
        (0..40).for_each(|_| sizes.found(100, 10_000_000));
        assert!(sizes.largest() < 100, "and then all did");
    }

    #[test]
    fn times_that_the_clock_cannot_tell_apart_keep_results_cached() {
        let mut sizes = SizeThreshold::new();
        for _ in 0..10 * ENOUGH {
            sizes.found(100, 0);
            sizes.stored(100, 0);
        }
        assert_eq!(sizes.largest(), usize::MAX);
    }

    #[test]
    fn a_size_that_was_left_out_is_tried_again() {
        let mut sizes = SizeThreshold::new();
        for _ in 0..ENOUGH {
            sizes.found(100, 100);
            sizes.stored(100, 5);
        }
        assert!(sizes.largest() < 100);
        // Nothing of this size is cached, so that no lookup finds any.
        (1..AGAIN).for_each(|_| sizes.stored(100, 5));
        assert_eq!(sizes.largest(), usize::MAX);
        for _ in 0..ENOUGH {
            sizes.found(100, 100);
        }
        assert!(sizes.largest() < 100, "it is no better");
    }

    #[test]
    fn a_slow_first_lookup_counts_as_one_of_sixteen() {
        let mut sizes = SizeThreshold::new();
        sizes.found(100, 1_000_000);
        for _ in 0..10 * ENOUGH {
            sizes.found(100, 1_000);
            sizes.stored(100, 50_000);
        }
        assert_eq!(sizes.largest(), usize::MAX);
    }

    #[test]
    fn times_that_change_are_followed() {
        let mut sizes = SizeThreshold::new();
        for _ in 0..ENOUGH {
            sizes.found(100, 10);
            sizes.stored(100, 5);
        }
        assert!(sizes.largest() < 100);
        for _ in 0..200 {
            sizes.stored(100, 50);
        }
        assert_eq!(sizes.largest(), usize::MAX, "the store has become slow");
    }
}
