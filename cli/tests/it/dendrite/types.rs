//! Decimals and days on the command line of a dendrite.

use std::sync::Arc;

use lacuna_cache::sql::{DomainType, Options, Rows, Schema, SqlValue};
use lacuna_cache_protocol::Policy;
use lacuna_testkit::servers::free_port;

use crate::team::{Leases, Process, Team};

const TABLE: [&str; 14] = [
    "--table",
    "prices",
    "--key",
    "shop",
    "--key",
    "item",
    "--domain",
    "price:decimal(2)",
    "--domain",
    "day:date",
    "--cut",
    "-0.05",
    "--cut",
    "12.50",
];

fn price(text: &str) -> SqlValue {
    SqlValue::decimal(text).unwrap()
}

fn day(day: u8) -> SqlValue {
    SqlValue::date(2024, 2, day).unwrap()
}

fn items(rows: &Rows) -> Vec<i64> {
    rows.iter().map(|row| row.integer("item").unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dendrite_owns_ranges_of_decimals_and_days() {
    let Some(team) = Team::new(Policy::WriteThrough, Leases::Database) else { return };
    let cache = Options::new(team.store.url()).open().await.unwrap();
    let columns = "shop BIGINT, item BIGINT, price NUMERIC(10, 2), day DATE, PRIMARY KEY (shop, item)";
    cache.run_sql(&format!("CREATE TABLE prices ({columns})")).await.unwrap();
    let port = free_port();
    let mut command = team.command_for(&TABLE, port, None);
    command.args(["--placement", "hash", "--compress"]);
    let mut dendrite = tokio::task::block_in_place(|| Process::start(command, port, None));
    let client = Arc::new(team.client_of("prices", &[dendrite.address()]).await);
    let schema = Schema::with_keys("prices", ["shop", "item"]);
    let schema =
        schema.with_domain("price", DomainType::Decimal { scale: 2 }).with_domain("day", DomainType::Date);
    let table = cache.table_over(schema, client).await.unwrap();
    for (item, at, on) in [(1, "-0.06", 1), (2, "-0.05", 29), (3, "12.49", 2), (4, "12.5", 29)] {
        let row = [("shop", 1.into()), ("item", item.into()), ("price", price(at)), ("day", day(on))];
        table.insert(row).await.unwrap();
    }
    for _ in 0..2 {
        assert_eq!(items(&table.get("price", price("-0.05")..price("12.50")).await.unwrap()), [2, 3]);
        assert_eq!(items(&table.get("price", price("-1")..=price("100")).await.unwrap()), [1, 2, 3, 4]);
        assert_eq!(items(&table.get("day", day(2)..=day(29)).await.unwrap()), [3, 2, 4]);
    }
    assert_eq!(tokio::task::block_in_place(|| dendrite.stop()).code, Some(0));
}
