//! The last notices of a dendrite, for listeners.
//!
//! A listener says from which number on it wants notices, or for how long it has been listening, and is answered
//! as soon as there is one. If some are no longer kept, it is informed that it has missed them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lacuna_cache_protocol::Notice;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use crate::cluster::noticed::{Listen, Noticed, notice_bytes};

/// Notices that are kept, and bytes of all of them: the newest is always kept.
const KEPT: usize = 1_024;
const KEPT_BYTES: usize = 32 << 20;
/// Bytes of notices in one answer, unless one alone has more.
const MAX_BYTES: usize = 1 << 20;
/// The longest notice; for a longer one listeners receive that it is missing.
const LONGEST: usize = 15 << 20;

/// Kept notices, numbered from 1.
#[derive(Debug)]
pub(super) struct Journal {
    /// A random number that no earlier process had.
    number: u64,
    kept: Mutex<Kept>,
    /// Number of the next notice.
    next: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Kept {
    /// When each came, and its bytes.
    notices: VecDeque<(Instant, usize, Notice)>,
    /// The bytes of all.
    bytes: usize,
    /// Whether notices were dropped, and when the last of them came.
    dropped: Option<Instant>,
}

impl Journal {
    pub(super) fn new() -> Self {
        // Without randomness there are no callers, either: every handshake needs it.
        let number = getrandom::u64().unwrap_or(0);
        Self { number: number | 1, kept: Mutex::default(), next: watch::Sender::new(1) }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps notices as they come, until their senders are gone.
    pub(super) async fn keep(&self, mut from: broadcast::Receiver<Notice>) {
        loop {
            match from.recv().await {
                Ok(notice) => self.add(notice),
                Err(RecvError::Lagged(_)) => self.add(Notice::MayBeMissing),
                Err(RecvError::Closed) => return,
            }
        }
    }

    fn add(&self, notice: Notice) {
        let bytes = notice_bytes(&notice);
        let (bytes, notice) = if bytes > LONGEST { (0, Notice::MayBeMissing) } else { (bytes, notice) };
        let mut kept = self.kept();
        kept.notices.push_back((Instant::now(), bytes, notice));
        kept.bytes += bytes;
        while (kept.notices.len() > KEPT || kept.bytes > KEPT_BYTES)
            && let Some((when, bytes, _)) = kept.notices.pop_front()
        {
            kept.bytes -= bytes;
            kept.dropped = Some(when);
        }
        self.next.send_modify(|next| *next += 1);
    }

    /// The notices that a listener has not received yet; none, if none comes in time.
    pub(super) async fn hear(&self, listen: Listen, within: Duration) -> Noticed {
        let begun = Instant::now();
        let heard = self.hear_now(listen, begun);
        if !heard.notices.is_empty() {
            return heard;
        }
        let mut next = self.next.subscribe();
        // None came, or none can come any more.
        drop(tokio::time::timeout(within, next.wait_for(|next| *next > heard.next)).await);
        self.hear_now(listen, begun)
    }

    /// `begun`: the time of the listener's request.
    fn hear_now(&self, listen: Listen, begun: Instant) -> Noticed {
        let kept = self.kept();
        let end = *self.next.borrow();
        let first = end - kept.notices.len() as u64;
        let since = begun.checked_sub(listen.age());
        let is_old = |when: Instant| since.is_some_and(|since| when < since);
        let is_known = listen.journal == self.number && listen.next <= end;
        let (from, is_missing) = if is_known {
            (listen.next.max(first), listen.next < first)
        } else {
            let old = kept.notices.iter().take_while(|(when, ..)| is_old(*when)).count() as u64;
            // It has listened to an earlier process, or began before the oldest kept notice.
            (first + old, listen.journal != 0 || kept.dropped.is_some_and(|when| !is_old(when)))
        };
        let mut heard =
            Noticed { journal: self.number, next: from, members: Vec::new(), notices: Vec::new() };
        heard.notices.extend(is_missing.then_some(Notice::MayBeMissing));
        let (mut bytes, received) = (0, usize::try_from(from - first).unwrap_or(usize::MAX));
        for (_, len, notice) in kept.notices.iter().skip(received) {
            bytes += len;
            if bytes > MAX_BYTES && heard.next > from {
                break;
            }
            heard.next += 1;
            heard.notices.push(notice.clone());
        }
        heard
    }
}

#[cfg(test)]
mod tests {
    use lacuna_cache_protocol::Command;

    use super::*;

    fn aside(number: u64) -> Notice {
        Notice::SetAside(vec![(number, Command::new(b"raise"))])
    }

    fn first(journal: &Journal) -> Noticed {
        journal.hear_now(Listen { within_ms: 0, journal: 0, next: 0, age_ms: 60_000 }, Instant::now())
    }

    fn same_error(journal: &Journal, before: &Noticed) -> Noticed {
        let listen = Listen { within_ms: 0, journal: before.journal, next: before.next, age_ms: 60_000 };
        journal.hear_now(listen, Instant::now())
    }

    #[test]
    fn every_notice_is_heard_once() {
        let journal = Journal::new();
        (0..3).for_each(|number| journal.add(aside(number)));
        let heard = first(&journal);
        assert_eq!(heard.notices, [aside(0), aside(1), aside(2)]);
        assert!(same_error(&journal, &heard).notices.is_empty());
        journal.add(aside(3));
        assert_eq!(same_error(&journal, &heard).notices, [aside(3)]);
    }

    #[test]
    fn what_is_not_kept_any_more_is_said_to_be_missing() {
        let journal = Journal::new();
        let before = first(&journal);
        (0..KEPT as u64 + 5).for_each(|number| journal.add(aside(number)));
        for heard in [same_error(&journal, &before), first(&journal)] {
            assert_eq!(heard.notices[..2], [Notice::MayBeMissing, aside(5)]);
            assert_eq!(heard.notices.len(), KEPT + 1);
        }
    }

    #[test]
    fn long_notices_take_the_place_of_older_ones() {
        let journal = Journal::new();
        let before = first(&journal);
        let long = |number| Notice::SetAside(vec![(number, Command::new(&vec![7; 10 << 20]))]);
        (0..8).for_each(|number| journal.add(long(number)));
        assert_eq!(journal.kept().notices.len(), 3, "of 10 MiB each");
        assert!(journal.kept().bytes <= KEPT_BYTES);
        let heard = same_error(&journal, &before);
        assert_eq!((heard.next, &heard.notices[0]), (7, &Notice::MayBeMissing));
        assert!(heard.notices[1] == long(5));
        (0..KEPT as u64).for_each(|number| journal.add(aside(number)));
        assert_eq!(journal.kept().notices.len(), KEPT);
        assert!(journal.kept().bytes < 1 << 20);
    }

    #[test]
    fn whoever_listened_to_a_former_process_may_have_missed_some() {
        let (old, new) = (Journal::new(), Journal::new());
        let before = first(&old);
        new.add(aside(0));
        assert_eq!(same_error(&new, &before).notices, [Notice::MayBeMissing, aside(0)]);
    }

    #[test]
    fn what_came_before_somebody_listened_is_not_for_them() {
        let journal = Journal::new();
        journal.add(aside(0));
        let later = Instant::now() + Duration::from_secs(5);
        let heard = journal.hear_now(Listen { within_ms: 0, journal: 0, next: 0, age_ms: 1_000 }, later);
        assert!(heard.notices.is_empty() && heard.next == 2, "{heard:?}");
    }

    #[test]
    fn long_notices_come_one_by_one_and_those_that_are_too_long_are_missing() {
        let journal = Journal::new();
        let long = |len| Notice::SetAside(vec![(1, Command::new(&vec![7; len]))]);
        [long(MAX_BYTES), long(LONGEST + 1), aside(1)].into_iter().for_each(|notice| journal.add(notice));
        let heard = first(&journal);
        assert_eq!(heard.notices.len(), 1);
        assert_eq!(same_error(&journal, &heard).notices, [Notice::MayBeMissing, aside(1)]);
    }

    #[tokio::test]
    async fn a_listener_is_answered_once_there_is_something() {
        let journal = std::sync::Arc::new(Journal::new());
        let listen = Listen { within_ms: 0, journal: 0, next: 0, age_ms: 0 };
        let waiting = tokio::spawn({
            let journal = journal.clone();
            async move { journal.hear(listen, Duration::from_secs(3_600)).await }
        });
        while journal.next.receiver_count() == 0 {
            tokio::task::yield_now().await;
        }
        journal.add(aside(0));
        assert_eq!(waiting.await.unwrap().notices, [aside(0)]);
        assert!(journal.hear(listen, Duration::ZERO).await.next >= 1, "its time is over");
    }
}
