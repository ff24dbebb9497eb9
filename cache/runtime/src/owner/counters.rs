//! Counters of a running cache: they show whether it is worth its memory.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counters of a running cache.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: AtomicU64,)*
        }

        /// Counters at one moment, all since the cache was started.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        pub struct Counts {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Counters {
            pub(crate) fn now(&self) -> Counts {
                Counts { $($name: self.$name.load(Ordering::Relaxed),)* }
            }
        }

        impl Counts {
            /// The sums of both.
            #[must_use]
            pub const fn plus(self, other: Self) -> Self {
                Self { $($name: self.$name + other.$name,)* }
            }
        }
    };
}

counters! {
    /// Reads that were answered.
    reads,
    /// Reads that the cache server answered on the hit path.
    hits,
    /// Hits among these that were verified against the store.
    verified,
    /// Writes that were acknowledged.
    writes,
    /// Calls to cache servers, those of the hit path included.
    cache_calls,
    /// Queries that the store was asked.
    store_queries,
    /// Statements and transactions sent to the store, without queries.
    store_writes,
    /// Calls to log servers.
    log_calls,
    /// Tenures that began to serve.
    tenures,
    /// Tenures among these without a cache server, as none answered.
    bypasses,
    /// Requests that were forwarded to another owner.
    forwards,
    /// Calls to owners of other ranges.
    peer_calls,
    /// How often an owner has dropped all entries because of a foreign write past the cache.
    foreign_writes,
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
