//! Recent queries that returned nothing: what a filter is designed for.

use std::sync::Arc;

use lacuna_base::{Error, KeySpace, Result, Sample as CoreSample, TypedKey};

use crate::arguments::{exclusive, free, lent};
use crate::key_type::Values;
use crate::status::{Status, attempt};

/// Queries without a result, all of one type: the type of the first that is added.
#[derive(Default)]
pub struct Sample {
    queries: Option<Queries>,
}

enum Queries {
    Integers(Values, Arc<CoreSample<u64>>),
    Strings(Arc<CoreSample<[u8]>>),
}

impl Sample {
    fn add_integers(&mut self, values: Values, lo: u64, hi: u64) -> Result<()> {
        let queries = self.queries.get_or_insert_with(|| Queries::Integers(values, Arc::default()));
        match queries {
            Queries::Integers(of, queries) if *of == values => add::<u64>(queries, lo, hi),
            _ => Err(other_values(values)),
        }
    }

    fn add_strings(&mut self, lo: &[u8], hi: &[u8]) -> Result<()> {
        match self.queries.get_or_insert_with(|| Queries::Strings(Arc::default())) {
            Queries::Strings(queries) => add::<[u8]>(queries, lo, hi),
            Queries::Integers(..) => Err(other_values(Values::Strings)),
        }
    }

    /// The queries, for a filter of integers that stand for `values`.
    pub(crate) fn integers(&self, values: Values) -> Result<Arc<CoreSample<u64>>> {
        match &self.queries {
            None => Ok(Arc::default()),
            Some(Queries::Integers(of, queries)) if *of == values => Ok(Arc::clone(queries)),
            Some(_) => Err(other_values(values)),
        }
    }

    /// The queries, for a filter of byte strings.
    pub(crate) fn strings(&self) -> Result<Arc<CoreSample<[u8]>>> {
        match &self.queries {
            None => Ok(Arc::default()),
            Some(Queries::Strings(queries)) => Ok(Arc::clone(queries)),
            Some(_) => Err(other_values(Values::Strings)),
        }
    }
}

fn add<K: KeySpace + ?Sized>(sample: &mut Arc<CoreSample<K>>, lo: K::Ref<'_>, hi: K::Ref<'_>) -> Result<()> {
    if K::shorten(lo) > K::shorten(hi) {
        return Err(Error::invalid_input("the query runs backwards; give the smaller end first"));
    }
    Arc::make_mut(sample).push(lo, hi);
    Ok(())
}

fn other_values(values: Values) -> Error {
    Error::invalid_input(format!("the queries of the sample are not of {}", values.name()))
}

/// A sample without queries, to be freed with `lacuna_sample_free`. From any thread.
#[unsafe(no_mangle)]
pub extern "C" fn lacuna_sample_new() -> *mut Sample {
    Box::into_raw(Box::default())
}

/// Adds the query for keys from `lo` to `hi`, both included. One thread at a time.
///
/// # Safety
/// `sample` came from `lacuna_sample_new` and is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_sample_add_u64(sample: *mut Sample, lo: u64, hi: u64) -> Status {
    // SAFETY: as the caller promises.
    attempt(|| unsafe { exclusive(sample, "sample") }?.add_integers(Values::Unsigned, lo, hi))
}

/// As `lacuna_sample_add_u64`, for signed integers, days and moments.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_sample_add_i64(sample: *mut Sample, lo: i64, hi: i64) -> Status {
    // SAFETY: as the caller promises.
    attempt(|| unsafe { exclusive(sample, "sample") }?.add_integers(Values::Signed, lo.to_key(), hi.to_key()))
}

/// As `lacuna_sample_add_u64`, for floating-point numbers.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_sample_add_f64(sample: *mut Sample, lo: f64, hi: f64) -> Status {
    // SAFETY: as the caller promises.
    attempt(|| unsafe { exclusive(sample, "sample") }?.add_integers(Values::Floats, lo.to_key(), hi.to_key()))
}

/// As `lacuna_sample_add_u64`, for byte strings, which are copied.
///
/// # Safety
/// As there; `lo_size` and `hi_size` bytes are readable at `lo` and `hi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_sample_add_bytes(
    sample: *mut Sample,
    lo: *const u8,
    lo_size: usize,
    hi: *const u8,
    hi_size: usize,
) -> Status {
    attempt(|| {
        // SAFETY: as the caller promises.
        let (sample, lo, hi) =
            unsafe { (exclusive(sample, "sample")?, lent(lo, lo_size, "lo")?, lent(hi, hi_size, "hi")?) };
        sample.add_strings(lo, hi)
    })
}

/// Frees a sample; null is allowed. Plans that name it are not to be used again; filters and builders are not affected.
///
/// # Safety
/// `sample` came from `lacuna_sample_new` and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_sample_free(sample: *mut Sample) {
    // SAFETY: as the caller promises.
    unsafe { free(sample) }
}
