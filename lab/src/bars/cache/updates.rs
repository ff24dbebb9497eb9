//! Updates of single rows that many large results show: ten results of 900 rows, 800 of which are in all of them.
//!
//! What counts is that a write changes its row in each result and not the results. Afterwards every result must show
//! what the store has. Over PostgreSQL the multixacts are counted that the same updates use: a server that runs out of them stops.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_base::{Error, Result};
use lacuna_cache::redis::{RedisCache, RedisLog};
use lacuna_cache::sql::{DomainType, Options, Policy, Schema, SqlValue, Table};
use lacuna_testkit::servers::{MariaDb, Postgres, Redis};
use lacuna_workload::Rng;
use sqlx::{Connection as _, PgConnection};
use tokio::task::JoinSet;

use super::{Bar, Effort, Limit};
use crate::cache_bench::bare::Bare;
use crate::cache_bench::run::{Bench, runtime, until_interrupted};
use crate::cache_bench::system::not_written;

const RESULTS: i64 = 10;
const RESULT_ROWS: i64 = 900;
/// Between the first rows of two results.
const STEP: i64 = 10;
/// Bytes of a row besides its key.
const ROW_BYTES: usize = 90;
const TASKS: u64 = 16;
const UPDATES: u64 = 800;
/// Rounds of each policy.
const ROUNDS: usize = 5;
/// Between two reads that wait for a result to be there.
const PAUSE: Duration = Duration::from_millis(5);
/// The number of the next multixact, as the last checkpoint has it.
const NEXT_MULTIXACT: &str = "SELECT next_multixact_id::text::bigint FROM pg_control_checkpoint()";

/// How fast updates are, by policy, and the multixacts that they use.
pub(super) fn updates(_: &mut Bench, effort: &Effort, say: &mut dyn FnMut(String)) -> Result<Vec<Bar>> {
    let absent = |what: &str| Error::unavailable(format!("{what} is not installed"));
    let store = MariaDb::durable().ok_or_else(|| absent("mariadb-server"))?;
    let servers: Option<Vec<Redis>> = (0..4).map(|_| Redis::cache()).collect();
    let servers = servers.ok_or_else(|| absent("redis-server"))?;
    let policies = [("back", Policy::WriteBack), ("through", Policy::WriteThrough)];
    let mut bars = Vec::new();
    for (name, policy) in policies {
        say(format!("updates under ten results, write-{name}"));
        let options = options(&store.url(), &servers, name, policy)?;
        let (runtime, url) = (runtime()?, store.url());
        let seen = until_interrupted(&runtime, measure(&url, options, effort.seed))?;
        bars.push(Bar::number(
            format!(
                "updates of one row under ten cached results of 900 rows, {TASKS} at a time, write-{name}"
            ),
            format!("{:.0} a second", seen.a_second),
            format!("{UPDATES} updates on durable MariaDB, {} of {RESULTS} results differ", seen.wrong),
            if seen.wrong == 0 { seen.a_second } else { f64::NAN },
            Limit::AtLeast(1_000.0),
        ));
    }
    let store = Postgres::durable().ok_or_else(|| absent("postgresql"))?;
    say("multixacts of updates".to_owned());
    let options = options(&store.url(), &servers, "multixacts", Policy::WriteThrough)?;
    bars.push(until_interrupted(&runtime()?, multixacts(&store.url(), options, effort.seed))?);
    Ok(bars)
}

/// The multixacts that PostgreSQL uses for updates of which each is a transaction of its own.
async fn multixacts(url: &str, options: Options, seed: u64) -> Result<Bar> {
    let before = next_multixact(url).await?;
    let seen = measure(url, options, seed).await?;
    let used = next_multixact(url).await? - before;
    let updates = ROUNDS as u64 * UPDATES;
    let a_thousand = used as f64 * 1_000.0 / updates as f64;
    Ok(Bar::number(
        format!("multixacts of PostgreSQL for 1,000 of these updates, {TASKS} at a time, write-through"),
        format!("{used} multixacts"),
        format!(
            "{updates} updates, {:.0} a second, {} of {RESULTS} results differ",
            seen.a_second, seen.wrong
        ),
        if seen.wrong == 0 { a_thousand } else { f64::NAN },
        Limit::AtMost(1.0),
    ))
}

async fn next_multixact(url: &str) -> Result<i64> {
    asked(url).await.map_err(|error| {
        Error::unavailable(format!("the next multixact cannot be read: {error}")).with_source(error)
    })
}

async fn asked(url: &str) -> sqlx::Result<i64> {
    let mut connection = PgConnection::connect(url).await?;
    sqlx::raw_sql("CHECKPOINT").execute(&mut connection).await?;
    sqlx::query_scalar(NEXT_MULTIXACT).fetch_one(&mut connection).await
}

fn options(url: &str, servers: &[Redis], namespace: &str, policy: Policy) -> Result<Options> {
    let cache = RedisCache::new(&servers[0].url(), namespace)?;
    let mut options = Options::new(url).with_policy(policy).with_cache_server(Arc::new(cache));
    for server in servers[1..].iter().filter(|_| policy == Policy::WriteBack) {
        options = options.with_log_server(Arc::new(RedisLog::new(&server.url(), namespace)?));
    }
    Ok(options)
}

struct Seen {
    a_second: f64,
    wrong: usize,
}

async fn measure(url: &str, options: Options, seed: u64) -> Result<Seen> {
    let bare = Bare::open(url, 1).await?;
    bare.run("DROP TABLE IF EXISTS crowd").await?;
    bare.run("CREATE TABLE crowd (id BIGINT PRIMARY KEY, note VARCHAR(100) NOT NULL)").await?;
    let rows: Vec<String> = (0..RESULTS * STEP + RESULT_ROWS).map(|id| format!("({id}, 'new')")).collect();
    bare.run(&format!("INSERT INTO crowd VALUES {}", rows.join(", "))).await?;
    bare.close().await;
    let cache = options.open().await?;
    let table = cache.table(Schema::new("crowd", "id").with_domain("id", DomainType::Integer)).await?;
    let mut rounds = Vec::new();
    for round in 0..ROUNDS {
        for result in 0..RESULTS {
            warm(&table, result).await?;
        }
        rounds.push(UPDATES as f64 / update(&table, seed, round).await?.as_secs_f64());
    }
    let cached = results(&table).await?;
    cache.stop().await?;
    let plain = Options::new(url).with_cache_bytes(0).open().await?;
    let table = plain.table(Schema::new("crowd", "id").with_domain("id", DomainType::Integer)).await?;
    let stored = results(&table).await?;
    plain.stop().await?;
    rounds.sort_by(f64::total_cmp);
    let wrong = cached.iter().zip(&stored).filter(|(cached, stored)| cached != stored).count();
    Ok(Seen { a_second: rounds[ROUNDS / 2], wrong })
}

fn range(result: i64) -> std::ops::Range<i64> {
    result * STEP..result * STEP + RESULT_ROWS
}

/// Reads a result until the cache has it.
async fn warm(table: &Table, result: i64) -> Result<()> {
    loop {
        let hits = table.counts().hits;
        table.get("id", range(result)).await?;
        if table.counts().hits > hits {
            return Ok(());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn results(table: &Table) -> Result<Vec<lacuna_cache::sql::Rows>> {
    let mut results = Vec::new();
    for result in 0..RESULTS {
        results.push(table.get("id", range(result)).await?);
    }
    Ok(results)
}

/// Updates rows that all results show; returns how long that took.
async fn update(table: &Table, seed: u64, round: usize) -> Result<Duration> {
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let table = table.clone();
        tasks.spawn(async move {
            let mut rng = Rng::with_stream(seed, round as u64 * TASKS + task);
            for number in 0..UPDATES / TASKS {
                let id =
                    RESULTS * STEP + rng.below((RESULT_ROWS - RESULTS * STEP).cast_unsigned()).cast_signed();
                let row = table.known_row([("id", id.into())])?;
                let note = format!("{:0>ROW_BYTES$}", format!("{round} {task} {number}"));
                table.update(&row, [("note", SqlValue::Text(note))]).await.map_err(not_written)?;
            }
            Ok::<(), Error>(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.map_err(|_| Error::unavailable("a task of the bench ended"))??;
    }
    Ok(start.elapsed())
}
