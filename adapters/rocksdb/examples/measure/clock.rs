//! Time on a processor, which work of others on the machine does not lengthen; wall time where the system does not say.

use std::fs;
use std::time::Instant;

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// From start to end, waiting for the disk included.
    Wall,
    /// On a processor, by this thread.
    Thread,
    /// On a processor, by all threads of the process, in steps of 10 ms.
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

    fn read(self) -> Option<f64> {
        match self {
            Self::Wall => None,
            Self::Thread => {
                let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
                text.split(' ').next()?.parse::<f64>().ok().map(|nanos| nanos / 1e9)
            }
            Self::Process => {
                let text = fs::read_to_string("/proc/self/stat").ok()?;
                // Behind the name of the program, which may hold anything, user and system time are the 12th and 13th.
                let fields = text.rsplit_once(')')?.1.split_whitespace().skip(11).take(2);
                Some(fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0)
            }
        }
    }
}
