//! The interface of a family's folder: a spec with a name, costs, and how its bytes are opened.
//!
//! A folder implements [`FilterFamily`] for its spec; the table in [`families`](crate::families) lists the spec. Everything
//! that works for each family alike (reading specs, opening bytes, predicting) is written once, over these traits.

use lacuna_base::{
    BuildFromKeys, DynSpec, Envelope, KeySpace, KeyStatistics, PredictRate, Prediction, RangeFilter, Result,
};

use crate::costs::ProbeCosts;
use crate::frame::{FilterBytes, Frame};
use crate::kind::Kind;
use crate::spec_text::SpecText;

/// A spec that names a family, over both key spaces.
pub(crate) trait FilterFamily:
    BuildFromKeys<u64> + BuildFromKeys<[u8]> + PredictRate<u64> + PredictRate<[u8]> + 'static
{
    /// Number and name.
    const KIND: Kind;
    /// A description in one sentence.
    const ABOUT: &'static str;
    /// A spec that names it with everything that can be set.
    const EXAMPLE: &'static str;
    /// The cost of a question.
    const COSTS: ProbeCosts;

    /// The opened filter over integers.
    type OverIntegers<B: FilterBytes>: OpenFrame<B> + RangeFilter<u64> + 'static;
    /// The opened filter over byte strings.
    type OverStrings<B: FilterBytes>: OpenFrame<B> + RangeFilter<[u8]> + 'static;

    /// Takes the spec's parameters out of its text.
    ///
    /// # Errors
    /// `InvalidInput` if a value is out of range.
    fn from_text(spec: &mut SpecText<'_>) -> Result<Self>;
}

/// A filter that is a view over its frame.
pub(crate) trait OpenFrame<B>: Sized {
    /// Whether ranges of byte strings are asked as integers, by the frame's window or place map.
    const SEES_INTEGERS: bool;
    /// Reads the body's header in O(1), without allocating.
    ///
    /// # Errors
    /// `Unsupported` if the payload is newer than this code; `Corrupt` if it does not hold together.
    fn open(frame: Frame<B>) -> Result<Self>;
}

/// Work for a filter whose family is known from its bytes only.
pub trait FilterVisitor<K: KeySpace + ?Sized> {
    /// The result.
    type Output;
    /// Called once, with the opened filter.
    fn visit<F: RangeFilter<K> + 'static>(self, filter: F) -> Self::Output;
}

/// A key space that every family is implemented over: `u64` or `[u8]`. Each method picks a family's half.
pub(crate) trait FamilyKey: KeySpace {
    /// Opens a filter and hands it to `visitor`.
    fn visit_family<F: FilterFamily, B: FilterBytes, V: FilterVisitor<Self>>(
        envelope: Envelope,
        bytes: B,
        visitor: V,
    ) -> Result<V::Output>;

    /// The spec, erased.
    fn erase<F: FilterFamily>(spec: F) -> Box<dyn DynSpec<Self>>;

    /// The prediction for the filter of `spec`.
    fn predict<F: FilterFamily>(spec: &F, known: &KeyStatistics<'_, Self>) -> Result<Prediction>;
}

impl FamilyKey for u64 {
    fn visit_family<F: FilterFamily, B: FilterBytes, V: FilterVisitor<Self>>(
        envelope: Envelope,
        bytes: B,
        visitor: V,
    ) -> Result<V::Output> {
        Ok(visitor.visit(F::OverIntegers::open(Frame::whole(envelope, bytes)?)?))
    }
    fn erase<F: FilterFamily>(spec: F) -> Box<dyn DynSpec<Self>> {
        Box::new(spec)
    }
    fn predict<F: FilterFamily>(spec: &F, known: &KeyStatistics<'_, Self>) -> Result<Prediction> {
        PredictRate::predict(spec, known)
    }
}

impl FamilyKey for [u8] {
    fn visit_family<F: FilterFamily, B: FilterBytes, V: FilterVisitor<Self>>(
        envelope: Envelope,
        bytes: B,
        visitor: V,
    ) -> Result<V::Output> {
        Ok(visitor.visit(F::OverStrings::open(Frame::with_prefix(envelope, bytes)?)?))
    }
    fn erase<F: FilterFamily>(spec: F) -> Box<dyn DynSpec<Self>> {
        Box::new(spec)
    }
    fn predict<F: FilterFamily>(spec: &F, known: &KeyStatistics<'_, Self>) -> Result<Prediction> {
        PredictRate::predict(spec, known)
    }
}
