//! Chooses β from what the range observes: hits, writes, memory.
//!
//! A large β caches every result whole: a hit is one lookup, but a row lies in many entries, each of which a write
//! clears or changes, and memory holds the row many times. A small β holds each row once: a write touches one entry,
//! memory lasts, and a read gathers parts. So β goes down where writes change many entries that overlap or memory is short,
//! and up where reads find whole results. A cache server that evicts is always nearly full: its memory counts as short only
//! if reads miss.
//!
//! It is decided whenever the hits of clients are reported and 1,000 operations have passed, never between two such
//! reports: writes are counted as they come and hits by the report, so that the writes in between alone look like many. Where writes
//! cost too much, β becomes 0: only then do entries go that others cover. Otherwise it moves by steps of 25, and takes a step
//! back that made hits rarer by more than 5 points. With β at 0 little overlaps: what writes would cost is remembered,
//! and slowly forgotten, so that it is tried again. Integers only; no clock.
//!
//! Report, section 7.6 (figure 9) and section 10, where this is future work.

/// Operations between two decisions.
const PERIOD: u64 = 1_000;
/// By how much β moves.
const STEP: u8 = 25;
/// Changes of further entries for each read above which whole results do not pay, and below which they do. Between them β
/// stays. Measured with write-back over Redis: at 3 (scans of 5 rows, half of the operations) both made as many operations, at 11
/// (100 rows, 90 %) about as many, at 27 (5 rows, 10 %) putting together made 1.14 and 1.28 times as many.
const MANY_CHANGES: u64 = 12;
const FEW_CHANGES: u64 = 6;
/// Of what a write costs beside β 0, this share is forgotten in each period.
const FORGOTTEN: u64 = 128;
/// Units of what is remembered: thousandths of an entry.
const UNIT: u64 = 1_000;
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
///     auto.was_written(4);
///     auto.was_told(0, 10);
/// }
/// assert_eq!(auto.beta(), 0, "where a write changes five entries that overlap, each row is best kept once");
/// ```
#[derive(Debug, Clone)]
pub struct AutoBeta {
    beta: u8,
    found: u64,
    missed: u64,
    written: u64,
    /// Entries that writes had to change, though others of them cover their rows.
    further: u64,
    /// The same for each write, as it was when there were most, in thousandths.
    further_each: u64,
    /// The cache server is nearly full, and has refused an entry.
    is_full: bool,
    has_refused: bool,
    /// Percentage of hits in the previous period, and the β before the last step.
    before: Option<(u64, u8)>,
}

impl AutoBeta {
    /// Begins at `beta` percent.
    pub const fn new(beta: u8) -> Self {
        Self {
            beta,
            found: 0,
            missed: 0,
            written: 0,
            further: 0,
            further_each: 0,
            is_full: false,
            has_refused: false,
            before: None,
        }
    }

    /// The present β, in percent.
    pub const fn beta(&self) -> u8 {
        self.beta
    }

    /// Counts a read, which found its whole result or did not.
    pub const fn was_read(&mut self, found: bool) {
        if found {
            self.found += 1;
        } else {
            self.missed += 1;
        }
    }

    /// Reports the hits of clients since the last report, and how full the memory of the cache server is, in percent. This
    /// is when β moves.
    pub fn was_told(&mut self, hits: u64, memory_percent: u8) {
        self.found += hits;
        self.is_full |= memory_percent >= FULL;
        self.decide();
    }

    /// Counts a write, and the entries that it changes though others of them cover their rows.
    pub const fn was_written(&mut self, further: u64) {
        self.written += 1;
        self.further += further;
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
        let further_each = (UNIT * self.further).checked_div(self.written).unwrap_or(0);
        self.further_each = further_each.max(self.further_each - self.further_each.div_ceil(FORGOTTEN));
        let changes = self.written * self.further_each / UNIT;
        let from = self.beta;
        let has_cost = self.before.is_some_and(|(before, _)| hits + MAX_LOSS < before);
        self.beta = match self.before {
            _ if changes > MANY_CHANGES * reads => 0,
            _ if is_short => from.saturating_sub(STEP),
            Some((_, back)) if has_cost => back,
            _ if changes > FEW_CHANGES * reads => from,
            _ => (from + STEP).min(100),
        };
        self.before = Some((hits, from));
        (self.found, self.missed, self.written, self.further) = (0, 0, 0, 0);
        (self.is_full, self.has_refused) = (false, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A period with these shares of writes among operations and of hits among reads. With β above 0 a write changes 5 entries.
    fn period(auto: &mut AutoBeta, write_percent: u64, hit_percent: u64) {
        let further = if auto.beta() == 0 { 0 } else { 4 };
        for operation in 0..PERIOD {
            if operation % 100 < write_percent {
                auto.was_written(further);
            } else {
                auto.was_read(operation / 100 * 10 < hit_percent);
            }
        }
        auto.was_told(0, 0);
    }

    #[test]
    fn writes_of_many_entries_lower_it_and_reads_raise_it() {
        let mut auto = AutoBeta::new(100);
        period(&mut auto, 80, 80);
        assert_eq!(auto.beta(), 0);
        for _ in 0..20 {
            period(&mut auto, 80, 80);
            assert_eq!(auto.beta(), 0, "it remembers what writes cost");
        }
        (0..8).for_each(|_| period(&mut auto, 30, 80));
        assert_eq!(auto.beta(), 100);
    }

    #[test]
    fn what_a_write_costs_is_tried_again() {
        let mut auto = AutoBeta::new(100);
        let mut raised = 0;
        for _ in 0..400 {
            let before = auto.beta();
            period(&mut auto, 80, 80);
            raised += u64::from(auto.beta() > before);
        }
        assert!((1..10).contains(&raised), "{raised}");
    }

    #[test]
    fn writes_of_one_entry_each_cost_nothing() {
        let mut auto = AutoBeta::new(100);
        for _ in 0..10 {
            (0..PERIOD).for_each(|_| auto.was_written(0));
            auto.was_told(1, 0);
            assert_eq!(auto.beta(), 100);
        }
    }

    #[test]
    fn writes_between_two_reports_of_hits_are_not_many() {
        let mut auto = AutoBeta::new(100);
        for _ in 0..10 {
            (0..3 * PERIOD).for_each(|_| auto.was_written(4));
            auto.was_told(27 * PERIOD, 0);
            assert_eq!(auto.beta(), 100);
        }
    }

    #[test]
    fn full_memory_lowers_it() {
        let mut auto = AutoBeta::new(100);
        for _ in 0..8 {
            auto.was_full();
            period(&mut auto, 0, 80);
        }
        assert_eq!(auto.beta(), 0);
        auto.was_told(PERIOD, 10);
        assert_eq!(auto.beta(), STEP);
    }

    #[test]
    fn full_memory_is_short_only_if_reads_miss() {
        let mut auto = AutoBeta::new(50);
        for _ in 0..8 {
            period(&mut auto, 0, 100);
            auto.was_told(PERIOD, 100);
        }
        assert_eq!(auto.beta(), 100);
        for _ in 0..8 {
            (0..PERIOD).for_each(|place| auto.was_read(place % 5 > 0));
            auto.was_told(0, 100);
        }
        assert_eq!(auto.beta(), 0);
    }

    #[test]
    fn a_step_that_costs_hits_is_taken_back() {
        let mut auto = AutoBeta::new(25);
        auto.was_told(PERIOD, 0);
        assert_eq!(auto.beta(), 50);
        (0..PERIOD).for_each(|_| auto.was_read(false));
        auto.was_told(0, 0);
        assert_eq!(auto.beta(), 25);
    }
}
