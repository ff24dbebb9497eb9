//! Many ranges at once.
//!
//! Ends come as two columns, and so a filter of unsigned integers takes them; other values become keys on the stack.

use lacuna_base::{DynFilter, Error, Result, TypedKey};

use crate::arguments::{apart, filled, lent, shared};
use crate::filter::Filter;
use crate::key_type::{KeyTypeNumber, Values};
use crate::status::{Status, attempt};

/// Values mapped to keys at a time: two columns of 2 KiB, and far more than a filter keeps in flight.
const AT_ONCE: usize = 256;

/// Answers many ranges by `ask`, all "maybe" where it fails.
///
/// # Safety
/// `filter` is open or null; if not null, `count` values are readable at `lo` and `hi`, and as many may be written at
/// `answers`.
pub(super) unsafe fn answer_many<T: TypedKey>(
    filter: *const Filter,
    key_type: Option<KeyTypeNumber>,
    (lo, hi): (*const T, *const T),
    count: usize,
    answers: *mut bool,
    ask: impl FnOnce(&DynFilter<u64>, &[T], &[T], &mut [bool]),
) -> Status {
    attempt(|| {
        // SAFETY: as the caller promises.
        let answers = unsafe { filled(answers, count, true, "answers") }?;
        apart(answers, lo, count, "lo").and_then(|()| apart(answers, hi, count, "hi"))?;
        // SAFETY: as the caller promises.
        let (filter, lo, hi) =
            unsafe { (shared(filter, "filter")?, lent(lo, count, "lo")?, lent(hi, count, "hi")?) };
        let key_type = key_type.map(KeyTypeNumber::checked).transpose()?;
        let answerer = filter.for_values::<T>(key_type).ok_or_else(|| filter.other_values::<T>(key_type))?;
        ask(answerer, lo, hi, answers);
        Ok(())
    })
}

/// Asks with the keys of the values, some hundred at a time.
pub(super) fn ask_mapped<T: TypedKey>(filter: &DynFilter<u64>, lo: &[T], hi: &[T], answers: &mut [bool]) {
    let (mut los, mut his) = ([0; AT_ONCE], [0; AT_ONCE]);
    for ((lo, hi), answers) in lo.chunks(AT_ONCE).zip(hi.chunks(AT_ONCE)).zip(answers.chunks_mut(AT_ONCE)) {
        filter.may_contain_pairs(keys_of(lo, &mut los), keys_of(hi, &mut his), answers);
    }
}

/// The keys of at most [`AT_ONCE`] values.
fn keys_of<'a, T: TypedKey>(values: &[T], keys: &'a mut [u64; AT_ONCE]) -> &'a [u64] {
    for (key, value) in keys.iter_mut().zip(values) {
        *key = value.to_key();
    }
    &keys[..values.len()]
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
