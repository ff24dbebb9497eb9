//! Two clocks that stop while other threads have the processor.

use std::time::{Duration, Instant};

/// What Linux knows about the waiting of the current thread: nanoseconds run, nanoseconds waited, turns. The first goes
/// in steps of a scheduler's tick, the second does not.
const WAITED: &str = "/proc/thread-self/schedstat";

/// Measures the work of the current thread alone: its time on a processor, to the nanosecond, where Linux reports it;
/// plain elapsed time elsewhere. Waiting for a disk or for another thread is not work.
#[derive(Debug)]
pub struct WorkClock {
    on_processor: Option<Duration>,
    start: Instant,
}

impl WorkClock {
    /// A clock that starts now.
    pub fn start() -> Self {
        Self { start: Instant::now(), on_processor: on_processor_so_far() }
    }

    /// The work since the start, at least a nanosecond.
    pub fn elapsed(&self) -> Duration {
        let worked =
            on_processor_so_far().zip(self.on_processor).map(|(now, start)| now.saturating_sub(start));
        worked.unwrap_or_else(|| self.start.elapsed()).max(Duration::from_nanos(1))
    }
}

/// Measures the time since [`start`](Self::start), waiting for disks and other threads included, without what the
/// thread spent waiting for a processor, where the operating system reports it; plain elapsed time elsewhere. Starting and
/// reading take some microseconds, which are not in the result.
#[derive(Debug)]
pub struct Stopwatch {
    waited: Duration,
    start: Instant,
}

impl Stopwatch {
    /// A clock that starts now.
    pub fn start() -> Self {
        let (start, waited) = now();
        Self { waited, start }
    }

    /// The time since the start, at least a nanosecond.
    pub fn elapsed(&self) -> Duration {
        let (now, waited) = now();
        let (elapsed, waited) = (now - self.start, waited.saturating_sub(self.waited));
        elapsed.saturating_sub(waited).max(Duration::from_nanos(1))
    }
}

/// The time, and how long the thread has waited for a processor until then. It is read between two equal waits: a turn
/// of others between time and wait would be taken off a time that it is not in.
fn now() -> (Instant, Duration) {
    let mut before = waited_so_far();
    loop {
        let (now, after) = (Instant::now(), waited_so_far());
        if before == after {
            return (now, after);
        }
        before = after;
    }
}

/// How long the thread has waited for a processor in its life; zero where the system does not report it.
fn waited_so_far() -> Duration {
    let text = std::fs::read_to_string(WAITED).unwrap_or_default();
    let nanoseconds = text.split_whitespace().nth(1).and_then(|field| field.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// How long the thread has been on a processor in its life.
#[cfg(target_os = "linux")]
fn on_processor_so_far() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).ok()
}

#[cfg(not(target_os = "linux"))]
fn on_processor_so_far() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time() {
        let wall = Instant::now();
        let (watch, work) = (Stopwatch::start(), WorkClock::start());
        (0..10_000_000_u64).for_each(|number| {
            std::hint::black_box(number);
        });
        for elapsed in [watch.elapsed(), work.elapsed()] {
            assert!(elapsed > Duration::from_micros(50), "{elapsed:?}");
            assert!(elapsed <= wall.elapsed() + Duration::from_millis(5), "{elapsed:?}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn sleep_is_time_and_no_work() {
        let (watch, work) = (Stopwatch::start(), WorkClock::start());
        std::thread::sleep(Duration::from_millis(50));
        let (watch, work) = (watch.elapsed(), work.elapsed());
        assert!(watch >= Duration::from_millis(45), "{watch:?}");
        assert!(work < Duration::from_millis(25), "{work:?}");
    }
}
