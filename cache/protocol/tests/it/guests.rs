//! What the owners of other ranges do for a write while one of them, or the leader, is slow or ends.

use std::sync::Arc;

use lacuna_cache_protocol::{
    Action, Config, Cut, Ending, Event, PeerCall, Policy, RangeId, RangeTable, RequestId, Write, WriteOutcome,
};

use crate::one_owner::{OneOwner, Servers};
use crate::several::talk;
use crate::sim::table::{Change, closed};

const HOLD: RequestId = RequestId(900);
const PEER_TIMEOUT: u64 = 500;

/// Keys below 3, from 3 to 5, and from 6.
fn table() -> RangeTable {
    let table = RangeTable::new(1).split(0, Cut::Before(3.into())).unwrap();
    table.split(0, Cut::Before(6.into())).unwrap()
}

/// Calls wait much longer than requests, as those of a runtime do.
fn started(servers: &mut Servers, range: u32, request_timeout: u64) -> OneOwner {
    let config = Config {
        range: RangeId(range),
        table: Some(Arc::new(table())),
        call_timeout: 30_000,
        peer_timeout: PEER_TIMEOUT,
        request_timeout,
        ..Config::new(Policy::WriteThrough)
    };
    OneOwner::started(servers, config, u64::from(range) + 1)
}

/// The owners of all ranges; somebody has a lease at the last.
fn with_a_lease_at_the_last(leader_waits: u64, last_waits: u64) -> (Servers, [OneOwner; 3]) {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let waits = [leader_waits, u64::MAX, last_waits];
    let mut range = 0..;
    let mut owners = waits.map(|waits| started(&mut servers, range.next().unwrap_or(0), waits));
    let command = Change::Put { key: 7, other: 0 }.write(200, false).command;
    let held = Write { touched: vec![(0, closed(6, 7))], command };
    owners[2].tell(&mut servers, Event::Hold(HOLD, held));
    assert_eq!(owners[2].holds_ready.len(), 1);
    (servers, owners)
}

fn wait(servers: &mut Servers, owners: &mut [OneOwner; 3], time: u64) {
    for _ in 0..time / 10 {
        owners.iter_mut().for_each(|owner| owner.wait(servers, 10));
        talk(servers, &mut owners.iter_mut().collect::<Vec<_>>());
    }
}

/// Everything is idle but for the lease, and keys of the leader can be written.
fn nothing_is_left(servers: &mut Servers, owners: &mut [OneOwner; 3]) {
    assert_eq!(owners.each_ref().map(|owner| owner.ending), [None; 3]);
    assert!(owners[0].machine.is_idle() && owners[1].machine.is_idle());
    let next = owners[0].change(servers, 101, Change::Put { key: 1, other: 1 });
    assert_eq!(owners[0].writes[&next], WriteOutcome::Done);
}

#[test]
fn an_owner_that_gives_up_on_a_lease_says_so_to_its_leader() {
    let (mut servers, mut owners) = with_a_lease_at_the_last(20_000, 400);
    let write = owners[0].change(&mut servers, 100, Change::Touch { lo: 0, hi: 7 });
    wait(&mut servers, &mut owners, 450);
    assert_eq!(owners[0].writes.get(&write), Some(&WriteOutcome::Retry));
    nothing_is_left(&mut servers, &mut owners);
}

#[test]
fn a_leader_waits_for_others_as_long_as_any_request_waits() {
    let (mut servers, mut owners) = with_a_lease_at_the_last(400, u64::MAX);
    let write = owners[0].change(&mut servers, 100, Change::Touch { lo: 0, hi: 7 });
    wait(&mut servers, &mut owners, 390);
    assert_eq!(owners[0].writes.get(&write), None);
    wait(&mut servers, &mut owners, 60);
    assert_eq!(owners[0].writes.get(&write), Some(&WriteOutcome::Retry));
    nothing_is_left(&mut servers, &mut owners);
}

#[test]
fn a_leader_that_is_not_told_that_others_gave_up_waits_no_longer() {
    let (mut servers, mut owners) = with_a_lease_at_the_last(400, 400);
    let write = owners[0].change(&mut servers, 100, Change::Touch { lo: 0, hi: 7 });
    for _ in 0..45 {
        owners.iter_mut().for_each(|owner| owner.wait(&mut servers, 10));
        let lost = |action: &Action| matches!(action, Action::Peer(_, RangeId(2), ..));
        owners[0].to_peers.retain(|action| !lost(action));
        talk(&mut servers, &mut owners.iter_mut().collect::<Vec<_>>());
    }
    assert_eq!(owners[0].writes.get(&write), Some(&WriteOutcome::Retry));
    nothing_is_left(&mut servers, &mut owners);
}

#[test]
fn no_tenure_ends_while_a_later_owner_or_the_store_takes_its_time() {
    let (mut servers, mut owners) = with_a_lease_at_the_last(20_000, 20_000);
    let write = owners[0].change(&mut servers, 100, Change::Touch { lo: 0, hi: 7 });
    wait(&mut servers, &mut owners, 3 * PEER_TIMEOUT);
    assert_eq!(owners[0].writes.get(&write), None, "it waits for the lease");
    owners[0].holds = |action| matches!(action, Action::Store(..));
    owners[2].tell(&mut servers, Event::HoldDone(HOLD));
    wait(&mut servers, &mut owners, 3 * PEER_TIMEOUT);
    assert_eq!(owners[0].writes.get(&write), None, "it waits for the store");
    owners[0].let_go(&mut servers);
    talk(&mut servers, &mut owners.iter_mut().collect::<Vec<_>>());
    assert_eq!(owners[0].writes.get(&write), Some(&WriteOutcome::Done));
    assert!(owners[2].machine.is_idle());
    nothing_is_left(&mut servers, &mut owners);
}

/// Its call and the release are on their way when it ends, and may change places.
#[test]
fn a_leader_that_ends_leaves_no_lease_at_the_owner_that_it_asked_last() {
    for changes_places in [false, true] {
        let mut servers = Servers::new(Policy::WriteThrough, None);
        let mut leader = started(&mut servers, 0, u64::MAX);
        let mut other = started(&mut servers, 1, u64::MAX);
        let write = leader.change(&mut servers, 100, Change::Touch { lo: 2, hi: 4 });
        let cut = table().split(0, Cut::Before(1.into())).unwrap();
        leader.tell(&mut servers, Event::Table(Arc::new(cut)));
        assert_eq!((leader.writes[&write], leader.ending), (WriteOutcome::Retry, Some(Ending::Fenced)));
        let calls: Vec<_> = leader
            .to_peers
            .iter()
            .filter_map(|action| match action {
                Action::Peer(_, RangeId(1), _, call) => Some(call.clone()),
                _ => None,
            })
            .collect();
        assert!(matches!(calls[..], [PeerCall::Lock(..), PeerCall::Release]), "{calls:?}");
        if changes_places {
            leader.to_peers.swap(0, 1);
        }
        talk(&mut servers, &mut [&mut leader, &mut other]);
        assert!(other.machine.is_idle(), "changes places: {changes_places}");
        other.wait(&mut servers, 2 * PEER_TIMEOUT);
        assert_eq!(other.ending, None);
    }
}

#[test]
fn leases_of_callers_and_long_ones_of_others_hold_an_owner() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let mut owners = [0, 1].map(|range| started(&mut servers, range, u64::MAX));
    let is_held = |owners: &[OneOwner; 2]| owners.each_ref().map(|owner| owner.machine.is_held());
    let command = Change::Put { key: 2, other: 0 }.write(200, false).command;
    owners[0].tell(&mut servers, Event::Hold(HOLD, Write { touched: vec![(0, closed(2, 4))], command }));
    talk(&mut servers, &mut owners.iter_mut().collect::<Vec<_>>());
    assert_eq!(is_held(&owners), [true, false]);
    for _ in 0..10 {
        owners.iter_mut().for_each(|owner| owner.wait(&mut servers, 100));
        talk(&mut servers, &mut owners.iter_mut().collect::<Vec<_>>());
    }
    assert_eq!(is_held(&owners), [true, true]);
    owners[0].tell(&mut servers, Event::HoldDone(HOLD));
    talk(&mut servers, &mut owners.iter_mut().collect::<Vec<_>>());
    assert_eq!(is_held(&owners), [false, false]);
}

#[test]
fn a_released_lease_is_remembered_for_a_while_only() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let mut owner = started(&mut servers, 1, u64::MAX);
    let mut leader = started(&mut servers, 0, u64::MAX);
    leader.change(&mut servers, 100, Change::Touch { lo: 2, hi: 4 });
    let Some(Action::Peer(call, _, peer, lock)) = leader.to_peers.pop() else {
        panic!("it asks no other owner")
    };
    let mut is_idle_after = |what: &PeerCall, time| {
        owner.wait(&mut servers, time);
        owner.tell(&mut servers, Event::Peer(peer, call, what.clone()));
        owner.machine.is_idle()
    };
    assert!(is_idle_after(&PeerCall::Release, 0));
    assert!(is_idle_after(&lock, PEER_TIMEOUT - 1), "it is late");
    assert!(!is_idle_after(&lock, 1), "nothing is remembered for ever");
}
