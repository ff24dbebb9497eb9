//! A filter and the question put to it: one line of text for each range.

use lacuna_base::{
    AlignedBytes, ByteRange, CountBounds, CountEstimate, DynFilter, KeyRange, KeySpaceId,
    Result as CoreResult, SeekCandidate, U64Range,
};
use lacuna_families::OpenAbility;
use lacuna_workload::{Key, KeyType, Queries};

use super::Question;
use crate::errors::Result;
use crate::key_text::{bytes_text, integer_text};
use crate::output::Output;

/// Ranges asked in one call, so that their cache misses overlap.
pub(super) const BATCH: usize = 1024;

/// Both ends of a range.
pub(super) type Ends<'a> = (Key<'a>, Key<'a>);

/// A filter opened for its question, over whichever keys it has.
pub(super) enum AnyAsker {
    U64(Asker<u64>),
    Bytes(Asker<[u8]>),
}

impl AnyAsker {
    /// Opens `bytes`, whose checksums were checked.
    ///
    /// # Errors
    /// As [`lacuna_families::open`]; `Unsupported` if the family does not answer such questions.
    pub(super) fn open(key_space: KeySpaceId, bytes: AlignedBytes, question: Question) -> CoreResult<Self> {
        Ok(match key_space {
            KeySpaceId::U64 => Self::U64(Asker::open(bytes, question)?),
            KeySpaceId::Bytes => Self::Bytes(Asker::open(bytes, question)?),
        })
    }

    pub(super) fn answer_ends(&self, ends: &[Ends<'_>], key_type: KeyType, out: &mut Output) -> Result<bool> {
        match self {
            Self::U64(asker) => asker.print(ends.iter().map(integer_range), key_type, out),
            Self::Bytes(asker) => asker.print(ends.iter().map(byte_range), key_type, out),
        }
    }

    pub(super) fn answer_queries(
        &self,
        queries: &Queries,
        key_type: KeyType,
        out: &mut Output,
    ) -> Result<bool> {
        match (self, queries) {
            (Self::U64(asker), Queries::U64(ranges)) => {
                asker.print(ranges.iter().map(|&(low, high)| U64Range::new(low, high)), key_type, out)
            }
            (Self::Bytes(asker), Queries::Bytes(ranges)) => {
                asker.print(ranges.iter().map(|(low, high)| ByteRange::new(low, high)), key_type, out)
            }
            _ => unreachable!("the key type was chosen by the filter's key space"),
        }
    }
}

fn integer_range((low, high): &Ends<'_>) -> Option<U64Range> {
    match (low, high) {
        (Key::U64(low), Key::U64(high)) => U64Range::new(*low, *high),
        _ => None,
    }
}

fn byte_range<'a>((low, high): &'a Ends<'_>) -> Option<ByteRange<'a>> {
    match (low, high) {
        (Key::Bytes(low), Key::Bytes(high)) => ByteRange::new(low, high),
        _ => None,
    }
}

/// A key space whose keys can be shown.
pub(super) trait ShowKey: OpenAbility {
    fn text(key: &Self::Owned, key_type: KeyType) -> String;
}

impl ShowKey for u64 {
    fn text(key: &Self::Owned, key_type: KeyType) -> String {
        integer_text(*key, key_type)
    }
}

impl ShowKey for [u8] {
    fn text(key: &Self::Owned, key_type: KeyType) -> String {
        bytes_text(key, key_type)
    }
}

/// A filter opened for its question.
pub(super) enum Asker<K: ShowKey + ?Sized> {
    MayContain(Box<DynFilter<K>>),
    Count(Box<dyn CountEstimate<K>>),
    SeekFirst(Box<dyn SeekCandidate<K>>),
    SeekLast(Box<dyn SeekCandidate<K>>),
}

impl<K: ShowKey + ?Sized> Asker<K> {
    fn open(bytes: AlignedBytes, question: Question) -> CoreResult<Self> {
        Ok(match question {
            Question::MayContain => Self::MayContain(lacuna_families::open::<K, _>(bytes)?),
            Question::Count => Self::Count(lacuna_families::open_count::<K, _>(bytes)?),
            Question::SeekFirst => Self::SeekFirst(lacuna_families::open_seek::<K, _>(bytes)?),
            Question::SeekLast => Self::SeekLast(lacuna_families::open_seek::<K, _>(bytes)?),
        })
    }

    /// Prints a line for each range; gives whether any of them may hold a key.
    fn print<'a>(
        &self,
        ranges: impl Iterator<Item = Option<KeyRange<'a, K>>>,
        key_type: KeyType,
        out: &mut Output,
    ) -> Result<bool> {
        let ranges =
            ranges.map(|range| range.expect("kind and order of the ends were checked when they were read"));
        match self {
            Self::MayContain(filter) => print_in_batches(&**filter, ranges, out),
            Self::Count(filter) => {
                print_all(ranges.map(|range| count_text(filter.count_range(range))), NONE, out)
            }
            Self::SeekFirst(filter) => {
                print_all(ranges.map(|range| first_text(&**filter, range, key_type)), NO, out)
            }
            Self::SeekLast(filter) => {
                print_all(ranges.map(|range| last_text(&**filter, range, key_type)), NO, out)
            }
        }
    }
}

fn print_in_batches<'a, K: ShowKey + ?Sized>(
    filter: &DynFilter<K>,
    mut ranges: impl Iterator<Item = KeyRange<'a, K>>,
    out: &mut Output,
) -> Result<bool> {
    let mut answers = [false; BATCH];
    let mut any_maybe = false;
    loop {
        let batch: Vec<KeyRange<'a, K>> = ranges.by_ref().take(BATCH).collect();
        if batch.is_empty() {
            return Ok(any_maybe);
        }
        filter.may_contain_ranges(&batch, &mut answers[..batch.len()]);
        for &answer in &answers[..batch.len()] {
            any_maybe |= answer;
            out.line(if answer { "maybe" } else { NO })?;
        }
    }
}

/// Prints the lines; gives whether any of them is another than `no`.
fn print_all(lines: impl Iterator<Item = String>, no: &str, out: &mut Output) -> Result<bool> {
    let mut any_maybe = false;
    for line in lines {
        any_maybe |= line != no;
        out.line(&line)?;
    }
    Ok(any_maybe)
}

/// The range holds no key.
const NO: &str = "no";
/// The count of such a range.
const NONE: &str = "0";

fn count_text(CountBounds { min, max }: CountBounds) -> String {
    if min == max { max.to_string() } else { format!("{min}-{max}") }
}

/// Where the first key of `range` can be.
fn first_text<K: ShowKey + ?Sized>(
    filter: &dyn SeekCandidate<K>,
    range: KeyRange<'_, K>,
    key_type: KeyType,
) -> String {
    let (lo, _) = K::ends(range);
    let mut key = K::to_owned(lo);
    let found = filter.may_contain_range(range) && filter.first_candidate(lo, &mut key).is_some();
    if found && K::contains(range, K::borrow(&key)) {
        format!("from {}", K::text(&key, key_type))
    } else {
        NO.to_owned()
    }
}

/// Where the last key of `range` can be.
fn last_text<K: ShowKey + ?Sized>(
    filter: &dyn SeekCandidate<K>,
    range: KeyRange<'_, K>,
    key_type: KeyType,
) -> String {
    let (lo, hi) = K::ends(range);
    let Some(mut key) = hi.map(K::to_owned).filter(|_| filter.may_contain_range(range)) else {
        return NO.to_owned();
    };
    let asked = key.clone();
    let Some(found) = filter.last_candidate(K::borrow(&asked), &mut key) else { return NO.to_owned() };
    let starts = K::to_owned(lo);
    // Below the start of the range nothing is in it.
    if key < starts || found.is_excluded && key == starts {
        return NO.to_owned();
    }
    let side = if found.is_excluded { "below" } else { "through" };
    format!("{side} {}", K::text(&key, key_type))
}
