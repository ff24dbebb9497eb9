//! A log server.

use std::time::Duration;

use lacuna_cache_shell::{read_write, write_write};
use lacuna_core::{Error, Result};
use lacuna_range_cache::ports::{LogServer, Reply};
use lacuna_range_cache::{Epoch, LogCall, LogReply, RangeId, Write};
use redis::{ScriptInvocation, Value};

use crate::connection::{Answer, Connection};
use crate::keys::Keys;
use crate::scripts::LogScripts;

/// How long the server may take, unless it is said.
const PATIENCE: Duration = Duration::from_secs(1);

/// Buffered writes on one plain Redis or Valkey server that keeps what it acknowledged: `appendonly yes`,
/// `appendfsync always`, `maxmemory-policy noeviction`.
#[derive(Debug)]
pub struct RedisLog {
    connection: Connection,
    namespace: String,
    scripts: LogScripts,
}

impl RedisLog {
    /// The server at `url`, connected to when it is needed.
    ///
    /// # Errors
    /// `InvalidInput` if `url` is none of a Redis server.
    pub fn new(url: &str, namespace: &str) -> Result<Self> {
        let connection = Connection::to(url, PATIENCE)?;
        Ok(Self { connection, namespace: namespace.to_owned(), scripts: LogScripts::new() })
    }

    /// How long the server may take to be connected to, and to answer; a second unless set.
    #[must_use]
    pub const fn with_patience(mut self, patience: Duration) -> Self {
        self.connection.patience = patience;
        self
    }

    async fn run(&self, range: RangeId, epoch: Epoch, call: LogCall) -> Result<LogReply> {
        let keys = Keys::of(&self.namespace, range);
        let (script, field, bytes) = match &call {
            LogCall::Fence => (&self.scripts.fence, None, None),
            LogCall::Append(lsn, write) => {
                let mut bytes = Vec::new();
                write_write(&mut bytes, *lsn, write);
                (&self.scripts.append, Some(format!("{}:{lsn}", epoch.0)), Some(bytes))
            }
            LogCall::Trim(applied) => (&self.scripts.trim, Some(applied.to_string()), None),
        };
        let mut invocation = script.key(keys.log_fence());
        invocation.key(keys.log()).key(keys.log_mark()).arg(epoch.0).arg(field).arg(bytes);
        match self.invoke(invocation).await? {
            Answer::Full => Ok(LogReply::Full),
            Answer::Value(Value::Int(0)) => Ok(LogReply::Fenced),
            Answer::Value(Value::Int(_)) => Ok(LogReply::Done),
            Answer::Value(Value::Array(found)) => fenced(&found),
            Answer::Value(_) => Err(strange()),
        }
    }

    async fn invoke(&self, script: ScriptInvocation<'_>) -> Result<Answer> {
        let run = |mut connection| async move { script.invoke_async::<Value>(&mut connection).await };
        self.connection.run(run).await
    }
}

fn fenced(found: &[Value]) -> Result<LogReply> {
    match found {
        [Value::Int(0)] => Ok(LogReply::Fenced),
        [Value::Int(1), Value::Int(was_fenced), Value::Array(fields)] => {
            let writes =
                fields.chunks_exact(2).map(|pair| kept(&pair[0], &pair[1])).collect::<Result<_>>()?;
            Ok(LogReply::Kept { writes, is_whole: *was_fenced == 1 })
        }
        _ => Err(strange()),
    }
}

fn kept(field: &Value, bytes: &Value) -> Result<(Epoch, u64, Write)> {
    let (Value::BulkString(field), Value::BulkString(bytes)) = (field, bytes) else { return Err(strange()) };
    let field = str::from_utf8(field).map_err(|_| strange())?;
    let epoch = field.split(':').next().and_then(|epoch| epoch.parse().ok()).ok_or_else(strange)?;
    let (lsn, write) = read_write(bytes)?;
    Ok((Epoch(epoch), lsn, write))
}

/// Somebody else writes to our keys.
fn strange() -> Error {
    Error::corrupt("a Redis log server answers what no script of ours returns")
}

impl LogServer for RedisLog {
    fn call(&self, range: RangeId, epoch: Epoch, call: LogCall) -> Reply<'_, LogReply> {
        Box::pin(self.run(range, epoch, call))
    }
}
