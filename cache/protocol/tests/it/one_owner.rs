//! One owner by hand: its calls are carried out at once, or held back by hand.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use lacuna_cache_protocol::{
    Action, CacheCall, CacheModel, Config, Ending, Epoch, Event, Flaw, LogCall, Notice, Owner, Policy, Query,
    RangeId, RangeTable, ReadOutcome, RequestId, StoreCall, Value, Write, WriteOutcome,
};

use crate::sim::store::{LogServer, Store};
use crate::sim::table::{Change, Row, Table, decode};

pub(crate) const RANGE: RangeId = RangeId(0);

/// What everybody shares.
pub(crate) struct Servers {
    pub(crate) cache: CacheModel,
    pub(crate) store: Store,
    pub(crate) logs: Vec<LogServer>,
    /// Calls carried out, by name.
    pub(crate) calls: BTreeMap<&'static str, usize>,
    /// Commands of each transaction of buffered writes.
    pub(crate) applied: Vec<usize>,
}

impl Servers {
    pub(crate) fn new(policy: Policy, flaw: Option<Flaw>) -> Self {
        let mut store = Store::new(flaw, policy == Policy::WriteBack);
        for key in 0..8 {
            store.write(&Change::Put { key, other: 0 }.write(u32::try_from(key).unwrap() + 1, false).command);
        }
        let logs = (0..3).map(|_| LogServer::default()).collect();
        Self {
            cache: CacheModel::new(100).with_flaw(flaw),
            store,
            logs,
            calls: BTreeMap::new(),
            applied: Vec::new(),
        }
    }

    /// The cached result of a query, as a client of this epoch sees it.
    pub(crate) fn hit(&self, epoch: Epoch, query: &Query) -> Option<Vec<Row>> {
        let (fence, value) = self.cache.get(RANGE, query)?;
        value.filter(|_| fence == epoch).map(|value| decode(&value))
    }
}

/// An owner and what it said.
pub(crate) struct OneOwner {
    pub(crate) machine: Owner<Table>,
    pub(crate) range: RangeId,
    pub(crate) now: u64,
    queue: VecDeque<Action>,
    /// Which calls are held back.
    pub(crate) holds: fn(&Action) -> bool,
    pub(crate) held: Vec<Action>,
    pub(crate) reads: BTreeMap<u64, ReadOutcome>,
    pub(crate) writes: BTreeMap<u64, WriteOutcome>,
    pub(crate) durable: Vec<RequestId>,
    /// Requests that the owner of another range did not let in.
    pub(crate) led_in_vain: Vec<u64>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) ending: Option<Ending>,
    /// What it said to owners of other ranges.
    pub(crate) to_peers: Vec<Action>,
    pub(crate) redirects: BTreeMap<u64, Arc<RangeTable>>,
    pub(crate) holds_ready: Vec<(RequestId, Vec<(RangeId, Epoch)>)>,
    pub(crate) unions: BTreeMap<u64, Vec<Value>>,
    pub(crate) next: u64,
}

pub(crate) fn no_call(_: &Action) -> bool {
    false
}

pub(crate) fn store_writes(action: &Action) -> bool {
    matches!(action, Action::Store(_, _, StoreCall::Write(_)))
}

pub(crate) fn applies(action: &Action) -> bool {
    matches!(action, Action::Store(_, _, StoreCall::Apply(_)))
}

impl OneOwner {
    /// A tenure that serves.
    pub(crate) fn started(servers: &mut Servers, config: Config, epoch: u64) -> Self {
        Self::with_table(servers, config, epoch, Table::default())
    }

    pub(crate) fn with_table(servers: &mut Servers, config: Config, epoch: u64, table: Table) -> Self {
        let owner = Self::begun(servers, config, epoch, table);
        assert!(owner.machine.is_serving());
        servers.calls.clear();
        owner
    }

    /// A tenure that may have ended, or not begun to serve.
    pub(crate) fn unseated(servers: &mut Servers, config: Config, epoch: u64) -> Self {
        Self::begun(servers, config, epoch, Table::default())
    }

    fn begun(servers: &mut Servers, config: Config, epoch: u64, table: Table) -> Self {
        let range = config.range;
        let machine = Owner::new(config, table, Epoch(epoch));
        let (reads, writes, held) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let mut owner = Self {
            machine,
            range,
            now: 0,
            queue: VecDeque::new(),
            holds: no_call,
            held,
            reads,
            writes,
            durable: Vec::new(),
            led_in_vain: Vec::new(),
            notices: Vec::new(),
            ending: None,
            to_peers: Vec::new(),
            redirects: BTreeMap::new(),
            holds_ready: Vec::new(),
            unions: BTreeMap::new(),
            next: 0,
        };
        owner.tell(servers, Event::Tick);
        owner
    }

    /// Gives the owner an event and carries out whatever follows.
    pub(crate) fn tell(&mut self, servers: &mut Servers, event: Event) {
        self.queue.extend(self.machine.handle(self.now, event));
        while let Some(action) = self.queue.pop_front() {
            if (self.holds)(&action) {
                self.held.push(action);
            } else {
                self.carry_out(servers, action);
            }
        }
    }

    /// Carries out what was held back.
    pub(crate) fn let_go(&mut self, servers: &mut Servers) {
        self.holds = no_call;
        self.queue.extend(self.held.drain(..));
        self.tell(servers, Event::Tick);
    }

    /// Carries out some of it, and holds back what is to be held now.
    pub(crate) fn let_some_go(
        &mut self,
        servers: &mut Servers,
        actions: &[Action],
        holds: fn(&Action) -> bool,
    ) {
        self.holds = holds;
        self.queue.extend(actions.iter().cloned());
        self.tell(servers, Event::Tick);
    }

    /// Carries out one call, and whatever follows that is not to be held.
    pub(crate) fn let_one_go(&mut self, servers: &mut Servers, action: Action) {
        self.carry_out(servers, action);
        self.tell(servers, Event::Tick);
    }

    pub(crate) fn wait(&mut self, servers: &mut Servers, time: u64) {
        self.now += time;
        self.tell(servers, Event::Tick);
    }

    fn carry_out(&mut self, servers: &mut Servers, action: Action) {
        let now = self.now;
        let event = match action {
            Action::Cache(call, epoch, what) => {
                *servers.calls.entry(cache_name(&what)).or_default() += 1;
                Event::Cache(call, servers.cache.call(self.range, epoch, &what))
            }
            Action::Store(call, epoch, what) => {
                *servers.calls.entry(store_name(&what)).or_default() += 1;
                if let StoreCall::Apply(commands) = &what {
                    servers.applied.push(commands.iter().filter(|(_, command)| command.is_some()).count());
                }
                Event::Store(call, servers.store.call(self.range, epoch, &what, false))
            }
            Action::Log(server, ..) if servers.logs[server].is_silent => return,
            Action::Log(server, call, epoch, what) => {
                let name = if matches!(what, LogCall::Append(..)) { "append" } else { "log" };
                *servers.calls.entry(name).or_default() += 1;
                Event::Log(call, servers.logs[server].call(self.range, epoch, &what))
            }
            Action::Peer(..) | Action::PeerReply(..) => return self.to_peers.push(action),
            Action::Redirect(request, table) => return drop(self.redirects.insert(request.0, table)),
            Action::ReadAllDone(request, values) => return drop(self.unions.insert(request.0, values)),
            Action::HoldReady(request, held) => return self.holds_ready.push((request, held)),
            Action::LedInVain(request) => return self.led_in_vain.push(request.0),
            Action::ReadDone(request, outcome) => return drop(self.reads.insert(request.0, outcome)),
            Action::WriteDone(request, outcome) => {
                self.writes.insert(request.0, outcome);
                return;
            }
            Action::Durable(request) => return self.durable.push(request),
            Action::Notice(notice) => return self.notices.push(notice),
            Action::Ended(ending) => return self.ending = Some(ending),
        };
        self.queue.extend(self.machine.handle(now, event));
    }

    /// Asks a query, and returns its number.
    pub(crate) fn ask(&mut self, servers: &mut Servers, query: &Query) -> u64 {
        self.next += 1;
        self.tell(servers, Event::Read(RequestId(self.next), query.clone()));
        self.next
    }

    /// The result of a query through the owner.
    pub(crate) fn read(&mut self, servers: &mut Servers, query: &Query) -> Vec<Row> {
        let request = self.ask(servers, query);
        decode(&self.value(request).expect("it is answered at once"))
    }

    pub(crate) fn value(&self, request: u64) -> Option<Value> {
        match self.reads.get(&request) {
            Some(ReadOutcome::Value(value)) => Some(value.clone()),
            _ => None,
        }
    }

    /// Makes a change, and returns its number.
    pub(crate) fn change(&mut self, servers: &mut Servers, id: u32, change: Change) -> u64 {
        self.write(servers, change.write(id, false))
    }

    /// As many writes of a key as β is decided after, and a report that clients had no hits meanwhile.
    pub(crate) fn write_often(&mut self, servers: &mut Servers, id: u32, key: u64) {
        for write in 0..1_000 {
            self.change(servers, id + write, Change::Put { key, other: 1 });
        }
        self.tell(servers, Event::Load { hits: 0, memory_percent: 0 });
    }

    pub(crate) fn write(&mut self, servers: &mut Servers, write: Write) -> u64 {
        self.next += 1;
        self.tell(servers, Event::Write(RequestId(self.next), write));
        self.next
    }
}

fn cache_name(call: &CacheCall) -> &'static str {
    match call {
        CacheCall::Fence => "fence cache",
        CacheCall::Lookup(..) => "lookup",
        CacheCall::Install(..) => "install",
        CacheCall::Invalidate(..) => "invalidate",
        CacheCall::Patch(..) => "patch",
        CacheCall::Hide(..) => "hide",
        CacheCall::TakeOver(_) => "take over",
        CacheCall::Forget => "forget",
        CacheCall::AppendLog(_) => "append to log",
        CacheCall::ReadLog(_) => "read log",
        CacheCall::ReplaceLog(..) => "replace log",
        CacheCall::Gather(..) => "gather",
    }
}

fn store_name(call: &StoreCall) -> &'static str {
    match call {
        StoreCall::Fence => "fence store",
        StoreCall::Query(_) => "query",
        StoreCall::Write(_) => "write",
        StoreCall::WriteAcross(..) => "write across",
        StoreCall::Apply(_) => "apply",
        StoreCall::Check => "check",
        StoreCall::Recovered => "recovered",
        StoreCall::Drained => "drained",
    }
}
