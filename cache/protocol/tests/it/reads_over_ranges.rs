//! Reads over the ranges of several owners, and of several queries at one moment.

use lacuna_cache_protocol::{
    Action, Config, Event, Flaw, Policy, Query, ReadOutcome, RequestId, StoreCall, WriteOutcome,
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

/// What becomes of the lease that another owner holds for a read, while the store is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guest {
    IsRenewed,
    /// No word of the reader arrives, until the lease is over.
    IsForgotten,
    /// The same process serves the range again at once, and admits writers.
    EndsWithItsTenure,
}

const POLICIES: [Policy; 3] = [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack];

/// Whether a read of two owners' ranges is answered, which several queries are or one.
fn is_answered(policy: Policy, flaw: Option<Flaw>, guest: Guest, is_union: bool) -> bool {
    let mut servers = Servers::new(policy, flaw);
    let patient = |range| Config { call_timeout: 1_000_000, flaw, ..config(range, policy) };
    let mut low = OneOwner::started(&mut servers, patient(0), 1);
    let mut high = OneOwner::started(&mut servers, patient(1), 2);
    low.holds = |action| matches!(action, Action::Store(_, _, StoreCall::Query(_)));
    if is_union {
        let queries = vec![Query::all(0, closed(2, 3)), Query::all(0, closed(5, 6))];
        low.tell(&mut servers, Event::ReadAll(RequestId(900), queries));
    } else {
        low.tell(&mut servers, Event::Read(RequestId(900), Query::all(0, closed(2, 6))));
    }
    talk(&mut servers, &mut [&mut low, &mut high]);
    assert_eq!(low.held.len(), 1, "the store is asked");
    let timeout = patient(1).peer_timeout;
    match guest {
        Guest::IsRenewed => {
            for _ in 0..10 {
                low.wait(&mut servers, timeout / 4);
                high.wait(&mut servers, timeout / 4);
                talk(&mut servers, &mut [&mut low, &mut high]);
            }
        }
        Guest::IsForgotten => high.wait(&mut servers, timeout),
        Guest::EndsWithItsTenure => high = OneOwner::started(&mut servers, patient(1), 3),
    }
    low.let_go(&mut servers);
    talk(&mut servers, &mut [&mut low, &mut high]);
    assert!(low.machine.is_idle() && high.machine.is_idle(), "no lease is left");
    match low.reads.get(&900) {
        Some(ReadOutcome::Retry) => false,
        Some(ReadOutcome::Value(_)) => true,
        _ => low.unions.contains_key(&900),
    }
}

/// Otherwise its rows could lack a row that has moved meanwhile, or show a write without an earlier one that is buffered.
#[test]
fn a_read_of_several_owners_counts_if_all_have_held_its_leases() {
    for policy in POLICIES {
        for is_union in [false, true] {
            for guest in [Guest::IsRenewed, Guest::IsForgotten, Guest::EndsWithItsTenure] {
                let case = format!("{policy:?}, {guest:?}, union: {is_union}");
                assert_eq!(is_answered(policy, None, guest, is_union), guest == Guest::IsRenewed, "{case}");
                assert!(is_answered(policy, Some(Flaw::TrustGuests), guest, is_union), "{case}: a control");
            }
        }
    }
}

#[test]
fn a_disjunction_shows_one_moment() {
    for policy in POLICIES {
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
