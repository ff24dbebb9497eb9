//! How fast the background may read.

use std::time::Duration;

/// Reads a second; unused reads of up to one second are kept. Time comes in as an argument.
///
/// ```
/// use lacuna_guard::ReadBudget;
/// use std::time::Duration;
///
/// let mut budget = ReadBudget::new(10, Duration::ZERO);
/// assert_eq!(budget.spend(20, Duration::ZERO), Duration::from_secs(1), "ten at once, then ten in a second");
/// assert_eq!(budget.spend(1, Duration::from_secs(3)), Duration::ZERO);
/// ```
#[derive(Debug, Clone)]
pub struct ReadBudget {
    per_second: f64,
    /// Reads that may be made now; negative while there are debts.
    saved: f64,
    last: Duration,
}

impl ReadBudget {
    /// A budget of `per_second` reads (zero counts as one) with a second's worth at `now`.
    pub fn new(per_second: u32, now: Duration) -> Self {
        let per_second = f64::from(per_second.max(1));
        Self { per_second, saved: per_second, last: now }
    }

    /// Takes `reads` out, and says how long to wait before the next.
    pub fn spend(&mut self, reads: u32, now: Duration) -> Duration {
        let earned = now.saturating_sub(self.last).as_secs_f64() * self.per_second;
        self.last = self.last.max(now);
        self.saved = (self.saved + earned).min(self.per_second) - f64::from(reads);
        Duration::from_secs_f64((-self.saved / self.per_second).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_budget_is_read() {
        let mut budget = ReadBudget::new(50, Duration::ZERO);
        let mut now = Duration::ZERO;
        for _ in 0..1_000 {
            now += budget.spend(3, now);
        }
        let max = 50.0 + 50.0 * now.as_secs_f64();
        assert!((3_000.0..3_010.0).contains(&max), "3,000 reads in {now:?}");
    }
}
