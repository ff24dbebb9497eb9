//! Events show what happens, and no value of a row and no password.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lacuna_cache::redis::RedisCache;
use lacuna_cache::sql::{DomainValue, Policy, Statement, Table};
use lacuna_testkit::servers::Redis;
use tokio::time::{sleep, timeout};
use tracing::subscriber::{DefaultGuard, set_default};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::{fmt, registry};

use crate::cluster::dendrites::{AT_MOST, Dendrites, SECRET, slot};

const LONG: Duration = Duration::from_secs(600);
/// In a column, and in a statement.
const VALUE: &str = "what only its owner may read";
const PASSWORD: &str = "hunter2";

/// The lines of a log.
#[derive(Debug, Default, Clone)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Lines {
    /// The events of the cache in this thread, as the command line writes them, until the guard is dropped.
    fn of_this_thread() -> (Self, DefaultGuard) {
        let lines = Self::default();
        let writer = lines.clone();
        let layer = fmt::layer().with_ansi(false).without_time().with_writer(move || writer.clone());
        let targets = Targets::new().with_target("lacuna_cache", LevelFilter::TRACE);
        let guard = set_default(registry().with(layer).with(targets));
        (lines, guard)
    }

    fn all(&self) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().map(|line| line.trim_start().to_owned()).collect()
    }

    /// The first event of this level with these words.
    fn find(&self, level: &str, words: &str) -> Option<String> {
        self.all().into_iter().find(|line| line.starts_with(level) && line.contains(words))
    }

    async fn wait_for(&self, level: &str, words: &str) {
        let comes = async {
            while self.find(level, words).is_none() {
                sleep(Duration::from_millis(5)).await;
            }
        };
        let came = timeout(AT_MOST, comes).await;
        assert!(came.is_ok(), "no {level} {words:?} in {:#?}", self.all());
    }

    fn never_hold(&self, secret: &str) {
        let leak = self.all().into_iter().find(|line| line.contains(secret));
        assert_eq!(leak, None);
    }
}

/// On a busy machine something else may happen meanwhile, but not each time.
async fn hits_are_no_events(lines: &Lines, table: &Table) {
    for _ in 0..10 {
        let (before, hits) = (lines.all().len(), table.counts().hits);
        for _ in 0..50 {
            table.get("place", 0..10).await.unwrap();
        }
        if lines.all().len() == before && table.counts().hits >= hits + 50 {
            return;
        }
    }
    panic!("hits make events: {:#?}", lines.all());
}

/// A request of another process waits for the end of a transaction.
async fn a_request_that_waits(dendrites: &Dendrites, table: &Table) {
    let open = dendrites.cache.transaction().on(table, "place", 0..10).begin().await.unwrap();
    let reader = tokio::spawn({
        let table = table.clone();
        async move { table.get("place", 0..10).await.unwrap().len() }
    });
    sleep(Duration::from_millis(1_300)).await;
    open.commit().await.unwrap();
    assert_eq!(reader.await.unwrap(), 1);
}

/// It names a key that is taken, and the application has said that the database would take it.
async fn a_write_that_is_set_aside(table: &Table) {
    let mut places = table.write_set("place").unwrap();
    places.after(DomainValue::Integer(9)).unwrap();
    let sql = format!("INSERT INTO slots (id, place, name) VALUES (1, 9, '{VALUE}')");
    let done = table.execute(&[places], vec![Statement::new(sql).never_refused()]).await;
    done.expect("it is acknowledged before the database has it");
}

#[tokio::test]
async fn events_show_what_happens_to_a_table_and_no_value_of_its_rows() {
    let (lines, _guard) = Lines::of_this_thread();
    let dendrites = Dendrites::open(1, Policy::WriteBack).await;
    let client = dendrites.client().await;
    let far = dendrites.table_of(&client).await;
    far.insert([("id", 1.into()), ("place", 7.into()), ("name", VALUE.into())]).await.unwrap();
    a_request_that_waits(&dendrites, &far).await;
    hits_are_no_events(&lines, &dendrites.table_at(0).await).await;
    let mut load = far.bulk_load(LONG).await.unwrap();
    load.insert([slot(2, 20)]).await.unwrap();
    load.finish().await.unwrap();
    a_write_that_is_set_aside(&far).await;
    lines.wait_for("WARN", "acknowledged writes are not in the store").await;
    dendrites.stop().await;
    let expected = [
        ("INFO", "the range is served"),
        ("DEBUG", "a tenure was granted"),
        ("DEBUG", "connected to a dendrite"),
        ("DEBUG", "a caller has connected"),
        ("DEBUG", "a transaction has begun tables=[\"slots\"]"),
        ("DEBUG", "a transaction was committed"),
        ("INFO", "a request has taken long range=0 request=\"read\""),
        ("DEBUG", "a bulk load has begun"),
        ("DEBUG", "a bulk load has ended"),
        ("WARN", "notice=\"SetAside\" number=1"),
        ("INFO", "the range was given up in order"),
    ];
    for (level, words) in expected {
        lines.wait_for(level, words).await;
    }
    let served = lines.find("INFO", "the range is served").unwrap();
    assert!(served.contains("table{table=\"slots\"}:range{range=0}"), "the spans of its owner: {served}");
    lines.never_hold(VALUE);
    lines.never_hold(str::from_utf8(SECRET).unwrap());
}

#[tokio::test]
async fn connections_to_redis_are_events_without_the_password() {
    let Some(mut server) = Redis::cache() else { return };
    let (lines, _guard) = Lines::of_this_thread();
    // The default user takes any password.
    let url = server.url().replacen("redis://", &format!("redis://default:{PASSWORD}@"), 1);
    let cache = RedisCache::new(&url, "events").unwrap().with_patience(AT_MOST);
    cache.check().await.unwrap();
    lines.wait_for("DEBUG", "connected to a Redis server").await;
    server.kill();
    let is_lost = async {
        while lines.find("DEBUG", "the connection to a Redis server was given up").is_none() {
            drop(cache.check().await);
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(AT_MOST, is_lost).await.expect("a call finds out");
    lines.never_hold(PASSWORD);
}
