//! Primary keys of other types than whole numbers: rows are found by them, results that hold them are changed in
//! place, and their order is that of the database.

use lacuna_cache::sql::{Cache, DomainType, Row, Schema, SqlValue, Table};
use lacuna_testkit::effort;
use lacuna_testkit::servers::{MariaDb, Postgres};

use crate::sql::values::sqlite;
use crate::sql::world::{Place, patient};

/// Type of the column, and the key with a number, as text.
type Case = (&'static str, fn(u64) -> SqlValue);

const ROWS: u64 = 20;

fn word(number: u64) -> SqlValue {
    let letters = ["a", "B", "ä", "Z", "b ", "A", "_", "é"];
    SqlValue::Text(format!("{}{number}", letters[usize::try_from(number).unwrap() % letters.len()]))
}

fn uuid(number: u64) -> SqlValue {
    let mixed = u128::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835) >> 3;
    // MariaDB wants the bits of version and variant to be those of a UUID.
    let random = (mixed & !(0xF << 76 | 0b11 << 62)) | 4 << 76 | 0b10 << 62;
    SqlValue::Uuid(random.to_be_bytes())
}

fn address(number: u64) -> SqlValue {
    SqlValue::Text(format!("10.0.0.{}", number * 7 % 256))
}

fn bytes(number: u64) -> SqlValue {
    let number = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
    SqlValue::Blob([&[0; 8][..], &number].concat())
}

fn huge(number: u64) -> SqlValue {
    (u64::MAX / 20 * (number + 1)).into()
}

fn day(number: u64) -> SqlValue {
    SqlValue::date(2024, 1, 1 + u8::try_from(number * 7 % 31).unwrap()).unwrap()
}

fn price(number: u64) -> SqlValue {
    SqlValue::Decimal { digits: i128::from(number) * 37 - 300, scale: 2 }
}

fn label(number: u64) -> SqlValue {
    SqlValue::Text(format!("label {}", ROWS - number))
}

async fn open(url: &str, columns: &str, keys: &[&str]) -> (Cache, Table) {
    let cache = patient(url).open().await.unwrap();
    cache.run_sql(&format!("DROP TABLE IF EXISTS things; CREATE TABLE things ({columns})")).await.unwrap();
    let things = again(&cache, keys).await;
    (cache, things)
}

async fn again(cache: &Cache, keys: &[&str]) -> Table {
    let schema = Schema::with_keys("things", keys.iter().copied()).with_domain("place", DomainType::Integer);
    cache.table(schema).await.unwrap()
}

async fn rows(things: &Table) -> Vec<Row> {
    things.get("place", 0..=1).await.unwrap()
}

/// Half of the rows have place 0 and half place 1, so that keys order them. Each update finds its row and is answered
/// from the cache; in the end the database says the same.
async fn keys_hit(url: &str, column: &str, key: fn(u64) -> SqlValue) {
    let columns = format!("id {column} NOT NULL PRIMARY KEY, place BIGINT, note BIGINT");
    let (cache, things) = open(url, &columns, &["id"]).await;
    assert!(rows(&things).await.is_empty());
    let asked = cache.counts().store_queries;
    for number in 0..ROWS {
        let place = SqlValue::Integer(i64::from(number % 3 == 0));
        let row = [("id", key(number)), ("place", place), ("note", 0.into())];
        things.insert(row).await.unwrap_or_else(|error| panic!("{column}: {error}"));
    }
    // An address may be written in another form than it is read in, so a new row has to be read.
    let is_rewritten = ["INET", "CIDR"].contains(&column);
    rows(&things).await;
    assert_eq!(cache.counts().store_queries > asked, is_rewritten, "{column}");
    let asked = cache.counts().store_queries;
    let mut rng = effort::rng(31);
    for round in 1..=50i64 {
        let found = rows(&things).await;
        assert_eq!(found.len() as u64, ROWS, "{column}");
        let row = &found[rng.index(found.len())];
        things.update(row, [("note", round.into())]).await.unwrap();
        if round % 10 == 0 {
            let moved = SqlValue::Integer(1 - row.integer("place").unwrap());
            let row = rows(&things).await.into_iter().find(|now| now.get("id") == row.get("id")).unwrap();
            things.update(&row, [("place", moved)]).await.unwrap();
        }
    }
    let found = rows(&things).await;
    things.delete(&found[3]).await.unwrap();
    let cached = rows(&things).await;
    assert_eq!(cache.counts().store_queries, asked, "{column}: everything was a hit");
    cache.stop().await.unwrap();
    let cache = patient(url).open().await.unwrap();
    let fresh = again(&cache, &["id"]).await;
    assert_eq!(rows(&fresh).await, cached, "{column}: rows and order of the database");
    let last = fresh.last("place", 0..=1, 5).await.unwrap();
    assert_eq!(last, cached[cached.len() - 5..], "{column}");
    cache.stop().await.unwrap();
}

async fn keys_of_two_columns_hit(url: &str, uuid_type: &str) {
    let columns =
        format!("who VARCHAR(20), id {uuid_type}, place BIGINT, note BIGINT, PRIMARY KEY (who, id)");
    let (cache, things) = open(url, &columns, &["who", "id"]).await;
    assert!(rows(&things).await.is_empty());
    let asked = cache.counts().store_queries;
    for number in 0..ROWS {
        let row = [("who", word(number % 5)), ("id", uuid(number)), ("place", 0.into()), ("note", 0.into())];
        things.insert(row).await.unwrap();
    }
    let row = rows(&things).await.remove(7);
    things.update(&row, [("note", 7.into())]).await.unwrap();
    let cached = rows(&things).await;
    assert_eq!(cached[7].integer("note"), Some(7));
    assert_eq!(cache.counts().store_queries, asked, "everything was a hit");
    cache.stop().await.unwrap();
    let cache = patient(url).open().await.unwrap();
    assert_eq!(rows(&again(&cache, &["who", "id"]).await).await, cached);
    cache.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_of_every_kind_hit_on_postgres() {
    let Some(server) = Postgres::start() else { return };
    let url = server.url();
    let labels: Vec<String> = (0..=ROWS).map(|number| format!("'label {number}'")).collect();
    let cache = patient(&url).open().await.unwrap();
    let types = format!(
        "CREATE TYPE label AS ENUM ({}); \
         CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false); \
         CREATE COLLATION english (provider = icu, locale = 'en-US')",
        labels.join(", ")
    );
    cache.run_sql(&types).await.unwrap();
    cache.stop().await.unwrap();
    let cases: [Case; 10] = [
        ("TEXT", word),
        ("TEXT COLLATE english", word),
        ("VARCHAR(20) COLLATE folded", word),
        ("UUID", uuid),
        ("INET", address),
        ("BYTEA", bytes),
        ("DATE", day),
        ("NUMERIC(10,2)", price),
        ("label", label),
        ("CIDR", address),
    ];
    for (column, key) in cases {
        keys_hit(&url, column, key).await;
    }
    keys_of_two_columns_hit(&url, "UUID").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_of_every_kind_hit_on_mariadb() {
    let Some(server) = MariaDb::start() else { return };
    let url = server.url();
    let cases: [Case; 8] = [
        ("VARCHAR(20) CHARACTER SET utf8mb4", word),
        ("VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", word),
        ("VARCHAR(20) CHARACTER SET latin1", word),
        ("UUID", uuid),
        ("VARBINARY(16)", bytes),
        ("BINARY(16)", bytes),
        ("BIGINT UNSIGNED", huge),
        ("DATE", day),
    ];
    for (column, key) in cases {
        keys_hit(&url, column, key).await;
    }
    keys_of_two_columns_hit(&url, "BINARY(16)").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_of_every_kind_hit_on_sqlite() {
    for (column, key) in
        [("TEXT", word as fn(u64) -> SqlValue), ("TEXT COLLATE NOCASE", word), ("BLOB", bytes)]
    {
        let place = Place::new();
        keys_hit(&sqlite(&place), column, key).await;
    }
    let place = Place::new();
    keys_of_two_columns_hit(&sqlite(&place), "TEXT").await;
}
