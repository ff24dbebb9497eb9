//! Edge cases: no key, one key, the rims of the space, repeats, dense runs, wrong input, inverted and huge ranges.

use std::ops::Bound::{Excluded, Included, Unbounded};

use lacuna_base::{DynFilter, ErrorKind, Result, Sealed, SortedKeys};

use super::SMALL_BUDGETS;
use super::probe::Probe;
use crate::subject::plan;
use crate::verdict::{ensure, without_panic};
use crate::{Fault, Oracle, Subject, TestSpace, Verdict, effort};

/// Random streams of the checks below.
const STREAM: u64 = 0x300;

/// Builds every spec over `keys` at every small budget and hands it to `check`; a panic is a fault.
fn over<K: TestSpace + ?Sized>(
    subject: &Subject<K>,
    keys: Vec<K::Owned>,
    check: impl Fn(&Probe<'_, K>, &DynFilter<K>) -> Verdict,
) -> Verdict {
    let oracle = Oracle::<K>::new(keys);
    for text in subject.all_texts() {
        for bits in SMALL_BUDGETS {
            let place = format!("{text} at {bits} bits per key");
            let checked = without_panic(&place, || {
                let sealed = crate::seal_or_coarsen(&*subject.spec(text)?, oracle.sorted(), bits, 5)?;
                let filter = subject.open(sealed)?;
                check(&Probe::new(&*filter, &oracle, &place), &*filter)
            });
            checked.flatten()?;
        }
    }
    Ok(())
}

fn found<K: TestSpace + ?Sized>(subject: &Subject<K>, keys: Vec<K::Owned>) -> Verdict {
    over(subject, keys, |probe, _| probe.everything_near(50))
}

/// The empty set denies every key and every range, the whole space included.
///
/// # Errors
/// A fault if it answers "maybe" or panics.
pub fn the_empty_set_denies_everything<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    over(subject, Vec::new(), |probe, filter| {
        probe.everything_near(1)?;
        let (low, high) = (K::smallest(), K::largest());
        let mut maybes = vec![filter.may_contain_bounds(Unbounded, Unbounded)];
        for key in [&low, &K::number(42), &high].map(K::borrow) {
            maybes.push(filter.may_contain(key));
            maybes.push(filter.may_contain_bounds(Included(key), Unbounded));
            maybes.push(filter.may_contain_bounds(Unbounded, Included(key)));
        }
        let asked =
            K::range(Included(K::borrow(&low)), Included(K::borrow(&high))).expect("smallest to largest");
        maybes.push(filter.may_contain_range(asked));
        let mut answers = [true; 3];
        filter.may_contain_ranges(&[asked; 3], &mut answers);
        maybes.extend(answers);
        answers.fill(true);
        filter.may_contain_pairs(&[K::borrow(&low); 3], &[K::borrow(&high); 3], &mut answers);
        maybes.extend(answers);
        ensure(!maybes.contains(&true), || {
            format!("{}: the empty set answers `maybe`: {maybes:?}", subject.text())
        })
    })
}

/// One key is found, with everything around it.
///
/// # Errors
/// A fault if it is denied.
pub fn one_key_is_found<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    [1, 42, 1 << 20, (1 << 32) - 1, 1 << 63]
        .into_iter()
        .try_for_each(|key| found(subject, vec![K::number(key)]))
}

/// The smallest key, alone, is found.
///
/// # Errors
/// A fault if it is denied.
pub fn the_smallest_key_alone_is_found<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    found(subject, vec![K::smallest()])?;
    found(subject, vec![K::number(0)])
}

/// The largest key, alone, is found; so is one of eight 0xFF bytes.
///
/// # Errors
/// A fault if it is denied.
pub fn the_largest_key_alone_is_found<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    found(subject, vec![K::largest()])?;
    found(subject, vec![K::number(u64::MAX)])
}

/// Smallest and largest key are found, alone and around 20,000 others.
///
/// # Errors
/// A fault if a key is denied.
pub fn both_rims_are_found<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    let rims = vec![K::smallest(), K::number(0), K::number(u64::MAX), K::largest()];
    found(subject, vec![K::smallest(), K::largest()])?;
    let mut keys = crate::space::uniform_keys::<K>(&mut effort::rng(STREAM), 20_000);
    keys.extend(rims);
    found(subject, keys)
}

/// Keys 1000 to 20999 without a gap are found.
///
/// # Errors
/// A fault if a key is denied.
pub fn a_dense_run_is_found<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    found(subject, (1_000..21_000).map(K::number).collect())
}

/// Builds through a builder, key by key.
pub(crate) fn one_by_one<'a, K: TestSpace + ?Sized>(
    subject: &Subject<K>,
    keys: impl IntoIterator<Item = &'a K::Owned>,
    bits_per_key: f64,
) -> Result<Result<Sealed>, Fault>
where
    K::Owned: 'a,
{
    let spec = subject.spec(subject.text())?;
    let build = || {
        let mut builder = spec.builder(&plan(bits_per_key)?.with_seed(5))?;
        for key in keys {
            builder.add(K::borrow(key))?;
        }
        builder.finish()
    };
    Ok(build())
}

/// A key added three or 20,000 times counts once, and the bytes are those of the distinct keys.
///
/// # Errors
/// A fault if repeats change the bytes, the count or an answer.
pub fn repeated_keys_count_once<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    let distinct = crate::space::uniform_keys::<K>(&mut effort::rng(STREAM + 1), 2_000);
    for (copies, keys) in [(3, distinct), (20_000, vec![K::number(77)])] {
        let oracle = Oracle::<K>::new(keys);
        let repeated = oracle.keys().iter().flat_map(|key| std::iter::repeat_n(key, copies));
        let bits = 128.0;
        let sealed = one_by_one(subject, repeated, bits)?
            .map_err(|error| Fault::new(format!("{copies} copies of each key: {error}")))?;
        let expected = subject.seal(oracle.sorted(), bits, 5)?;
        let same = sealed == expected;
        ensure(same, || format!("{}: {copies} copies of each key change the bytes", subject.text()))?;
        let filter = subject.open(sealed)?;
        let (counted, distinct) = (filter.key_count(), oracle.len() as u64);
        ensure(counted == distinct, || format!("{distinct} distinct keys are counted as {counted}"))?;
        Probe::new(&*filter, &oracle, &subject.text()).everything_near(20)?;
    }
    Ok(())
}

/// Keys out of order are refused as `InvalidInput`, and none is lost silently.
///
/// # Errors
/// A fault if they are taken, or refused as anything else.
pub fn unsorted_keys_are_refused<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    for numbers in [vec![2, 1], vec![5, 6, 7, 6], vec![0, u64::MAX, 0], (0..2_000).chain([3]).collect()] {
        let keys: Vec<_> = numbers.iter().copied().map(K::number).collect();
        let kind = one_by_one(subject, &keys, 128.0)?.map_err(|error| error.kind());
        let refused = matches!(kind, Err(ErrorKind::InvalidInput));
        ensure(refused, || format!("{}: unsorted {} keys: {kind:?}", subject.text(), keys.len()))?;
        let mut column = K::OwnedColumn::default();
        keys.iter().for_each(|key| K::push(&mut column, K::borrow(key)));
        let sorted = SortedKeys::<K>::try_new(K::column(&column));
        ensure(sorted.is_err(), || "`SortedKeys` took unsorted keys".to_owned())?;
    }
    Ok(())
}

/// Inverted and empty bounds are denied, also right at a key and at the rims.
///
/// # Errors
/// A fault if they are "maybe".
pub fn inverted_bounds_are_denied<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    let numbers = [0, 1, 500, u64::MAX - 1, u64::MAX];
    over(subject, numbers.into_iter().map(K::number).collect(), |probe, _| {
        for (lo, hi) in numbers.iter().flat_map(|hi| numbers.map(|lo| (lo, *hi))).filter(|(lo, hi)| lo >= hi)
        {
            let (lo, hi) = (K::number(lo), K::number(hi));
            probe.bounds(Excluded(&lo), Included(&hi))?;
            probe.bounds(Included(&lo), Excluded(&hi))?;
            probe.bounds(Excluded(&lo), Excluded(&hi))?;
            probe.bounds(Included(&lo), Included(&hi))?;
        }
        probe.bounds(Unbounded, Excluded(&K::smallest()))
    })
}

/// The whole space, and all of it but an end, is found; so are ranges that end at the first or start at the last key.
///
/// # Errors
/// A fault if a range that holds a key is denied.
pub fn ranges_at_the_rims_are_found<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    let keys = (0..2_000).map(|place| K::number((1 << 40) + place * 12_345)).collect();
    over(subject, keys, |probe, _| {
        let (first, last) = (&probe.oracle().keys()[0], &probe.oracle().keys()[1_999]);
        let lows = [K::smallest(), K::number(0), K::number(1), K::number((1 << 40) - 1)];
        let highs = [K::largest(), K::number(u64::MAX), K::number(u64::MAX - 1), K::number(1 << 41)];
        for (low, high) in lows.iter().flat_map(|low| highs.iter().map(move |high| (low, high))) {
            [(low, first), (last, high), (low, high)]
                .iter()
                .try_for_each(|(lo, hi)| probe.between(lo, hi))?;
            probe.all_bounds(low, first)?;
            probe.all_bounds(last, high)?;
        }
        probe.bounds(Unbounded, Unbounded)
    })
}

/// Ranges of width 2^20, 2^40 and 2^63 around a key are found.
///
/// # Errors
/// A fault if one is denied.
pub fn wide_ranges_are_found<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    let mut rng = effort::rng(STREAM + 2);
    let numbers: Vec<u64> = (0..3_000).map(|_| rng.next_u64()).collect();
    over(subject, numbers.iter().copied().map(K::number).collect(), |probe, _| {
        let mut rng = effort::rng(STREAM + 3);
        for (number, width) in
            numbers.iter().flat_map(|number| [20, 40, 63].map(|bits| (*number, 1u64 << bits)))
        {
            let lo = number.saturating_sub(rng.below(width));
            probe.between(&K::number(lo), &K::number(lo.saturating_add(width)))?;
        }
        Ok(())
    })
}
