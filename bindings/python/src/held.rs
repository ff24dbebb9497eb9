//! A filter together with its bytes.

use std::sync::Arc;

use lacuna_base::{AlignedBytes, DynFilter, Envelope, KeySpaceId, Result};
use lacuna_families::AnyFilter;
use memmap2::Mmap;

use crate::form::KeyForm;

/// Sealed bytes in memory, or mapped.
#[derive(Debug, Clone)]
pub(crate) enum Bytes {
    Owned(Arc<AlignedBytes>),
    Mapped(Arc<Mmap>),
}

impl AsRef<[u8]> for Bytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes,
            Self::Mapped(bytes) => bytes,
        }
    }
}

impl From<AlignedBytes> for Bytes {
    fn from(bytes: AlignedBytes) -> Self {
        Self::Owned(Arc::new(bytes))
    }
}

/// An opened filter, its envelope and its bytes.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) filter: AnyFilter,
    pub(crate) envelope: Envelope,
    pub(crate) bytes: Bytes,
}

impl Held {
    /// Opens the filter after checking every byte.
    pub(crate) fn open(bytes: Bytes) -> Result<Self> {
        let (envelope, filter) = AnyFilter::open_verified(bytes.clone())?;
        envelope.check_asked_directly()?;
        Ok(Self { filter, envelope, bytes })
    }

    /// What its keys are.
    #[inline]
    pub(crate) fn form(&self) -> KeyForm {
        KeyForm::of(&self.envelope)
    }

    /// Whether it is over byte strings.
    pub(crate) fn is_over_bytes(&self) -> bool {
        self.envelope.key_space == KeySpaceId::Bytes
    }

    /// The name of its family.
    pub(crate) fn family(&self) -> &'static str {
        lacuna_families::family(self.envelope.kind).map_or("unknown", |family| family.kind.name())
    }

    /// Length of the payload in bits, for each distinct key.
    pub(crate) fn bits_per_key(&self) -> f64 {
        let payload = self.bytes.as_ref().len() - lacuna_base::ENVELOPE_BYTES;
        payload as f64 * 8.0 / self.envelope.key_count.max(1) as f64
    }

    /// See [`RangeFilter::rate_bound`](lacuna_base::RangeFilter::rate_bound).
    pub(crate) fn rate_bound(&self, range_len: u64) -> f64 {
        match &self.filter {
            AnyFilter::U64(filter) => filter.rate_bound(range_len),
            AnyFilter::Bytes(filter) => filter.rate_bound(range_len),
        }
    }

    /// The filter over integers.
    #[inline]
    pub(crate) fn integers(&self) -> Option<&DynFilter<u64>> {
        match &self.filter {
            AnyFilter::U64(filter) => Some(&**filter),
            AnyFilter::Bytes(_) => None,
        }
    }
}
