//! A real client: `sqlx`, with prepared statements and plain texts, direct and through the proxy.

use std::time::{Duration, Instant};

use sqlx::{Connection as _, MySqlConnection, Row as _};

use super::raw::{ERROR, Raw, error};
use super::world::{ORDERS, World};
use crate::world::eventually;

/// A row of `orders`.
type Order = (i32, i64, String);

/// The rows of an interval, by a prepared statement, a text, and a transaction that is rolled back.
async fn orders(url: &str) -> Vec<Vec<Order>> {
    let mut connection = MySqlConnection::connect(url).await.unwrap();
    let mut all = Vec::new();
    for (low, high) in [(10_i64, 20_i64), (99, 200), (5, 4)] {
        let rows =
            sqlx::query("SELECT id, customer, note FROM orders WHERE customer BETWEEN ? AND ? ORDER BY id");
        let rows = rows.bind(low).bind(high).fetch_all(&mut connection).await.unwrap();
        all.push(rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect());
    }
    let text = sqlx::raw_sql("SELECT id, customer, note FROM orders WHERE customer < 4 ORDER BY id");
    let rows = text.fetch_all(&mut connection).await.unwrap();
    all.push(rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect());
    let mut transaction = connection.begin().await.unwrap();
    let update = sqlx::query("UPDATE orders SET note = ? WHERE id = ?").bind("new").bind(7);
    assert_eq!(update.execute(&mut *transaction).await.unwrap().rows_affected(), 1);
    let row = sqlx::query("SELECT id, customer, note FROM orders WHERE id = 7").fetch_one(&mut *transaction);
    let row = row.await.unwrap();
    all.push(vec![(row.get(0), row.get(1), row.get(2))]);
    transaction.rollback().await.unwrap();
    let why = sqlx::query("SELECT nothing").fetch_all(&mut connection).await.unwrap_err();
    assert!(why.to_string().contains("Unknown column"), "{why}");
    connection.ping().await.unwrap();
    connection.close().await.unwrap();
    all
}

#[test]
fn a_client_gets_the_same_rows() {
    let Some(world) = World::start() else { return };
    world.admin(&ORDERS);
    let direct = world.runtime.block_on(orders(&world.mariadb.url()));
    let relayed = world.runtime.block_on(orders(&world.url()));
    assert_eq!(relayed, direct);
    assert_eq!(direct.iter().map(Vec::len).collect::<Vec<_>>(), [11, 2, 0, 3, 1]);
    assert_eq!(direct[4][0].2, "new");
    assert_eq!(world.proxy().counts().unfollowed, 0);
    eventually("every session ends", || world.proxy().counts().open == 0);
}

#[test]
fn many_clients_are_served_at_once() {
    let Some(world) = World::start() else { return };
    world.admin(&ORDERS);
    let url = world.url();
    let (clients, rounds) = (50_i64, 20_i64);
    world.runtime.block_on(async {
        let tasks = (0..clients).map(|client| {
            let url = url.clone();
            tokio::spawn(async move {
                let mut connection = MySqlConnection::connect(&url).await.unwrap();
                for round in 0..rounds {
                    let id = (client + round) % 100 + 1;
                    let note = sqlx::query_scalar("SELECT note FROM orders WHERE id = ?").bind(id);
                    let note: String = note.fetch_one(&mut connection).await.unwrap();
                    assert_eq!(note, format!("n{id}"));
                }
                connection.close().await.unwrap();
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.unwrap();
        }
    });
    assert!(world.proxy().counts().sessions >= 50);
    assert_eq!(world.proxy().counts().unfollowed, 0);
    eventually("every session ends", || world.proxy().counts().open == 0);
}

/// The number of a connection is the server's own, so that KILL from anywhere finds it.
#[test]
fn a_statement_ends_at_the_request_of_another_connection() {
    let Some(world) = World::start() else { return };
    let mut sleeper = Raw::login(world.port(), Raw::OLD);
    let answer = sleeper.query("SELECT CONNECTION_ID()");
    let id = String::from_utf8_lossy(&answer[3].1[1..]).into_owned();
    let start = Instant::now();
    let port = world.port();
    let killing = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        Raw::login(port, Raw::OLD).query(&format!("KILL QUERY {id}"))
    });
    let slept = sleeper.query("SELECT seq, SLEEP(1) FROM seq_1_to_60");
    let (number, said) = error(&slept.last().unwrap().1);
    assert_eq!(number, 1317, "{said}");
    assert!(start.elapsed() < Duration::from_secs(30));
    assert_ne!(killing.join().unwrap()[0].1[0], ERROR);
    assert_ne!(sleeper.query("SELECT 1")[0].1[0], ERROR, "the session goes on");
}
