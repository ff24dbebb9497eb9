//! Statements that are sent again with values of other types.

use lacuna_cache::sql::{DomainType, Schema, SqlValue, Statement};
use lacuna_cache_protocol::Policy;
use lacuna_testkit::servers::Postgres;

use crate::sql::plain::Plain;
use crate::sql::world::patient;

/// The driver of PostgreSQL remembers statements by their texts: a value of another type must not be read as one of the first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_of_another_type_in_the_same_statement_are_themselves_on_postgres() {
    let Some(server) = Postgres::start() else { return };
    let cache = patient(server.url()).with_policy(Policy::WriteThrough).open().await.unwrap();
    let sql = "CREATE TABLE things (id BIGINT PRIMARY KEY, ratio DOUBLE PRECISION, name TEXT)";
    cache.run_sql(sql).await.unwrap();
    let schema = Schema::new("things", "id");
    let things = cache.table(schema.with_domain("id", DomainType::Integer)).await.unwrap();
    // The pool has several connections: each gets to see all of it.
    for round in 0..20 {
        for (nth, ratio) in [SqlValue::from(5), 1.5.into(), 7.into(), 0.25.into()].into_iter().enumerate() {
            let id = 10 * round + i64::try_from(nth).unwrap();
            things.insert([("id", id.into()), ("ratio", ratio), ("name", "Anna".into())]).await.unwrap();
        }
        let rename = |name: SqlValue, id: i64| {
            Statement::new("UPDATE things SET name = $1 WHERE id = $2").with(name).with(id)
        };
        things.execute(&[], vec![rename(SqlValue::Null, 10 * round)]).await.unwrap();
        things.execute(&[], vec![rename("Annabell".into(), 10 * round + 1)]).await.unwrap();
        let counted = "SELECT COUNT(*) FROM things WHERE id >= $1 AND ratio > $2";
        let from = [SqlValue::from(10 * round)];
        let above = async |ratio: SqlValue| {
            let found = things.query(counted, &[from[0].clone(), ratio]).await.unwrap();
            found.rows()[0][0].clone()
        };
        assert_eq!(above(1.into()).await, 3.into());
        assert_eq!(above(0.1.into()).await, 4.into());
    }
    let mut plain = Plain::open(&server.url()).await;
    let rows = plain.rows("SELECT ratio::text, name FROM things ORDER BY id").await;
    let text = |text: &str| Some(text.to_owned());
    let expected = [
        [text("5"), None],
        [text("1.5"), text("Annabell")],
        [text("7"), text("Anna")],
        [text("0.25"), text("Anna")],
    ];
    assert_eq!(rows.len(), 80);
    for (nth, row) in rows.iter().enumerate() {
        assert_eq!(row[..], expected[nth % 4], "row {nth}");
    }
    cache.stop().await.unwrap();
}
