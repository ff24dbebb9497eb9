//! Inputs on which published range filters lose keys, read out of bounds or hang; ours pass each.
//!
//! The sets come from tests of ten public filters: false negatives across block borders of small filters, in the last
//! bucket of an Elias-Fano sequence, among keys that share a prefix, on dense runs, in learned models; global state
//! shared by two filters; queries that write.

use lacuna_base::DynFilter;
use lacuna_workload::Rng;

use super::probe::Probe;
use crate::space::uniform_keys;
use crate::verdict::{ensure, without_panic};
use crate::{Oracle, Subject, TestSpace, Verdict, effort};

/// Random streams of the checks below.
const STREAM: u64 = 0x400;

/// Builds `keys`, asks for every key and for `ranges` ranges of each width in `widths` around random keys.
fn ask<K: TestSpace + ?Sized>(
    subject: &Subject<K>,
    numbers: Vec<u64>,
    (bits, seed): (f64, u64),
    (widths, ranges): (&[u64], usize),
) -> Verdict {
    let mut rng = Rng::with_stream(seed, STREAM);
    let oracle = Oracle::<K>::new(numbers.iter().copied().map(K::number).collect());
    let place = format!("{} with {} keys at {bits} bits per key, seed {seed}", subject.text(), oracle.len());
    let checked = without_panic(&place, || {
        let filter = subject.filter(oracle.sorted(), bits, seed)?;
        let probe = Probe::new(&*filter, &oracle, &place);
        probe.every_key()?;
        for width in widths {
            for _ in 0..ranges {
                let lo = numbers[rng.index(numbers.len())].saturating_sub(rng.below(*width));
                probe.between(&K::number(lo), &K::number(lo.saturating_add(width - 1)))?;
            }
        }
        Ok(())
    });
    checked.flatten()
}

fn uniform(rng: &mut Rng, count: usize) -> Vec<u64> {
    (0..count).map(|_| rng.next_u64()).collect()
}

/// Small filters (100 to 10,000 keys, 6 to 14 bits) find ranges of width 2^10 to 2^56, which leave a block.
///
/// # Errors
/// A fault if a range with a key is denied.
pub fn small_filters_find_ranges_across_blocks<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    let widths = [10, 16, 24, 30, 38, 46, 56].map(|bits| 1 << bits);
    for (count, bits) in
        [100, 1_000, 10_000].into_iter().flat_map(|count| [10.0, 14.0].map(|bits| (count, bits)))
    {
        for seed in 0..effort::short_or_long(4, 40) {
            let keys = uniform(&mut Rng::with_stream(effort::seed(), STREAM + seed), count);
            ask(subject, keys, (bits, seed), (&widths, 1_500))?;
        }
    }
    Ok(())
}

/// Many small filters find each of their own keys, also in the last bucket.
///
/// # Errors
/// A fault if a key is denied.
pub fn small_filters_find_their_own_keys<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    for (count, filters) in [(100, 400), (1_000, 60), (10_000, 8)] {
        for round in 0..filters * effort::short_or_long(1, 10) {
            let bits = [6.0, 8.0, 10.0, 14.0][usize::try_from(round % 4).expect("below 4")];
            let keys = uniform(&mut Rng::with_stream(effort::seed(), STREAM + 1_000 + round), count);
            ask(subject, keys, (bits, round), (&[], 0))?;
        }
    }
    Ok(())
}

/// 200,000 keys without a gap are found at 10 and 14 bits, as points and in ranges of 4 and 32.
///
/// # Errors
/// A fault if a key is denied.
pub fn many_dense_keys_are_found<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    [10.0, 14.0]
        .into_iter()
        .try_for_each(|bits| ask(subject, (1_000..201_000).collect(), (bits, 3), (&[4, 32], 50_000)))
}

/// 188,000 random keys in a window of 1,600,000 are found: most share a prefix with others.
///
/// # Errors
/// A fault if a key is denied.
pub fn crowded_keys_are_found<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    let mut rng = effort::rng(STREAM + 2_000);
    let keys: Vec<u64> = (0..188_000).map(|_| (1 << 50) + rng.below(1_600_000)).collect();
    ask(subject, keys, (10.0, 4), (&[4, 32, 1_024], 20_000))
}

/// A million uniform keys (ten million in a long run) are found at 8 bits, and so are non-empty ranges.
///
/// # Errors
/// A fault if a key is denied.
pub fn a_million_keys_are_found<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    let keys = uniform(&mut effort::rng(STREAM + 2_001), effort::short_or_long(1_000_000, 10_000_000));
    ask(subject, keys, (8.0, 5), (&[32, 1 << 10, 1 << 20], 50_000))
}

/// Keys whose low ten bits are zero, in loose clusters, are found at 10 bits.
///
/// # Errors
/// A fault if a key is denied.
pub fn keys_with_zero_low_bits_are_found<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    let mut rng = effort::rng(STREAM + 2_002);
    let bell = |rng: &mut Rng| (0..8).map(|_| (rng.next_u64() >> 4) & !1023).sum::<u64>();
    let keys = (0..100_000).map(|_| bell(&mut rng)).collect();
    ask(subject, keys, (10.0, 6), (&[32, 1 << 12], 30_000))
}

/// Two filters of one family answer as each would alone.
///
/// # Errors
/// A fault if asking one changes the other.
pub fn two_filters_do_not_disturb_each_other<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    let mut rng = effort::rng(STREAM + 2_003);
    let sets = [0, 1].map(|_| Oracle::<K>::new(uniform_keys::<K>(&mut rng, 2_000)));
    let queries = uniform_keys::<K>(&mut rng, 5_000);
    let answers = |filter: &DynFilter<K>| {
        queries.iter().map(|key| filter.may_contain(K::borrow(key))).collect::<Vec<_>>()
    };
    let alone = answers(&*subject.filter(sets[0].sorted(), 8.0, 1)?);
    let (one, other) = (subject.filter(sets[0].sorted(), 8.0, 1)?, subject.filter(sets[1].sorted(), 8.0, 2)?);
    for (key, expected) in queries.iter().zip(alone) {
        let _ = other.may_contain(K::borrow(key));
        let same = one.may_contain(K::borrow(key)) == expected;
        ensure(same, || format!("{}: {key:?} is answered otherwise beside a second filter", subject.text()))?;
    }
    Probe::new(&*one, &sets[0], &"beside a second filter").every_key()?;
    Probe::new(&*other, &sets[1], &"beside a first filter").every_key()
}

/// Four threads that ask one filter at once get the answers that one gets.
///
/// # Errors
/// A fault if any answer differs.
pub fn threads_get_the_same_answers<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    let mut rng = effort::rng(STREAM + 2_004);
    let oracle = Oracle::<K>::new(uniform_keys::<K>(&mut rng, 3_000));
    let mut queries = uniform_keys::<K>(&mut rng, 10_000);
    queries.extend(oracle.keys().iter().cloned());
    let filter = subject.filter(oracle.sorted(), 6.5, 1)?;
    let answers = || queries.iter().map(|key| filter.may_contain(K::borrow(key))).collect::<Vec<_>>();
    let alone = answers();
    let same = std::thread::scope(|scope| {
        let threads = [0; 4].map(|_| scope.spawn(answers));
        threads.into_iter().all(|thread| thread.join().is_ok_and(|answers| answers == alone))
    });
    ensure(same, || format!("{}: threads get other answers than one thread alone", subject.text()))
}
