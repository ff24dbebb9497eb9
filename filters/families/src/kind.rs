//! The families by number, and the one place that turns a number into code.

use std::fmt::Debug;

use lacuna_base::{DynFilter, Envelope, Error, KeySpace, KindId, RangeFilter, Result};

use crate::bloom::{BlockedBloom, Bloom};
use crate::bucketing::Bucketing;
use crate::cuckoo::Cuckoo;
use crate::frame::Frame;
use crate::grafite::Grafite;
use crate::integer::{IntegerFilter, WindowedFilter};
use crate::points::{HashedFilter, Points};
use crate::prefix_bloom::PrefixBloom;
use crate::proteus::{Proteus, StringProteus};
use crate::rencoder::Rencoder;
use crate::rosetta::Rosetta;
use crate::snarf::Snarf;
use crate::surf::Surf;
use crate::two_prefix_bloom::TwoPrefixBloom;

/// A family of this crate; the number is in every sealed filter and never changes its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Kind {
    /// Standard Bloom filter.
    Bloom = 1,
    /// Bloom filter whose bits for a key stand in one cache line.
    BlockedBloom = 2,
    /// Bloom filter of key prefixes.
    PrefixBloom = 3,
    /// Bucketing.
    Bucketing = 4,
    /// Grafite.
    Grafite = 5,
    /// REncoder.
    Rencoder = 6,
    /// SuRF.
    Surf = 7,
    /// Proteus.
    Proteus = 8,
    /// Two Bloom filters of key prefixes.
    TwoPrefixBloom = 9,
    /// Rosetta.
    Rosetta = 10,
    /// SNARF.
    Snarf = 11,
    /// Cuckoo filter.
    Cuckoo = 12,
}

impl Kind {
    /// Every family.
    pub const ALL: [Self; 12] = [
        Self::Bloom,
        Self::BlockedBloom,
        Self::PrefixBloom,
        Self::Bucketing,
        Self::Grafite,
        Self::Rencoder,
        Self::Surf,
        Self::Proteus,
        Self::TwoPrefixBloom,
        Self::Rosetta,
        Self::Snarf,
        Self::Cuckoo,
    ];

    /// The family with this number.
    ///
    /// # Errors
    /// `Unsupported` if this version knows none.
    pub fn from_id(id: KindId) -> Result<Self> {
        Self::ALL.into_iter().find(|kind| kind.id() == id).ok_or_else(|| {
            Error::unsupported(format!("filter family {} is not known to this version; update it", id.0))
        })
    }

    /// Its number in the envelope.
    pub fn id(self) -> KindId {
        KindId(self as u16)
    }

    /// Its name in a spec.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bloom => "bloom",
            Self::BlockedBloom => "blocked_bloom",
            Self::PrefixBloom => "prefix_bloom",
            Self::Bucketing => "bucketing",
            Self::Grafite => "grafite",
            Self::Rencoder => "rencoder",
            Self::Surf => "surf",
            Self::Proteus => "proteus",
            Self::TwoPrefixBloom => "two_prefix_bloom",
            Self::Rosetta => "rosetta",
            Self::Snarf => "snarf",
            Self::Cuckoo => "cuckoo",
        }
    }
}

/// Bytes a filter can be a view over.
pub trait FilterBytes: AsRef<[u8]> + Debug + Send + Sync + 'static {}
impl<B: AsRef<[u8]> + Debug + Send + Sync + 'static> FilterBytes for B {}

/// What to do with a filter whose family only its bytes know.
pub trait FilterVisitor<K: KeySpace + ?Sized> {
    /// What comes of it.
    type Output;
    /// Called once, with the opened filter.
    fn visit<F: RangeFilter<K> + 'static>(self, filter: F) -> Self::Output;
}

/// Puts the filter into a box.
struct IntoBox;

impl<K: KeySpace + ?Sized> FilterVisitor<K> for IntoBox {
    type Output = Box<DynFilter<K>>;
    fn visit<F: RangeFilter<K> + 'static>(self, filter: F) -> Self::Output {
        Box::new(filter)
    }
}

/// A key space whose filters this crate can open: `u64` or `[u8]`.
pub trait OpenFilter: KeySpace {
    /// Opens the family named in the envelope over this key space.
    ///
    /// # Errors
    /// As [`open`](crate::open).
    fn open_kind<B: FilterBytes>(envelope: Envelope, bytes: B) -> Result<Box<DynFilter<Self>>> {
        Self::visit_kind(envelope, bytes, IntoBox)
    }

    /// Opens the family named in the envelope and shows it to `visitor`, without an allocation.
    ///
    /// # Errors
    /// As [`open`](crate::open); the visitor is then not called.
    fn visit_kind<B: FilterBytes, V: FilterVisitor<Self>>(
        envelope: Envelope,
        bytes: B,
        visitor: V,
    ) -> Result<V::Output>;
}

impl OpenFilter for u64 {
    fn visit_kind<B: FilterBytes, V: FilterVisitor<Self>>(
        envelope: Envelope,
        bytes: B,
        visitor: V,
    ) -> Result<V::Output> {
        let frame = Frame::whole(envelope, bytes)?;
        Ok(match Kind::from_id(envelope.kind)? {
            Kind::Bloom => visitor.visit(IntegerFilter::<B, Points<Bloom>>::open(frame)?),
            Kind::BlockedBloom => visitor.visit(IntegerFilter::<B, Points<BlockedBloom>>::open(frame)?),
            Kind::PrefixBloom => visitor.visit(IntegerFilter::<B, PrefixBloom>::open(frame)?),
            Kind::Bucketing => visitor.visit(IntegerFilter::<B, Bucketing>::open(frame)?),
            Kind::Grafite => visitor.visit(IntegerFilter::<B, Grafite>::open(frame)?),
            Kind::Rencoder => visitor.visit(IntegerFilter::<B, Rencoder>::open(frame)?),
            Kind::Surf => visitor.visit(Surf::<Self, B>::in_frame(frame)?),
            Kind::Proteus => visitor.visit(IntegerFilter::<B, Proteus>::open(frame)?),
            Kind::TwoPrefixBloom => visitor.visit(IntegerFilter::<B, TwoPrefixBloom>::open(frame)?),
            Kind::Rosetta => visitor.visit(IntegerFilter::<B, Rosetta>::open(frame)?),
            Kind::Snarf => visitor.visit(IntegerFilter::<B, Snarf>::open(frame)?),
            Kind::Cuckoo => visitor.visit(IntegerFilter::<B, Points<Cuckoo>>::open(frame)?),
        })
    }
}

impl OpenFilter for [u8] {
    fn visit_kind<B: FilterBytes, V: FilterVisitor<Self>>(
        envelope: Envelope,
        bytes: B,
        visitor: V,
    ) -> Result<V::Output> {
        let frame = Frame::with_prefix(envelope, bytes)?;
        Ok(match Kind::from_id(envelope.kind)? {
            Kind::Bloom => visitor.visit(HashedFilter::<B, Bloom>::open(frame)?),
            Kind::BlockedBloom => visitor.visit(HashedFilter::<B, BlockedBloom>::open(frame)?),
            Kind::PrefixBloom => visitor.visit(WindowedFilter::<B, PrefixBloom>::open(frame)?),
            Kind::Bucketing => visitor.visit(WindowedFilter::<B, Bucketing>::open(frame)?),
            Kind::Grafite => visitor.visit(WindowedFilter::<B, Grafite>::open(frame)?),
            Kind::Rencoder => visitor.visit(WindowedFilter::<B, Rencoder>::open(frame)?),
            Kind::Surf => visitor.visit(Surf::<Self, B>::in_frame(frame)?),
            Kind::Proteus => visitor.visit(StringProteus::open(frame)?),
            Kind::TwoPrefixBloom => visitor.visit(WindowedFilter::<B, TwoPrefixBloom>::open(frame)?),
            Kind::Rosetta => visitor.visit(WindowedFilter::<B, Rosetta>::open(frame)?),
            Kind::Snarf => visitor.visit(WindowedFilter::<B, Snarf>::open(frame)?),
            Kind::Cuckoo => visitor.visit(HashedFilter::<B, Cuckoo>::open(frame)?),
        })
    }
}
