//! Take-overs by a new owner, after the old one was killed: the log of entries says what lies in the cache.

use std::collections::BTreeMap;
use std::sync::Arc;

use lacuna_cache::redis::{RedisCache, RedisLog};
use lacuna_cache_protocol::ports::{CacheServer, LogServer};
use lacuna_cache_protocol::{
    Action, Addition, Application, Command, Config, Epoch, Event, Fact, Interval, LogReply, Notice, Owner,
    Patch, Policy, Query, RangeId, ReadOutcome, RequestId, Rows, StoreCall, StoreReply, StoreState, Value,
    Write, WriteOutcome,
};
use lacuna_testkit::servers::Redis;

const RANGE: RangeId = RangeId(0);

/// Commands are the new value of everything, after a bar that they add to values.
#[derive(Debug)]
struct Last;

impl Application for Last {
    fn is_certain(&self, _: &Command, _: &[(Query, Value)], _: &[Fact]) -> bool {
        true
    }
    fn patch(&self, command: &Command, queries: &[Query]) -> Vec<Patch> {
        queries.iter().map(|_| Patch::Append(Addition::new([b"|", command.as_bytes()].concat()))).collect()
    }
    fn settle(&self, _: &Query, value: &Value) -> Option<Value> {
        value.as_bytes().rsplit(|byte| *byte == b'|').next().map(Value::new)
    }
    fn empty(&self, _: &Query) -> Value {
        Value::new(b"")
    }
}

/// A store in memory, and real servers.
struct World {
    cache: RedisCache,
    logs: Vec<RedisLog>,
    state: StoreState,
    value: Value,
    queries: usize,
    notices: Vec<Notice>,
}

/// An owner and its answers. To kill it is to drop it.
struct OwnerTask {
    owner: Owner<Last>,
    reads: BTreeMap<u64, ReadOutcome>,
    writes: BTreeMap<u64, WriteOutcome>,
    next: u64,
    /// Whether what is meant for the store gets lost.
    is_cut_off: bool,
}

impl World {
    fn new(cache: &Redis, logs: &[Redis]) -> Self {
        Self {
            cache: crate::redis::cache(cache),
            logs: logs.iter().map(crate::redis::log).collect(),
            state: StoreState { applied_lsn: 0, recovered: Epoch(0), is_buffered: false },
            value: Value::new(b"first"),
            queries: 0,
            notices: Vec::new(),
        }
    }

    fn config(&self, before: Option<u64>) -> Config {
        let policy = if self.logs.is_empty() { Policy::WriteThrough } else { Policy::WriteBack };
        Config {
            keeps_log: true,
            warm_from: before.map(Epoch),
            log_count: self.logs.len(),
            attempts: 1,
            ..Config::new(policy)
        }
    }

    async fn seat(&mut self, epoch: u64, before: Option<u64>) -> OwnerTask {
        let owner = Owner::new(self.config(before), Last, Epoch(epoch));
        let mut seat =
            OwnerTask { owner, reads: BTreeMap::new(), writes: BTreeMap::new(), next: 0, is_cut_off: false };
        self.tell(&mut seat, Event::Tick).await;
        seat
    }

    async fn tell(&mut self, seat: &mut OwnerTask, event: Event) {
        let mut actions: std::collections::VecDeque<Action> = seat.owner.handle(0, event).into();
        while let Some(action) = actions.pop_front() {
            let event = match action {
                Action::Cache(call, epoch, what) => {
                    let reply = self.cache.call(RANGE, epoch, what).await;
                    reply.map_or(Event::Lost(call), |reply| Event::Cache(call, reply))
                }
                Action::Log(server, call, epoch, what) => {
                    let reply: Result<LogReply, _> = self.logs[server].call(RANGE, epoch, what).await;
                    reply.map_or(Event::Lost(call), |reply| Event::Log(call, reply))
                }
                Action::Store(_, _, StoreCall::Apply(_)) if seat.is_cut_off => continue,
                Action::Store(call, epoch, what) => Event::Store(call, self.store(epoch, what)),
                Action::ReadDone(request, outcome) => {
                    seat.reads.insert(request.0, outcome);
                    continue;
                }
                Action::WriteDone(request, outcome) => {
                    seat.writes.insert(request.0, outcome);
                    continue;
                }
                Action::Notice(notice) => {
                    self.notices.push(notice);
                    continue;
                }
                _ => continue,
            };
            actions.extend(seat.owner.handle(0, event));
        }
    }

    fn store(&mut self, epoch: Epoch, call: StoreCall) -> StoreReply {
        match call {
            StoreCall::Fence => return StoreReply::State(self.state),
            StoreCall::Query(_) => {
                self.queries += 1;
                return StoreReply::Rows(Rows { value: self.value.clone(), is_empty: false, last: None });
            }
            StoreCall::Write(command) => self.value = Value::new(command.as_bytes()),
            StoreCall::Apply(commands) => {
                for (lsn, command) in commands {
                    self.state.applied_lsn = lsn;
                    self.value = command.map_or(self.value.clone(), |command| Value::new(command.as_bytes()));
                }
            }
            StoreCall::Recovered => {
                self.state.recovered = epoch;
                self.state.is_buffered = !self.logs.is_empty();
            }
            StoreCall::Check => {}
            StoreCall::Drained => self.state.is_buffered = false,
            StoreCall::WriteAcross(..) => panic!("there is one range"),
        }
        StoreReply::Done
    }

    async fn read(&mut self, seat: &mut OwnerTask, query: &Query) -> Value {
        seat.next += 1;
        self.tell(seat, Event::Read(RequestId(seat.next), query.clone())).await;
        match seat.reads.get(&seat.next) {
            Some(ReadOutcome::Value(value)) => value.clone(),
            other => panic!("{other:?}"),
        }
    }

    async fn write(&mut self, seat: &mut OwnerTask, at: u64, text: &str) -> WriteOutcome {
        seat.next += 1;
        let touched = vec![(0, Interval::point(at.into()))];
        let write = Write { touched, command: Command::new(text.as_bytes()) };
        self.tell(seat, Event::Write(RequestId(seat.next), write)).await;
        seat.writes[&seat.next]
    }

    async fn hit(&self, epoch: u64, query: &Query) -> Option<Value> {
        let seen = self.cache.get(RANGE, Epoch(epoch), query).await.unwrap()?;
        let value = seen.value.filter(|_| seen.fence == Epoch(epoch))?;
        Last.settle(query, &value)
    }
}

fn query(lo: u64, hi: u64) -> Query {
    Query::all(0, Interval::closed(lo.into(), hi.into()).unwrap())
}

#[tokio::test]
async fn a_new_owner_begins_warm_and_knows_what_it_took_over() {
    let Some(server) = Redis::cache() else { return };
    let mut world = World::new(&server, &[]);
    let mut first = world.seat(1, None).await;
    let (left, right) = (query(1, 9), query(20, 29));
    world.read(&mut first, &left).await;
    world.read(&mut first, &right).await;
    drop(first);
    let mut second = world.seat(2, Some(1)).await;
    assert!(world.hit(2, &left).await.is_some() && world.hit(2, &right).await.is_some());
    assert_eq!(world.hit(1, &left).await, None, "a route to the old tenure sees nothing");
    assert_eq!(world.write(&mut second, 5, "second").await, WriteOutcome::Done);
    assert_eq!(world.hit(2, &left).await, Some(Value::new(b"second")), "it knew the entry");
    assert_eq!(world.hit(2, &right).await, Some(Value::new(b"first")));
    assert_eq!(world.queries, 2);
    // The range was elsewhere meanwhile: what lies here is of an older tenure than the one named.
    let _third = world.seat(4, Some(3)).await;
    assert_eq!(world.hit(4, &left).await, None);
}

#[tokio::test]
async fn who_served_past_the_cache_leaves_nothing_warm() {
    let Some(server) = Redis::cache() else { return };
    let mut world = World::new(&server, &[]);
    let mut first = world.seat(1, None).await;
    let left = query(1, 9);
    world.read(&mut first, &left).await;
    drop(first);
    // While the coordinator was away, a tenure that it knows nothing of wrote to the store alone.
    (world.state.recovered, world.value) = (Epoch(2), Value::new(b"past the cache"));
    let mut third = world.seat(5, Some(1)).await;
    assert_eq!(world.hit(5, &left).await, None);
    assert_eq!(world.read(&mut third, &left).await, Value::new(b"past the cache"));
}

#[tokio::test]
async fn a_log_of_entries_that_lost_a_chunk_means_to_begin_cold() {
    let Some(server) = Redis::cache() else { return };
    let mut world = World::new(&server, &[]);
    let mut first = world.seat(1, None).await;
    world.read(&mut first, &query(1, 9)).await;
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let chunks: Vec<String> =
        redis::cmd("KEYS").arg("lacuna:*:p:*").query_async(&mut connection).await.unwrap();
    assert_eq!(chunks.len(), 1);
    let _gone: i64 = redis::cmd("DEL").arg(&chunks).query_async(&mut connection).await.unwrap();
    let _second = world.seat(2, Some(1)).await;
    assert_eq!(world.hit(2, &query(1, 9)).await, None);
}

/// A server that was started again from its dump is where it was, with an older state of the cache.
#[tokio::test]
async fn an_owner_begins_cold_on_a_server_that_was_started_again() {
    let Some(mut server) = Redis::with(&["--save", "", "--appendonly", "no"]) else { return };
    let mut world = World::new(&server, &[]);
    let mut first = world.seat(1, None).await;
    let left = query(1, 9);
    world.read(&mut first, &left).await;
    crate::redis::reborn::tell(&server.url(), "SAVE", &[]).await;
    assert_eq!(world.write(&mut first, 5, "second").await, WriteOutcome::Done);
    assert_eq!(world.hit(1, &left).await, Some(Value::new(b"second")));
    server.restart();
    // The connection breaks, and a new one is made.
    assert!(world.cache.get(RANGE, Epoch(1), &left).await.is_err());
    assert_eq!(world.hit(1, &left).await, None, "of the tenure that goes on");
    drop(first);
    let mut second = world.seat(2, Some(1)).await;
    assert_eq!(world.hit(2, &left).await, None);
    assert_eq!(world.read(&mut second, &left).await, Value::new(b"second"));
    assert_eq!(world.hit(2, &left).await, Some(Value::new(b"second")), "it is cached here, too");
}

/// A server that evicts what was not used for longest: an entry that is often hit stays, all of the log goes, and what is
/// installed later begins a log that is whole but for that entry.
#[tokio::test]
async fn a_log_of_entries_that_was_evicted_whole_means_to_begin_cold() {
    let Some(server) = Redis::cache() else { return };
    let mut world = World::new(&server, &[]);
    let mut first = world.seat(1, None).await;
    let (hot, late) = (query(1, 9), query(20, 29));
    world.read(&mut first, &hot).await;
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    for pattern in ["lacuna:*:p:*", "lacuna:*:pc"] {
        let keys: Vec<String> = redis::cmd("KEYS").arg(pattern).query_async(&mut connection).await.unwrap();
        assert_eq!(keys.len(), 1, "{pattern}");
        let _gone: i64 = redis::cmd("DEL").arg(&keys).query_async(&mut connection).await.unwrap();
    }
    world.read(&mut first, &late).await;
    assert!(world.hit(1, &hot).await.is_some() && world.hit(1, &late).await.is_some());
    drop(first);
    let mut second = world.seat(2, Some(1)).await;
    assert_eq!(world.write(&mut second, 5, "second").await, WriteOutcome::Done);
    assert_eq!(world.read(&mut second, &hot).await, Value::new(b"second"));
    assert_eq!(world.hit(2, &late).await, None, "nothing is known of what was here");
}

#[tokio::test]
async fn an_owner_and_a_log_server_die_and_nothing_is_lost() {
    let Some(cache) = Redis::cache() else { return };
    let Some(mut logs) = (0..3).map(|_| Redis::log()).collect::<Option<Vec<Redis>>>() else { return };
    let mut world = World::new(&cache, &logs);
    let mut first = world.seat(1, None).await;
    let (whole, other) = (query(1, 9), query(20, 29));
    world.read(&mut first, &whole).await;
    world.read(&mut first, &other).await;
    first.is_cut_off = true;
    assert_eq!(world.write(&mut first, 5, "buffered").await, WriteOutcome::Done);
    assert_eq!(world.hit(1, &whole).await, Some(Value::new(b"buffered")));
    assert_eq!(world.value, Value::new(b"first"), "the store has not heard of it");
    drop(first);
    logs[0].kill();
    let mut second = world.seat(2, Some(1)).await;
    assert!(second.owner.is_serving());
    assert_eq!(world.value, Value::new(b"buffered"));
    assert_eq!(world.hit(2, &whole).await, None, "it may lack what was in the logs alone");
    assert_eq!(world.hit(2, &other).await, Some(Value::new(b"first")), "still warm");
    assert_eq!(world.read(&mut second, &whole).await, Value::new(b"buffered"));
    assert_eq!((world.queries, world.notices.clone()), (3, vec![]));
}

#[tokio::test]
async fn a_log_that_a_take_over_only_fenced_is_not_whole() {
    use lacuna_cache_protocol::LogCall;
    let Some(server) = Redis::log() else { return };
    let log: Arc<dyn LogServer> = Arc::new(crate::redis::log(&server));
    let is_whole = async |epoch| match log.call(RANGE, Epoch(epoch), LogCall::Fence).await.unwrap() {
        LogReply::Kept { is_whole, .. } => is_whole,
        other => panic!("{other:?}"),
    };
    assert!(!is_whole(1).await && !is_whole(2).await, "nobody that serves has used it");
    assert_eq!(log.call(RANGE, Epoch(2), LogCall::Trim(0)).await.unwrap(), LogReply::Done);
    assert!(is_whole(3).await);
}
