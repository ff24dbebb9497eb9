//! The clock of the machine that wall-clock changes do not move.

use std::time::Instant;

use crate::ports::Clock;

/// Milliseconds since it was made.
#[derive(Debug, Clone, Copy)]
pub struct SteadyClock(Instant);

impl SteadyClock {
    /// A clock that shows 0 now.
    pub fn new() -> Self {
        Self(Instant::now())
    }
}

impl Default for SteadyClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SteadyClock {
    fn now_ms(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
