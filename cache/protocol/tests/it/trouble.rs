//! Buffered writes in trouble: full logs, lost logs, refusals, take-over.

use lacuna_cache_protocol::{
    Action, CacheCall, Config, Ending, Epoch, Event, LogCall, Notice, Policy, Query, StoreCall, StoreReply,
    WriteOutcome,
};

use crate::one_owner::{OneOwner, Servers, applies, store_writes};
use crate::sim::table::{Change, Table, closed};

fn put(key: u64) -> Change {
    Change::Put { key, other: 1 }
}

fn config() -> Config {
    Config::new(Policy::WriteBack)
}

fn seated() -> (Servers, OneOwner) {
    let mut servers = Servers::new(Policy::WriteBack, None);
    let owner = OneOwner::started(&mut servers, config(), 1);
    (servers, owner)
}

#[test]
fn a_full_log_means_writing_through_and_back_again() {
    let (mut servers, mut owner) = seated();
    owner.change(&mut servers, 100, put(3));
    assert_eq!(owner.machine.buffered().len(), 1);
    servers.logs[2].is_full = true;
    let write = owner.change(&mut servers, 101, put(3));
    assert_eq!(owner.writes[&write], WriteOutcome::Done);
    assert!(owner.machine.buffered().is_empty(), "it is in the store, and what it depends on");
    assert_eq!(owner.notices, [Notice::WritingThrough]);
    servers.calls.clear();
    owner.change(&mut servers, 102, put(4));
    assert_eq!((servers.calls.get("append"), servers.calls["write"]), (None, 1));
    servers.logs[2].is_full = false;
    owner.wait(&mut servers, config().write_through_for);
    owner.change(&mut servers, 103, put(5));
    assert_eq!(owner.machine.buffered().len(), 1);
}

/// Appends of the owner to its three logs that have arrived.
fn appends(servers: &Servers) -> usize {
    servers.calls.get("append").copied().unwrap_or(0)
}

/// An owner whose first append is on its way, and writes of as many rows that wait for it.
fn waiting(count: u64) -> (Servers, OneOwner, Vec<u64>) {
    let (mut servers, mut owner) = seated();
    owner.holds = |action| matches!(action, Action::Log(_, _, _, LogCall::Append(_)));
    owner.change(&mut servers, 100, put(0));
    let change = |key| owner.change(&mut servers, 101 + u32::try_from(key).unwrap(), put(key));
    let waiting = (1..=count).map(change).collect();
    (servers, owner, waiting)
}

#[test]
fn writes_that_wait_for_an_append_share_the_next_one() {
    let (mut servers, mut owner, writes) = waiting(5);
    assert_eq!(owner.held.len(), 3, "one append to three logs");
    owner.let_go(&mut servers);
    assert_eq!(appends(&servers), 6);
    assert!(writes.iter().all(|write| owner.writes[write] == WriteOutcome::Done));
    assert_eq!(owner.machine.buffered().len(), 6);
    let mut next = OneOwner::started(&mut servers, config(), 2);
    next.wait(&mut servers, 1);
    assert!((1..=5).all(|key| servers.store.rows[&key].version == 101 + u32::try_from(key).unwrap()));
}

#[test]
fn enough_writes_go_to_the_logs_beside_an_append() {
    let (mut servers, mut owner, writes) = waiting(7);
    assert_eq!(owner.held.len(), 3);
    let eighth = owner.change(&mut servers, 120, put(8));
    assert_eq!(owner.held.len(), 6, "eight are enough");
    // The second append is acknowledged before the first.
    let held = std::mem::take(&mut owner.held);
    owner.let_some_go(&mut servers, &held[3..], crate::one_owner::no_call);
    assert!(writes.iter().chain([&eighth]).all(|write| owner.writes[write] == WriteOutcome::Done));
    assert_eq!(owner.writes.len(), 8, "the first is not acknowledged");
    owner.let_some_go(&mut servers, &held[..3], crate::one_owner::no_call);
    assert_eq!(owner.writes.len(), 9);
}

#[test]
fn writes_that_wait_for_an_append_that_fails_go_to_the_store() {
    let (mut servers, mut owner, writes) = waiting(5);
    servers.logs[1].is_full = true;
    owner.let_go(&mut servers);
    assert_eq!(appends(&servers), 3, "what waited was not sent");
    assert!(writes.iter().all(|write| owner.writes[write] == WriteOutcome::Done));
    assert!(owner.machine.buffered().is_empty());
    assert!((1..=5).all(|key| servers.store.rows[&key].version == 101 + u32::try_from(key).unwrap()));
    assert_eq!(owner.notices, [Notice::WritingThrough]);
}

#[test]
fn a_new_owner_finds_what_was_acknowledged() {
    let (mut servers, mut owner) = seated();
    for id in 100..120 {
        owner.change(&mut servers, id, put(u64::from(id) % 8));
    }
    drop(owner);
    servers.logs[0].lose_disk();
    servers.logs[1].lose_disk();
    let mut owner = OneOwner::started(&mut servers, config(), 2);
    assert!(owner.notices.is_empty(), "one whole copy is enough");
    assert!((0..8).all(|key| servers.store.rows[&key].version >= 112));
    let rows = owner.read(&mut servers, &Query::all(0, closed(0, 7)));
    assert_eq!(rows.iter().map(|row| row.version).max(), Some(119));
}

#[test]
fn applied_writes_are_not_applied_again() {
    let (mut servers, mut owner) = seated();
    owner.change(&mut servers, 100, put(3));
    // The store has it; the log is not told.
    owner.holds = |action| matches!(action, Action::Log(..));
    owner.wait(&mut servers, 1);
    assert!(owner.machine.buffered().is_empty());
    let states = servers.store.slots[&3].len();
    OneOwner::started(&mut servers, config(), 2);
    assert_eq!(servers.store.slots[&3].len(), states);
}

#[test]
fn the_loss_of_all_logs_is_told() {
    let (mut servers, mut owner) = seated();
    owner.change(&mut servers, 100, put(3));
    servers.logs.iter_mut().for_each(crate::sim::store::LogServer::lose_disk);
    let owner = OneOwner::started(&mut servers, config(), 2);
    assert_eq!(owner.notices, [Notice::BufferedWritesLost]);
}

#[test]
fn a_record_in_one_log_only_does_not_come_back_later() {
    let (mut servers, mut owner) = seated();
    // The write reaches one log, and its owner dies; the next owner cannot reach that log.
    owner.holds = |action| matches!(action, Action::Log(server, ..) if *server > 0);
    owner.change(&mut servers, 100, put(3));
    let lonely = std::mem::take(&mut servers.logs[0]);
    let mut second = OneOwner::started(&mut servers, config(), 2);
    second.change(&mut servers, 101, put(3));
    second.wait(&mut servers, 1);
    servers.logs[0] = lonely;
    OneOwner::started(&mut servers, config(), 3);
    assert_eq!(servers.store.rows[&3].version, 101, "the older write must not overwrite the newer");
}

#[test]
fn a_refused_write_is_set_aside_with_what_depends_on_it() {
    let (mut servers, mut owner) = seated();
    let query = Query::all(0, closed(2, 5));
    owner.read(&mut servers, &query);
    servers.store.forbidden.push(100);
    owner.holds = applies;
    owner.change(&mut servers, 100, put(3));
    owner.change(&mut servers, 101, Change::Touch { lo: 3, hi: 4 });
    owner.change(&mut servers, 102, put(6));
    assert!(servers.hit(Epoch(1), &query).unwrap().iter().any(|row| row.version == 101));
    owner.wait(&mut servers, 1);
    owner.let_go(&mut servers);
    owner.wait(&mut servers, 1);
    let [Notice::SetAside(aside), ..] = &owner.notices[..] else { panic!("{:?}", owner.notices) };
    let ids: Vec<u32> = aside.iter().map(|(_, command)| Change::read(command).0).collect();
    assert_eq!(ids, [100, 101]);
    assert_eq!(servers.hit(Epoch(1), &query), None, "what showed them is gone");
    assert!(owner.machine.buffered().is_empty());
    assert_eq!((servers.store.rows[&6].version, servers.store.rows[&3].version), (102, 4), "others went on");
    let again = owner.read(&mut servers, &query);
    assert!(again.iter().all(|row| row.version < 100));
}

#[test]
fn what_a_write_that_is_set_aside_has_made_is_no_reason_to_acknowledge_another() {
    let (mut servers, mut owner) = seated();
    servers.store.forbidden.push(100);
    owner.holds = applies;
    owner.change(&mut servers, 100, Change::Put { key: 3, other: 7 });
    owner.wait(&mut servers, 1);
    owner.let_go(&mut servers);
    owner.wait(&mut servers, 1);
    assert!(matches!(owner.notices[0], Notice::SetAside(_)), "{:?}", owner.notices);
    owner.holds = crate::one_owner::no_call;
    owner.wait(&mut servers, config().write_through_for);
    // The row never had this value in the store.
    let edit = owner.change(&mut servers, 101, Change::Edit { key: 3, was: 7, other: 8, domains: 1 });
    owner.wait(&mut servers, 1);
    assert_eq!(owner.writes[&edit], WriteOutcome::Refused);
    assert!(owner.machine.buffered().is_empty());
}

/// A write that is set aside while its entries are being changed ends as others do, and is remembered as little.
#[test]
fn what_is_set_aside_before_its_entries_show_it_is_no_reason_either() {
    let (mut servers, mut owner) = seated();
    owner.read(&mut servers, &Query::all(0, closed(2, 5)));
    servers.store.forbidden.push(100);
    owner.holds = applies;
    owner.change(&mut servers, 100, put(3));
    owner.wait(&mut servers, 1);
    let apply = std::mem::take(&mut owner.held);
    owner.holds = |action| matches!(action, Action::Cache(_, _, CacheCall::Patch(..)));
    owner.change(&mut servers, 101, Change::Put { key: 3, other: 7 });
    let patch = std::mem::take(&mut owner.held);
    assert_eq!((apply.len(), patch.len()), (1, 1));
    owner.let_some_go(&mut servers, &apply, crate::one_owner::no_call);
    assert!(matches!(owner.notices[0], Notice::SetAside(_)), "{:?}", owner.notices);
    owner.let_some_go(&mut servers, &patch, crate::one_owner::no_call);
    owner.wait(&mut servers, config().write_through_for);
    let edit = owner.change(&mut servers, 102, Change::Edit { key: 3, was: 7, other: 8, domains: 1 });
    owner.wait(&mut servers, 1);
    assert_eq!(owner.writes[&edit], WriteOutcome::Refused);
    assert!(owner.machine.buffered().is_empty());
}

/// The store is told to pass writes over, and to carry out none.
fn passes_over(action: &Action) -> bool {
    matches!(action, Action::Store(_, _, StoreCall::Apply(commands)) if commands.iter().all(|(_, command)| command.is_none()))
}

#[test]
fn who_depends_on_a_refused_write_hears_of_it_once_no_owner_will_carry_it_out() {
    let (mut servers, mut owner) = seated();
    servers.store.forbidden.push(100);
    owner.holds = |action| {
        let is_second = |call: &LogCall| matches!(call, LogCall::Append(writes) if writes[0].0 == 2);
        applies(action) || matches!(action, Action::Log(_, _, _, call) if is_second(call))
    };
    owner.change(&mut servers, 100, put(3));
    let request = owner.change(&mut servers, 101, Change::Touch { lo: 3, hi: 4 });
    let held = std::mem::take(&mut owner.held);
    let (apply, appends) = held.split_at(1);
    owner.let_some_go(&mut servers, apply, passes_over);
    assert!(matches!(owner.notices[0], Notice::SetAside(_)), "{:?}", owner.notices);
    owner.let_some_go(&mut servers, appends, passes_over);
    assert_eq!(owner.writes.get(&request), None, "the next owner would find it in a log");
    owner.let_go(&mut servers);
    assert_eq!(owner.writes[&request], WriteOutcome::Refused);
    assert!(owner.machine.buffered().is_empty());
}

#[test]
fn several_writes_to_one_row_are_applied_as_one() {
    let mut servers = Servers::new(Policy::WriteBack, None);
    let mut owner =
        OneOwner::with_table(&mut servers, config(), 1, Table { merges: true, ..Table::default() });
    owner.holds = applies;
    for id in 100..110 {
        owner.change(&mut servers, id, put(3));
        owner.change(&mut servers, id + 100, put(4));
    }
    owner.wait(&mut servers, 1);
    servers.applied.clear();
    owner.let_go(&mut servers);
    assert_eq!(servers.applied, [2], "twenty writes to two rows");
    assert_eq!((servers.store.rows[&3].version, servers.store.rows[&4].version), (109, 209));
}

#[test]
fn a_miss_waits_for_the_buffered_writes_of_its_interval() {
    let (mut servers, mut owner) = seated();
    owner.change(&mut servers, 100, Change::Touch { lo: 2, hi: 4 });
    owner.change(&mut servers, 101, Change::Touch { lo: 4, hi: 6 });
    let rows = owner.read(&mut servers, &Query::all(0, closed(4, 5)));
    assert_eq!(rows.iter().map(|row| row.version).collect::<Vec<_>>(), [101, 101]);
    assert_eq!(servers.store.rows[&2].version, 100, "the write it depends on came first");
}

#[test]
fn a_log_that_does_not_answer_is_waited_for_if_no_other_is_whole() {
    let (mut servers, mut owner) = seated();
    owner.holds = applies;
    let write = owner.change(&mut servers, 100, put(3));
    assert_eq!(owner.writes[&write], WriteOutcome::Done);
    servers.logs[0].lose_disk();
    servers.logs[1].is_silent = true;
    servers.logs[2].is_silent = true;
    let mut second = OneOwner::unseated(&mut servers, config(), 2);
    (0..10).for_each(|_| second.wait(&mut servers, config().call_timeout));
    assert_eq!(second.ending, Some(Ending::NotStarted), "they may have what was acknowledged");
    servers.logs[1].is_silent = false;
    servers.logs[2].is_silent = false;
    let third = OneOwner::started(&mut servers, config(), 3);
    assert_eq!((servers.store.rows[&3].version, third.notices), (100, vec![]));
}

#[test]
fn a_log_that_a_take_over_only_fenced_is_not_whole() {
    let (mut servers, mut owner) = seated();
    owner.holds = applies;
    owner.change(&mut servers, 100, put(3));
    servers.logs[0].lose_disk();
    // A take-over fences all logs and dies; then those that have the write are out of reach.
    for server in 0..3 {
        servers.logs[server].call(crate::one_owner::RANGE, Epoch(2), &LogCall::Fence);
    }
    servers.logs[1].lose_disk();
    servers.logs[2].lose_disk();
    let third = OneOwner::started(&mut servers, config(), 3);
    assert_eq!(third.notices, [Notice::BufferedWritesLost], "told, not hidden");
}

#[test]
fn a_write_logged_under_other_domains_is_taken_over() {
    let mut servers = Servers::new(Policy::WriteBack, None);
    let two = Config { domain_count: 2, ..config() };
    let mut owner = OneOwner::started(&mut servers, two, 1);
    owner.holds = applies;
    owner.change(&mut servers, 100, put(3));
    OneOwner::started(&mut servers, config(), 2);
    assert_eq!(servers.store.rows[&3].version, 100);
}

/// The numbers of its domains mean nothing to this tenure, so that any entry may show its row.
#[test]
fn a_write_of_a_client_that_numbers_domains_otherwise_touches_everything() {
    for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
        let mut servers = Servers::new(policy, None);
        let table = Table { is_renumbered: true, ..Table::default() };
        let config = Config { domain_count: 2, ..Config::new(policy) };
        let mut owner = OneOwner::with_table(&mut servers, config, 1, table);
        let queries = [0, 1].map(|domain| Query::all(domain, closed(5, 7)));
        queries.iter().for_each(|query| drop(owner.read(&mut servers, query)));
        assert!(queries.iter().all(|query| servers.hit(Epoch(1), query).is_some()));
        owner.change(&mut servers, 100, put(3));
        for query in &queries {
            assert_eq!(servers.hit(Epoch(1), query), None, "{policy:?}: {query:?}");
        }
    }
}

/// Entries and logged writes of a tenure that numbered the domains otherwise: it begins cold, and replays under all
/// intervals.
#[test]
fn a_tenure_that_numbers_domains_otherwise_takes_over_no_entry() {
    let mut servers = Servers::new(Policy::WriteBack, None);
    let config = |before| Config { keeps_log: true, warm_from: before, ..config() };
    let mut old = OneOwner::started(&mut servers, config(None), 1);
    let query = Query::all(0, closed(5, 7));
    old.read(&mut servers, &query);
    old.holds = applies;
    old.change(&mut servers, 100, put(3));
    let table = Table { is_renumbered: true, ..Table::default() };
    let new = OneOwner::with_table(&mut servers, config(Some(Epoch(1))), 2, table);
    assert!(new.machine.index().is_empty());
    assert_eq!(servers.hit(Epoch(2), &query), None);
    assert_eq!(servers.store.rows[&3].version, 100);
    let mut alike = Servers::new(Policy::WriteBack, None);
    OneOwner::started(&mut alike, config(None), 1).read(&mut alike, &query);
    let new = OneOwner::started(&mut alike, config(Some(Epoch(1))), 2);
    assert!(!new.machine.index().is_empty(), "one that numbers them alike begins warm");
}

#[test]
fn a_store_that_is_busy_for_long_takes_acknowledged_writes_in_the_end() {
    let (mut servers, mut owner) = seated();
    owner.holds = applies;
    owner.change(&mut servers, 100, put(3));
    owner.wait(&mut servers, 1);
    for _ in 0..50 {
        let Some(Action::Store(call, ..)) = owner.held.pop() else { panic!("it is tried") };
        let busy = StoreReply::Refused { lsn: Some(1), retry: true };
        owner.tell(&mut servers, Event::Store(call, busy));
        owner.wait(&mut servers, 1_000);
    }
    owner.let_go(&mut servers);
    assert_eq!((servers.store.rows[&3].version, owner.notices), (100, vec![]));
}

/// As for a deadlock with other programs, which comes three times.
#[test]
fn a_write_that_the_store_cannot_take_now_may_be_repeated() {
    for retry in [true, false] {
        let mut servers = Servers::new(Policy::WriteAround, None);
        let mut owner = OneOwner::started(&mut servers, Config::new(Policy::WriteAround), 1);
        owner.holds = store_writes;
        let write = owner.change(&mut servers, 100, put(3));
        let mut tries = 0;
        while let Some(Action::Store(call, ..)) = owner.held.pop() {
            tries += 1;
            owner.tell(&mut servers, Event::Store(call, StoreReply::Refused { lsn: None, retry }));
        }
        let (outcome, expected) = if retry { (WriteOutcome::Retry, 5) } else { (WriteOutcome::Refused, 1) };
        assert_eq!((owner.writes[&write], tries), (outcome, expected));
    }
}

/// The second write waits for the first, the third for the second alone. When the second has waited too long and leaves, the
/// third is let in: it must not be told that it was not carried out.
#[test]
fn a_write_that_begins_as_another_gives_up_is_not_sent_away() {
    let mut servers = Servers::new(Policy::WriteBack, None);
    let mut owner = OneOwner::started(&mut servers, Config { request_timeout: 100, ..config() }, 1);
    owner.holds = |action| matches!(action, Action::Log(..));
    let first = owner.change(&mut servers, 100, put(3));
    let second = owner.change(&mut servers, 101, Change::Touch { lo: 3, hi: 4 });
    let third = owner.change(&mut servers, 102, put(4));
    owner.wait(&mut servers, 100);
    assert_eq!((owner.writes.get(&second), owner.writes.get(&third)), (Some(&WriteOutcome::Retry), None));
    owner.let_go(&mut servers);
    owner.wait(&mut servers, 1);
    assert_eq!((owner.writes[&first], owner.writes[&third]), (WriteOutcome::Done, WriteOutcome::Done));
    assert_eq!((servers.store.rows[&3].version, servers.store.rows[&4].version), (100, 102));
}
