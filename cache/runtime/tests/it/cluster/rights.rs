//! Clients of dendrites whose user of the database may do little.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_cache::cluster::{Membership, Net, Server};
use lacuna_cache::sql::{Cache, Error, Table, WriteError};
use lacuna_testkit::servers::{MariaDb, Postgres};

use crate::cluster::dendrites::{CUT, TABLE, connected, places, schema, secret, slot};
use crate::sql::world::{AT_MOST, patient};

const LONG: Duration = Duration::from_secs(600);
/// Much less than a request is tried for.
const AT_ONCE: Duration = Duration::from_secs(60);

/// The dendrite of an administrator, and its table.
pub(crate) async fn served(url: &str) -> (Cache, Server, String) {
    let admin = patient(url).open().await.unwrap();
    let table = "CREATE TABLE slots (id BIGINT PRIMARY KEY, place BIGINT, name VARCHAR(20))";
    admin.run_sql(table).await.unwrap();
    let listener = Server::listen("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let cuts = schema().cut_before(&[CUT.into()]).unwrap();
    let ranges = Arc::new(admin.shared_ranges(TABLE, &cuts, &address).await.unwrap());
    let transport = Arc::new(Net::new(secret(), TABLE));
    let membership = Membership { directory: ranges.clone(), transport, address: address.clone() };
    let dendrite = admin.dendrite(schema(), ranges, membership).await.unwrap();
    let server = Server::start(listener, [(TABLE, dendrite)], secret());
    (admin, server, address)
}

/// The table as a client sees it that reaches the database by this URL.
pub(crate) async fn client(url: &str, address: &str) -> (Cache, Table) {
    let cache = patient(url).open().await.unwrap();
    let dendrites = connected(&[address]).await.with_patience(AT_MOST);
    let table = cache.table_over(schema(), Arc::new(dendrites)).await.unwrap();
    (cache, table)
}

/// Reads and single writes, of both ranges.
async fn reads_and_writes(table: &Table) {
    for (id, place) in [(1, 5), (2, CUT + 5), (3, 7)] {
        table.insert(slot(id, place)).await.unwrap();
    }
    let row = table.get("place", 5..=5).await.unwrap().remove(0);
    table.update(&row, [("place", (CUT + 6).into())]).await.unwrap();
    let row = table.get("place", 7..=7).await.unwrap().remove(0);
    table.delete(&row).await.unwrap();
    assert_eq!(places(&table.get("place", 0..2 * CUT).await.unwrap()), [CUT + 5, CUT + 6]);
    let sql = "SELECT id FROM slots WHERE place BETWEEN ? AND ? ORDER BY id";
    let found = table.query(sql, &[CUT.into(), (2 * CUT).into()]).await.unwrap();
    assert_eq!(found.rows(), [[1.into()], [2.into()]]);
}

async fn transaction(cache: &Cache, table: &Table) -> Result<(), Error> {
    let mut open = cache.transaction().on(table, "place", 0..2 * CUT).begin().await?;
    let row = open.get(table, "place", CUT + 5..=CUT + 5).await?.remove(0);
    open.update(table, &row, [("place", 8.into())]).await.unwrap();
    open.commit().await.unwrap();
    Ok(())
}

async fn bulk_load(table: &Table) -> Result<(), WriteError> {
    let mut load = table.bulk_load(LONG).await.unwrap();
    load.insert([slot(10, 10), slot(11, CUT + 11)]).await?;
    load.insert([slot(12, 12)]).await?;
    load.finish().await.unwrap();
    Ok(())
}

/// Both say at once which table of the cache the user may not use, and no tenure ends with that, except on a machine that is too
/// busy to renew a lease.
async fn are_refused(server: &Server, client: (&Cache, &Table), own: &str) {
    let tenures = || server.dendrites()[TABLE].counts().tenures;
    for _ in 0..5 {
        let before = tenures();
        are_refused_once(client, own).await;
        if tenures() == before {
            return;
        }
    }
    panic!("a refusal ends a tenure");
}

async fn are_refused_once((cache, table): (&Cache, &Table), own: &str) {
    let start = Instant::now();
    let says = |why: &Error| {
        let why = why.to_string();
        assert!(why.contains(own) && why.contains("Rights to the cache's tables"), "{why}");
    };
    says(&transaction(cache, table).await.expect_err("its user may not lock the fences"));
    match bulk_load(table).await {
        // Whether a right that is missing will be there later is the database's word.
        Err(WriteError::Refused(why) | WriteError::NotDone(why)) => says(&why),
        other => panic!("{other:?}"),
    }
    let empty = table.bulk_load(LONG).await.unwrap();
    says(&empty.finish().await.expect_err("nothing shows that the fences stand"));
    assert_eq!(places(&table.get("place", 0..2 * CUT).await.unwrap()), [CUT + 5, CUT + 6]);
    assert!(start.elapsed() < AT_ONCE, "{:?}", start.elapsed());
}

/// With the rights that the guide names, both are done.
async fn are_done((cache, table): (&Cache, &Table)) {
    transaction(cache, table).await.unwrap();
    assert_eq!(places(&table.get("place", 0..2 * CUT).await.unwrap()), [8, CUT + 6]);
    bulk_load(table).await.unwrap();
    let all = [8, 10, 12, CUT + 6, CUT + 11];
    assert_eq!(places(&table.get("place", 0..2 * CUT).await.unwrap()), all);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_postgres_needs_further_rights_for_transactions_and_loads_alone() {
    let Some(postgres) = Postgres::start() else { return };
    let (admin, server, address) = served(&postgres.url()).await;
    admin
        .run_sql("CREATE ROLE app LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON slots TO app")
        .await
        .unwrap();
    let url = postgres.url().replacen("postgres@", "app@", 1);
    let (cache, table) = client(&url, &address).await;
    reads_and_writes(&table).await;
    are_refused(&server, (&cache, &table), "lacuna_fence").await;
    admin.run_sql("GRANT SELECT ON lacuna_fence TO app").await.unwrap();
    are_refused(&server, (&cache, &table), "lacuna_slot").await;
    admin.run_sql("GRANT SELECT, UPDATE ON lacuna_slot TO app").await.unwrap();
    are_done((&cache, &table)).await;
    cache.stop().await.unwrap();
    server.stop().await.unwrap();
    admin.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_mariadb_needs_further_rights_for_transactions_and_loads_alone() {
    let Some(mariadb) = MariaDb::start() else { return };
    // Every user has all privileges in the database `test`.
    let first = patient(mariadb.url()).open().await.unwrap();
    first.run_sql("CREATE DATABASE shop").await.unwrap();
    first.stop().await.unwrap();
    let url = mariadb.url().replace("/test", "/shop");
    let (admin, server, address) = served(&url).await;
    // Without `TRIGGER` it could not see triggers, and each of its writes may touch the whole table.
    let user = "CREATE USER app@'127.0.0.1'; \
                GRANT SELECT, INSERT, UPDATE, DELETE, TRIGGER ON shop.slots TO app@'127.0.0.1'";
    admin.run_sql(user).await.unwrap();
    let (_, rest) = url.split_once('@').expect("a user");
    let (cache, table) = client(&format!("mysql://app@{rest}"), &address).await;
    reads_and_writes(&table).await;
    are_refused(&server, (&cache, &table), "lacuna_fence").await;
    admin.run_sql("GRANT SELECT ON shop.lacuna_fence TO app@'127.0.0.1'").await.unwrap();
    are_done((&cache, &table)).await;
    cache.stop().await.unwrap();
    server.stop().await.unwrap();
    admin.stop().await.unwrap();
}
