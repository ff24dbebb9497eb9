//! Several cache servers as one: the hash of a query chooses the server of its result.
//!
//! Usually a range has all its results on one server, so that one script updates all entries that a write touches.
//! A range that is too busy for one server can spread its results instead. With three servers, the results of 18
//! to 22 and of 20 to 25 are on two of them with a probability of two thirds, and a write of row 21 changes them by
//! two scripts. No reader sees a half-finished write: if a change concerns several servers, its values are hidden on all
//! of them first, and then changed and shown one after the other. A reader between the two finds the new value, or
//! none (P1).
//!
//! Guarantee: that of the servers. All have the fence of the tenure; a server that lost its memory ends the
//! tenure, a server that does not answer is missing for all results.
//!
//! Cost: a hit is one round trip; a write that touches k results is up to k concurrent scripts, twice if there are
//! several, and there is no log of entries: a take-over begins cold. For ranges that share servers evenly it is never faster than one server
//! for each range.
//!
//! Report, section 3.1: keys are spread over the cache servers by their hash. There the servers are updated one by
//! one, visibly.

use std::collections::BTreeMap;
use std::hash::{Hash as _, Hasher};
use std::sync::Arc;

use lacuna_base::hash::{hash_bytes, reduce};
use lacuna_cache_protocol::ports::{CacheServer, Reply, Seen, SeenTogether};
use lacuna_cache_protocol::{CacheCall, CacheReply, Epoch, Query, RangeId, Session};
use lacuna_cache_protocol::{Error, Result};
use tokio::task::JoinSet;

/// Cache servers that share the results of every range.
///
/// ```
/// use std::sync::Arc;
///
/// use lacuna_cache::Hashed;
/// use lacuna_cache_protocol::embedded::MemoryCache;
/// use lacuna_cache_protocol::ports::CacheServer;
///
/// let server = || -> Arc<dyn CacheServer> { Arc::new(MemoryCache::new(1 << 20)) };
/// assert!(Hashed::new(vec![server(), server()]).is_ok());
/// assert!(Hashed::new(Vec::new()).is_err());
/// ```
#[derive(Debug)]
pub struct Hashed {
    servers: Vec<Arc<dyn CacheServer>>,
}

/// A hash that is the same in every process.
struct Fold(u64);

impl Hasher for Fold {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash_bytes(bytes, self.0);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Hashed {
    /// Spreads results over these servers, in an order that all processes agree on.
    ///
    /// # Errors
    /// `InvalidInput` without a server.
    pub fn new(servers: Vec<Arc<dyn CacheServer>>) -> Result<Self> {
        if servers.is_empty() {
            return Err(Error::invalid_input("no cache server was given: name at least one"));
        }
        Ok(Self { servers })
    }

    #[expect(clippy::cast_possible_truncation, reason = "it is the place of a server")]
    fn place(&self, query: &Query) -> usize {
        let mut fold = Fold(0);
        query.hash(&mut fold);
        reduce(fold.finish(), self.servers.len() as u64) as usize
    }

    /// The part of a call for each server that has any of these queries.
    fn split<T>(
        &self,
        all: Vec<T>,
        query: impl Fn(&T) -> &Query,
        call: impl Fn(Vec<T>) -> CacheCall,
    ) -> Vec<(usize, CacheCall)> {
        let mut parts: BTreeMap<usize, Vec<T>> = BTreeMap::new();
        for one in all {
            parts.entry(self.place(query(&one))).or_default().push(one);
        }
        parts.into_iter().map(|(place, part)| (place, call(part))).collect()
    }

    fn everywhere(&self, call: &CacheCall) -> Vec<(usize, CacheCall)> {
        (0..self.servers.len()).map(|place| (place, call.clone())).collect()
    }

    /// Executes calls concurrently. Even if one fails, the others are awaited.
    async fn at_once(
        &self,
        range: RangeId,
        epoch: Epoch,
        calls: Vec<(usize, CacheCall)>,
    ) -> Result<Vec<CacheReply>> {
        let mut under_way = JoinSet::new();
        for (place, call) in calls {
            let server = self.servers[place].clone();
            under_way.spawn(async move { server.call(range, epoch, call).await });
        }
        under_way.join_all().await.into_iter().collect()
    }

    async fn run(&self, range: RangeId, epoch: Epoch, call: CacheCall) -> Result<CacheReply> {
        let takes_over = matches!(call, CacheCall::TakeOver(_));
        let gathers = matches!(call, CacheCall::Gather(..));
        let patches = matches!(call, CacheCall::Patch(..));
        let mut calls = match call {
            CacheCall::Fence | CacheCall::TakeOver(_) => self.everywhere(&CacheCall::Fence),
            CacheCall::Forget => self.everywhere(&CacheCall::Forget),
            // No server would have a complete log, so there is none.
            CacheCall::AppendLog(_) => return Ok(CacheReply::Done),
            CacheCall::ReadLog(_) => return Ok(CacheReply::Log(Vec::new())),
            CacheCall::ReplaceLog(..) => return Ok(CacheReply::NotHeld),
            CacheCall::Lookup(ref query, _) | CacheCall::Install(ref query, ..) => {
                return self.servers[self.place(query)].call(range, epoch, call).await;
            }
            CacheCall::Invalidate(session, queries) => {
                self.split(queries, |query| query, |part| CacheCall::Invalidate(session, part))
            }
            CacheCall::Hide(session, queries) => {
                self.split(queries, |query| query, |part| CacheCall::Hide(session, part))
            }
            CacheCall::Patch(session, changes) => {
                let queries: Vec<Query> = changes.iter().map(|(query, _)| query.clone()).collect();
                let patch = |part| CacheCall::Patch(session, part);
                let calls = self.split(changes, |(query, _)| query, patch);
                if calls.len() > 1 {
                    let hide = CacheCall::Hide(session, queries);
                    let hidden = Box::pin(self.run(range, epoch, hide)).await?;
                    if hidden != CacheReply::Done {
                        return Ok(hidden);
                    }
                }
                calls
            }
            CacheCall::Gather(session, queries, gaps) => {
                let gather = |queries, gaps| CacheCall::Gather(session, queries, gaps);
                let mut calls = self.split(queries, |query| query, |part| gather(part, Vec::new()));
                calls.extend(self.split(gaps, |gap| gap, |part| gather(Vec::new(), part)));
                calls
            }
        };
        if calls.is_empty() {
            // The fence must be checked even without entries (P3).
            calls.push((0, CacheCall::Invalidate(Session(0), Vec::new())));
        }
        let (mut values, mut edited, mut worst) = (Vec::new(), Vec::new(), CacheReply::Done);
        for reply in self.at_once(range, epoch, calls).await? {
            match reply {
                CacheReply::Gathered(part) => values.extend(part),
                CacheReply::Patched(part) => edited.extend(part),
                CacheReply::Done => {}
                reply if worst != CacheReply::Fenced => worst = reply,
                _ => {}
            }
        }
        Ok(match worst {
            CacheReply::Done if takes_over => CacheReply::Warm(Vec::new()),
            CacheReply::Done if gathers => CacheReply::Gathered(values),
            CacheReply::Done if patches => CacheReply::Patched(edited),
            worst => worst,
        })
    }

    async fn all_answer(&self, range: RangeId, epoch: Epoch) -> Result<()> {
        for server in &self.servers {
            server.probe(range, epoch).await?;
        }
        Ok(())
    }

    async fn fullest(&self) -> Result<u8> {
        let mut max = 0;
        for server in &self.servers {
            max = max.max(server.memory_percent().await?);
        }
        Ok(max)
    }
}

impl CacheServer for Hashed {
    fn get<'a>(&'a self, range: RangeId, epoch: Epoch, query: &'a Query) -> Reply<'a, Option<Seen>> {
        self.servers[self.place(query)].get(range, epoch, query)
    }

    /// Two servers are read at two moments: a write between them would be in one value and not in the other.
    fn get_together<'a>(
        &'a self,
        range: RangeId,
        epoch: Epoch,
        queries: &'a [Query],
    ) -> Reply<'a, Option<SeenTogether>> {
        let mut places = queries.iter().map(|query| self.place(query));
        let first = places.next().unwrap_or(0);
        if places.all(|place| place == first) {
            return self.servers[first].get_together(range, epoch, queries);
        }
        Box::pin(std::future::ready(Ok(None)))
    }

    fn call(&self, range: RangeId, epoch: Epoch, call: CacheCall) -> Reply<'_, CacheReply> {
        Box::pin(self.run(range, epoch, call))
    }

    fn probe(&self, range: RangeId, epoch: Epoch) -> Reply<'_, ()> {
        Box::pin(self.all_answer(range, epoch))
    }

    fn memory_percent(&self) -> Reply<'_, u8> {
        Box::pin(self.fullest())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed test panics")]
mod tests {
    use lacuna_cache_protocol::embedded::MemoryCache;
    use lacuna_cache_protocol::{Change, Edit, Interval, LogRecord, Piece, Value};

    use super::*;

    const RANGE: RangeId = RangeId(3);

    fn query(number: u64) -> Query {
        Query::all(0, Interval::point(number.into()))
    }

    /// Pseudo-random numbers.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = hash_bytes(&self.0.to_le_bytes(), 1);
            reduce(self.0, bound)
        }

        fn some_queries(&mut self) -> Vec<Query> {
            let first = self.below(8);
            (0..self.below(5)).map(|next| query((first + next) % 8)).collect()
        }
    }

    fn some_call(numbers: &mut Numbers, session: Session) -> CacheCall {
        let one = query(numbers.below(8));
        let value = Value::new(&numbers.below(1 << 40).to_le_bytes());
        match numbers.below(12) {
            0..=2 => CacheCall::Lookup(one, session),
            3..=5 => {
                let record = LogRecord::of_entry(1, &one, one.interval.clone());
                CacheCall::Install(one, session, value, record)
            }
            6 => CacheCall::Invalidate(session, numbers.some_queries()),
            7 => CacheCall::Hide(session, numbers.some_queries()),
            8 | 9 => {
                let place = [None, Some(0), Some(3), Some(5)][usize::try_from(numbers.below(4)).unwrap()];
                let pieces = vec![Piece { bytes: value.as_bytes()[..2].into(), place }];
                let expected = Some(Session(session.0 - numbers.below(2)));
                let edit = Edit { pieces, expected, is_hidden: numbers.below(3) == 0, compacted: None };
                let change = if numbers.below(8) == 0 { Change::Drop } else { Change::Edit(edit) };
                let entry = |query| (query, change.clone());
                CacheCall::Patch(session, numbers.some_queries().into_iter().map(entry).collect())
            }
            10 => CacheCall::Gather(session, numbers.some_queries(), vec![one]),
            _ if numbers.below(20) == 0 => CacheCall::Forget,
            _ => CacheCall::Gather(session, Vec::new(), Vec::new()),
        }
    }

    fn over(servers: &[Arc<MemoryCache>]) -> Hashed {
        let server = |place: usize| -> Arc<dyn CacheServer> { servers[place].clone() };
        Hashed::new((0..servers.len()).map(server).collect()).unwrap()
    }

    fn in_order(reply: CacheReply) -> CacheReply {
        match reply {
            CacheReply::Gathered(mut values) => {
                values.sort_by(|one, other| one.0.cmp(&other.0));
                CacheReply::Gathered(values)
            }
            CacheReply::Patched(mut edited) => {
                edited.sort();
                CacheReply::Patched(edited)
            }
            reply => reply,
        }
    }

    #[tokio::test]
    async fn several_servers_answer_as_one() {
        let one = MemoryCache::new(1 << 30);
        let servers: Vec<Arc<MemoryCache>> = (0..3).map(|_| Arc::new(MemoryCache::new(1 << 30))).collect();
        let several = over(&servers);
        let (mut numbers, mut epoch, mut seen) = (Numbers(7), Epoch(1), 0);
        let mut is_used = [false; 3];
        for step in 0..20_000_u64 {
            let call = match numbers.below(400) {
                _ if step == 0 => CacheCall::Fence,
                0 => {
                    epoch.0 += 1;
                    CacheCall::TakeOver(Some(Epoch(epoch.0 - 1)))
                }
                _ => some_call(&mut numbers, Session(1 + step / 6)),
            };
            let spoken = if numbers.below(50) == 0 { Epoch(epoch.0 - 1) } else { epoch };
            let expected = one.run(RANGE, spoken, call.clone());
            let actual = several.call(RANGE, spoken, call.clone()).await.unwrap();
            assert_eq!(in_order(actual), in_order(expected), "step {step}: {call:?}");
            let query = query(numbers.below(8));
            let found = several.get(RANGE, epoch, &query).await.unwrap();
            assert_eq!(found, one.see(RANGE, &query), "step {step}: {call:?}");
            let all: Vec<Query> = numbers.some_queries();
            let together = several.get_together(RANGE, epoch, &all).await.unwrap();
            let is_one_place = all.windows(2).all(|pair| several.place(&pair[0]) == several.place(&pair[1]));
            assert_eq!(together, one.see_together(RANGE, &all).filter(|_| is_one_place), "step {step}");
            seen += usize::from(found.is_some_and(|found| found.value.is_some()));
            is_used.iter_mut().zip(&servers).for_each(|(is_used, server)| *is_used |= server.bytes() > 0);
        }
        assert!(seen > 300 && is_used == [true; 3], "{seen} values were seen, on servers {is_used:?}");
    }

    #[tokio::test]
    async fn one_server_that_has_a_newer_fence_refuses_for_all() {
        let servers = [MemoryCache::new(1 << 20), MemoryCache::new(1 << 20)].map(Arc::new);
        let all = over(&servers);
        assert_eq!(all.call(RANGE, Epoch(5), CacheCall::Fence).await.unwrap(), CacheReply::Done);
        servers[1].run(RANGE, Epoch(6), CacheCall::Fence);
        let queries: Vec<Query> = (0..8).map(query).collect();
        let hide = CacheCall::Hide(Session(1), queries);
        assert_eq!(all.call(RANGE, Epoch(5), hide).await.unwrap(), CacheReply::Fenced);
        assert_eq!(all.call(RANGE, Epoch(5), CacheCall::TakeOver(None)).await.unwrap(), CacheReply::Fenced);
    }
}
