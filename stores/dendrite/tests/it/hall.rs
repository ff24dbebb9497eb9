//! Some dendrites before one file of SQLite, each behind a port of its own.

use std::sync::Arc;

use lacuna_cache_shell::{Around, Counts, Dendrite};
use lacuna_range_cache::Policy;
use lacuna_store_dendrite::{Client, Net, Secret, Server};
use lacuna_store_sql::{Cache, DomainType, Options, Rows, Schema, SqlValue, Table};

pub(crate) const SECRET: &[u8] = b"what all dendrites of the tests know";

/// Places below this value belong to range 0, the others to range 1.
pub(crate) const CUT: i64 = 100;

pub(crate) struct Hall {
    pub(crate) cache: Cache,
    pub(crate) servers: Vec<Server>,
    pub(crate) addresses: Vec<String>,
    _folder: tempfile::TempDir,
}

pub(crate) fn secret() -> Secret {
    Secret::new(SECRET).unwrap()
}

fn schema() -> Schema {
    Schema::new("slots", "id").domain("place", DomainType::Integer)
}

impl Hall {
    pub(crate) async fn open(count: usize, policy: Policy) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = Options::new(format!("sqlite:{}", folder.path().join("app.db").display()));
        let cache = options.policy(policy).open().await.unwrap();
        cache.run_sql("CREATE TABLE slots (id INTEGER PRIMARY KEY, place BIGINT, name TEXT)").await.unwrap();
        let mut hall = Self { cache, servers: Vec::new(), addresses: Vec::new(), _folder: folder };
        for _ in 0..count {
            hall.add().await;
        }
        hall
    }

    async fn add(&mut self) {
        let listener = Server::listen("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let cuts = schema().cut_before(&[CUT.into()]).unwrap();
        let ranges = Arc::new(self.cache.shared_ranges("slots", &cuts, &address).await.unwrap());
        let around = Around {
            directory: ranges.clone(),
            neighbours: Arc::new(Net::new(secret())),
            address: address.clone(),
        };
        let dendrite = self.cache.dendrite(schema(), ranges, around).await.unwrap();
        self.servers.push(Server::start(listener, dendrite, secret()));
        self.addresses.push(address);
    }

    pub(crate) fn dendrite(&self, place: usize) -> &Dendrite {
        self.servers[place].dendrite()
    }

    pub(crate) fn counts(&self, place: usize) -> Counts {
        self.dendrite(place).counts()
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
        Client::connect(&self.addresses, secret()).await.unwrap()
    }

    /// Range 0 is owned by the first, range 1 by the second dendrite.
    pub(crate) async fn take_seats(&self) {
        assert!(places(&self.table_at(0).await.get("place", 0..CUT).await.unwrap()).is_empty());
        assert!(places(&self.table_at(1).await.get("place", CUT..200).await.unwrap()).is_empty());
        let owned: Vec<_> = (0..2).map(|place| self.dendrite(place).owned()).collect();
        let expected = [0, 1].map(|range| vec![lacuna_range_cache::RangeId(range)]);
        assert_eq!(owned, expected);
    }

    pub(crate) async fn stop(self) {
        for server in self.servers {
            server.stop().await;
        }
        self.cache.stop().await.unwrap();
    }
}

pub(crate) fn slot(id: i64, place: i64) -> [(&'static str, SqlValue); 3] {
    [("id", id.into()), ("place", place.into()), ("name", "x".into())]
}

pub(crate) fn places(rows: &Rows) -> Vec<i64> {
    rows.iter().map(|row| row.integer("place").unwrap()).collect()
}
