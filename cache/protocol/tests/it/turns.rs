//! Who waits for whom: writes that touch one entry, and writes that the store has no time for.

use lacuna_cache_protocol::{Config, Epoch, Event, Notice, Policy, Query, RequestId, WriteOutcome};

use crate::desk::{Desk, Servers, applies, store_writes};
use crate::sim::table::{Change, closed};

fn put(key: u64) -> Change {
    Change::Put { key, other: 1 }
}

/// Versions that the cache shows.
fn shown(servers: &Servers, query: &Query) -> Option<Vec<u32>> {
    servers.hit(Epoch(1), query).map(|rows| rows.iter().map(|row| row.version).collect())
}

#[test]
fn an_entry_that_several_writes_touch_stays() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let mut desk = Desk::seated(&mut servers, Config::new(Policy::WriteThrough), 1);
    let (query, neighbour) = (Query::all(0, closed(2, 5)), Query::all(0, closed(6, 7)));
    desk.read(&mut servers, &query);
    desk.read(&mut servers, &neighbour);
    servers.calls.clear();
    desk.holds = store_writes;
    for (id, key) in [(100, 3), (101, 4), (102, 5), (103, 6)] {
        desk.change(&mut servers, id, put(key));
    }
    assert_eq!(
        servers.calls["hide"], 2,
        "the second and third wait behind the first, the fourth behind nobody"
    );
    assert_eq!(desk.held.len(), 2);
    desk.let_go(&mut servers);
    assert!((1..=4).all(|write| desk.writes[&(write + 2)] == WriteOutcome::Done), "{:?}", desk.writes);
    assert_eq!(shown(&servers, &query), Some(vec![3, 100, 101, 102]));
    assert_eq!(shown(&servers, &neighbour), Some(vec![103, 8]));
    assert!(desk.owner.is_idle());
}

#[test]
fn whoever_waits_for_an_entry_too_long_is_sent_away() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let config = Config { request_timeout: 10, ..Config::new(Policy::WriteThrough) };
    let mut desk = Desk::seated(&mut servers, config, 1);
    let query = Query::all(0, closed(2, 5));
    desk.read(&mut servers, &query);
    desk.holds = store_writes;
    let first = desk.change(&mut servers, 100, put(3));
    let second = desk.change(&mut servers, 101, put(4));
    desk.wait(&mut servers, 10);
    assert_eq!(desk.writes.get(&second), Some(&WriteOutcome::Retry));
    desk.let_go(&mut servers);
    assert_eq!(desk.writes[&first], WriteOutcome::Done);
    assert_eq!(shown(&servers, &query), Some(vec![3, 100, 5, 6]));
    assert!(desk.owner.is_idle());
}

/// Six writes where four may be buffered, and none reaches the store.
fn crowded() -> (Servers, Desk, Vec<u64>) {
    let mut servers = Servers::new(Policy::WriteBack, None);
    let config = Config { max_buffered: 4, request_timeout: 100, ..Config::new(Policy::WriteBack) };
    let mut desk = Desk::seated(&mut servers, config, 1);
    desk.holds = applies;
    let writes = (100..106).map(|id| desk.change(&mut servers, id, put(3))).collect();
    (servers, desk, writes)
}

#[test]
fn writes_wait_while_the_store_is_behind() {
    let (mut servers, mut desk, writes) = crowded();
    assert_eq!(desk.owner.buffered().len(), 4);
    assert!(writes[..4].iter().all(|write| desk.writes[write] == WriteOutcome::Done));
    assert!(writes[4..].iter().all(|write| !desk.writes.contains_key(write)));
    desk.wait(&mut servers, 1);
    desk.let_go(&mut servers);
    assert!(writes.iter().all(|write| desk.writes[write] == WriteOutcome::Done));
    desk.wait(&mut servers, 1);
    assert_eq!(servers.store.rows[&3].version, 105, "in the order in which they came");
    assert!(desk.owner.is_idle());
}

#[test]
fn a_read_does_not_wait_at_the_door() {
    let (mut servers, mut desk, _) = crowded();
    let rows = desk.read(&mut servers, &Query::all(0, closed(6, 7)));
    assert_eq!(rows.len(), 2);
}

#[test]
fn whoever_is_still_at_the_door_is_sent_away() {
    let (mut servers, mut desk, writes) = crowded();
    desk.wait(&mut servers, 100);
    assert!(writes[4..].iter().all(|write| desk.writes[write] == WriteOutcome::Retry), "{:?}", desk.writes);
    let (mut servers, mut desk, writes) = crowded();
    desk.tell(&mut servers, Event::Stop);
    assert!(writes[4..].iter().all(|write| desk.writes[write] == WriteOutcome::Retry), "{:?}", desk.writes);
    desk.let_go(&mut servers);
    assert_eq!(servers.store.rows[&3].version, 103, "what was acknowledged is in the store");
    assert!(desk.ending.is_some());
}

#[test]
fn a_read_waits_for_buffered_writes_of_its_gaps_alone() {
    let mut servers = Servers::new(Policy::WriteBack, None);
    let config = Config { beta: 0, ..Config::new(Policy::WriteBack) };
    let mut desk = Desk::seated(&mut servers, config, 1);
    desk.read(&mut servers, &Query::all(0, closed(2, 3)));
    desk.read(&mut servers, &Query::all(0, closed(4, 5)));
    desk.holds = applies;
    desk.change(&mut servers, 100, put(3));
    let rows = desk.read(&mut servers, &Query::all(0, closed(3, 4)));
    assert_eq!(rows.iter().map(|row| row.version).collect::<Vec<_>>(), [100, 5], "both are cached");
    desk.change(&mut servers, 101, put(6));
    let whole = Query::all(0, closed(3, 6));
    let request = desk.ask(&mut servers, &whole);
    assert_eq!(desk.value(request), None, "6 is not cached");
    desk.let_go(&mut servers);
    let value = desk.value(request).expect("the store has it now");
    let versions: Vec<u32> = crate::sim::table::decode(&value).iter().map(|row| row.version).collect();
    assert_eq!(versions, [100, 5, 6, 101]);
}

#[test]
fn what_shows_a_write_that_is_set_aside_becomes_no_entry() {
    let mut servers = Servers::new(Policy::WriteBack, None);
    let config = Config { beta: 50, ..Config::new(Policy::WriteBack) };
    let mut desk = Desk::seated(&mut servers, config, 1);
    desk.read(&mut servers, &Query::all(0, closed(2, 3)));
    servers.store.forbidden.push(100);
    desk.holds = applies;
    desk.change(&mut servers, 100, put(3));
    desk.change(&mut servers, 101, put(6));
    // Three of its four rows are in gaps, so that it would be worth an entry.
    let whole = Query::all(0, closed(3, 6));
    let request = desk.ask(&mut servers, &whole);
    desk.wait(&mut servers, 1);
    desk.let_go(&mut servers);
    (0..3).for_each(|_| desk.wait(&mut servers, 1));
    assert!(desk.value(request).is_some());
    assert_eq!(shown(&servers, &whole), None);
    let again = desk.read(&mut servers, &whole);
    assert_eq!(again.iter().map(|row| row.version).collect::<Vec<_>>(), [4, 5, 6, 101]);
}

#[test]
fn a_write_that_is_set_aside_is_no_strangers() {
    let mut servers = Servers::new(Policy::WriteBack, None);
    let mut desk = Desk::seated(&mut servers, Config::new(Policy::WriteBack), 1);
    let query = Query::all(0, closed(2, 5));
    desk.read(&mut servers, &query);
    servers.store.forbidden.push(100);
    desk.holds = applies;
    desk.change(&mut servers, 100, put(3));
    assert!(shown(&servers, &query).is_some());
    desk.tell(&mut servers, Event::Verify(RequestId(90), query.clone()));
    desk.wait(&mut servers, 1);
    desk.let_go(&mut servers);
    (0..3).for_each(|_| desk.wait(&mut servers, 1));
    assert!(desk.value(90).is_some() && shown(&servers, &query).is_none());
    assert!(desk.notices.iter().any(|notice| matches!(notice, Notice::SetAside(_))), "{:?}", desk.notices);
    assert!(
        !desk.notices.iter().any(|notice| matches!(notice, Notice::BypassDetected(_))),
        "{:?}",
        desk.notices
    );
}
