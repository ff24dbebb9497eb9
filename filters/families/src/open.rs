//! From bytes to a filter.

use lacuna_base::{DynFilter, Envelope, KeySpace, KeySpaceId, RangeFilter, Result};

use crate::families::Families;
use crate::family::{FamilyKey, FilterVisitor};
use crate::frame::FilterBytes;
use crate::table::visit;

/// Puts the filter into a box.
pub(crate) struct IntoBox;

impl<K: KeySpace + ?Sized> FilterVisitor<K> for IntoBox {
    type Output = Box<DynFilter<K>>;
    fn visit<F: RangeFilter<K> + 'static>(self, filter: F) -> Self::Output {
        Box::new(filter)
    }
}

/// A key space whose filters this crate can open: `u64` or `[u8]`.
#[expect(private_bounds, reason = "its two implementations are all there are")]
pub trait OpenFilter: FamilyKey {
    /// Opens the family named in the envelope over this key space.
    ///
    /// # Errors
    /// As [`open`].
    fn open_kind<B: FilterBytes>(envelope: Envelope, bytes: B) -> Result<Box<DynFilter<Self>>> {
        Self::visit_kind(envelope, bytes, IntoBox)
    }

    /// Opens the family named in the envelope and shows it to `visitor`, without an allocation.
    ///
    /// # Errors
    /// As [`open`]; the visitor is then not called.
    fn visit_kind<B: FilterBytes, V: FilterVisitor<Self>>(
        envelope: Envelope,
        bytes: B,
        visitor: V,
    ) -> Result<V::Output> {
        visit::<Families, _, _, _>(envelope, bytes, visitor)
    }
}

impl<K: FamilyKey + ?Sized> OpenFilter for K {}

/// Opens a filter over its bytes in O(1): for bytes that another layer has checksummed, such as an engine's block.
/// Whatever the payload holds, queries stay in bounds and terminate. The box is the only allocation.
///
/// # Errors
/// `Unsupported` if the filter is newer than this code or over other keys than `K`; `Corrupt` for anything else that
/// does not hold together. Either way: read the data.
pub fn open<K: OpenFilter + ?Sized, B: FilterBytes>(bytes: B) -> Result<Box<DynFilter<K>>> {
    let (envelope, _) = Envelope::open(bytes.as_ref())?;
    K::open_kind(envelope, bytes)
}

/// As [`open`], and checks the payload's checksum first, in time linear in its length: for files and bindings.
///
/// # Errors
/// As `open`; `Corrupt` also for every flipped bit.
pub fn open_verified<K: OpenFilter + ?Sized, B: FilterBytes>(bytes: B) -> Result<Box<DynFilter<K>>> {
    let (envelope, _) = Envelope::open_verified(bytes.as_ref())?;
    K::open_kind(envelope, bytes)
}

/// A filter over whichever keys its envelope names.
#[derive(Debug)]
pub enum AnyFilter {
    /// Over integers.
    U64(Box<DynFilter<u64>>),
    /// Over byte strings.
    Bytes(Box<DynFilter<[u8]>>),
}

impl AnyFilter {
    /// As [`open_verified`], for keys known only from the bytes.
    ///
    /// # Errors
    /// As `open_verified`.
    pub fn open_verified<B: FilterBytes>(bytes: B) -> Result<(Envelope, Self)> {
        let (envelope, _) = Envelope::open_verified(bytes.as_ref())?;
        let filter = match envelope.key_space {
            KeySpaceId::U64 => Self::U64(u64::open_kind(envelope, bytes)?),
            KeySpaceId::Bytes => Self::Bytes(<[u8]>::open_kind(envelope, bytes)?),
        };
        Ok((envelope, filter))
    }
}
