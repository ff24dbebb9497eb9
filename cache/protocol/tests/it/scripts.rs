//! Single stories, step by step.

use lacuna_cache_protocol::{
    Action, CacheCall, CacheModel, CacheReply, Config, Ending, Epoch, Event, Form, Interval, Policy, Query,
    RequestId, Rows, StoreCall, StoreReply, Value, WriteOutcome,
};

use crate::one_owner::{OneOwner, Servers, applies, store_writes};
use crate::sim::table::{Change, closed};

pub(crate) const POLICIES: [Policy; 3] = [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack];

pub(crate) fn query() -> Query {
    Query::all(0, closed(2, 5))
}

pub(crate) fn put(key: u64) -> Change {
    Change::Put { key, other: 1 }
}

#[test]
fn a_miss_costs_two_scripts_and_one_query() {
    for policy in POLICIES {
        let mut servers = Servers::new(policy, None);
        let mut owner = OneOwner::started(&mut servers, Config::new(policy), 1);
        assert_eq!(owner.read(&mut servers, &query()).len(), 4);
        assert_eq!(
            servers.calls.iter().map(|(name, count)| (*name, *count)).collect::<Vec<_>>(),
            [("install", 1), ("lookup", 1), ("query", 1)]
        );
        assert!(servers.hit(Epoch(1), &query()).is_some());
    }
}

#[test]
fn a_write_costs_what_its_policy_says() {
    let costs: [&[(&str, usize)]; 3] =
        [&[("invalidate", 1), ("write", 1)], &[("patch", 2), ("write", 1)], &[("append", 3), ("patch", 1)]];
    for (policy, cost) in POLICIES.into_iter().zip(costs) {
        let mut servers = Servers::new(policy, None);
        let mut owner = OneOwner::started(&mut servers, Config::new(policy), 1);
        owner.read(&mut servers, &query());
        servers.calls.clear();
        let write = owner.change(&mut servers, 100, put(3));
        assert_eq!(owner.writes[&write], WriteOutcome::Done);
        assert_eq!(
            servers.calls.iter().map(|(name, count)| (*name, *count)).collect::<Vec<_>>(),
            cost,
            "{policy:?}"
        );
        let cached = servers.hit(Epoch(1), &query());
        assert_eq!(cached.is_some(), policy != Policy::WriteAround);
        assert!(cached.is_none_or(|rows| rows.iter().any(|row| row.version == 100)), "{policy:?}");
    }
}

#[test]
fn many_readers_of_one_missing_key_ask_the_store_once() {
    let mut servers = Servers::new(Policy::WriteAround, None);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteAround), 1);
    owner.holds = |action| matches!(action, Action::Store(..));
    let requests: Vec<u64> = (0..50).map(|_| owner.ask(&mut servers, &query())).collect();
    owner.let_go(&mut servers);
    assert!(requests.iter().all(|request| owner.value(*request).is_some()));
    assert_eq!(servers.calls["query"], 1);
}

#[test]
fn an_empty_range_is_asked_once() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteThrough), 1);
    let (wide, narrow) = (Query::all(0, closed(20, 40)), Query::all(0, closed(25, 30)));
    assert!(owner.read(&mut servers, &wide).is_empty());
    servers.calls.clear();
    assert!(owner.read(&mut servers, &narrow).is_empty());
    assert_eq!(servers.calls.keys().copied().collect::<Vec<_>>(), ["lookup"], "no question to the store");
    owner.change(&mut servers, 100, put(27));
    assert_eq!(owner.read(&mut servers, &narrow).len(), 1);
    servers.calls.clear();
    assert!(owner.read(&mut servers, &Query::all(0, closed(28, 40))).is_empty());
    assert_eq!(servers.calls.get("query"), None);
}

#[test]
fn an_unknown_outcome_ends_the_tenure() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteThrough), 1);
    owner.read(&mut servers, &query());
    owner.holds = store_writes;
    let write = owner.change(&mut servers, 100, put(3));
    assert_eq!(servers.hit(Epoch(1), &query()), None, "hidden while nobody knows");
    owner.wait(&mut servers, 10_000);
    assert_eq!((owner.writes[&write], owner.ending), (WriteOutcome::Unknown, Some(Ending::OutcomeUnknown)));
}

#[test]
fn a_refused_write_leaves_the_entries_as_they_were() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    servers.store.forbidden.push(100);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteThrough), 1);
    let before = owner.read(&mut servers, &query());
    let write = owner.change(&mut servers, 100, put(3));
    assert_eq!(owner.writes[&write], WriteOutcome::Refused);
    assert_eq!(servers.hit(Epoch(1), &query()), Some(before));
}

#[test]
fn a_value_that_grows_too_large_is_dropped() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let config = Config { largest_value: 8 + 4 * 24, patch_room: 0, ..Config::new(Policy::WriteThrough) };
    let mut owner = OneOwner::started(&mut servers, config, 1);
    let query = Query::all(0, closed(5, 20));
    assert_eq!(owner.read(&mut servers, &query).len(), 3);
    owner.change(&mut servers, 100, put(9));
    assert!(servers.hit(Epoch(1), &query).is_some());
    owner.change(&mut servers, 101, put(10));
    owner.wait(&mut servers, 1);
    assert_eq!(servers.hit(Epoch(1), &query), None, "too large when it is compacted");
}

#[test]
fn stopping_drains_what_is_buffered() {
    let mut servers = Servers::new(Policy::WriteBack, None);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteBack), 1);
    for id in 100..110 {
        owner.change(&mut servers, id, put(3));
    }
    assert_eq!(owner.machine.buffered().len(), 10);
    owner.tell(&mut servers, Event::Stop);
    let late = owner.change(&mut servers, 200, put(4));
    owner.wait(&mut servers, 1);
    assert_eq!((owner.writes[&late], owner.ending), (WriteOutcome::Retry, Some(Ending::Stopped)));
    assert_eq!(servers.store.rows[&3].version, 109);
}

/// To serve is to void what logs have that were not read.
#[test]
fn an_owner_without_logs_begins_only_after_an_end_in_order() {
    let without = || Config { log_count: 0, ..Config::new(Policy::WriteThrough) };
    let mut servers = Servers::new(Policy::WriteBack, None);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteBack), 1);
    owner.holds = applies;
    let write = owner.change(&mut servers, 100, put(3));
    assert_eq!(owner.writes[&write], WriteOutcome::Done);
    let refused = OneOwner::unseated(&mut servers, without(), 2);
    assert_eq!((refused.machine.is_serving(), refused.ending), (false, Some(Ending::LogsMissing)));
    let mut third = OneOwner::started(&mut servers, Config::new(Policy::WriteBack), 3);
    assert_eq!(servers.store.rows[&3].version, 100, "not void");
    third.change(&mut servers, 101, put(3));
    third.tell(&mut servers, Event::Stop);
    third.wait(&mut servers, 1);
    assert_eq!((third.ending, servers.calls["drained"]), (Some(Ending::Stopped), 1));
    let mut last = OneOwner::started(&mut servers, without(), 4);
    assert_eq!(last.read(&mut servers, &Query::all(0, closed(3, 3)))[0].version, 101);
}

/// The store cannot record it: the next owner needs the logs, in which there is nothing.
#[test]
fn an_end_in_order_does_not_wait_for_a_store_that_is_away() {
    let mut servers = Servers::new(Policy::WriteBack, None);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteBack), 1);
    owner.holds = |action| matches!(action, Action::Store(_, _, StoreCall::Drained));
    owner.tell(&mut servers, Event::Stop);
    (0..10).for_each(|_| owner.wait(&mut servers, 10_000));
    assert_eq!(owner.ending, Some(Ending::Stopped));
    OneOwner::started(&mut servers, Config::new(Policy::WriteBack), 2);
}

#[test]
fn what_an_owner_knows_of_its_entries_is_bounded() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let config = Config { max_entries: 100, ..Config::new(Policy::WriteThrough) };
    let mut owner = OneOwner::started(&mut servers, config, 1);
    for lo in 0..1_000 {
        owner.read(&mut servers, &Query::all(0, closed(lo, lo + 5)));
        assert!(owner.machine.index().len() <= 101, "{}", owner.machine.index().len());
    }
    let known = owner.machine.index().touched(&[(0, Interval::all())]);
    assert!(known.len() >= 90, "and it keeps most: {}", known.len());
    assert!(known.iter().all(|query| servers.hit(Epoch(1), query).is_some()));
}

/// Whatever the entries are: those that were taken once are not taken before the others.
#[test]
fn entries_over_one_interval_make_room_for_each_other() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let config = Config { max_entries: 90, ..Config::new(Policy::WriteThrough) };
    let mut owner = OneOwner::started(&mut servers, config, 1);
    let queries: Vec<Query> =
        (1..=1_000).map(|form| Query { form: Form::First(form), ..Query::all(0, Interval::all()) }).collect();
    queries.iter().for_each(|query| drop(owner.read(&mut servers, query)));
    let known = |queries: &[Query]| queries.iter().filter(|query| owner.machine.index().knows(query)).count();
    assert!(known(&queries[940..]) >= 50, "the last: {}", known(&queries[940..]));
    assert!(known(&queries[..90]) <= 5, "the first: {}", known(&queries[..90]));
}

#[test]
fn the_memory_of_an_owner_counts_what_writes_have_changed() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteThrough), 1);
    owner.read(&mut servers, &query());
    let index = owner.machine.index().memory_bytes();
    assert_eq!(owner.machine.index_bytes(), index);
    owner.change(&mut servers, 100, put(3));
    assert!(owner.machine.index_bytes() > owner.machine.index().memory_bytes());
}

#[test]
fn hits_count_only_under_the_epoch_of_the_route() {
    let mut servers = Servers::new(Policy::WriteAround, None);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteAround), 1);
    owner.read(&mut servers, &query());
    assert!(servers.hit(Epoch(1), &query()).is_some());
    // The range was elsewhere meanwhile, and has just come back: its new fence is not here yet.
    assert_eq!(servers.hit(Epoch(3), &query()), None);
}

#[test]
fn an_epoch_that_went_back_is_refused_everywhere() {
    for policy in POLICIES {
        let mut servers = Servers::new(policy, None);
        let mut owner = OneOwner::started(&mut servers, Config::new(policy), 5);
        owner.read(&mut servers, &query());
        let late = OneOwner::unseated(&mut servers, Config::new(policy), 3);
        assert!(!late.machine.is_serving() && late.ending.is_some());
        // The cache server is new, and does not know better: the store does.
        servers.cache = CacheModel::new(100);
        let late = OneOwner::unseated(&mut servers, Config::new(policy), 4);
        assert_eq!((late.machine.is_serving(), late.ending), (false, Some(Ending::Fenced)), "{policy:?}");
    }
}

#[test]
fn a_cache_server_that_lost_its_memory_ends_the_tenure() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteThrough), 1);
    owner.read(&mut servers, &query());
    servers.cache = CacheModel::new(100);
    let write = owner.change(&mut servers, 100, put(3));
    assert_eq!((owner.writes[&write], owner.ending), (WriteOutcome::Retry, Some(Ending::CacheLost)));
    assert_eq!(servers.store.rows[&3].version, 4, "not carried out, as it says");
}

#[test]
fn an_owner_on_a_new_cache_server_waits_for_the_routes_to_end() {
    let mut servers = Servers::new(Policy::WriteAround, None);
    let config = Config { serve_from: 500, ..Config::new(Policy::WriteAround) };
    let mut owner = OneOwner::unseated(&mut servers, config, 1);
    let early = owner.ask(&mut servers, &query());
    owner.wait(&mut servers, 499);
    assert!(!owner.machine.is_serving() && owner.value(early).is_none());
    owner.wait(&mut servers, 1);
    assert!(owner.machine.is_serving() && owner.value(early).is_some());
}

#[test]
fn a_clock_that_goes_back_changes_nothing() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteThrough), 1);
    owner.now = 1_000_000;
    owner.read(&mut servers, &query());
    owner.now = 5;
    let write = owner.change(&mut servers, 100, put(3));
    owner.wait(&mut servers, 1);
    assert_eq!((owner.writes[&write], owner.ending), (WriteOutcome::Done, None));
}

#[test]
fn a_full_cache_stops_installing_for_a_while() {
    let mut servers = Servers::new(Policy::WriteAround, None);
    servers.cache = CacheModel::new(1);
    let config = Config::new(Policy::WriteAround);
    let mut owner = OneOwner::started(&mut servers, config.clone(), 1);
    let queries: Vec<Query> = (0..5).map(|key| Query::all(0, closed(key, key))).collect();
    queries.iter().for_each(|query| assert_eq!(owner.read(&mut servers, query).len(), 1));
    assert_eq!(servers.calls["install"], 2, "the second was refused, the others not tried");
    owner.wait(&mut servers, config.write_through_for);
    owner.read(&mut servers, &queries[4]);
    assert_eq!(servers.calls["install"], 3);
}

#[test]
fn results_that_are_not_worth_caching_are_not_installed() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteThrough), 1);
    let (four, eight) = (query(), Query::all(0, closed(0, 7)));
    let cached = |servers: &Servers| [&four, &eight].map(|query| servers.hit(Epoch(1), query).is_some());
    owner.tell(&mut servers, Event::WorthCaching(8 + 4 * 24));
    for query in [&four, &eight] {
        owner.read(&mut servers, query);
    }
    assert_eq!(cached(&servers), [true, false]);
    owner.tell(&mut servers, Event::WorthCaching(usize::MAX));
    owner.read(&mut servers, &eight);
    assert_eq!(cached(&servers), [true, true]);
}

/// Two readers of one query, the second of which installs; then the first hears that the server has no room, which a server
/// says before it looks whose lease it is.
#[test]
fn an_entry_that_another_reader_installed_stays_known_to_a_full_server() {
    for policy in POLICIES {
        let mut servers = Servers::new(policy, None);
        let mut owner = OneOwner::started(&mut servers, Config::new(policy), 1);
        owner.holds = |action| matches!(action, Action::Cache(_, _, CacheCall::Install(..)));
        owner.tell(&mut servers, Event::Verify(RequestId(90), query()));
        owner.ask(&mut servers, &query());
        let Action::Cache(first, ..) = owner.held.remove(0) else { panic!("an installation") };
        owner.let_go(&mut servers);
        owner.tell(&mut servers, Event::Cache(first, CacheReply::Full));
        assert!(servers.hit(Epoch(1), &query()).is_some());
        owner.change(&mut servers, 100, put(3));
        let cached = servers.hit(Epoch(1), &query());
        assert!(cached.is_none_or(|rows| rows.iter().any(|row| row.version == 100)), "{policy:?}: stale");
    }
}

#[test]
fn what_one_condition_finds_empty_another_may_not() {
    let mut servers = Servers::new(Policy::WriteAround, None);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteAround), 1);
    let narrow = Query { fingerprint: 5, ..query() };
    owner.holds = |action| matches!(action, Action::Store(..));
    let request = owner.ask(&mut servers, &narrow);
    let Some(Action::Store(call, ..)) = owner.held.pop() else { panic!("a query") };
    let none = Rows { value: Value::new(b""), is_empty: true, last: None };
    owner.tell(&mut servers, Event::Store(call, StoreReply::Rows(none)));
    assert_eq!(owner.value(request), Some(Value::new(b"")));
    owner.holds = crate::one_owner::no_call;
    assert_eq!(owner.read(&mut servers, &query()).len(), 4, "no condition, and there are rows");
}
