//! The path of a request to the owner of its range.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use lacuna_cache_protocol::{Error, ErrorKind, Result};
use lacuna_cache_protocol::{Query, RangeId, ReadOutcome, Touched, Value, Write, WriteOutcome};

use super::dendrite_state::{DendriteState, Place};
use super::{Answer, Forwarding};
use crate::cluster::journey::longer_try;
use crate::owner::counters::count;
use crate::owner::error::{WriteError, no_owner, same_error};
use crate::owner::owner_handle::{Hit, OwnerReply};

/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(5);
/// Longest first try of a read at another dendrite, which may be stalled; asking another is safe then. Later ones may take longer.
const READ_TRY: Duration = Duration::from_millis(1_000);
/// How long beyond its time a request waits for the owner task here, which answers every request in the end.
pub(super) const GRACE: Duration = Duration::from_millis(500);

/// The outcome of one try.
pub(super) enum Tried<T> {
    Is(T),
    /// Not executed; another owner has the range, or leads it.
    Elsewhere(Error),
    /// Not executed; the same may succeed soon.
    Later(Error),
}

/// The reply of the owner task here to a request that changes nothing.
pub(super) fn tried_here<T>(answered: OwnerReply<Option<T>>) -> Result<Tried<T>> {
    let why = match answered.outcome {
        Some(outcome) => return Ok(Tried::Is(outcome)),
        None => answered.why.unwrap_or_else(no_owner),
    };
    match why.kind() {
        ErrorKind::InvalidInput => Err(why),
        _ if answered.is_elsewhere => Ok(Tried::Elsewhere(why)),
        _ => Ok(Tried::Later(why)),
    }
}

/// The reply of another dendrite to a request that changes nothing.
pub(super) fn tried_there<T>(answer: Result<T>) -> Result<Tried<T>> {
    match answer {
        Ok(answer) => Ok(Tried::Is(answer)),
        Err(why) if why.kind() == ErrorKind::InvalidInput => Err(why),
        Err(why) => Ok(Tried::Later(why)),
    }
}

impl DendriteState {
    pub(super) fn until(&self, within: Duration) -> u64 {
        self.now_ms().saturating_add(u64::try_from(within.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn left(&self, until_ms: u64) -> Duration {
        Duration::from_millis(until_ms.saturating_sub(self.now_ms()))
    }

    /// Tries a request at the owner of the first range that it touches, with `here` in this process or `there` at
    /// another dendrite, until one has answered or its time is over.
    pub(super) async fn travel<T, E, H, N>(
        &self,
        touched: &[Touched],
        until_ms: u64,
        forwarding: Forwarding,
        here: impl Fn(RangeId) -> H,
        there: impl Fn(String) -> N,
    ) -> Result<Answer<T>, E>
    where
        E: From<Error>,
        H: Future<Output = Result<Tried<T>, E>>,
        N: Future<Output = Result<Tried<T>, E>>,
    {
        loop {
            let range = self.table().leader(touched)?;
            let why = match self.place(range).await {
                Place::Here => match here(range).await? {
                    Tried::Is(answer) => return Ok(Answer::Is(answer)),
                    Tried::Later(why) => why,
                    Tried::Elsewhere(why) => {
                        self.ask_again(range);
                        why
                    }
                },
                Place::At(address) if forwarding == Forwarding::Here => {
                    return Ok(Answer::At(range, address));
                }
                Place::At(address) => {
                    count(&self.counters.forwards);
                    match there(address).await? {
                        Tried::Is(answer) => return Ok(Answer::Is(answer)),
                        Tried::Later(why) | Tried::Elsewhere(why) => {
                            self.doubt(range);
                            why
                        }
                    }
                }
            };
            if self.now_ms() >= until_ms {
                return Err(same_error(&why).into());
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    pub(super) async fn read(
        &self,
        query: &Query,
        within: Duration,
        forwarding: Forwarding,
    ) -> Result<Answer<Value>> {
        let (touched, until) = ([(query.domain, query.interval.clone())], self.until(within));
        let here = |range| self.read_here(range, query, until);
        let failed = &AtomicU32::new(0);
        let there = |address: String| async move {
            let within = self.left(until).min(longer_try(READ_TRY, failed.load(Ordering::Relaxed)));
            let answer = self.membership.transport.read(&address, query, within).await;
            failed.fetch_add(u32::from(answer.is_err()), Ordering::Relaxed);
            tried_there(answer)
        };
        self.travel(&touched, until, forwarding, here, there).await
    }

    async fn read_here(&self, range: RangeId, query: &Query, until_ms: u64) -> Result<Tried<Value>> {
        let handle = self.handle(range)?;
        let tried = match handle.hit(query).await {
            Hit::Is(value) => Tried::Is(value),
            found => {
                let within = || self.left(until_ms) + GRACE;
                let is_in_doubt = matches!(found, Hit::InDoubt);
                if let Hit::PartInDoubt(part) = found {
                    handle.read(part, true, within()).await?;
                }
                let answered = handle.read(query.clone(), is_in_doubt, within()).await?;
                let outcome = match answered.outcome {
                    ReadOutcome::Value(value) => Some(value),
                    ReadOutcome::Retry => None,
                };
                tried_here(OwnerReply { outcome, why: answered.why, is_elsewhere: answered.is_elsewhere })?
            }
        };
        if matches!(tried, Tried::Is(_)) {
            count(&self.counters.reads);
        }
        Ok(tried)
    }

    pub(super) async fn write(
        &self,
        write: &Write,
        within: Duration,
        forwarding: Forwarding,
    ) -> Result<Answer<()>, WriteError> {
        let (touched, until) = (self.table().whole(&write.touched), self.until(within));
        let here = |range| self.write_here(range, write, until);
        let there = |address: String| async move {
            match self.membership.transport.write(&address, write, self.left(until)).await {
                Ok(()) => Ok(Tried::Is(())),
                Err(WriteError::NotDone(why)) => Ok(Tried::Later(why)),
                Err(error) => Err(error),
            }
        };
        self.travel(&touched, until, forwarding, here, there).await
    }

    async fn write_here(
        &self,
        range: RangeId,
        write: &Write,
        until_ms: u64,
    ) -> Result<Tried<()>, WriteError> {
        let handle = self.handle(range)?;
        // A write that was sent and is no longer waited for has an unknown outcome.
        let said = handle.write(write.clone(), self.left(until_ms) + GRACE).await;
        let answered = said.map_err(|_| WriteError::Unknown)?;
        let why = answered.why.unwrap_or_else(no_owner);
        match answered.outcome {
            WriteOutcome::Done => {
                count(&self.counters.writes);
                Ok(Tried::Is(()))
            }
            WriteOutcome::Refused => Err(WriteError::Refused(why)),
            WriteOutcome::Unknown => Err(WriteError::Unknown),
            WriteOutcome::Retry if answered.is_elsewhere => Ok(Tried::Elsewhere(why)),
            WriteOutcome::Retry => Ok(Tried::Later(why)),
        }
    }
}
