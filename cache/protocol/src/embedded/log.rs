//! A log in memory: its writes survive cache servers and owners, but not the process.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::{Mutex, PoisonError};

use crate::cache_model::RangeId;
use crate::call::{LogCall, LogReply};
use crate::message::{Epoch, Write};
use crate::ports::{LogServer, Reply};

/// Buffered writes of several ranges, each with its fence. For stores that do not outlive the process either.
#[derive(Debug, Default)]
pub struct MemoryLog {
    ranges: Mutex<BTreeMap<RangeId, Kept>>,
}

/// What a log keeps of one range. A log on disk is read by replaying its calls into this type.
#[derive(Debug, Default, Clone)]
pub struct Kept {
    fence: Option<Epoch>,
    /// Set by the first fence, until an owner that serves has used the log: a take-over may have ended before, and left
    /// writes in another log that are missing here.
    is_unused: bool,
    writes: BTreeMap<(Epoch, u64), Write>,
}

impl Kept {
    /// Executes a call, as every log server must.
    pub fn call(&mut self, epoch: Epoch, call: &LogCall) -> LogReply {
        let known = self.fence;
        if known.is_some_and(|fence| fence > epoch) {
            return LogReply::Fenced;
        }
        match call {
            LogCall::Fence => {
                self.fence = Some(epoch);
                self.is_unused |= known.is_none();
                let writes = self.writes.iter().map(|((epoch, lsn), write)| (*epoch, *lsn, write.clone()));
                LogReply::Kept { writes: writes.collect(), is_whole: self.is_whole() }
            }
            LogCall::Append(..) if known.is_none() => LogReply::Fenced,
            LogCall::Append(writes) => {
                (self.fence, self.is_unused) = (Some(epoch), false);
                self.writes.extend(writes.iter().map(|(lsn, write)| ((epoch, *lsn), write.clone())));
                LogReply::Done
            }
            LogCall::Trim(applied) => {
                self.is_unused = false;
                self.writes.retain(|(written, lsn), _| *written >= epoch && lsn > applied);
                LogReply::Done
            }
        }
    }

    /// Whether it has all writes that it was given, as far as it knows: not before its first use by an owner that serves.
    pub const fn is_whole(&self) -> bool {
        self.fence.is_some() && !self.is_unused
    }

    /// Whether it holds no write.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// The fence, and the writes with epoch and number.
    pub fn parts(&self) -> (Option<Epoch>, impl Iterator<Item = (Epoch, u64, &Write)>) {
        (self.fence, self.writes.iter().map(|((epoch, lsn), write)| (*epoch, *lsn, write)))
    }
}

impl LogServer for MemoryLog {
    fn call(&self, range: RangeId, epoch: Epoch, call: LogCall) -> Reply<'_, LogReply> {
        let mut ranges = self.ranges.lock().unwrap_or_else(PoisonError::into_inner);
        let reply = ranges.entry(range).or_default().call(epoch, &call);
        Box::pin(ready(Ok(reply)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Command;

    #[test]
    fn a_fenced_log_takes_nothing_from_older_owners() {
        let write = Write { touched: Vec::new(), command: Command::new(b"w") };
        let mut kept = Kept::default();
        let first = LogReply::Kept { writes: Vec::new(), is_whole: false };
        assert_eq!(
            kept.call(Epoch(1), &LogCall::Append([(1, write.clone())].into())),
            LogReply::Fenced,
            "no fence yet"
        );
        assert_eq!(kept.call(Epoch(1), &LogCall::Fence), first);
        assert_eq!(kept.call(Epoch(1), &LogCall::Append([(1, write.clone())].into())), LogReply::Done);
        let both = LogReply::Kept { writes: vec![(Epoch(1), 1, write.clone())], is_whole: true };
        assert_eq!(kept.call(Epoch(2), &LogCall::Fence), both);
        assert_eq!(kept.call(Epoch(1), &LogCall::Append([(2, write)].into())), LogReply::Fenced);
        assert_eq!(kept.call(Epoch(2), &LogCall::Trim(0)), LogReply::Done);
        assert!(kept.is_empty(), "a write of an older tenure counts for nothing once it is recovered");
    }

    #[test]
    fn a_log_that_no_owner_has_served_with_is_not_whole() {
        let mut kept = Kept::default();
        let nothing = |is_whole| LogReply::Kept { writes: Vec::new(), is_whole };
        for epoch in 1..4 {
            assert_eq!(kept.call(Epoch(epoch), &LogCall::Fence), nothing(false), "take-over {epoch}");
        }
        assert_eq!(kept.call(Epoch(2), &LogCall::Trim(0)), LogReply::Fenced);
        assert_eq!(kept.call(Epoch(4), &LogCall::Fence), nothing(false), "an owner that was replaced");
        assert_eq!(kept.call(Epoch(4), &LogCall::Trim(0)), LogReply::Done);
        assert_eq!(kept.call(Epoch(5), &LogCall::Fence), nothing(true));
    }
}
