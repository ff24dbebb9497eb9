//! A cache server.

use std::collections::BTreeMap;
use std::time::Duration;

use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::ports::{CacheServer, Reply, Seen, SeenTogether};
use lacuna_cache_protocol::{
    CacheCall, CacheReply, Change, Epoch, LOG_CHUNKS, LogRecord, Query, RangeId, Session, write_chunk,
};
use redis::aio::MultiplexedConnection;
use redis::{Cmd, ErrorKind, ScriptInvocation, ServerErrorKind, Value};

use crate::redis::connection::{Answer, Connection, Link};
use crate::redis::keys::Keys;
use crate::redis::patch_arguments::PatchArguments;
use crate::redis::replies::{
    HEAD, fence_of, foreign_data, gathered, log_read, looked_up, memory_of, patched, simple, taken_over,
    values, visible_of_generation,
};
use crate::redis::scripts::CacheScripts;
#[cfg(feature = "tls")]
use crate::redis::tls::RedisTls;

/// How long the server may take by default. A slower server is worth no more than the store.
const PATIENCE: Duration = Duration::from_millis(250);
/// How long a value lives: for this long values of ended tenures, which cannot be named any more, take memory.
const LIFE_MS: u64 = 3_600_000;
/// About the bytes of a call of a script beside its keys and arguments.
const CALL_BYTES: usize = 256;
/// How long a lease lives; longer than a write may take.
const LEASE_MS: u64 = 120_000;
/// Entries that one script deletes: about a millisecond of the server's time.
const MAX_INVALIDATED: usize = 1_000;

/// One plain Redis or Valkey server.
///
/// ```no_run
/// use lacuna_cache::redis::RedisCache;
///
/// # fn main() -> Result<(), lacuna_cache_protocol::Error> {
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
    /// The server at `url`, connected at first use. Caches of different databases need different namespaces.
    ///
    /// # Errors
    /// `InvalidInput` if `url` is not that of a Redis server.
    pub fn new(url: &str, namespace: &str) -> Result<Self> {
        let connection = Connection::to(url, PATIENCE)?;
        Ok(Self { connection, namespace: namespace.to_owned(), scripts: CacheScripts::new() })
    }

    /// Speaks TLS with the server, whose URL is `rediss://...`.
    ///
    /// # Errors
    /// `InvalidInput` if the URL does not ask for it.
    #[cfg(feature = "tls")]
    pub fn with_tls(mut self, tls: RedisTls) -> Result<Self> {
        self.connection.encrypt(tls)?;
        Ok(self)
    }

    /// Connects if there is no connection yet, and asks for a sign of life: for settings that are wrong to be found
    /// at a start.
    ///
    /// # Errors
    /// `Unavailable` if there is no answer in time, `InvalidInput` if one side does not trust the certificate of the
    /// other, or if the server is given no time.
    pub async fn check(&self) -> Result<()> {
        self.connection.ping().await
    }

    /// Sets how long the server may take to be connected to, and to answer; a quarter of a second by default. A
    /// slower server counts as lost: reads and writes go on without it. Set more for a line on which requests
    /// queue. Less than a millisecond is refused when the server is first used.
    #[must_use]
    pub const fn with_patience(mut self, patience: Duration) -> Self {
        self.connection.patience = patience;
        self
    }

    async fn see(&self, range: RangeId, query: &Query) -> Result<Option<Seen>> {
        let seen = self.see_together(range, std::slice::from_ref(query)).await?;
        Ok(seen.map(|seen| Seen { fence: seen.fence, value: seen.values.into_iter().next().flatten() }))
    }

    /// One command, and so one moment.
    async fn see_together(&self, range: RangeId, queries: &[Query]) -> Result<Option<SeenTogether>> {
        let keys = Keys::of(&self.namespace, range);
        let mut get = redis::cmd("MGET");
        get.arg(keys.fence());
        for query in queries {
            get.arg(keys.value(query));
        }
        let link = self.connection.link().await?;
        let server = link.server;
        let Value::Array(found) = self.connection.hit(link, &get).await? else { return Ok(None) };
        if found.len() != queries.len() + 1 {
            return Err(foreign_data());
        }
        let mut found = found.into_iter();
        let fence = found.next().unwrap_or(Value::Nil);
        let Some((fence, generation)) = fence_of(&fence, server)? else { return Ok(None) };
        let values = found.map(|value| visible_of_generation(value, generation)).collect();
        Ok(Some(SeenTogether { fence, values }))
    }

    async fn run(&self, range: RangeId, epoch: Epoch, call: CacheCall) -> Result<CacheReply> {
        let keys = Keys::of(&self.namespace, range);
        let scripts = &self.scripts;
        // Known before the call is sent: the server that answers is that of the connection.
        let link = self.connection.link().await?;
        let holder = Holder(format!("{}@{}", epoch.0, link.server));
        match call {
            CacheCall::Fence => {
                let script = with_log(scripts.fence.key(keys.fence()), &keys);
                simple(self.invoke(link, begin(script, &holder)).await?)
            }
            CacheCall::TakeOver(before) => {
                let mut script = begin(with_log(scripts.take_over.key(keys.fence()), &keys), &holder);
                script.arg(before.map(|epoch| epoch.0.to_string()).unwrap_or_default());
                self.invoke(link, script).await.and_then(taken_over)
            }
            CacheCall::AppendLog(records) => self.append_log(link, &keys, &holder, &records).await,
            CacheCall::ReadLog(chunk) => {
                let mut script = scripts.read_log.key(keys.fence());
                script.key(keys.log_chunk(chunk));
                self.invoke(link, begin(script, &holder)).await.and_then(log_read)
            }
            CacheCall::ReplaceLog(chunk, len, bytes) => {
                let mut script = scripts.replace_log.key(keys.fence());
                script.key(keys.log_count()).key(keys.log_chunk(chunk));
                let mut script = begin(script, &holder);
                script.arg(len).arg(bytes);
                simple(self.invoke(link, script).await?)
            }
            CacheCall::Forget => {
                let mut script = begin(with_log(scripts.forget.key(keys.fence()), &keys), &holder);
                script.arg(keys.pattern());
                simple(self.invoke(link, script).await?)
            }
            CacheCall::Gather(session, queries, gaps) => {
                self.gather((link, &holder), &keys, epoch, session, queries, gaps).await
            }
            CacheCall::Lookup(query, session) => {
                let mut script = scripts.lookup.key(keys.fence());
                entry(&mut script, &keys, epoch, &query);
                let mut script = begin(script, &holder);
                script.arg(session.0).arg(LEASE_MS);
                self.invoke(link, script).await.and_then(looked_up)
            }
            CacheCall::Install(query, session, value, record) => {
                let mut script = scripts.install.key(keys.fence());
                entry(&mut script, &keys, epoch, &query);
                script.key(keys.log_count()).key(keys.log_chunk(record.chunk(LOG_CHUNKS)));
                let mut bytes = Vec::new();
                write_chunk(&mut bytes, [&record]);
                let mut script = begin(script, &holder);
                script.arg(session.0).arg(value.as_bytes()).arg(LIFE_MS).arg(bytes);
                simple(self.invoke(link, script).await?)
            }
            CacheCall::Invalidate(_, queries) => {
                self.invalidate((link, &holder), &keys, epoch, &queries).await
            }
            CacheCall::Patch(session, changes) => {
                self.patch((link, &holder), &keys, epoch, session, changes).await
            }
            CacheCall::Hide(session, queries) => {
                let mut script = scripts.hide.key(keys.fence());
                queries.iter().for_each(|query| entry(&mut script, &keys, epoch, query));
                let mut script = begin(script, &holder);
                script.arg(session.0);
                simple(self.invoke(link, script).await?)
            }
        }
    }

    /// By parts: a script keeps every other caller of the server away, and deletions come before the store has the write.
    async fn invalidate(
        &self,
        (link, holder): (Link, &Holder),
        keys: &Keys,
        epoch: Epoch,
        queries: &[Query],
    ) -> Result<CacheReply> {
        let mut rest = queries;
        loop {
            let (part, later) = rest.split_at(rest.len().min(MAX_INVALIDATED));
            let mut script = self.scripts.invalidate.key(keys.fence());
            part.iter().for_each(|query| entry(&mut script, keys, epoch, query));
            let reply = simple(self.invoke(link.clone(), begin(script, holder)).await?)?;
            if reply != CacheReply::Done || later.is_empty() {
                return Ok(reply);
            }
            rest = later;
        }
    }

    async fn append_log(
        &self,
        link: Link,
        keys: &Keys,
        holder: &Holder,
        records: &[LogRecord],
    ) -> Result<CacheReply> {
        let mut chunks: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
        for record in records {
            write_chunk(chunks.entry(record.chunk(LOG_CHUNKS)).or_default(), [record]);
        }
        let mut script = self.scripts.append_log.key(keys.fence());
        script.key(keys.log_count());
        for chunk in chunks.keys() {
            script.key(keys.log_chunk(*chunk));
        }
        let mut script = begin(script, holder);
        for bytes in chunks.values() {
            script.arg(bytes.as_slice());
        }
        simple(self.invoke(link, script).await?)
    }

    async fn patch(
        &self,
        (link, holder): (Link, &Holder),
        keys: &Keys,
        epoch: Epoch,
        session: Session,
        changes: Vec<(Query, Change)>,
    ) -> Result<CacheReply> {
        let script = &self.scripts.patch;
        let values: Vec<Vec<u8>> = changes.iter().map(|(query, _)| keys.value(query)).collect();
        let arguments = PatchArguments::of(&changes, HEAD);
        // As `Script` does, without a copy of each argument: this is done for every write.
        let (count, bytes) = (2 * values.len() + 1, 2 * values.iter().map(Vec::len).sum::<usize>());
        let mut call = Cmd::with_capacity(8 + count, bytes + arguments.bytes() + CALL_BYTES);
        call.arg("EVALSHA").arg(script.get_hash()).arg(count).arg(keys.fence()).arg(&values);
        for value in &values {
            call.arg(keys.lease_beside(epoch, value));
        }
        call.arg(&holder.0).arg(session.0).arg(LIFE_MS);
        arguments.give_to(&mut call);
        let run = |mut connection: MultiplexedConnection| async move {
            match call.query_async::<Value>(&mut connection).await {
                Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                    script.load_async(&mut connection).await?;
                    call.query_async::<Value>(&mut connection).await
                }
                answer => answer,
            }
        };
        let answer = self.connection.run(link, run).await?;
        patched(answer, changes.into_iter().map(|(query, _)| query).collect())
    }

    async fn gather(
        &self,
        (link, holder): (Link, &Holder),
        keys: &Keys,
        epoch: Epoch,
        session: Session,
        queries: Vec<Query>,
        gaps: Vec<Query>,
    ) -> Result<CacheReply> {
        if gaps.is_empty() {
            // Without leases there is nothing to change, and a script would copy each value three times.
            let mut get = redis::cmd("MGET");
            get.arg(keys.fence());
            for query in &queries {
                get.arg(keys.value(query));
            }
            let server = link.server;
            let run = |mut connection| async move { get.query_async::<Value>(&mut connection).await };
            return gathered(self.connection.run(link, run).await?, (epoch, server), queries);
        }
        let mut script = self.scripts.gather.key(keys.fence());
        gaps.iter().chain(&queries).for_each(|query| entry(&mut script, keys, epoch, query));
        let mut script = begin(script, holder);
        script.arg(session.0).arg(LEASE_MS).arg(gaps.len());
        values(self.invoke(link, script).await?, queries)
    }

    async fn memory(&self) -> Result<u8> {
        let mut info = redis::cmd("INFO");
        info.arg("memory");
        let run = |mut connection| async move { info.query_async::<Value>(&mut connection).await };
        let link = self.connection.link().await?;
        let Answer::Value(answer) = self.connection.run(link, run).await? else { return Ok(100) };
        memory_of(&answer).ok_or_else(foreign_data)
    }

    async fn invoke(&self, link: Link, script: ScriptInvocation<'_>) -> Result<Answer> {
        let run = |mut connection| async move { script.invoke_async::<Value>(&mut connection).await };
        self.connection.run(link, run).await
    }
}

/// Who calls, as the fence names it: the epoch of the owner and the server that it calls.
struct Holder(String);

fn begin<'a>(mut script: ScriptInvocation<'a>, holder: &Holder) -> ScriptInvocation<'a> {
    script.arg(&holder.0);
    script
}

fn entry(script: &mut ScriptInvocation<'_>, keys: &Keys, epoch: Epoch, query: &Query) {
    script.key(keys.value(query)).key(keys.lease(epoch, query));
}

/// Adds the keys of the log of entries after the fence.
fn with_log<'a>(mut script: ScriptInvocation<'a>, keys: &Keys) -> ScriptInvocation<'a> {
    script.key(keys.log_count());
    for chunk in 0..LOG_CHUNKS {
        script.key(keys.log_chunk(chunk));
    }
    script
}

impl CacheServer for RedisCache {
    fn get<'a>(&'a self, range: RangeId, _: Epoch, query: &'a Query) -> Reply<'a, Option<Seen>> {
        Box::pin(self.see(range, query))
    }

    fn get_together<'a>(
        &'a self,
        range: RangeId,
        _: Epoch,
        queries: &'a [Query],
    ) -> Reply<'a, Option<SeenTogether>> {
        Box::pin(self.see_together(range, queries))
    }

    fn call(&self, range: RangeId, epoch: Epoch, call: CacheCall) -> Reply<'_, CacheReply> {
        Box::pin(self.run(range, epoch, call))
    }

    fn memory_percent(&self) -> Reply<'_, u8> {
        Box::pin(self.memory())
    }
}
