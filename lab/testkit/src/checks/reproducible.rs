//! Same keys, plan and seed give the same bytes: again, on another thread, by several threads, key by key, without SIMD.

use std::num::NonZeroUsize;
use std::process::Command;

use lacuna_base::Sealed;
use lacuna_base::hash::hash_bytes;

use super::edges::one_by_one;
use crate::space::{closed, uniform_keys};
use crate::subject::seal_by_threads;
use crate::verdict::ensure;
use crate::{Fault, Oracle, Subject, TestSpace, Verdict, effort};

/// Random streams of the checks below.
const STREAM: u64 = 0x600;
/// Set in the second process of the check on instruction sets.
const CHILD: &str = "LACUNA_TESTKIT_CHILD";
/// Stands before the digest that the second process prints.
const MARK: &str = "lacuna-digest ";

/// The key sets of this module: hard ones, and one of ordinary size.
fn sets<K: TestSpace + ?Sized>() -> Vec<(&'static str, Oracle<K>)> {
    let mut sets = K::nasty_sets();
    sets.push(("5,000 uniform", uniform_keys::<K>(&mut effort::rng(STREAM), 5_000)));
    sets.push(("nothing", Vec::new()));
    sets.into_iter().map(|(name, keys)| (name, Oracle::new(keys))).collect()
}

/// The same keys, plan and seed give the same bytes a second time.
///
/// # Errors
/// A fault naming the key set.
pub fn the_same_input_gives_the_same_bytes<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    for ((name, oracle), bits) in sets::<K>().iter().flat_map(|set| [4.0, 14.0].map(|bits| (set, bits))) {
        let seal = || subject.seal(oracle.sorted(), bits, 9);
        let same = seal()? == seal()?;
        ensure(same, || format!("{} over {name}: the second build gives other bytes", subject.text()))?;
    }
    Ok(())
}

/// Two threads that build at once get the bytes that one gets.
///
/// # Errors
/// A fault naming the key set.
pub fn threads_build_the_same_bytes<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    for (name, oracle) in sets::<K>() {
        let seal = || subject.seal(oracle.sorted(), 10.0, 9);
        let alone = seal()?;
        let both: Vec<Sealed> = std::thread::scope(|scope| {
            let threads = [0; 2].map(|_| scope.spawn(seal));
            let joined = threads.into_iter().map(|thread| {
                thread
                    .join()
                    .map_err(|_| Fault::new(format!("{}: a building thread panicked", subject.text())))?
            });
            joined.collect::<Result<_, Fault>>()
        })?;
        let same = both.iter().all(|sealed| *sealed == alone);
        ensure(same, || format!("{} over {name}: threads build other bytes", subject.text()))?;
    }
    Ok(())
}

/// However many threads a build may take, its bytes are those of one.
///
/// # Errors
/// A fault naming the key set and the number of threads.
pub fn bytes_do_not_depend_on_the_number_of_threads<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    let spec = subject.spec(subject.text())?;
    let mut sets = sets::<K>();
    // Fewer are not shared among threads by any family.
    let many = Oracle::new(uniform_keys::<K>(&mut effort::rng(STREAM + 3), 70_000));
    sets.push(("70,000 uniform", many));
    for (name, oracle) in sets {
        let one = subject.seal(oracle.sorted(), 10.0, 9)?;
        for threads in [2, 3, 8].map(|count| NonZeroUsize::new(count).expect("not zero")) {
            let several = seal_by_threads(&*spec, oracle.sorted(), (10.0, 9), threads)?;
            let place = || format!("{} over {name}: {threads} threads build other bytes", subject.text());
            ensure(several == one, place)?;
        }
    }
    Ok(())
}

/// A builder that gets the keys one by one gives the bytes of a build from the sorted keys.
///
/// # Errors
/// A fault naming the key set.
pub fn adding_one_by_one_gives_the_same_bytes<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    for (name, oracle) in sets::<K>() {
        let place = || format!("{} over {name}", subject.text());
        for bits in [14.0, 128.0] {
            let whole = subject.spec(subject.text())?.build(oracle.sorted(), &plan::<K>(bits));
            match (one_by_one(subject, oracle.keys(), bits)?, whole) {
                (Ok(one), Ok(whole)) => {
                    ensure(one == whole, || format!("{}: one by one gives other bytes", place()))?;
                }
                (Err(one), Err(whole)) => {
                    let same = one.kind() == whole.kind();
                    ensure(same, || format!("{}: one by one says {one}, a whole build {whole}", place()))?;
                }
                (one, whole) => {
                    let (one, whole) = (one.map(drop), whole.map(drop));
                    return Err(Fault::new(format!(
                        "{}: one by one {one:?}, a whole build {whole:?}",
                        place()
                    )));
                }
            }
        }
    }
    Ok(())
}

fn plan<K: TestSpace + ?Sized>(bits: f64) -> lacuna_base::BuildPlan<K> {
    crate::subject::plan(bits).expect("between 0 and 128").with_seed(5)
}

/// Different seeds give different bytes; a family without a hash gives the same.
///
/// # Errors
/// A fault if the seed has no effect, or has one where the family says it has none.
pub fn the_seed_decides_the_bytes<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    let oracle = Oracle::<K>::new(uniform_keys::<K>(&mut effort::rng(STREAM + 1), 1_000));
    let sealed: Result<Vec<_>, _> = (0..4).map(|seed| subject.seal(oracle.sorted(), 10.0, seed)).collect();
    let mut distinct: Vec<_> = sealed?.iter().map(|sealed| hash_bytes(sealed.as_bytes(), 0)).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let expected = if subject.seed_is_ignored() { 1 } else { 4 };
    let found = distinct.len();
    ensure(found == expected, || {
        format!("{}: four seeds give {found} byte strings, not {expected}", subject.text())
    })
}

/// Bytes and answers are the same under `LACUNA_ISA=scalar`: the test runs itself again and compares.
///
/// # Errors
/// A fault if the second process answers or builds otherwise, or does not run.
pub fn bytes_and_answers_do_not_depend_on_the_instruction_set<K: TestSpace + ?Sized>(
    subject: &Subject<K>,
) -> Verdict {
    let digest = digest(subject)?;
    if std::env::var_os(CHILD).is_some() {
        println!("{MARK}{digest:016x}");
        return Ok(());
    }
    let name = format!("{}::bytes_and_answers_do_not_depend_on_the_instruction_set", subject.module());
    let this = std::env::current_exe().map_err(|error| Fault::new(format!("where this test is: {error}")))?;
    let output = Command::new(this)
        .args([&name, "--exact", "--nocapture", "--test-threads=1"])
        .envs([("LACUNA_ISA", "scalar"), (CHILD, "1")])
        .output()
        .map_err(|error| Fault::new(format!("running `{name}` again: {error}")))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let Some((_, rest)) = printed.split_once(MARK) else {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(Fault::new(format!("`{name}` run again printed no digest: {printed} {errors}")));
    };
    let same = rest.get(..16) == Some(&format!("{digest:016x}"));
    ensure(same, || format!("{}: bytes or answers differ under LACUNA_ISA=scalar", subject.text()))
}

/// A hash of the bytes of many filters and of their answers to many queries.
fn digest<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Result<u64, Fault> {
    let mut digest = 0;
    for (_, oracle) in sets::<K>() {
        for text in subject.all_texts() {
            for bits in [2.0, 6.5, 14.0] {
                let sealed = crate::seal_or_coarsen(&*subject.spec(text)?, oracle.sorted(), bits, 9)?;
                digest = hash_bytes(sealed.as_bytes(), digest);
                digest = hash_bytes(&answers(&oracle, &*subject.open(sealed)?), digest);
            }
        }
    }
    Ok(digest)
}

fn answers<K: TestSpace + ?Sized>(oracle: &Oracle<K>, filter: &lacuna_base::DynFilter<K>) -> Vec<u8> {
    let mut rng = effort::rng(STREAM + 2);
    let mut ends = uniform_keys::<K>(&mut rng, 200);
    ends.extend(oracle.keys().iter().step_by(1 + oracle.len() / 100).flat_map(K::neighbours));
    ends.sort();
    let single = ends.iter().map(|key| u8::from(filter.may_contain(K::borrow(key))));
    let mut all: Vec<u8> = single.collect();
    let ranges: Vec<_> = ends.windows(2).filter_map(|pair| closed::<K>(&pair[0], &pair[1])).collect();
    let mut batched = vec![false; ranges.len()];
    filter.may_contain_ranges(&ranges, &mut batched);
    all.extend(ranges.iter().map(|range| u8::from(filter.may_contain_range(*range))));
    all.extend(batched.into_iter().map(u8::from));
    all
}
