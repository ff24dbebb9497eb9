//! Owners that were replaced and do not know it, or cannot know whether they were.

use lacuna_cache_protocol::{
    Action, CacheCall, CacheReply, Config, Ending, Epoch, Event, Flaw, Policy, Query, RequestId, StoreCall,
    WriteOutcome,
};

use crate::one_owner::{OneOwner, Servers, applies, store_writes};
use crate::scripts::{POLICIES, put, query};
use crate::sim::table::{Row, closed, decode};

/// A writer invalidates, stalls, is replaced; a reader of the new owner installs the old row; the writer's statement
/// arrives at last. Returns what the cache shows, and what the store has.
fn stalled_writer(flaw: Option<Flaw>) -> (u32, u32) {
    let mut servers = Servers::new(Policy::WriteAround, flaw);
    let config = Config { flaw, ..Config::new(Policy::WriteAround) };
    let mut old = OneOwner::started(&mut servers, config.clone(), 1);
    old.read(&mut servers, &query());
    old.holds = store_writes;
    old.change(&mut servers, 100, put(3));
    let mut new = OneOwner::started(&mut servers, config, 2);
    new.read(&mut servers, &query());
    old.let_go(&mut servers);
    let version = |rows: Vec<Row>| rows.iter().find(|row| row.key == 3).unwrap().version;
    (version(servers.hit(Epoch(2), &query()).unwrap()), version(servers.store.fresh(&query())))
}

#[test]
fn a_stalled_writer_is_refused_by_the_store() {
    assert_eq!(stalled_writer(None), (4, 4));
}

#[test]
fn without_p3_a_stalled_writer_leaves_the_cache_stale_for_ever() {
    assert_eq!(stalled_writer(Some(Flaw::UnfencedStore)), (4, 100));
}

/// An owner that was replaced reads from the store what the next one has acknowledged and not yet applied, or knows a gap.
#[test]
fn an_owner_whose_lookup_was_lost_answers_nothing_from_before_its_successor() {
    let lookups = |action: &Action| matches!(action, Action::Cache(_, _, CacheCall::Lookup(..)));
    for policy in POLICIES {
        let empty = Query::all(0, closed(20, 30));
        for (is_full, query) in [(false, &empty), (true, &empty), (false, &query()), (true, &query())] {
            let mut servers = Servers::new(policy, None);
            let mut old = OneOwner::started(&mut servers, Config::new(policy), 1);
            assert!(old.read(&mut servers, &empty).is_empty());
            let mut new = OneOwner::started(&mut servers, Config::new(policy), 2);
            new.holds = applies;
            for (id, key) in [(100, 3), (101, 25)] {
                let write = new.change(&mut servers, id, put(key));
                assert_eq!(new.writes[&write], WriteOutcome::Done);
            }
            old.holds = lookups;
            let read = old.ask(&mut servers, query);
            for lost in std::mem::take(&mut old.held) {
                let Action::Cache(call, ..) = lost else { panic!("{lost:?}") };
                let reply = if is_full { Event::Cache(call, CacheReply::Full) } else { Event::Lost(call) };
                old.tell(&mut servers, reply);
            }
            let shown = old.value(read).map(|value| decode(&value));
            let is_new = |rows: &Vec<Row>| rows.iter().any(|row| row.version >= 100);
            assert!(shown.as_ref().is_none_or(is_new), "{policy:?}, {query:?}: {shown:?}");
        }
    }
}

/// The first look at its fence comes late: it changes nothing, so that the next owner needs no logs.
#[test]
fn a_late_look_at_the_fence_changes_nothing() {
    let mut servers = Servers::new(Policy::WriteBack, None);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteBack), 1);
    owner.holds = |action| matches!(action, Action::Cache(_, _, CacheCall::Lookup(..)));
    let read = owner.ask(&mut servers, &query());
    owner.holds = |action| matches!(action, Action::Store(_, _, StoreCall::Check | StoreCall::Recovered));
    for lost in std::mem::take(&mut owner.held) {
        let Action::Cache(call, ..) = lost else { panic!("{lost:?}") };
        owner.tell(&mut servers, Event::Lost(call));
    }
    let late = std::mem::take(&mut owner.held);
    assert_eq!(late.len(), 1, "it looks at its fence before it answers");
    owner.holds = crate::one_owner::no_call;
    owner.wait(&mut servers, 10_000);
    assert!(owner.value(read).is_some(), "by the second look");
    owner.tell(&mut servers, Event::Stop);
    owner.wait(&mut servers, 1);
    assert_eq!(owner.ending, Some(Ending::Stopped));
    owner.let_one_go(&mut servers, late[0].clone());
    OneOwner::started(&mut servers, Config { log_count: 0, ..Config::new(Policy::WriteThrough) }, 2);
}

/// Its answers show nothing of other owners, so the store's fence is looked at after the rows were read.
#[test]
fn a_cache_server_of_one_owner_alone_proves_nothing() {
    for (policy, checks) in [(Policy::WriteBack, 1), (Policy::WriteThrough, 0)] {
        let mut servers = Servers::new(policy, None);
        let config = Config { lookups_prove: false, ..Config::new(policy) };
        let mut owner = OneOwner::started(&mut servers, config, 1);
        owner.holds = |action| matches!(action, Action::Store(_, _, StoreCall::Check));
        let read = owner.ask(&mut servers, &query());
        let held = std::mem::take(&mut owner.held);
        assert_eq!(held.len(), checks, "{policy:?}");
        assert_eq!(owner.value(read).is_some(), checks == 0, "{policy:?}: it waits for the look");
        held.into_iter().for_each(|check| owner.let_one_go(&mut servers, check));
        assert!(owner.value(read).is_some(), "{policy:?}");
    }
}

#[test]
fn a_replaced_owner_does_not_answer_from_memory() {
    for policy in POLICIES {
        let mut servers = Servers::new(policy, None);
        let mut old = OneOwner::started(&mut servers, Config::new(policy), 1);
        assert!(old.read(&mut servers, &Query::all(0, closed(20, 40))).is_empty());
        let mut new = OneOwner::started(&mut servers, Config::new(policy), 2);
        new.change(&mut servers, 100, put(27));
        let late = old.ask(&mut servers, &Query::all(0, closed(26, 28)));
        assert_eq!(
            (old.value(late), old.ending),
            (None, Some(Ending::CacheLost)),
            "the range is not empty any more"
        );
    }
}

#[test]
fn a_late_read_of_a_replaced_owner_does_not_join_an_old_query() {
    let mut servers = Servers::new(Policy::WriteBack, None);
    let mut old = OneOwner::started(&mut servers, Config::new(Policy::WriteBack), 1);
    old.holds = |action| matches!(action, Action::Store(..));
    let early = old.ask(&mut servers, &query());
    let mut new = OneOwner::started(&mut servers, Config::new(Policy::WriteBack), 2);
    new.change(&mut servers, 100, put(3));
    let late = old.ask(&mut servers, &query());
    old.let_go(&mut servers);
    assert!(old.value(early).is_some(), "it asked before the write");
    assert_eq!(old.value(late), None);
}

/// What the store has beyond a cached result may be a write of the next owner, as queries are not fenced.
#[test]
fn a_replaced_owner_reports_no_foreign_write() {
    for (policy, has_moved) in POLICIES.into_iter().flat_map(|policy| [(policy, false), (policy, true)]) {
        let mut servers = Servers::new(policy, None);
        let mut old = OneOwner::started(&mut servers, Config::new(policy), 1);
        old.read(&mut servers, &query());
        old.holds = |action| matches!(action, Action::Store(..));
        old.tell(&mut servers, Event::Verify(RequestId(90), query()));
        let before = servers.cache.clone();
        let mut new = OneOwner::started(&mut servers, Config::new(policy), 2);
        new.change(&mut servers, 100, put(3));
        // Under write-back the store gets it a little later.
        (0..3).for_each(|_| new.wait(&mut servers, 1));
        if has_moved {
            // The next owner has another cache server, so that this one does not refuse the old owner.
            servers.cache = before;
        }
        old.let_go(&mut servers);
        let seen = decode(&old.value(90).expect("the store has answered"));
        assert!(seen.iter().any(|row| row.version == 100), "{policy:?}: the write of the next owner");
        assert!(old.notices.is_empty(), "{policy:?}, moved: {has_moved}: {:?}", old.notices);
        assert!(old.ending.is_some(), "{policy:?}: it knows by now that it was replaced");
    }
}
