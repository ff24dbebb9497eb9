//! Bytes that log servers must keep until the store has the writes, and bytes of logs of entries in cache servers.

use lacuna_base::Result;
use redis::RedisError;
use redis::aio::MultiplexedConnection;

use crate::cache_bench::system::{connect, failed};

/// What a run holds in servers at one moment, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Held {
    /// Buffered writes in log servers.
    pub(crate) pinned: u64,
    /// Logs of entries in cache servers.
    pub(crate) entry_log: u64,
}

/// What both kinds of servers hold; cache servers keep no log of entries unless the run has `--warm-start`, and are not asked then.
pub(crate) async fn held(log_urls: &[String], logging_cache_urls: &[String]) -> Result<Held> {
    let pinned = pinned_bytes(log_urls).await?;
    Ok(Held { pinned, entry_log: entry_log_bytes(logging_cache_urls).await? })
}

/// What the chunks of all logs of entries and their counts take, as the servers themselves count it.
async fn entry_log_bytes(cache_urls: &[String]) -> Result<u64> {
    let mut bytes = 0;
    for mut server in connect(cache_urls).await? {
        let mut cursor = 0_u64;
        loop {
            let mut scan = redis::cmd("SCAN");
            scan.arg(cursor).arg("MATCH").arg("lacuna:{*}:p*").arg("COUNT").arg(10_000);
            let (next, keys): (u64, Vec<Vec<u8>>) =
                scan.query_async(&mut server).await.map_err(|error: RedisError| failed(&error))?;
            for key in keys.iter().filter(|key| is_of_the_log(key)) {
                bytes += usage(&mut server, key).await?;
            }
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
    }
    Ok(bytes)
}

/// Whether a key is a chunk, `lacuna:{bench:1}:p:7`, or their count, `lacuna:{bench:1}:pc`, and not that of a value with such bytes.
fn is_of_the_log(key: &[u8]) -> bool {
    let end = key.iter().position(|byte| *byte == b'}').unwrap_or(key.len());
    key[end..].starts_with(b"}:p:") || key[end..] == *b"}:pc"
}

async fn usage(server: &mut MultiplexedConnection, key: &[u8]) -> Result<u64> {
    let mut usage = redis::cmd("MEMORY");
    usage.arg("USAGE").arg(key).arg("SAMPLES").arg(0);
    let used: Option<u64> = usage.query_async(server).await.map_err(|error: RedisError| failed(&error))?;
    Ok(used.unwrap_or(0))
}

/// What the keys of all log servers take, as the servers themselves count it.
async fn pinned_bytes(log_urls: &[String]) -> Result<u64> {
    let mut bytes = 0;
    for mut server in connect(log_urls).await? {
        let keys: Vec<Vec<u8>> = redis::cmd("KEYS")
            .arg("*")
            .query_async(&mut server)
            .await
            .map_err(|error: RedisError| failed(&error))?;
        for key in keys {
            bytes += usage(&mut server, &key).await?;
        }
    }
    Ok(bytes)
}
