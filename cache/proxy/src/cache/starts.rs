//! Servers of sessions that are not the account's.
//!
//! A session and the account name the moment at which their server was started. If these differ, `--upstream` and `--account`
//! lead to two servers, or one has started anew. The second is over once the catalogue was read again.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Most starts that are reported, each of them once.
const MAX_REPORTED: usize = 100;
/// How long it is said after the last session that has named another start.
const STAYS: Duration = Duration::from_secs(10);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Starts(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    reported: BTreeSet<String>,
    /// What the last session has named, and when, if it is not what the account has named.
    other: Option<(String, Instant)>,
}

impl Starts {
    /// A session has named another start than the account.
    pub(super) fn differ(&self, session: &str, account: &str) {
        let mut state = self.lock();
        state.other = Some((session.to_owned(), Instant::now()));
        if state.reported.len() < MAX_REPORTED && state.reported.insert(session.to_owned()) {
            tracing::warn!("{}", sentence(session, account));
        }
    }

    /// A session has named the same start as the account.
    pub(super) fn agree(&self) {
        self.lock().other = None;
    }

    /// What there is to say now, if the account has named this start last.
    pub(super) fn problem(&self, account: &str, now: Instant) -> Option<String> {
        let state = self.lock();
        let (session, named) = state.other.as_ref()?;
        let goes_on = session != account && now.duration_since(*named) < STAYS;
        goes_on.then(|| sentence(session, account))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn sentence(session: &str, account: &str) -> String {
    format!(
        "a session's server was started at {session} UTC, the account's at {account} UTC: --upstream and --account lead to two \
         servers, or one has started anew"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_said_until_it_is_over() {
        let (starts, now) = (Starts::default(), Instant::now());
        assert_eq!(starts.problem("noon", now), None);
        starts.differ("midnight", "noon");
        let said = starts.problem("noon", now).unwrap();
        assert!(said.contains("midnight UTC") && said.contains("noon UTC"), "{said}");
        assert_eq!(starts.problem("midnight", now), None, "the account has followed");
        assert_eq!(starts.problem("noon", Instant::now() + STAYS), None, "no session says it any more");
        starts.agree();
        assert_eq!(starts.problem("noon", now), None);
    }
}
