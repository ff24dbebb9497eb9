//! Take-overs that must begin cold although the cache server and its log of entries would allow more, and one that need not.

use lacuna_cache_protocol::{Config, Ending, Epoch, Event, Policy, Query};

use crate::one_owner::{OneOwner, Servers};
use crate::sim::table::{Change, closed};

fn logged(policy: Policy, before: Option<u64>) -> Config {
    Config { keeps_log: true, warm_from: before.map(Epoch), ..Config::new(policy) }
}

/// The cache server takes a second owner of an epoch for the first one that repeats its call, and lists all entries.
#[test]
fn an_owner_without_a_predecessor_takes_over_nothing() {
    for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
        let mut servers = Servers::new(policy, None);
        let query = Query::all(0, closed(2, 5));
        OneOwner::started(&mut servers, logged(policy, None), 1).read(&mut servers, &query);
        assert!(servers.hit(Epoch(1), &query).is_some());
        let again = OneOwner::started(&mut servers, logged(policy, None), 1);
        assert!(again.machine.index().is_empty());
        assert_eq!(servers.hit(Epoch(1), &query), None, "{policy:?}");
    }
}

/// The store has by then what the entries show.
#[test]
fn an_owner_without_logs_takes_entries_over_after_an_end_in_order() {
    let mut servers = Servers::new(Policy::WriteBack, None);
    let query = Query::all(0, closed(2, 5));
    let mut old = OneOwner::started(&mut servers, logged(Policy::WriteBack, None), 1);
    old.read(&mut servers, &query);
    old.change(&mut servers, 100, Change::Put { key: 3, other: 1 });
    old.tell(&mut servers, Event::Stop);
    old.wait(&mut servers, 1);
    assert_eq!(old.ending, Some(Ending::Stopped));
    let new = OneOwner::started(&mut servers, logged(Policy::WriteThrough, Some(1)), 2);
    assert!(new.machine.index().knows(&query));
    assert_eq!(servers.hit(Epoch(2), &query), Some(servers.store.fresh(&query)));
    assert_eq!(servers.store.rows[&3].version, 100);
}

/// The owner knows without a question how long the log is.
#[test]
fn an_owner_counts_the_bytes_of_its_log() {
    let mut servers = Servers::new(Policy::WriteAround, None);
    let config = |before| Config { log_batch: 1, ..logged(Policy::WriteAround, before) };
    let mut old = OneOwner::started(&mut servers, config(None), 1);
    let query = Query::all(0, closed(2, 5));
    for id in 100..400 {
        old.read(&mut servers, &query);
        old.change(&mut servers, id, Change::Put { key: 3, other: 1 });
        old.wait(&mut servers, 1);
    }
    let kept = servers.cache.log_bytes(lacuna_cache_protocol::RangeId(0));
    assert!(kept > 0 && servers.calls["replace log"] > 2, "{:?}", servers.calls);
    assert_eq!(old.machine.entry_log_bytes(), kept);
    let new = OneOwner::started(&mut servers, config(Some(1)), 2);
    assert_eq!(new.machine.entry_log_bytes(), kept);
}
