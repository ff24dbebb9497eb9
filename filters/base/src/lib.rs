//! The contract of Lacuna's range filters: what a key, a range, a filter and a sealed filter are.
//!
//! A range filter answers "can this set hold a key in `[lo, hi]`?". Its one promise is that **"no" is always true**;
//! "maybe" may be wrong, at a rate the filter states. This crate holds what every filter and every user of one shares,
//! and no filter:
//!
//! - [`KeySpace`], [`SortedKeys`], [`U64Range`], [`ByteRange`]: keys and ranges, over `u64` and over byte strings;
//! - [`TypedKey`] and [`mod@tuple`]: order-preserving maps from the types people have to the keys filters take;
//!   [`KeyType`] is how a filter names such a type;
//! - [`KeyCodec`] and [`Cover`]: how an engine's keys and bounds map into a key space;
//! - [`FilterSpec`], [`FilterBuilder`], [`RangeFilter`] and their erased twins [`DynSpec`], [`DynBuilder`], [`DynFilter`];
//! - [`SeekCandidate`], [`CountEstimate`], [`PrefixFilter`], [`InsertKey`], [`RemoveKey`]: what some filters can do beyond that;
//! - [`BuildPlan`], [`Budget`], [`Sample`]: what a builder is given;
//! - [`PredictRate`], [`KeyStatistics`], [`Prediction`]: what would be built, without building it;
//! - [`Envelope`] and [`Sealed`]: the 64-byte header of every filter on disk;
//! - [`hash`]: hashes whose output is fixed for ever; [`wire`]: numbers and byte strings as bytes;
//! - [`Error`] and [`ErrorKind`].
//!
//! ```
//! use lacuna_base::{KeyRange, U64Range};
//!
//! let range: KeyRange<'_, u64> = U64Range::new(10, 20).expect("10 <= 20");
//! assert!(range.contains(20));
//! assert!(U64Range::new(20, 10).is_none());
//! ```

mod abilities;
mod build;
mod codec;
mod columns;
mod crossings;
mod envelope;
mod erased;
mod error;
mod filter;
mod gaps;
pub mod hash;
mod key;
mod key_type;
mod place_map;
mod places;
mod plan;
mod predict;
mod range;
mod sealed;
mod secret;
mod secret_use;
pub mod tuple;
mod typed;
mod window;
pub mod wire;

pub use abilities::{
    Candidate, CountBounds, CountEstimate, InsertKey, PrefixFilter, RemoveKey, SeekCandidate,
};
pub use build::{BuildFromKeys, FilterBuilder, FilterSpec};
pub use codec::{CodecId, Composite, Cover, FixedBe, Head, Identity, KeyCodec};
pub use columns::{ByteColumn, SortedKeys};
pub use envelope::{ENVELOPE_BYTES, ENVELOPE_VERSION, Envelope, KindId};
pub use erased::{DynBuilder, DynFilter, DynSpec};
pub use error::{Error, ErrorKind, Result};
pub use filter::RangeFilter;
pub use gaps::{ByteGapSet, GapSet};
pub use key::{KeyRange, KeySpace, KeySpaceId};
pub use key_type::{KeyType, TimeUnit};
pub use place_map::{LongPlace, PlaceMap};
pub use plan::{Budget, BuildPlan, Sample};
pub use predict::{KeyStatistics, PredictRate, Prediction, RateBound};
pub use range::{ByteRange, U64Range};
pub use sealed::{AlignedBytes, Sealed};
pub use secret::Secret;
pub use secret_use::SecretUse;
pub use typed::{Date, Timestamp, TypedKey, Zorder};
pub use window::{Position, Window};

/// Which rare paths a test walked: for the tests of Lacuna's own crates.
#[doc(hidden)]
pub mod testing {
    pub use crate::crossings::{cross, crossed, forget_crossings};
}

/// Items that Lacuna's own crates share and other crates do not need; they may change at any time.
#[doc(hidden)]
pub mod internal {
    pub use crate::build::CollectingBuilder;
    pub use crate::columns::KeyColumn;
    pub use crate::places::{ABREAST, seek_abreast};
    pub use crate::predict::{PlacedQuery, thinned};
}
