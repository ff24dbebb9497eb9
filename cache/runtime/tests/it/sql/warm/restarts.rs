//! A program that is started again, in order or not.

use std::sync::Arc;

use lacuna_cache::sql::{Compressed, Hashed, Options, Policy};
use lacuna_testkit::servers::Redis;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::{Lock, Program, World, answer_to, evict, keys, killed};
use crate::sql::world::Dialect;

const POLICIES: [Policy; 3] = [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack];

/// Results of the last life are hits, without one statement, and follow the writes of the next life.
async fn a_restart_begins_warm_on(dialect: Dialect) {
    for policy in POLICIES {
        let Some(world) = World::new(dialect).and_then(World::with_logs) else { return };
        world.fill(world.warm(policy)).await;
        assert!(world.begun(world.cold(policy)).await > 5, "{policy:?}: without the option it is cold");
        world.begun(world.warm(policy)).await;
        // The database was open in memory meanwhile, which is another tenure: that one is cold, and the next one warm.
        let program = Program::open(world.warm(policy)).await;
        program.rows().await;
        program.stop().await;
        let program = Program::open(world.warm(policy)).await;
        let rows = program.rows().await;
        let counts = program.people.counts();
        assert_eq!(counts.store_queries, 0, "{dialect:?}, {policy:?}: {counts:?}");
        program.note(3..=5, 7).await;
        let changed = program.rows().await;
        assert!(changed != rows && program.rows().await == changed);
        program.stop().await;
        let program = Program::open(world.warm(policy)).await;
        assert_eq!(program.rows().await, changed, "{dialect:?}, {policy:?}");
        program.note(3..=5, 8).await;
        program.stop().await;
        world.begun(world.warm(policy)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_over_sqlite_begins_warm() {
    a_restart_begins_warm_on(Dialect::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_over_postgres_begins_warm() {
    a_restart_begins_warm_on(Dialect::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_over_mariadb_begins_warm() {
    a_restart_begins_warm_on(Dialect::MariaDb).await;
}

/// A program that has read the rows that it is about to write.
struct Life {
    task: JoinHandle<()>,
    go: oneshot::Sender<()>,
}

impl Life {
    /// The rows that are written must be shown, and a lock that is taken afterwards must not hold up the start.
    async fn begin(world: &World) -> Self {
        let (sender, is_ready) = oneshot::channel::<()>();
        let (go, may_go) = oneshot::channel::<()>();
        let task = tokio::spawn(killed(world.warm(Policy::WriteBack), async move |program: &Program| {
            program.rows().await;
            sender.send(()).unwrap();
            may_go.await.unwrap();
            program.note(3..=5, 7).await;
        }));
        is_ready.await.unwrap();
        Self { task, go }
    }

    /// Lets it write, after which it is killed.
    async fn write(self) {
        self.go.send(()).unwrap();
        self.task.await.unwrap();
    }
}

/// The program is killed with acknowledged writes that the database does not have, and its last script is lost: entries in the
/// cache server lack these writes, too. Returns the sum of what is seen of them afterwards.
async fn seen_of_acknowledged_writes(
    dialect: Dialect,
    options: impl Fn(Options) -> Options,
) -> Option<usize> {
    let world = World::new(dialect)?;
    // SQLite has a log beside its file.
    let world = if dialect == Dialect::Sqlite { world } else { world.with_logs()? };
    world.fill(world.warm(Policy::WriteBack)).await;
    let life = Life::begin(&world).await;
    let values = keys(&world.cache, "*:v:*").await;
    let mut before = Vec::new();
    for value in &values {
        before.push(answer_to::<Vec<u8>>(&world.cache, "DUMP", &[value]).await);
    }
    let mut lock = Lock::take(&world, "people").await;
    life.write().await;
    assert_eq!(lock.count(7).await, 0, "the database has none of them");
    for (value, bytes) in values.iter().zip(&before) {
        answer_to::<String>(&world.cache, "RESTORE", &[value, b"3600000", bytes, b"REPLACE"]).await;
    }
    lock.release().await;
    let program = Program::open(options(world.warm(Policy::WriteBack))).await;
    let kept = program.people.get("weight", 60..=75).await.unwrap().len();
    assert!(kept > 0 && program.people.counts().store_queries == 0, "what they leave alone is warm");
    let rows = program.people.get("age", 0..=5).await.unwrap();
    let seen = rows.iter().filter(|row| row.integer("note") == Some(7)).count();
    program.stop().await;
    Some(seen)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_writes_of_a_killed_program_are_seen() {
    for dialect in [Dialect::Sqlite, Dialect::Postgres] {
        let Some(seen) = seen_of_acknowledged_writes(dialect, |options| options).await else { return };
        assert_eq!(seen, 6, "{dialect:?}");
    }
}

/// The control.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_look_at_the_log_they_are_not() {
    let flawed = |options: Options| options.with_flaw(lacuna_cache_protocol::Flaw::WarmUnpatched);
    let Some(seen) = seen_of_acknowledged_writes(Dialect::Sqlite, flawed).await else { return };
    assert_eq!(seen, 0);
}

/// The log of writes is not there any more: what an entry shows of them is nowhere else.
///
/// Planted: `recover` that does not begin cold where no log is whole. The entries showed rows that the database does not have.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entries_do_not_show_writes_that_were_lost_with_their_log() {
    let Some(world) = World::new(Dialect::Postgres).and_then(World::with_logs) else { return };
    world.fill(world.warm(Policy::WriteBack)).await;
    let life = Life::begin(&world).await;
    let lock = Lock::take(&world, "people").await;
    life.write().await;
    lock.release().await;
    let Some(world) = world.with_logs() else { return };
    world.begun(world.warm(Policy::WriteBack)).await;
}

/// In several servers there is no log of entries: the next program begins cold. Compressed results are taken over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn compressed_results_are_taken_over_and_shared_ones_are_not() {
    for dialect in [Dialect::Sqlite, Dialect::Postgres] {
        let Some(world) = World::new(dialect) else { return };
        let Some(other) = Redis::cache() else { return };
        let compressed = || {
            let server = Arc::new(Compressed::new(Arc::new(world.redis())));
            world.bare(Policy::WriteThrough).with_cache_server(server).with_warm_start()
        };
        let hashed = || {
            let servers = [&world.cache, &other].map(super::redis);
            let servers =
                servers.map(|server| Arc::new(server) as Arc<dyn lacuna_cache_protocol::ports::CacheServer>);
            let server = Arc::new(Hashed::new(servers.into()).unwrap());
            world.bare(Policy::WriteThrough).with_cache_server(server).with_warm_start()
        };
        world.fill(compressed()).await;
        // Each method reads what the other has left.
        let zlib = Arc::new(Compressed::with_zlib(Arc::new(world.redis()), 6));
        let zlib = world.bare(Policy::WriteThrough).with_cache_server(zlib).with_warm_start();
        let program = Program::open(zlib).await;
        program.rows().await;
        assert_eq!(program.people.counts().store_queries, 0, "{dialect:?}");
        program.note(3..=5, 7).await;
        program.stop().await;
        assert!(world.begun(compressed()).await < 5);
        let program = Program::open(hashed()).await;
        program.rows().await;
        program.note(3..=5, 8).await;
        program.stop().await;
        assert!(world.begun(hashed()).await > 5);
        assert!(world.begun(compressed()).await > 5);
    }
}

/// A program over a database in memory, which is another one after each start.
///
/// Planted: `keeps_log` without a look at the URL. The second program showed rows of the first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_in_memory_begins_cold() {
    let Some(server) = Redis::cache() else { return };
    for note in 1..3 {
        let options = crate::sql::world::patient("sqlite::memory:").with_warm_start();
        let cache = options.with_cache_server(Arc::new(super::redis(&server))).open().await.unwrap();
        cache
            .run_sql("CREATE TABLE people (id BIGINT PRIMARY KEY, age BIGINT, weight BIGINT, note BIGINT)")
            .await
            .unwrap();
        let sql = format!("INSERT INTO people VALUES (1, 1, 1, {note})");
        cache.run_sql(&sql).await.unwrap();
        let people = cache.table(super::schema()).await.unwrap();
        let rows = people.get("age", 0..=9).await.unwrap();
        assert_eq!(rows[0].integer("note"), Some(note));
        cache.stop().await.unwrap();
        // Another database in one namespace: its operator empties the server.
        let all = keys(&server, "*").await;
        assert!(keys(&server, "*:p:*").await.is_empty(), "no log of entries is kept");
        evict(&server, &all).await;
    }
}
