//! Time on a processor, which other processes on the machine do not lengthen.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// From start to end, waiting for the disk included.
    Wall,
    /// On a processor, by this thread.
    Thread,
    /// On a processor, by all threads of the process.
    Process,
}

impl Clock {
    /// Seconds that `work` takes.
    pub(crate) fn seconds(self, work: impl FnOnce()) -> f64 {
        let (start, before) = (Instant::now(), self.read());
        work();
        let wall = start.elapsed().as_secs_f64();
        before.zip(self.read()).map_or(wall, |(before, after)| after - before)
    }

    /// Seconds by the clocks of processors, to the nanosecond: those in `/proc` go in steps of up to 10 ms.
    fn read(self) -> Option<f64> {
        let clock = match self {
            Self::Wall => return None,
            Self::Thread => ClockId::ThreadCPUTime,
            Self::Process => ClockId::ProcessCPUTime,
        };
        let time = clock_gettime(clock);
        Some(time.tv_sec as f64 + time.tv_nsec as f64 / 1e9)
    }
}
