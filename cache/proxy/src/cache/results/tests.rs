//! Each fact of the module's page, and the race that it is about.

use super::*;
use crate::cache::span::Span;

const KEY: &[u8] = b"SELECT";

fn open() -> Results {
    let results = Results::new(1, 1 << 20);
    results.open(results.check_begins(), results.now_ms() + 60_000);
    results
}

fn at(value: i64) -> Spans {
    Span { low: value, high: value }.into()
}

fn write(low: i64) -> Touched {
    Touched { spans: vec![(0, at(low).hull())], ..Touched::default() }
}

fn fill(results: &Results, ticket: &Ticket) -> bool {
    let about = About { shape: "".into(), took: Duration::ZERO };
    results.fill(ticket, Arc::from(KEY), Arc::from(&b"reply"[..]), about)
}

fn filled() -> Results {
    let results = open();
    let ticket = results.ticket(1, 0, at(7)).unwrap();
    assert!(fill(&results, &ticket) && results.get(KEY).is_some());
    results
}

#[test]
fn a_hold_drops_and_bars() {
    let results = filled();
    let (hold, dropped) = results.hold(write(7), None);
    assert_eq!(dropped, 1);
    assert!(results.get(KEY).is_none() && results.ticket(1, 0, at(7)).is_none());
    assert!(results.ticket(1, 0, at(8)).is_some(), "another interval is free");
    assert!(!results.release(hold) && results.ticket(1, 0, at(7)).is_some());
}

/// The classic race: read old, invalidate, install old.
#[test]
fn a_read_that_a_write_overtakes_is_not_kept() {
    let results = open();
    let ticket = results.ticket(1, 0, at(7)).unwrap();
    let (hold, _) = results.hold(write(7), None);
    results.release(hold);
    assert!(!fill(&results, &ticket) && results.get(KEY).is_none());
    let ticket = results.ticket(1, 0, at(7)).unwrap();
    let (hold, _) = results.hold(write(8), None);
    results.release(hold);
    assert!(fill(&results, &ticket), "a write elsewhere does no harm");
}

#[test]
fn a_write_that_may_define_closes_until_a_check() {
    let results = filled();
    let early = results.check_begins();
    let (hold, _) = results.hold(Touched::unknown(), None);
    assert!(results.release(hold) && results.closed().is_some());
    results.open(early, results.now_ms() + 60_000);
    assert!(results.closed().is_some(), "that check began before the statement ended");
    results.open(results.check_begins(), results.now_ms() + 60_000);
    assert!(results.closed().is_none() && results.get(KEY).is_none());
}

#[test]
fn a_doubt_lasts_until_its_process_has_ended() {
    let results = filled();
    let (hold, _) = results.hold(write(7), None);
    results.doubt(hold, 42);
    assert_eq!(results.doubted(), [42]);
    results.settle(&[41]);
    assert!(results.ticket(1, 0, at(7)).is_none());
    assert!(!results.settle(&[42]), "it has defined nothing");
    assert!(results.ticket(1, 0, at(7)).is_some() && results.doubted().is_empty());
}

#[test]
fn what_holds_everything_for_longest_is_known() {
    let results = filled();
    let (interval, _) = results.hold(write(7), Some(1));
    assert_eq!(results.held(), None, "the rest is shown");
    let (first, _) = results.hold(Touched::unknown(), Some(2));
    std::thread::sleep(Duration::from_millis(5));
    let (second, _) = results.hold(Touched::unknown(), None);
    let process = || results.held().map(|held| held.process);
    assert_eq!(process(), Some(Some(2)));
    assert!(results.held().unwrap().age >= Duration::from_millis(5));
    results.doubt(first, 2);
    assert_eq!(process(), Some(Some(2)), "its end is waited for");
    assert!(results.settle(&[2]), "it may have defined something");
    assert_eq!(process(), Some(None));
    results.release(second);
    results.release(interval);
    let view = results.view(0, Some(3));
    assert_eq!(process(), Some(Some(3)), "it was understood by another reading");
    results.release(view);
    assert_eq!(results.held(), None);
}

#[test]
fn nothing_is_shown_without_a_lease() {
    let results = filled();
    let ticket = results.ticket(1, 0, at(8)).unwrap();
    results.open(results.check_begins(), 0);
    std::thread::sleep(Duration::from_millis(3));
    assert!(results.get(KEY).is_none() && results.ticket(1, 0, at(7)).is_none() && !fill(&results, &ticket));
    assert!(results.closed().unwrap().contains("lease"));
    results.open(results.check_begins(), results.now_ms() + 60_000);
    assert!(results.get(KEY).is_none(), "it begins cold");
}

#[test]
fn what_was_understood_by_an_older_reading_is_not_kept() {
    let results = filled();
    let ticket = results.ticket(1, 0, at(8)).unwrap();
    results.read_anew(2);
    assert!(results.get(KEY).is_none() && !fill(&results, &ticket));
    assert!(results.ticket(1, 0, at(7)).is_none() && results.ticket(2, 0, at(7)).is_some());
}

/// A check that begins now and finds this reading.
fn check(results: &Results, generation: u64) -> bool {
    let check = results.check_begins();
    if results.lock().generation != generation {
        results.read_anew(generation);
    }
    results.open(check, results.now_ms() + 60_000)
}

#[test]
fn a_statement_that_definitions_overtake_holds_everything() {
    let results = filled();
    let view = results.view(1, None);
    assert!(results.is_clear(view) && results.get(KEY).is_some(), "nothing is defined");
    let (define, _) = results.hold(Touched::unknown(), None);
    assert!(results.release(define));
    check(&results, 2);
    assert!(results.ticket(2, 0, at(7)).is_none(), "it may fire what was defined, and commit now");
    assert!(!results.is_clear(view) && results.release(view), "it may define, too");
    assert!(!check(&results, 2) && results.ticket(2, 0, at(7)).is_some());
}

#[test]
fn a_statement_between_a_definition_and_its_reading_holds_everything() {
    let results = filled();
    let (define, _) = results.hold(Touched::unknown(), None);
    let early = results.view(1, None);
    results.release(define);
    let late = results.view(1, None);
    assert!(!results.is_clear(early) && !results.is_clear(late));
    // Nothing was defined.
    assert!(!check(&results, 1) && results.is_clear(early) && results.is_clear(late));
    assert!(!results.release(early) && results.ticket(1, 0, at(7)).is_some());
    assert!(!results.is_clear(results.view(0, None)), "it was understood by another reading");
}

#[test]
fn a_statement_that_ends_before_the_reading_may_have_changed_it() {
    let results = filled();
    let (define, _) = results.hold(Touched::unknown(), None);
    let view = results.view(1, None);
    results.release(define);
    let begun = results.check_begins();
    assert!(!results.is_clear(view) && !results.release(view));
    results.read_anew(2);
    assert!(results.open(begun, results.now_ms() + 60_000) && results.closed().is_some());
    assert!(!results.is_clear(results.view(2, None)), "the reading is not the last one");
    assert!(!check(&results, 2) && results.closed().is_none() && results.is_clear(results.view(2, None)));
}

/// Statements that come all the time do not keep the cache closed.
#[test]
fn doubts_end_with_the_second_reading() {
    let results = filled();
    let (define, _) = results.hold(Touched::unknown(), None);
    let mut view = results.view(1, None);
    results.release(define);
    for generation in [2, 2, 2] {
        let reading = results.lock().generation;
        let next = results.view(reading, None);
        results.release(view);
        view = next;
        check(&results, generation);
    }
    results.release(view);
    check(&results, 2);
    assert!(results.is_clear(results.view(2, None)) && results.ticket(2, 0, at(7)).is_some());
}

#[test]
fn a_closed_cache_is_empty() {
    let results = filled();
    let ticket = results.ticket(1, 0, at(8)).unwrap();
    results.close("a role may write");
    results.open(results.check_begins(), results.now_ms() + 60_000);
    assert!(results.get(KEY).is_none() && !fill(&results, &ticket) && results.size() == (0, 0));
}

#[test]
fn dropped_entries_are_freed_after_the_lock() {
    let results = filled();
    let (reply, _) = results.get(KEY).unwrap();
    let mut state = results.lock();
    state.clear();
    assert_eq!((state.entries.len(), Arc::strong_count(&reply)), (0, 2));
    drop(state);
    assert_eq!(Arc::strong_count(&reply), 1);
}

/// What the server says while a write is under way may be either state.
#[test]
fn a_watch_ends_with_a_write_to_its_interval() {
    let results = filled();
    let watch = || results.watch(KEY).unwrap().watched;
    let (untouched, touched) = (watch(), watch());
    let (elsewhere, _) = results.hold(write(8), None);
    assert!(results.was_untouched(&untouched) && !results.was_untouched(&untouched), "it has ended");
    let (hold, _) = results.hold(write(7), None);
    assert!(results.watch(KEY).is_none(), "nothing would be shown");
    results.release(hold);
    results.release(elsewhere);
    assert!(!results.was_untouched(&touched), "the write began and ended meanwhile");
    for ends in [
        |results: &Results| _ = results.release(results.hold(Touched::unknown(), None).0),
        Results::distrust,
        |results: &Results| results.read_anew(2),
        |results: &Results| results.close("a role may write"),
        |results: &Results| _ = results.view(0, None),
    ] {
        let results = filled();
        let watched = results.watch(KEY).unwrap().watched;
        ends(&results);
        results.open(results.check_begins(), results.now_ms() + 60_000);
        assert!(!results.was_untouched(&watched));
    }
}

#[test]
fn a_walk_passes_every_entry_once() {
    let results = Results::new(1, 64 << 20);
    results.open(results.check_begins(), results.now_ms() + 60_000);
    let add = |number: i64| {
        let ticket = results.ticket(1, 0, at(number)).unwrap();
        let about = About { shape: "".into(), took: Duration::ZERO };
        assert!(results.fill(&ticket, Arc::from(number.to_be_bytes()), Arc::from(&b"reply"[..]), about));
    };
    for count in [0, 1, 1_024, 1_025, 5_000] {
        results.read_anew(1);
        (0..count).for_each(add);
        let mut found = Vec::new();
        results.walk(|entry| found.push(entry.spans.hull().low));
        assert_eq!(found, (0..count).collect::<Vec<_>>());
    }
    // Entries come and go meanwhile.
    let mut found = Vec::new();
    results.walk(|entry| {
        if found.is_empty() {
            add(5_000);
            results.release(results.hold(write(4_000), None).0);
        }
        found.push(entry.spans.hull().low);
    });
    assert!(found.is_sorted() && found.len() == 5_000 && !found.contains(&4_000));
}

#[test]
fn a_renewed_lease_shows_for_longer_what_is_shown() {
    let results = Results::new(1, 1 << 20);
    let until = results.now_ms() + 50;
    results.open(results.check_begins(), until);
    results.stay_open(until - 40);
    results.stay_open(until + 60_000);
    std::thread::sleep(Duration::from_millis(80));
    assert_eq!(results.closed(), None);
    let results = Results::new(1, 1 << 20);
    results.open(results.check_begins(), results.now_ms() + 20);
    std::thread::sleep(Duration::from_millis(60));
    results.stay_open(results.now_ms() + 60_000);
    assert!(results.closed().is_some(), "another may have had the table meanwhile");
}
