//! Some dendrites before one file of SQLite, each behind a port of its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_cache::Counts;
use lacuna_cache::cluster::{Client, Dendrite, Membership, Net, Secret, Server};
use lacuna_cache::redis::RedisCache;
use lacuna_cache::sql::{Cache, DomainType, Options, Rows, Schema, SqlValue, Table};
use lacuna_cache_protocol::{Error, ErrorKind, Result};
use lacuna_cache_protocol::{Policy, RangeId};
use lacuna_testkit::servers::Redis;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, SqliteConnection};

pub(crate) const SECRET: &[u8] = b"what all dendrites of the tests know";

/// The table that the dendrites serve.
pub(crate) const TABLE: &str = "slots";

/// Places below this value belong to range 0, the others to range 1.
pub(crate) const CUT: i64 = 100;

/// What a busy machine may take.
pub(crate) const AT_MOST: Duration = Duration::from_secs(120);

pub(crate) struct Dendrites {
    pub(crate) cache: Cache,
    pub(crate) servers: Vec<Server>,
    pub(crate) addresses: Vec<String>,
    folder: tempfile::TempDir,
}

pub(crate) fn secret() -> Secret {
    Secret::new(SECRET).unwrap()
}

pub(crate) fn schema() -> Schema {
    Schema::new(TABLE, "id").with_domain("place", DomainType::Integer)
}

impl Dendrites {
    pub(crate) async fn open(count: usize, policy: Policy) -> Self {
        Self::open_before(count, policy, None).await
    }

    /// With a cache server, or one in memory.
    pub(crate) async fn open_before(count: usize, policy: Policy, server: Option<&Redis>) -> Self {
        let before = |options: Options| match server {
            Some(server) => {
                options.with_cache_server(Arc::new(RedisCache::new(&server.url(), "slots").unwrap()))
            }
            None => options,
        };
        Self::open_with(count, |options| before(options).with_policy(policy)).await
    }

    /// With more of the options.
    pub(crate) async fn open_with(count: usize, with: impl FnOnce(Options) -> Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options =
            Options::new(format!("sqlite:{}", folder.path().join("app.db").display())).with_patience(AT_MOST);
        let cache = with(options).open().await.unwrap();
        cache.run_sql("CREATE TABLE slots (id INTEGER PRIMARY KEY, place BIGINT, name TEXT)").await.unwrap();
        let (servers, addresses) = (Vec::new(), Vec::new());
        let mut dendrites = Self { cache, servers, addresses, folder };
        for _ in 0..count {
            dendrites.add().await;
        }
        dendrites
    }

    pub(crate) async fn add(&mut self) {
        let listener = Server::listen("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let dendrite = self.try_dendrite(&address).await.unwrap();
        self.servers.push(Server::start(listener, [(TABLE, dendrite)], secret()));
        self.addresses.push(address);
    }

    pub(crate) async fn try_dendrite(&self, address: &str) -> Result<Dendrite> {
        self.try_dendrite_of(schema(), address).await
    }

    pub(crate) async fn try_dendrite_of(&self, schema: Schema, address: &str) -> Result<Dendrite> {
        // Whole, where the first column is of another type.
        let cuts = schema.cut_before(&[CUT.into()]).or_else(|_| schema.cut_before(&[])).unwrap();
        let ranges = Arc::new(self.cache.shared_ranges(TABLE, &cuts, address).await.unwrap());
        let transport = Arc::new(Net::new(secret(), TABLE));
        let membership = Membership { directory: ranges.clone(), transport, address: address.to_owned() };
        self.cache.dendrite(schema, ranges, membership).await
    }

    /// Has a dendrite claim a range that no other is to have, and waits until it has it.
    pub(crate) async fn claim(&self, place: usize, range: RangeId) {
        let start = Instant::now();
        while !self.dendrite(place).owned().contains(&range) {
            assert!(start.elapsed() < AT_MOST, "{range:?} is claimed");
            // It may have come to another while nobody had it.
            let others = (0..self.servers.len()).filter(|other| *other != place);
            others.map(|other| self.dendrite(other)).for_each(|other| other.leave(range));
            self.dendrite(place).claim(range);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub(crate) fn dendrite(&self, place: usize) -> &Dendrite {
        &self.servers[place].dendrites()[TABLE]
    }

    pub(crate) fn counts(&self, place: usize) -> Counts {
        self.dendrite(place).counts()
    }

    /// The numbers that a statement finds in the database.
    pub(crate) async fn numbers(&self, sql: &'static str) -> Vec<i64> {
        let options = SqliteConnectOptions::new().filename(self.folder.path().join("app.db"));
        let mut other = SqliteConnection::connect_with(&options).await.unwrap();
        sqlx::query_scalar(sql).fetch_all(&mut other).await.unwrap()
    }

    /// The table as a dendrite of this process sees it.
    pub(crate) async fn table_at(&self, place: usize) -> Table {
        self.cache.table_over(schema(), Arc::new(self.dendrite(place).clone())).await.unwrap()
    }

    /// The table as a client sees it.
    pub(crate) async fn table_of(&self, client: &Client) -> Table {
        self.cache.table_over(schema(), Arc::new(client.clone())).await.unwrap()
    }

    pub(crate) async fn client(&self) -> Client {
        connected(&self.addresses).await.with_patience(AT_MOST)
    }

    /// Range 0 is owned by the first, range 1 by the second dendrite.
    pub(crate) async fn claim_both_ranges(&self) {
        self.claim(0, RangeId(0)).await;
        self.claim(1, RangeId(1)).await;
    }

    pub(crate) async fn stop(self) {
        for server in self.servers {
            server.stop().await.unwrap();
        }
        self.cache.stop().await.unwrap();
    }
}

/// A client of these dendrites. A machine that is out of breath for a second does not answer in time.
pub(crate) async fn connected(addresses: &[impl AsRef<str>]) -> Client {
    let start = Instant::now();
    loop {
        match Client::connect(addresses, secret(), TABLE).await {
            Ok(client) => return client,
            Err(error) => {
                assert!(error.kind() == ErrorKind::Unavailable && start.elapsed() < AT_MOST, "{error}");
            }
        }
    }
}

/// Why these dendrites refuse a caller with this secret, once they have heard of it.
pub(crate) async fn refusal(addresses: &[impl AsRef<str>], secret: &[u8]) -> Error {
    let start = Instant::now();
    loop {
        let refused = Client::connect(addresses, Secret::new(secret).unwrap(), TABLE).await.unwrap_err();
        if refused.kind() != ErrorKind::Unavailable || start.elapsed() > AT_MOST {
            return refused;
        }
    }
}

pub(crate) fn slot(id: i64, place: i64) -> [(&'static str, SqlValue); 3] {
    [("id", id.into()), ("place", place.into()), ("name", "x".into())]
}

pub(crate) fn places(rows: &Rows) -> Vec<i64> {
    rows.iter().map(|row| row.integer("place").unwrap()).collect()
}
