//! Which of several hosts sessions are begun at.
//!
//! Without a cache they are tried in their order, from the one on that was reached last. With a cache the account finds the one that
//! takes writes (`cache/watch/servers.rs`), and sessions are begun there alone. A server that the account leaves is left by all
//! sessions, and none begins anywhere until it has arrived at another one.

use std::sync::Arc;

use tokio::sync::watch;

/// See the module.
#[derive(Debug)]
pub(super) struct Route(watch::Sender<State>);

#[derive(Debug)]
struct State {
    /// How often a server was left.
    server: u64,
    to: To,
    /// Shared with each session at the server.
    here: Arc<()>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum To {
    /// Any host, from this one on.
    From(usize),
    /// This host.
    Only(usize),
    Nowhere,
}

/// A session that is at a server, until it is dropped.
#[derive(Debug)]
pub(crate) struct Visit {
    _here: Arc<()>,
}

/// The sessions at a server that was left.
#[derive(Debug)]
pub(super) struct Left(Arc<()>);

impl Left {
    /// Whether all of them have ended.
    pub(super) fn is_empty(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }
}

impl Route {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(State { server: 0, to: To::From(0), here: Arc::default() }))
    }

    /// Which of `count` hosts are to be tried, one after the other.
    pub(super) fn order(&self, count: usize) -> Vec<usize> {
        match self.0.borrow().to {
            To::From(first) => (first..count).chain(0..first).collect(),
            To::Only(host) => vec![host],
            To::Nowhere => Vec::new(),
        }
    }

    /// This host was reached; whether another one was before.
    pub(super) fn reached(&self, host: usize) -> bool {
        let mut is_another = false;
        self.0.send_if_modified(|state| {
            if let To::From(last) = &mut state.to {
                is_another = *last != host;
                *last = host;
            }
            // No session has to know.
            false
        });
        is_another
    }

    /// The number of the server at which sessions begin now.
    pub(super) fn server(&self) -> u64 {
        self.0.borrow().server
    }

    /// A session at the server of this number; `None` if that was left.
    pub(super) fn visit(&self, server: u64) -> Option<Visit> {
        let state = self.0.borrow();
        (state.server == server).then(|| Visit { _here: state.here.clone() })
    }

    /// Returns when the server of this number was left.
    pub(super) async fn has_left(&self, server: u64) {
        drop(self.0.subscribe().wait_for(|state| state.server != server).await);
    }

    /// Leaves the server: its sessions are to end. Returns the number of the next one, too.
    pub(super) fn leave(&self) -> (u64, Left) {
        let next = State { server: self.server() + 1, to: To::Nowhere, here: Arc::default() };
        let number = next.server;
        (number, Left(self.0.send_replace(next).here))
    }

    /// Sessions begin at this host alone.
    pub(super) fn arrive(&self, host: usize) {
        self.0.send_modify(|state| state.to = To::Only(host));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[test]
    fn the_host_that_was_reached_is_tried_first() {
        let route = Route::new();
        assert_eq!(route.order(3), [0, 1, 2]);
        assert!(!route.reached(0) && route.reached(1) && !route.reached(1));
        assert_eq!((route.order(3), route.server()), (vec![1, 2, 0], 0));
    }

    #[tokio::test]
    async fn a_server_is_left_before_another_one_is_there() {
        let route = Route::new();
        route.arrive(1);
        assert!(!route.reached(0), "it is the account that says where");
        assert_eq!((route.order(3), route.server()), (vec![1], 0));
        let short = Duration::from_millis(20);
        assert!(timeout(short, route.has_left(0)).await.is_err());
        let (one, other) = (route.visit(0).unwrap(), route.visit(0).unwrap());
        let (next, left) = route.leave();
        assert_eq!((next, route.order(3)), (1, vec![]));
        assert!(timeout(short, route.has_left(0)).await.is_ok());
        assert!(!left.is_empty() && route.visit(0).is_none());
        drop(one);
        assert!(!left.is_empty());
        drop(other);
        assert!(left.is_empty());
        route.arrive(0);
        assert_eq!((route.order(3), route.server()), (vec![0], 1));
        assert!(timeout(short, route.has_left(1)).await.is_err() && route.visit(1).is_some());
    }
}
