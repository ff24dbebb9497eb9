//! Several owners by hand, and what else takes leases as a write does.

use std::sync::Arc;

use lacuna_cache_protocol::{
    Action, CacheCall, Command, Config, Cut, Ending, Epoch, Event, Flaw, Notice, PeerReply, Policy, Query,
    RangeId, RangeTable, RequestId, Write, WriteOutcome,
};

use crate::one_owner::{OneOwner, Servers};
use crate::sim::table::{Change, closed};

/// What a lease for all of a table names.
fn everything() -> Write {
    Write { touched: Vec::new(), command: Command::new(b"") }
}

/// Keys below 4 belong to range 0, the others to range 1.
fn table() -> Arc<RangeTable> {
    Arc::new(RangeTable::new(1).split(0, Cut::Before(4.into())).unwrap())
}

pub(crate) fn config(range: u32, policy: Policy) -> Config {
    Config { range: RangeId(range), table: Some(table()), ..Config::new(policy) }
}

pub(crate) fn two(policy: Policy, flaw: Option<Flaw>) -> (Servers, OneOwner, OneOwner) {
    let mut servers = Servers::new(policy, flaw);
    let low = OneOwner::started(&mut servers, Config { flaw, ..config(0, policy) }, 1);
    let high = OneOwner::started(&mut servers, Config { flaw, ..config(1, policy) }, 2);
    (servers, low, high)
}

/// Carries what the owners say to each other until they are silent.
pub(crate) fn talk(servers: &mut Servers, owners: &mut [&mut OneOwner]) {
    while let Some((from, action)) = owners
        .iter_mut()
        .enumerate()
        .find_map(|(from, owner)| (!owner.to_peers.is_empty()).then(|| (from, owner.to_peers.remove(0))))
    {
        match action {
            Action::Peer(call, range, peer, what) => {
                let to = owners.iter().position(|owner| owner.range == range && owner.ending.is_none());
                match to {
                    Some(to) => owners[to].tell(servers, Event::Peer(peer, call, what)),
                    None => owners[from].tell(servers, Event::PeerReply(call, PeerReply::Refused)),
                }
            }
            Action::PeerReply(peer, call, reply) => {
                let to = owners.iter().position(|owner| owner.range == peer.range);
                owners[to.unwrap()].tell(servers, Event::PeerReply(call, reply));
            }
            _ => unreachable!("only words to peers are kept"),
        }
    }
}

fn across() -> Change {
    Change::Move { from: 3, to: 5 }
}

#[test]
fn a_row_that_moves_to_another_owner_is_seen_there() {
    for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
        let (mut servers, mut low, mut high) = two(policy, None);
        let (below, above) = (Query::all(0, closed(2, 3)), Query::all(0, closed(5, 6)));
        low.read(&mut servers, &below);
        high.read(&mut servers, &above);
        let write = low.change(&mut servers, 100, across());
        talk(&mut servers, &mut [&mut low, &mut high]);
        assert_eq!(low.writes[&write], WriteOutcome::Done);
        assert_eq!(low.read(&mut servers, &below).len(), 1, "{policy:?}");
        assert!(high.read(&mut servers, &above).iter().any(|row| row.version == 100), "{policy:?}");
        assert!(low.machine.is_idle() && high.machine.is_idle());
    }
}

#[test]
fn requests_of_another_range_are_redirected() {
    let (mut servers, mut low, mut high) = two(Policy::WriteAround, None);
    let read = low.ask(&mut servers, &Query::all(0, closed(5, 6)));
    let write = high.change(&mut servers, 100, across());
    assert_eq!((low.redirects[&read].version(), high.redirects[&write].version()), (2, 2));
    assert_eq!(high.redirects[&write].leader(&[(0, closed(3, 5))]).unwrap(), RangeId(0));
}

/// The owner of the upper range is replaced between its consent and the statement at the store. Returns what the write
/// came to, and whether the new owner's cache is what the store has.
fn replaced_peer(flaw: Option<Flaw>) -> (WriteOutcome, bool) {
    let (mut servers, mut low, mut high) = two(Policy::WriteAround, flaw);
    low.holds =
        |action| matches!(action, Action::Store(_, _, lacuna_cache_protocol::StoreCall::WriteAcross(..)));
    let write = low.change(&mut servers, 100, across());
    talk(&mut servers, &mut [&mut low, &mut high]);
    assert_eq!(low.held.len(), 1, "every lease is held, the statement is on its way");
    let mut new = OneOwner::started(&mut servers, Config { flaw, ..config(1, Policy::WriteAround) }, 3);
    let above = Query::all(0, closed(5, 6));
    new.read(&mut servers, &above);
    low.let_go(&mut servers);
    let cached = servers.cache.get(RangeId(1), &above).unwrap().1.unwrap();
    let is_fresh = crate::sim::table::decode(&cached) == servers.store.fresh(&above);
    (low.writes[&write], is_fresh)
}

#[test]
fn a_write_whose_peer_was_replaced_is_refused_by_the_store() {
    assert_eq!(replaced_peer(None), (WriteOutcome::Retry, true));
}

#[test]
fn without_the_other_fences_a_replaced_peer_is_stale_for_ever() {
    assert_eq!(replaced_peer(Some(Flaw::OneFenceOnly)), (WriteOutcome::Done, false));
}

#[test]
fn a_guest_that_hears_nothing_ends_its_tenure() {
    let (mut servers, mut low, mut high) = two(Policy::WriteAround, None);
    low.holds = |action| matches!(action, Action::Store(..));
    low.change(&mut servers, 100, across());
    talk(&mut servers, &mut [&mut low, &mut high]);
    high.wait(&mut servers, config(1, Policy::WriteAround).peer_timeout - 1);
    assert_eq!(high.ending, None);
    high.wait(&mut servers, 1);
    assert_eq!(high.ending, Some(Ending::OutcomeUnknown), "the write may still land");
}

#[test]
fn an_unreachable_peer_leaves_nothing_behind() {
    let (mut servers, mut low, _) = two(Policy::WriteThrough, None);
    let write = low.change(&mut servers, 100, across());
    low.to_peers.clear();
    for _ in 0..10 {
        low.wait(&mut servers, 2_000);
    }
    assert_eq!((low.writes[&write], low.ending), (WriteOutcome::Retry, None));
    assert_eq!(low.led_in_vain, [write], "it did not wait for rows of its own");
    assert!(low.machine.is_idle() && servers.store.rows[&3].version == 4);
}

#[test]
fn a_request_that_waits_too_long_is_sent_away() {
    let mut servers = Servers::new(Policy::WriteAround, None);
    let config = Config { request_timeout: 500, call_timeout: 10_000, ..Config::new(Policy::WriteAround) };
    let mut owner = OneOwner::started(&mut servers, config, 1);
    owner.holds = crate::one_owner::store_writes;
    owner.change(&mut servers, 100, Change::Put { key: 3, other: 1 });
    let second = owner.change(&mut servers, 101, Change::Put { key: 3, other: 1 });
    let read = owner.ask(&mut servers, &Query::all(0, closed(3, 3)));
    owner.wait(&mut servers, 500);
    assert_eq!(owner.writes[&second], WriteOutcome::Retry);
    assert!(owner.led_in_vain.is_empty(), "it waited for rows");
    assert!(owner.reads.contains_key(&read) && owner.value(read).is_none());
    owner.let_go(&mut servers);
    assert_eq!(servers.store.rows[&3].version, 100);
}

#[test]
fn a_bulk_load_is_alone_and_seen_afterwards() {
    let (mut servers, mut low, mut high) = two(Policy::WriteBack, None);
    let (below, above) = (Query::all(0, closed(2, 3)), Query::all(0, closed(5, 6)));
    low.read(&mut servers, &below);
    high.read(&mut servers, &above);
    low.change(&mut servers, 99, Change::Put { key: 2, other: 0 });
    low.next += 1;
    let bulk = RequestId(low.next);
    low.tell(&mut servers, Event::Hold(bulk, everything()));
    talk(&mut servers, &mut [&mut low, &mut high]);
    assert!(matches!(&low.holds_ready[..], [(ready, held)] if *ready == bulk && held.len() == 1));
    assert!(low.machine.buffered().is_empty(), "the store has what was buffered");
    let late = high.ask(&mut servers, &above);
    assert_eq!(high.value(late), None, "it waits");
    for key in 0..8 {
        servers.store.write(&Change::Put { key, other: 0 }.write(200, false).command);
    }
    low.tell(&mut servers, Event::HoldDone(bulk));
    talk(&mut servers, &mut [&mut low, &mut high]);
    assert!(low.read(&mut servers, &below).iter().all(|row| row.version == 200));
    assert!(
        high.value(late)
            .is_some_and(|rows| { crate::sim::table::decode(&rows).iter().all(|row| row.version == 200) })
    );
}

/// A bulk load that has begun at the lower of two owners.
fn loading() -> (Servers, OneOwner, OneOwner, RequestId) {
    let (mut servers, mut low, mut high) = two(Policy::WriteThrough, None);
    low.next += 1;
    let bulk = RequestId(low.next);
    low.tell(&mut servers, Event::Hold(bulk, everything()));
    talk(&mut servers, &mut [&mut low, &mut high]);
    assert_eq!(low.holds_ready, [(bulk, vec![(RangeId(1), Epoch(2))])]);
    (servers, low, high, bulk)
}

#[test]
fn a_bulk_load_holds_other_owners_for_as_long_as_it_takes() {
    let (mut servers, mut low, mut high, bulk) = loading();
    let patience = config(1, Policy::WriteThrough).peer_timeout;
    for _ in 0..40 {
        low.wait(&mut servers, patience / 4);
        talk(&mut servers, &mut [&mut low, &mut high]);
        high.wait(&mut servers, patience / 4);
    }
    assert_eq!((&low.ending, &high.ending), (&None, &None));
    low.tell(&mut servers, Event::HoldDone(bulk));
    talk(&mut servers, &mut [&mut low, &mut high]);
    assert!(high.read(&mut servers, &Query::all(0, closed(5, 6))).len() <= 2, "others are let in");
}

#[test]
fn nobody_is_let_in_before_new_fences_once_a_bulk_load_is_abandoned() {
    let (mut servers, mut low, mut high, bulk) = loading();
    low.tell(&mut servers, Event::HoldAbandoned(bulk));
    assert_eq!(low.ending, Some(Ending::OutcomeUnknown));
    talk(&mut servers, &mut [&mut low, &mut high]);
    let late = high.ask(&mut servers, &Query::all(0, closed(5, 6)));
    assert!(high.value(late).is_none() && high.ending.is_none(), "parts of the load may yet land");
    high.wait(&mut servers, config(1, Policy::WriteThrough).peer_timeout);
    assert_eq!(high.ending, Some(Ending::OutcomeUnknown), "the next one raises the fence");
}

/// The others of the same owner, and their entries, are not concerned.
#[test]
fn a_lease_of_a_caller_holds_its_interval_alone() {
    for policy in [Policy::WriteThrough, Policy::WriteBack] {
        let (mut servers, mut low, mut high) = two(policy, None);
        let (held, free) = (Query::all(0, closed(2, 3)), Query::all(0, closed(0, 1)));
        low.read(&mut servers, &held);
        low.read(&mut servers, &free);
        let before = low.change(&mut servers, 98, Change::Put { key: 3, other: 0 });
        assert_eq!(low.writes[&before], WriteOutcome::Done);
        low.next += 1;
        let hold = RequestId(low.next);
        // The command says that its sender numbers the columns as the owner does.
        let touched = vec![(0, closed(2, 3))];
        let command = Change::Put { key: 2, other: 0 }.write(200, false).command;
        low.tell(&mut servers, Event::Hold(hold, Write { touched, command: command.clone() }));
        talk(&mut servers, &mut [&mut low, &mut high]);
        assert_eq!(low.holds_ready, [(hold, vec![])], "{policy:?}: no other range is concerned");
        assert!(servers.store.rows.contains_key(&3), "the store has what was buffered for it");
        let late = low.ask(&mut servers, &held);
        assert_eq!(low.value(late), None, "it waits");
        low.read(&mut servers, &free);
        servers.store.write(&command);
        low.tell(&mut servers, Event::HoldDone(hold));
        talk(&mut servers, &mut [&mut low, &mut high]);
        let rows = crate::sim::table::decode(&low.value(late).expect("it is answered now"));
        assert!(rows.iter().any(|row| row.version == 200), "{policy:?}: {rows:?}");
    }
}

#[test]
fn a_doubted_hit_finds_who_writes_past_the_cache() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteThrough), 1);
    let query = Query::all(0, closed(2, 5));
    owner.read(&mut servers, &query);
    let verify = |owner: &mut OneOwner, servers: &mut Servers, number| {
        owner.tell(servers, Event::Verify(RequestId(number), query.clone()));
        crate::sim::table::decode(&owner.value(number).unwrap())
    };
    verify(&mut owner, &mut servers, 900);
    assert!(owner.notices.is_empty(), "nobody did");
    servers.store.write(&Change::Put { key: 3, other: 7 }.write(300, false).command);
    let rows = verify(&mut owner, &mut servers, 901);
    assert!(rows.iter().any(|row| row.version == 300), "the store is right");
    assert!(matches!(owner.notices[..], [Notice::BypassDetected(_)]));
    assert_eq!(servers.hit(Epoch(1), &query), None, "what showed it is gone");
}

#[test]
fn a_foreign_write_drops_what_shows_it_and_known_gaps() {
    let mut servers = Servers::new(Policy::WriteAround, None);
    let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteAround), 1);
    let (shown, empty) = (Query::all(0, closed(2, 5)), Query::all(0, closed(20, 30)));
    owner.read(&mut servers, &shown);
    owner.read(&mut servers, &empty);
    for key in [3, 25] {
        servers.store.write(&Change::Put { key, other: 7 }.write(300, false).command);
        owner.tell(&mut servers, Event::ForeignWrite(vec![(0, closed(key, key))]));
    }
    assert_eq!(owner.read(&mut servers, &empty).len(), 1);
    assert!(owner.read(&mut servers, &shown).iter().any(|row| row.version == 300));
    assert_eq!(owner.notices.len(), 2);
}

#[test]
fn an_overlapping_query_asks_the_store_for_the_gap_alone() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let config = Config { beta: 0, ..Config::new(Policy::WriteThrough) };
    let mut owner = OneOwner::started(&mut servers, config, 1);
    owner.read(&mut servers, &Query::all(0, closed(0, 2)));
    owner.read(&mut servers, &Query::all(0, closed(5, 7)));
    servers.calls.clear();
    let rows = owner.read(&mut servers, &Query::all(0, closed(1, 6)));
    assert_eq!(rows.iter().map(|row| row.key).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    let calls: Vec<_> = servers.calls.iter().map(|(name, count)| (*name, *count)).collect();
    assert_eq!(calls, [("gather", 1), ("install", 1), ("lookup", 1), ("query", 1)]);
    servers.calls.clear();
    assert_eq!(owner.read(&mut servers, &Query::all(0, closed(1, 6))), rows);
    assert_eq!(servers.calls.get("query"), None, "the parts hold all of it");
    assert_eq!(owner.machine.index().len(), 3, "no row is cached twice");
}

#[test]
fn clients_put_results_together_once_beta_has_fallen_to_0() {
    let mut servers = Servers::new(Policy::WriteThrough, None);
    let config = Config { beta: 100, beta_auto: true, ..Config::new(Policy::WriteThrough) };
    let mut owner = OneOwner::started(&mut servers, config, 1);
    let reader = owner.machine.entry_reader().expect("results of this application can be put together");
    let [left, covered, right, both] =
        [(0, 4), (3, 6), (4, 7), (2, 6)].map(|(lo, hi)| Query::all(0, closed(lo, hi)));
    for query in [&left, &covered, &right] {
        owner.read(&mut servers, query);
    }
    assert_eq!(reader.parts(&both), Some(Vec::new()), "it may have an entry of its own");
    owner.write_often(&mut servers, 100, 4);
    let parts = reader.parts(&both).expect("they cover it");
    let [first, second] = &parts[..] else { panic!("{parts:?} are two") };
    assert_eq!((first, second.interval.hi()), (&left, right.interval.hi()));
    assert_eq!(reader.parts(&left), Some(Vec::new()));
    assert_eq!(reader.parts(&Query::all(0, closed(6, 9))), None, "in no cache");
}

/// What overlaps stays from a time with a larger β until a write comes to it.
#[test]
fn a_write_deletes_what_other_entries_cover_once_beta_has_fallen_to_0() {
    for policy in [Policy::WriteThrough, Policy::WriteBack] {
        let mut servers = Servers::new(policy, None);
        let config = Config { beta: 100, beta_auto: true, ..Config::new(policy) };
        let mut owner = OneOwner::started(&mut servers, config, 1);
        let entries =
            [(0, 4), (2, 6), (4, 9), (3, 5), (20, 22)].map(|(lo, hi)| Query::all(0, closed(lo, hi)));
        entries.iter().for_each(|query| drop(owner.read(&mut servers, query)));
        let shown = |servers: &Servers| -> Vec<bool> {
            entries.iter().map(|query| servers.hit(Epoch(1), query).is_some()).collect()
        };
        owner.write_often(&mut servers, 100, 4);
        owner.change(&mut servers, 1_900, Change::Put { key: 21, other: 1 });
        assert_eq!(shown(&servers), [true; 5], "a write leaves alone what it does not touch");
        owner.change(&mut servers, 2_000, Change::Put { key: 4, other: 7 });
        assert_eq!(shown(&servers), [true, false, true, false, true]);
        servers.calls.clear();
        for query in &entries {
            let rows = owner.read(&mut servers, query);
            assert!(rows.iter().all(|row| row.key != 4 || row.other == 7), "{rows:?}");
        }
        assert_eq!(servers.calls.get("query"), None, "nothing was lost: {:?}", servers.calls);
    }
}

#[test]
fn a_new_owner_finds_the_entries_of_the_one_before() {
    for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
        let mut servers = Servers::new(policy, None);
        let logged =
            |before| Config { keeps_log: true, warm_from: before, log_batch: 2, ..Config::new(policy) };
        let mut old = OneOwner::started(&mut servers, logged(None), 1);
        for key in 0..6 {
            old.read(&mut servers, &Query::all(0, closed(key, key)));
        }
        old.change(&mut servers, 100, Change::Put { key: 3, other: 1 });
        let mut new = OneOwner::started(&mut servers, logged(Some(Epoch(1))), 2);
        let hits = (0..6).filter(|key| servers.hit(Epoch(2), &Query::all(0, closed(*key, *key))).is_some());
        assert_eq!(hits.count(), if policy == Policy::WriteThrough { 6 } else { 5 });
        let write = new.change(&mut servers, 101, Change::Touch { lo: 0, hi: 7 });
        assert_eq!(new.writes[&write], WriteOutcome::Done);
        for key in 0..6 {
            let rows = new.read(&mut servers, &Query::all(0, closed(key, key)));
            assert_eq!(rows[0].version, 101, "{policy:?}: it knew the entry of {key}");
        }
    }
}

#[test]
fn a_log_that_cannot_be_read_means_to_begin_cold() {
    let mut servers = Servers::new(Policy::WriteAround, None);
    let logged = |before| Config { keeps_log: true, warm_from: before, ..Config::new(Policy::WriteAround) };
    let mut old = OneOwner::started(&mut servers, logged(None), 1);
    let query = Query::all(0, closed(2, 5));
    old.read(&mut servers, &query);
    servers.cache.damage_log(RangeId(0));
    let new = OneOwner::started(&mut servers, logged(Some(Epoch(1))), 2);
    assert!(new.machine.index().is_empty());
    assert_eq!(servers.hit(Epoch(2), &query), None);
}

#[test]
fn the_log_stays_small_and_a_late_compaction_changes_nothing() {
    let mut servers = Servers::new(Policy::WriteAround, None);
    let logged = |before| Config {
        keeps_log: true,
        warm_from: before,
        log_batch: 8,
        ..Config::new(Policy::WriteAround)
    };
    let mut old = OneOwner::started(&mut servers, logged(None), 1);
    let query = Query::all(0, closed(2, 5));
    for id in 100..600 {
        old.read(&mut servers, &query);
        old.change(&mut servers, id, Change::Put { key: 3, other: 1 });
        old.wait(&mut servers, 1);
    }
    assert!(servers.calls["replace log"] > 5, "{:?}", servers.calls);
    assert!(servers.cache.log_bytes(RangeId(0)) < 2_500, "{} bytes", servers.cache.log_bytes(RangeId(0)));
    // A compaction is on its way when the owner is replaced, and arrives afterwards.
    old.holds = |action| matches!(action, Action::Cache(_, _, CacheCall::ReplaceLog(..)));
    for id in 600..700 {
        old.read(&mut servers, &query);
        old.change(&mut servers, id, Change::Put { key: 3, other: 1 });
        old.wait(&mut servers, 1);
    }
    old.read(&mut servers, &query);
    assert_eq!(old.held.len(), 1);
    let new = OneOwner::started(&mut servers, logged(Some(Epoch(1))), 2);
    let bytes = servers.cache.log_bytes(RangeId(0));
    old.let_go(&mut servers);
    assert_eq!((servers.cache.log_bytes(RangeId(0)), new.machine.index().len()), (bytes, 1));
    assert_eq!(old.ending, Some(Ending::CacheLost));
}

#[test]
fn a_newer_table_that_leaves_a_range_alone_is_taken() {
    let (mut servers, mut low, mut high) = two(Policy::WriteAround, None);
    let newer = Arc::new(table().split(0, Cut::Before(6.into())).unwrap());
    low.tell(&mut servers, Event::Table(newer.clone()));
    high.tell(&mut servers, Event::Table(newer));
    assert_eq!((low.ending, high.ending), (None, Some(Ending::Fenced)));
    low.change(&mut servers, 100, across());
    let asked: Vec<RangeId> = low
        .to_peers
        .iter()
        .filter_map(|action| if let Action::Peer(_, range, ..) = action { Some(*range) } else { None })
        .collect();
    assert_eq!(asked, [RangeId(1)]);
}
