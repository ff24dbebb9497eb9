//! Parameters that are compared with columns of a joined table have the types of these columns.

use std::sync::Arc;

use lacuna_cache::sql::{Cache, DomainType, Options, Schema, SqlValue, Table};
use lacuna_testkit::servers::{MariaDb, Postgres};

use crate::sql::world::patient;

/// The declaration of a column, its value as SQL, and as a parameter.
type Typed = (&'static str, &'static str, SqlValue);

async fn opened(options: Options, columns: &[Typed]) -> (Cache, Table, Arc<Table>) {
    let cache = options.open().await.unwrap();
    let declared: Vec<String> =
        (0..).zip(columns).map(|(nth, (declared, ..))| format!("c{nth} {declared}")).collect();
    let values: Vec<&str> = columns.iter().map(|(_, value, _)| *value).collect();
    for sql in [
        format!("CREATE TABLE users (id BIGINT PRIMARY KEY, day BIGINT, {})", declared.join(", ")),
        "CREATE TABLE orders (id BIGINT PRIMARY KEY, day BIGINT, user_id BIGINT, code CHAR(6))".to_owned(),
        format!("INSERT INTO users VALUES (7, 3, {})", values.join(", ")),
        "INSERT INTO orders VALUES (1, 5, 7, 'ab'), (2, 5, 8, 'ab')".to_owned(),
    ] {
        cache.run_sql(&sql).await.unwrap_or_else(|why| panic!("{sql}: {why}"));
    }
    let schema = |name| Schema::new(name, "id").with_domain("day", DomainType::Integer);
    let orders = cache.table(schema("orders")).await.unwrap();
    let users = cache.table(schema("users")).await.unwrap();
    (cache, orders, Arc::new(users))
}

async fn values_are_found(options: Options, marks: [&str; 4], columns: &[Typed]) {
    let (cache, orders, users) = opened(options, columns).await;
    let [lo, hi, is, among] = marks;
    for (nth, (declared, _, value)) in columns.iter().enumerate() {
        for join in ["JOIN", "LEFT JOIN"] {
            let sql = format!(
                "SELECT o.id, u.c{nth}, u.day FROM orders o {join} users u ON u.id = o.user_id \
                 WHERE o.day BETWEEN {lo} AND {hi} AND u.c{nth} = {is} AND u.c{nth} IN ({among}, {among})"
            );
            let sql = if lo == "?" { sql.replace("(?, ?)", "(?)") } else { sql };
            let params = [5.into(), 6.into(), value.clone(), value.clone()];
            for _ in 0..2 {
                let found =
                    orders.query(&sql, &params).await.unwrap_or_else(|why| panic!("{declared}: {why}"));
                assert_eq!(found.rows(), [[1.into(), value.clone(), 3.into()]], "{declared}: {sql}");
            }
        }
    }
    // Texts that differ in the spaces at their end, in columns of two tables.
    let codes =
        "SELECT COUNT(*) FROM orders o JOIN users u ON o.code = u.c0 AND u.id = o.user_id WHERE o.day = 5";
    assert_eq!(orders.query(codes, &[]).await.unwrap().rows(), [[1.into()]]);
    let all =
        orders.query("SELECT * FROM users u JOIN orders o ON u.id = o.user_id WHERE o.day = 5", &[]).await;
    assert_eq!(all.unwrap().rows()[0].len(), columns.len() + 6);
    let row = users.get("day", 3..=3).await.unwrap().remove(0);
    users.delete(&row).await.unwrap();
    assert_eq!(orders.query(codes, &[]).await.unwrap().rows(), [[0.into()]]);
    cache.stop().await.unwrap();
}

fn common() -> Vec<Typed> {
    vec![
        ("CHAR(4)", "'ab'", "ab".into()),
        ("VARCHAR(9)", "'ab '", "ab ".into()),
        ("DATE", "'2024-02-29'", SqlValue::date(2024, 2, 29).unwrap()),
        ("NUMERIC(6, 2)", "1.50", SqlValue::decimal("1.50").unwrap()),
        (
            "UUID",
            "'00000000-0000-4000-8000-00000000000a'",
            SqlValue::uuid("00000000-0000-4000-8000-00000000000a").unwrap(),
        ),
        ("DOUBLE PRECISION", "0.5", 0.5.into()),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_of_joined_columns_are_found_on_postgres() {
    let Some(server) = Postgres::start() else { return };
    let own: [Typed; 3] = [
        ("TIMESTAMPTZ", "'1970-01-01 00:00:02+00'", SqlValue::Timestamp(2_000_000)),
        ("BOOLEAN", "TRUE", true.into()),
        ("BYTEA", "'\\x00ff'", vec![0, 255].into()),
    ];
    let columns = [common(), own.to_vec()].concat();
    values_are_found(patient(server.url()), ["$1", "$2", "$3", "$4"], &columns).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_of_joined_columns_are_found_on_mariadb() {
    let Some(server) = MariaDb::start() else { return };
    let own: [Typed; 3] = [
        ("DATETIME(6)", "'1970-01-01 00:00:02'", SqlValue::Timestamp(2_000_000)),
        ("ENUM('ab', 'cd')", "'cd'", "cd".into()),
        ("BIGINT UNSIGNED", "18446744073709551615", u64::MAX.into()),
    ];
    let columns = [common(), own.to_vec()].concat();
    values_are_found(patient(server.url()), ["?", "?", "?", "?"], &columns).await;
}
