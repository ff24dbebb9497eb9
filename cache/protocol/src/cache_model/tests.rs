//! The rules of leases, and the races that they prevent.

use super::*;
use crate::call::{Change, Edit, Edited, Piece};
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

fn patch(session: u64, text: &str) -> CacheCall {
    edit(session, Edit { pieces: pieces(text, None), ..Edit::default() })
}

fn pieces(text: &str, place: Option<usize>) -> Vec<Piece> {
    vec![Piece { bytes: text.as_bytes().into(), place }]
}

/// The reply to an edit of a value whose last change was not the expected one, and which has this length now.
fn appended(len: usize) -> CacheReply {
    CacheReply::Patched(vec![(query(), Edited { is_as_expected: false, len: Some(len) })])
}

fn edit(session: u64, edit: Edit) -> CacheCall {
    CacheCall::Patch(Session(session), vec![(query(), Change::Edit(edit))])
}

fn show(session: u64, is_hidden: bool) -> CacheCall {
    edit(session, Edit { is_hidden, ..Edit::default() })
}

fn installed(flaw: Option<Flaw>) -> CacheModel {
    let mut server = server(flaw);
    server.call(RANGE, EPOCH, &look_up(1));
    server.call(RANGE, EPOCH, &install(1, "old"));
    server
}

fn shown(server: &CacheModel) -> Option<Value> {
    server.get(RANGE, &query()).and_then(|(_, value)| value)
}

#[test]
fn a_writer_voids_an_install() {
    let hide = CacheCall::Hide(Session(2), vec![query()]);
    for writer in [CacheCall::Invalidate(Session(2), vec![query()]), patch(2, "x"), hide] {
        let mut server = server(None);
        assert_eq!(server.call(RANGE, EPOCH, &look_up(1)), CacheReply::Leased);
        server.call(RANGE, EPOCH, &writer);
        assert_eq!(server.call(RANGE, EPOCH, &install(1, "old")), CacheReply::NotHeld);
        assert_eq!(server.get(RANGE, &query()), Some((EPOCH, None)));
    }
}

/// A reader reads the old row and its installation is late; a writer changes the entries: unless it voids the I lease
/// (P4), the old row stays for ever.
fn reader_before_a_writer(flaw: Option<Flaw>) -> Option<Value> {
    let mut server = server(flaw);
    server.call(RANGE, EPOCH, &look_up(1));
    server.call(RANGE, EPOCH, &patch(2, "new"));
    server.call(RANGE, EPOCH, &install(1, "old"));
    shown(&server)
}

#[test]
fn a_late_installation_finds_its_lease_gone() {
    assert_eq!(reader_before_a_writer(None), None);
}

#[test]
fn without_p4_the_old_row_stays() {
    assert_eq!(reader_before_a_writer(Some(Flaw::KeepForeignLease)), Some(value("old")));
}

#[test]
fn a_change_that_comes_again_or_late_is_not_made() {
    let mut server = installed(None);
    assert_eq!(server.call(RANGE, EPOCH, &patch(2, "+2")), appended(5));
    assert_eq!(server.call(RANGE, EPOCH, &patch(2, "+2")), CacheReply::Patched(Vec::new()));
    server.call(RANGE, EPOCH, &patch(4, "+4"));
    server.call(RANGE, EPOCH, &patch(3, "+3"));
    server.call(RANGE, EPOCH, &show(3, true));
    assert_eq!(shown(&server), Some(value("old+2+4")));
    let mut server = installed(Some(Flaw::RepeatPatch));
    (0..2).for_each(|_| drop(server.call(RANGE, EPOCH, &patch(2, "+2"))));
    assert_eq!(shown(&server), Some(value("old+2+2")));
}

#[test]
fn a_hidden_value_is_changed_and_seen_when_it_is_shown() {
    let mut server = installed(None);
    server.call(RANGE, EPOCH, &show(2, true));
    assert_eq!(shown(&server), None);
    server.call(
        RANGE,
        EPOCH,
        &edit(3, Edit { pieces: pieces("+3", None), is_hidden: true, ..Edit::default() }),
    );
    assert_eq!(shown(&server), None);
    server.call(RANGE, EPOCH, &show(4, false));
    assert_eq!(shown(&server), Some(value("old+3")));
    server.call(RANGE, EPOCH, &CacheCall::Hide(Session(6), vec![query()]));
    assert_eq!(shown(&server), None);
    server.call(RANGE, EPOCH, &patch(6, "+6"));
    server.call(RANGE, EPOCH, &CacheCall::Hide(Session(6), vec![query()]));
    assert_eq!(shown(&server), Some(value("old+3+6")), "a late call changes nothing");
}

#[test]
fn a_compacted_value_replaces_that_of_its_session_alone() {
    let compact = |last| Edit { compacted: Some((Session(last), value("short"))), ..Edit::default() };
    let mut server = installed(None);
    server.call(RANGE, EPOCH, &patch(2, "+2"));
    server.call(RANGE, EPOCH, &edit(3, compact(1)));
    assert_eq!(shown(&server), Some(value("old+2")), "it has changed since");
    server.call(
        RANGE,
        EPOCH,
        &edit(4, Edit { pieces: pieces("+4", Some(0)), expected: Some(Session(3)), ..compact(3) }),
    );
    assert_eq!(shown(&server), Some(value("short+4")), "the change before was of this session");
}

#[test]
fn a_piece_takes_a_place_in_the_value_of_its_session_alone() {
    let replace =
        |last| Edit { expected: Some(Session(last)), pieces: pieces("+3", Some(3)), ..Edit::default() };
    let edited = |flaw, last| {
        let mut server = installed(flaw);
        server.call(RANGE, EPOCH, &patch(2, "+2"));
        let reply = server.call(RANGE, EPOCH, &edit(3, replace(last)));
        (reply, shown(&server).unwrap())
    };
    let as_expected = Edited { is_as_expected: true, len: None };
    assert_eq!(edited(None, 2), (CacheReply::Patched(vec![(query(), as_expected)]), value("old+3")));
    assert_eq!(edited(None, 1), (appended(7), value("old+2+3")), "it has changed since");
    assert_eq!(edited(Some(Flaw::PatchAnywhere), 1).1, value("old+3"));
    let beyond = Edit { pieces: pieces("+3", Some(4)), ..replace(2) };
    let mut server = installed(None);
    server.call(RANGE, EPOCH, &patch(2, "+2"));
    server.call(RANGE, EPOCH, &edit(3, beyond));
    assert_eq!(shown(&server), Some(value("old+2+3")), "no place of the value");
}

#[test]
fn a_deleted_value_stays_away() {
    let mut server = installed(None);
    server.call(RANGE, EPOCH, &CacheCall::Patch(Session(2), vec![(query(), Change::Drop)]));
    server.call(RANGE, EPOCH, &patch(3, "+3"));
    assert_eq!(shown(&server), None);
}

#[test]
fn an_old_epoch_is_refused_and_sees_nothing() {
    let mut server = server(None);
    assert_eq!(server.call(RANGE, EPOCH, &look_up(1)), CacheReply::Leased);
    assert_eq!(server.call(RANGE, Epoch(2), &CacheCall::Fence), CacheReply::Done);
    for call in [install(1, "old"), patch(2, "x"), CacheCall::Fence, look_up(3)] {
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
}
