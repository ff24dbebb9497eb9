//! A log server.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::write_bytes::{decode_write, encode_write};
use lacuna_cache_protocol::ports::{LogServer, Reply};
use lacuna_cache_protocol::{Epoch, LogCall, LogReply, RangeId, Write};
use lacuna_cache_protocol::{Error, Result};
use redis::{Script, Value};

use crate::redis::connection::{Answer, Connection};
use crate::redis::keys::Keys;
use crate::redis::scripts::LogScripts;
#[cfg(feature = "tls")]
use crate::redis::tls::RedisTls;

/// About the bytes of a write in the log beside its command.
const HEADER_BYTES: usize = 256;
/// How long the server may take by default.
const PATIENCE: Duration = Duration::from_secs(1);

/// Buffered writes on one plain Redis or Valkey server that keeps its acknowledged writes: `appendonly yes`,
/// `appendfsync always`, `maxmemory-policy noeviction` (P13).
#[derive(Debug)]
pub struct RedisLog {
    connection: Connection,
    namespace: String,
    scripts: LogScripts,
}

impl RedisLog {
    /// The server at `url`, connected at first use.
    ///
    /// # Errors
    /// `InvalidInput` if `url` is not that of a Redis server.
    pub fn new(url: &str, namespace: &str) -> Result<Self> {
        let connection = Connection::to(url, PATIENCE)?;
        Ok(Self { connection, namespace: namespace.to_owned(), scripts: LogScripts::new() })
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

    /// Sets how long the server may take to be connected to, and to answer; a second by default. Less than a
    /// millisecond is refused when the server is first used.
    #[must_use]
    pub const fn with_patience(mut self, patience: Duration) -> Self {
        self.connection.patience = patience;
        self
    }

    async fn run(&self, range: RangeId, epoch: Epoch, call: LogCall) -> Result<LogReply> {
        let keys = Keys::of(&self.namespace, range);
        match call {
            LogCall::Fence => self.fence(&keys, epoch).await,
            LogCall::Append(writes) => {
                let items: Vec<_> = writes.iter().map(|(lsn, write)| item(epoch, *lsn, write)).collect();
                self.append(&keys, epoch, &items).await
            }
            LogCall::Trim(applied) => {
                let applied = applied.to_string().into_bytes();
                self.script(&self.scripts.trim, &keys, epoch, &[applied]).await
            }
        }
    }

    /// Fences the log, and reads it page by page: meanwhile only this owner could change it.
    async fn fence(&self, keys: &Keys, epoch: Epoch) -> Result<LogReply> {
        let found = match self.invoke(&self.scripts.fence, keys, epoch, &[]).await? {
            Answer::Full => return Ok(LogReply::Full),
            Answer::Value(found) => found,
        };
        let (has_all, count) = match found.as_sequence() {
            Some([Value::Int(0)]) => return Ok(LogReply::Fenced),
            Some([Value::Int(1), Value::Int(has_all), Value::Int(count)]) => (*has_all, *count),
            _ => return Err(foreign_data()),
        };
        // An append whose reply was lost may have been repeated.
        let (mut writes, mut next) = (BTreeMap::new(), 1);
        while next <= count {
            let from = [next.to_string().into_bytes()];
            let Answer::Value(page) = self.invoke(&self.scripts.page, keys, epoch, &from).await? else {
                return Ok(LogReply::Full);
            };
            let items = match page.as_sequence() {
                Some([Value::Int(0)]) => return Ok(LogReply::Fenced),
                Some([Value::Int(1), Value::Array(items)]) if !items.is_empty() => items,
                _ => return Err(foreign_data()),
            };
            for item in items {
                writes.extend([kept(item)?]);
                next += 1;
            }
        }
        let writes = writes.into_iter().map(|((epoch, lsn), write)| (epoch, lsn, write)).collect();
        Ok(LogReply::Kept { writes, is_whole: has_all == 1 })
    }

    /// Only the owner that fenced the log last finds its list.
    async fn append(&self, keys: &Keys, epoch: Epoch, items: &[Vec<u8>]) -> Result<LogReply> {
        let mut push = redis::cmd("RPUSHX");
        push.arg(keys.log_of(epoch)).arg(items);
        let run = |mut connection| async move { push.query_async::<Value>(&mut connection).await };
        match self.connection.run(self.connection.link().await?, run).await? {
            Answer::Value(Value::Int(0)) => self.script(&self.scripts.append, keys, epoch, items).await,
            answer => replied(answer),
        }
    }

    async fn script(
        &self,
        script: &Script,
        keys: &Keys,
        epoch: Epoch,
        arguments: &[Vec<u8>],
    ) -> Result<LogReply> {
        replied(self.invoke(script, keys, epoch, arguments).await?)
    }

    async fn invoke(
        &self,
        script: &Script,
        keys: &Keys,
        epoch: Epoch,
        arguments: &[Vec<u8>],
    ) -> Result<Answer> {
        let mut invocation = script.key(keys.log_fence());
        invocation.key(keys.log()).key(keys.log_mark()).arg(epoch.0).arg(arguments);
        let run = |mut connection| async move { invocation.invoke_async::<Value>(&mut connection).await };
        self.connection.run(self.connection.link().await?, run).await
    }
}

fn replied(answer: Answer) -> Result<LogReply> {
    match answer {
        Answer::Full => Ok(LogReply::Full),
        Answer::Value(Value::Int(0)) => Ok(LogReply::Fenced),
        Answer::Value(Value::Int(_)) => Ok(LogReply::Done),
        Answer::Value(_) => Err(foreign_data()),
    }
}

/// `<epoch>:<lsn>:`, and the write.
fn item(epoch: Epoch, lsn: u64, write: &Write) -> Vec<u8> {
    let mut item = Vec::with_capacity(write.command.as_bytes().len() + HEADER_BYTES);
    item.extend_from_slice(format!("{}:{lsn}:", epoch.0).as_bytes());
    encode_write(&mut item, lsn, write);
    item
}

/// What [`item`] makes.
fn kept(item: &Value) -> Result<((Epoch, u64), Write)> {
    let Value::BulkString(item) = item else { return Err(foreign_data()) };
    let mut parts = item.splitn(3, |byte| *byte == b':');
    let (Some(epoch), Some(_), Some(bytes)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(foreign_data());
    };
    let epoch = str::from_utf8(epoch).ok().and_then(|epoch| epoch.parse().ok()).ok_or_else(foreign_data)?;
    let (lsn, write) = decode_write(bytes)?;
    Ok(((Epoch(epoch), lsn), write))
}

/// The error for data of another program under our keys.
fn foreign_data() -> Error {
    Error::corrupt(
        "the Redis log server holds data that is not of a range cache: give it a namespace of its own",
    )
}

impl LogServer for RedisLog {
    fn call(&self, range: RangeId, epoch: Epoch, call: LogCall) -> Reply<'_, LogReply> {
        Box::pin(self.run(range, epoch, call))
    }
}
