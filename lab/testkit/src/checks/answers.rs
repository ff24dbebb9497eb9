//! "No" is always true: on named hard sets and on random ones, for points, ranges, bounds and batches.

use std::ops::Bound::Unbounded;

use lacuna_workload::Rng;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::SMALL_BUDGETS;
use super::probe::Probe;
use crate::space::closed;
use crate::verdict::without_panic;
use crate::{Fault, Oracle, Subject, TestSpace, Verdict, effort};

/// Seed of the builds over named sets.
const BUILD_SEED: u64 = 11;
/// Random streams of the checks below.
const STREAM: u64 = 0x100;

/// Runs `check` over every hard set under every spec and small budget.
fn over_nasty_sets<K: TestSpace + ?Sized>(
    subject: &Subject<K>,
    check: impl Fn(&Probe<'_, K>) -> Verdict,
) -> Verdict {
    for (name, keys) in K::nasty_sets() {
        let oracle = Oracle::new(keys);
        for text in subject.all_texts() {
            let spec = subject.spec(text)?;
            for bits in SMALL_BUDGETS {
                let place = format!("{text} over {name} at {bits} bits per key");
                let checked = without_panic(&place, || {
                    let sealed = crate::seal_or_coarsen(&*spec, oracle.sorted(), bits, BUILD_SEED)?;
                    let filter = subject.open(sealed)?;
                    check(&Probe::new(&*filter, &oracle, &place))
                });
                checked?.map_err(|fault| fault.within(name))?;
            }
        }
    }
    Ok(())
}

/// Every added key is found, and so is the whole space.
///
/// # Errors
/// A fault if a key is denied.
pub fn added_keys_are_found<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    over_nasty_sets(subject, |probe| {
        probe.every_key()?;
        probe.bounds(Unbounded, Unbounded)
    })
}

/// Every range and every pair of bounds around a key is found; an empty pair is denied.
///
/// # Errors
/// A fault if a range with a key is denied, or bounds and range disagree.
pub fn ranges_around_keys_are_found<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    over_nasty_sets(subject, |probe| probe.everything_near(effort::short_or_long(16, 400)))
}

/// A batch of 0, 1, 7 or 1,024 ranges answers as each range alone.
///
/// # Errors
/// A fault if any answer differs or denies a key.
pub fn batched_answers_equal_single_answers<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    over_nasty_sets(subject, |probe| {
        let ends = batch_ends(probe.oracle(), &mut effort::rng(STREAM));
        let ranges: Vec<_> = ends.iter().filter_map(|(lo, hi)| closed::<K>(lo, hi)).collect();
        probe.batches(&ranges)
    })
}

/// Ends of about 1,500 ranges: around keys, across keys, and anywhere.
fn batch_ends<K: TestSpace + ?Sized>(oracle: &Oracle<K>, rng: &mut Rng) -> Vec<(K::Owned, K::Owned)> {
    let ordered = |one: K::Owned, other: K::Owned| if one <= other { (one, other) } else { (other, one) };
    let mut ends = Vec::new();
    while ends.len() < 1_500 {
        let key = &oracle.keys()[rng.index(oracle.len())];
        let near = K::neighbours(key);
        let (one, other) = (near[rng.index(near.len())].clone(), near[rng.index(near.len())].clone());
        ends.push(ordered(one.clone(), key.clone()));
        ends.push(ordered(one, other));
        ends.push(ordered(K::number(rng.next_u64()), K::number(rng.next_u64())));
        ends.push((key.clone(), key.clone()));
    }
    ends
}

/// Random key sets, queries, budgets and seeds answer as the oracle does.
///
/// # Errors
/// A fault with the smallest set that still shows it.
pub fn random_sets_are_answered<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&effort::seed().to_le_bytes());
    let cases = effort::short_or_long(150, 3_000);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let texts: Vec<_> = subject.all_texts().collect();
    let key = K::any_key;
    let input = (
        prop::collection::vec(key(), 0..60),
        prop::collection::vec((key(), key()), 0..30),
        prop::sample::select(texts),
        prop::sample::select(SMALL_BUDGETS.to_vec()),
        any::<u64>(),
    );
    let ran = runner.run(&input, |(keys, ends, text, bits, seed)| {
        let place = format!("{text} at {bits} bits per key, seed {seed}");
        let verdict = without_panic(&place, || one_case(subject, text, keys, &ends, bits, seed));
        verdict.flatten().map_err(|fault| TestCaseError::fail(fault.to_string()))
    });
    ran.map_err(|error| Fault::new(error.to_string()))
}

/// One random case: everything around the keys, and the drawn queries.
fn one_case<K: TestSpace + ?Sized>(
    subject: &Subject<K>,
    text: &str,
    keys: Vec<K::Owned>,
    ends: &[(K::Owned, K::Owned)],
    bits: f64,
    seed: u64,
) -> Verdict {
    let oracle = Oracle::new(keys);
    let spec = subject.spec(text)?;
    let filter = subject.open(crate::seal_or_coarsen(&*spec, oracle.sorted(), bits, seed)?)?;
    let place = format!("{text} at {bits} bits per key, seed {seed}");
    let probe = Probe::new(&*filter, &oracle, &place);
    probe.everything_near(8)?;
    ends.iter().try_for_each(|(lo, hi)| probe.all_bounds(lo, hi))?;
    let ranges: Vec<_> = ends.iter().filter_map(|(lo, hi)| closed::<K>(lo, hi)).collect();
    probe.batches(&ranges)
}
