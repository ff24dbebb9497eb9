//! Counters of a running cache: they show whether it is worth its memory.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($name:ident: $help:literal,)*) => {
        /// Counters of a running cache.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: AtomicU64,)*
        }

        /// Counters at one moment, all since the cache was started.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counts {
            $(#[doc = $help] pub $name: u64,)*
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

            /// Each counter: its name, what it counts, and its value.
            pub fn each(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
                [$((stringify!($name), $help, self.$name),)*].into_iter()
            }
        }
    };
}

counters! {
    reads: "Reads that were answered.",
    hits: "Reads that the cache server answered on the hit path.",
    verified: "Hits among these that were verified against the store.",
    writes: "Writes that were acknowledged.",
    cache_calls: "Calls to cache servers, those of the hit path included.",
    store_queries: "Queries that the store was asked.",
    store_writes: "Statements and transactions sent to the store, without queries.",
    log_calls: "Calls to log servers.",
    tenures: "Tenures that began to serve.",
    bypasses: "Tenures among these without a cache server, as none answered.",
    forwards: "Requests that were forwarded to another owner.",
    peer_calls: "Calls to owners of other ranges.",
    foreign_writes: "How often an owner has dropped all entries because of a foreign write past the cache.",
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
