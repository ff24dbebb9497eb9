//! A stopwatch that stands still while others have the processor.

use std::time::{Duration, Instant};

/// What Linux knows about the waiting of the current thread: nanoseconds run, nanoseconds waited, turns.
const WAITED: &str = "/proc/thread-self/schedstat";

/// Measures the time since [`start`](Self::start) without what the thread spent waiting for a processor, where the
/// operating system tells; plain elapsed time elsewhere. Starting and reading take some microseconds, which are not
/// in the result.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    waited: Duration,
    start: Instant,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        let waited = waited_so_far();
        Self { waited, start: Instant::now() }
    }

    /// The time since the start, at least a nanosecond.
    pub(crate) fn elapsed(&self) -> Duration {
        let elapsed = self.start.elapsed();
        let waited = waited_so_far().saturating_sub(self.waited);
        elapsed.saturating_sub(waited).max(Duration::from_nanos(1))
    }
}

/// How long the thread has waited for a processor in its life; zero where nobody tells.
fn waited_so_far() -> Duration {
    let text = std::fs::read_to_string(WAITED).unwrap_or_default();
    let nanoseconds = text.split_whitespace().nth(1).and_then(|field| field.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time() {
        let watch = Stopwatch::start();
        let wall = Instant::now();
        let mut sum = 0_u64;
        while wall.elapsed() < Duration::from_millis(20) {
            sum = std::hint::black_box(sum + 1);
        }
        let elapsed = watch.elapsed();
        assert!(elapsed > Duration::from_micros(50), "{elapsed:?}");
        assert!(elapsed <= wall.elapsed() + Duration::from_millis(5), "{elapsed:?}");
    }
}
