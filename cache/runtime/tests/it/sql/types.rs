//! Decimals, days, moments and padded texts: the order of the store is that of the keys, and writes arrive where the store puts
//! them.

use std::ops::Bound;

use lacuna_cache::sql::{Date, DomainType, Schema, SqlValue};
use lacuna_cache_protocol::{DomainValue, RangeKey};
use lacuna_testkit::effort;
use lacuna_testkit::servers::{MariaDb, Postgres};
use lacuna_workload::Rng;

use crate::sql::values::{ids, table};

const DAY: i64 = 86_400_000_000;

fn key(domain: DomainType, value: &SqlValue) -> RangeKey {
    let value = match value {
        SqlValue::Integer(value) if domain == DomainType::Timestamp => DomainValue::Timestamp(*value),
        SqlValue::Integer(value) => DomainValue::Integer(*value),
        SqlValue::Float(value) => DomainValue::Float(*value),
        SqlValue::Text(value) => DomainValue::Text(value),
        SqlValue::Decimal { digits, scale } => DomainValue::Decimal { digits: *digits, scale: *scale },
        SqlValue::Date(date) => DomainValue::Date(*date),
        SqlValue::Timestamp(micros) => DomainValue::Timestamp(*micros),
        other => panic!("{other:?} has no key"),
    };
    domain.key(value).unwrap().unwrap()
}

/// A column of a database, what it is registered as, and values of it: some at the ends of what it holds.
struct Case {
    column: &'static str,
    domain: DomainType,
    edges: Vec<SqlValue>,
    random: fn(&mut Rng) -> SqlValue,
}

fn decimal(rng: &mut Rng, precision: u32, scale: u8) -> SqlValue {
    let digits = i128::from(rng.next_u64()) << 64 | i128::from(rng.next_u64());
    let length = u32::try_from(1 + rng.below(precision.into())).unwrap();
    SqlValue::Decimal { digits: digits % 10i128.pow(length), scale }
}

fn text(rng: &mut Rng) -> SqlValue {
    let letters = ["a", "B", "ä", "z", "\u{1}", " ", "~", "€"];
    let text: String = (0..rng.below(5)).map(|_| letters[rng.index(letters.len())]).collect();
    SqlValue::Text(text.trim_end_matches(' ').to_owned())
}

/// Days between two years.
fn days(rng: &mut Rng, first: i32, last: i32) -> i64 {
    let (SqlValue::Date(first), SqlValue::Date(last)) =
        (SqlValue::date(first, 1, 1).unwrap(), SqlValue::date(last, 12, 31).unwrap())
    else {
        panic!("days are days");
    };
    i64::from(first.days) + rng.below((last.days - first.days).unsigned_abs().into()).cast_signed()
}

fn day(days: i64) -> SqlValue {
    SqlValue::Date(Date { days: i32::try_from(days).unwrap() })
}

fn moment(rng: &mut Rng, first: i32, last: i32) -> SqlValue {
    SqlValue::Timestamp(days(rng, first, last) * DAY + rng.below(DAY.unsigned_abs()).cast_signed())
}

fn decimals() -> [Case; 3] {
    let largest = 10i128.pow(38) - 1;
    let case = |column, scale, edges: &[i128], random| Case {
        column,
        domain: DomainType::Decimal { scale },
        edges: edges.iter().map(|digits| SqlValue::Decimal { digits: *digits, scale }).collect(),
        random,
    };
    [
        case("NUMERIC(12,4)", 4, &[0, 1, -1, 999_999_999_999, -999_999_999_999], |rng| decimal(rng, 12, 4)),
        // As floats these would be one number.
        case("NUMERIC(38,0)", 0, &[largest, largest - 1, -largest, 1 - largest], |rng| decimal(rng, 38, 0)),
        case("NUMERIC(38,38)", 38, &[largest, largest - 1, -largest, 0], |rng| decimal(rng, 38, 38)),
    ]
}

fn texts(column: &'static str) -> Case {
    Case {
        column,
        domain: DomainType::Text,
        edges: vec!["".into(), "a".into(), "a\u{1}".into()],
        random: text,
    }
}

fn postgres_cases() -> Vec<Case> {
    let moments = |column| Case {
        column,
        domain: DomainType::Timestamp,
        edges: [0, -1, 1, -4_000 * 365 * DAY, 100_000 * 365 * DAY].map(SqlValue::Timestamp).to_vec(),
        random: |rng| moment(rng, -4_000, 20_000),
    };
    let days = Case {
        column: "DATE",
        domain: DomainType::Date,
        edges: vec![
            SqlValue::date(-4_712, 1, 1).unwrap(),
            SqlValue::date(5_874_897, 12, 31).unwrap(),
            day(0),
        ],
        random: |rng| day(days(rng, -4_000, 20_000)),
    };
    let others = [days, moments("TIMESTAMP"), moments("TIMESTAMPTZ"), texts("CHAR(5)"), texts("VARCHAR(5)")];
    decimals().into_iter().chain(others).collect()
}

fn mariadb_cases() -> Vec<Case> {
    let moments = |column, edges: &[i64], random| Case {
        column,
        domain: DomainType::Timestamp,
        edges: edges.iter().copied().map(SqlValue::Timestamp).collect(),
        random,
    };
    let days = Case {
        column: "DATE",
        domain: DomainType::Date,
        edges: vec![
            SqlValue::date(1, 1, 1).unwrap(),
            SqlValue::date(9_999, 12, 31).unwrap(),
            day(0),
            day(-1),
        ],
        random: |rng| day(days(rng, 1, 9_999)),
    };
    let others = [
        days,
        moments("DATETIME(6)", &[0, -1, 1, -1_900 * 365 * DAY], |rng| moment(rng, 1, 9_999)),
        moments("TIMESTAMP(6) NULL", &[1_000_000, 68 * 365 * DAY], |rng| moment(rng, 1971, 2037)),
        texts("CHAR(5) CHARACTER SET utf8mb4"),
        texts("VARCHAR(5) CHARACTER SET utf8mb4"),
    ];
    decimals().into_iter().chain(others).collect()
}

fn sqlite_cases() -> Vec<Case> {
    let integers = |domain, edges: &[i64]| Case {
        column: "INTEGER",
        domain,
        edges: edges.iter().copied().map(SqlValue::Integer).collect(),
        random: |rng| SqlValue::Integer(rng.next_u64().cast_signed() >> rng.below(64)),
    };
    let floats = Case {
        column: "REAL",
        domain: DomainType::Float,
        edges: [0.0, -0.0, f64::MAX, f64::MIN, f64::INFINITY, 5e-324].map(SqlValue::Float).to_vec(),
        random: |rng| SqlValue::Float(f64::from_bits(rng.next_u64() >> 2)),
    };
    let ends = [i64::MIN, i64::MAX, 0, -1];
    vec![integers(DomainType::Integer, &ends), integers(DomainType::Timestamp, &ends), floats, texts("TEXT")]
}

type Range = (Bound<SqlValue>, Bound<SqlValue>);

fn bound(rng: &mut Rng, values: &[SqlValue]) -> Bound<SqlValue> {
    let value = values[rng.index(values.len())].clone();
    match rng.below(5) {
        0 => Bound::Unbounded,
        1 | 2 => Bound::Excluded(value),
        _ => Bound::Included(value),
    }
}

/// What a range holds by the keys, in their order.
fn expected(domain: DomainType, rows: &[(i64, SqlValue)], range: &Range) -> Vec<i64> {
    let of = |bound: &Bound<SqlValue>| bound.as_ref().map(|value| key(domain, value));
    let (lo, hi) = (of(&range.0), of(&range.1));
    let is_above = |key: &RangeKey| match &lo {
        Bound::Included(lo) => lo <= key,
        Bound::Excluded(lo) => lo < key,
        Bound::Unbounded => true,
    };
    let is_below = |key: &RangeKey| match &hi {
        Bound::Included(hi) => key <= hi,
        Bound::Excluded(hi) => key < hi,
        Bound::Unbounded => true,
    };
    let mut found: Vec<(RangeKey, i64)> = rows.iter().map(|(id, value)| (key(domain, value), *id)).collect();
    found.retain(|(key, _)| is_above(key) && is_below(key));
    found.sort();
    found.into_iter().map(|(_, id)| id).collect()
}

async fn the_order_of_the_store_is_that_of_keys(url: &str, case: Case, seed: u64) {
    let Case { column, domain, edges, random } = case;
    let mut rng = effort::rng(seed);
    let schema = Schema::new("things", "id").with_domain("value", domain);
    let (cache, things) = table(url, &format!("id BIGINT PRIMARY KEY, value {column}"), schema).await;
    let mut values = edges;
    values.extend((0..20).map(|_| random(&mut rng)));
    let mut rows: Vec<(i64, SqlValue)> = (1..).zip(values.iter().cloned()).collect();
    for (id, value) in &rows {
        things.insert([("id", (*id).into()), ("value", value.clone())]).await.unwrap();
    }
    // It lies in no range, wherever the database would put it.
    things.insert([("id", 0.into()), ("value", SqlValue::Null)]).await.unwrap();
    let ranges: Vec<Range> = (0..25).map(|_| (bound(&mut rng, &values), bound(&mut rng, &values))).collect();
    for round in 0..3 {
        for range in &ranges {
            let found = ids(things.get("value", range.clone()).await).await;
            let context = format!("{column}, seed {seed}, round {round}: {range:?}");
            assert_eq!(found, expected(domain, &rows, range), "{context}");
        }
        let all = things.get::<SqlValue>("value", ..).await.unwrap();
        for row in all.iter().skip(round).step_by(7) {
            let id = row.integer("id").unwrap();
            let (_, kept) = rows.iter_mut().find(|(known, _)| *known == id).unwrap();
            assert_eq!(row.get("value"), Some(&*kept), "{column}, seed {seed}: it is read as it was written");
            *kept = random(&mut rng);
            things.update(row, [("value", kept.clone())]).await.unwrap();
        }
    }
    cache.stop().await.unwrap();
}

async fn in_the_order_of_keys(url: &str, cases: Vec<Case>) {
    for (seed, case) in (70..).zip(cases) {
        the_order_of_the_store_is_that_of_keys(url, case, seed).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_orders_values_as_keys_are() {
    let place = crate::sql::world::Place::new();
    in_the_order_of_keys(&crate::sql::values::sqlite(&place), sqlite_cases()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_orders_values_as_keys_are() {
    let Some(server) = Postgres::start() else { return };
    in_the_order_of_keys(&server.url(), postgres_cases()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb_orders_values_as_keys_are() {
    let Some(server) = MariaDb::start() else { return };
    in_the_order_of_keys(&server.url(), mariadb_cases()).await;
}
