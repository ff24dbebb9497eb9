//! Many ranges at once.
//!
//! Ends come as two columns, a filter takes pairs: they are put together on the stack, some hundred at a time.

use lacuna_base::{Error, Result, TypedKey, U64Range};

use crate::arguments::{filled, lent, shared};
use crate::filter::Filter;
use crate::key_type::{KeyTypeNumber, Values};
use crate::status::{Status, attempt};

/// Ranges put together at a time: 4 KiB, and far more than a filter keeps in flight.
const AT_ONCE: usize = 256;

/// Answers many ranges, all "maybe" where it fails.
///
/// # Safety
/// `filter` is open or null; if not null, `count` values are readable at `lo` and `hi`, and as many may be written at
/// `answers`.
pub(super) unsafe fn answer_many<T: TypedKey>(
    filter: *const Filter,
    key_type: Option<KeyTypeNumber>,
    lo: *const T,
    hi: *const T,
    count: usize,
    answers: *mut bool,
) -> Status {
    attempt(|| {
        // SAFETY: as the caller promises.
        let answers = unsafe { filled(answers, count, true, "answers") }?;
        // SAFETY: as the caller promises.
        let (filter, lo, hi) =
            unsafe { (shared(filter, "filter")?, lent(lo, count, "lo")?, lent(hi, count, "hi")?) };
        let key_type = key_type.map(KeyTypeNumber::checked).transpose()?;
        let answerer = filter.for_values::<T>(key_type).ok_or_else(|| filter.other_values::<T>(key_type))?;
        let mut ranges = [U64Range::point(0); AT_ONCE];
        for ((lo, hi), answers) in lo.chunks(AT_ONCE).zip(hi.chunks(AT_ONCE)).zip(answers.chunks_mut(AT_ONCE))
        {
            let ranges = &mut ranges[..answers.len()];
            let all_in_order = put_together(lo, hi, ranges);
            answerer.may_contain_ranges(ranges, answers);
            if !all_in_order {
                deny_inverted(lo, hi, answers);
            }
        }
        Ok(())
    })
}

/// Makes pairs of both columns; whether all of them are in order.
fn put_together<T: TypedKey>(lo: &[T], hi: &[T], ranges: &mut [U64Range]) -> bool {
    let mut all_in_order = true;
    for ((range, lo), hi) in ranges.iter_mut().zip(lo).zip(hi) {
        *range = match U64Range::new(lo.to_key(), hi.to_key()) {
            Some(range) => range,
            None => stand_in(lo.to_key(), &mut all_in_order),
        };
    }
    all_in_order
}

/// A range in the place of an inverted one. Cold, so that the loop around it has a branch that is foreseen, and no more.
#[cold]
fn stand_in(lo: u64, all_in_order: &mut bool) -> U64Range {
    *all_in_order = false;
    U64Range::point(lo)
}

/// Inverted ranges hold no key.
fn deny_inverted<T: TypedKey>(lo: &[T], hi: &[T], answers: &mut [bool]) {
    for ((answer, lo), hi) in answers.iter_mut().zip(lo).zip(hi) {
        *answer &= lo.to_key() <= hi.to_key();
    }
}

impl Filter {
    /// Why the filter is not asked with values of `T`.
    pub(crate) fn other_values<T: TypedKey>(&self, asked: Option<lacuna_base::KeyType>) -> Error {
        let asked = match (asked, Values::of(T::KEY_TYPE)) {
            (Some(asked), _) => asked.to_string(),
            (None, values) => values.map_or("unknown", Values::name).to_owned(),
        };
        Error::invalid_input(format!("{}, and was asked with {asked}", self.keys_in_words()))
    }

    fn keys_in_words(&self) -> String {
        match (&self.codec, self.key_type) {
            (Some(codec), _) => format!("the filter's keys went through codec {codec}"),
            (None, lacuna_base::KeyType::Unknown) => {
                let values = match self.answers {
                    crate::filter::Answers::Integers(_) => Values::Unsigned,
                    crate::filter::Answers::Strings(_) => Values::Strings,
                };
                format!("the filter's keys are {}", values.name())
            }
            (None, noted) => format!("the filter's keys are of type {noted}"),
        }
    }
}

/// The result of a question to a filter of byte strings.
pub(super) fn strings_only(filter: &Filter) -> Result<()> {
    if filter.takes_strings() { Ok(()) } else { Err(filter.other_strings()) }
}
