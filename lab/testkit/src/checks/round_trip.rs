//! Sealed bytes open anywhere in memory and answer the same.

use lacuna_base::{DynFilter, Envelope, Sealed};

use super::probe::Probe;
use crate::space::{closed, uniform_keys};
use crate::verdict::ensure;
use crate::{Fault, OffsetBytes, Oracle, Subject, TestSpace, Verdict, effort};

/// Random streams of the checks below.
const STREAM: u64 = 0x700;

/// Key sets of this module, with their sealed filters.
fn sealed_sets<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Result<Vec<(Oracle<K>, Sealed)>, Fault> {
    let mut sets: Vec<_> = K::nasty_sets().into_iter().map(|(_, keys)| keys).collect();
    sets.push(uniform_keys::<K>(&mut effort::rng(STREAM), 2_000));
    sets.push(Vec::new());
    let seal = |keys| {
        let oracle = Oracle::<K>::new(keys);
        let sealed = subject.seal(oracle.sorted(), 10.0, 3)?;
        Ok((oracle, sealed))
    };
    sets.into_iter().map(seal).collect()
}

/// Bytes that start 0 to 8 (and 63) bytes off a cache line open, also when verified, and answer the same.
///
/// # Errors
/// A fault if they do not open or answer otherwise.
pub fn bytes_open_at_every_alignment<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    for (oracle, sealed) in sealed_sets(subject)? {
        let expected = answers(&oracle, &*subject.open(sealed.clone())?);
        for offset in (0..=8).chain([63]) {
            let place = format!("{}, {offset} bytes off a cache line", subject.text());
            for opened in
                [subject.try_open(copy(&sealed, offset)), subject.try_open_verified(copy(&sealed, offset))]
            {
                let filter = opened.map_err(|error| Fault::new(format!("{place}: {error}")))?;
                Probe::new(&*filter, &oracle, &place).everything_near(3)?;
                let same = answers(&oracle, &*filter) == expected;
                ensure(same, || format!("{place}: other answers than at offset 0; {oracle:?}"))?;
            }
        }
    }
    Ok(())
}

fn copy(sealed: &Sealed, offset: usize) -> OffsetBytes {
    OffsetBytes::copy_of(sealed.as_bytes(), offset)
}

fn answers<K: TestSpace + ?Sized>(oracle: &Oracle<K>, filter: &DynFilter<K>) -> Vec<bool> {
    let mut ends = uniform_keys::<K>(&mut effort::rng(STREAM + 1), 100);
    ends.extend(oracle.keys().iter().step_by(1 + oracle.len() / 30).flat_map(K::neighbours));
    ends.sort();
    let ranges = ends.windows(2).filter_map(|pair| closed::<K>(&pair[0], &pair[1]));
    let points = ends.iter().map(|key| filter.may_contain(K::borrow(key)));
    points.chain(ranges.map(|range| filter.may_contain_range(range))).collect()
}

/// An opened filter says how many distinct keys it holds, how long its bytes are, and counts no less memory.
///
/// # Errors
/// A fault if a number is wrong, in the filter or in its envelope.
pub fn counts_and_sizes_are_told_truly<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    for (oracle, sealed) in sealed_sets(subject)? {
        let (bytes, distinct) = (sealed.as_bytes().len(), oracle.len() as u64);
        let opened = Envelope::open_verified(sealed.as_bytes());
        let envelope = opened.map(|(envelope, _)| envelope).map_err(|error| Fault::new(error.to_string()))?;
        let filter = subject.open(sealed)?;
        let (counted, told) = (filter.key_count(), (filter.size_in_bytes(), filter.memory_bytes()));
        let agrees = counted == distinct && envelope.key_count == distinct && envelope.key_space == K::ID;
        ensure(agrees, || format!("{distinct} keys: the filter says {counted}, the envelope {envelope:?}"))?;
        let true_sizes = told.0 == bytes && told.1 >= bytes;
        ensure(true_sizes, || {
            format!("{bytes} sealed bytes: size and memory are reported as {told:?}; {oracle:?}")
        })?;
    }
    Ok(())
}

/// A spec's name, read again, gives the same bytes.
///
/// # Errors
/// A fault if the name is refused or means something else.
pub fn a_spec_reads_its_own_name<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    let oracle = Oracle::<K>::new(uniform_keys::<K>(&mut effort::rng(STREAM + 2), 500));
    for text in subject.all_texts() {
        let spec = subject.spec(text)?;
        let again =
            subject.spec(&spec.name()).map_err(|fault| fault.within(format!("the name of `{text}`")))?;
        let seal = |spec| crate::seal_or_coarsen(spec, oracle.sorted(), 10.0, 3);
        let same = spec.name() == again.name() && seal(&*spec)? == seal(&*again)?;
        ensure(same, || format!("spec `{text}` calls itself `{}`, which is another filter", spec.name()))?;
    }
    Ok(())
}
