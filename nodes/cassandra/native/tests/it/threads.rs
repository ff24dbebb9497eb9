//! Threads that write, carry and look at the same time.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use lacuna_cassandra::Hub;

use crate::pair::{IDS, MAY_BE_LIVE, SAFE, TABLE, carry, decide, decide_by, exchange, hub, hubs, id};

/// A reader that has seen a key and no flag: the holder of the lease knows the key.
#[test]
fn a_reader_without_the_lock_shows_nothing_new() {
    const NEW: u64 = 2_000;
    let hubs = hubs(SAFE);
    for now in [0, 1_000, 2_000, 6_000] {
        exchange(&hubs, now);
    }
    let (visible, is_done) = (AtomicU64::new(1_000), AtomicBool::new(false));
    let (mut shown, mut held) = (0, 0);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for key in 1_001..1_001 + NEW {
                hubs[1].write(SAFE, TABLE, id(key), None, 6_001);
                visible.store(key, Ordering::Release);
                // So that the flag is lowered, too.
                while key % 8 == 0 && hubs[1].news().is_raised() {
                    std::thread::yield_now();
                }
            }
            is_done.store(true, Ordering::Release);
        });
        threads.spawn(|| {
            while !is_done.load(Ordering::Acquire) {
                hubs[1].with_all(|node| node.flush(6_001));
                carry(&hubs, 6_001);
            }
        });
        while !is_done.load(Ordering::Acquire) {
            let key = visible.load(Ordering::Acquire);
            if key == 1_000 || hubs[1].news().is_raised() {
                held += 1;
            } else {
                shown += 1;
                assert_ne!(decide(&hubs, SAFE, 6_001, key), 0, "key {key}");
            }
        }
    });
    assert!(shown > 0 && held > 0, "{shown} shown, {held} held");
}

/// What two threads have met that ask for keys whose writes were acknowledged, while deltas arrive.
struct Race {
    decided: u64,
    denied: Vec<u64>,
}

/// With `is_late` they ask a hub that gets each frame for the first one long after it: as if decisions were made by a state that is
/// published after it was confirmed.
fn race(is_late: bool) -> Race {
    const NEW: u64 = 2_000;
    const ROUNDS: u64 = 50;
    const NOW: u64 = 6_001;
    let (hubs, twin) = (hubs(SAFE), hub(SAFE, IDS[0]));
    for now in [0, 1_000, 2_000, 6_000] {
        for hub in [&twin, &hubs[0], &hubs[1]] {
            assert_eq!(hub.tick(now), 0);
        }
        carry_to_both(&hubs, now, |frame| {
            twin.receive(SAFE, now, IDS[1], &frame);
        });
        while twin.take(1 << 20).unwrap().is_some() {}
    }
    let answer = |key| decide_by(&twin, SAFE, NOW, key);
    assert!(
        answer(5) == MAY_BE_LIVE && (1_001..1_101).any(|key| answer(key) == 0),
        "it has what the first has"
    );
    let (acknowledged, is_done) = (AtomicU64::new(0), AtomicBool::new(false));
    let asked = if is_late { &twin } else { &hubs[0] };
    let ask = || {
        let mut race = Race { decided: 0, denied: Vec::new() };
        while !is_done.load(Ordering::Acquire) {
            let key = acknowledged.load(Ordering::Acquire);
            if key > 0 {
                race.decided += 1;
                race.denied.extend((decide_by(asked, SAFE, NOW, key) == 0).then_some(key));
            }
        }
        race
    };
    let carry_away = || {
        let mut under_way = VecDeque::new();
        for round in 0.. {
            if is_done.load(Ordering::Acquire) {
                return;
            }
            hubs[1].with_all(|node| node.flush(NOW));
            carry_to_both(&hubs, NOW, |frame| under_way.push_back((round, frame)));
            while under_way.front().is_some_and(|(sent, _)| sent + ROUNDS <= round) {
                let (_, frame) = under_way.pop_front().unwrap();
                twin.receive(SAFE, NOW, IDS[1], &frame);
            }
        }
    };
    std::thread::scope(|threads| {
        let asking = [threads.spawn(ask), threads.spawn(ask)];
        threads.spawn(carry_away);
        for key in 1_001..1_001 + NEW {
            hubs[1].write(SAFE, TABLE, id(key), None, NOW);
            while hubs[1].hold_key(TABLE, id(key), NOW) != 0 {
                std::thread::yield_now();
            }
            acknowledged.store(key, Ordering::Release);
        }
        is_done.store(true, Ordering::Release);
        let [one, other] = asking.map(|thread| thread.join().unwrap());
        Race { decided: one.decided + other.decided, denied: [one.denied, other.denied].concat() }
    })
}

/// Carries what there is between the two, one way and the other, and shows each frame for the first one.
fn carry_to_both(hubs: &[Hub; 2], now: u64, mut show: impl FnMut(Vec<u8>)) {
    let mut is_quiet = false;
    while !is_quiet {
        is_quiet = true;
        for (at, hub) in hubs.iter().enumerate() {
            while let Some((mode, _, frame)) = hub.take(1 << 20).unwrap() {
                is_quiet = false;
                hubs[1 - at].receive(i64::from(mode), now, IDS[at], &frame);
                if at == 1 && i64::from(mode) == SAFE {
                    show(frame);
                }
            }
        }
    }
}

/// Many decide while one applies: a decision that begins after an acknowledgement is by a state that has the write.
#[test]
fn no_decision_is_by_an_older_state_than_was_confirmed() {
    let Race { decided, denied } = race(false);
    assert!(denied.is_empty(), "{} of {decided} decisions, of keys {denied:?}", denied.len());
    assert!(decided > 100, "{decided}");
}

/// The control of the test before.
#[test]
fn decisions_by_an_older_state_are_found() {
    assert!((0..20).any(|_| !race(true).denied.is_empty()));
}

/// While one looks, for as long as it likes, others do. The test would wait for ever otherwise, so it has a limit.
#[test]
fn those_that_look_wait_for_none_that_looks() {
    let hubs: &'static [Hub; 2] = Box::leak(Box::new(hubs(SAFE)));
    for now in [0, 1_000, 2_000, 6_000] {
        exchange(hubs, now);
    }
    let (sender, answers) = channel();
    let looks = move || {
        let question = [0, 9, 3, 1, 1, 2, 0, 0, 0, 0, 1, 0, 1];
        let numbers = [
            decide(hubs, SAFE, 6_001, 5),
            hubs[0].may_reveal(SAFE, TABLE, id(5), 6_001),
            hubs[0].hold(6_001),
            hubs[0].hold_key(TABLE, id(5), 6_001),
            hubs[0].own_water_mark(SAFE, TABLE, id(5), 0),
            hubs[0].water_mark(SAFE, 6_001, &question, 0).0,
            i64::from(hubs[0].take(1 << 20).unwrap().is_some()),
            // A file is read before its table is looked for.
            hubs[0].restore(SAFE, TABLE, b"no filter", true),
        ];
        sender.send(numbers).unwrap();
    };
    let mut numbers = None;
    hubs[0].read(SAFE, |_| {
        std::thread::spawn(looks);
        numbers = answers.recv_timeout(Duration::from_secs(60)).ok();
        0
    });
    assert_eq!(numbers, Some([MAY_BE_LIVE, 1, 0, 0, -1, i64::MAX, 0, 0]), "none if they wait");
}
