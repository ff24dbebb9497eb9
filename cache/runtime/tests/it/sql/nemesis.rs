//! Who breaks cache servers, logs and connections while clients are at work, and how often that was.
//!
//! Servers die with the thread that started them, so faults strike in the body of a test and clients work in tasks beside it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use lacuna_testkit::effort;
use lacuna_testkit::servers::Redis;
use sqlx::{Connection as _, MySqlConnection, PgConnection};

/// Deletes keys that a server short of memory may evict: values, and the leases beside them.
const EVICT: &str = "local evicted = 0
for _ = 1, 60 do
  local key = redis.call('RANDOMKEY')
  if key and redis.call('PTTL', key) > 0 then evicted = evicted + redis.call('DEL', key) end
end
return evicted";
/// How often each fault strikes in a long run.
pub(crate) const MIN_OF_EACH: u64 = 100;
/// How long a server is down, and how long its memory is full.
const A_WHILE: Duration = Duration::from_millis(60);
/// How long nothing breaks behind one fault of each kind in a long run, and behind each fault else.
const CALM: (Duration, Duration) = (Duration::from_secs(3), Duration::from_millis(50));
/// How often connections are looked for that are in the middle of something: it is over in a millisecond or two.
const MAX_CUTS: usize = 200;

/// How often each fault has struck.
#[derive(Debug, Default)]
pub(crate) struct Faults(Mutex<BTreeMap<&'static str, u64>>);

impl Faults {
    pub(crate) fn note(&self, what: &'static str, times: u64) {
        *self.0.lock().unwrap().entry(what).or_default() += times;
    }

    pub(crate) fn total(&self) -> u64 {
        self.0.lock().unwrap().values().sum()
    }

    /// How often the rarest of so many kinds has struck.
    pub(crate) fn rarest(&self, kinds: usize) -> u64 {
        let counts = self.0.lock().unwrap();
        if counts.len() < kinds { 0 } else { counts.values().copied().min().unwrap_or(0) }
    }
}

/// What is done to a cache server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CacheFault {
    Evict,
    Kill,
    Empty,
    Stall,
    Fill,
}

impl CacheFault {
    /// In this order: a server that was killed or emptied just now has nothing to evict.
    pub(crate) const ALL: [Self; 5] = [Self::Evict, Self::Kill, Self::Empty, Self::Stall, Self::Fill];

    /// The fault whose turn it is, at each server. Says whether all have had theirs.
    pub(crate) async fn strike_in_turn(times: usize, servers: &mut [Redis], faults: &Faults) -> bool {
        let turn = times % Self::ALL.len();
        for server in servers {
            Self::ALL[turn].strike(server, faults).await;
        }
        turn + 1 == Self::ALL.len()
    }

    pub(crate) async fn strike(self, server: &mut Redis, faults: &Faults) {
        match self {
            Self::Kill => {
                restart_after_a_while(server).await;
                faults.note("cache server killed", 1);
            }
            Self::Empty => {
                command(server, &["FLUSHALL"]).await;
                faults.note("cache server emptied", 1);
            }
            Self::Stall => {
                command(server, &["CLIENT", "PAUSE", "400", "ALL"]).await;
                faults.note("cache server stalled", 1);
            }
            Self::Evict => {
                let evicted = command(server, &["EVAL", EVICT, "0"]).await;
                let has_evicted = matches!(evicted, Some(redis::Value::Int(1..)));
                faults.note("entries and leases evicted", u64::from(has_evicted));
            }
            Self::Fill => {
                fill_for_a_while(server).await;
                faults.note("memory of a cache server full", 1);
            }
        }
    }
}

/// How many of a hundred operations read while things break.
pub(crate) fn read_percent() -> u64 {
    effort::short_or_long(93, 98)
}

/// Half of the reads are to be hits, so in a long run nothing breaks for a while once everything has.
pub(crate) async fn rest(has_all_struck: bool) {
    tokio::time::sleep(if effort::is_long() && has_all_struck { CALM.0 } else { CALM.1 }).await;
}

/// What is done to a log server, which keeps what it acknowledged.
pub(crate) async fn break_log(server: &mut Redis, faults: &Faults) {
    restart_after_a_while(server).await;
    faults.note("log server killed", 1);
    fill_for_a_while(server).await;
    faults.note("log full", 1);
}

async fn restart_after_a_while(server: &mut Redis) {
    server.kill();
    tokio::time::sleep(A_WHILE).await;
    tokio::task::block_in_place(|| server.restart());
}

async fn fill_for_a_while(server: &Redis) {
    command(server, &["CONFIG", "SET", "maxmemory", "1"]).await;
    tokio::time::sleep(A_WHILE).await;
    command(server, &["CONFIG", "SET", "maxmemory", "0"]).await;
}

/// What a server answers, if it does.
async fn command(server: &Redis, words: &[&str]) -> Option<redis::Value> {
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.ok()?;
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    command.query_async(&mut connection).await.ok()
}

/// Cuts the connections of a database in the middle of what they do: whether it was committed is not known to the client. Tries again for
/// a while if there are none.
pub(crate) async fn cut_connections(url: &str, faults: &Faults) {
    for _ in 0..MAX_CUTS {
        let cut = if url.starts_with("postgres") { cut_postgres(url).await } else { cut_mariadb(url).await };
        if let Ok(1..) = cut {
            return faults.note("commit reply lost", 1);
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn cut_postgres(url: &str) -> sqlx::Result<i64> {
    let mut connection = PgConnection::connect(url).await?;
    let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() \
               AND backend_type = 'client backend' AND state <> 'idle' AND query ~ 'INSERT|UPDATE|DELETE|COMMIT'";
    sqlx::query_scalar(cut).fetch_one(&mut connection).await
}

async fn cut_mariadb(url: &str) -> sqlx::Result<i64> {
    let mut connection = MySqlConnection::connect(url).await?;
    // A prepared statement is executed by a command of its own.
    let busy = "SELECT CAST(id AS SIGNED) FROM information_schema.processlist WHERE id <> connection_id() \
                AND command IN ('Query', 'Execute') AND info REGEXP 'INSERT|UPDATE|DELETE|COMMIT'";
    let busy: Vec<i64> = sqlx::query_scalar(busy).fetch_all(&mut connection).await?;
    let mut cut = 0;
    for id in busy {
        let killed = sqlx::raw_sql(sqlx::AssertSqlSafe(format!("KILL {id}"))).execute(&mut connection).await;
        cut += i64::from(killed.is_ok());
    }
    Ok(cut)
}
