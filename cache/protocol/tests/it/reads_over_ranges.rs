//! Reads over the ranges of several owners, and of several queries at one moment.

use lacuna_cache_protocol::{
    Action, Config, Event, Policy, Query, ReadOutcome, RequestId, StoreCall, WriteOutcome,
};

use crate::one_owner::{OneOwner, Servers};
use crate::several::{config, talk, two};
use crate::sim::table::{Change, closed, decode};

#[test]
fn a_read_over_two_owners_sees_buffered_writes_of_both() {
    let (mut servers, mut low, mut high) = two(Policy::WriteBack, None);
    low.change(&mut servers, 100, Change::Put { key: 3, other: 0 });
    high.change(&mut servers, 101, Change::Put { key: 4, other: 0 });
    assert_eq!((low.machine.buffered().len(), high.machine.buffered().len()), (1, 1));
    let read = low.ask(&mut servers, &Query::all(0, closed(3, 4)));
    talk(&mut servers, &mut [&mut low, &mut high]);
    let rows = decode(&low.value(read).unwrap());
    assert_eq!(rows.iter().map(|row| row.version).collect::<Vec<_>>(), [100, 101]);
    assert!(low.machine.is_idle() && high.machine.is_idle());
}

/// Its rows could show a write that was written through, without one that was buffered before it.
#[test]
fn a_read_that_outlasts_the_leases_of_others_is_no_answer_where_writes_are_buffered() {
    for (policy, is_late) in
        [(Policy::WriteBack, false), (Policy::WriteBack, true), (Policy::WriteAround, true)]
    {
        let mut servers = Servers::new(policy, None);
        let patient = |range| Config { call_timeout: 1_000_000, ..config(range, policy) };
        let mut low = OneOwner::started(&mut servers, patient(0), 1);
        let mut high = OneOwner::started(&mut servers, patient(1), 2);
        low.holds = |action| matches!(action, Action::Store(_, _, StoreCall::Query(_)));
        let request = low.ask(&mut servers, &Query::all(0, closed(2, 6)));
        talk(&mut servers, &mut [&mut low, &mut high]);
        let timeout = patient(1).peer_timeout;
        low.wait(&mut servers, if is_late { timeout } else { timeout / 2 });
        low.let_go(&mut servers);
        talk(&mut servers, &mut [&mut low, &mut high]);
        let is_answered = matches!(low.reads.get(&request), Some(ReadOutcome::Value(_)));
        assert_eq!(is_answered, policy == Policy::WriteAround || !is_late, "{policy:?}");
    }
}

#[test]
fn a_disjunction_shows_one_moment() {
    for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
        let (mut servers, mut low, mut high) = two(policy, None);
        let queries = [Query::all(0, closed(0, 1)), Query::all(0, closed(2, 3))];
        low.read(&mut servers, &queries[0]);
        servers.calls.clear();
        low.holds = |action| matches!(action, Action::Store(_, _, StoreCall::Query(_)));
        low.tell(&mut servers, Event::ReadAll(RequestId(900), queries.to_vec()));
        let moved = low.change(&mut servers, 100, Change::Move { from: 3, to: 1 });
        assert!(!low.writes.contains_key(&moved), "it waits for the read");
        low.let_go(&mut servers);
        talk(&mut servers, &mut [&mut low, &mut high]);
        let rows: Vec<_> = low.unions[&900].iter().flat_map(decode).collect();
        assert_eq!(rows.iter().map(|row| row.key).collect::<Vec<_>>(), [0, 1, 2, 3], "{policy:?}");
        assert!(rows.iter().all(|row| row.version < 100));
        assert_eq!(low.writes[&moved], WriteOutcome::Done);
        assert_eq!((servers.calls["gather"], servers.calls["query"]), (1, 1), "one was cached");
    }
}

#[test]
fn a_disjunction_that_outlasts_the_leases_of_others_is_no_answer() {
    for is_late in [false, true] {
        let mut servers = Servers::new(Policy::WriteThrough, None);
        let patient = |range| Config { call_timeout: 1_000_000, ..config(range, Policy::WriteThrough) };
        let mut low = OneOwner::started(&mut servers, patient(0), 1);
        let mut high = OneOwner::started(&mut servers, patient(1), 2);
        let queries = vec![Query::all(0, closed(2, 3)), Query::all(0, closed(5, 6))];
        low.holds = |action| matches!(action, Action::Store(_, _, StoreCall::Query(_)));
        low.tell(&mut servers, Event::ReadAll(RequestId(900), queries));
        talk(&mut servers, &mut [&mut low, &mut high]);
        assert!(high.machine.buffered().is_empty() && !low.unions.contains_key(&900));
        // Another owner lets writers in after that long.
        let timeout = patient(1).peer_timeout;
        low.wait(&mut servers, if is_late { timeout } else { timeout / 2 });
        low.let_go(&mut servers);
        talk(&mut servers, &mut [&mut low, &mut high]);
        assert_eq!(low.unions.contains_key(&900), !is_late);
        assert_eq!(matches!(low.reads.get(&900), Some(ReadOutcome::Retry)), is_late);
    }
}
