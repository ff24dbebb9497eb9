//! How a node works.

/// What the answers of filters are used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// No read is skipped; the reads that would have been are counted, and every contradiction.
    Shadow,
    /// Filters are exchanged every interval; a read may miss what was written since (the paper's scheme).
    Eventual,
    /// No acknowledgement leaves a node before every lease holder knows the new keys; no read misses one.
    Safe,
}

/// Settings of a node. Times are milliseconds of its own monotonic clock, which has to go on while the machine sleeps
/// (`CLOCK_BOOTTIME`): a lease would outlive the sleep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Config {
    /// What answers are used for. Nodes of one cluster may differ: only those in mode safe grant leases that others answer by.
    /// A node that leaves mode safe acknowledges nothing for [`max_lease`](Self::max_lease) first: what its last life
    /// granted may still run.
    pub mode: Mode,
    /// Time between exchanges with up to a million keys.
    pub interval: u64,
    /// Length of a lease that this node grants; cut to the longest.
    pub lease: u64,
    /// The longest lease that any life of this node may have granted. After a start nothing is acknowledged for this long, so
    /// that a life whose leases are shorter does not forget those of the life before.
    pub max_lease: u64,
    /// Clocks of two nodes run apart by less than one part in `drift`.
    pub drift: u64,
    /// Deltas kept for peers that missed some, in bytes.
    pub log_bytes: usize,
    /// Memory of the snapshots that peers fetch, in bytes; one is always kept.
    pub max_snapshot_bytes: usize,
    /// Bytes of a filter that are copied at once for a file or a peer: what a program that shares the node under a lock waits for, some
    /// tens of microseconds for each quarter of a megabyte.
    pub copied_bytes: usize,
    /// Keys of a coordinator's own writes remembered for each peer, for eventual mode; beyond, the peer's copies say
    /// "unknown" for a while.
    pub max_forwarded: usize,
    /// Memory of the filter of one table, in bytes.
    pub max_table_bytes: usize,
    /// Memory of all copies of other nodes' filters, in bytes.
    pub max_copy_bytes: usize,
    /// In mode safe: writes of something new into one [slot](crate::Slots) of a table, within an interval, from which on the slot is open,
    /// until fewer than half as many come in another one. Writes into an open slot wait for nothing, and reads of it go to the
    /// replicas. 0, the usual setting, for never.
    pub slot_writes: u64,
    /// Whether eventual mode also answers for more than two replicas.
    pub eventual_at_any_level: bool,
    /// The rule that a test takes back.
    #[cfg(feature = "flaws")]
    pub flaw: Option<crate::Flaw>,
}

impl Config {
    /// The usual settings.
    pub const fn new(mode: Mode) -> Self {
        Self {
            mode,
            interval: 1_000,
            lease: 3_000,
            max_lease: 5_000,
            drift: 100,
            log_bytes: 1 << 20,
            max_snapshot_bytes: 64 << 20,
            copied_bytes: 1 << 18,
            max_forwarded: 1 << 16,
            max_table_bytes: 256 << 20,
            max_copy_bytes: 1 << 30,
            slot_writes: 0,
            eventual_at_any_level: false,
            #[cfg(feature = "flaws")]
            flaw: None,
        }
    }

    /// The settings of the paper: five minutes between exchanges of a million keys, one hour of a thousand million.
    pub const fn paper() -> Self {
        Self { interval: 300_000, ..Self::new(Mode::Eventual) }
    }

    /// Time between exchanges of `keys` keys: the interval up to 2^20 keys, from there on longer with each doubling, 12
    /// times as long at 2^30.
    ///
    /// ```
    /// use lacuna_node_filters::Config;
    ///
    /// let minutes = |keys| Config::paper().interval_for(keys) / 60_000;
    /// assert_eq!([minutes(1_000_000), minutes(1 << 30)], [5, 60]);
    /// ```
    pub const fn interval_for(&self, keys: u64) -> u64 {
        let doublings = if keys == 0 { 0 } else { (keys.ilog2() as u64).saturating_sub(20) };
        self.interval + self.interval * 11 * doublings / 10
    }

    /// Oldest copy that eventual mode answers from.
    pub const fn max_age(&self, keys: u64) -> u64 {
        3 * self.interval_for(keys)
    }

    /// How long a burial is held back that comes after a write of this node. That write has arrived by then, whatever the
    /// store's timeouts; had it come after the burial, the peer would have announced it within one more interval.
    pub(crate) const fn burial_age(&self, keys: u64) -> u64 {
        10 * self.interval_for(keys)
    }

    /// What a lease may be relied on for.
    pub(crate) fn lease(&self) -> u64 {
        self.lease.min(self.max_lease)
    }

    /// A length of a peer's clock that has surely not passed there when it has passed here.
    pub(crate) const fn shortened(&self, length: u64) -> u64 {
        match self.drift {
            0 => 0,
            drift => length - length.div_ceil(drift),
        }
    }
}
