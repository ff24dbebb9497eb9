//! What a run is: which system over which servers, under which load.

use std::time::Duration;

use lacuna_base::{Error, Result};
use lacuna_cache_protocol::Policy;
use lacuna_testkit::servers::{MariaDb, Postgres};

/// The system between clients and rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum System {
    /// The range cache.
    Lacuna(Policy),
    /// Nothing: every request is a statement.
    Store,
    /// Cache-aside without leases: read the cache, else the store, then set; a write deletes what it may have changed.
    Aside,
    /// Redis alone: a sorted set of record keys, asked by `ZRANGE`, then `MGET`.
    Naive,
    /// The same in one Lua script.
    NaiveLua,
}

impl System {
    /// Every one, in the order of the tables.
    pub(crate) const ALL: [Self; 7] = [
        Self::Store,
        Self::Lacuna(Policy::WriteAround),
        Self::Lacuna(Policy::WriteThrough),
        Self::Lacuna(Policy::WriteBack),
        Self::Aside,
        Self::Naive,
        Self::NaiveLua,
    ];

    /// The name on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Lacuna(Policy::WriteAround) => "around",
            Self::Lacuna(Policy::WriteThrough) => "through",
            Self::Lacuna(Policy::WriteBack) => "back",
            Self::Store => "store",
            Self::Aside => "aside",
            Self::Naive => "naive",
            Self::NaiveLua => "naive-lua",
        }
    }

    /// The one of this name.
    ///
    /// # Errors
    /// `InvalidInput` that lists what there is.
    pub(crate) fn parse(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|system| system.name() == name)
            .ok_or_else(|| unknown("system", name, &Self::ALL.map(Self::name)))
    }

    /// Whether it asks a store at all.
    pub(crate) const fn has_store(self) -> bool {
        !matches!(self, Self::Naive | Self::NaiveLua)
    }
}

/// Where the rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StoreKind {
    /// In this process.
    Sqlite,
    /// A server, committing to disk.
    MariaDb,
    /// A server, committing to disk.
    Postgres,
    /// A server with `synchronous_commit=off`: it acknowledges before the disk has a write, as the report's `MongoDB` does.
    PostgresAsync,
}

impl StoreKind {
    /// Every one.
    pub(crate) const ALL: [Self; 4] = [Self::Sqlite, Self::MariaDb, Self::Postgres, Self::PostgresAsync];

    /// The name on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::MariaDb => "mariadb",
            Self::Postgres => "postgres",
            Self::PostgresAsync => "postgres-async",
        }
    }

    /// The least memory for rows that its server starts with; `None` if it is no server.
    const fn min_memory(self) -> Option<u64> {
        match self {
            Self::Sqlite => None,
            Self::MariaDb => Some(MariaDb::MIN_MEMORY),
            Self::Postgres | Self::PostgresAsync => Some(Postgres::MIN_MEMORY),
        }
    }

    /// Checks that a server starts with these bytes for rows.
    fn check_memory(self, bytes: u64, machine: Option<u64>) -> Result<()> {
        let refuse = |why: String| Err(Error::invalid_input(why));
        match (self.min_memory(), machine) {
            (None, _) => refuse("SQLite is in this process: --store-memory needs a database server".into()),
            (Some(least), _) if bytes < least => refuse(format!(
                "{} does not start with {bytes} bytes for its rows: give --store-memory at least {least}",
                self.name()
            )),
            (_, Some(machine)) if bytes > machine => refuse(format!(
                "--store-memory of {bytes} bytes is more than this machine has, which is {machine}"
            )),
            _ => Ok(()),
        }
    }

    /// The one of this name.
    ///
    /// # Errors
    /// `InvalidInput` that lists what there is.
    pub(crate) fn parse(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|store| store.name() == name)
            .ok_or_else(|| unknown("store", name, &Self::ALL.map(Self::name)))
    }
}

fn unknown(what: &str, name: &str, known: &[&str]) -> Error {
    Error::invalid_input(format!("there is no {what} `{name}`; choose among {}", known.join(", ")))
}

/// Which records are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spread {
    /// All alike.
    Uniform,
    /// Record k in proportion to 1/k, ranks scattered over the records.
    Zipfian,
}

/// How cache servers keep results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    /// As they are.
    None,
    /// By LZ4, where that makes them smaller.
    Lz4,
    /// By zlib, where that makes them smaller.
    Zlib,
}

impl Compression {
    /// The name on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lz4 => "lz4",
            Self::Zlib => "zlib",
        }
    }
}

/// How long a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// This long, without the drain.
    Time(Duration),
    /// This number of operations, of all clients together.
    Operations(u64),
}

impl Length {
    /// One of `parts` equal parts.
    pub(crate) fn share(self, parts: u32) -> Self {
        match self {
            Self::Time(time) => Self::Time(time / parts),
            Self::Operations(count) => Self::Operations(count.div_ceil(parts.into())),
        }
    }
}

/// A run.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    /// The measured system.
    pub(crate) system: System,
    /// Where the rows are.
    pub(crate) store: StoreKind,
    /// Bytes that its server has for rows, the rest being on disk; all rows fit if `None`.
    pub(crate) store_memory: Option<u64>,
    /// Rows of 1,000 bytes.
    pub(crate) records: u64,
    /// Scans among the operations, in percent; the others update one record.
    pub(crate) scan_percent: u64,
    /// Records of a scan.
    pub(crate) rows: u64,
    /// Columns of 100 bytes that a scan brings and an update writes, 1 or 10.
    pub(crate) columns: usize,
    /// Which records.
    pub(crate) spread: Spread,
    /// Largest percentage of its rows that an entry may share with another; each range chooses its own if `None`.
    pub(crate) beta: Option<u8>,
    /// Whether each range measures which results are too large to be worth caching.
    pub(crate) measures_sizes: bool,
    /// How cache servers are sent results.
    pub(crate) compression: Compression,
    /// Whether cache servers keep a log of entries, so that the next program could begin warm.
    pub(crate) has_warm_start: bool,
    /// Log servers that have each buffered write before it is acknowledged.
    pub(crate) copies: usize,
    /// Whether log servers have it on disk by then.
    pub(crate) is_durable: bool,
    /// Whether the calls of the first log server are noted.
    pub(crate) notes_log: bool,
    /// Cache servers; 0 is a cache in the memory of this process.
    pub(crate) cache_servers: usize,
    /// Bytes that each cache server may use; no limit if `None`.
    pub(crate) cache_bytes: Option<u64>,
    /// Clients, each with one operation under way.
    pub(crate) clients: usize,
    /// The delay of every request to the store.
    pub(crate) delay: Duration,
    /// Bytes a second that each cache server may send, and as many that it may be sent.
    pub(crate) bandwidth: Option<u64>,
    /// When it ends.
    pub(crate) length: Length,
    /// Whether every scan is made once before the clock starts.
    pub(crate) is_warm: bool,
    /// Seed of records, choices and values.
    pub(crate) seed: u64,
}

impl Setup {
    /// A run with the report's usual setting, scaled to one machine.
    pub(crate) const fn new(system: System, store: StoreKind) -> Self {
        Self {
            system,
            store,
            store_memory: None,
            records: 10_000,
            scan_percent: 99,
            rows: 5,
            columns: 10,
            spread: Spread::Uniform,
            beta: Some(100),
            measures_sizes: false,
            compression: Compression::None,
            has_warm_start: false,
            copies: 1,
            is_durable: false,
            notes_log: false,
            cache_servers: 1,
            cache_bytes: None,
            clients: 16,
            delay: Duration::ZERO,
            bandwidth: None,
            length: Length::Time(Duration::from_secs(5)),
            is_warm: true,
            seed: 1,
        }
    }

    /// Checks that the parts go together.
    ///
    /// # Errors
    /// `InvalidInput` that says which do not.
    pub(crate) fn checked(self) -> Result<Self> {
        let refuse = |why: String| Err(Error::invalid_input(why));
        if let Some(bytes) = self.store_memory {
            self.store.check_memory(bytes, machine_memory())?;
        }
        if self.store == StoreKind::Sqlite && !self.delay.is_zero() {
            return refuse(
                "SQLite is in this process, where no request is on its way: --delay needs a database server"
                    .into(),
            );
        }
        if self.cache_servers == 0 && !matches!(self.system, System::Lacuna(_) | System::Store) {
            return refuse(format!("`{}` needs a cache server", self.system.name()));
        }
        if self.cache_servers == 0 && self.bandwidth.is_some() {
            return refuse("a bandwidth needs a cache server".into());
        }
        if self.rows > self.records_of_a_table() {
            return refuse(format!(
                "a scan of {} rows needs a table of as many: {} records in {} tables are too few",
                self.rows,
                self.records,
                self.tables()
            ));
        }
        if self.clients as u64 > self.tables() * self.records_of_a_table() {
            return refuse(format!("{} clients need as many records", self.clients));
        }
        Ok(self)
    }

    /// Bytes that the store's server has for rows: as asked, else twice what they take, and at least what it has as it is installed.
    pub(crate) fn server_memory(&self) -> u64 {
        self.store_memory.unwrap_or((2 * self.records * RECORD_BYTES_IN_STORE).max(USUAL_MEMORY))
    }

    /// Log servers of the run; none unless writes are buffered.
    pub(crate) fn log_servers(&self) -> usize {
        if self.system == System::Lacuna(Policy::WriteBack) { self.copies } else { 0 }
    }

    /// Tables that the records are divided into: a table is a range, and lies on one cache server.
    pub(crate) fn tables(&self) -> u64 {
        self.cache_servers.max(1) as u64
    }

    /// Records of each table.
    pub(crate) fn records_of_a_table(&self) -> u64 {
        self.records / self.tables()
    }
}

/// What a record takes in a database, with its part of pages that are not full.
pub(crate) const RECORD_BYTES_IN_STORE: u64 = 1_300;
/// What MariaDB and PostgreSQL have for rows as they are installed.
const USUAL_MEMORY: u64 = 128 << 20;

/// The bytes of memory of this machine, where the system says.
fn machine_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kibibytes =
        text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB"))?;
    Some(kibibytes.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_systems_and_stores() {
        for system in System::ALL {
            assert_eq!(System::parse(system.name()).unwrap(), system);
        }
        for store in StoreKind::ALL {
            assert_eq!(StoreKind::parse(store.name()).unwrap(), store);
        }
        assert!(StoreKind::parse("oracle").unwrap_err().to_string().contains("sqlite, mariadb"));
    }

    #[test]
    fn parts_that_do_not_go_together_are_refused() {
        let good = Setup::new(System::Store, StoreKind::Sqlite);
        assert!(good.clone().checked().is_ok());
        let bad = [
            Setup { delay: Duration::from_millis(1), ..good.clone() },
            Setup { cache_servers: 0, system: System::Aside, ..good.clone() },
            Setup { records: 30, cache_servers: 8, ..good.clone() },
            Setup { clients: 17, records: 17, rows: 2, cache_servers: 8, ..good.clone() },
            Setup { store_memory: Some(64 << 20), ..good },
        ];
        assert!(bad.into_iter().all(|setup| setup.checked().is_err()));
    }

    #[test]
    fn sizes_that_a_server_refuses_are_refused() {
        let gigabyte = Some(1 << 30);
        for store in [StoreKind::MariaDb, StoreKind::Postgres] {
            assert!(
                store.check_memory(64 << 20, gigabyte).is_ok() && store.check_memory(2 << 30, None).is_ok()
            );
            let why = store.check_memory(1_000, gigabyte).unwrap_err().to_string();
            assert!(why.contains(store.name()) && why.contains("at least"), "{why}");
            let why = store.check_memory(2 << 30, gigabyte).unwrap_err().to_string();
            assert!(why.contains("more than this machine has"), "{why}");
        }
    }

    #[test]
    fn rows_fit_into_memory_unless_it_is_limited() {
        let setup = Setup { records: 1_000_000, ..Setup::new(System::Store, StoreKind::MariaDb) };
        assert!(setup.server_memory() > 2_000_000_000);
        assert_eq!(Setup { records: 100, ..setup.clone() }.server_memory(), USUAL_MEMORY);
        assert_eq!(Setup { store_memory: Some(64 << 20), ..setup }.server_memory(), 64 << 20);
    }
}
