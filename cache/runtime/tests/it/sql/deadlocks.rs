//! A write through the cache and a transaction of another program that each wait for a row of the other.

use std::time::{Duration, Instant};

use lacuna_cache::sql::{DomainType, Policy, Schema, Statement, Table, WriteError};
use lacuna_testkit::servers::{MariaDb, Postgres};
use tokio::time::timeout;

use crate::sql::plain::Plain;
use crate::sql::values::table;
use crate::sql::world::{AT_MOST, patient};

/// How often it may be the other program that the database ends.
const MAX_ROUNDS: i64 = 8;

/// How a database shows transactions that wait for rows.
struct Waits {
    sql: &'static str,
    pause: Duration,
}

/// It looks for a deadlock once a transaction has waited for a second.
const OF_POSTGRES: Waits = Waits {
    sql: "SELECT CONCAT('', COUNT(*)) FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'",
    pause: Duration::from_millis(20),
};
/// It repeats its last answer to a query within a tenth of a second.
const OF_MARIADB: Waits = Waits {
    sql: "SELECT CONCAT('', COUNT(*)) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'",
    pause: Duration::from_millis(250),
};

/// Adds 1 to both rows, the first one first.
fn additions() -> Vec<Statement> {
    [1, 2].map(|id| Statement::new(format!("UPDATE things SET value = value + 1 WHERE id = {id}"))).into()
}

/// Waits until a transaction waits for a row.
async fn until_a_row_is_waited_for(watcher: &mut Plain, waits: &Waits) {
    let start = Instant::now();
    loop {
        tokio::time::sleep(waits.pause).await;
        if watcher.value(waits.sql).await.as_deref() != Some("0") {
            return;
        }
        assert!(start.elapsed() < AT_MOST, "no transaction waits for a row");
    }
}

async fn values(things: &Table) -> Vec<i64> {
    let rows = things.get("place", 1..=2).await.unwrap();
    rows.iter().map(|row| row.integer("value").unwrap()).collect()
}

/// Whether the transaction of the other program was committed, and whether the write was done.
async fn both_at_once(things: &Table, others: &mut [Plain; 2], waits: &Waits, round: i64) -> (bool, bool) {
    let [other, watcher] = others;
    other.run("BEGIN").await;
    // MariaDB ends the transaction that has changed less.
    for note in 0..50 {
        other.run(&format!("INSERT INTO notes VALUES ({})", 100 * round + note)).await;
    }
    other.run("UPDATE things SET value = value * 10 WHERE id = 2").await;
    let writer = things.clone();
    let writing = tokio::spawn(async move { writer.execute(&[], additions()).await });
    until_a_row_is_waited_for(watcher, waits).await;
    let crossed = other.try_rows("UPDATE things SET value = value * 10 WHERE id = 1").await;
    other.run(if crossed.is_ok() { "COMMIT" } else { "ROLLBACK" }).await;
    let is_done = match timeout(AT_MOST, writing).await.expect("the write ends").unwrap() {
        Ok(()) => true,
        Err(WriteError::NotDone(_)) => false,
        Err(why) => panic!("round {round}: {why:?}"),
    };
    (crossed.is_ok(), is_done)
}

/// Every order of the two that are done has the same effect on both rows.
async fn a_deadlock_is_no_refusal(url: &str, waits: &Waits) {
    for policy in [Policy::WriteAround, Policy::WriteThrough] {
        let schema = Schema::new("things", "id").with_domain("place", DomainType::Integer);
        let columns = "id BIGINT PRIMARY KEY, place BIGINT, value BIGINT";
        let (cache, _) = table(url, columns, schema.clone()).await;
        let more = "INSERT INTO things VALUES (1, 1, 1), (2, 2, 1); DROP TABLE IF EXISTS notes; \
                    CREATE TABLE notes (id BIGINT PRIMARY KEY)";
        cache.run_sql(more).await.unwrap();
        cache.stop().await.unwrap();
        let cache = patient(url).with_policy(policy).open().await.unwrap();
        let things = cache.table(schema).await.unwrap();
        let mut others = [Plain::open(url).await, Plain::open(url).await];
        let mut was_ended = false;
        for round in 0..MAX_ROUNDS {
            things.execute(&[], vec![Statement::new("UPDATE things SET value = 1")]).await.unwrap();
            assert_eq!(values(&things).await, [1, 1], "{policy:?}, round {round}: a result to be changed");
            let (is_other, is_done) = both_at_once(&things, &mut others, waits, round).await;
            let serial: &[i64] = match (is_other, is_done) {
                (true, true) => &[11, 20],
                (true, false) => &[10],
                (false, true) => &[2],
                (false, false) => &[1],
            };
            let found = others[1].rows("SELECT CONCAT('', value) FROM things ORDER BY id").await;
            let found: Vec<i64> =
                found.into_iter().flatten().map(|value| value.unwrap().parse().unwrap()).collect();
            assert!(
                found.len() == 2 && found[0] == found[1] && serial.contains(&found[0]),
                "{policy:?}, round {round}: {found:?}, other program: {is_other}, write: {is_done}"
            );
            if is_done {
                assert_eq!(values(&things).await, found, "{policy:?}, round {round}: what the cache shows");
            }
            // Then the write was the one that the database ended, and was repeated.
            was_ended |= is_other;
            if was_ended {
                break;
            }
        }
        assert!(was_ended, "{policy:?}: the database never ended the write");
        cache.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadlock_of_postgres_is_no_refusal() {
    let Some(server) = Postgres::start() else { return };
    a_deadlock_is_no_refusal(&server.url(), &OF_POSTGRES).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadlock_of_mariadb_is_no_refusal() {
    let Some(server) = MariaDb::start() else { return };
    a_deadlock_is_no_refusal(&server.url(), &OF_MARIADB).await;
}
