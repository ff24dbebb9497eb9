use lacuna_testkit::effort;

use super::*;
use crate::call::{Change, Edit, Edited, Piece};
use crate::interval::Interval;
use crate::log::LogRecord;
use crate::message::{Session, Value};

fn query(number: u64) -> Query {
    Query::all(0, Interval::point(number.into()))
}

fn record() -> LogRecord {
    LogRecord { lsn: 1, domain: 0, interval: Interval::all(), key: None }
}

/// A script over a few entries, with sessions that overtake each other.
fn some_script(rng: &mut lacuna_workload::Rng, number: u64) -> CacheCall {
    let session = Session((number / 8).saturating_sub(rng.below(8) / 7));
    let some = query(rng.below(3));
    let value = Value::new(&number.to_le_bytes());
    match rng.below(13) {
        12 => CacheCall::Gather(session, vec![some, query(1)], vec![query(2)]),
        0..=3 => CacheCall::Lookup(some, session),
        4..=6 => CacheCall::Install(some, session, value, record()),
        7 => CacheCall::Invalidate(session, vec![some, query(0)]),
        8 => CacheCall::Hide(session, vec![some, query(1)]),
        _ => CacheCall::Patch(session, vec![(some, some_change(rng, session)), (query(1), Change::Drop)]),
    }
}

fn some_change(rng: &mut lacuna_workload::Rng, session: Session) -> Change {
    let compacted = (rng.below(3) == 0).then(|| (Session(session.0 - rng.below(2)), Value::new(b"short")));
    let expected = Some(Session(session.0.saturating_sub(rng.below(3))));
    let piece = |rng: &mut lacuna_workload::Rng| Piece {
        bytes: vec![7; 1 + rng.index(3)].into(),
        place: (rng.below(2) == 0).then(|| rng.index(12)),
    };
    let pieces = (0..rng.below(3)).map(|_| piece(rng)).collect();
    Change::Edit(Edit { compacted, expected, pieces, is_hidden: rng.below(3) == 0 })
}

#[test]
fn scripts_do_what_they_do_in_the_model() {
    let (cache, mut model) = (MemoryCache::new(1 << 20), crate::CacheModel::new(100));
    let mut rng = effort::rng(71);
    let (range, mut epoch) = (RangeId(3), Epoch(1));
    let mut found = 0;
    for number in 1..=200_000 {
        let mut call = some_script(&mut rng, number);
        if rng.below(2_000) == 0 {
            epoch = Epoch(epoch.0 + rng.below(2));
            call = CacheCall::Fence;
        }
        let spoken = if rng.below(50) == 0 { Epoch(epoch.0 - 1) } else { epoch };
        let expected = model.call(range, spoken, &call);
        assert_eq!(cache.run(range, spoken, call.clone()), expected, "step {number}: {call:?}");
        let seen = cache.see(range, &query(0)).map(|seen| (seen.fence, seen.value));
        assert_eq!(seen, model.get(range, &query(0)), "step {number}: {call:?}");
        found += u64::from(seen.is_some_and(|(_, value)| value.is_some()));
        let both = [query(1), query(0)];
        let together = cache.see_together(range, &both).map(|seen| (seen.fence, seen.values));
        assert_eq!(together, model.get_together(range, &both), "step {number}: {call:?}");
    }
    assert!(found > 10_000, "values were seen: {found}");
}

fn install(cache: &MemoryCache, number: u64, bytes: usize) -> CacheReply {
    let session = Session(number);
    cache.run(RangeId(0), Epoch(1), CacheCall::Lookup(query(number), session));
    let value = Value::new(&vec![7; bytes]);
    cache.run(RangeId(0), Epoch(1), CacheCall::Install(query(number), session, value, record()))
}

#[test]
fn the_limit_of_bytes_is_kept_and_used_entries_stay() {
    let cache = MemoryCache::new(100_000);
    cache.run(RangeId(0), Epoch(1), CacheCall::Fence);
    assert_eq!(install(&cache, 1, 1_000), CacheReply::Done);
    for number in 2..2_000 {
        assert_eq!(install(&cache, number, 1_000), CacheReply::Done);
        assert!(cache.bytes() <= 100_000);
        assert!(cache.see(RangeId(0), &query(1)).unwrap().value.is_some(), "read each round: {number}");
    }
    assert!(cache.see(RangeId(0), &query(2)).unwrap().value.is_none(), "never read again");
    assert_eq!(install(&cache, 5_000, 200_000), CacheReply::Full);
}

#[test]
fn what_is_added_to_a_value_counts_and_a_new_epoch_frees_all() {
    let cache = MemoryCache::new(10_000);
    cache.run(RangeId(0), Epoch(1), CacheCall::Fence);
    install(&cache, 1, 100);
    let before = cache.bytes();
    let pieces = vec![Piece { bytes: vec![8; 50].into(), place: None }];
    let edit = Edit { pieces, ..Edit::default() };
    let patch = CacheCall::Patch(Session(10), vec![(query(1), Change::Edit(edit))]);
    let edited = Edited { is_as_expected: false, len: Some(150) };
    assert_eq!(cache.run(RangeId(0), Epoch(1), patch), CacheReply::Patched(vec![(query(1), edited)]));

    assert_eq!(cache.bytes(), before + 50);
    (20..200).for_each(|number| drop(install(&cache, number, 500)));
    assert!(cache.bytes() <= 10_000);
    cache.run(RangeId(0), Epoch(2), CacheCall::Fence);
    assert_eq!(cache.bytes(), 0);
}

#[test]
fn without_room_every_question_is_a_miss() {
    let cache = MemoryCache::new(0);
    cache.run(RangeId(0), Epoch(1), CacheCall::Fence);
    assert_eq!(install(&cache, 1, 10), CacheReply::Full);
    assert_eq!(cache.see(RangeId(0), &query(1)), Some(Seen { fence: Epoch(1), value: None }));
}
