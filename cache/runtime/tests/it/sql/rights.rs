//! Processes whose user of the database may not create tables.

use lacuna_cache::sql::{Cache, DomainType, Options, Schema, Table};
use lacuna_cache_protocol::ErrorKind;
use lacuna_testkit::servers::Postgres;

use crate::sql::world::patient;

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
    let policy = "ALTER TABLE people ENABLE ROW LEVEL SECURITY; CREATE POLICY some ON people USING (age > 20); \
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
