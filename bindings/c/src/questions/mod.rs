//! Whether a filter may hold keys: one key, a range, many ranges, a prefix.
//!
//! Single questions cannot fail: what is wrong with one (a null filter, keys of another type, null with a length) is a doubt,
//! and doubt is "maybe".

mod floats;
mod many;
mod signed;
mod strings;
mod unsigned;

pub use floats::{lacuna_may_contain_f64, lacuna_may_contain_key_f64, lacuna_may_contain_many_f64};
pub use signed::{lacuna_may_contain_i64, lacuna_may_contain_key_i64, lacuna_may_contain_many_i64};
pub(crate) use strings::bounds_of;
pub use strings::{
    Bound, BoundNumber, lacuna_may_contain_between_bytes, lacuna_may_contain_bytes,
    lacuna_may_contain_key_bytes, lacuna_may_contain_many_bytes, lacuna_may_contain_prefix,
};
pub use unsigned::{lacuna_may_contain_key_u64, lacuna_may_contain_many_u64, lacuna_may_contain_u64};

use lacuna_base::{Error, KeyType, Result, TypedKey, U64Range};

use crate::arguments::{known, shared};
use crate::filter::Filter;
use crate::key_type::{KeyTypeNumber, Values};
use crate::status::{Status, attempt, maybe};

/// Whether a key of the closed range may be there.
///
/// # Safety
/// `filter` is open or null.
#[inline]
unsafe fn asks_range<T: TypedKey>(filter: *const Filter, key_type: Option<KeyType>, lo: T, hi: T) -> bool {
    // SAFETY: as the caller promises.
    let Some(filter) = (unsafe { known(filter) }) else { return true };
    let Some(filter) = filter.for_values::<T>(key_type) else { return true };
    match U64Range::new(lo.to_key(), hi.to_key()) {
        Some(range) => maybe(|| filter.may_contain_range(range)),
        None => false,
    }
}

/// Whether the key may be there.
///
/// # Safety
/// `filter` is open or null.
#[inline]
unsafe fn asks_key<T: TypedKey>(filter: *const Filter, key_type: Option<KeyType>, key: T) -> bool {
    // SAFETY: as the caller promises.
    let Some(filter) = (unsafe { known(filter) }) else { return true };
    let Some(filter) = filter.for_values::<T>(key_type) else { return true };
    maybe(|| filter.may_contain(key.to_key()))
}

impl Filter {
    /// The answerer for values of `T` that are of `key_type`, where the type of C does not settle it.
    #[inline]
    pub(crate) fn for_values<T: TypedKey>(
        &self,
        key_type: Option<KeyType>,
    ) -> Option<&lacuna_base::DynFilter<u64>> {
        if key_type.is_some_and(|asked| asked != self.key_type) {
            return None;
        }
        self.for_integers(Values::of(T::KEY_TYPE)?)
    }
}

impl Filter {
    fn check_key_type(&self, asked: KeyType) -> Result<()> {
        let values =
            Values::of(asked).ok_or_else(|| Error::invalid_input("give a key type that is known"))?;
        match values {
            Values::Strings => many::strings_only(self),
            Values::Unsigned => {
                self.for_values::<u64>(None).map(drop).ok_or_else(|| self.other_values::<u64>(None))
            }
            Values::Floats => {
                self.for_values::<f64>(None).map(drop).ok_or_else(|| self.other_values::<f64>(None))
            }
            Values::Signed => {
                let asked = Some(asked);
                self.for_values::<i64>(asked).map(drop).ok_or_else(|| self.other_values::<i64>(asked))
            }
        }
    }
}

/// Whether a filter answers questions of this type: the status is `LACUNA_STATUS_INVALID_INPUT` if its keys are of another,
/// and it would say "maybe" to all of them. Texts, bytes in hexadecimal and tuples are asked alike. From any thread.
///
/// # Safety
/// `filter` is open or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_check_key_type(filter: *const Filter, key_type: KeyTypeNumber) -> Status {
    // SAFETY: as the caller promises.
    attempt(|| unsafe { shared(filter, "filter") }?.check_key_type(key_type.checked()?))
}
