//! Programs that begin with what the last one has left in the cache server, and everything that may have happened in between.

mod between;
mod cache_servers;
mod definitions;
mod kills;
mod lock;
mod restarts;

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_cache::redis::{RedisCache, RedisLog};
use lacuna_cache::sql::{Cache, DomainType, ErrorKind, Options, Policy, Rows, Schema, SqlValue, Table};
use lacuna_testkit::servers::{MariaDb, Postgres, Redis};

use lock::Lock;

use crate::sql::world::{AT_MOST, Dialect, patient};

/// Rows of the table in the beginning.
const ROWS: i64 = 40;

/// A database, a cache server, and maybe logs.
struct World {
    dialect: Dialect,
    url: String,
    cache: Redis,
    logs: Vec<Redis>,
    _database: Box<dyn Any + Send + Sync>,
}

/// A program with the table open.
struct Program {
    cache: Cache,
    people: Table,
}

fn schema() -> Schema {
    Schema::new("people", "id")
        .with_domain("age", DomainType::Integer)
        .with_domain("weight", DomainType::Integer)
}

fn row(id: i64) -> [(&'static str, SqlValue); 4] {
    [("id", id.into()), ("age", (id / 2).into()), ("weight", (100 - id).into()), ("note", 0.into())]
}

impl World {
    fn new(dialect: Dialect) -> Option<Self> {
        let (url, database): (String, Box<dyn Any + Send + Sync>) = match dialect {
            Dialect::Sqlite => {
                let folder = tempfile::tempdir().unwrap();
                (format!("sqlite:{}", folder.path().join("app.db").display()), Box::new(folder))
            }
            Dialect::Postgres => {
                let server = Postgres::start()?;
                (server.url(), Box::new(server))
            }
            Dialect::MariaDb => {
                let server = MariaDb::start()?;
                (server.url(), Box::new(server))
            }
        };
        let cache = Redis::with(&["--save", "", "--appendonly", "no"])?;
        Some(Self { dialect, url, cache, logs: Vec::new(), _database: database })
    }

    fn with_logs(mut self) -> Option<Self> {
        self.logs = vec![Redis::log()?];
        Some(self)
    }

    fn redis(&self) -> RedisCache {
        redis(&self.cache)
    }

    /// Options without a cache server of their own.
    fn bare(&self, policy: Policy) -> Options {
        let log = |log: &Redis| Arc::new(RedisLog::new(&log.url(), "warm").unwrap());
        let options = patient(&self.url).with_policy(policy);
        self.logs.iter().map(log).fold(options, |options, log| options.with_log_server(log))
    }

    /// Options with the cache server, that begin with an empty cache.
    fn cold(&self, policy: Policy) -> Options {
        self.bare(policy).with_cache_server(Arc::new(self.redis()))
    }

    /// The options that are tested.
    fn warm(&self, policy: Policy) -> Options {
        self.cold(policy).with_warm_start()
    }

    /// Runs SQL while no program has the table open.
    async fn run(&self, sql: &str) {
        let cache = opened(patient(&self.url)).await;
        cache.run_sql(sql).await.unwrap();
        cache.stop().await.unwrap();
    }

    /// The table with its first rows, written and read by a program that leaves in order.
    async fn fill(&self, options: Options) {
        self.run("CREATE TABLE people (id BIGINT PRIMARY KEY, age BIGINT, weight BIGINT, note BIGINT)").await;
        let program = Program::open(options).await;
        for id in 0..ROWS {
            program.people.insert(row(id)).await.unwrap();
        }
        let rows = program.rows().await;
        assert_eq!(program.rows().await, rows);
        program.stop().await;
    }

    /// What a program sees that begins warm, if it may, beside one that asks the database; and how many statements the first
    /// one needed.
    async fn begun(&self, options: Options) -> u64 {
        self.begun_as(options, schema()).await
    }

    async fn begun_as(&self, options: Options, schema: Schema) -> u64 {
        let program = Program::open_as(options, schema.clone()).await;
        let rows = program.rows().await;
        let statements = program.people.counts().store_queries;
        assert_eq!(program.rows().await, rows, "the second time");
        assert!(program.people.counts().hits > 0, "{:?}", program.people.counts());
        program.stop().await;
        let other = Program::open_as(self.bare(Policy::WriteThrough), schema).await;
        assert_eq!(rows, other.rows().await, "{:?}: not what the database has", self.dialect);
        other.stop().await;
        statements
    }
}

/// A cache server that a busy machine does not lose.
fn redis(server: &Redis) -> RedisCache {
    RedisCache::new(&server.url(), "warm").unwrap().with_patience(AT_MOST)
}

impl Program {
    async fn open(options: Options) -> Self {
        Self::open_as(options, schema()).await
    }

    async fn open_as(options: Options, schema: Schema) -> Self {
        let cache = opened(options).await;
        let people = cache.table(schema).await.unwrap();
        Self { cache, people }
    }

    /// Results of several forms and both registered columns.
    async fn rows(&self) -> Vec<Rows> {
        let mut all = Vec::new();
        for lo in (0..ROWS / 2).step_by(4) {
            all.push(self.people.get("age", lo..=lo + 5).await.unwrap());
        }
        all.push(self.people.first("age", 3.., 5).await.unwrap());
        all.push(self.people.last("weight", ..=90, 5).await.unwrap());
        all.push(self.people.get("weight", 60..=75).await.unwrap());
        all
    }

    /// Sets the note of every row of these ages.
    async fn note(&self, ages: std::ops::RangeInclusive<i64>, note: i64) {
        for row in self.people.get("age", ages).await.unwrap() {
            self.people.update(&row, [("note", note.into())]).await.unwrap();
        }
    }

    async fn stop(self) {
        self.cache.stop().await.unwrap();
    }
}

/// The database, once processes that this one is starting no longer have its files open.
async fn opened(options: Options) -> Cache {
    let start = Instant::now();
    loop {
        match options.clone().open().await {
            Ok(cache) => return cache,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
        }
        assert!(start.elapsed() < AT_MOST, "the database stays locked");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Runs a program in a runtime of its own, which ends in the middle of everything: nothing is closed.
async fn killed<F>(options: Options, work: F)
where
    F: AsyncFnOnce(&Program) + Send + 'static,
{
    let life = move || {
        let build = |mut builder: tokio::runtime::Builder| builder.enable_all().build().unwrap();
        let runtime = build(tokio::runtime::Builder::new_multi_thread());
        let program = runtime.block_on(async {
            let program = Program::open(options).await;
            work(&program).await;
            program
        });
        runtime.shutdown_timeout(Duration::from_secs(20));
        // Its connections expect some runtime when they are dropped; the owners are gone already.
        let other = build(tokio::runtime::Builder::new_current_thread());
        let _guard = other.enter();
        drop(program);
    };
    tokio::task::spawn_blocking(life).await.unwrap();
}

/// Sends a command to the cache server.
async fn answer_to<T: redis::FromRedisValue>(server: &Redis, command: &str, arguments: &[&[u8]]) -> T {
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    redis::cmd(command).arg(arguments).query_async(&mut connection).await.unwrap()
}

/// The keys of this pattern.
async fn keys(server: &Redis, pattern: &str) -> Vec<Vec<u8>> {
    answer_to(server, "KEYS", &[pattern.as_bytes()]).await
}

/// Removes some keys, as an eviction does.
async fn evict(server: &Redis, keys: &[Vec<u8>]) {
    assert!(!keys.is_empty(), "there is something to evict");
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    answer_to::<i64>(server, "DEL", &keys).await;
}
