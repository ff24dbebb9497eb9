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

use lacuna_base::{KeyType, TypedKey, U64Range};

use crate::filter::Filter;
use crate::key_type::Values;
use crate::status::maybe;

/// Whether a key of the closed range may be there.
///
/// # Safety
/// `filter` is open or null.
#[inline]
unsafe fn asks_range<T: TypedKey>(filter: *const Filter, key_type: Option<KeyType>, lo: T, hi: T) -> bool {
    // SAFETY: as the caller promises.
    let Some(filter) = (unsafe { filter.as_ref() }) else { return true };
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
    let Some(filter) = (unsafe { filter.as_ref() }) else { return true };
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
