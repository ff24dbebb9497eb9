//! Leases on the side of their holder.
//!
//! The holder has the lease until it says that it is done. If its connection ends before, the server
//! treats the lease as abandoned; so a lost message never leaves a lease held for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::owner::{LeaseEnd, OpenLease, open_lease};
use lacuna_cache_protocol::{Result, Write};
use tokio::runtime::Handle;

use crate::cluster::ask::{Answered, Asking, Redirected, unexpected_message};
use crate::cluster::link::Link;
use crate::cluster::message::Message;

/// How long the final message about a lease may take.
const LAST_WORD: Duration = Duration::from_secs(10);

/// A request for a lease. If it is dropped before its answer, it withdraws itself: the answer may be on its way.
struct Asked {
    link: Arc<Link>,
    ticket: AtomicU64,
}

impl Drop for Asked {
    fn drop(&mut self) {
        let (link, ticket) = (self.link.clone(), *self.ticket.get_mut());
        if ticket > 0
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(async move { say_over(&link, ticket, true).await });
        }
    }
}

/// A lease on what `held` would touch.
///
/// # Errors
/// `Unavailable` if there is none in time.
pub(crate) async fn ask(
    link: Arc<Link>,
    held: Write,
    lasts: Duration,
    how: Asking,
) -> Result<Answered<OpenLease>> {
    let lasts_ms = u64::try_from(lasts.as_millis()).unwrap_or(u64::MAX);
    let mut asked = Asked { link, ticket: AtomicU64::new(0) };
    let request = |ticket| {
        asked.ticket.store(ticket, Ordering::Relaxed);
        Message::Hold(ticket, how.terms(), lasts_ms, held)
    };
    let answer = asked.link.ask(request, how.within).await?;
    let ticket = std::mem::take(asked.ticket.get_mut());
    match answer {
        Message::HeldAll(_, fences) => {
            let (lease, end) = open_lease(fences)?;
            tokio::spawn(watch(asked.link.clone(), ticket, end));
            Ok(Answered::Is(lease))
        }
        Message::Redirect(_, range, address, table) => {
            Ok(Answered::Redirected(Redirected { range, address, table }))
        }
        Message::Failed(.., fault) => Err(fault.into_error()),
        _ => Err(unexpected_message()),
    }
}

/// Tells the server how a lease ended.
async fn watch(link: Arc<Link>, ticket: u64, end: LeaseEnd) {
    let reply = end.ended().await;
    let was_held = say_over(&link, ticket, reply.is_some()).await;
    if let Some(reply) = reply {
        // The caller may have stopped waiting.
        let _ = reply.send(was_held);
    }
}

/// Whether the lease was held until now. `is_sure`: nothing that was sent under it is under way.
async fn say_over(link: &Link, ticket: u64, is_sure: bool) -> bool {
    // Takes no slot: the requests that fill the slots may wait for this lease.
    let said = link.ask_now(|next| Message::HoldOver(next, ticket, is_sure));
    matches!(tokio::time::timeout(LAST_WORD, said).await, Ok(Ok(Message::Done(_))))
}
