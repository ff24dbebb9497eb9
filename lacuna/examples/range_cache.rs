//! A cache of range results before a table of SQLite:
//! `cargo run --release -p lacuna --features cache --example range_cache`.
//!
//! Reads ask the cache; writes say which values they touch, or the cache finds out; empty ranges are remembered too.

use lacuna::cache::{DomainType, DomainValue, Schema, SqlValue, Statement};

type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

#[tokio::main]
async fn main() -> Result {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("app.db");

    // A working cache in five lines.
    let cache = lacuna::cache::open(&format!("sqlite:{}", file.display())).await?;
    cache
        .run_sql("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, age INTEGER, pay INTEGER)")
        .await?;
    cache.run_sql("CREATE INDEX people_by_age ON people (age, id)").await?;
    let people = cache.table(Schema::new("people", "id").with_domain("age", DomainType::Integer)).await?;
    for (id, (name, age)) in (1i64..).zip([("Anna", 20), ("Berta", 22), ("Carla", 40)]) {
        let values: [(&str, SqlValue); 4] =
            [("id", id.into()), ("name", name.into()), ("age", age.into()), ("pay", 1_000.into())];
        people.insert(values).await?;
    }

    // A row that moves leaves one result and enters another; both are right at once.
    let young = people.get("age", 18..=22).await?;
    people.update(&young[0], [("age", 41.into())]).await?;
    println!("18 to 22: {:?}", names(&people.get("age", 18..=22).await?));
    println!("from 40 on: {:?}", names(&people.get("age", 40..).await?));

    // A write of its own SQL says what it touches.
    let mut ages = people.write_set("age")?;
    ages.before(whole(22))?.after(whole(23))?;
    let birthday =
        Statement::new("UPDATE people SET age = age + 1 WHERE name = ?1 AND age = 22").with("Berta");
    people.execute(&[ages], vec![birthday]).await?;
    people.update_range("age", 40.., &[("pay", "pay + 500")]).await?;

    // The first row, and the last two.
    println!("first above 22: {:?}", names(&people.first("age", 23.., 1).await?));
    println!("last two below 60: {:?}", names(&people.last("age", ..60, 2).await?));

    // No row lies between 25 and 35. The database is asked once, and never again for anything inside.
    people.get("age", 25..=35).await?;
    let asked = cache.counts().store_queries;
    for age in 25..35 {
        assert!(people.get("age", age..=age + 1).await?.is_empty());
    }
    println!("ten empty ranges took {} queries of the database", cache.counts().store_queries - asked);

    people.delete(&people.get("age", 23..=23).await?[0]).await?;
    println!("{:?}", cache.counts());
    cache.stop().await?;
    Ok(())
}

fn names(rows: &lacuna::cache::Rows) -> Vec<&str> {
    rows.iter().filter_map(|row| row.text("name")).collect()
}

/// A value for a set of values.
const fn whole(age: i64) -> DomainValue<'static> {
    DomainValue::Integer(age)
}
