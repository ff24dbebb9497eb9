//! A cache server whose values are compressed if that makes them smaller.
//!
//! Results in the memory of a remote server cost their bytes twice: there, and on the network. LZ4 halves rows of
//! text in about a microsecond per kilobyte; zlib makes them smaller still, and takes longer. Short values, and those that
//! hardly shrink, are kept as they are; after 16 of these in a row only every 16th value is tried, so that results which
//! never shrink cost next to nothing.
//!
//! A value is one byte and then (`packed.rs`): 0xC0, its bytes; 0xC1, its length and that of a block of LZ4 in four bytes
//! each, little-endian, and the block; 0xC2, the same with a stream of zlib. What writes add to it follows, as it is.
//!
//! Guarantee: that of the wrapped server. A value of another form counts as absent: it is dropped when its owner
//! finds it; so does one of zlib in a build without the feature `zlib`. Reading a value takes at most 512 MiB, and at
//! most 256 times the bytes of a block of LZ4, 1,032 times those of zlib, whatever the server sends. All processes that share
//! a namespace of a server must agree whether it is compressed, so use another namespace when that changes; they may
//! differ in the method.
//!
//! Report, section 7.3, which compresses every value by zlib; here only those that shrink.

mod packed;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::ports::{CacheServer, Reply, Seen, SeenTogether};
use lacuna_cache_protocol::{CacheCall, CacheReply, Change, Edit, Epoch, Query, RangeId, Session, Value};

use packed::{Method, plain, unpack};

/// Minimum length for compression: a shorter value fits into one packet anyway.
const SMALLEST: usize = 256;
/// After this many incompressible values in a row, only every 16th is tried.
const HOPELESS: u64 = 16;

/// Keeps compressed values at another cache server.
///
/// ```
/// use std::sync::Arc;
///
/// use lacuna_cache::Compressed;
/// use lacuna_cache_protocol::embedded::MemoryCache;
///
/// let server = Compressed::new(Arc::new(MemoryCache::new(1 << 20)));
/// assert_eq!(server.shrunk(), (0, 0));
/// ```
#[derive(Debug)]
pub struct Compressed {
    server: Arc<dyn CacheServer>,
    method: Method,
    /// Values in a row that did not shrink.
    hopeless: AtomicU64,
    plain_bytes: AtomicU64,
    kept_bytes: AtomicU64,
}

impl Compressed {
    /// Wraps `server`, which must not be used by other processes without compression. Values are compressed by LZ4.
    pub fn new(server: Arc<dyn CacheServer>) -> Self {
        Self::by(Method::Lz4, server)
    }

    /// The same by zlib, at a level from 1, the fastest, to 9, the smallest. It also shrinks what
    /// repeats nothing and uses few different bytes, which LZ4 does not, and works longer for it, with a quarter of a megabyte of memory for each value at work.
    #[cfg(feature = "zlib")]
    pub fn with_zlib(server: Arc<dyn CacheServer>, level: u8) -> Self {
        Self::by(Method::Zlib(level.clamp(1, 9)), server)
    }

    fn by(method: Method, server: Arc<dyn CacheServer>) -> Self {
        let [hopeless, plain_bytes, kept_bytes] = [const { AtomicU64::new(0) }; 3];
        Self { server, method, hopeless, plain_bytes, kept_bytes }
    }

    /// Bytes of all values that were given to keep, and the bytes sent for them.
    pub fn shrunk(&self) -> (u64, u64) {
        (self.plain_bytes.load(Ordering::Relaxed), self.kept_bytes.load(Ordering::Relaxed))
    }

    fn pack(&self, value: &Value) -> Value {
        let bytes = value.as_bytes();
        let packed = if self.is_worth_trying(bytes.len()) { self.try_to_shrink(bytes) } else { None };
        let packed = packed.unwrap_or_else(|| plain(bytes));
        self.plain_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.kept_bytes.fetch_add(packed.len() as u64, Ordering::Relaxed);
        Value::new(&packed)
    }

    fn is_worth_trying(&self, len: usize) -> bool {
        let hopeless = self.hopeless.load(Ordering::Relaxed);
        if len < SMALLEST || u32::try_from(len).is_err() {
            return false;
        }
        if hopeless >= HOPELESS {
            self.hopeless.fetch_add(1, Ordering::Relaxed);
        }
        hopeless < HOPELESS || hopeless.is_multiple_of(HOPELESS)
    }

    /// `None` if it hardly shrinks: by less than an eighth.
    fn try_to_shrink(&self, plain: &[u8]) -> Option<Vec<u8>> {
        let packed = self.method.pack(plain, plain.len() - plain.len() / 8);
        if packed.is_some() {
            self.hopeless.store(0, Ordering::Relaxed);
        } else if self.hopeless.load(Ordering::Relaxed) < HOPELESS {
            self.hopeless.fetch_add(1, Ordering::Relaxed);
        }
        packed
    }

    async fn see(&self, range: RangeId, epoch: Epoch, query: &Query) -> Result<Option<Seen>> {
        let seen = self.server.get(range, epoch, query).await?;
        Ok(seen.map(|seen| Seen { value: seen.value.and_then(|value| unpack(&value)), ..seen }))
    }

    async fn see_together(
        &self,
        range: RangeId,
        epoch: Epoch,
        queries: &[Query],
    ) -> Result<Option<SeenTogether>> {
        let seen = self.server.get_together(range, epoch, queries).await?;
        let unpacked = |values: Vec<Option<Value>>| {
            values.into_iter().map(|value| value.and_then(|value| unpack(&value))).collect()
        };
        Ok(seen.map(|seen| SeenTogether { values: unpacked(seen.values), ..seen }))
    }

    async fn run(&self, range: RangeId, epoch: Epoch, call: CacheCall) -> Result<CacheReply> {
        let call = match call {
            CacheCall::Lookup(query, session) => return self.look_up(range, epoch, query, session).await,
            CacheCall::Install(query, session, value, record) => {
                CacheCall::Install(query, session, self.pack(&value), record)
            }
            CacheCall::Patch(session, mut changes) => {
                for (_, change) in &mut changes {
                    if let Change::Edit(Edit { compacted: Some((_, value)), .. }) = change {
                        *value = self.pack(value);
                    }
                }
                CacheCall::Patch(session, changes)
            }
            other => other,
        };
        Ok(match self.server.call(range, epoch, call).await? {
            CacheReply::Gathered(entries) => {
                let unpacked =
                    entries.into_iter().filter_map(|(query, value)| Some((query, unpack(&value)?)));
                CacheReply::Gathered(unpacked.collect())
            }
            other => other,
        })
    }

    async fn look_up(
        &self,
        range: RangeId,
        epoch: Epoch,
        query: Query,
        session: Session,
    ) -> Result<CacheReply> {
        let lookup = CacheCall::Lookup(query.clone(), session);
        let value = match self.server.call(range, epoch, lookup).await? {
            CacheReply::Found(value) => value,
            other => return Ok(other),
        };
        if let Some(value) = unpack(&value) {
            return Ok(CacheReply::Found(value));
        }
        let drop_it = CacheCall::Invalidate(session, vec![query]);
        Ok(match self.server.call(range, epoch, drop_it).await? {
            CacheReply::Done => CacheReply::Busy,
            other => other,
        })
    }
}

impl CacheServer for Compressed {
    fn get<'a>(&'a self, range: RangeId, epoch: Epoch, query: &'a Query) -> Reply<'a, Option<Seen>> {
        Box::pin(self.see(range, epoch, query))
    }

    fn get_together<'a>(
        &'a self,
        range: RangeId,
        epoch: Epoch,
        queries: &'a [Query],
    ) -> Reply<'a, Option<SeenTogether>> {
        Box::pin(self.see_together(range, epoch, queries))
    }

    fn call(&self, range: RangeId, epoch: Epoch, call: CacheCall) -> Reply<'_, CacheReply> {
        Box::pin(self.run(range, epoch, call))
    }

    fn probe(&self, range: RangeId, epoch: Epoch) -> Reply<'_, ()> {
        self.server.probe(range, epoch)
    }

    fn memory_percent(&self) -> Reply<'_, u8> {
        self.server.memory_percent()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed test panics")]
mod tests;
