//! A real server against the model that the simulation breaks.

mod deletions;
mod line;
mod logs;
mod memory;
mod pages;
mod patience;
mod reborn;
mod scripts;
mod secure;
mod warm;

use std::time::Duration;

use lacuna_cache::redis::{RedisCache, RedisLog};
use lacuna_testkit::servers::Redis;

/// What a busy machine may take for what takes a moment.
const AT_MOST: Duration = Duration::from_secs(120);

fn cache(server: &Redis) -> RedisCache {
    RedisCache::new(&server.url(), "test").unwrap().with_patience(AT_MOST)
}

fn log(server: &Redis) -> RedisLog {
    RedisLog::new(&server.url(), "test").unwrap().with_patience(AT_MOST)
}
