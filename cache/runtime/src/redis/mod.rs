//! Redis 7 and Valkey as cache servers and log servers of a range cache.
//!
//! - [`RedisCache`]: values of ranges, evictable; a hit is one `MGET` of fence and value, everything else one script;
//! - [`RedisLog`]: buffered writes, for servers with `appendonly yes`, `appendfsync always` and `maxmemory-policy
//!   noeviction`.
//!
//! Cache servers run without persistence: a server that restarts must be empty, fences included, so that every
//! lookup is a miss (P12). Any `volatile-` eviction policy but `volatile-ttl` will do: fences have no time to
//! live.
//!
//! Several plain servers are several of these; the coordinator assigns ranges to them. Keys of a range share a
//! hash tag. [`docs/format/range-cache-redis.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/range-cache-redis.md) has their names.

mod cache;
mod connection;
mod keys;
mod log;
mod patch_arguments;
mod replies;
mod scripts;
#[cfg(feature = "tls")]
mod tls;

pub use cache::RedisCache;
pub use log::RedisLog;
#[cfg(feature = "tls")]
pub use tls::RedisTls;
