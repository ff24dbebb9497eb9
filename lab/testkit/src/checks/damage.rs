//! Damage is reported where the contract says so; where it cannot be, queries neither panic nor leave their bytes.

use std::ops::Bound::{Included, Unbounded};

use lacuna_base::{DynFilter, ENVELOPE_BYTES, ENVELOPE_VERSION, ErrorKind, KeySpaceId, Result, Sealed};
use lacuna_workload::Rng;

use crate::corrupt::{envelope_of, flipped, lying_copy, with_payload};
use crate::space::{closed, uniform_keys};
use crate::verdict::{ensure, without_panic};
use crate::watch::watched;
use crate::{Fault, OffsetBytes, Oracle, Subject, TestSpace, Verdict, effort};

/// Random streams of the checks below.
const STREAM: u64 = 0x800;

/// Small filters of every spec, from no key to 300.
fn victims<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Result<Vec<Sealed>, Fault> {
    let mut victims = Vec::new();
    for text in subject.all_texts() {
        for count in [0, 1, 3, 30, 300] {
            let keys =
                uniform_keys::<K>(&mut effort::rng(STREAM + count), usize::try_from(count).expect("small"));
            let oracle = Oracle::<K>::new(keys);
            victims.push(crate::seal_or_coarsen(&*subject.spec(text)?, oracle.sorted(), 10.0, 3)?);
        }
    }
    Ok(victims)
}

fn reported<K: TestSpace + ?Sized>(
    opened: Result<Box<DynFilter<K>>>,
    what: impl FnOnce() -> String,
) -> Verdict {
    match opened.map_err(|error| error.kind()) {
        Err(ErrorKind::Corrupt | ErrorKind::Unsupported) => Ok(()),
        Err(kind) => Err(Fault::new(format!("{}: reported as {kind:?}", what()))),
        Ok(_) => Err(Fault::new(format!("{}: not reported", what()))),
    }
}

/// `open_verified` reports every single flipped bit.
///
/// # Errors
/// A fault naming the bit.
pub fn any_flipped_bit_is_reported<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    for victim in victims(subject)? {
        for bit in 0..victim.as_bytes().len() * 8 {
            let bytes = OffsetBytes::copy_of(&flipped(victim.as_bytes(), bit), 0);
            let place =
                || format!("{}: bit {bit} of {} flipped", subject.text(), victim.as_bytes().len() * 8);
            reported(without_panic(subject.text(), || subject.try_open_verified(bytes))?, place)?;
        }
    }
    Ok(())
}

/// `open`, in O(1), reports every flipped bit of the envelope.
///
/// # Errors
/// A fault naming the bit.
pub fn a_flipped_header_bit_is_reported_at_once<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    for victim in victims(subject)? {
        for bit in 0..ENVELOPE_BYTES * 8 {
            let bytes = OffsetBytes::copy_of(&flipped(victim.as_bytes(), bit), 0);
            reported(subject.try_open(bytes), || format!("{}: header bit {bit} flipped", subject.text()))?;
        }
    }
    Ok(())
}

/// Both ways of opening report every truncation, and bytes appended.
///
/// # Errors
/// A fault naming the length.
pub fn any_truncation_is_reported<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    for victim in victims(subject)? {
        let whole = victim.as_bytes();
        let longer = [whole, &[0][..]].concat();
        let cuts = (0..whole.len()).map(|len| &whole[..len]).chain([&longer[..]]);
        for cut in cuts {
            let place = || format!("{}: {} bytes became {}", subject.text(), whole.len(), cut.len());
            reported(subject.try_open(OffsetBytes::copy_of(cut, 0)), place)?;
            reported(subject.try_open_verified(OffsetBytes::copy_of(cut, 0)), place)?;
        }
    }
    Ok(())
}

/// Newer versions and another key space are `Unsupported`: the caller reads the data.
///
/// # Errors
/// A fault if they open, or are reported as damage.
pub fn newer_versions_are_unsupported<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    for victim in victims(subject)? {
        let mut newer = victim.as_bytes().to_vec();
        newer[4] = ENVELOPE_VERSION + 1;
        let envelope = envelope_of(victim.as_bytes())?;
        let mut payload_version = envelope;
        payload_version.payload_version += 1;
        let mut key_space = envelope;
        key_space.key_space = if K::ID == KeySpaceId::U64 { KeySpaceId::Bytes } else { KeySpaceId::U64 };
        let resealed = |envelope| Sealed::assemble(&envelope, victim.payload()).as_bytes().to_vec();
        let cases =
            [("envelope", newer), ("payload", resealed(payload_version)), ("key space", resealed(key_space))];
        for (name, bytes) in cases {
            let kind =
                subject.try_open(OffsetBytes::copy_of(&bytes, 0)).map(drop).map_err(|error| error.kind());
            let told = kind == Err(ErrorKind::Unsupported);
            ensure(told, || format!("{}: another version of the {name}: {kind:?}", subject.text()))?;
        }
    }
    Ok(())
}

/// Arbitrary bytes never panic or hang, neither in `open` nor in a query.
///
/// # Errors
/// A fault with the round in which it did.
pub fn arbitrary_bytes_never_panic<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    let (victims, subject) = (victims(subject)?, subject.clone());
    watched(subject.text(), move |progress| {
        let mut rng = effort::rng(STREAM + 1_000);
        for round in 0..effort::short_or_long(4_000, 200_000) {
            progress.begin(round);
            let mut bytes: Vec<u8> = (0..rng.index(400)).map(|_| rng.next_u64().to_le_bytes()[0]).collect();
            let victim = &victims[rng.index(victims.len())];
            if rng.below(4) > 0 {
                bytes = with_payload(victim.as_bytes(), &bytes)?.as_bytes().to_vec();
            }
            survives(&subject, &bytes, &mut rng, format_args!("arbitrary bytes, round {round}"))?;
        }
        Ok(())
    })
}

/// Real filters with a damaged payload or header and fitting checksums never panic or hang, neither in `open` nor in a
/// query.
///
/// # Errors
/// A fault with the round in which it did.
pub fn lying_payloads_never_panic<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    let (victims, subject) = (victims(subject)?, subject.clone());
    watched(subject.text(), move |progress| {
        let mut rng = effort::rng(STREAM + 1_001);
        for round in 0..effort::short_or_long(20_000, 1_000_000) {
            progress.begin(round);
            let lie = lying_copy(victims[rng.index(victims.len())].as_bytes(), &mut rng)?;
            survives(&subject, lie.as_bytes(), &mut rng, format_args!("a lying payload, round {round}"))?;
        }
        Ok(())
    })
}

/// Opens `bytes`; if that works, asks for keys, ranges, bounds and a batch.
fn survives<K: TestSpace + ?Sized>(
    subject: &Subject<K>,
    bytes: &[u8],
    rng: &mut Rng,
    place: std::fmt::Arguments<'_>,
) -> Verdict {
    let offset = rng.index(9);
    let ends = query_ends::<K>(rng);
    without_panic(format_args!("{}: {place}", subject.text()), || {
        let Ok(filter) = subject.try_open(OffsetBytes::copy_of(bytes, offset)) else { return };
        let ranges: Vec<_> = ends.windows(2).filter_map(|pair| closed::<K>(&pair[0], &pair[1])).collect();
        for (key, range) in ends.iter().zip(&ranges) {
            filter.may_contain(K::borrow(key));
            filter.may_contain_range(*range);
            filter.may_contain_bounds(Included(K::borrow(key)), Unbounded);
        }
        filter.may_contain_bounds(Unbounded, Unbounded);
        filter.may_contain_ranges(&ranges, &mut vec![false; ranges.len()]);
        let keys: Vec<_> = ends.iter().map(K::borrow).collect();
        filter.may_contain_pairs(&keys[1..], &keys[..keys.len() - 1], &mut vec![false; keys.len() - 1]);
        filter.may_contain_pairs(&keys[..keys.len() - 1], &keys[1..], &mut vec![false; keys.len() - 1]);
        let _ =
            (filter.rate_bound(1), filter.rate_bound(u64::MAX), filter.key_count(), filter.memory_bytes());
    })
}

fn query_ends<K: TestSpace + ?Sized>(rng: &mut Rng) -> Vec<K::Owned> {
    let mut ends = uniform_keys::<K>(rng, 12);
    ends.extend(K::neighbours(&K::number(rng.below(300))));
    ends.extend([K::smallest(), K::largest()]);
    ends.sort();
    ends
}
