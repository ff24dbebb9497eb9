//! What storms share: their course, and the faults of a database server and its cache server while they last.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lacuna_cache::redis::{RedisCache, RedisLog};
use lacuna_cache::sql::{Options, Policy};
use lacuna_testkit::effort;
use lacuna_testkit::servers::Redis;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::nemesis::{CacheFault, Faults, cut_connections, rest};
use super::world::{AT_MOST, patient};

pub(crate) const POLICIES: [Policy; 3] = [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack];

/// How far a storm is: things break from its beginning on, which the storm itself names.
#[derive(Debug, Default)]
pub(crate) struct Course {
    pub(crate) has_begun: Notify,
    is_over: AtomicBool,
}

impl Course {
    /// The course of a storm in which nothing breaks.
    pub(crate) fn calm() -> Self {
        Self { is_over: AtomicBool::new(true), ..Self::default() }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// Rounds of `count` clients until it is over, and at least one; how many of their steps failed. A client is made from its
/// number, which no other one has.
///
/// # Errors
/// What the first client has found wrong.
pub(crate) async fn work<W>(course: &Course, count: u64, client: impl Fn(u64) -> W) -> Result<u64, String>
where
    W: Future<Output = Result<u64, String>> + Send + 'static,
{
    course.has_begun.notify_one();
    let (mut failed, mut round) = (0, 0);
    while round == 0 || !course.is_over() {
        let mut clients: JoinSet<_> = (0..count).map(|nth| client(count * round + nth)).collect();
        while let Some(client) = clients.join_next().await {
            failed += client.unwrap()?;
        }
        round += 1;
    }
    Ok(failed)
}

/// How many steps failed in a storm in which nothing was found.
pub(crate) fn assert_right(seen: Result<u64, String>, policy: Policy) -> u64 {
    seen.unwrap_or_else(|what| panic!("seed {}, {policy:?}: {what}", effort::seed()))
}

/// A storm under every policy in turn at a database server, whose connections are cut meanwhile; so are tenures, with their
/// cache server. Every fault of it strikes `times` times in a short run.
pub(crate) async fn at_a_server<S>(
    url: &str,
    name: &str,
    times: u64,
    storm: impl Fn(Options, Options, Arc<Course>) -> S,
) where
    S: Future<Output = Result<u64, String>> + Send + 'static,
{
    let Some(log) = Redis::log() else { return };
    let Some(mut caches) = Redis::cache().map(|cache| [cache]) else { return };
    for policy in POLICIES {
        let namespace = format!("{name}-{policy:?}");
        let cache = RedisCache::new(&caches[0].url(), &namespace).unwrap();
        let mut options = patient(url).with_policy(policy).with_cache_server(Arc::new(cache));
        if policy == Policy::WriteBack {
            options = options.with_log_server(Arc::new(RedisLog::new(&log.url(), name).unwrap()));
        }
        let course = Arc::new(Course::default());
        let working = tokio::spawn(storm(options.clone(), options, course.clone()));
        let faults = Faults::default();
        timeout(AT_MOST, course.has_begun.notified()).await.expect("tables are made");
        for turn in 0..effort::short_or_long(times, 60) * CacheFault::ALL.len() as u64 {
            if CacheFault::strike_in_turn(usize::try_from(turn).unwrap(), &mut caches, &faults).await {
                cut_connections(url, &faults).await;
            }
            rest(true).await;
            cut_connections(url, &faults).await;
        }
        course.end();
        let failed = assert_right(working.await.unwrap(), policy);
        println!("{policy:?}: {faults:?}, {failed} steps failed");
    }
}
