//! Chooses β from what the range observes: hits, writes, memory.
//!
//! A large β caches every result whole: a hit is one lookup, but a row lies in many entries, each of which a write
//! clears or changes, and memory holds the row many times. A small β holds each row once: a write touches one entry,
//! memory lasts, and a read gathers parts. So β goes down where writes are many or memory is short, and up where
//! reads find whole results. With 1 % writes and free memory it climbs to 100; with 90 % writes it falls to 0. A
//! cache server that evicts is always nearly full: its memory counts as short only if reads miss.
//!
//! It moves by steps of 25 after every 1,000 operations, and takes a step back that made hits rarer by more than 5
//! points, unless memory or writes forced it. Integers only; no clock.
//!
//! Report, section 7.6 (figure 9) and section 10, where this is future work.

/// Operations between two decisions.
const PERIOD: u64 = 1_000;
/// The values that β takes.
const STEP: u8 = 25;
/// Percentage of writes above which whole results do not pay: the report's curves cross between 90 and 99 % reads.
const MANY_WRITES: u64 = 10;
/// Percentage of the memory of a cache server that counts as full.
const FULL: u8 = 90;
/// Percentage of reads that miss above which full memory counts as short.
const MANY_MISSES: u64 = 10;
/// Percentage points of hits that a step may cost.
const MAX_LOSS: u64 = 5;

/// β, adapted to the load.
///
/// ```
/// use lacuna_cache_protocol::AutoBeta;
///
/// let mut auto = AutoBeta::new(100);
/// for _ in 0..10_000 {
///     auto.was_written();
/// }
/// assert_eq!(auto.beta(), 0, "rows that are only written are best kept once");
/// ```
#[derive(Debug, Clone)]
pub struct AutoBeta {
    beta: u8,
    found: u64,
    missed: u64,
    written: u64,
    /// The cache server is nearly full, and has refused an entry.
    is_full: bool,
    has_refused: bool,
    /// Percentage of hits in the previous period, and the β before the last step.
    before: Option<(u64, u8)>,
}

impl AutoBeta {
    /// Begins at `beta` percent.
    pub const fn new(beta: u8) -> Self {
        Self { beta, found: 0, missed: 0, written: 0, is_full: false, has_refused: false, before: None }
    }

    /// The present β, in percent.
    pub const fn beta(&self) -> u8 {
        self.beta
    }

    /// Counts a read, which found its whole result or did not.
    pub fn was_read(&mut self, found: bool) {
        if found {
            self.found += 1;
        } else {
            self.missed += 1;
        }
        self.decide();
    }

    /// Reports hits of clients, and how full the memory of the cache server is, in percent.
    pub fn was_told(&mut self, hits: u64, memory_percent: u8) {
        self.found += hits;
        self.is_full |= memory_percent >= FULL;
        self.decide();
    }

    /// Counts a write.
    pub fn was_written(&mut self) {
        self.written += 1;
        self.decide();
    }

    /// Notes that the cache server had no room for an entry.
    pub const fn was_full(&mut self) {
        self.has_refused = true;
    }

    fn decide(&mut self) {
        let reads = self.found + self.missed;
        let all = reads + self.written;
        if all < PERIOD {
            return;
        }
        let hits = (100 * self.found).checked_div(reads).unwrap_or(0);
        let is_short = self.has_refused || self.is_full && 100 * self.missed > MANY_MISSES * reads;
        let is_forced = is_short || 100 * self.written > MANY_WRITES * all;
        let from = self.beta;
        let has_cost = self.before.filter(|(before, _)| hits + MAX_LOSS < *before && !is_forced);
        self.beta = match has_cost {
            Some((_, back)) => back,
            None if is_forced => from.saturating_sub(STEP),
            None => (from + STEP).min(100),
        };
        self.before = Some((hits, from));
        (self.found, self.missed, self.written) = (0, 0, 0);
        (self.is_full, self.has_refused) = (false, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(auto: &mut AutoBeta, periods: u64, write_percent: u64, hit_percent: u64) {
        for operation in 0..periods * PERIOD {
            if operation % 100 < write_percent {
                auto.was_written();
            } else {
                auto.was_read(operation / 100 % 100 < hit_percent);
            }
        }
    }

    #[test]
    fn many_writes_lower_it_and_reads_raise_it() {
        let mut auto = AutoBeta::new(50);
        run(&mut auto, 10, 50, 80);
        assert_eq!(auto.beta(), 0);
        run(&mut auto, 10, 1, 80);
        assert_eq!(auto.beta(), 100);
    }

    #[test]
    fn full_memory_lowers_it() {
        let mut auto = AutoBeta::new(100);
        for _ in 0..8 {
            auto.was_full();
            run(&mut auto, 1, 0, 80);
        }
        assert_eq!(auto.beta(), 0);
        auto.was_told(PERIOD, 10);
        assert_eq!(auto.beta(), STEP);
    }

    #[test]
    fn full_memory_is_short_only_if_reads_miss() {
        let mut auto = AutoBeta::new(50);
        for _ in 0..8 {
            auto.was_told(0, 100);
            run(&mut auto, 1, 0, 100);
        }
        assert_eq!(auto.beta(), 100);
        for _ in 0..8 {
            auto.was_told(0, 100);
            (0..PERIOD).for_each(|place| auto.was_read(place % 5 > 0));
        }
        assert_eq!(auto.beta(), 0);
    }

    #[test]
    fn a_step_that_costs_hits_is_taken_back() {
        let mut auto = AutoBeta::new(25);
        auto.was_told(PERIOD, 0);
        assert_eq!(auto.beta(), 50);
        (0..PERIOD).for_each(|_| auto.was_read(false));
        assert_eq!(auto.beta(), 25);
    }
}
