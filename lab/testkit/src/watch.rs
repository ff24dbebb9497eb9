//! Notices work that never returns: a test that hangs says nothing, a fault names the round.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::{Fault, Verdict};

/// How often a round is looked at until it takes too long; the rounds watched take microseconds.
const LOOKS: u32 = 12;
/// Between two looks: a machine that stops for a while stops one look, and not all of them.
const LOOK: Duration = Duration::from_secs(1);

/// Where the watched work stands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress(Arc<AtomicU64>);

impl Progress {
    /// Says that `round` begins.
    pub(crate) fn begin(&self, round: u64) {
        self.0.store(round, Ordering::Relaxed);
    }

    fn round(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs `work` on a thread of its own; a fault if one round takes longer than twelve seconds. The thread that hangs
/// keeps running, and ends with the process.
pub(crate) fn watched(place: &str, work: impl FnOnce(&Progress) -> Verdict + Send + 'static) -> Verdict {
    let progress = Progress::default();
    let (done, verdict) = channel();
    let told = progress.clone();
    thread::spawn(move || done.send(work(&told)));
    let (mut seen, mut looks) = (progress.round(), 0);
    loop {
        match verdict.recv_timeout(LOOK) {
            Ok(verdict) => return verdict,
            Err(RecvTimeoutError::Disconnected) => return Err(Fault::new(format!("{place}: it panicked"))),
            Err(RecvTimeoutError::Timeout) => {
                let round = progress.round();
                looks = if round == seen { looks + 1 } else { 0 };
                if looks == LOOKS {
                    return Err(Fault::new(format!("{place}: round {round} does not return")));
                }
                seen = round;
            }
        }
    }
}
