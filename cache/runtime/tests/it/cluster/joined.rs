//! Tables of which one is cut into ranges of dendrites, joined with one that a process has as a whole.

use lacuna_cache::sql::{DomainType, Policy, Schema, SqlValue, Table};

use super::dendrites::{Dendrites, slot};

/// Rows, and how many statements the database was asked for them.
async fn asked(dendrites: &Dendrites, table: &Table, sql: &str) -> (Vec<Vec<SqlValue>>, u64) {
    let queries = || {
        let counts = (0..dendrites.servers.len()).map(|place| dendrites.counts(place).store_queries);
        dendrites.cache.counts().store_queries + counts.sum::<u64>()
    };
    let before = queries();
    let rows = table.query(sql, &[]).await.unwrap().rows().to_vec();
    (rows, queries() - before)
}

/// Writes below the cut, above it and over it are seen by every client, through either table.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_joined_table_of_several_owners_has_a_stamp_for_each() {
    let dendrites = Dendrites::open(2, Policy::WriteThrough).await;
    dendrites.claim_both_ranges().await;
    let slots = dendrites.table_of(&dendrites.client().await).await;
    dendrites
        .cache
        .run_sql("CREATE TABLE orders (id INTEGER PRIMARY KEY, day BIGINT, slot BIGINT)")
        .await
        .unwrap();
    let schema = Schema::new("orders", "id").with_domain("day", DomainType::Integer);
    let orders = dendrites.cache.table(schema).await.unwrap();
    for id in 0..4 {
        slots.insert(slot(id, 60 * id)).await.unwrap();
        orders.insert([("id", id.into()), ("day", id.into()), ("slot", id.into())]).await.unwrap();
    }
    let of_orders = "SELECT o.id, s.place FROM orders o JOIN slots s ON s.id = o.slot WHERE o.day BETWEEN 1 AND 2 ORDER BY o.id";
    let of_slots =
        "SELECT s.id, o.day FROM orders o JOIN slots s ON s.id = o.slot WHERE s.place < 100 ORDER BY s.id";
    let rows = |rows: &[(i64, i64)]| -> Vec<Vec<SqlValue>> {
        rows.iter().map(|(one, other)| vec![(*one).into(), (*other).into()]).collect()
    };
    let is = async |first: &[(i64, i64)], second: &[(i64, i64)]| {
        for (table, sql, expected) in [(&orders, of_orders, first), (&slots, of_slots, second)] {
            assert_eq!(asked(&dendrites, table, sql).await.0, rows(expected), "{sql}");
            assert_eq!(asked(&dendrites, table, sql).await, (rows(expected), 0), "the same from the cache");
        }
    };
    is(&[(1, 60), (2, 120)], &[(0, 0), (1, 1)]).await;
    for (id, from, to, first, second) in [
        (1, 60, 70, [(1, 70), (2, 120)], &[(0, 0), (1, 1)][..]),
        (2, 120, 130, [(1, 70), (2, 130)], &[(0, 0), (1, 1)]),
        (2, 130, 90, [(1, 70), (2, 90)], &[(0, 0), (1, 1), (2, 2)]),
        (1, 70, 170, [(1, 170), (2, 90)], &[(0, 0), (2, 2)]),
    ] {
        let row = slots.known_row(slot(id, from)).unwrap();
        slots.update(&row, [("place", to.into())]).await.unwrap();
        is(&first, second).await;
    }
    let row = orders.known_row([("id", 2.into()), ("day", 2.into())]).unwrap();
    orders.update(&row, [("day", 7.into())]).await.unwrap();
    is(&[(1, 170)], &[(0, 0), (2, 7)]).await;
    dendrites.stop().await;
}
