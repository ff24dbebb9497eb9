//! Statements over several tables of SQLite in memory, compared with the same statements sent to the database alone.

use std::time::Duration;

use lacuna_cache_protocol::{ErrorKind, Flaw, Policy};
use lacuna_testkit::effort;
use lacuna_workload::Rng;

use super::*;
use crate::sql::{Cache, Options, Schema, Statement, Table};

const POLICIES: [Policy; 3] = [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack];
const TABLES: [&str; 3] = [
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, day INTEGER, user_id INTEGER, total INTEGER)",
    "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, city TEXT, age INTEGER)",
    "CREATE TABLE parts (id INTEGER PRIMARY KEY, order_id INTEGER, name TEXT)",
];

struct Shop {
    cache: Cache,
    orders: Table,
    users: Table,
    parts: Table,
}

impl Shop {
    async fn open(options: Options) -> Self {
        let cache = options.open().await.unwrap();
        for table in TABLES {
            cache.run_sql(table).await.unwrap();
        }
        let table =
            |name, domain| cache.table(Schema::new(name, "id").with_domain(domain, DomainType::Integer));
        let (orders, users) = (table("orders", "day").await.unwrap(), table("users", "age").await.unwrap());
        let parts = table("parts", "order_id").await.unwrap();
        Self { cache, orders, users, parts }
    }

    async fn with(policy: Policy) -> Self {
        Self::open(Options::new("sqlite::memory:").with_policy(policy)).await
    }

    async fn order(&self, id: i64, day: i64, user: impl Into<SqlValue>, total: i64) {
        let row = [("id", id.into()), ("day", day.into()), ("user_id", user.into()), ("total", total.into())];
        self.orders.insert(row).await.unwrap();
    }

    async fn user(&self, id: i64, name: &str, city: &str, age: impl Into<SqlValue>) {
        let row = [("id", id.into()), ("name", name.into()), ("city", city.into()), ("age", age.into())];
        self.users.insert(row).await.unwrap();
    }

    async fn part(&self, id: i64, order: i64, name: &str) {
        let row = [("id", id.into()), ("order_id", order.into()), ("name", name.into())];
        self.parts.insert(row).await.unwrap();
    }

    /// What the database has, once it has all buffered writes.
    async fn plain(&self, sql: &str, params: &[SqlValue]) -> Vec<Vec<SqlValue>> {
        // A result that is asked for the first time is that of the database.
        let fresh = i64::try_from(self.cache.counts().reads).unwrap();
        for (table, name, domain) in [
            (&self.orders, "orders", "day"),
            (&self.users, "users", "age"),
            (&self.parts, "parts", "order_id"),
        ] {
            let count = format!("SELECT COUNT(*) FROM {name} WHERE {domain} >= -1 AND id <> ?");
            table.query(&count, &[(-fresh).into()]).await.unwrap();
        }
        let statement = params.iter().cloned().fold(Statement::new(sql), Statement::with);
        let found = self.cache.database.query(&statement).await;
        found.unwrap_or_else(|failure| panic!("{sql}: {:?}", failure.error))
    }

    async fn rows(&self, sql: &str, params: &[SqlValue]) -> Vec<Vec<SqlValue>> {
        let answer = self.orders.query(sql, params).await;
        answer.unwrap_or_else(|why| panic!("{sql}: {why}")).rows().to_vec()
    }

    /// How many statements were sent to the database for this.
    async fn queries_of(&self, sql: &str, params: &[SqlValue]) -> u64 {
        let before = self.cache.counts().store_queries;
        self.rows(sql, params).await;
        self.cache.counts().store_queries - before
    }
}

const NAMES: &str = "SELECT u.name, o.total FROM orders o JOIN users u ON u.id = o.user_id \
                     WHERE o.day BETWEEN ? AND ? AND u.city = ? ORDER BY o.day LIMIT 10";

#[tokio::test]
async fn a_result_of_two_tables_stands_until_a_write_of_either() {
    for policy in POLICIES {
        let shop = Shop::with(policy).await;
        let params = [1.into(), 9.into(), "Rome".into()];
        shop.user(1, "Anna", "Rome", 20).await;
        shop.user(2, "Berta", "Oslo", SqlValue::Null).await;
        shop.order(1, 5, 1, 70).await;
        shop.order(2, 6, 2, 80).await;
        assert_eq!(shop.rows(NAMES, &params).await, [["Anna".into(), 70.into()]], "{policy:?}");
        assert_eq!(shop.queries_of(NAMES, &params).await, 0, "{policy:?}: it is cached");
        shop.order(3, 10, 1, 90).await;
        assert_eq!(shop.queries_of(NAMES, &params).await, 0, "{policy:?}: a write beside it leaves it there");

        // A row that is in no range of its table comes into the join, changes there, and leaves it.
        let berta = shop.users.known_row([("id", 2.into()), ("age", SqlValue::Null)]).unwrap();
        shop.users.update(&berta, [("city", "Rome".into())]).await.unwrap();
        let both = [["Anna".into(), SqlValue::from(70)], ["Berta".into(), 80.into()]];
        assert_eq!(shop.rows(NAMES, &params).await, both, "{policy:?}");
        shop.users.update(&berta, [("name", "Bea".into())]).await.unwrap();
        assert_eq!(shop.rows(NAMES, &params).await[1][0], "Bea".into(), "{policy:?}");
        shop.users.delete(&berta).await.unwrap();
        assert_eq!(shop.rows(NAMES, &params).await, [["Anna".into(), 70.into()]], "{policy:?}");

        let moved = shop.orders.known_row([("id", 3.into()), ("day", 10.into())]).unwrap();
        shop.orders.update(&moved, [("day", 2.into())]).await.unwrap();
        assert_eq!(shop.rows(NAMES, &params).await.len(), 2, "{policy:?}");
        let everywhere = Statement::new("UPDATE users SET name = 'A'");
        shop.users.execute(&[], vec![everywhere]).await.unwrap();
        assert_eq!(shop.rows(NAMES, &params).await[0][0], "A".into(), "{policy:?}");
        shop.cache.stop().await.unwrap();
    }
}

#[tokio::test]
async fn a_left_join_shows_rows_without_a_partner_until_one_comes() {
    let sql = "SELECT o.id, u.name, COUNT(order_id) FROM orders AS o LEFT JOIN users u ON user_id = u.id AND u.age > ? \
               LEFT OUTER JOIN parts p ON p.order_id = o.id WHERE day >= 1 GROUP BY o.id, u.name ORDER BY o.id";
    for policy in POLICIES {
        let shop = Shop::with(policy).await;
        shop.order(1, 5, 7, 1).await;
        let (none, anna) = ([1.into(), SqlValue::Null, 0.into()], [1.into(), "Anna".into(), 2.into()]);
        assert_eq!(shop.rows(sql, &[3.into()]).await, [none], "{policy:?}");
        shop.user(7, "Anna", "Rome", 4).await;
        shop.part(1, 1, "wheel").await;
        shop.part(2, 1, "bell").await;
        assert_eq!(shop.rows(sql, &[3.into()]).await, [anna], "{policy:?}");
        assert_eq!(shop.rows(sql, &[4.into()]).await[0][1], SqlValue::Null, "{policy:?}: another value");
        shop.cache.stop().await.unwrap();
    }
}

#[tokio::test]
async fn what_may_not_be_joined_is_refused_with_the_reason() {
    let shop = Shop::with(Policy::WriteThrough).await;
    shop.cache.run_sql("CREATE TABLE others (id INTEGER PRIMARY KEY)").await.unwrap();
    shop.cache.run_sql("CREATE VIEW views AS SELECT * FROM users").await.unwrap();
    let cases = [
        ("orders o JOIN others x ON x.id = o.user_id", "others, which is no table that is registered"),
        ("orders o JOIN views x ON x.id = o.user_id", "views, which is no table that is registered"),
        ("orders o JOIN main.users x ON x.id = o.user_id", "main.users, which is no table"),
        ("orders o JOIN orders x ON x.id = o.id", "joins orders to itself"),
        ("orders o JOIN users x ON x.id = o.id JOIN users y ON y.id = o.id", "joins users twice"),
        ("orders o JOIN users o ON o.id = o.id", "calls two tables o"),
        ("users x LEFT JOIN orders o ON x.id = o.user_id", "begin FROM with orders"),
        ("orders o RIGHT JOIN users x ON x.id = o.user_id", "JOIN and LEFT JOIN with ON"),
        ("orders o FULL OUTER JOIN users x ON x.id = o.user_id", "JOIN and LEFT JOIN with ON"),
        ("orders o CROSS JOIN users x", "JOIN and LEFT JOIN with ON"),
        ("orders o JOIN users x", "needs its condition after ON"),
        ("orders o JOIN users x USING (id)", "merge columns"),
        ("orders o NATURAL JOIN users x", "merge columns"),
        ("orders o, users x", "reads more than the table orders"),
        ("users x", "this is the table orders"),
        ("users x JOIN parts y ON x.id = y.id", "does not read orders"),
        ("orders o JOIN (SELECT * FROM users) x ON x.id = o.id", "no plain table"),
        ("orders o JOIN users x ON x.id = (SELECT 1)", "contains another query"),
        ("orders o JOIN users x ON x.id = random()", "depend on their arguments alone"),
        ("orders o JOIN users x ON x.id = z.id", "z.id is no column"),
        ("orders o JOIN users x ON id = user_id", "id is a column of several tables"),
        ("orders o JOIN users x ON x.rowid = o.id", "rowid is no column of orders or users"),
        ("orders o JOIN users x ON x.id = o.id JOIN parts y ON users.id = 1", "users.id is no column"),
    ];
    for (from, expected) in cases {
        let sql = format!("SELECT 1 FROM {from} WHERE day = 1");
        let why = shop.orders.query(&sql, &[]).await.expect_err(&sql);
        assert_eq!(why.kind(), ErrorKind::InvalidInput, "{sql}: {why}");
        assert!(why.to_string().contains(expected), "{sql}: {why}");
    }
    // A bound of a joined table is one of its columns, and none of the table that is asked.
    let sql = "SELECT 1 FROM orders o JOIN users u ON u.id = o.user_id WHERE u.age = 1";
    let why = shop.orders.query(sql, &[]).await.unwrap_err();
    assert!(why.to_string().contains("no condition bounds a registered column (day)"), "{why}");
    let sql = "SELECT o.total AS name FROM orders o JOIN users u ON u.id = o.user_id WHERE day = 1";
    let why = shop.orders.query(sql, &[]).await.unwrap_err();
    assert!(why.to_string().contains("names a column of the table and something else"), "{why}");
    shop.cache.stop().await.unwrap();
}

#[tokio::test]
async fn tables_are_found_whatever_their_order_and_names_are() {
    let shop = Shop::with(Policy::WriteThrough).await;
    shop.user(1, "Anna", "Rome", 20).await;
    shop.order(4, 5, 1, 70).await;
    let all = "SELECT * FROM users users JOIN orders USERS2 ON users.id = user_id WHERE USERS2.day = 5";
    let row = [1.into(), "Anna".into(), "Rome".into(), 20.into(), 4.into(), 5.into(), 1.into(), 70.into()];
    assert_eq!(shop.rows(all, &[]).await, [row]);
    // Each is called what the other is.
    let turned = "SELECT orders.name, users.total FROM orders users JOIN users orders ON orders.id = users.user_id \
                  WHERE users.day = 5 AND orders.age BETWEEN ? AND 30";
    assert_eq!(shop.rows(turned, &[SqlValue::from(20)]).await, [["Anna".into(), 70.into()]]);
    let empty = "SELECT COUNT(*), MAX(u.age) FROM orders o JOIN users u ON u.id = o.user_id WHERE day BETWEEN 9 AND ?";
    for hi in [SqlValue::Null, 3.into()] {
        assert_eq!(shop.rows(empty, &[hi]).await, [[0.into(), SqlValue::Null]]);
    }
    shop.cache.stop().await.unwrap();
}

#[tokio::test]
async fn a_transaction_reads_what_it_wrote_to_tables_that_it_holds_whole() {
    let shop = Shop::with(Policy::WriteThrough).await;
    shop.user(1, "Anna", "Rome", 20).await;
    shop.order(1, 5, 1, 70).await;
    let params = [1.into(), 9.into(), "Rome".into()];
    assert_eq!(shop.rows(NAMES, &params).await.len(), 1);
    for begin in [
        shop.cache.transaction().on(&shop.orders, "day", 1..=9),
        shop.cache.transaction().on(&shop.orders, "day", 1..=9).on(&shop.users, "age", 0..=50),
    ] {
        let mut partly = begin.begin().await.unwrap();
        let why = partly.query(&shop.orders, NAMES, &params).await.unwrap_err();
        assert!(why.to_string().contains("joins users holds it whole"), "{why}");
        partly.rollback().await;
    }
    let begin = shop.cache.transaction().on(&shop.orders, "day", 1..=9).on_all(&shop.users);
    let mut open = begin.begin().await.unwrap();
    let row = [("id", 2.into()), ("name", "Carla".into()), ("city", "Rome".into()), ("age", 1.into())];
    open.insert(&shop.users, row).await.unwrap();
    let row = [("id", 2.into()), ("day", 6.into()), ("user_id", 2.into()), ("total", 9.into())];
    open.insert(&shop.orders, row).await.unwrap();
    assert_eq!(open.query(&shop.orders, NAMES, &params).await.unwrap().rows().len(), 2);
    open.commit().await.unwrap();
    assert_eq!(shop.rows(NAMES, &params).await.len(), 2);
    shop.cache.stop().await.unwrap();
}

/// The last resort of a read whose joined tables are written all the time.
#[tokio::test]
async fn a_read_that_is_alone_finds_what_others_find() {
    for policy in POLICIES {
        let shop = Shop::with(policy).await;
        shop.user(1, "Anna", "Rome", 20).await;
        shop.order(1, 5, 1, 70).await;
        let params = [1.into(), 9.into(), "Rome".into()];
        let statement = shop.orders.recognised(NAMES).unwrap();
        let alone = shop.orders.query_alone(&statement, NAMES, &params).await.unwrap();
        assert_eq!(alone, shop.orders.query(NAMES, &params).await.unwrap(), "{policy:?}");
        shop.user(2, "Berta", "Rome", 20).await;
        shop.cache.stop().await.unwrap();
    }
}

#[tokio::test]
async fn a_table_can_be_joined_from_its_registration_on() {
    let cache = Options::new("sqlite::memory:").open().await.unwrap();
    cache.run_sql(TABLES[0]).await.unwrap();
    cache.run_sql(TABLES[1]).await.unwrap();
    let schema = |name, domain| Schema::new(name, "id").with_domain(domain, DomainType::Integer);
    let orders = cache.table(schema("orders", "day")).await.unwrap();
    let sql = "SELECT COUNT(*) FROM orders o JOIN users u ON u.id = o.user_id WHERE day > 0";
    assert!(orders.query(sql, &[]).await.is_err());
    // Its handle is not needed.
    drop(cache.table(schema("users", "age")).await.unwrap());
    assert_eq!(orders.query(sql, &[]).await.unwrap().rows(), [[0.into()]]);
    drop(cache);
    assert_eq!(orders.query(sql, &[]).await.unwrap().rows(), [[0.into()]]);
}

fn some_statement(rng: &mut Rng) -> (String, Vec<SqlValue>) {
    let number = |rng: &mut Rng, most| i64::try_from(rng.index(most)).unwrap();
    let from = [
        "orders o JOIN users u ON u.id = o.user_id",
        "orders o LEFT JOIN users u ON u.id = o.user_id AND u.age < 6",
        "users u JOIN orders o ON u.id = o.user_id OR u.age = o.day",
        "orders o INNER JOIN users u ON u.id = o.user_id LEFT JOIN parts p ON p.order_id = o.id",
        "users u LEFT JOIN parts p ON p.id = u.id JOIN orders o ON o.user_id = u.id",
        "orders o LEFT JOIN users u ON u.city = 'Rome' AND o.total > 1",
    ];
    let what = [
        "*",
        "o.id, u.name",
        "u.city, COUNT(*), SUM(o.total)",
        "DISTINCT u.city",
        "COUNT(u.id), MAX(u.name)",
    ];
    let nth = rng.index(what.len());
    let (lo, len) = (number(rng, 8), number(rng, 6));
    let mut params: Vec<SqlValue> = vec![lo.into(), (lo + len).into()];
    let mut sql =
        format!("SELECT {} FROM {} WHERE o.day BETWEEN ? AND ?", what[nth], from[rng.index(from.len())]);
    match rng.index(4) {
        0 => sql.push_str(" AND u.city = 'Rome'"),
        1 => {
            sql.push_str(" AND (u.age IS NULL OR u.age > ?)");
            params.push(number(rng, 8).into());
        }
        2 => sql.push_str(" AND u.id IS NULL"),
        _ => {}
    }
    sql.push_str(["", "", " GROUP BY u.city ORDER BY u.city", " ORDER BY u.city", ""][nth]);
    sql.push_str(if nth < 2 { " ORDER BY o.id, u.id" } else { "" });
    (sql, params)
}

async fn some_write(rng: &mut Rng, shop: &Shop, id: i64) {
    let number = |rng: &mut Rng, most| i64::try_from(rng.index(most)).unwrap();
    let from = number(rng, 8);
    match rng.index(8) {
        0 => shop.order(id, from, number(rng, 12), number(rng, 4)).await,
        1 | 2 => shop.user(id % 12 + 100 * i64::from(rng.index(2) == 0) * id, "a", "Rome", from).await,
        3 => shop.part(id, number(rng, 12), "wheel").await,
        4 => {
            let Some(row) = shop.orders.first("day", from.., 1).await.unwrap().pop() else { return };
            let values = [("day", number(rng, 12).into()), ("user_id", number(rng, 12).into())];
            shop.orders.update(&row, values).await.unwrap();
        }
        5 => {
            let Some(row) = shop.users.first("age", from.., 1).await.unwrap().pop() else { return };
            let city = [SqlValue::Null, "Rome".into(), "Oslo".into()][rng.index(3)].clone();
            let values = [("age", number(rng, 8).into()), ("city", city)];
            shop.users.update(&row, values).await.unwrap();
        }
        6 => {
            let Some(row) = shop.users.first("age", from.., 1).await.unwrap().pop() else { return };
            shop.users.delete(&row).await.unwrap();
        }
        _ => {
            let Some(row) = shop.orders.first("day", from.., 1).await.unwrap().pop() else { return };
            shop.orders.delete(&row).await.unwrap();
        }
    }
}

/// The first result that is not that of the database.
async fn random_rounds(options: Options, rounds: u32) -> Result<u32, String> {
    let shop = Shop::open(options).await;
    let mut rng = effort::rng(29);
    let statements: Vec<_> = (0..12).map(|_| some_statement(&mut rng)).collect();
    let mut hits = 0;
    for round in 0..rounds {
        if rng.index(8) == 0 {
            let id = i64::from(round) + 20;
            let taken = [format!("DELETE FROM users WHERE id = {}", id % 12)];
            let taken = taken.map(|sql| Statement::new(sql).never_refused()).to_vec();
            shop.users.execute(&[], taken).await.unwrap();
            some_write(&mut rng, &shop, id).await;
        }
        let (sql, params) = &statements[rng.index(12)];
        let before = shop.cache.counts().store_queries;
        let seen = shop.rows(sql, params).await;
        hits += u32::from(shop.cache.counts().store_queries == before);
        if seen != shop.plain(sql, params).await {
            return Err(format!("seed {}, round {round}: {sql} {params:?}: {seen:?}", effort::seed()));
        }
    }
    shop.cache.stop().await.unwrap();
    Ok(hits)
}

#[tokio::test]
async fn random_joins_equal_those_of_the_database() {
    for policy in POLICIES {
        let options = Options::new("sqlite::memory:").with_policy(policy);
        let options = options.with_patience(Duration::from_secs(60));
        let rounds = effort::short_or_long(400, 20_000);
        let hits = random_rounds(options, rounds).await.unwrap_or_else(|what| panic!("{policy:?}: {what}"));
        assert!(hits * 5 > rounds, "{policy:?}: {hits} of {rounds} are hits");
    }
}

#[tokio::test]
async fn results_that_outlive_writes_of_joined_tables_are_found() {
    for policy in POLICIES {
        let options = Options::new("sqlite::memory:").with_policy(policy).with_flaw(Flaw::KeepStamps);
        let found = random_rounds(options, 20_000).await.expect_err("joined tables were written");
        println!("{policy:?}: {found}");
    }
}
