//! A cache server that fails after it has deleted a part of the entries that it was asked to delete.

use lacuna_cache_protocol::{
    Action, CacheCall, Command, Config, Ending, Epoch, Event, Policy, Query, RequestId, Write, WriteOutcome,
};

use crate::one_owner::{OneOwner, RANGE, Servers};
use crate::scripts::POLICIES;
use crate::sim::table::{Change, closed};

/// The request for everything.
const HOLD: RequestId = RequestId(900);

fn config(policy: Policy, before: Option<u64>) -> Config {
    Config { keeps_log: true, warm_from: before.map(Epoch), ..Config::new(policy) }
}

/// An entry of each key, and an owner whose deletions are held back.
fn with_entries(policy: Policy) -> (Servers, OneOwner, Vec<Query>) {
    let mut servers = Servers::new(policy, None);
    let mut owner = OneOwner::started(&mut servers, config(policy, None), 1);
    let entries: Vec<Query> = (0..8).map(|key| Query::all(0, closed(key, key))).collect();
    entries.iter().for_each(|query| assert_eq!(owner.read(&mut servers, query).len(), 1));
    assert_eq!(shown(&servers, 1, &entries), 8);
    owner.holds = |action| matches!(action, Action::Cache(_, _, CacheCall::Invalidate(..)));
    (servers, owner, entries)
}

/// How many of the entries a client of this epoch finds; all of them are what the store has.
fn shown(servers: &Servers, epoch: u64, entries: &[Query]) -> usize {
    let hits = entries.iter().filter_map(|query| Some((query, servers.hit(Epoch(epoch), query)?)));
    hits.inspect(|(query, rows)| assert_eq!(*rows, servers.store.fresh(query), "{query:?}")).count()
}

/// The server deletes every other entry of the call, and its reply is lost.
fn delete_in_part(servers: &mut Servers, owner: &mut OneOwner) {
    let Some(Action::Cache(call, epoch, CacheCall::Invalidate(session, queries))) = owner.held.pop() else {
        panic!("a deletion is on its way")
    };
    let part = queries.into_iter().step_by(2).collect();
    servers.cache.call(RANGE, epoch, &CacheCall::Invalidate(session, part));
    owner.tell(servers, Event::Lost(call));
}

/// A write of every row, or a lease on everything; returns the number of the request.
fn ask_to_delete(servers: &mut Servers, owner: &mut OneOwner, is_write: bool) -> u64 {
    if is_write {
        return owner.change(servers, 100, Change::Touch { lo: 0, hi: 7 });
    }
    let everything = Write { touched: Vec::new(), command: Command::new(b"") };
    owner.tell(servers, Event::Hold(HOLD, everything));
    HOLD.0
}

/// Under write-around a write deletes its entries, and a lease on everything does so under all policies.
fn cases() -> impl Iterator<Item = (Policy, bool)> {
    POLICIES.into_iter().map(|policy| (policy, false)).chain([(Policy::WriteAround, true)])
}

#[test]
fn nothing_goes_on_after_a_deletion_in_part_until_a_new_tenure() {
    for (policy, is_write) in cases() {
        let (mut servers, mut owner, entries) = with_entries(policy);
        let request = ask_to_delete(&mut servers, &mut owner, is_write);
        for _ in 0..config(policy, None).attempts {
            assert_eq!(owner.ending, None, "{policy:?}");
            delete_in_part(&mut servers, &mut owner);
        }
        assert_eq!(owner.ending, Some(Ending::CacheLost), "{policy:?}");
        assert_eq!(owner.writes[&request], WriteOutcome::Retry, "{policy:?}");
        assert!(owner.holds_ready.is_empty() && owner.held.is_empty(), "{policy:?}");
        assert!(servers.store.rows.values().all(|row| row.version < 100), "the store was not sent it");
        assert_eq!(shown(&servers, 1, &entries), 4, "{policy:?}: what is left is what the store has");

        // The entries that are left are taken over, since nothing has changed them.
        let mut next = OneOwner::started(&mut servers, config(policy, Some(1)), 2);
        assert_eq!(shown(&servers, 2, &entries), 4, "{policy:?}");
        let write = next.change(&mut servers, 101, Change::Touch { lo: 0, hi: 7 });
        assert_eq!(next.writes[&write], WriteOutcome::Done, "{policy:?}");
        // Under write-back the store gets it a little later.
        (0..3).for_each(|_| next.wait(&mut servers, 1));
        for query in &entries {
            let rows = next.read(&mut servers, query);
            assert_eq!(rows.iter().map(|row| row.version).collect::<Vec<_>>(), [101], "{policy:?}");
        }
        shown(&servers, 2, &entries);
    }
}

#[test]
fn a_repeated_deletion_deletes_what_the_first_has_left() {
    for (policy, is_write) in cases() {
        let (mut servers, mut owner, entries) = with_entries(policy);
        let request = ask_to_delete(&mut servers, &mut owner, is_write);
        delete_in_part(&mut servers, &mut owner);
        assert_eq!(owner.held.len(), 1, "{policy:?}: it is asked again");
        assert_eq!(shown(&servers, 1, &entries), 4, "{policy:?}");
        owner.let_go(&mut servers);
        assert_eq!(shown(&servers, 1, &entries), 0, "{policy:?}");
        if is_write {
            assert_eq!(owner.writes[&request], WriteOutcome::Done);
            assert!(servers.store.rows.values().all(|row| row.version == 100));
        } else {
            assert_eq!(owner.holds_ready.len(), 1, "{policy:?}");
            owner.tell(&mut servers, Event::HoldDone(HOLD));
        }
        assert!(entries.iter().all(|query| !owner.machine.index().knows(query)), "{policy:?}");
        assert_eq!(owner.ending, None, "{policy:?}");
    }
}
