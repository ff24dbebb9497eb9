//! Statements over SQLite in memory, compared with the same statements sent to the database alone.

use lacuna_cache_protocol::{ErrorKind, Policy};
use lacuna_testkit::effort;
use lacuna_workload::Rng;

use super::*;
use crate::sql::{Cache, DomainType, Options, Schema, Statement, Table};

const TABLE: &str = "CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER, city TEXT, pay INTEGER)";
const POLICIES: [Policy; 3] = [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack];

async fn people(policy: Policy) -> (Cache, Table) {
    let cache = Options::new("sqlite::memory:").with_policy(policy).open().await.unwrap();
    cache.run_sql(TABLE).await.unwrap();
    let schema = Schema::new("people", "id")
        .with_domain("age", DomainType::Integer)
        .with_domain("city", DomainType::Text);
    let table = cache.table(schema).await.unwrap();
    (cache, table)
}

async fn add(people: &Table, id: i64, age: impl Into<SqlValue>, city: &str, pay: i64) {
    let row = [("id", id.into()), ("age", age.into()), ("city", city.into()), ("pay", pay.into())];
    people.insert(row).await.unwrap();
}

/// The same from the database alone.
async fn plain(cache: &Cache, sql: &str, params: &[SqlValue]) -> Vec<Vec<SqlValue>> {
    let statement = params.iter().cloned().fold(Statement::new(sql), Statement::with);
    cache.database.query(&statement).await.unwrap_or_else(|failure| panic!("{sql}: {:?}", failure.error))
}

#[tokio::test]
async fn a_statement_is_answered_from_the_cache_until_a_write_touches_its_interval() {
    let sql = "SELECT city, COUNT(*) AS n, SUM(pay) FROM people AS p WHERE p.age BETWEEN ? AND ? AND pay < ? \
               GROUP BY city HAVING COUNT(*) > 0 ORDER BY n DESC, city LIMIT 10";
    let params = [18.into(), 22.into(), 100.into()];
    for policy in POLICIES {
        let (cache, people) = people(policy).await;
        add(&people, 1, 20, "Rome", 5).await;
        add(&people, 2, 30, "Oslo", 7).await;
        let first = people.query(sql, &params).await.unwrap();
        assert_eq!(first.columns(), ["city", "n", "SUM(pay)"]);
        assert_eq!(first.rows(), [["Rome".into(), 1.into(), 5.into()]], "{policy:?}");
        let asked = cache.counts().store_queries;
        add(&people, 3, 40, "Rome", 1).await;
        assert_eq!(people.query(sql, &params).await.unwrap(), first);
        assert_eq!(cache.counts().store_queries, asked, "{policy:?}: a write beside it leaves it there");
        // A column that is neither bounded nor registered, of a row inside.
        let row = people.known_row([("id", 1.into()), ("age", 20.into()), ("city", "Rome".into())]).unwrap();
        people.update(&row, [("pay", 6.into())]).await.unwrap();
        let seen = people.query(sql, &params).await.unwrap();
        assert_eq!(seen.rows(), [["Rome".into(), 1.into(), 6.into()]], "{policy:?}");
        people.update(&row, [("age", 23.into())]).await.unwrap();
        assert!(people.query(sql, &params).await.unwrap().rows().is_empty(), "{policy:?}: it has moved out");
        cache.stop().await.unwrap();
    }
}

#[tokio::test]
async fn other_values_of_further_conditions_are_other_results() {
    let (cache, people) = people(Policy::WriteThrough).await;
    add(&people, 1, 20, "Rome", 5).await;
    let sql = "SELECT id FROM people WHERE age = ? AND pay = ?";
    for (pay, count) in [(5, 1), (6, 0), (5, 1), (6, 0)] {
        let found = people.query(sql, &[20.into(), pay.into()]).await.unwrap();
        assert_eq!(found.rows().len(), count, "pay {pay}");
    }
    // Neither takes the rows of the range for its own, nor gives them its own.
    assert_eq!(people.get("age", 20..=20).await.unwrap()[0].integer("pay"), Some(5));
    assert_eq!(
        people.query("SELECT COUNT(*) FROM people WHERE age = 20", &[]).await.unwrap().rows(),
        [[1.into()]]
    );
    assert!(people.get("age", 50..=60).await.unwrap().is_empty());
    let none = people.query("SELECT COUNT(*) FROM people WHERE age = 55", &[]).await.unwrap();
    assert_eq!(none.rows(), [[0.into()]], "a range that is known to be empty has a count, too");
    cache.stop().await.unwrap();
}

#[tokio::test]
async fn empty_ranges_have_the_answer_of_the_database() {
    let (cache, people) = people(Policy::WriteThrough).await;
    add(&people, 1, 20, "Rome", 5).await;
    let sql = "SELECT COUNT(*), MAX(pay) FROM people WHERE age BETWEEN ? AND ?";
    for (lo, hi) in [(SqlValue::Null, 30.into()), (10.into(), SqlValue::Null), (30.into(), 10.into())] {
        let found = people.query(sql, &[lo.clone(), hi.clone()]).await.unwrap();
        assert_eq!(found.rows(), plain(&cache, sql, &[lo, hi]).await);
    }
    add(&people, 2, SqlValue::Null, "Rome", 9).await;
    let found = people.query(sql, &[SqlValue::Null, 30.into()]).await.unwrap();
    assert_eq!(found.rows(), [[0.into(), SqlValue::Null]]);
    for params in [&[][..], &[1.into()], &[1.into(), 2.into(), 3.into()], &["a".into(), 2.into()]] {
        let why = people.query(sql, params).await.unwrap_err();
        assert_eq!(why.kind(), ErrorKind::InvalidInput, "{why}");
    }
    cache.stop().await.unwrap();
}

#[tokio::test]
async fn what_is_not_recognised_is_refused_with_the_reason() {
    let (cache, people) = people(Policy::WriteThrough).await;
    let cases = [
        ("SELECT id FROM people", "needs a WHERE"),
        ("SELECT id FROM people WHERE pay = 1", "no condition bounds a registered column (age, city)"),
        ("SELECT id FROM people WHERE age = 1 OR pay = 1", "no condition bounds"),
        ("SELECT id FROM people WHERE NOT age = 1", "no condition bounds"),
        ("SELECT id FROM people WHERE age + 1 = 2", "no condition bounds"),
        ("SELECT random() FROM people WHERE age = 1", "depend on their arguments alone"),
        ("SELECT id FROM people WHERE age = 1 AND pay < random()", "depend on their arguments alone"),
        ("SELECT set_config('a', 'b', false) FROM people WHERE age = 1", "depend on their arguments alone"),
        ("SELECT id FROM people WHERE age = 1 AND pay = nextval('a')", "depend on their arguments alone"),
        (
            "SELECT COUNT(*) FROM people WHERE age = 1 HAVING pg_advisory_lock(1) IS NULL",
            "depend on their arguments",
        ),
        ("SELECT id FROM people WHERE age = 1 ORDER BY now()", "depend on their arguments alone"),
        ("SELECT pg_catalog.abs(id) FROM people WHERE age = 1", "pg_catalog.abs is not known here"),
        ("SELECT id FROM people WHERE age = 1 AND pay < CURRENT_TIMESTAMP", "not a plain call"),
        ("SELECT id FROM people WHERE age = 1 AND id IN (SELECT 1)", "contains another query"),
        ("SELECT (SELECT 1) FROM people WHERE age = 1", "contains another query"),
        ("SELECT rowid FROM people WHERE age = 1", "rowid is no column"),
        ("SELECT id FROM other WHERE age = 1", "this is the table people"),
        ("SELECT id FROM main.people WHERE age = 1", "this is the table people"),
        ("SELECT p.id FROM people p, people q WHERE p.age = 1", "reads more than the table people"),
        ("SELECT p.id FROM people p JOIN people q ON p.id = q.id WHERE p.age = 1", "joins people to itself"),
        ("SELECT id FROM (SELECT * FROM people) WHERE age = 1", "names no plain table"),
        ("WITH p AS (SELECT 1) SELECT id FROM people WHERE age = 1", "WITH"),
        ("SELECT id FROM people WHERE age = 1 UNION SELECT 1", "not one SELECT"),
        ("SELECT id FROM people WHERE age = 1; SELECT 1", "not one statement"),
        ("DELETE FROM people WHERE age = 1", "no SELECT"),
        ("SELECT id FROM people WHERE age = 1 -- x", "comment"),
        ("SELECT /*+ x */ id FROM people WHERE age = 1", "comment"),
        ("SELECT id FROM people WHERE age = 1 ORDER BY 1", "name what to order"),
        ("SELECT id FROM people WHERE age = 1 OFFSET 2", "OFFSET needs a LIMIT"),
        ("SELECT id AS pay FROM people WHERE age = 1", "names a column of the table and something else"),
        ("SELECT COUNT(*) OVER () FROM people WHERE age = 1", "not a plain call"),
        ("SELECT CAST(id AS TEXT) FROM people WHERE age = 1", "not known here"),
        ("SELECT id FROM people WHERE age = 1 AND city = 'a\\b'", "different things in different sessions"),
        ("SELECT id FROM people WHERE age = ?1 AND pay = ?3", "have a gap"),
        ("SELECT id FROM people WHERE age = ? AND pay = ?2", "both by number and by place"),
        ("SELECT id FROM people WHERE age = :age", "no condition bounds"),
        ("SELECT id FROM people WHERE age = 1 AND 1 = pay < 5", "put it in parentheses"),
        ("SELECT id FROM people WHERE age = 1 AND id = pay BETWEEN 0 AND 1", "put it in parentheses"),
        ("SELECT id FROM", "cannot be read"),
    ];
    for (sql, expected) in cases {
        let why = people.query(sql, &[]).await.expect_err(sql);
        assert_eq!(why.kind(), ErrorKind::InvalidInput, "{sql}: {why}");
        assert!(why.to_string().contains(expected), "{sql}: {why}");
    }
    let deep = format!("SELECT id FROM people WHERE age = 1 AND {}pay{}", "(".repeat(900), ")".repeat(900));
    assert!(people.query(&deep, &[]).await.is_err(), "and the process goes on");
    cache.stop().await.unwrap();
}

/// A statement and its values, from a small grammar.
fn some_statement(rng: &mut Rng) -> (String, Vec<SqlValue>) {
    let mut params: Vec<SqlValue> = Vec::new();
    let number = |rng: &mut Rng, most| i64::try_from(rng.index(most)).unwrap();
    let what = [
        "id",
        "*",
        "city, pay",
        "DISTINCT city",
        "COUNT(*)",
        "city, SUM(pay) AS s",
        "MAX(city), MIN(age), AVG(pay)",
    ];
    let nth = rng.index(what.len());
    let (lo, len) = (number(rng, 12), number(rng, 5));
    let bound =
        ["age BETWEEN ? AND ?", "age >= ? AND age <= ?", "? < age AND age < ?", "(age >= ?) AND ? > age"];
    params.extend([lo.into(), (lo + len).into()]);
    let mut sql = format!("SELECT {} FROM people WHERE {}", what[nth], bound[rng.index(bound.len())]);
    match rng.index(6) {
        0 => sql.push_str(" AND (city = 'Rome' OR pay IS NULL)"),
        1 => {
            sql.push_str(" AND pay <> ? AND NOT city LIKE 'O%'");
            params.push(number(rng, 4).into());
        }
        2 => {
            sql.push_str(" AND pay IN (?, 2) AND coalesce(pay, 0) + 1 > ?");
            params.extend([number(rng, 4).into(), number(rng, 4).into()]);
        }
        3 => sql.push_str(" AND lower(city) = 'oslo' AND pay NOT BETWEEN 1 AND 1"),
        _ => {}
    }
    sql.push_str(if nth == 5 { " GROUP BY city ORDER BY s, city" } else { "" });
    sql.push_str(if nth < 2 { " ORDER BY age DESC, id LIMIT 3 OFFSET 1" } else { "" });
    sql.push_str(if nth == 2 || nth == 3 { " ORDER BY city, pay" } else { "" });
    (sql, params)
}

async fn some_write(rng: &mut Rng, people: &Table, id: i64) {
    let cities = ["Rome", "Oslo", "rome"];
    let age = i64::try_from(rng.index(16)).unwrap();
    match rng.index(4) {
        0 => add(people, id, age, cities[rng.index(3)], i64::try_from(rng.index(4)).unwrap()).await,
        1 => {
            let found = people.get("age", age..).await.unwrap();
            let Some(row) = found.first() else { return };
            people.update(row, [("age", i64::try_from(rng.index(16)).unwrap().into())]).await.unwrap();
        }
        2 => {
            let found = people.get("age", age..).await.unwrap();
            let Some(row) = found.first() else { return };
            let pay = [SqlValue::Null, 1.into(), 2.into()][rng.index(3)].clone();
            people.update(row, [("pay", pay), ("city", cities[rng.index(3)].into())]).await.unwrap();
        }
        _ => {
            let found = people.get("age", age..).await.unwrap();
            let Some(row) = found.first().filter(|_| rng.index(2) == 0) else { return };
            people.delete(row).await.unwrap();
        }
    }
}

/// Under write-back the database lacks acknowledged writes while it is asked: the statement must show them.
#[tokio::test]
async fn random_statements_equal_those_of_the_database() {
    for policy in POLICIES {
        let (cache, people) = people(policy).await;
        let mut rng = effort::rng(23);
        let (mut statements, mut hits) = (Vec::new(), 0);
        for _ in 0..12 {
            statements.push(some_statement(&mut rng));
        }
        for round in 0..effort::short_or_long(300, 20_000) {
            some_write(&mut rng, &people, i64::from(round)).await;
            let (sql, params) = statements[rng.index(12)].clone();
            let before = cache.counts().hits;
            let seen = people.query(&sql, &params).await.unwrap_or_else(|why| panic!("{sql}: {why}"));
            hits += cache.counts().hits - before;
            // Whatever is buffered is in the database after a read of everything past its entries.
            let all = "SELECT COUNT(*) FROM people WHERE age >= 0 AND pay <> ?";
            people.query(all, &[i64::from(1_000 + round).into()]).await.unwrap();
            let seed = effort::seed();
            assert_eq!(
                seen.rows(),
                plain(&cache, &sql, &params).await,
                "seed {seed}, round {round}, {policy:?}: {sql}"
            );
        }
        assert!(hits > 20, "{policy:?}: {hits} hits");
        cache.stop().await.unwrap();
    }
}

#[tokio::test]
async fn long_chains_are_refused_and_the_process_goes_on() {
    let (cache, people) = people(Policy::WriteThrough).await;
    let chain = |sign: &str, count: usize| vec!["pay"; count].join(sign);
    for deep in [
        format!("SELECT id FROM people WHERE age = 1 AND pay = {}", chain("+", 900)),
        format!("SELECT {} FROM people WHERE age = 1", chain("+", 900)),
        format!("SELECT CAST({} AS TEXT) FROM people WHERE age = 1", chain("+", 900)),
        format!("SELECT id FROM people WHERE age = 1 AND ({})", chain(" OR ", 500)),
        format!("SELECT id FROM people WHERE age = 1 AND abs({} + ({})) = 1", chain("-", 60), chain("*", 60)),
    ] {
        let why = people.query(&deep, &[]).await.unwrap_err();
        assert!(why.to_string().contains("more than 100 operators"), "{why}");
    }
    add(&people, 1, 1, "Rome", 1).await;
    let any = ["pay = 1"; 40].join(" OR ");
    let all = ["pay < 2"; 20].join(" AND ");
    let list = ["1"; 400].join(", ");
    for long in [
        format!("({any}) AND pay = 1"),
        all,
        format!("pay IN ({list})"),
        format!("pay + 40 = {}", chain("+", 41)),
    ] {
        let found = people.query(&format!("SELECT id FROM people WHERE age = 1 AND {long}"), &[]).await;
        assert_eq!(found.unwrap().rows(), [[1.into()]], "{long}");
    }
    cache.stop().await.unwrap();
}
