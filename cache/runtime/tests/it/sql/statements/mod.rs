//! Random statements over ranges of random tables, compared with the same statements sent to the same database alone:
//! first asked, asked again from the cache, and asked after writes.
//!
//! In the plain statement every parameter is a literal, which takes its type from what it is compared with, as an
//! application writes it by hand.

mod drawn;

use std::sync::Arc;

use lacuna_cache::redis::RedisCache;
use lacuna_cache::sql::{Answer, Cache, DomainType, Options, Schema, SqlValue, Table, WriteError};
use lacuna_cache_protocol::Policy;
use lacuna_cache_protocol::embedded::MemoryLog;
use lacuna_testkit::effort;
use lacuna_testkit::servers::{MariaDb, Postgres, Redis};
use lacuna_workload::Rng;

use crate::sql::plain::{Plain, Texts};
use crate::sql::world::{AT_MOST, Dialect, patient};
use drawn::{Drawn, Statement};

/// Statements that are asked again and again of one table.
const KNOWN: usize = 24;
const ROWS: i64 = 30;

/// What was seen of one table, or of all.
#[derive(Debug, Default)]
struct Seen {
    compared: u64,
    hits: u64,
    /// By the database, by the cache alone, with reasons.
    refused: (u64, u64),
    reasons: std::collections::BTreeSet<String>,
}

struct Run {
    plain: Plain,
    cache: Cache,
    table: Table,
    drawn: Drawn,
    rng: Rng,
    barrier: i64,
    next_id: i64,
}

impl Run {
    async fn open(options: Options, mut plain: Plain, drawn: Drawn, rng: Rng) -> Self {
        plain.run(&drawn.definition()).await;
        let cache = options.open().await.unwrap();
        let table = cache.table(drawn.schema()).await.unwrap_or_else(|error| panic!("{drawn:?}: {error}"));
        let mut run = Self { plain, cache, table, drawn, rng, barrier: 0, next_id: 0 };
        for _ in 0..ROWS {
            run.insert().await;
        }
        run
    }

    async fn insert(&mut self) {
        self.next_id += 1;
        let row = self.drawn.row(&mut self.rng, self.next_id);
        // A value may be too long or out of range.
        match self.table.insert(row.iter().map(|(name, value)| (*name, value.clone()))).await {
            Ok(()) | Err(WriteError::Refused(_)) => {}
            Err(error) => panic!("{row:?}: {error}"),
        }
    }

    async fn write(&mut self) {
        if self.rng.index(3) == 0 {
            return self.insert().await;
        }
        let from = i64::try_from(self.rng.index(usize::try_from(self.next_id).unwrap())).unwrap();
        let Some(row) = self.table.get("id", from..).await.unwrap().into_iter().next() else { return };
        let done = if self.rng.index(4) == 0 {
            self.table.delete(&row).await
        } else {
            let changed = self.drawn.change(&mut self.rng);
            self.table.update(&row, [(changed.0, changed.1)]).await
        };
        match done {
            Ok(()) | Err(WriteError::Refused(_)) => {}
            Err(error) => panic!("{row:?}: {error}"),
        }
    }

    /// Waits until the database has all writes: a result that is asked for the first time follows all of its interval.
    async fn settle(&mut self) {
        self.barrier += 1;
        let sql = match self.drawn.dialect {
            Dialect::Postgres => "SELECT COUNT(*) FROM things WHERE id >= $1 AND id <> $2",
            _ => "SELECT COUNT(*) FROM things WHERE id >= ? AND id <> ?",
        };
        self.table.query(sql, &[0.into(), (1_000_000 + self.barrier).into()]).await.unwrap();
    }

    async fn compare(&mut self, statement: &Statement, seen: &mut Seen) {
        let Statement { sql, params, .. } = statement;
        let plain = &statement.plain(self.drawn.dialect);
        self.settle().await;
        let before = self.table.counts().hits;
        let answer = self.table.query(sql, params).await;
        seen.hits += self.table.counts().hits - before;
        let expected = self.plain.try_rows(plain).await;
        let what = || format!("seed {}: {sql} {params:?}\n{plain}\n{:?}", effort::seed(), self.drawn);
        match (answer, expected) {
            (Ok(answer), Ok(expected)) => {
                assert!(self.is_same(&answer, &expected), "{}\n{answer:?}\n{expected:?}", what());
                seen.compared += 1;
            }
            (_, Err(_)) => seen.refused.0 += 1,
            (Err(error), Ok(_)) => {
                assert_eq!(
                    error.kind(),
                    lacuna_cache_protocol::ErrorKind::InvalidInput,
                    "{error}: {}",
                    what()
                );
                seen.refused.1 += 1;
                seen.reasons.insert(format!("{error}: {plain}"));
            }
        }
    }

    fn is_same(&self, answer: &Answer, expected: &Texts) -> bool {
        let same = |(value, text): (&SqlValue, &Option<String>)| match text {
            None => *value == SqlValue::Null,
            Some(text) => drawn::is_value(value, text, &self.drawn),
        };
        let row = |(row, texts): (&Vec<SqlValue>, &Vec<Option<String>>)| {
            row.len() == texts.len() && row.iter().zip(texts).all(same)
        };
        answer.rows().len() == expected.len() && answer.rows().iter().zip(expected).all(row)
    }
}

/// One table after the other, with what is asked of it.
async fn statements_equal_plain_ones(dialect: Dialect, url: &str) {
    let mut all = Seen::default();
    let server = Redis::cache();
    for number in 0..effort::short_or_long(3, 200) {
        let mut rng = effort::rng(1_000 + number);
        let policy = [Policy::WriteBack, Policy::WriteThrough, Policy::WriteAround][rng.index(3)];
        let mut options = patient(url).with_policy(policy).with_log_server(Arc::new(MemoryLog::default()));
        if let Some(server) = server.as_ref().filter(|_| number % 2 == 1) {
            let redis = RedisCache::new(&server.url(), &format!("table{number}")).unwrap();
            options = options.with_cache_server(Arc::new(redis.with_patience(AT_MOST)));
        }
        let mut plain = Plain::open(url).await;
        if dialect == Dialect::MariaDb {
            // What a server is set to is not what statements of the cache mean.
            let mode = ["", "PAD_CHAR_TO_FULL_LENGTH,EMPTY_STRING_IS_NULL,ANSI_QUOTES"][rng.index(2)];
            plain.run(&format!("SET GLOBAL sql_mode = '{mode}'")).await;
            plain.run("SET SESSION sql_mode = 'PIPES_AS_CONCAT'").await;
        }
        let drawn = Drawn::new(dialect, &mut rng);
        let mut known: Vec<Statement> = (0..KNOWN).map(|_| drawn.statement(&mut rng)).collect();
        let mut run = Run::open(options, plain, drawn, rng).await;
        for round in 0..effort::short_or_long(5, 20) {
            for statement in &mut known {
                run.compare(statement, &mut all).await;
                // Another one in its place, or the same with other values.
                match run.rng.index(6) {
                    0 => *statement = run.drawn.statement(&mut run.rng),
                    1 => statement.draw_values(&mut run.rng),
                    _ => {}
                }
            }
            for _ in 0..if round % 2 == 0 { 0 } else { 4 } {
                run.write().await;
            }
        }
        run.cache.stop().await.unwrap();
    }
    println!("{all:?}");
    let asked = all.compared + all.refused.0 + all.refused.1;
    assert!(all.compared * 2 > asked, "most are answered: {all:?}");
    assert!(all.hits * 8 > all.compared, "some are hits: {all:?}");
}

/// `1 day` and `24:00:00` are one value to `PostgreSQL`, which would show either of them.
async fn distinct_values_read_as_text_are_refused(dialect: Dialect, url: &str) {
    let declared = if dialect == Dialect::Postgres { "INTERVAL" } else { "TIME" };
    let mut plain = Plain::open(url).await;
    plain
        .run(&format!("CREATE TABLE pauses (id BIGINT PRIMARY KEY, pause {declared}, nap {declared})"))
        .await;
    plain.run("INSERT INTO pauses VALUES (1, '24:00:00', '01:00:00')").await;
    let cache = patient(url).open().await.unwrap();
    let table =
        cache.table(Schema::new("pauses", "id").with_domain("id", DomainType::Integer)).await.unwrap();
    for shown in ["pause", "id, pause", "pause AS rest"] {
        let why = table.query(&format!("SELECT DISTINCT {shown} FROM pauses WHERE id < 9"), &[]).await;
        assert!(why.unwrap_err().to_string().contains("is read as text"), "{shown}");
    }
    let shown = table.query("SELECT pause FROM pauses WHERE id < 9 ORDER BY id", &[]).await.unwrap();
    assert_eq!(shown.rows(), [["24:00:00".into()]], "all of them can be shown");
    cache.stop().await.unwrap();
}

/// What they mean changes while a result is cached.
async fn texts_that_mean_the_clock_are_refused(url: &str) {
    let mut plain = Plain::open(url).await;
    let columns = "id BIGINT PRIMARY KEY, due DATE, at TIMESTAMP, name TEXT";
    plain.run(&format!("CREATE TABLE tasks ({columns})")).await;
    plain.run("INSERT INTO tasks VALUES (1, '2020-01-01', '2020-01-01', 'now')").await;
    let cache = patient(url).open().await.unwrap();
    let table = cache.table(Schema::new("tasks", "id").with_domain("id", DomainType::Integer)).await.unwrap();
    let asked = async |condition: &str, values: &[SqlValue]| {
        table.query(&format!("SELECT id FROM tasks WHERE id < 9 AND {condition}"), values).await
    };
    for condition in [
        "due - 'today' < 7",
        "coalesce(due, 'Tomorrow') > due",
        "nullif(due, 'now') IS NULL",
        "at + 'now' = at",
    ] {
        let why = asked(condition, &[]).await.unwrap_err().to_string();
        assert!(why.contains("clock"), "{condition}: {why}");
    }
    for (condition, text) in [("due < $1", "tomorrow"), ("at < $1", " NOW "), ("due = $1", "today")] {
        let why = asked(condition, &[text.into()]).await.unwrap_err().to_string();
        assert!(why.contains("clock"), "{condition}: {why}");
    }
    for (condition, text) in [("name = $1", "now"), ("due < $1", "2021-01-01"), ("name < $1", "today")] {
        let found = asked(condition, &[text.into()]).await.unwrap();
        assert_eq!(found.rows(), [[1.into()]], "{condition}, {text}");
    }
    for condition in ["name = 'now'", "name LIKE 'now'", "name LIKE '%now%'"] {
        assert_eq!(asked(condition, &[]).await.unwrap().rows(), [[1.into()]], "{condition}");
    }
    cache.stop().await.unwrap();
}

/// The database leaves their content out, or takes it for SQL, by its version.
async fn comments_that_are_executed_are_refused(url: &str) {
    let mut plain = Plain::open(url).await;
    plain.run("CREATE TABLE remarks (id BIGINT PRIMARY KEY, pay BIGINT)").await;
    let cache = patient(url).open().await.unwrap();
    let table =
        cache.table(Schema::new("remarks", "id").with_domain("id", DomainType::Integer)).await.unwrap();
    for comment in
        ["/*!99999 AND pay = 1 */", "/*!50000 AND pay = 1 */", "/*! AND pay = 1 */", "/*M! AND pay = 1 */"]
    {
        let why = table.query(&format!("SELECT id FROM remarks WHERE id < 9 {comment}"), &[]).await;
        assert!(why.unwrap_err().to_string().contains("instruction to the database"), "{comment}");
    }
    cache.stop().await.unwrap();
}

/// `round(numeric, bigint)` is no function of `PostgreSQL`.
async fn prices_are_rounded_to_as_many_digits_as_a_parameter_says(url: &str) {
    let mut plain = Plain::open(url).await;
    plain.run("CREATE TABLE prices (id BIGINT PRIMARY KEY, price NUMERIC(12, 4) NOT NULL)").await;
    plain.run("INSERT INTO prices VALUES (1, 12.3456), (2, -0.0050), (3, 199.9999)").await;
    let cache = patient(url).open().await.unwrap();
    let schema = Schema::new("prices", "id").with_domain("id", DomainType::Integer);
    let table = cache.table(schema).await.unwrap();
    for digits in [-1, 0, 2, 3] {
        let asked = "SELECT round(price, ?) FROM prices WHERE id < 9 ORDER BY id";
        let asked = if url.starts_with("postgres") { asked.replace('?', "$1") } else { asked.to_owned() };
        let answer = table.query(&asked, &[digits.into()]).await.unwrap();
        let alone = asked.replace("$1", "?").replace('?', &digits.to_string());
        let expected = plain.rows(&alone).await;
        let shown: Vec<f64> = answer.rows().iter().map(|row| decimal(&row[0])).collect();
        let expected: Vec<f64> =
            expected.iter().map(|row| row[0].as_ref().unwrap().parse().unwrap()).collect();
        assert_eq!(shown, expected, "{digits} digits");
    }
    cache.stop().await.unwrap();
}

fn decimal(value: &SqlValue) -> f64 {
    match value {
        SqlValue::Text(text) => text.parse().unwrap(),
        SqlValue::Integer(whole) => f64::from(i32::try_from(*whole).unwrap()),
        SqlValue::Float(value) => *value,
        SqlValue::Decimal { digits, scale } => {
            i64::try_from(*digits).unwrap() as f64 / 10f64.powi((*scale).into())
        }
        other => panic!("{other:?} is no number"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_over_ranges_equal_plain_ones_on_postgres() {
    let Some(server) = Postgres::start() else { return };
    statements_equal_plain_ones(Dialect::Postgres, &server.url()).await;
    distinct_values_read_as_text_are_refused(Dialect::Postgres, &server.url()).await;
    texts_that_mean_the_clock_are_refused(&server.url()).await;
    prices_are_rounded_to_as_many_digits_as_a_parameter_says(&server.url()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_over_ranges_equal_plain_ones_on_mariadb() {
    let Some(server) = MariaDb::start() else { return };
    statements_equal_plain_ones(Dialect::MariaDb, &server.url()).await;
    distinct_values_read_as_text_are_refused(Dialect::MariaDb, &server.url()).await;
    comments_that_are_executed_are_refused(&server.url()).await;
    prices_are_rounded_to_as_many_digits_as_a_parameter_says(&server.url()).await;
}
