//! Codecs: how an engine's keys and bounds map into a key space.
//!
//! A codec obeys one law: **every key inside the bounds maps into their cover**. Where it has no cover, it returns
//! [`Cover::Unknown`], and the engine reads.

use std::fmt::Debug;
use std::ops::Bound;

use crate::error::Result;
use crate::key::{KeyRange, KeySpace};
use crate::range::ByteRange;

mod composite;
mod fixed_be;
mod head;

pub use composite::Composite;
pub use fixed_be::FixedBe;
pub use head::Head;

/// A codec and its parameter, as noted in the envelope and in an engine's policy name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CodecId {
    /// Number of the codec; 0 is [`Identity`], and from `0x8000` on they are free for programs.
    pub number: u16,
    /// Its parameter; 0 where it has none.
    pub parameter: u64,
}

impl CodecId {
    /// Keys as they are.
    pub const IDENTITY: Self = Self { number: 0, parameter: 0 };
}

/// What is known about the keys between two bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cover<R> {
    /// No key can lie between them.
    Empty,
    /// Every key between them maps into this range.
    Range(R),
    /// Nothing is known: read.
    Unknown,
}

/// Maps an engine's byte keys into the key space `K`.
pub trait KeyCodec<K: KeySpace + ?Sized>: Debug + Send + Sync {
    /// Its number and parameter. They stand in every filter for one map of keys and bounds, for ever: a filter is asked through
    /// any codec that has the same, and another map would make it deny keys that are there. Numbers below `0x8000` are those of this
    /// project.
    fn id(&self) -> CodecId;

    /// Its name with parameters, such as `fixed_be:8`.
    fn name(&self) -> String;

    /// The key that `key` maps to.
    ///
    /// # Errors
    /// `InvalidInput` if the codec has no place for this key; a filter over it must then not be made.
    fn key<'a>(&self, key: &'a [u8]) -> Result<K::Ref<'a>>;

    /// A range that holds the image of every key between the bounds.
    fn cover<'a>(&self, lo: Bound<&'a [u8]>, hi: Bound<&'a [u8]>) -> Cover<KeyRange<'a, K>>;
}

/// Byte keys as they are; exclusive bounds stay exclusive.
///
/// ```
/// use lacuna_base::{Cover, Identity, KeyCodec};
/// use std::ops::Bound::Included;
///
/// let Cover::Range(range) = Identity.cover(Included(b"a"), Included(b"b")) else { panic!("not empty") };
/// assert!(range.contains(b"aa"));
/// assert!(matches!(Identity.cover(Included(b"b"), Included(b"a")), Cover::Empty));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity;

impl KeyCodec<[u8]> for Identity {
    fn id(&self) -> CodecId {
        CodecId::IDENTITY
    }
    fn name(&self) -> String {
        "bytes".to_owned()
    }
    fn key<'a>(&self, key: &'a [u8]) -> Result<&'a [u8]> {
        Ok(key)
    }
    fn cover<'a>(&self, lo: Bound<&'a [u8]>, hi: Bound<&'a [u8]>) -> Cover<ByteRange<'a>> {
        ByteRange::from_bounds(lo, hi).map_or(Cover::Empty, Cover::Range)
    }
}
