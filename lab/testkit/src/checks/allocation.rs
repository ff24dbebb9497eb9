//! Queries allocate nothing, and opening allocates no more than a filter's own fields.

use std::hint::black_box;
use std::ops::Bound::{Excluded, Unbounded};

use lacuna_base::{DynFilter, KeyRange, Sealed};

use crate::allocations::require_counting;
use crate::corrupt::lying_copy;
use crate::space::{closed, uniform_keys};
use crate::verdict::{ensure, without_panic};
use crate::{Fault, OffsetBytes, Oracle, Subject, TestSpace, Verdict, count_allocations, effort};

/// Random streams of the checks below.
const STREAM: u64 = 0x900;
/// Most bytes that opening may allocate, whatever the bytes say: a boxed filter, or an error with its message.
const OPEN_BYTES: u64 = 2_048;

/// Points, ranges, bounds and batches allocate nothing.
///
/// # Errors
/// A fault if they do, or if [`CountingAllocator`](crate::CountingAllocator) is not installed.
pub fn queries_allocate_nothing<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    require_counting()?;
    let mut rng = effort::rng(STREAM);
    let mut sets: Vec<_> = K::nasty_sets().into_iter().map(|(_, keys)| keys).collect();
    sets.push(uniform_keys::<K>(&mut rng, 5_000));
    for keys in sets {
        let oracle = Oracle::<K>::new(keys);
        let mut ends = uniform_keys::<K>(&mut rng, 1_000);
        ends.extend(oracle.keys().iter().take(100).flat_map(K::neighbours));
        ends.sort();
        let ranges: Vec<_> = ends.windows(2).filter_map(|pair| closed::<K>(&pair[0], &pair[1])).collect();
        let (los, his): (Vec<_>, Vec<_>) =
            ends.windows(2).map(|pair| (K::borrow(&pair[0]), K::borrow(&pair[1]))).unzip();
        let pairs = Pairs::<K> { los: &los, his: &his };
        let mut answers = vec![false; ranges.len()];
        // A twin goes first: the process looks up its instruction set once, and debug builds note each path once.
        let sealed = subject.seal(oracle.sorted(), 10.0, 1)?;
        ask_everything(&*subject.open(sealed.clone())?, &ends, &ranges, &pairs, &mut answers);
        let filter = subject.open(sealed)?;
        let ((), spent) =
            count_allocations(|| ask_everything(&*filter, &ends, &ranges, &pairs, &mut answers));
        ensure(spent.count == 0, || format!("{}: queries made {spent:?}; {oracle:?}", subject.text()))?;
    }
    Ok(())
}

/// Ends of ranges in two columns.
struct Pairs<'a, 'k, K: TestSpace + ?Sized> {
    los: &'a [K::Ref<'k>],
    his: &'a [K::Ref<'k>],
}

/// Asks for every key, range and open-ended bound, and for all ranges as one batch, in either form.
fn ask_everything<K: TestSpace + ?Sized>(
    filter: &DynFilter<K>,
    ends: &[K::Owned],
    ranges: &[KeyRange<'_, K>],
    pairs: &Pairs<'_, '_, K>,
    answers: &mut [bool],
) {
    for (key, range) in ends.iter().zip(ranges) {
        black_box(filter.may_contain(K::borrow(key)));
        black_box(filter.may_contain_range(*range));
        black_box(filter.may_contain_bounds(Excluded(K::borrow(key)), Unbounded));
    }
    filter.may_contain_ranges(ranges, answers);
    filter.may_contain_pairs(pairs.los, pairs.his, answers);
}

/// Opening allocates at most 2 KiB, however many keys the filter has and whatever its bytes claim.
///
/// # Errors
/// A fault with the bytes allocated, or if [`CountingAllocator`](crate::CountingAllocator) is not installed.
pub fn opening_allocates_next_to_nothing<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    require_counting()?;
    let mut rng = effort::rng(STREAM + 1);
    for count in [0, 3, 300, 50_000] {
        let oracle = Oracle::<K>::new(uniform_keys::<K>(&mut rng, count));
        let sealed = subject.seal(oracle.sorted(), 10.0, 1)?;
        opens_cheaply(subject, &sealed)?;
        for _ in 0..effort::short_or_long(if count > 300 { 50 } else { 2_000 }, 5_000) {
            opens_cheaply(subject, &lying_copy(sealed.as_bytes(), &mut rng)?)?;
        }
    }
    Ok(())
}

fn opens_cheaply<K: TestSpace + ?Sized>(subject: &Subject<K>, sealed: &Sealed) -> Verdict {
    let bytes = OffsetBytes::copy_of(sealed.as_bytes(), 0);
    let (opened, spent) = count_allocations(|| without_panic(subject.text(), || subject.try_open(bytes)));
    opened.map(drop)?;
    ensure(spent.bytes <= OPEN_BYTES, || {
        let len = sealed.as_bytes().len();
        Fault::new(format!("opening {len} bytes allocated {spent:?}")).within(subject.text()).to_string()
    })
}
