//! A storm over two tables that are joined, on every database, under every policy, with connections that are cut.
//!
//! Users come into the join and leave it with each change, and so do orders into ranges of days. At any time: a result shows
//! each change of a row that was acknowledged before it, and none that was never made; an order never shows less of its
//! user than was acknowledged before the order was changed; and what one transaction writes to both tables is in a result
//! in both or in neither.

mod buffered;
mod storm;
mod types;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use lacuna_cache::sql::{
    Cache, DomainType, DomainValue, Error, Options, Policy, Schema, SqlValue, Statement, Table, WriteError,
};
use lacuna_testkit::effort;
use lacuna_workload::Rng;

use crate::sql::plain::Plain;
use crate::sql::world::Dialect;

/// Orders, each of one user.
const ROWS: i64 = 8;
const CLIENTS: u64 = 6;
const OPERATIONS: u64 = 150;
/// What is asked: joins, and days from and to.
const JOINS: [&str; 2] = ["LEFT JOIN", "JOIN"];
const DAYS: [(i64, i64); 4] = [(0, 15), (0, 7), (8, 15), (2, 5)];

/// What was wrong, or an error that a fault explains.
enum Trouble {
    Wrong(String),
    Fault,
}

impl From<Error> for Trouble {
    fn from(why: Error) -> Self {
        println!("a step failed: {why}");
        Self::Fault
    }
}

impl From<WriteError> for Trouble {
    fn from(why: WriteError) -> Self {
        println!("a step failed: {why}");
        Self::Fault
    }
}

type Step = Result<(), Trouble>;

/// How often a row was changed: acknowledged, and begun.
#[derive(Debug, Default)]
struct Versions {
    done: AtomicI64,
    begun: AtomicI64,
}

impl Versions {
    fn done(&self) -> i64 {
        self.done.load(Ordering::SeqCst)
    }

    fn begin(&self) {
        self.begun.fetch_add(1, Ordering::SeqCst);
    }

    fn end(&self) {
        self.done.fetch_add(1, Ordering::SeqCst);
    }
}

struct Shop {
    cache: Cache,
    orders: Table,
    users: Table,
    dialect: Dialect,
    of_orders: Vec<Versions>,
    of_users: Vec<Versions>,
    next_pair: AtomicI64,
    reads: AtomicU64,
}

/// A row of a result.
#[derive(Debug, Clone, Copy)]
struct Shown {
    order: usize,
    version: i64,
    seen: i64,
    pair: i64,
    /// Version and pair of the user, if it is in the join.
    user: Option<(i64, i64)>,
}

fn number(value: &SqlValue) -> i64 {
    if let SqlValue::Integer(number) = value { *number } else { panic!("{value:?} is no number") }
}

impl Shown {
    fn of(row: &[SqlValue]) -> Self {
        let [order, version, seen, pair] = [0, 1, 2, 3].map(|place| number(&row[place]));
        let user = (row[4] != SqlValue::Null).then(|| (number(&row[4]), number(&row[5])));
        Self { order: usize::try_from(order).unwrap(), version, seen, pair, user }
    }
}

fn index(row: i64) -> usize {
    usize::try_from(row).unwrap()
}

/// The day of an order: odd versions are eight days later.
const fn day(order: i64, version: i64) -> i64 {
    order + 8 * (version % 2)
}

/// A statement with values in place of its parameters.
fn asked(join: &str, lo: &str, hi: &str) -> String {
    format!(
        "SELECT o.id, o.version, o.seen, o.pair, u.version, u.pair FROM orders o {join} users u \
         ON u.id = o.id AND u.is_here = 1 WHERE o.day BETWEEN {lo} AND {hi} ORDER BY o.id"
    )
}

impl Shop {
    async fn open(options: Options, dialect: Dialect) -> Self {
        let cache = options.open().await.unwrap();
        for sql in [
            "DROP TABLE IF EXISTS orders",
            "DROP TABLE IF EXISTS users",
            "CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, day BIGINT NOT NULL, version BIGINT NOT NULL, \
             seen BIGINT NOT NULL, pair BIGINT NOT NULL)",
            "CREATE TABLE users (id BIGINT NOT NULL PRIMARY KEY, version BIGINT NOT NULL, is_here BIGINT NOT NULL, \
             pair BIGINT NOT NULL)",
        ] {
            cache.run_sql(sql).await.unwrap();
        }
        for id in 0..ROWS {
            cache.run_sql(&format!("INSERT INTO orders VALUES ({id}, {id}, 0, 0, 0)")).await.unwrap();
            cache.run_sql(&format!("INSERT INTO users VALUES ({id}, 0, 0, 0)")).await.unwrap();
        }
        Self::over(cache, dialect).await
    }

    async fn over(cache: Cache, dialect: Dialect) -> Self {
        let schema = |table, domain| Schema::new(table, "id").with_domain(domain, DomainType::Integer);
        let orders = cache.table(schema("orders", "day")).await.unwrap();
        let users = cache.table(schema("users", "id")).await.unwrap();
        Self::of(cache, orders, users, dialect)
    }

    fn of(cache: Cache, orders: Table, users: Table, dialect: Dialect) -> Self {
        let versions = || (0..ROWS).map(|_| Versions::default()).collect();
        let (of_orders, of_users) = (versions(), versions());
        let (next_pair, reads) = (AtomicI64::new(1), AtomicU64::new(0));
        Self { cache, orders, users, dialect, of_orders, of_users, next_pair, reads }
    }

    async fn ask(&self, join: &str, (lo, hi): (i64, i64)) -> Result<Vec<Vec<SqlValue>>, Error> {
        let [first, second] = if self.dialect == Dialect::Postgres { ["$1", "$2"] } else { ["?", "?"] };
        let answer = self.orders.query(&asked(join, first, second), &[lo.into(), hi.into()]).await?;
        Ok(answer.rows().to_vec())
    }

    async fn read(&self, rng: &mut Rng) -> Step {
        let (join, days) = (JOINS[rng.index(2)], DAYS[rng.index(4)]);
        let done = |all: &[Versions]| all.iter().map(Versions::done).collect::<Vec<i64>>();
        let (orders, users) = (done(&self.of_orders), done(&self.of_users));
        let rows = self.ask(join, days).await?;
        self.reads.fetch_add(1, Ordering::Relaxed);
        let rows: Vec<Shown> = rows.iter().map(|row| Shown::of(row)).collect();
        let wrong = |what| Trouble::Wrong(format!("{join} {days:?}: {what}: {rows:?}"));
        for order in 0..index(ROWS) {
            let shown = rows.iter().find(|row| row.order == order);
            self.check(order, shown, (orders[order], users[order]), join == "JOIN", days).map_err(wrong)?;
        }
        Ok(())
    }

    /// What one order shows, given the versions that were acknowledged when the read began.
    fn check(
        &self,
        order: usize,
        shown: Option<&Shown>,
        (order_done, user_done): (i64, i64),
        is_inner: bool,
        (lo, hi): (i64, i64),
    ) -> Result<(), String> {
        let begun = |all: &[Versions]| all[order].begun.load(Ordering::SeqCst);
        let (orders, users) = (order_done..=begun(&self.of_orders), user_done..=begun(&self.of_users));
        let is_inside = |version: i64| (lo..=hi).contains(&day(i64::try_from(order).unwrap(), version));
        let Some(shown) = shown else {
            let may_be_beside = orders.clone().any(|version| !is_inside(version));
            let may_be_alone = is_inner && users.clone().any(|version| version % 2 == 0);
            let may_lack = may_be_beside || may_be_alone;
            return may_lack.then_some(()).ok_or_else(|| {
                format!("order {order} is missing: versions {orders:?} of it, {users:?} of its user")
            });
        };
        if !orders.contains(&shown.version) || !is_inside(shown.version) {
            return Err(format!("order {order} has version {}, of {orders:?}", shown.version));
        }
        let least = user_done.max(shown.seen);
        let users = least..=*users.end();
        match shown.user {
            Some((version, _)) if version % 2 == 0 || !users.contains(&version) => {
                Err(format!("user {order} has version {version}, of {users:?}"))
            }
            Some((_, pair)) if pair != shown.pair => Err(format!(
                "a transaction wrote pair {} to order {order}, and {pair} to its user",
                shown.pair
            )),
            None if users.clone().all(|version| version % 2 == 1) => {
                Err(format!("user {order} is missing: versions {users:?}"))
            }
            _ => Ok(()),
        }
    }

    async fn change_user(&self, rng: &mut Rng) -> Step {
        let id = i64::try_from(rng.below(ROWS.unsigned_abs())).unwrap();
        let mut touched = self.users.write_set("id")?;
        touched.before(DomainValue::Integer(id))?;
        let sql =
            format!("UPDATE users SET is_here = (version + 1) % 2, version = version + 1 WHERE id = {id}");
        let versions = &self.of_users[index(id)];
        versions.begin();
        self.users.execute(&[touched], vec![Statement::new(sql).never_refused()]).await?;
        versions.end();
        Ok(())
    }

    async fn change_order(&self, rng: &mut Rng) -> Step {
        let id = i64::try_from(rng.below(ROWS.unsigned_abs())).unwrap();
        let seen = self.of_users[index(id)].done();
        let mut touched = self.orders.write_set("day")?;
        touched.before(DomainValue::Integer(id))?.after(DomainValue::Integer(id + 8))?;
        let sql = format!(
            "UPDATE orders SET day = {id} + 8 * ((version + 1) % 2), seen = {seen}, version = version + 1 WHERE id = {id}"
        );
        let versions = &self.of_orders[index(id)];
        versions.begin();
        self.orders.execute(&[touched], vec![Statement::new(sql).never_refused()]).await?;
        versions.end();
        Ok(())
    }

    async fn pair(&self, rng: &mut Rng) -> Step {
        let id = i64::try_from(rng.below(ROWS.unsigned_abs())).unwrap();
        let pair = self.next_pair.fetch_add(1, Ordering::Relaxed);
        let begin = self.cache.transaction().on(&self.users, "id", id..=id).on_all(&self.orders);
        let mut open = begin.begin().await?;
        let mut touched = self.users.write_set("id")?;
        touched.before(DomainValue::Integer(id))?;
        let write =
            |table: &str| vec![Statement::new(format!("UPDATE {table} SET pair = {pair} WHERE id = {id}"))];
        open.execute(&self.users, &[touched], write("users")).await?;
        open.execute(&self.orders, &[], write("orders")).await?;
        open.commit().await?;
        Ok(())
    }

    async fn client(self: Arc<Self>, mut rng: Rng) -> Result<u64, String> {
        let mut faults = 0;
        for _ in 0..OPERATIONS {
            let step = match rng.below(60) {
                0..55 => self.read(&mut rng).await,
                55..57 => self.change_user(&mut rng).await,
                57..59 => self.change_order(&mut rng).await,
                _ => self.pair(&mut rng).await,
            };
            match step {
                Ok(()) => {}
                Err(Trouble::Fault) => faults += 1,
                Err(Trouble::Wrong(what)) => return Err(what),
            }
        }
        Ok(faults)
    }

    /// What every statement finds.
    async fn all(&self) -> Vec<(String, Vec<Vec<SqlValue>>)> {
        let mut found = Vec::new();
        for join in JOINS {
            for (lo, hi) in DAYS {
                let plain = asked(join, &lo.to_string(), &hi.to_string());
                found.push((plain, self.ask(join, (lo, hi)).await.unwrap()));
            }
        }
        found
    }
}

/// Compares what the cache found at rest with the database, which has all writes by now.
async fn is_what_the_database_has(
    found: Vec<(String, Vec<Vec<SqlValue>>)>,
    options: Options,
    url: &str,
    dialect: Dialect,
) -> Result<(), String> {
    let fresh = Shop::over(options.with_policy(Policy::WriteAround).open().await.unwrap(), dialect).await;
    let again = fresh.all().await;
    fresh.cache.stop().await.unwrap();
    if found != again {
        return Err(format!("at rest the cache had {found:?}, the database {again:?}"));
    }
    if dialect == Dialect::Sqlite {
        return Ok(());
    }
    let mut plain = Plain::open(url).await;
    for (sql, rows) in found {
        let text = |value: &SqlValue| (*value != SqlValue::Null).then(|| number(value).to_string());
        let rows: Vec<Vec<_>> = rows.iter().map(|row| row.iter().map(text).collect()).collect();
        let expected = plain.rows(&sql).await;
        if rows != expected {
            return Err(format!("at rest the cache had {rows:?} for {sql}, the database {expected:?}"));
        }
    }
    Ok(())
}

fn seeded(client: u64) -> Rng {
    effort::rng(17_000 + client)
}
