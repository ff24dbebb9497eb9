//! The side of a node that relies on others: copies of a peer's filters, what they include, and until when they count.

mod copies;
mod deltas;
mod forwarded;

use std::collections::BTreeMap;

pub(crate) use self::copies::Copy;
use self::forwarded::Forwarded;
use crate::config::Config;
use crate::fetch::Fetch;
use crate::key_id::TableId;
#[cfg(feature = "flaws")]
use crate::message::TableDelta;
use crate::message::{LeaseUse, Message, Version};
use crate::publisher::MAX_REPEATED;

/// Requests whose grants are still awaited.
const MAX_AWAITED: usize = 8;

/// What was granted.
#[derive(Debug, Clone, Copy)]
struct Lease {
    number: u64,
    until: u64,
    /// The delta that must have been applied for the lease to be of use, and the digest up to there.
    floor: u64,
    digest: u64,
    ring: u64,
}

/// What this node knows of another one.
#[derive(Debug, Default)]
pub(crate) struct Peer {
    pub(crate) applied: Version,
    pub(crate) copies: BTreeMap<TableId, Copy>,
    fetches: BTreeMap<TableId, Fetch>,
    lease: Option<Lease>,
    /// The newest answer whose deltas have all been applied was asked for at this time, in this ring.
    fresh: Option<(u64, u64)>,
    /// Answers that still wait for deltas: number of the last one, time of asking, ring.
    awaited: Option<(u64, u64, u64)>,
    catalog: Option<u64>,
    asked: Vec<(u64, u64)>,
    /// Deltas that have overtaken others.
    early: BTreeMap<u64, Vec<u8>>,
    /// The last delta of this life that this node has confirmed as applied: the peer relies on that, whatever is fetched anew.
    confirmed: u64,
    /// When deltas, and the catalog, were last asked for.
    repeated_at: [Option<u64>; 2],
    /// The last delta that the answer to the last question for missing ones may hold.
    repeated_up_to: u64,
    /// Keys that this node wrote to the peer.
    forwarded: Forwarded,
    /// A delta that counts as applied and is not.
    #[cfg(feature = "flaws")]
    late: (u64, Vec<(TableId, TableDelta)>),
}

impl Peer {
    /// The next request.
    pub(crate) fn request(&mut self, number: u64, now: u64, ring: u64, lease_use: LeaseUse) -> Message {
        self.asked.push((number, now));
        if self.asked.len() > MAX_AWAITED {
            self.asked.remove(0);
        }
        Message::Request { number, applied: self.applied, ring, lease_use }
    }

    /// Takes a grant; what to say next.
    pub(crate) fn granted(&mut self, config: &Config, now: u64, message: &Message) -> Vec<Message> {
        let Message::Grant { number, version, ring, length, catalog } = *message else { return Vec::new() };
        let Some(asked_at) = self.asked.iter().find(|(asked, _)| *asked == number).map(|(_, at)| *at) else {
            return Vec::new();
        };
        if version.incarnation != self.applied.incarnation {
            self.begin_again(version);
        }
        if version.sequence == self.applied.sequence && version.digest != self.applied.digest {
            self.begin_again(version);
        }
        let from = if is_flawed!(config, LeaseFromGrant) { now } else { asked_at };
        if self.lease.is_none_or(|lease| lease.number < number) {
            let until = if length > 0 { from.saturating_add(config.shortened(length)) } else { 0 };
            self.lease = Some(Lease { number, until, floor: version.sequence, digest: version.digest, ring });
        }
        self.awaited = Some((version.sequence, asked_at, ring));
        self.note_fresh();
        let mut next = Vec::new();
        if version.sequence > self.applied.sequence {
            next.extend(self.miss(config, now));
        }
        if self.catalog != Some(catalog) {
            next.extend(self.ask_catalog(config, now));
        }
        next.extend(
            self.fetches.iter().filter_map(|(table, fetch)| fetch.ask_again(*table, now, config.interval)),
        );
        next
    }

    /// Forgets everything: the peer has another life, or what is here is not what is there.
    pub(crate) fn begin_again(&mut self, version: Version) {
        let is_same_life = version.incarnation == self.applied.incarnation;
        // Another life's grants answer what that one was asked.
        let asked = if is_same_life { std::mem::take(&mut self.asked) } else { Vec::new() };
        let mut forwarded = std::mem::take(&mut self.forwarded);
        forwarded.doubt();
        let confirmed = if is_same_life { self.confirmed } else { 0 };
        let confirmed = confirmed.max(version.sequence);
        *self = Self { applied: version, asked, forwarded, confirmed, ..Self::default() };
    }

    /// The ring has changed: nothing granted before counts.
    pub(crate) fn void(&mut self) {
        (self.lease, self.fresh, self.awaited) = (None, None, None);
        self.asked.clear();
    }

    /// Whether a valid lease covers everything that the peer acknowledged.
    pub(crate) fn has_lease(&self, config: &Config, now: u64, ring: u64) -> bool {
        let is_valid = |lease: &Lease| {
            now < lease.until
                && (lease.floor <= self.applied.sequence || is_flawed!(config, IgnoreGaps))
                && (lease.ring == ring || is_flawed!(config, IgnoreRing))
        };
        self.lease.as_ref().is_some_and(is_valid)
    }

    /// Most milliseconds since the copies were the peer's filters; `None` if they never were in `ring`. What the peer stood at
    /// when it was asked may have been without the news of an interval.
    pub(crate) fn age(&self, config: &Config, now: u64, ring: u64) -> Option<u64> {
        let fresh = self.fresh.filter(|_| !self.forwarded.is_blind(now));
        let (at, _) = fresh.filter(|(_, fresh_ring)| *fresh_ring == ring)?;
        Some(now.saturating_sub(at) + config.interval_for(self.key_count()))
    }

    pub(crate) fn key_count(&self) -> u64 {
        self.copies.values().map(|copy| copy.filter.key_count()).sum()
    }

    /// Asks for missing deltas, as many as one answer holds.
    fn ask_missing(&mut self, now: u64) -> Message {
        self.repeated_at[0] = Some(now);
        self.repeated_up_to = self.applied.sequence.saturating_add(MAX_REPEATED as u64);
        Message::Missing(self.applied)
    }

    /// The same, but not for each that comes out of order.
    fn miss(&mut self, config: &Config, now: u64) -> Option<Message> {
        may_repeat(&mut self.repeated_at[0], config, now).then(|| self.ask_missing(now))
    }

    fn ask_catalog(&mut self, config: &Config, now: u64) -> Option<Message> {
        may_repeat(&mut self.repeated_at[1], config, now).then_some(Message::AskCatalog)
    }

    fn note_fresh(&mut self) {
        if let Some((sequence, asked_at, ring)) = self.awaited
            && sequence <= self.applied.sequence
        {
            self.fresh = Some((asked_at, ring));
        }
    }
}

/// Whether a question may be asked again: some ten times per interval.
fn may_repeat(last: &mut Option<u64>, config: &Config, now: u64) -> bool {
    let may = last.is_none_or(|last| now >= last + config.interval / 10);
    if may {
        *last = Some(now);
    }
    may
}
