//! How a client receives the notices of all dendrites.
//!
//! Once a listener asks for notices, a task asks every dendrite for its notices: those that the client was given,
//! and those that they name. Each keeps its last notices, so that a broken connection loses none. Where some may
//! have been missed nevertheless, because a dendrite was not reached for [`SILENCE`] or its process is a new one,
//! the listener receives [`Notice::MayBeMissing`].
//!
//! With dendrites A and B and a client that was given A, the first answer of A names B; the notices of B since the
//! client began to listen come with the first answer of B.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use lacuna_cache_protocol::Notice;
use lacuna_cache_protocol::Result;
use tokio::sync::broadcast;

use crate::cluster::ask::unexpected_message;
use crate::cluster::client::{Client, Inner};
use crate::cluster::hello::Role;
use crate::cluster::message::Message;
use crate::cluster::noticed::{Listen, Noticed};

/// Notices that a listener may lag before it misses some.
const KEPT: usize = 1_024;
/// How long a dendrite without notices waits before it sends an empty answer.
const WITHIN: Duration = Duration::from_secs(2);
/// How much longer its answer may take.
const GRACE: Duration = Duration::from_secs(1);
/// Pause between two searches for dendrites, and between two tries at one.
const PAUSE: Duration = Duration::from_millis(250);
/// A listener receives notices from this long before it began to listen: its request may have taken that time.
const BEFORE: Duration = Duration::from_secs(4);
/// How long a dendrite may be out of reach before listeners are informed.
const SILENCE: Duration = Duration::from_secs(10);

/// The notices that a client has received, and from which dendrites.
#[derive(Debug)]
pub(crate) struct Listening {
    notices: broadcast::Sender<Notice>,
    since: OnceLock<Instant>,
    /// Dendrites, and when each was last named.
    named: Mutex<BTreeMap<String, Instant>>,
}

impl Default for Listening {
    fn default() -> Self {
        let (notices, _) = broadcast::channel(KEPT);
        Self { notices, since: OnceLock::new(), named: Mutex::default() }
    }
}

impl Client {
    pub(crate) fn listen(&self) -> broadcast::Receiver<Notice> {
        let receiver = self.inner.listening.notices.subscribe();
        let mut is_first = false;
        let since = *self.inner.listening.since.get_or_init(|| {
            is_first = true;
            Instant::now()
        });
        if is_first {
            tokio::spawn(look_for_dendrites(Arc::downgrade(&self.inner), since));
        }
        receiver
    }
}

/// Listens to every dendrite that was given or named, until the client is dropped.
async fn look_for_dendrites(client: Weak<Inner>, since: Instant) {
    let mut listeners: BTreeMap<String, tokio::task::JoinHandle<()>> = BTreeMap::new();
    while let Some(inner) = client.upgrade() {
        let mut addresses = inner.addresses.clone();
        addresses.extend(inner.listening.named_lately());
        drop(inner);
        listeners.retain(|_, listener| !listener.is_finished());
        for address in addresses {
            let listen = || tokio::spawn(listen_to(client.clone(), address.clone(), since));
            listeners.entry(address.clone()).or_insert_with(listen);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Listens until the client is dropped, or the dendrite is silent and no other names it any more.
async fn listen_to(client: Weak<Inner>, address: String, since: Instant) {
    let (mut journal, mut next, mut silent_since, mut is_told) = (0, 0, None, false);
    while let Some(inner) = client.upgrade() {
        let begun = Instant::now();
        let age_ms = u64::try_from((since.elapsed() + BEFORE).as_millis()).unwrap_or(u64::MAX);
        let within_ms = u64::try_from(WITHIN.as_millis()).unwrap_or(u64::MAX);
        let listen = Listen { within_ms, journal, next, age_ms };
        match hear(&inner, &address, listen).await {
            Ok(heard) => {
                (journal, next, silent_since, is_told) = (heard.journal, heard.next, None, false);
                inner.listening.take(heard.members, heard.notices);
            }
            Err(_) => {
                let silent_since: Instant = *silent_since.get_or_insert(begun);
                if !is_told && silent_since.elapsed() >= SILENCE {
                    is_told = true;
                    inner.listening.take(Vec::new(), vec![Notice::MayBeMissing]);
                }
                let is_wanted =
                    inner.addresses.contains(&address) || inner.listening.named_lately().contains(&address);
                if is_told && !is_wanted {
                    return;
                }
                drop(inner);
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn hear(client: &Inner, address: &str, listen: Listen) -> Result<Noticed> {
    let link = client.links.to(address, Role::Client).await?;
    match link.ask(|ticket| Message::Listen(ticket, listen), WITHIN + GRACE).await? {
        Message::Notices(_, noticed) => Ok(noticed),
        Message::Failed(.., fault) => Err(fault.into_error()),
        _ => Err(unexpected_message()),
    }
}

impl Listening {
    fn named_lately(&self) -> Vec<String> {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        named.retain(|_, when| when.elapsed() < SILENCE);
        named.keys().cloned().collect()
    }

    fn take(&self, members: Vec<String>, notices: Vec<Notice>) {
        let now = Instant::now();
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        named.extend(members.into_iter().map(|member| (member, now)));
        drop(named);
        // There may be no listener at the moment.
        notices.into_iter().for_each(|notice| drop(self.notices.send(notice)));
    }
}
