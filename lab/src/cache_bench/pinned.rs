//! Bytes that log servers must keep until the store has the writes.

use lacuna_base::Result;
use redis::RedisError;

use crate::cache_bench::system::{connect, failed};

/// What the keys of all log servers take, as the servers themselves count it.
pub(crate) async fn pinned_bytes(log_urls: &[String]) -> Result<u64> {
    let mut bytes = 0;
    for mut server in connect(log_urls).await? {
        let keys: Vec<Vec<u8>> = redis::cmd("KEYS")
            .arg("*")
            .query_async(&mut server)
            .await
            .map_err(|error: RedisError| failed(&error))?;
        for key in keys {
            let mut usage = redis::cmd("MEMORY");
            usage.arg("USAGE").arg(key).arg("SAMPLES").arg(0);
            let used: Option<u64> =
                usage.query_async(&mut server).await.map_err(|error: RedisError| failed(&error))?;
            bytes += used.unwrap_or(0);
        }
    }
    Ok(bytes)
}
