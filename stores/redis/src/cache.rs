//! A cache server.

use lacuna_core::{Error, Result};
use lacuna_range_cache::ports::{CacheServer, Reply, Seen};
use lacuna_range_cache::{CacheCall, CacheReply, Epoch, Query, RangeId, Session};
use redis::{ScriptInvocation, Value};

use crate::connection::{Answer, Connection};
use crate::keys::Keys;
use crate::scripts::CacheScripts;

/// How long a value lives: so long do values of ended tenures take room, which nobody can name any more.
const LIFE_MS: u64 = 3_600_000;
/// How long a lease lives; longer than a write may take.
const LEASE_MS: u64 = 120_000;

/// One plain Redis or Valkey server.
///
/// ```no_run
/// use lacuna_store_redis::RedisCache;
///
/// # fn main() -> Result<(), lacuna_core::Error> {
/// let server = RedisCache::new("redis://10.0.0.7:6379", "orders")?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct RedisCache {
    connection: Connection,
    namespace: String,
    scripts: CacheScripts,
}

impl RedisCache {
    /// The server at `url`, connected to when it is needed. Caches of different databases need different namespaces.
    ///
    /// # Errors
    /// `InvalidInput` if `url` is none of a Redis server.
    pub fn new(url: &str, namespace: &str) -> Result<Self> {
        let connection = Connection::to(url)?;
        Ok(Self { connection, namespace: namespace.to_owned(), scripts: CacheScripts::new() })
    }

    async fn see(&self, range: RangeId, epoch: Epoch, query: &Query) -> Result<Option<Seen>> {
        let keys = Keys::of(&self.namespace, range);
        let mut get = redis::cmd("MGET");
        get.arg(keys.fence()).arg(keys.value(epoch, query));
        let run = |mut connection| async move { get.query_async::<Value>(&mut connection).await };
        let Answer::Value(Value::Array(found)) = self.connection.run(run).await? else { return Ok(None) };
        let [fence, value] = &found[..] else { return Err(strange()) };
        let Some(fence) = fence_of(fence)? else { return Ok(None) };
        Ok(Some(Seen { fence, value: value_of(value) }))
    }

    async fn run(&self, range: RangeId, epoch: Epoch, call: CacheCall) -> Result<CacheReply> {
        let keys = Keys::of(&self.namespace, range);
        let scripts = &self.scripts;
        match call {
            CacheCall::Fence => simple(self.invoke(begin(scripts.fence.key(keys.fence()), epoch)).await?),
            // Entries are named by epoch: a tenure begins cold, and keeps no log.
            CacheCall::TakeOver(_) => {
                let fenced = simple(self.invoke(begin(scripts.fence.key(keys.fence()), epoch)).await?)?;
                Ok(if fenced == CacheReply::Done { CacheReply::Warm(Vec::new()) } else { fenced })
            }
            CacheCall::AppendLog(_) => Ok(CacheReply::Done),
            CacheCall::ReadLog(_) => Ok(CacheReply::Log(Vec::new())),
            CacheCall::ReplaceLog(..) => Ok(CacheReply::NotHeld),
            CacheCall::Forget => {
                let mut script = begin(scripts.forget.key(keys.fence()), epoch);
                script.arg(keys.pattern(epoch));
                simple(self.invoke(script).await?)
            }
            CacheCall::Gather(session, queries, gaps) => {
                self.gather(&keys, epoch, session, queries, gaps).await
            }
            CacheCall::Lookup(query, session) => {
                let mut script = scripts.lookup.key(keys.fence());
                entry(&mut script, &keys, epoch, &query);
                let mut script = begin(script, epoch);
                script.arg(session.0).arg(LEASE_MS);
                self.invoke(script).await.and_then(looked_up)
            }
            CacheCall::Install(query, session, value, _) => {
                let mut script = scripts.install.key(keys.fence());
                entry(&mut script, &keys, epoch, &query);
                let mut script = begin(script, epoch);
                script.arg(session.0).arg(value.as_bytes()).arg(LIFE_MS);
                simple(self.invoke(script).await?)
            }
            CacheCall::Invalidate(_, queries) => {
                let mut script = scripts.invalidate.key(keys.fence());
                queries.iter().for_each(|query| entry(&mut script, &keys, epoch, query));
                simple(self.invoke(begin(script, epoch)).await?)
            }
            CacheCall::Hide(session, queries) | CacheCall::Peek(session, queries) => {
                self.hide(&keys, epoch, session, queries).await
            }
            CacheCall::Commit(session, entries) => {
                let mut script = scripts.commit.key(keys.fence());
                entries.iter().for_each(|(query, _)| entry(&mut script, &keys, epoch, query));
                let mut script = begin(script, epoch);
                script.arg(session.0).arg(LIFE_MS);
                for (_, value) in &entries {
                    let bytes = value.as_ref().map_or(&[][..], |value| value.as_bytes());
                    script.arg(u8::from(value.is_some())).arg(bytes);
                }
                simple(self.invoke(script).await?)
            }
        }
    }

    async fn hide(
        &self,
        keys: &Keys,
        epoch: Epoch,
        session: Session,
        queries: Vec<Query>,
    ) -> Result<CacheReply> {
        let mut script = self.scripts.hide.key(keys.fence());
        queries.iter().for_each(|query| entry(&mut script, keys, epoch, query));
        let mut script = begin(script, epoch);
        script.arg(session.0).arg(LEASE_MS);
        values(self.invoke(script).await?, queries)
    }

    async fn gather(
        &self,
        keys: &Keys,
        epoch: Epoch,
        session: Session,
        queries: Vec<Query>,
        gaps: Vec<Query>,
    ) -> Result<CacheReply> {
        let mut script = self.scripts.gather.key(keys.fence());
        gaps.iter().chain(&queries).for_each(|query| entry(&mut script, keys, epoch, query));
        let mut script = begin(script, epoch);
        script.arg(session.0).arg(LEASE_MS).arg(gaps.len());
        values(self.invoke(script).await?, queries)
    }

    async fn invoke(&self, script: ScriptInvocation<'_>) -> Result<Answer> {
        let run = |mut connection| async move { script.invoke_async::<Value>(&mut connection).await };
        self.connection.run(run).await
    }
}

/// What a script found of these queries. A server without room has nothing to tell.
fn values(answer: Answer, queries: Vec<Query>) -> Result<CacheReply> {
    let found = match answer {
        Answer::Full => return Ok(CacheReply::Hidden(Vec::new())),
        Answer::Value(Value::Array(found)) => found,
        Answer::Value(_) => return Err(strange()),
    };
    if found.first() == Some(&Value::Int(0)) {
        return Ok(CacheReply::Fenced);
    }
    let found = queries.into_iter().zip(found.iter().skip(1));
    let visible = found.filter_map(|(query, value)| Some((query, value_of(value)?)));
    Ok(CacheReply::Hidden(visible.collect()))
}

fn begin(mut script: ScriptInvocation<'_>, epoch: Epoch) -> ScriptInvocation<'_> {
    script.arg(epoch.0);
    script
}

fn entry(script: &mut ScriptInvocation<'_>, keys: &Keys, epoch: Epoch, query: &Query) {
    script.key(keys.value(epoch, query)).key(keys.lease(epoch, query));
}

fn simple(answer: Answer) -> Result<CacheReply> {
    match answer {
        Answer::Full => Ok(CacheReply::Full),
        Answer::Value(Value::Int(0)) => Ok(CacheReply::Fenced),
        Answer::Value(Value::Int(1)) => Ok(CacheReply::Done),
        Answer::Value(Value::Int(2)) => Ok(CacheReply::NotHeld),
        Answer::Value(_) => Err(strange()),
    }
}

/// A server that has no room for a lease says nothing of a value either: the store is asked, and nothing installed.
fn looked_up(answer: Answer) -> Result<CacheReply> {
    let Answer::Value(Value::Array(found)) = answer else { return Ok(CacheReply::Busy) };
    match &found[..] {
        [Value::Int(0)] => Ok(CacheReply::Fenced),
        [Value::Int(1), value] => Ok(value_of(value).map_or(CacheReply::Busy, CacheReply::Found)),
        [Value::Int(2)] => Ok(CacheReply::Leased),
        [Value::Int(3)] => Ok(CacheReply::Busy),
        _ => Err(strange()),
    }
}

fn value_of(value: &Value) -> Option<lacuna_range_cache::Value> {
    match value {
        Value::BulkString(bytes) => Some(lacuna_range_cache::Value::new(bytes)),
        _ => None,
    }
}

fn fence_of(fence: &Value) -> Result<Option<Epoch>> {
    let Value::BulkString(bytes) = fence else { return Ok(None) };
    let number = str::from_utf8(bytes).ok().and_then(|text| text.parse().ok());
    number.map(|number| Some(Epoch(number))).ok_or_else(strange)
}

/// Somebody else writes to our keys.
fn strange() -> Error {
    Error::corrupt("a Redis server answers what no script of ours returns")
}

impl CacheServer for RedisCache {
    fn get<'a>(&'a self, range: RangeId, epoch: Epoch, query: &'a Query) -> Reply<'a, Option<Seen>> {
        Box::pin(self.see(range, epoch, query))
    }

    fn call(&self, range: RangeId, epoch: Epoch, call: CacheCall) -> Reply<'_, CacheReply> {
        Box::pin(self.run(range, epoch, call))
    }
}
