//! The fence against writes of an old owner, under every isolation level that a server may be set to.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_cache_protocol::ports::DataStore as _;
use lacuna_cache_protocol::{Epoch, RangeId, StoreCall, StoreReply};
use lacuna_testkit::servers::{MariaDb, Postgres};

use super::{Buffering, FencedTable, Slots, prepare, range_of};
use crate::sql::database::{Database, Dialect, FailureKind, describe};
use crate::sql::schema::Schema;
use crate::sql::select::Sql;
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::{Effect, Shape, SqlWrite, Statement};
use crate::sql::{DomainType, database};

/// How long a busy machine may take for a step that is usually instant.
const AT_MOST: Duration = Duration::from_secs(120);

const OLD: Epoch = Epoch(1);
const NEW: Epoch = Epoch(2);

struct World {
    table: Arc<FencedTable>,
    range: RangeId,
}

impl World {
    async fn open(url: &str) -> Self {
        let database = database::open(url).await.unwrap();
        prepare(&*database).await.unwrap();
        let sql = "DROP TABLE IF EXISTS things; CREATE TABLE things (id BIGINT PRIMARY KEY, value BIGINT); \
                   INSERT INTO things VALUES (1, 10), (2, 20)";
        database.run(sql).await.unwrap();
        let range = range_of(&*database, "things").await.unwrap();
        database.run("UPDATE lacuna_fence SET epoch = 0").await.unwrap();
        let described = describe(&*database, "things").await.unwrap();
        let schema =
            Schema::new("things", "id").with_domain("value", DomainType::Integer).with_columns(described);
        let table = FencedTable {
            database,
            schema: Arc::new(schema.unwrap()),
            buffering: Buffering::No,
            slots: Slots::default(),
            mark: None,
            _watchdog: None,
            _lock: None,
        };
        let world = Self { table: Arc::new(table), range };
        assert!(matches!(world.call(OLD, StoreCall::Fence).await, StoreReply::State(_)));
        world
    }

    fn database(&self) -> &dyn Database {
        &*self.table.database
    }

    async fn call(&self, epoch: Epoch, call: StoreCall) -> StoreReply {
        self.table.call(self.range, epoch, call).await.unwrap().reply
    }

    /// What raises, or lowers, the fences of all ranges.
    fn raising(&self, epoch: Epoch) -> Vec<String> {
        let mut tables = vec!["lacuna_fence"];
        tables.extend(self.database().dialect().has_slots().then_some("lacuna_slot"));
        tables.iter().map(|table| format!("UPDATE {table} SET epoch = {}", epoch.0)).collect()
    }

    /// A write of each shape: an update, an insertion, a deletion, and SQL of the application.
    fn writes(&self) -> Vec<StoreCall> {
        let sql = |text: &str, values: [i64; 2], between: &str| {
            let mut sql = Sql::new(self.database().dialect());
            sql.text(text).value(&values[0].into()).text(between).value(&values[1].into());
            sql
        };
        let set = || sql("UPDATE things SET value = ", [99, 1], " WHERE id = ");
        let statements = [
            set().into_statement(Shape::Condition),
            sql("INSERT INTO things (id, value) SELECT ", [3, 30], ", ").into_statement(Shape::Values),
            sql("DELETE FROM things WHERE id = ", [2, 20], " AND value = ").into_statement(Shape::Condition),
            set().into_statement(Shape::Own),
        ];
        let write = |statement: Statement| SqlWrite {
            fingerprint: 0,
            statements: vec![statement.expecting(1)],
            effect: Effect::Unknown,
        };
        statements.map(|statement| StoreCall::Write(write(statement).command())).to_vec()
    }

    /// Waits until this many statements wait for locks of others.
    async fn waits(&self, wanted: i64) {
        let sql = match self.database().dialect() {
            Dialect::Postgres => "SELECT COUNT(*) FROM pg_locks WHERE NOT granted",
            _ => "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'",
        };
        let start = Instant::now();
        loop {
            // MariaDB repeats its last answer to a query within a tenth of a second.
            tokio::time::sleep(Duration::from_millis(250)).await;
            let found = self.database().query(&Statement::new(sql)).await.unwrap();
            let [SqlValue::Integer(waiting)] = found[0][..] else { panic!("{found:?} is no number") };
            if waiting >= wanted {
                return;
            }
            assert!(start.elapsed() < AT_MOST, "{waiting} of {wanted} wait");
        }
    }

    async fn rows(&self) -> Vec<Vec<SqlValue>> {
        self.database().query(&Statement::new("SELECT id, value FROM things ORDER BY id")).await.unwrap()
    }
}

fn untouched() -> Vec<Vec<SqlValue>> {
    vec![vec![1.into(), 10.into()], vec![2.into(), 20.into()]]
}

/// After the fence is raised, and while it is being raised, writes of the old epoch wait and change nothing (P3).
async fn old_writes_change_nothing(url: &str) {
    let world = World::open(url).await;
    for write in world.writes() {
        for sql in world.raising(OLD) {
            world.database().run(&sql).await.unwrap();
        }
        let mut raising = world.database().begin().await.unwrap();
        for sql in world.raising(NEW) {
            raising.execute(&Statement::new(sql)).await.unwrap();
        }
        let table = Arc::clone(&world.table);
        let (range, late) = (world.range, write.clone());
        let late = tokio::spawn(async move { table.call(range, OLD, late).await.unwrap().reply });
        world.waits(1).await;
        assert!(!late.is_finished(), "it waits for the fence: {write:?}");
        raising.commit().await.unwrap();
        let reply = late.await.unwrap();
        // A serialization failure is an answer, too: the repeated write is refused by the fence.
        assert!(matches!(reply, StoreReply::Fenced | StoreReply::Refused { retry: true, .. }), "{reply:?}");
        assert_eq!(world.call(OLD, write).await, StoreReply::Fenced);
        assert_eq!(world.rows().await, untouched());
    }
    // Under the new epoch each of them is executed once.
    let [set, insert, delete, _] = &world.writes()[..] else { panic!("four writes") };
    for write in [set, insert, delete] {
        assert_eq!(world.call(NEW, write.clone()).await, StoreReply::Done);
    }
    let rows = world.rows().await;
    assert_eq!(rows, [vec![1.into(), 99.into()], vec![3.into(), 30.into()]]);
    let again = world.call(NEW, delete.clone()).await;
    assert_eq!(
        again,
        StoreReply::Refused { lsn: None, retry: false },
        "nothing is there, and the fence stands"
    );
    world.database().close().await;
}

/// Raising the fence waits for a write of the old epoch that is in flight, which itself waits for a row here.
async fn a_new_owner_waits_for_writes_in_flight(url: &str) {
    let world = World::open(url).await;
    let [set, ..] = &world.writes()[..] else { panic!("four writes") };
    let mut row = world.database().begin().await.unwrap();
    row.execute(&Statement::new("UPDATE things SET value = 11 WHERE id = 1")).await.unwrap();
    let spawn = |epoch, call: StoreCall| {
        let (table, range) = (Arc::clone(&world.table), world.range);
        tokio::spawn(async move { table.call(range, epoch, call).await.unwrap().reply })
    };
    let write = spawn(OLD, set.clone());
    // A write that comes after the fence is refused.
    world.waits(1).await;
    let fence = spawn(NEW, StoreCall::Fence);
    world.waits(2).await;
    assert!(!write.is_finished() && !fence.is_finished());
    row.rollback().await;
    assert!(matches!(fence.await.unwrap(), StoreReply::State(_)));
    assert_eq!(world.rows().await[0], [1.into(), 99.into()], "it was over before the fence was raised");
    assert_eq!(write.await.unwrap(), StoreReply::Done);
    world.database().close().await;
}

/// Multixacts that the server has used.
async fn multixacts(database: &dyn Database) -> i64 {
    database.run("CHECKPOINT").await.unwrap();
    let sql = "SELECT next_multixact_id::text::bigint FROM pg_control_checkpoint()";
    let found = database.query(&Statement::new(sql)).await.unwrap();
    let [SqlValue::Integer(next)] = found[0][..] else { panic!("{found:?} is no number") };
    next
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_at_once_cost_postgres_no_multixacts() {
    const WRITERS: i64 = 16;
    const WRITES: i64 = 100;
    let Some(server) = Postgres::start() else { return };
    let world = World::open(&server.url()).await;
    let fill = format!("INSERT INTO things SELECT n, 0 FROM generate_series(100, {}) n", 100 + WRITERS);
    world.database().run(&fill).await.unwrap();
    let before = multixacts(world.database()).await;
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let (table, range) = (Arc::clone(&world.table), world.range);
        writers.spawn(async move {
            for write in 0..WRITES {
                let shape = if write % 2 == 0 { Shape::Condition } else { Shape::Own };
                let mut sql = Sql::new(table.database.dialect());
                sql.text("UPDATE things SET value = ").value(&write.into());
                sql.text(" WHERE id = ").value(&(100 + writer).into());
                let statements = vec![sql.into_statement(shape).expecting(1)];
                let write = SqlWrite { fingerprint: 0, statements, effect: Effect::Unknown }.command();
                let reply = table.call(range, OLD, StoreCall::Write(write)).await.unwrap().reply;
                assert_eq!(reply, StoreReply::Done);
            }
        });
    }
    while let Some(writer) = writers.join_next().await {
        writer.unwrap();
    }
    let used = multixacts(world.database()).await - before;
    println!("{used} multixacts in {} writes", WRITERS * WRITES);
    assert!(used * 1_000 <= WRITERS * WRITES, "{used} multixacts");
    world.database().close().await;
}

/// Cuts every other connection of the server.
async fn cut_all(database: &dyn Database) {
    let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
               WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";
    drop(database.query(&Statement::new(sql)).await);
}

/// One more than `value` in a row of its own, until the fence is newer: how many were done, and may have been.
async fn count_up(table: Arc<FencedTable>, range: RangeId, id: i64) -> (i64, i64, i64) {
    let (mut done, mut unknown) = (0, 0);
    loop {
        let mut sql = Sql::new(table.database.dialect());
        sql.text("UPDATE things SET value = value + 1 WHERE id = ").value(&id.into());
        let statements = vec![sql.into_statement(Shape::Own).expecting(1)];
        let write = SqlWrite { fingerprint: 0, statements, effect: Effect::Unknown }.command();
        match table.call(range, OLD, StoreCall::Write(write)).await.map(|answer| answer.reply) {
            Ok(StoreReply::Done) => done += 1,
            Ok(StoreReply::Fenced) => return (id, done, unknown),
            _ => unknown += 1,
        }
    }
}

/// More writers than slots, some of whose connections are cut in the middle: none writes after the fence was raised,
/// no write is counted twice, and all slots are free again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_writers_than_slots_are_fenced_though_connections_are_cut() {
    const WRITERS: i64 = 96;
    let Some(server) = Postgres::start() else { return };
    let world = World::open(&server.url()).await;
    let knife = database::open(&server.url()).await.unwrap();
    let fill = format!("INSERT INTO things SELECT n, 0 FROM generate_series(100, {}) n", 99 + WRITERS);
    world.database().run(&fill).await.unwrap();
    let mut writers = tokio::task::JoinSet::new();
    for id in 100..100 + WRITERS {
        writers.spawn(count_up(world.table.clone(), world.range, id));
    }
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cut_all(&*knife).await;
    }
    while !matches!(
        world.table.call(world.range, NEW, StoreCall::Fence).await.map(|answer| answer.reply),
        Ok(StoreReply::State(_))
    ) {}
    let fenced = world.rows().await;
    let counted = tokio::time::timeout(AT_MOST, writers.join_all()).await.expect("old writers are fenced");
    assert_eq!(world.rows().await, fenced, "writes after the fence");
    let (mut all_done, mut all_unknown) = (0, 0);
    for (id, done, unknown) in counted {
        let row = fenced.iter().find(|row| row[0] == id.into()).unwrap();
        let SqlValue::Integer(value) = row[1] else { panic!("{row:?}") };
        assert!(
            (done..=done + unknown).contains(&value),
            "row {id}: {value}, {done} done, {unknown} unknown"
        );
        (all_done, all_unknown) = (all_done + done, all_unknown + unknown);
    }
    println!("{WRITERS} writers: {all_done} writes done, {all_unknown} with unknown outcome");
    assert!(all_done > WRITERS && all_unknown > 0, "connections were cut in the middle");
    assert!(world.table.slots.are_free(), "slots are given back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_fence_of_postgres_holds_under_every_isolation_level() {
    let Some(server) = Postgres::start() else { return };
    failures_say_what_became_of_a_write(&server.url(), |code| {
        format!("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{code}'; END $$")
    })
    .await;
    fences_outlive_a_server_that_forgets_commits(&server.url()).await;
    for level in ["read committed", "repeatable read", "serializable"] {
        let database = database::open(&server.url()).await.unwrap();
        let set = format!("ALTER ROLE CURRENT_USER SET default_transaction_isolation = '{level}'");
        database.run(&set).await.unwrap();
        database.close().await;
        old_writes_change_nothing(&server.url()).await;
        a_new_owner_waits_for_writes_in_flight(&server.url()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_fence_of_mariadb_holds_under_every_isolation_level() {
    let Some(server) = MariaDb::start() else { return };
    failures_say_what_became_of_a_write(&server.url(), |code| match code {
        // The class of a code means nothing there.
        "25P03" => "SIGNAL SQLSTATE '25006' SET MYSQL_ERRNO = 1792".to_owned(),
        "57P01" => "SIGNAL SQLSTATE '70100' SET MYSQL_ERRNO = 1317".to_owned(),
        "42501" | "55000" => "SIGNAL SQLSTATE '42000' SET MYSQL_ERRNO = 1142".to_owned(),
        code => format!("SIGNAL SQLSTATE '{code}'"),
    })
    .await;
    for level in ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"] {
        let database = database::open(&server.url()).await.unwrap();
        database.run(&format!("SET GLOBAL TRANSACTION ISOLATION LEVEL {level}")).await.unwrap();
        database.close().await;
        old_writes_change_nothing(&server.url()).await;
        a_new_owner_waits_for_writes_in_flight(&server.url()).await;
    }
}

/// A connection that is ended may have committed; a login or a transaction that timed out may succeed later; a
/// value that an index cannot hold never will.
async fn failures_say_what_became_of_a_write(url: &str, raise: impl Fn(&str) -> String) {
    let database = database::open(url).await.unwrap();
    let kinds = [
        ("57P01", FailureKind::Unknown),
        ("25P03", FailureKind::Later),
        ("28000", FailureKind::Later),
        ("42501", FailureKind::Denied),
        ("55000", FailureKind::Denied),
        ("54000", FailureKind::Never),
        ("23505", FailureKind::Never),
    ];
    for (code, expected) in kinds {
        let failure = database.run(&raise(code)).await.unwrap_err();
        assert_eq!(failure.kind, expected, "{code}: {}", failure.error);
    }
    database.close().await;
}

/// Even if commits are not waited for (`synchronous_commit = off`), a raised fence is on disk.
async fn fences_outlive_a_server_that_forgets_commits(url: &str) {
    let database = database::open(url).await.unwrap();
    database.run("ALTER SYSTEM SET wal_writer_delay = '10s'").await.unwrap();
    database.run("ALTER SYSTEM SET synchronous_commit = 'off'").await.unwrap();
    database.run("SELECT pg_reload_conf()").await.unwrap();
    database.close().await;
    let world = World::open(url).await;
    let behind = "SELECT (pg_current_wal_insert_lsn() - pg_current_wal_flush_lsn())::bigint";
    let mut is_seen = false;
    for _ in 0..100 {
        // Other sessions write, too: the last record is that of the fence.
        world.database().run("UPDATE things SET value = value + 1").await.unwrap();
        let open = world.database().query(&Statement::new(behind)).await.unwrap();
        is_seen |= open != [vec![SqlValue::Integer(0)]];
        let before =
            world.database().query(&Statement::new("SELECT pg_current_wal_insert_lsn()::text")).await;
        let before = before.unwrap().remove(0).remove(0);
        assert!(matches!(world.call(OLD, StoreCall::Fence).await, StoreReply::State(_)));
        let flushed = Statement::new("SELECT (pg_current_wal_flush_lsn() > $1::pg_lsn)::int::bigint").with(
            match before {
                SqlValue::Text(text) => text,
                other => panic!("{other:?} is no place in a log"),
            },
        );
        assert_eq!(world.database().query(&flushed).await.unwrap(), [vec![SqlValue::Integer(1)]]);
    }
    assert!(is_seen, "commits are waited for, and this shows nothing");
    world.database().run("ALTER SYSTEM RESET ALL").await.unwrap();
    world.database().run("SELECT pg_reload_conf()").await.unwrap();
    world.database().close().await;
}

/// What fails before the first statement of a write says nothing of the write: it is tried again, and not given up.
async fn a_missing_fence_refuses_no_write_for_good(url: &str) {
    let world = World::open(url).await;
    let [StoreCall::Write(command), ..] = &world.writes()[..] else { panic!("four writes") };
    let apply = StoreCall::Apply(vec![(1, Some(command.clone()))]);
    world.database().run("ALTER TABLE lacuna_fence RENAME TO kept").await.unwrap();
    assert_eq!(world.call(OLD, apply.clone()).await, StoreReply::Refused { lsn: Some(1), retry: true });
    world.database().run("ALTER TABLE kept RENAME TO lacuna_fence").await.unwrap();
    assert_eq!(world.call(OLD, apply).await, StoreReply::Done);
    assert_eq!(world.rows().await[0], [1.into(), 99.into()]);
    world.database().close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn buffered_writes_wait_while_their_fence_is_missing() {
    a_missing_fence_refuses_no_write_for_good("sqlite::memory:").await;
    if let Some(server) = Postgres::start() {
        a_missing_fence_refuses_no_write_for_good(&server.url()).await;
    }
    if let Some(server) = MariaDb::start() {
        a_missing_fence_refuses_no_write_for_good(&server.url()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn buffered_writes_wait_while_mariadb_takes_no_more_connections() {
    let Some(server) = MariaDb::start() else { return };
    let world = World::open(&server.url()).await;
    let user =
        "CREATE USER few@'127.0.0.1' WITH MAX_USER_CONNECTIONS 2; GRANT ALL ON test.* TO few@'127.0.0.1'";
    world.database().run(user).await.unwrap();
    let few = database::open(&server.url().replacen("root@", "few@", 1)).await.unwrap();
    let table = FencedTable {
        database: few.clone(),
        schema: world.table.schema.clone(),
        buffering: Buffering::Whole,
        slots: Slots::default(),
        mark: None,
        _watchdog: None,
        _lock: None,
    };
    let mut held = Vec::new();
    while held.len() < 2 {
        held.extend(few.begin().await.ok());
    }
    let writes = world.writes();
    let [StoreCall::Write(command), ..] = &writes[..] else { panic!("four writes") };
    let apply = StoreCall::Apply(vec![(1, Some(command.clone()))]);
    for (call, lsn) in [(apply, Some(1)), (writes[0].clone(), None)] {
        let answer = table.call(world.range, OLD, call).await.unwrap();
        assert_eq!(answer.reply, StoreReply::Refused { lsn, retry: true }, "{:?}", answer.why);
    }
    drop(held);
    few.close().await;
    world.database().close().await;
}
