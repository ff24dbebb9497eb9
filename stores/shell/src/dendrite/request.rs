//! A request on its way to the owner of its range.

use std::time::Duration;

use lacuna_core::{Error, ErrorKind, Result};
use lacuna_range_cache::{Query, RangeId, ReadOutcome, Value, Write, WriteOutcome};

use super::house::{House, Place};
use super::{Answer, Reach};
use crate::counters::count;
use crate::error::{WriteError, again, nobody};

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(5);
/// Longest try of a read at a neighbour, which may be stalled; to ask another is safe then.
const READ_TRY: Duration = Duration::from_millis(1_000);
/// How long beyond its time a request waits for the seat here, which has an answer for everything in the end.
pub(super) const GRACE: Duration = Duration::from_millis(500);

/// What one try came to.
pub(super) enum Tried<T> {
    Is(T),
    /// Not carried out; the range, or its leadership, is another's.
    Elsewhere(Error),
    /// Not carried out; the same may succeed soon.
    Later(Error),
}

impl House {
    pub(super) fn left(&self, until_ms: u64) -> Duration {
        Duration::from_millis(until_ms.saturating_sub(self.now_ms()))
    }

    pub(super) async fn read(&self, query: &Query, within: Duration, reach: Reach) -> Result<Answer<Value>> {
        let until = self.until(within);
        loop {
            let range = self.table().leader(&[(query.domain, query.interval.clone())])?;
            let why = match self.place(range).await {
                Place::Here => match self.read_here(range, query, until).await? {
                    Tried::Is(value) => {
                        count(&self.counters.reads);
                        return Ok(Answer::Is(value));
                    }
                    Tried::Later(why) => why,
                    Tried::Elsewhere(why) => self.elsewhere(range, why),
                },
                Place::At(address) if reach == Reach::Here => return Ok(Answer::At(range, address)),
                Place::At(address) => match self.read_there(&address, query, until).await {
                    Ok(value) => return Ok(Answer::Is(value)),
                    Err(why) if why.kind() == ErrorKind::InvalidInput => return Err(why),
                    Err(why) => self.doubtful(range, why),
                },
            };
            self.pause(until, why).await?;
        }
    }

    async fn read_here(&self, range: RangeId, query: &Query, until_ms: u64) -> Result<Tried<Value>> {
        let desk = self.desk(range)?;
        if let Some(value) = desk.hit(query).await {
            return Ok(Tried::Is(value));
        }
        let told = desk.read(query.clone(), self.left(until_ms) + GRACE).await?;
        let why = match told.outcome {
            ReadOutcome::Value(value) => return Ok(Tried::Is(value)),
            ReadOutcome::Retry => told.why.unwrap_or_else(nobody),
        };
        match why.kind() {
            ErrorKind::InvalidInput => Err(why),
            _ if told.is_elsewhere => Ok(Tried::Elsewhere(why)),
            _ => Ok(Tried::Later(why)),
        }
    }

    async fn read_there(&self, address: &str, query: &Query, until_ms: u64) -> Result<Value> {
        count(&self.counters.forwards);
        self.around.neighbours.read(address, query, self.left(until_ms).min(READ_TRY)).await
    }

    pub(super) async fn write(
        &self,
        write: &Write,
        within: Duration,
        reach: Reach,
    ) -> Result<Answer<()>, WriteError> {
        let until = self.until(within);
        loop {
            let table = self.table();
            let range = table.leader(&table.whole(&write.touched))?;
            let why = match self.place(range).await {
                Place::Here => match self.write_here(range, write, until).await? {
                    Tried::Is(()) => {
                        count(&self.counters.writes);
                        return Ok(Answer::Is(()));
                    }
                    Tried::Later(why) => why,
                    Tried::Elsewhere(why) => self.elsewhere(range, why),
                },
                Place::At(address) if reach == Reach::Here => return Ok(Answer::At(range, address)),
                Place::At(address) => {
                    count(&self.counters.forwards);
                    match self.around.neighbours.write(&address, write, self.left(until)).await {
                        Ok(()) => return Ok(Answer::Is(())),
                        Err(WriteError::NotDone(why)) => self.doubtful(range, why),
                        Err(error) => return Err(error),
                    }
                }
            };
            self.pause(until, why).await?;
        }
    }

    async fn write_here(
        &self,
        range: RangeId,
        write: &Write,
        until_ms: u64,
    ) -> Result<Tried<()>, WriteError> {
        let desk = self.desk(range)?;
        // Whoever waits no longer for a write that went out does not know what became of it.
        let said = desk.write(write.clone(), self.left(until_ms) + GRACE).await;
        let told = said.map_err(|_| WriteError::Unknown)?;
        let why = told.why.unwrap_or_else(nobody);
        match told.outcome {
            WriteOutcome::Done => Ok(Tried::Is(())),
            WriteOutcome::Refused => Err(WriteError::Refused(why)),
            WriteOutcome::Unknown => Err(WriteError::Unknown),
            WriteOutcome::Retry if told.is_elsewhere => Ok(Tried::Elsewhere(why)),
            WriteOutcome::Retry => Ok(Tried::Later(why)),
        }
    }

    pub(super) fn until(&self, within: Duration) -> u64 {
        self.now_ms().saturating_add(u64::try_from(within.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn elsewhere(&self, range: RangeId, why: Error) -> Error {
        self.ask_again(range);
        why
    }

    pub(super) fn doubtful(&self, range: RangeId, why: Error) -> Error {
        self.doubt(range);
        why
    }

    /// Before the next try; an error if there is no time left for one.
    pub(super) async fn pause(&self, until_ms: u64, why: Error) -> Result<()> {
        if self.now_ms() >= until_ms {
            return Err(again(&why));
        }
        tokio::time::sleep(PAUSE).await;
        Ok(())
    }
}
