//! Callers that have not yet proved that they know the secret: a bounded number of connections.
//!
//! A stranger costs a connection and a task until the time for the handshake is over. When there are too many, the one
//! that has waited longest gives way to the newest: an honest caller needs two round trips, strangers that say nothing
//! stay until they are displaced.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

/// Connections at a time whose handshake is not over.
pub(super) const MAX_UNPROVED: usize = 128;

/// All such callers of a server, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Unproved(Mutex<VecDeque<Arc<Notify>>>);

/// The place of one of them.
#[derive(Debug)]
pub(super) struct Place {
    displaced: Arc<Notify>,
    among: Arc<Unproved>,
}

impl Unproved {
    /// A place for a new caller.
    pub(super) fn enter(self: &Arc<Self>) -> Place {
        let displaced = Arc::<Notify>::default();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_back(displaced.clone());
        if all.len() > MAX_UNPROVED
            && let Some(oldest) = all.pop_front()
        {
            oldest.notify_one();
        }
        drop(all);
        Place { displaced, among: self.clone() }
    }
}

impl Place {
    /// Resolves when a newer caller needs the place.
    pub(super) async fn is_displaced(&self) {
        self.displaced.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = self.among.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|place| !Arc::ptr_eq(place, &self.displaced));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_oldest_caller_gives_way_to_the_newest() {
        let all = Arc::<Unproved>::default();
        let mut places: Vec<Place> = (0..MAX_UNPROVED).map(|_| all.enter()).collect();
        drop(places.remove(0));
        places.push(all.enter());
        let displaced = |place: Place| {
            tokio::time::timeout(std::time::Duration::ZERO, async move { place.is_displaced().await })
        };
        let newest = all.enter();
        displaced(places.remove(0)).await.unwrap();
        assert!(displaced(places.remove(0)).await.is_err() && displaced(newest).await.is_err());
    }
}
