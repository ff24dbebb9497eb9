//! Claims of tables by a process whose cache is none of this library.

use std::time::Duration;

use lacuna_cache::sql::{SqlValue, Statement, TableClaim, TableClaims};
use lacuna_cache_protocol::ErrorKind;
use lacuna_testkit::servers::Postgres;
use tokio::time::{sleep, timeout};

use crate::sql::plain::Plain;
use crate::sql::world::AT_MOST;

/// Keeps a claim as long as it is there.
async fn renews(claims: &TableClaims, claim: TableClaim) {
    while claims.renew(claim).await.unwrap() {
        sleep(Duration::from_millis(100)).await;
    }
}

/// The first connection renews all the time, so that any other process is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_comes_again_has_its_tables_at_once() {
    let Some(server) = Postgres::start() else { return };
    let url = server.url();
    Plain::open(&url).await.run("CREATE TABLE orders (id BIGINT PRIMARY KEY)").await;
    let first = TableClaims::open(&url).await.unwrap();
    let claim = first.claim("orders").await.unwrap();
    let (again, other) = (first.open_again(&url).await.unwrap(), TableClaims::open(&url).await.unwrap());
    let refused = tokio::select! {
        refused = other.claim("orders") => refused.unwrap_err(),
        () = renews(&first, claim) => panic!("the claim was lost"),
    };
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    let both = async { tokio::join!(again.claim("orders"), renews(&first, claim)) };
    let (newer, ()) = timeout(AT_MOST, both).await.expect("the first claim ends with the second");
    let newer = newer.unwrap();
    assert!(again.renew(newer).await.unwrap());
    again.release(newer).await.unwrap();
    other.claim("orders").await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_makes_no_tables() {
    let Some(server) = Postgres::start() else { return };
    let mut plain = Plain::open(&server.url()).await;
    let rows = TableClaims::ask(&server.url(), &Statement::new("SELECT 7::bigint, 'a'::text")).await.unwrap();
    assert_eq!(rows, [[SqlValue::Integer(7), SqlValue::Text("a".to_owned())]]);
    let count = plain.rows("SELECT count(*)::text FROM pg_class WHERE relname LIKE 'lacuna%'").await;
    assert_eq!(count, [[Some("0".to_owned())]]);
}
