//! Carries calls to servers, and their replies back to the owner task.
//!
//! A call is first polled in place: a cache in memory replies without a task. A call that has to wait becomes a
//! task, which is never cancelled: half a call is worse than none.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use lacuna_cache_protocol::ports::{Answer, CacheServer};
use lacuna_cache_protocol::{
    Action, CacheReply, CallId, Command, Epoch, Event, Query, StoreCall, StoreReply,
};
use lacuna_cache_protocol::{Error, ErrorKind, Result};
use tokio::time::timeout;
use tracing::Instrument as _;

use crate::owner::counters::count;
use crate::owner::owner_handle::{OwnerCommand, OwnerHandle};

/// How long an owner waits for a cache server. Each server should fail much earlier on its own; one that does not
/// would block all requests for the same rows for ever.
const MAX_OF_A_CALL: Duration = Duration::from_secs(60);

/// Why a call failed, for a person.
#[derive(Debug)]
pub(crate) enum FailureCause {
    /// Why the cache server does not answer.
    Cache(Error),
    /// Why a log server does not, by its number.
    Log(usize, Error),
    /// The store's error for a query.
    Query(Query, Error),
    /// The store's error for a command.
    Command(Command, Error),
    /// Why a tenure does not begin, which is so for all its requests.
    Tenure(Error),
}

type CallOutcome = (Event, Option<FailureCause>);

impl OwnerHandle {
    /// Executes a call; returns the reply if it came at once.
    pub(crate) fn carry(
        self: &Arc<Self>,
        epoch: Epoch,
        cache: &Arc<dyn CacheServer>,
        action: Action,
    ) -> Option<CallOutcome> {
        let outcome = self.clone().outcome_of(cache.clone(), action);
        let mut outcome: Pin<Box<dyn Future<Output = CallOutcome> + Send>> = Box::pin(outcome);
        if let Poll::Ready((event, why)) = outcome.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return match why {
                Some(FailureCause::Cache(_) | FailureCause::Log(..)) => {
                    // The owner task has to know before the owner does.
                    drop(self.commands.send(OwnerCommand::Answered { epoch, event, why }));
                    None
                }
                why => Some((event, why)),
            };
        }
        let handle = self.clone();
        let answered = async move {
            let (event, why) = outcome.await;
            drop(handle.commands.send(OwnerCommand::Answered { epoch, event, why }));
        };
        tokio::spawn(answered.in_current_span());
        None
    }

    async fn outcome_of(self: Arc<Self>, cache: Arc<dyn CacheServer>, action: Action) -> CallOutcome {
        match action {
            Action::Cache(call, epoch, what) => {
                count(&self.counters.cache_calls);
                let range = self.range;
                let asked = async move { cache.call(range, epoch, what).await };
                match in_time(MAX_OF_A_CALL, asked).await {
                    Some(Ok(reply)) => (Event::Cache(call, reply), None),
                    Some(Err(error)) => (Event::Lost(call), Some(FailureCause::Cache(error))),
                    None => (Event::Lost(call), Some(FailureCause::Cache(silent()))),
                }
            }
            Action::Store(call, epoch, what) => self.outcome_of_store(call, epoch, what).await,
            Action::Log(server, call, epoch, what) => {
                count(&self.counters.log_calls);
                let Some(log) = self.servers.logs.get(server) else { return (Event::Lost(call), None) };
                match log.call(self.range, epoch, what).await {
                    Ok(reply) => (Event::Log(call, reply), None),
                    Err(error) => (Event::Lost(call), Some(FailureCause::Log(server, error))),
                }
            }
            Action::Peer(call, range, peer, what) => {
                count(&self.counters.peer_calls);
                match self.peers.call(range, peer, call, what).await {
                    Ok(reply) => (Event::PeerReply(call, reply), None),
                    Err(_) => (Event::Lost(call), None),
                }
            }
            // The owner task handles all other actions itself.
            _ => (Event::Tick, None),
        }
    }

    async fn outcome_of_store(&self, call: CallId, epoch: Epoch, what: StoreCall) -> CallOutcome {
        let is_query = matches!(what, StoreCall::Query(_));
        count(if is_query { &self.counters.store_queries } else { &self.counters.store_writes });
        let (about, begun) = (what.clone(), self.sizes.query_begins());
        let called = self.servers.store.call(self.range, epoch, what).await;
        if let (Some(begun), Ok(Answer { reply: StoreReply::Rows(rows), .. })) = (begun, &called) {
            self.sizes.stored(rows.value.as_bytes().len(), begun.elapsed());
        }
        let (event, error) = match called {
            Ok(answer) => (Event::Store(call, answer.reply), answer.why),
            // The database refuses the query, as it would again.
            Err(error) if is_query && error.kind() == ErrorKind::InvalidInput => {
                (Event::Failed(call), Some(error))
            }
            Err(error) => (Event::Lost(call), Some(error)),
        };
        let why = error.and_then(|error| match about {
            StoreCall::Query(query) => Some(FailureCause::Query(query, error)),
            StoreCall::Write(command) | StoreCall::WriteAcross(command, _) => {
                Some(FailureCause::Command(command, error))
            }
            _ => None,
        });
        (event, why)
    }
}

fn silent() -> Error {
    Error::unavailable(format!("there was no answer in {} s", MAX_OF_A_CALL.as_secs()))
}

/// The reply, or nothing if it is late; the call goes on.
async fn in_time(
    max: Duration,
    asked: impl Future<Output = Result<CacheReply>> + Send + 'static,
) -> Option<Result<CacheReply>> {
    let mut asked = Box::pin(asked);
    let replied = timeout(max, &mut asked).await.ok();
    if replied.is_none() {
        tokio::spawn(asked);
    }
    replied
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_call_that_is_late_is_lost_and_goes_on() {
        let (answer, waits) = oneshot::channel();
        let (ends, ended) = oneshot::channel();
        let asked = async move {
            let reply = waits.await.expect("it is answered");
            ends.send(()).expect("somebody waits for the end");
            Ok(reply)
        };
        let late = in_time(Duration::from_millis(5), asked).await;
        assert!(late.is_none(), "{late:?}");
        answer.send(CacheReply::Done).expect("nobody has cut the call off");
        ended.await.expect("it goes on to its end");
        let soon = in_time(Duration::from_secs(60), async { Ok(CacheReply::Fenced) }).await;
        assert!(matches!(soon, Some(Ok(CacheReply::Fenced))), "{soon:?}");
    }
}
