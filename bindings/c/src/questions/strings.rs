//! Questions in byte strings.

use std::ffi::c_uint;
use std::ops;

use lacuna_base::{ByteRange, Cover, Error, KeyCodec, KeySpace, PrefixFilter as _, RangeFilter as _, Result};
use lacuna_guard::GuardCodec;

use super::many::strings_only;
use crate::arguments::{Bytes, apart, filled, known, lent, shared};
use crate::filter::{Able, Answers, Filter};
use crate::key_type::Values;
use crate::status::{Status, attempt, maybe};

/// What a bound of a range means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum Bound {
    /// There is none; the key is not looked at.
    Unbounded = 0,
    /// The key is inside.
    Included = 1,
    /// The key is outside.
    Excluded = 2,
}

/// A `Bound` from C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct BoundNumber(pub c_uint);

impl From<Bound> for BoundNumber {
    fn from(bound: Bound) -> Self {
        Self(bound as c_uint)
    }
}

impl BoundNumber {
    /// The bound at `key`; what is no bound does not bound.
    fn around(self, key: &[u8]) -> ops::Bound<&[u8]> {
        match self.0 {
            1 => ops::Bound::Included(key),
            2 => ops::Bound::Excluded(key),
            _ => ops::Bound::Unbounded,
        }
    }
}

/// Both ends of a range.
type Bounds<'a> = (ops::Bound<&'a [u8]>, ops::Bound<&'a [u8]>);

/// Both ends of a range from C.
///
/// # Safety
/// The sizes are readable at the pointers of the ends that are there.
pub(crate) unsafe fn bounds_of<'a>(
    (lo_bound, lo, lo_size): (BoundNumber, *const u8, usize),
    (hi_bound, hi, hi_size): (BoundNumber, *const u8, usize),
) -> Result<Bounds<'a>> {
    let size_of = |bound: BoundNumber, size| if matches!(bound.0, 1 | 2) { size } else { 0 };
    // SAFETY: as the caller promises.
    let (lo, hi) =
        unsafe { (lent(lo, size_of(lo_bound, lo_size), "lo")?, lent(hi, size_of(hi_bound, hi_size), "hi")?) };
    Ok((lo_bound.around(lo), hi_bound.around(hi)))
}

impl Filter {
    /// Whether a byte string between the bounds may be there.
    #[inline]
    fn may_contain_between(&self, lo: ops::Bound<&[u8]>, hi: ops::Bound<&[u8]>) -> bool {
        match (&self.answers, &self.codec) {
            (Answers::Strings(filter), None) => {
                ByteRange::from_bounds(lo, hi).is_some_and(|range| filter.may_contain_range(range))
            }
            (Answers::Strings(filter), Some(GuardCodec::Strings { codec })) => {
                covered(&**codec, lo, hi, |range| filter.may_contain_range(range))
            }
            (Answers::Integers(filter), Some(GuardCodec::Integers { codec, .. })) => {
                covered(&**codec, lo, hi, |range| filter.may_contain_range(range))
            }
            _ => true,
        }
    }

    fn may_contain_prefix(&self, prefix: &[u8]) -> bool {
        if let Able::Strings(surf) = &self.able {
            return surf.may_contain_prefix(prefix);
        }
        let mut end = [0; LONGEST_END];
        let hi = prefix_end(prefix, &mut end).map_or(ops::Bound::Unbounded, ops::Bound::Excluded);
        self.may_contain_between(ops::Bound::Included(prefix), hi)
    }

    /// Whether the filter can be asked with byte strings.
    pub(crate) fn takes_strings(&self) -> bool {
        matches!(self.answers, Answers::Strings(_)) || self.codec.is_some()
    }

    /// Why it cannot.
    pub(super) fn other_strings(&self) -> Error {
        let keys = lacuna_base::KeyType::name(self.key_type);
        Error::invalid_input(format!(
            "the filter's keys are integers of type {keys}, and it was asked with {}",
            Values::Strings.name()
        ))
    }
}

fn covered<K: KeySpace + ?Sized>(
    codec: &dyn KeyCodec<K>,
    lo: ops::Bound<&[u8]>,
    hi: ops::Bound<&[u8]>,
    ask: impl FnOnce(lacuna_base::KeyRange<'_, K>) -> bool,
) -> bool {
    match codec.cover(lo, hi) {
        Cover::Empty => false,
        Cover::Range(range) => ask(range),
        Cover::Unknown => true,
    }
}

/// Bytes of a prefix that its end is made from; a longer prefix has the end of its first bytes, which is not before its own.
const LONGEST_END: usize = 256;

/// The smallest byte string after all that start with `prefix`, or one after it; `None` if there is none.
fn prefix_end<'a>(prefix: &[u8], end: &'a mut [u8; LONGEST_END]) -> Option<&'a [u8]> {
    let kept = &prefix[..prefix.len().min(LONGEST_END)];
    let last = kept.iter().rposition(|&byte| byte < u8::MAX)?;
    end[..=last].copy_from_slice(&kept[..=last]);
    end[last] += 1;
    Some(&end[..=last])
}

/// Asks a filter that is there; "maybe" if it or its question is not.
///
/// # Safety
/// `filter` is open or null.
#[inline]
unsafe fn ask<Q>(filter: *const Filter, question: Result<Q>, ask: impl FnOnce(&Filter, Q) -> bool) -> bool {
    // SAFETY: as the caller promises.
    match (unsafe { known(filter) }, question) {
        (Some(filter), Ok(question)) => maybe(|| ask(filter, question)),
        _ => true,
    }
}

/// Whether a filter of byte strings may hold a key from `lo` to `hi`, both included; false proves that it holds none. An
/// inverted range holds no key. A filter of integers, or null, says true. A filter from a RocksDB table is asked with the
/// table's keys as they are, whatever its codec. From any thread.
///
/// # Safety
/// `filter` is open or null; `lo_size` and `hi_size` bytes are readable at `lo` and `hi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_may_contain_bytes(
    filter: *const Filter,
    lo: *const u8,
    lo_size: usize,
    hi: *const u8,
    hi_size: usize,
) -> bool {
    let included = Bound::Included.into();
    // SAFETY: as the caller promises.
    unsafe {
        let bounds = bounds_of((included, lo, lo_size), (included, hi, hi_size));
        ask(filter, bounds, |filter, (lo, hi)| filter.may_contain_between(lo, hi))
    }
}

/// As `lacuna_may_contain_bytes`, between bounds of any kind.
///
/// # Safety
/// As there, where there is a bound.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_may_contain_between_bytes(
    filter: *const Filter,
    lo_bound: BoundNumber,
    lo: *const u8,
    lo_size: usize,
    hi_bound: BoundNumber,
    hi: *const u8,
    hi_size: usize,
) -> bool {
    // SAFETY: as the caller promises.
    unsafe {
        let bounds = bounds_of((lo_bound, lo, lo_size), (hi_bound, hi, hi_size));
        ask(filter, bounds, |filter, (lo, hi)| filter.may_contain_between(lo, hi))
    }
}

/// Whether a filter of byte strings may hold `key`; otherwise as `lacuna_may_contain_bytes`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_may_contain_key_bytes(
    filter: *const Filter,
    key: *const u8,
    size: usize,
) -> bool {
    // SAFETY: as the caller promises.
    unsafe {
        ask(filter, lent(key, size, "key"), |filter, key| match (&filter.answers, &filter.codec) {
            (Answers::Strings(answers), None) => answers.may_contain(key),
            _ => filter.may_contain_between(ops::Bound::Included(key), ops::Bound::Included(key)),
        })
    }
}

/// Whether a filter of byte strings may hold a key that starts with `prefix`; otherwise as `lacuna_may_contain_bytes`. The
/// empty prefix starts every key.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_may_contain_prefix(
    filter: *const Filter,
    prefix: *const u8,
    size: usize,
) -> bool {
    // SAFETY: as the caller promises.
    unsafe { ask(filter, lent(prefix, size, "prefix"), Filter::may_contain_prefix) }
}

/// Answers `count` ranges at once: `answers[i]` is what `lacuna_may_contain_bytes` says of `lo[i]` to `hi[i]`. Where it
/// fails, all answers are true. From any thread, with answers of its own.
///
/// # Safety
/// As there; `count` strings are readable at `lo` and `hi`, their bytes too, and as many answers may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_may_contain_many_bytes(
    filter: *const Filter,
    lo: *const Bytes,
    hi: *const Bytes,
    count: usize,
    answers: *mut bool,
) -> Status {
    attempt(|| {
        // SAFETY: as the caller promises.
        let answers = unsafe { filled(answers, count, true, "answers") }?;
        apart(answers, lo, count, "lo").and_then(|()| apart(answers, hi, count, "hi"))?;
        // SAFETY: as the caller promises.
        let (filter, lo, hi) =
            unsafe { (shared(filter, "filter")?, lent(lo, count, "lo")?, lent(hi, count, "hi")?) };
        strings_only(filter)?;
        for (lo, hi) in lo.iter().zip(hi) {
            apart(answers, lo.data, lo.size, "a lower end")?;
            apart(answers, hi.data, hi.size, "an upper end")?;
        }
        let mut chunks = lo.chunks(AT_ONCE).zip(hi.chunks(AT_ONCE)).zip(answers.chunks_mut(AT_ONCE));
        // SAFETY: as the caller promises.
        let done =
            chunks.try_for_each(|((lo, hi), answers)| unsafe { answer_chunk(filter, lo, hi, answers) });
        done.inspect_err(|_| answers.fill(true))
    })
}

/// Ranges put together at a time: 3 KiB.
const AT_ONCE: usize = 64;

/// Answers at most [`AT_ONCE`] ranges.
///
/// # Safety
/// The bytes of the strings are readable.
unsafe fn answer_chunk(filter: &Filter, lo: &[Bytes], hi: &[Bytes], answers: &mut [bool]) -> Result<()> {
    let mut ranges = [ByteRange::point(&[]); AT_ONCE];
    let mut inverted = [false; AT_ONCE];
    for (place, (lo, hi)) in lo.iter().zip(hi).enumerate() {
        // SAFETY: as the caller promises.
        let (lo, hi) = unsafe { (lo.lent("a lower end")?, hi.lent("an upper end")?) };
        inverted[place] = lo > hi;
        ranges[place] = ByteRange::new(lo, hi).unwrap_or(ByteRange::point(lo));
    }
    let ranges = &ranges[..answers.len()];
    match (&filter.answers, &filter.codec) {
        (Answers::Strings(filter), None) => filter.may_contain_ranges(ranges, answers),
        _ => {
            for (range, answer) in ranges.iter().zip(answers.iter_mut()) {
                let hi = range.hi().map_or(ops::Bound::Unbounded, ops::Bound::Included);
                *answer = filter.may_contain_between(ops::Bound::Included(range.lo()), hi);
            }
        }
    }
    for (answer, inverted) in answers.iter_mut().zip(inverted) {
        *answer &= !inverted;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_prefix_is_after_all_that_start_with_it() {
        let end = |prefix: &[u8]| prefix_end(prefix, &mut [0; LONGEST_END]).map(<[u8]>::to_vec);
        assert_eq!(end(b""), None);
        assert_eq!(end(&[255, 255]), None);
        assert_eq!(end(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(end(&[7, 255, 255]), Some(vec![8]));
        let long = [7; LONGEST_END + 9];
        assert!(end(&long).unwrap() > [&long[..], &[255; 9]].concat());
    }
}
