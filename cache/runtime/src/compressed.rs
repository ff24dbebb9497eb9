//! A cache server whose values are compressed if that makes them smaller.
//!
//! Results in the memory of a remote server cost their bytes twice: there, and on the network. LZ4 halves rows of
//! text in about a microsecond per kilobyte. Short values, and those that hardly shrink, are kept as they are;
//! after 16 of these in a row only every 16th value is tried, so that results which never shrink cost next to
//! nothing.
//!
//! A value is one byte and then: 0xC0, its bytes; 0xC1, its length and that of a block of LZ4 in four bytes each,
//! little-endian, and the block. What writes add to it follows, as it is.
//!
//! Guarantee: that of the wrapped server. A value of another form counts as absent: it is dropped when its owner
//! finds it. All processes that share a namespace of a server must agree whether it is compressed, so use another
//! namespace when that changes.
//!
//! Report, section 7.3, which compresses every value; here only those that shrink.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::ports::{CacheServer, Reply, Seen, SeenTogether};
use lacuna_cache_protocol::{CacheCall, CacheReply, Change, Edit, Epoch, Query, RangeId, Session, Value};

const PLAIN: u8 = 0xC0;
const LZ4: u8 = 0xC1;
/// Bytes before a block.
const HEADER: usize = 9;
/// Minimum length for compression: a shorter value fits into one packet anyway.
const SMALLEST: usize = 256;
/// Maximum length of a value: the limit of the servers.
const LONGEST: usize = 512 << 20;
/// Upper bound of the LZ4 expansion ratio.
const MAX_TIMES: usize = 256;
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
    /// Values in a row that did not shrink.
    hopeless: AtomicU64,
    plain_bytes: AtomicU64,
    kept_bytes: AtomicU64,
}

impl Compressed {
    /// Wraps `server`, which must not be used by other processes without compression.
    pub fn new(server: Arc<dyn CacheServer>) -> Self {
        let [hopeless, plain_bytes, kept_bytes] = [const { AtomicU64::new(0) }; 3];
        Self { server, hopeless, plain_bytes, kept_bytes }
    }

    /// Bytes of all values that were given to keep, and the bytes sent for them.
    pub fn shrunk(&self) -> (u64, u64) {
        (self.plain_bytes.load(Ordering::Relaxed), self.kept_bytes.load(Ordering::Relaxed))
    }

    fn pack(&self, value: &Value) -> Value {
        let plain = value.as_bytes();
        let packed = if self.is_worth_trying(plain.len()) { self.try_lz4(plain) } else { None };
        let packed = packed.unwrap_or_else(|| [&[PLAIN][..], plain].concat());
        self.plain_bytes.fetch_add(plain.len() as u64, Ordering::Relaxed);
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
    fn try_lz4(&self, plain: &[u8]) -> Option<Vec<u8>> {
        let mut packed = vec![0; HEADER + lz4_flex::block::get_maximum_output_size(plain.len())];
        packed[0] = LZ4;
        packed[1..5].copy_from_slice(&u32::try_from(plain.len()).ok()?.to_le_bytes());
        let len = lz4_flex::block::compress_into(plain, &mut packed[HEADER..]).ok()?;
        packed[5..HEADER].copy_from_slice(&u32::try_from(len).ok()?.to_le_bytes());
        packed.truncate(HEADER + len);
        if packed.len() > plain.len() - plain.len() / 8 {
            if self.hopeless.load(Ordering::Relaxed) < HOPELESS {
                self.hopeless.fetch_add(1, Ordering::Relaxed);
            }
            return None;
        }
        self.hopeless.store(0, Ordering::Relaxed);
        Some(packed)
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

/// `None` for bytes that were not packed here.
fn unpack(value: &Value) -> Option<Value> {
    match value.as_bytes() {
        [PLAIN, plain @ ..] => Some(Value::new(plain)),
        [LZ4, rest @ ..] => {
            let (len, rest) = rest.split_first_chunk()?;
            let (block_len, rest) = rest.split_first_chunk()?;
            let [len, block_len] = [len, block_len].map(|len| u32::from_le_bytes(*len) as usize);
            let (block, added) = rest.split_at_checked(block_len)?;
            let is_possible = len <= LONGEST.min(MAX_TIMES.saturating_mul(block.len()));
            let plain = is_possible.then(|| lz4_flex::block::decompress(block, len).ok()).flatten();
            let mut plain = plain.filter(|plain| plain.len() == len)?;
            plain.extend_from_slice(added);
            Some(plain.into())
        }
        _ => None,
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
mod tests {
    use lacuna_cache_protocol::embedded::MemoryCache;
    use lacuna_cache_protocol::{Edited, Interval, LogRecord, Piece, RangeKey};

    use super::*;

    fn server() -> (Arc<MemoryCache>, Compressed) {
        let memory = Arc::new(MemoryCache::new(1 << 24));
        (memory.clone(), Compressed::new(memory))
    }

    /// Bytes that cannot be compressed.
    fn noise(len: usize, seed: u64) -> Vec<u8> {
        (0..len as u64)
            .map(|place| lacuna_base::hash::hash_bytes(&place.to_le_bytes(), seed).to_le_bytes()[0])
            .collect()
    }

    fn packed_len(server: &Compressed, plain: &[u8]) -> usize {
        let packed = server.pack(&Value::new(plain));
        assert_eq!(unpack(&packed).unwrap().as_bytes(), plain);
        packed.as_bytes().len()
    }

    #[test]
    fn values_come_back_as_they_were_and_only_smaller_ones_are_compressed() {
        let (_, server) = server();
        let text = b"a row of text, and ".repeat(100);
        assert!(packed_len(&server, &text) * 4 < text.len());
        for len in [0, 1, SMALLEST - 1, SMALLEST, 5_000] {
            assert_eq!(packed_len(&server, &noise(len, 1)), len + 1);
        }
        let (plain, kept) = server.shrunk();
        assert!(kept < plain, "{kept} of {plain}");
    }

    #[test]
    fn results_that_never_shrink_are_rarely_tried() {
        let (_, server) = server();
        (0..HOPELESS).for_each(|seed| assert!(packed_len(&server, &noise(1_000, seed)) == 1_001));
        let tried = (0..160).filter(|_| server.is_worth_trying(1_000)).count();
        assert_eq!(tried, 10);
        // A value that shrinks ends the sampling.
        assert!(server.try_lz4(&[7; 1_000]).is_some());
        assert!((0..10).all(|_| server.is_worth_trying(1_000)));
    }

    #[test]
    fn values_of_another_form_are_no_results() {
        let block = Compressed::new(Arc::new(MemoryCache::new(0))).pack(&Value::new(&[7; 1_000]));
        let cut = &block.as_bytes()[..block.as_bytes().len() - 1];
        let wrong_length = [&[LZ4, 0xE9, 3, 0, 0], &block.as_bytes()[5..]].concat();
        for bytes in [&[][..], &[1, 2, 3], &[LZ4], &[LZ4, 0xFF, 0xFF, 0xFF, 0xFF, 0], cut, &wrong_length] {
            assert!(unpack(&Value::new(bytes)).is_none(), "{bytes:?}");
        }
        let max = u32::try_from(LONGEST).unwrap().to_le_bytes();
        assert!(
            unpack(&Value::new(&[&[LZ4][..], &max, &[9, 0, 0, 0], &[0xFF; 9]].concat())).is_none(),
            "too long for its block"
        );
    }

    #[tokio::test]
    async fn a_value_of_another_form_is_dropped() {
        let (memory, server) = server();
        let (range, epoch, session) = (RangeId(0), Epoch(1), Session(1));
        let queries = [18, 20].map(|age| Query::all(0, Interval::point(RangeKey::from(age))));
        memory.run(range, epoch, CacheCall::Fence);
        for query in &queries {
            memory.run(range, epoch, CacheCall::Lookup(query.clone(), session));
            let record = LogRecord::of_entry(1, query, query.interval.clone());
            memory.run(
                range,
                epoch,
                CacheCall::Install(query.clone(), session, Value::new(b"foreign"), record),
            );
        }
        let [looked_up, gathered] = queries;
        assert_eq!(server.get(range, epoch, &looked_up).await.unwrap().unwrap().value, None);
        let call = async |call| server.call(range, epoch, call).await.unwrap();
        assert_eq!(call(CacheCall::Lookup(looked_up.clone(), Session(2))).await, CacheReply::Busy);
        assert_eq!(call(CacheCall::Lookup(looked_up, Session(2))).await, CacheReply::Leased);
        let gather = CacheCall::Gather(Session(3), vec![gathered], Vec::new());
        assert_eq!(call(gather).await, CacheReply::Gathered(Vec::new()));
    }

    #[tokio::test]
    async fn an_owner_and_the_hit_path_see_the_same() {
        let (memory, server) = server();
        let (range, epoch, session) = (RangeId(0), Epoch(1), Session(1));
        let query = Query::all(0, Interval::closed(18.into(), 22.into()).unwrap());
        let value = Value::new(&[7; 1_000]);
        let call = async |call| server.call(range, epoch, call).await.unwrap();
        assert_eq!(call(CacheCall::Fence).await, CacheReply::Done);
        assert_eq!(call(CacheCall::Lookup(query.clone(), session)).await, CacheReply::Leased);
        let record = LogRecord::of_entry(1, &query, query.interval.clone());
        assert_eq!(
            call(CacheCall::Install(query.clone(), session, value.clone(), record)).await,
            CacheReply::Done
        );
        assert!(memory.see(range, &query).unwrap().value.unwrap().as_bytes().len() < 100);
        let seen = server.get(range, epoch, &query).await.unwrap().unwrap();
        assert_eq!(seen.value, Some(value.clone()));
        let asked = [query.clone(), Query::all(0, Interval::point(99.into()))];
        let together = server.get_together(range, epoch, &asked).await.unwrap().unwrap();
        assert_eq!((together.fence, together.values), (epoch, vec![Some(value.clone()), None]));
        assert_eq!(call(CacheCall::Lookup(query.clone(), session)).await, CacheReply::Found(value.clone()));
        let edit = |edit| CacheCall::Patch(Session(2), vec![(query.clone(), Change::Edit(edit))]);
        let packed_len = memory.see(range, &query).unwrap().value.unwrap().as_bytes().len();
        let piece = |bytes: &[u8], place| vec![Piece { bytes: bytes.into(), place }];
        let added = call(edit(Edit { pieces: piece(b"added", None), ..Edit::default() })).await;
        let is_first = Edited { is_as_expected: false, len: Some(packed_len + 5) };
        assert_eq!(added, CacheReply::Patched(vec![(query.clone(), is_first)]), "as the server keeps it");
        let expected = Some(Session(2));
        let other = Edit { expected, pieces: piece(b"other", Some(packed_len)), ..Edit::default() };
        call(CacheCall::Patch(Session(3), vec![(query.clone(), Change::Edit(other))])).await;
        let value = Value::new(&[value.as_bytes(), b"other"].concat());
        let gather = CacheCall::Gather(Session(3), vec![query.clone()], Vec::new());
        assert_eq!(call(gather).await, CacheReply::Gathered(vec![(query.clone(), value)]));
        let compacted = Value::new(&[8; 2_000]);
        let edit = Edit { compacted: Some((Session(3), compacted.clone())), ..Edit::default() };
        call(CacheCall::Patch(Session(4), vec![(query.clone(), Change::Edit(edit))])).await;
        assert_eq!(server.get(range, epoch, &query).await.unwrap().unwrap().value, Some(compacted));
        assert!(memory.see(range, &query).unwrap().value.unwrap().as_bytes().len() < 100);
    }
}
