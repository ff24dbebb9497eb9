//! Processes whose user of the database may not create tables, or may not make every write.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_cache::sql::{Cache, DomainType, Notice, Options, Schema, Table, WriteError};
use lacuna_cache_protocol::{ErrorKind, Policy};
use lacuna_testkit::servers::{MariaDb, Postgres};

use crate::sql::certainty::CountingLog;
use crate::sql::plain::Plain;
use crate::sql::world::{AT_MOST, patient};

fn schema() -> Schema {
    Schema::new("people", "id").with_domain("age", DomainType::Integer)
}

/// The database as another user sees it.
fn as_user(server: &Postgres, user: &str) -> Options {
    patient(server.url().replacen("postgres@", &format!("{user}@"), 1))
}

async fn insert(table: &Table, id: i64) {
    table.insert([("id", id.into()), ("age", 20.into())]).await.unwrap();
}

/// A database with a table, and a user who may read and write it but create nothing.
async fn prepared(server: &Postgres) -> Cache {
    let admin = patient(server.url()).open().await.unwrap();
    let sql = "CREATE TABLE people (id BIGINT PRIMARY KEY, age BIGINT); CREATE ROLE worker LOGIN; \
               REVOKE CREATE ON SCHEMA public FROM PUBLIC; GRANT ALL ON people TO worker";
    admin.run_sql(sql).await.unwrap();
    admin
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_uses_the_tables_that_an_administrator_made() {
    let Some(server) = Postgres::start() else { return };
    let admin = prepared(&server).await;
    let worker = as_user(&server, "worker").open().await.expect("opening creates nothing");
    let refused = worker.table(schema()).await.unwrap_err();
    assert!(refused.to_string().contains("CREATE TABLE IF NOT EXISTS lacuna_fence"), "{refused}");
    // Registering the table once makes what is missing.
    drop(admin.table(schema()).await.unwrap());
    admin.run_sql("GRANT ALL ON lacuna_fence, lacuna_slot, lacuna_lease TO worker").await.unwrap();
    admin.stop().await.unwrap();
    let people = worker.table(schema()).await.unwrap();
    insert(&people, 1).await;
    assert_eq!(people.get("age", 18..=22).await.unwrap().len(), 1);
    worker.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn caches_share_connections_and_nothing_else() {
    let Some(server) = Postgres::start() else { return };
    let first = prepared(&server).await;
    let other = patient("postgres://postgres@127.0.0.1:1/other");
    assert_eq!(first.beside(other).await.unwrap_err().kind(), ErrorKind::InvalidInput);
    let second = first.beside(patient(server.url())).await.unwrap();
    first.run_sql("CREATE TABLE orders (id BIGINT PRIMARY KEY, age BIGINT)").await.unwrap();
    let people = first.table(schema()).await.unwrap();
    let orders = Schema::new("orders", "id").with_domain("age", DomainType::Integer);
    let orders = second.table(orders).await.unwrap();
    insert(&people, 1).await;
    insert(&orders, 1).await;
    insert(&orders, 2).await;
    for _ in 0..2 {
        assert_eq!(people.get("age", 18..=22).await.unwrap().len(), 1);
        assert_eq!(orders.get("age", 18..=22).await.unwrap().len(), 2);
    }
    assert_eq!((first.counts().reads, second.counts().reads), (2, 2));
    second.stop().await.unwrap();
    insert(&people, 2).await;
    assert_eq!(people.get("age", 18..=22).await.unwrap().len(), 2, "the connections are open");
    first.stop().await.unwrap();
}

/// Which rows a role sees by policies may change without a write of the table.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_with_row_security_are_refused_where_it_applies() {
    let Some(server) = Postgres::start() else { return };
    let admin = prepared(&server).await;
    let policy = "ALTER TABLE people ENABLE ROW LEVEL SECURITY; CREATE POLICY grown ON people USING (age > 20); \
                  CREATE UNLOGGED TABLE notes (id BIGINT PRIMARY KEY, age BIGINT)";
    admin.run_sql(policy).await.unwrap();
    drop(admin.table(schema()).await.expect("it does not apply to superusers"));
    let notes = Schema::new("notes", "id").with_domain("age", DomainType::Integer);
    let refused = admin.table(notes).await.unwrap_err();
    assert!(refused.to_string().contains("unlogged"), "{refused}");
    admin.run_sql("GRANT ALL ON lacuna_fence, lacuna_slot, lacuna_lease TO worker").await.unwrap();
    admin.stop().await.unwrap();
    let worker = as_user(&server, "worker").open().await.unwrap();
    let refused = worker.table(schema()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    assert!(refused.to_string().contains("row security"), "{refused}");
    worker.stop().await.unwrap();
}

#[tokio::test]
async fn a_file_of_sqlite_has_one_cache() {
    let first = patient("sqlite::memory:").open().await.unwrap();
    let refused = first.beside(patient("sqlite::memory:")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    first.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_caches_of_one_process_never_have_one_table() {
    let Some(server) = Postgres::start() else { return };
    let first = prepared(&server).await;
    let second = first.beside(patient(server.url())).await.unwrap();
    let people = first.table(schema()).await.unwrap();
    insert(&people, 1).await;
    // Unless this process stood still for longer than a lease, which then is over for the first.
    if let Err(refused) = second.table(schema()).await {
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        insert(&people, 2).await;
        assert_eq!(people.get("age", 18..=22).await.unwrap().len(), 2, "the first is not disturbed");
    }
    second.stop().await.unwrap();
    first.stop().await.unwrap();
}

/// What a role may do besides reading, and which writes that allows: to set the name of a row, to set its pay, to add a row, and to
/// delete one.
type Case = (&'static str, [bool; 4]);

const CASES: [Case; 5] = [
    ("INSERT, UPDATE, DELETE", [true, true, true, true]),
    ("UPDATE (name)", [true, false, false, false]),
    ("UPDATE, INSERT (id, age, name)", [true, true, false, false]),
    ("INSERT, DELETE", [false, false, true, true]),
    ("INSERT (id, age, name, pay), UPDATE (pay)", [false, true, true, false]),
];

/// The table before a case.
const ROWS: &str =
    "DELETE FROM people; INSERT INTO people VALUES (1, 20, 'Anna', 5), (3, 30, 'Bob', 5), (4, 40, 'Eve', 5)";

/// An allowed write is acknowledged before the database has it; another one gets the error of the database.
async fn is_made(
    log: &CountingLog,
    may: bool,
    what: &str,
    write: impl Future<Output = Result<(), WriteError>>,
) {
    is_made_or_says(log, may, "denied", what, write).await;
}

/// The same, for a write that is refused in these words.
async fn is_made_or_says(
    log: &CountingLog,
    may: bool,
    says: &str,
    what: &str,
    write: impl Future<Output = Result<(), WriteError>>,
) {
    if may {
        assert!(log.has(write).await, "{what}: it waited for the database");
        return;
    }
    let (before, start) = (log.appends(), Instant::now());
    let Err(WriteError::Refused(why)) = write.await else { panic!("{what}: it is not refused") };
    assert!(why.to_string().contains(says), "{what}: {why}");
    assert_eq!(log.appends(), before, "{what}: it was acknowledged");
    assert!(start.elapsed() < AT_MOST, "{what}: {:?}", start.elapsed());
}

/// A user with these rights makes each write under write-back, and the database has what was allowed.
async fn what_is_refused_is_never_acknowledged(plain: &mut Plain, url: &str, (granted, may): Case) {
    plain.run(ROWS).await;
    let log = Arc::new(CountingLog::default());
    let options = patient(url).with_policy(Policy::WriteBack).with_log_server(log.clone());
    let cache = options.open().await.unwrap();
    let people = cache.table(schema().with_domain("id", DomainType::Integer)).await.unwrap();
    let what = |write: &str| format!("{granted}: {write}");
    // Each row is shown before it is written, and so is that there is no second one.
    let row = people.get("id", 0..=9).await.unwrap().remove(0);
    is_made(&log, may[0], &what("name"), people.update(&row, [("name", "Anne".into())])).await;
    let row = people.get("id", 0..=9).await.unwrap().remove(0);
    is_made(&log, may[1], &what("pay"), people.update(&row, [("pay", 9.into())])).await;
    let row = people.get("id", 0..=9).await.unwrap().remove(0);
    let both = people.update(&row, [("name", "Anne".into()), ("pay", 9.into())]);
    is_made(&log, may[0] && may[1], &what("name and pay"), both).await;
    people.get("id", 0..=9).await.unwrap();
    let second = [("id", 2.into()), ("age", 25.into()), ("name", "Cleo".into()), ("pay", 5.into())];
    is_made(&log, may[2], &what("insert"), people.insert(second)).await;
    let row = people.get("id", 3..=3).await.unwrap().remove(0);
    is_made(&log, may[3], &what("delete"), people.delete(&row)).await;
    is_made(&log, may[3], &what("delete a range"), people.delete_range("id", 4..=4)).await;
    cache.stop().await.unwrap();
    let expected = [
        (may[0], "name = 'Anne' AND id = 1"),
        (may[1], "pay = 9 AND id = 1"),
        (may[2], "id = 2"),
        (!may[3], "id = 3"),
        (!may[3], "id = 4"),
    ];
    for (is_there, condition) in expected {
        let found = plain.rows(&format!("SELECT name FROM people WHERE {condition}")).await;
        assert_eq!(!found.is_empty(), is_there, "{granted}: {condition}");
    }
}

const PEOPLE: &str = "CREATE TABLE people (id BIGINT PRIMARY KEY, age BIGINT, name VARCHAR(20), pay BIGINT)";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_postgres_does_not_allow_its_role_is_never_acknowledged() {
    let Some(server) = Postgres::start() else { return };
    let url = server.url();
    let mut admin = Plain::open(&url).await;
    admin.run(PEOPLE).await;
    let first = patient(&url).open().await.unwrap();
    drop(first.table(schema()).await.unwrap());
    first.stop().await.unwrap();
    for (number, case) in CASES.into_iter().enumerate() {
        let user = format!("user{number}");
        let own = "lacuna_fence, lacuna_slot, lacuna_lease";
        let sql = format!(
            "CREATE ROLE {user} LOGIN; GRANT SELECT, INSERT, UPDATE ON {own} TO {user}; \
             GRANT SELECT, {} ON people TO {user}",
            case.0
        );
        admin.run(&sql).await;
        let url = url.replacen("postgres@", &format!("{user}@"), 1);
        what_is_refused_is_never_acknowledged(&mut admin, &url, case).await;
    }
    // By a role that has another, whose rights it inherits.
    admin.run("CREATE ROLE clerk LOGIN IN ROLE user1").await;
    let url = url.replacen("postgres@", "clerk@", 1);
    what_is_refused_is_never_acknowledged(&mut admin, &url, CASES[1]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_mariadb_does_not_allow_its_user_is_never_acknowledged() {
    let Some(server) = MariaDb::start() else { return };
    // Every user has all privileges in the database `test`.
    Plain::open(&server.url()).await.run("CREATE DATABASE shop").await;
    let url = server.url().replace("/test", "/shop");
    let mut admin = Plain::open(&url).await;
    admin.run(PEOPLE).await;
    let first = patient(&url).open().await.unwrap();
    drop(first.table(schema()).await.unwrap());
    first.stop().await.unwrap();
    let (_, rest) = url.split_once('@').expect("a user");
    for (number, case) in CASES.into_iter().enumerate() {
        let user = format!("user{number}@'127.0.0.1'");
        // Without `TRIGGER` it may have triggers that the user does not see, and no write is certain.
        let sql = format!(
            "CREATE USER {user}; GRANT SELECT, INSERT, UPDATE ON shop.lacuna_fence TO {user}; \
             GRANT SELECT, INSERT, UPDATE ON shop.lacuna_lease TO {user}; \
             GRANT SELECT, TRIGGER, {} ON shop.people TO {user}",
            case.0
        );
        admin.run(&sql).await;
        let url = format!("mysql://user{number}@{rest}");
        what_is_refused_is_never_acknowledged(&mut admin, &url, case).await;
    }
    // By a role, of which the catalogue shows its user nothing.
    admin
        .run(
            "CREATE ROLE clerks; GRANT UPDATE (name) ON shop.people TO clerks; CREATE USER clerk@'127.0.0.1'; \
             GRANT clerks TO clerk@'127.0.0.1'; SET DEFAULT ROLE clerks FOR clerk@'127.0.0.1'; \
             GRANT SELECT, INSERT, UPDATE ON shop.lacuna_fence TO clerk@'127.0.0.1'; \
             GRANT SELECT, INSERT, UPDATE ON shop.lacuna_lease TO clerk@'127.0.0.1'; \
             GRANT SELECT, TRIGGER ON shop.people TO clerk@'127.0.0.1'",
        )
        .await;
    what_is_refused_is_never_acknowledged(&mut admin, &format!("mysql://clerk@{rest}"), CASES[1]).await;
}

/// What is done to a table with a primary key, and whether its rows may be updated and deleted then.
type Published = (&'static str, [bool; 2]);

const PUBLISHED: [Published; 12] = [
    ("CREATE PUBLICATION news FOR TABLE people", [true, true]),
    ("CREATE PUBLICATION news FOR ALL TABLES", [true, true]),
    ("ALTER TABLE people REPLICA IDENTITY FULL; CREATE PUBLICATION news FOR TABLE people", [true, true]),
    ("ALTER TABLE people REPLICA IDENTITY NOTHING; CREATE PUBLICATION news FOR TABLE people", [false, false]),
    (
        "ALTER TABLE people REPLICA IDENTITY NOTHING; CREATE PUBLICATION news FOR TABLE people WITH (publish = 'insert')",
        [true, true],
    ),
    (
        "ALTER TABLE people REPLICA IDENTITY NOTHING; CREATE PUBLICATION news FOR TABLE people WITH (publish = 'update')",
        [false, true],
    ),
    (
        "ALTER TABLE people REPLICA IDENTITY NOTHING; CREATE PUBLICATION news FOR TABLE people WITH (publish = 'delete')",
        [true, false],
    ),
    ("ALTER TABLE people REPLICA IDENTITY NOTHING; CREATE PUBLICATION news FOR ALL TABLES", [false, false]),
    (
        "ALTER TABLE people REPLICA IDENTITY NOTHING; CREATE PUBLICATION news FOR TABLES IN SCHEMA public",
        [false, false],
    ),
    ("CREATE PUBLICATION news FOR TABLE people WHERE (pay > 3)", [false, false]),
    ("CREATE PUBLICATION news FOR TABLE people (name)", [false, false]),
    ("CREATE PUBLICATION news FOR TABLE people (id, name)", [true, true]),
];

/// Each write of a published table under write-back, and the database has what the publication allows.
async fn what_a_publication_forbids_is_never_acknowledged(
    plain: &mut Plain,
    url: &str,
    (published, [may_update, may_delete]): Published,
) {
    plain.run("DROP PUBLICATION IF EXISTS news; ALTER TABLE people REPLICA IDENTITY DEFAULT").await;
    plain.run(ROWS).await;
    plain.run(published).await;
    let log = Arc::new(CountingLog::default());
    let options = patient(url).with_policy(Policy::WriteBack).with_log_server(log.clone());
    let cache = options.open().await.unwrap();
    let people = cache.table(schema().with_domain("id", DomainType::Integer)).await.unwrap();
    let what = |write: &str| format!("{published}: {write}");
    let row = people.get("id", 0..=9).await.unwrap().remove(0);
    let update = people.update(&row, [("name", "Anne".into())]);
    is_made_or_says(&log, may_update, "cannot update table", &what("update"), update).await;
    people.get("id", 0..=9).await.unwrap();
    let second = [("id", 2.into()), ("age", 25.into()), ("name", "Cleo".into()), ("pay", 5.into())];
    is_made_or_says(&log, true, "", &what("insert"), people.insert(second)).await;
    let row = people.get("id", 3..=3).await.unwrap().remove(0);
    let refusal = "cannot delete from table";
    is_made_or_says(&log, may_delete, refusal, &what("delete"), people.delete(&row)).await;
    let range = people.delete_range("id", 4..=4);
    is_made_or_says(&log, may_delete, refusal, &what("delete a range"), range).await;
    cache.stop().await.unwrap();
    let names: Vec<Option<String>> =
        plain.rows("SELECT name FROM people ORDER BY id").await.into_iter().flatten().collect();
    let first = if may_update { "Anne" } else { "Anna" };
    let all = [first, "Cleo", "Bob", "Eve"];
    let left = if may_delete { &all[..2] } else { &all[..] };
    assert_eq!(names.iter().flatten().collect::<Vec<_>>(), left, "{published}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_a_publication_of_postgres_forbids_is_never_acknowledged() {
    let Some(server) = Postgres::start() else { return };
    let url = server.url();
    let mut admin = Plain::open(&url).await;
    admin.run(PEOPLE).await;
    for case in PUBLISHED {
        what_a_publication_forbids_is_never_acknowledged(&mut admin, &url, case).await;
    }
}

/// Like a right that was taken away: it may be given back, so that the acknowledged write waits for that, and no other is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_acknowledged_write_waits_for_the_end_of_a_publication_that_came_later() {
    let Some(server) = Postgres::start() else { return };
    let url = server.url();
    let mut admin = Plain::open(&url).await;
    admin.run(&format!("{PEOPLE}; {ROWS}; ALTER TABLE people REPLICA IDENTITY NOTHING")).await;
    let log = Arc::new(CountingLog::default());
    let options = patient(&url).with_policy(Policy::WriteBack).with_log_server(log.clone());
    let cache = options.open().await.unwrap();
    let people = cache.table(schema().with_domain("id", DomainType::Integer)).await.unwrap();
    let mut notices = people.notices();
    let row = people.get("id", 0..=9).await.unwrap().remove(0);
    admin.run("CREATE PUBLICATION news FOR TABLE people").await;
    assert!(log.has(people.update(&row, [("name", "Anne".into())])).await);
    tokio::time::sleep(Duration::from_secs(1)).await;
    admin.run("DROP PUBLICATION news").await;
    cache.stop().await.unwrap();
    assert_eq!(admin.value("SELECT name FROM people WHERE id = 1").await.as_deref(), Some("Anne"));
    while let Ok(notice) = notices.try_recv() {
        assert!(!matches!(notice, Notice::SetAside(_)), "{notice:?}");
    }
}
