//! Every order of events of a small world, to the end.
//!
//! Two clients, two owners of which one takes over from the other, two keys. At each step any call on its way may arrive,
//! the owner may crash before or behind it, or be paused for so long that the other takes the range over while its calls
//! are still on their way. A reply arrives at once: to hold it back is to hold back the calls that follow from it, or a
//! crash. What clients saw is checked where nothing is left to happen; every path ends there, so nothing is missed.

use std::hash::{Hash, Hasher};
use std::time::Duration;

use lacuna_cache_protocol::{
    Action, CacheModel, Config, Epoch, Event, Flaw, Owner, Policy, Query, RangeId, ReadOutcome, RequestId,
    Value, WriteOutcome,
};
use lacuna_testkit::effort;
use stateright::{Checker as _, Model, Property};

use crate::sim::history::{Checker, How, Moment};
use crate::sim::store::{LogServer, Store};
use crate::sim::table::{Change, Table, closed, decode};

const RANGE: RangeId = RangeId(0);
const KEYS: u64 = 2;

/// What a client does.
#[derive(Debug, Clone, Copy)]
enum Step {
    Write(u32, Change),
    Read(u64, u64),
}

#[derive(Debug, Clone)]
struct World {
    policy: Policy,
    flaw: Option<Flaw>,
    programs: [&'static [Step]; 2],
    crashes: u8,
    pauses: u8,
}

#[derive(Debug, Clone)]
struct State {
    /// All tenures, the present one last; those that crashed are gone.
    owners: Vec<Option<Owner<Table>>>,
    cache: CacheModel,
    store: Store,
    logs: Vec<LogServer>,
    /// On their way, with the tenure they come from.
    calls: Vec<(usize, Action)>,
    clients: [Client; 2],
    history: Vec<Moment>,
    crashes: u8,
    pauses: u8,
}

#[derive(Debug, Clone, Copy)]
struct Client {
    program: &'static [Step],
    has_begun: bool,
    /// The tenure it knows of.
    knows: usize,
    /// Whether that one is to answer.
    waits: bool,
}

/// What happens next. Messages are named by their places.
#[derive(Debug, Clone, PartialEq)]
enum Happening {
    Client(usize),
    /// A reader has waited long enough for an owner that was replaced.
    GiveUp(usize),
    Call(usize),
    Tick,
    /// Behind a call that arrived, or before any.
    Crash(Option<usize>),
    Pause,
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        format!("{self:?}").hash(hasher);
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        format!("{self:?}") == format!("{other:?}")
    }
}

impl Client {
    const fn finish(&mut self) {
        if let [_, rest @ ..] = self.program {
            (self.program, self.has_begun, self.waits) = (rest, false, false);
        }
    }

    /// Number of its present read.
    const fn read(&self, me: usize) -> u64 {
        1_000 * me as u64 + self.program.len() as u64
    }
}

impl State {
    const fn present(&self) -> usize {
        self.owners.len() - 1
    }

    fn begin_tenure(&mut self, world: &World) {
        let tenure = self.owners.len();
        let config = Config {
            log_count: self.logs.len(),
            keeps_log: true,
            warm_from: (tenure > 0).then_some(Epoch(tenure as u64)),
            flaw: world.flaw,
            ..Config::new(world.policy)
        };
        self.owners.push(Some(Owner::new(config, Table::default(), Epoch(tenure as u64 + 1))));
        self.drive(tenure, Event::Tick);
    }

    /// Gives a tenure an event, and sends what it says.
    fn drive(&mut self, tenure: usize, event: Event) {
        let Some(owner) = self.owners[tenure].as_mut() else { return };
        for action in owner.handle(0, event) {
            match action {
                Action::ReadDone(request, outcome) => self.read_answered(tenure, request, &outcome),
                Action::WriteDone(request, outcome) => self.write_answered(tenure, request, outcome),
                Action::Durable(request) => self.write_answered(tenure, request, WriteOutcome::Unknown),
                Action::Notice(_) | Action::Ended(_) => {}
                call => self.calls.push((tenure, call)),
            }
        }
    }

    fn client_goes_on(&mut self, me: usize) {
        let client = &mut self.clients[me];
        let (step, has_begun, tenure) = (client.program[0], client.has_begun, client.knows);
        (client.has_begun, client.waits) = (true, true);
        let read = client.read(me);
        let request = RequestId(me as u64);
        match step {
            Step::Write(id, change) => {
                if !has_begun {
                    self.history.push(Moment::WriteBegan(id));
                }
                self.drive(tenure, Event::Write(request, change.write(id, false)));
            }
            Step::Read(lo, hi) => {
                if !has_begun {
                    self.history.push(Moment::ReadBegan(read));
                }
                let query = Query::all(0, closed(lo, hi));
                match self.cache.get(RANGE, &query) {
                    Some((fence, Some(value))) if fence == Epoch(tenure as u64 + 1) => {
                        self.read_ended(me, &value, How::Hit);
                    }
                    _ => self.drive(tenure, Event::Read(request, query)),
                }
            }
        }
    }

    fn read_ended(&mut self, me: usize, value: &Value, how: How) {
        let Some(Step::Read(lo, hi)) = self.clients[me].program.first().copied() else { return };
        let read = self.clients[me].read(me);
        let query = Query::all(0, closed(lo, hi));
        self.history.push(Moment::ReadEnded(read, query, decode(value), how));
        self.clients[me].finish();
    }

    /// The client that waits for this answer.
    fn asker(&self, tenure: usize, request: RequestId) -> Option<usize> {
        let me = usize::try_from(request.0).unwrap();
        let client = &self.clients[me];
        (client.waits && client.knows == tenure).then_some(me)
    }

    fn read_answered(&mut self, tenure: usize, request: RequestId, outcome: &ReadOutcome) {
        let Some(me) = self.asker(tenure, request) else { return };
        match outcome {
            ReadOutcome::Value(value) => self.read_ended(me, value, How::Miss),
            ReadOutcome::Retry => self.ask_the_present_owner(me),
        }
    }

    fn write_answered(&mut self, tenure: usize, request: RequestId, outcome: WriteOutcome) {
        let Some(me) = self.asker(tenure, request) else { return };
        let Some(Step::Write(id, _)) = self.clients[me].program.first().copied() else { return };
        match outcome {
            WriteOutcome::Retry => return self.ask_the_present_owner(me),
            WriteOutcome::Done => self.history.push(Moment::WriteDone(id)),
            WriteOutcome::Refused => self.history.push(Moment::WriteNot(id)),
            WriteOutcome::Unknown => {}
        }
        self.clients[me].finish();
    }

    fn ask_the_present_owner(&mut self, me: usize) {
        let present = self.present();
        let client = &mut self.clients[me];
        (client.waits, client.knows) = (false, present);
    }

    fn carry_out(&mut self, place: usize) {
        let (tenure, action) = self.calls.remove(place);
        let event = match action {
            Action::Cache(call, epoch, what) => Event::Cache(call, self.cache.call(RANGE, epoch, &what)),
            Action::Store(call, epoch, what) => {
                Event::Store(call, self.store.call(RANGE, epoch, &what, false))
            }
            Action::Log(server, call, epoch, what) => {
                Event::Log(call, self.logs[server].call(RANGE, epoch, &what))
            }
            _ => return,
        };
        self.drive(tenure, event);
    }

    /// The owner is gone, and what it had been told; who waited for it asks the next, or does not know.
    fn crash(&mut self, world: &World, arrived: Option<usize>) {
        let gone = self.present();
        self.owners[gone] = None;
        arrived.into_iter().for_each(|call| self.carry_out(call));
        self.begin_tenure(world);
        for me in 0..2 {
            let client = &mut self.clients[me];
            if !client.waits || client.knows != gone {
                continue;
            }
            match client.program.first() {
                Some(Step::Write(..)) => client.finish(),
                _ => self.ask_the_present_owner(me),
            }
        }
    }

    fn buffered(&self) -> usize {
        self.owners[self.present()].as_ref().map_or(0, |owner| owner.buffered().len())
    }

    /// Whether nothing is left to happen.
    fn is_at_rest(&self) -> bool {
        let is_done = self.clients.iter().all(|client| client.program.is_empty());
        is_done && self.calls.is_empty() && self.buffered() == 0
    }

    fn anomaly(&self) -> Option<String> {
        let mut checker = Checker::new(&self.store, KEYS, true);
        if let Err(what) = checker.check(&self.history) {
            return Some(what);
        }
        let owner = self.owners[self.present()].as_ref().expect("the present owner did not crash");
        self.cache.entries(RANGE).find_map(|(query, value)| {
            let here = [(query.domain, query.interval.clone())];
            let is_known = owner.index().touched(&here).contains(query);
            let is_fresh = decode(&value) == self.store.fresh(query);
            (!is_known || !is_fresh).then(|| format!("{query:?} is known {is_known}, fresh {is_fresh}"))
        })
    }
}

impl Model for World {
    type State = State;
    type Action = Happening;

    fn init_states(&self) -> Vec<State> {
        let is_buffering = self.policy == Policy::WriteBack;
        let mut store = Store::new(self.flaw, is_buffering);
        let mut history = Vec::new();
        for key in 0..KEYS {
            let id = u32::try_from(key).unwrap() + 1;
            history.push(Moment::WriteBegan(id));
            store.write(&Change::Put { key, other: 0 }.write(id, false).command);
        }
        let client = |program| Client { program, has_begun: false, knows: 0, waits: false };
        let mut state = State {
            owners: Vec::new(),
            cache: CacheModel::new(100).with_flaw(self.flaw),
            store,
            logs: if is_buffering { vec![LogServer::default()] } else { Vec::new() },
            calls: Vec::new(),
            clients: self.programs.map(client),
            history,
            crashes: self.crashes,
            pauses: self.pauses,
        };
        state.begin_tenure(self);
        // Its take-over is explored as that of its successor; at the beginning it is undisturbed.
        while !state.calls.is_empty() {
            state.carry_out(0);
        }
        vec![state]
    }

    fn actions(&self, state: &State, happenings: &mut Vec<Happening>) {
        let may_go_on = |me: &usize| !state.clients[*me].waits && !state.clients[*me].program.is_empty();
        happenings.extend((0..2).filter(may_go_on).map(Happening::Client));
        let may_give_up = |me: &usize| {
            let client = &state.clients[*me];
            let is_read = matches!(client.program.first(), Some(Step::Read(..)));
            client.waits && is_read && client.knows != state.present()
        };
        happenings.extend((0..2).filter(may_give_up).map(Happening::GiveUp));
        happenings.extend((0..state.calls.len()).map(Happening::Call));
        if state.buffered() > 0 {
            happenings.push(Happening::Tick);
        }
        let is_any_at_work = state.clients.iter().any(|client| !client.program.is_empty());
        if state.crashes > 0 && (is_any_at_work || state.buffered() > 0) {
            happenings.push(Happening::Crash(None));
            let calls = state.calls.iter().enumerate();
            let of_present = calls.filter(|(_, (tenure, _))| *tenure == state.present());
            happenings.extend(of_present.map(|(place, _)| Happening::Crash(Some(place))));
        }
        if state.pauses > 0 && is_any_at_work {
            happenings.push(Happening::Pause);
        }
    }

    fn next_state(&self, before: &State, happening: Happening) -> Option<State> {
        let mut state = before.clone();
        match happening {
            Happening::Client(me) => state.client_goes_on(me),
            Happening::GiveUp(me) => state.ask_the_present_owner(me),
            Happening::Call(place) => state.carry_out(place),
            Happening::Tick => {
                state.drive(before.present(), Event::Tick);
                if state.calls.len() == before.calls.len() {
                    return None;
                }
            }
            Happening::Crash(call) => {
                state.crashes -= 1;
                state.crash(self, call);
            }
            Happening::Pause => {
                state.pauses -= 1;
                state.begin_tenure(self);
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("nothing stale is seen and nothing is lost", |_, state: &State| {
                !state.is_at_rest() || state.anomaly().is_none()
            }),
            Property::sometimes("a client had a hit", |_, state: &State| {
                state.history.iter().any(|moment| matches!(moment, Moment::ReadEnded(.., How::Hit)))
            }),
            Property::sometimes("it comes to rest", |_, state: &State| state.is_at_rest()),
        ]
    }
}

const WRITER: &[Step] = &[Step::Write(100, Change::Touch { lo: 0, hi: 1 }), Step::Read(0, 1)];
const PUTTER: &[Step] = &[Step::Read(0, 1), Step::Write(200, Change::Put { key: 1, other: 1 })];
const ONE_WRITE: &[Step] = &[Step::Write(100, Change::Touch { lo: 0, hi: 1 })];
const READER: &[Step] = &[Step::Read(0, 1), Step::Read(0, 1)];

fn world(policy: Policy) -> World {
    // Under write-back there is more on the way: as many operations would be too many states for a test.
    let is_large = effort::is_long() && policy != Policy::WriteBack;
    let programs = if is_large { [WRITER, PUTTER] } else { [ONE_WRITE, READER] };
    World { policy, flaw: None, programs, crashes: 1, pauses: u8::from(effort::is_long()) }
}

/// Longer than any of these takes: an exploration that does not end is a failure.
const MAX_TIME: Duration = Duration::from_secs(1_800);

/// Explores a world to the end: nothing stale, and so many states.
fn explore(world: World) {
    let name = format!("{world:?}");
    let checker = world.checker().threads(2).timeout(MAX_TIME).spawn_bfs().join();
    println!("{name}: {} states, {} deep", checker.unique_state_count(), checker.max_depth());
    assert!(checker.is_done(), "it is explored to the end");
    checker.assert_properties();
}

#[test]
fn every_order_of_a_crash_is_right_under_write_around() {
    explore(world(Policy::WriteAround));
}

#[test]
fn every_order_of_a_crash_is_right_under_write_through() {
    explore(world(Policy::WriteThrough));
}

#[test]
fn every_order_of_a_crash_is_right_under_write_back() {
    explore(world(Policy::WriteBack));
}

#[test]
fn every_order_of_a_pause_is_right() {
    for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
        explore(World { crashes: 0, pauses: 1, ..world(policy) });
    }
}

#[test]
fn exploration_finds_what_is_wrong() {
    let flaws = [(Policy::WriteAround, Flaw::UnfencedStore), (Policy::WriteThrough, Flaw::UnfencedStore)];
    for (policy, flaw) in flaws {
        let world = World { flaw: Some(flaw), crashes: 0, pauses: 1, ..world(policy) };
        let checker = world.checker().threads(2).timeout(MAX_TIME).spawn_bfs().join();
        let found = checker.discovery("nothing stale is seen and nothing is lost");
        assert!(found.is_some(), "{flaw:?} is not found in {} states", checker.unique_state_count());
    }
}
