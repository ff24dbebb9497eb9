//! Who waits for whom: writes that touch one entry, and writes that the store has no time for.

use lacuna_cache_protocol::{
    Action, CacheCall, CacheReply, Config, Ending, Epoch, Event, Flaw, Notice, Policy, Query, RequestId,
    Write, WriteOutcome,
};

use crate::one_owner::{OneOwner, RANGE, Servers, applies, no_call, store_writes};
use crate::sim::table::{Change, closed};

fn put(key: u64) -> Change {
    Change::Put { key, other: 1 }
}

/// Versions that the cache shows.
fn shown(servers: &Servers, query: &Query) -> Option<Vec<u32>> {
    servers.hit(Epoch(1), query).map(|rows| rows.iter().map(|row| row.version).collect())
}

#[test]
fn writes_of_one_entry_do_not_wait_for_each_other() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteThrough), 1);
    let (query, neighbour) = (Query::all(0, closed(2, 5)), Query::all(0, closed(6, 7)));
    owner.read(&mut servers, &query);
    owner.read(&mut servers, &neighbour);
    owner.holds = store_writes;
    for (id, key) in [(100, 3), (101, 4), (102, 5), (103, 6)] {
        owner.change(&mut servers, id, put(key));
    }
    assert_eq!(owner.held.len(), 4);
    assert_eq!((shown(&servers, &query), shown(&servers, &neighbour)), (None, None), "hidden (P2)");
    let last_of_query = owner.held.remove(1);
    for other in std::mem::take(&mut owner.held) {
        owner.let_one_go(&mut servers, other);
    }
    assert_eq!(shown(&servers, &query), None, "one of its writes is still on its way");
    assert_eq!(shown(&servers, &neighbour), Some(vec![103, 8]));
    owner.let_one_go(&mut servers, last_of_query);
    assert!((1..=4).all(|write| owner.writes[&(write + 2)] == WriteOutcome::Done), "{:?}", owner.writes);
    assert_eq!(shown(&servers, &query), Some(vec![3, 100, 101, 102]));
    assert!(owner.machine.is_idle());
}

fn patches(action: &Action) -> bool {
    matches!(action, Action::Cache(_, _, CacheCall::Patch(..)))
}

#[test]
fn writes_that_come_during_a_script_share_the_next() {
    for policy in [Policy::WriteThrough, Policy::WriteBack] {
        let mut servers = Servers::new(policy, None);
        let mut owner = OneOwner::started(&mut servers, Config::new(policy), 1);
        let query = Query::all(0, closed(0, 7));
        owner.read(&mut servers, &query);
        servers.calls.clear();
        owner.holds = patches;
        for key in 0..8 {
            owner.change(&mut servers, 100 + u32::try_from(key).unwrap(), put(key));
        }
        assert_eq!(owner.held.len(), 1);
        while let Some(script) = owner.held.pop() {
            owner.let_one_go(&mut servers, script);
        }
        // Hidden by two scripts and shown by two, or changed by two.
        let scripts = if policy == Policy::WriteThrough { 3..=4 } else { 2..=2 };
        assert!(scripts.contains(&servers.calls["patch"]), "{policy:?}: {:?}", servers.calls);
        assert_eq!(shown(&servers, &query), Some((100..108).collect()));
        assert!(owner.writes.values().all(|outcome| *outcome == WriteOutcome::Done));
    }
}

#[test]
fn a_buffered_write_is_acknowledged_when_its_entries_show_it() {
    let mut servers = Servers::new(Policy::WriteBack, None);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteBack), 1);
    let query = Query::all(0, closed(2, 5));
    owner.read(&mut servers, &query);
    owner.holds = patches;
    let write = owner.change(&mut servers, 100, put(3));
    assert_eq!(owner.writes.get(&write), None, "it is in the logs, and clients see the old row");
    assert_eq!(shown(&servers, &query), Some(vec![3, 4, 5, 6]));
    owner.wait(&mut servers, 1);
    assert!(servers.applied.is_empty(), "a new owner could not know that the entry lacks it");
    owner.let_go(&mut servers);
    assert_eq!(owner.writes[&write], WriteOutcome::Done);
    assert_eq!(shown(&servers, &query), Some(vec![3, 100, 5, 6]));
}

#[test]
fn a_write_that_is_durable_when_the_tenure_ends_is_answered_by_the_next() {
    let mut servers = Servers::new(Policy::WriteBack, None);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteBack), 1);
    owner.read(&mut servers, &Query::all(0, closed(2, 5)));
    owner.holds = patches;
    let write = owner.change(&mut servers, 100, put(3));
    (0..6).for_each(|_| owner.wait(&mut servers, 10_000));
    assert_eq!(owner.ending, Some(Ending::CacheLost));
    assert_eq!((owner.writes.get(&write), &owner.durable[..]), (None, &[RequestId(write)][..]));
    let mut new = OneOwner::started(&mut servers, Config::new(Policy::WriteBack), 2);
    assert_eq!(new.read(&mut servers, &Query::all(0, closed(3, 3)))[0].version, 100);
}

/// A server without memory for a change has none of it: its entries are deleted, so that nothing old is shown.
#[test]
fn a_server_without_memory_loses_entries_and_shows_nothing_old() {
    for policy in [Policy::WriteThrough, Policy::WriteBack] {
        for refused in 1..=2 {
            let mut servers = Servers::new(policy, None);
            let mut owner = OneOwner::started(&mut servers, Config::new(policy), 1);
            let query = Query::all(0, closed(2, 5));
            owner.read(&mut servers, &query);
            owner.holds = patches;
            let write = owner.change(&mut servers, 100, put(3));
            for _ in 1..refused {
                for script in std::mem::take(&mut owner.held) {
                    owner.let_one_go(&mut servers, script);
                }
            }
            let script = owner.held.pop();
            owner.holds = no_call;
            if let Some(Action::Cache(call, ..)) = script {
                owner.tell(&mut servers, Event::Cache(call, CacheReply::Full));
            }
            assert_eq!(owner.writes[&write], WriteOutcome::Done, "{policy:?} {refused}");
            assert!(shown(&servers, &query).is_none_or(|rows| rows[1] == 100), "{policy:?} {refused}");
            assert_eq!(owner.read(&mut servers, &query)[1].version, 100);
            assert!(owner.machine.is_idle());
        }
    }
}

/// A write that touches more than it changes: the entry that it leaves as it is stays, and so does what the owner knows of it.
#[test]
fn an_entry_that_a_write_leaves_alone_stays_known_to_a_full_server() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteThrough), 1);
    let (changed, alone) = (Query::all(0, closed(2, 3)), Query::all(0, closed(5, 6)));
    owner.read(&mut servers, &changed);
    owner.read(&mut servers, &alone);
    owner.holds = patches;
    let command = put(3).write(100, false).command;
    owner.write(&mut servers, Write { touched: vec![(0, closed(0, 7))], command });
    let Some(Action::Cache(call, ..)) = owner.held.pop() else { panic!("it hides an entry") };
    owner.holds = no_call;
    owner.tell(&mut servers, Event::Cache(call, CacheReply::Full));
    assert_eq!((shown(&servers, &changed), shown(&servers, &alone)), (None, Some(vec![6, 7])));
    owner.change(&mut servers, 101, put(5));
    assert_eq!(shown(&servers, &alone), Some(vec![101, 7]));
}

#[test]
fn a_full_server_keeps_no_entry_of_a_write_that_touches_many() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteThrough), 1);
    let queries: Vec<Query> =
        (0..4).flat_map(|lo| (3..8).map(move |hi| Query::all(0, closed(lo, hi)))).collect();
    for query in &queries {
        owner.read(&mut servers, query);
    }
    assert_eq!(owner.machine.index().len(), queries.len());
    owner.holds = patches;
    let write = owner.change(&mut servers, 100, put(3));
    let Some(Action::Cache(call, ..)) = owner.held.pop() else { panic!("it hides the entries") };
    owner.holds = no_call;
    owner.tell(&mut servers, Event::Cache(call, CacheReply::Full));
    assert_eq!(owner.writes[&write], WriteOutcome::Done);
    assert!(queries.iter().all(|query| shown(&servers, query).is_none()));
    assert_eq!(owner.machine.index().len(), 0);
}

#[test]
fn updates_of_one_row_take_one_place() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let config = Config { patch_room: 0, ..Config::new(Policy::WriteThrough) };
    let mut owner = OneOwner::started(&mut servers, config, 1);
    let query = Query::all(0, closed(2, 5));
    owner.read(&mut servers, &query);
    for id in 100..200 {
        owner.change(&mut servers, id, put(3 + u64::from(id % 2)));
        let (_, value) = servers.cache.get(RANGE, &query).unwrap();
        assert!(value.unwrap().as_bytes().len() <= 8 + 4 * 24 + 2 * 32, "after write {id}");
    }
    assert_eq!(shown(&servers, &query), Some(vec![3, 198, 199, 6]));
    assert_eq!(servers.calls.get("gather"), None, "two patches are half of the rest");
}

/// Puts row 3 and takes it away, in turns, so that no patch takes the place of another.
fn rewrite(id: u32) -> Change {
    if id.is_multiple_of(2) { put(3) } else { Change::Delete { key: 3 } }
}

#[test]
fn a_value_with_many_patches_is_compacted() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let config = Config { patch_room: 64, ..Config::new(Policy::WriteThrough) };
    let mut owner = OneOwner::started(&mut servers, config, 1);
    let query = Query::all(0, closed(2, 5));
    owner.read(&mut servers, &query);
    for id in 100..=200 {
        owner.change(&mut servers, id, rewrite(id));
        let (_, value) = servers.cache.get(RANGE, &query).unwrap();
        assert!(value.unwrap().as_bytes().len() <= 8 + 4 * 24 + 5 * 32, "patched at most five times");
    }
    assert_eq!(shown(&servers, &query), Some(vec![3, 200, 5, 6]));
    assert!(servers.calls["gather"] > 15, "{:?}", servers.calls);
}

#[test]
fn a_value_with_some_patches_is_compacted_while_no_write_waits() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let config = Config { patch_room: 64, ..Config::new(Policy::WriteThrough) };
    let mut owner = OneOwner::started(&mut servers, config, 1);
    let query = Query::all(0, closed(2, 5));
    owner.read(&mut servers, &query);
    for id in 100..103 {
        owner.change(&mut servers, id, rewrite(id));
    }
    let len = |servers: &Servers| servers.cache.get(RANGE, &query).unwrap().1.unwrap().as_bytes().len();
    assert_eq!(len(&servers), 8 + 4 * 24 + 3 * 32);
    owner.wait(&mut servers, 1);
    assert_eq!((len(&servers), shown(&servers, &query)), (8 + 4 * 24, Some(vec![3, 102, 5, 6])));
}

/// While the values of long entries are on their way to be compacted, one of them is dropped, and read again with what has
/// changed meanwhile. Returns what the cache shows in the end, and what the store has.
fn compacted_late(flaw: Option<Flaw>) -> (Vec<u32>, Vec<u32>) {
    let mut servers = Servers::new(Policy::WriteThrough, flaw);
    let config = Config { patch_room: 64, flaw, ..Config::new(Policy::WriteThrough) };
    let mut owner = OneOwner::started(&mut servers, config, 1);
    let query = Query::all(0, closed(2, 5));
    owner.read(&mut servers, &query);
    owner.holds = |action| matches!(action, Action::Cache(_, _, CacheCall::Gather(..)));
    for id in 100..=104 {
        owner.change(&mut servers, id, rewrite(id));
    }
    let Some(Action::Cache(call, epoch, gather)) = owner.held.pop() else { panic!("{:?}", owner.held) };
    owner.holds = no_call;
    let values = servers.cache.call(RANGE, epoch, &gather);
    servers.store.write(&put(4).write(200, false).command);
    owner.tell(&mut servers, Event::ForeignWrite(vec![(0, closed(4, 4))]));
    owner.read(&mut servers, &query);
    owner.tell(&mut servers, Event::Cache(call, values));
    let fresh = servers.store.fresh(&query);
    (shown(&servers, &query).unwrap(), fresh.iter().map(|row| row.version).collect())
}

#[test]
fn a_compacted_value_replaces_no_newer_one() {
    assert_eq!(compacted_late(None), (vec![3, 104, 200, 6], vec![3, 104, 200, 6]));
}

#[test]
fn a_value_that_is_compacted_late_is_stale() {
    assert_eq!(compacted_late(Some(Flaw::CompactLate)).0, [3, 104, 5, 6]);
}

/// Six writes where four may be buffered, and none reaches the store.
fn crowded() -> (Servers, OneOwner, Vec<u64>) {
    let mut servers = Servers::new(Policy::WriteBack, None);
    let config = Config { max_buffered: 4, request_timeout: 100, ..Config::new(Policy::WriteBack) };
    let mut owner = OneOwner::started(&mut servers, config, 1);
    owner.holds = applies;
    let writes = (100..106).map(|id| owner.change(&mut servers, id, put(3))).collect();
    (servers, owner, writes)
}

#[test]
fn writes_wait_while_the_store_is_behind() {
    let (mut servers, mut owner, writes) = crowded();
    assert_eq!(owner.machine.buffered().len(), 4);
    assert!(writes[..4].iter().all(|write| owner.writes[write] == WriteOutcome::Done));
    assert!(writes[4..].iter().all(|write| !owner.writes.contains_key(write)));
    owner.wait(&mut servers, 1);
    owner.let_go(&mut servers);
    assert!(writes.iter().all(|write| owner.writes[write] == WriteOutcome::Done));
    owner.wait(&mut servers, 1);
    assert_eq!(servers.store.rows[&3].version, 105, "in the order in which they came");
    assert!(owner.machine.is_idle());
}

#[test]
fn a_read_does_not_wait_for_room_in_the_buffer() {
    let (mut servers, mut owner, _) = crowded();
    let rows = owner.read(&mut servers, &Query::all(0, closed(6, 7)));
    assert_eq!(rows.len(), 2);
}

#[test]
fn a_write_that_finds_no_room_in_time_is_sent_away() {
    let (mut servers, mut owner, writes) = crowded();
    owner.wait(&mut servers, 100);
    assert!(writes[4..].iter().all(|write| owner.writes[write] == WriteOutcome::Retry), "{:?}", owner.writes);
    let (mut servers, mut owner, writes) = crowded();
    owner.tell(&mut servers, Event::Stop);
    assert!(writes[4..].iter().all(|write| owner.writes[write] == WriteOutcome::Retry), "{:?}", owner.writes);
    owner.let_go(&mut servers);
    assert_eq!(servers.store.rows[&3].version, 103, "what was acknowledged is in the store");
    assert!(owner.ending.is_some());
}

#[test]
fn a_read_waits_for_buffered_writes_of_its_gaps_alone() {
    let mut servers = Servers::new(Policy::WriteBack, None);
    let config = Config { beta: 0, ..Config::new(Policy::WriteBack) };
    let mut owner = OneOwner::started(&mut servers, config, 1);
    owner.read(&mut servers, &Query::all(0, closed(2, 3)));
    owner.read(&mut servers, &Query::all(0, closed(4, 5)));
    owner.holds = applies;
    owner.change(&mut servers, 100, put(3));
    let rows = owner.read(&mut servers, &Query::all(0, closed(3, 4)));
    assert_eq!(rows.iter().map(|row| row.version).collect::<Vec<_>>(), [100, 5], "both are cached");
    owner.change(&mut servers, 101, put(6));
    let whole = Query::all(0, closed(3, 6));
    let request = owner.ask(&mut servers, &whole);
    assert_eq!(owner.value(request), None, "6 is not cached");
    owner.let_go(&mut servers);
    let value = owner.value(request).expect("the store has it now");
    let versions: Vec<u32> = crate::sim::table::decode(&value).iter().map(|row| row.version).collect();
    assert_eq!(versions, [100, 5, 6, 101]);
}

#[test]
fn what_shows_a_write_that_is_set_aside_becomes_no_entry() {
    let mut servers = Servers::new(Policy::WriteBack, None);
    let config = Config { beta: 50, ..Config::new(Policy::WriteBack) };
    let mut owner = OneOwner::started(&mut servers, config, 1);
    owner.read(&mut servers, &Query::all(0, closed(2, 3)));
    servers.store.forbidden.push(100);
    owner.holds = applies;
    owner.change(&mut servers, 100, put(3));
    owner.change(&mut servers, 101, put(6));
    // Three of its four rows are in gaps, so that it would be worth an entry.
    let whole = Query::all(0, closed(3, 6));
    let request = owner.ask(&mut servers, &whole);
    owner.wait(&mut servers, 1);
    owner.let_go(&mut servers);
    (0..3).for_each(|_| owner.wait(&mut servers, 1));
    assert!(owner.value(request).is_some());
    assert_eq!(shown(&servers, &whole), None);
    let again = owner.read(&mut servers, &whole);
    assert_eq!(again.iter().map(|row| row.version).collect::<Vec<_>>(), [4, 5, 6, 101]);
}

#[test]
fn a_write_that_is_set_aside_is_no_strangers() {
    let mut servers = Servers::new(Policy::WriteBack, None);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteBack), 1);
    let query = Query::all(0, closed(2, 5));
    owner.read(&mut servers, &query);
    servers.store.forbidden.push(100);
    owner.holds = applies;
    owner.change(&mut servers, 100, put(3));
    assert!(shown(&servers, &query).is_some());
    owner.tell(&mut servers, Event::Verify(RequestId(90), query.clone()));
    owner.wait(&mut servers, 1);
    owner.let_go(&mut servers);
    (0..3).for_each(|_| owner.wait(&mut servers, 1));
    assert!(owner.value(90).is_some() && shown(&servers, &query).is_none());
    assert!(owner.notices.iter().any(|notice| matches!(notice, Notice::SetAside(_))), "{:?}", owner.notices);
    assert!(
        !owner.notices.iter().any(|notice| matches!(notice, Notice::BypassDetected(_))),
        "{:?}",
        owner.notices
    );
}
