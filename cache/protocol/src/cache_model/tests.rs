//! The rules of leases, and the races that they prevent.

use super::*;
use crate::interval::Interval;
use crate::log::LogRecord;

const RANGE: RangeId = RangeId(0);
const EPOCH: Epoch = Epoch(1);

fn query() -> Query {
    Query::all(0, Interval::closed(1.into(), 9.into()).expect("1 <= 9"))
}

fn server(flaw: Option<Flaw>) -> CacheModel {
    let mut server = CacheModel::new(10).with_flaw(flaw);
    server.call(RANGE, EPOCH, &CacheCall::Fence);
    server
}

fn value(text: &str) -> Value {
    Value::new(text.as_bytes())
}

fn install(session: u64, text: &str) -> CacheCall {
    let record = LogRecord { lsn: session, domain: 0, interval: query().interval, key: Some(Vec::new()) };
    CacheCall::Install(query(), Session(session), value(text), record)
}

fn look_up(session: u64) -> CacheCall {
    CacheCall::Lookup(query(), Session(session))
}

fn commit(session: u64, text: &str) -> CacheCall {
    CacheCall::Commit(Session(session), vec![(query(), Some(value(text)))])
}

fn hide(session: u64) -> CacheCall {
    CacheCall::Hide(Session(session), vec![query()])
}

#[test]
fn a_writer_voids_an_install() {
    for writer in [CacheCall::Invalidate(Session(2), vec![query()]), hide(2)] {
        let mut server = server(None);
        assert_eq!(server.call(RANGE, EPOCH, &look_up(1)), CacheReply::Leased);
        server.call(RANGE, EPOCH, &writer);
        assert_eq!(server.call(RANGE, EPOCH, &install(1, "old")), CacheReply::NotHeld);
        assert_eq!(server.get(RANGE, &query()), Some((EPOCH, None)));
    }
}

/// A writer loses its lease, a reader takes an I lease and reads the old row, the writer's store write lands: the
/// writer must void the I lease (P4), or the old row stays for ever (89 stale reads in the prototype).
fn reader_in_the_gap_of_a_late_writer(flaw: Option<Flaw>) -> Option<Value> {
    let mut server = server(flaw);
    server.call(RANGE, EPOCH, &look_up(1));
    server.call(RANGE, EPOCH, &install(1, "old"));
    server.call(RANGE, EPOCH, &hide(2));
    assert_eq!(server.call(RANGE, EPOCH, &look_up(3)), CacheReply::Leased);
    server.call(RANGE, EPOCH, &commit(2, "new"));
    server.call(RANGE, EPOCH, &install(3, "old"));
    server.get(RANGE, &query()).and_then(|(_, value)| value)
}

#[test]
fn a_writer_that_lost_its_lease_voids_a_newer_one() {
    assert_eq!(reader_in_the_gap_of_a_late_writer(None), None);
}

#[test]
fn without_p4_the_old_row_stays() {
    assert_eq!(reader_in_the_gap_of_a_late_writer(Some(Flaw::KeepForeignLease)), Some(value("old")));
}

#[test]
fn of_two_writers_neither_keeps_the_entry() {
    let mut server = server(None);
    server.call(RANGE, EPOCH, &look_up(1));
    server.call(RANGE, EPOCH, &install(1, "old"));
    assert_eq!(server.call(RANGE, EPOCH, &hide(2)), CacheReply::Hidden(vec![(query(), value("old"))]));
    assert_eq!(
        server.call(RANGE, EPOCH, &hide(2)),
        CacheReply::Hidden(vec![(query(), value("old"))]),
        "asked again"
    );
    assert_eq!(server.call(RANGE, EPOCH, &hide(3)), CacheReply::Hidden(vec![]));
    server.call(RANGE, EPOCH, &commit(2, "with the first write"));
    assert_eq!(server.get(RANGE, &query()), Some((EPOCH, None)));
    server.call(RANGE, EPOCH, &commit(3, "with the second"));
    assert_eq!(server.get(RANGE, &query()), Some((EPOCH, None)));
}

#[test]
fn an_old_epoch_is_refused_and_sees_nothing() {
    let mut server = server(None);
    assert_eq!(server.call(RANGE, EPOCH, &look_up(1)), CacheReply::Leased);
    assert_eq!(server.call(RANGE, Epoch(2), &CacheCall::Fence), CacheReply::Done);
    for call in [install(1, "old"), hide(2), CacheCall::Fence, look_up(3)] {
        assert_eq!(server.call(RANGE, EPOCH, &call), CacheReply::Fenced);
    }
    assert_eq!(CacheModel::new(10).call(RANGE, EPOCH, &look_up(1)), CacheReply::Fenced, "no fence at all");
}

#[test]
fn a_full_server_installs_nothing_and_deletes() {
    let mut server = CacheModel::new(0);
    server.call(RANGE, EPOCH, &CacheCall::Fence);
    server.call(RANGE, EPOCH, &look_up(1));
    assert_eq!(server.call(RANGE, EPOCH, &install(1, "x")), CacheReply::Full);
    assert_eq!(
        server.call(RANGE, EPOCH, &CacheCall::Invalidate(Session(2), vec![query()])),
        CacheReply::Done
    );
}

#[test]
fn an_evicted_lease_is_a_lost_one() {
    let mut server = server(None);
    server.call(RANGE, EPOCH, &look_up(1));
    server.evict_lease(RANGE, &query());
    assert_eq!(server.call(RANGE, EPOCH, &install(1, "old")), CacheReply::NotHeld);
    server.call(RANGE, EPOCH, &look_up(2));
    server.call(RANGE, EPOCH, &install(2, "old"));
    server.call(RANGE, EPOCH, &hide(3));
    server.evict_lease(RANGE, &query());
    assert_eq!(server.call(RANGE, EPOCH, &look_up(4)), CacheReply::Leased);
    server.call(RANGE, EPOCH, &commit(3, "new"));
    assert_eq!(server.call(RANGE, EPOCH, &install(4, "old")), CacheReply::NotHeld, "the writer came by");
}
