//! A clock that ignores changes of the wall clock and keeps running while the machine sleeps.

use std::time::Duration;

use crate::ports::Clock;

/// Milliseconds since its creation. On Linux they include the time that the machine was asleep: a lease must not
/// outlive a sleep in which another process took the range.
#[derive(Debug, Clone, Copy)]
pub struct SteadyClock(Duration);

impl SteadyClock {
    /// A clock that shows 0 now.
    pub fn new() -> Self {
        Self(uptime())
    }
}

impl Default for SteadyClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SteadyClock {
    fn now_ms(&self) -> u64 {
        u64::try_from(uptime().saturating_sub(self.0).as_millis()).unwrap_or(u64::MAX)
    }
}

/// Time since the machine was started.
#[cfg(target_os = "linux")]
fn uptime() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    let now = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).expect("no machine starts after now");
    let nanos = u32::try_from(now.tv_nsec).expect("less than a second");
    Duration::new(seconds, nanos)
}

/// Time since the first call.
#[cfg(not(target_os = "linux"))]
fn uptime() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;

    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used, reason = "a failed test panics")]
mod tests {
    use super::*;

    /// What the kernel itself calls the time since start, sleep included, on either side of ours.
    #[test]
    fn it_is_the_clock_that_counts_sleep() {
        let kernel = || {
            let text = std::fs::read_to_string("/proc/uptime").unwrap();
            Duration::from_secs_f64(text.split_whitespace().next().unwrap().parse().unwrap())
        };
        let (before, now, after) = (kernel(), uptime(), kernel());
        let margin = Duration::from_millis(20);
        assert!(before <= now + margin && now <= after + margin, "{before:?} {now:?} {after:?}");
    }
}
