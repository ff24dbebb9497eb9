//! What a range holds, for operators; its owner task writes it with each report of its load, twice a second.

use std::sync::atomic::{AtomicU64, Ordering};

use lacuna_cache_protocol::{Application, Owner, RangeId};

/// Buffered writes whose bytes are counted; of more, the mean of these is taken.
const COUNTED: usize = 1_000;

macro_rules! gauges {
    ($($name:ident: $help:literal,)*) => {
        /// The gauges of a range, all of them numbers of one moment: that of the last report.
        #[derive(Debug, Default)]
        pub(crate) struct Gauges {
            pub(crate) requests: AtomicU64,
            $($name: AtomicU64,)*
        }

        /// What a range that is served here holds.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct RangeGauges {
            /// Its number.
            pub range: RangeId,
            /// Requests for it since the process was started; a counter.
            pub requests: u64,
            $(#[doc = $help] pub $name: u64,)*
        }

        impl Gauges {
            pub(crate) fn of(&self, range: RangeId) -> RangeGauges {
                RangeGauges {
                    range,
                    requests: self.requests.load(Ordering::Relaxed),
                    $($name: self.$name.load(Ordering::Relaxed),)*
                }
            }
        }

        impl RangeGauges {
            /// Each gauge: its name, what it measures, and its value.
            pub fn each(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
                [$((stringify!($name), $help, self.$name),)*].into_iter()
            }
        }
    };
}

gauges! {
    entries: "Cached results that owners know of.",
    index_bytes: "Memory that it takes to know these results: their index, and where writes have changed them.",
    leases: "Leases of reads and writes in progress.",
    buffered_writes: "Acknowledged writes that the store does not have yet.",
    entry_log_bytes: "Bytes of the log of entries in the cache server, where it keeps one for the next owner.",
    beta_percent: "Largest percentage of its rows that a cached result may share with another, as it is fixed or chosen.",
    pinned_bytes: "Bytes of buffered writes, which log servers and this process must keep.",
}

impl Gauges {
    /// What an owner holds; nothing without one.
    pub(crate) fn set<A: Application>(&self, owner: Option<&Owner<A>>) {
        let number = |value: usize| u64::try_from(value).unwrap_or(u64::MAX);
        let set = |gauge: &AtomicU64, value: Option<usize>| {
            gauge.store(value.map_or(0, number), Ordering::Relaxed);
        };
        set(&self.entries, owner.map(|owner| owner.index().len()));
        set(&self.index_bytes, owner.map(Owner::index_bytes));
        set(&self.leases, owner.map(Owner::lease_count));
        set(&self.buffered_writes, owner.map(|owner| owner.buffered().len()));
        set(&self.entry_log_bytes, owner.map(Owner::entry_log_bytes));
        set(&self.beta_percent, owner.map(|owner| owner.beta().into()));
        set(&self.pinned_bytes, owner.map(pinned_bytes));
    }
}

fn pinned_bytes<A: Application>(owner: &Owner<A>) -> usize {
    let buffered = owner.buffered();
    let counted = buffered.len().min(COUNTED);
    let bytes = buffered.command_bytes(counted);
    (bytes * buffered.len()).checked_div(counted).unwrap_or(0)
}
