//! Measures up to which size a result is worth caching.
//!
//! Two times are kept for each class of sizes (1 to 2 bytes, 2 to 4, ...): the time of a lookup that finds such a
//! value, and the time of a store query with such a result. The threshold is the end of the last class below the
//! first whose lookups take as long as its queries. Classes without enough samples of both count as worth caching,
//! so that they get samples.
//!
//! The times are moving means in which each new sample counts a sixteenth, in the unit of the clock. Cost: a few
//! additions.
//!
//! Report, section 8 ("cardinality of cache predicates"), which fills a histogram in quiet hours; here the samples
//! come from normal operation.

/// Samples of both kinds that a class needs before it counts.
const ENOUGH: u32 = 32;
/// Means are kept in this many parts of a unit, so that rounding does not stop them.
const PARTS: u64 = 256;

/// Times of lookups and store queries by size of the value.
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
}

#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    count: u32,
    parts: u64,
}

impl Mean {
    fn add(&mut self, time: u64) {
        let parts = time.saturating_mul(PARTS);
        self.parts = if self.count == 0 { parts } else { self.parts - self.parts / 16 + parts / 16 };
        self.count = self.count.saturating_add(1);
    }
}

impl Class {
    const fn is_worth_it(&self) -> bool {
        let is_known = self.lookup.count >= ENOUGH && self.query.count >= ENOUGH;
        !is_known || self.lookup.parts < self.query.parts
    }
}

const fn class_of(bytes: usize) -> usize {
    (usize::BITS - bytes.leading_zeros()) as usize
}

impl SizeThreshold {
    /// Without samples: everything is worth caching.
    pub const fn new() -> Self {
        const NOTHING: Class =
            Class { lookup: Mean { count: 0, parts: 0 }, query: Mean { count: 0, parts: 0 } };
        Self { classes: [NOTHING; usize::BITS as usize + 1] }
    }

    /// A lookup found a value of `bytes` bytes and took `time`.
    pub fn found(&mut self, bytes: usize, time: u64) {
        self.classes[class_of(bytes)].lookup.add(time);
    }

    /// The store answered with `bytes` bytes and took `time`.
    pub fn stored(&mut self, bytes: usize, time: u64) {
        self.classes[class_of(bytes)].query.add(time);
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
        assert_eq!(sizes.largest(), (1 << 12) - 1);
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
