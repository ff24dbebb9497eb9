//! What a fake does otherwise than a correct filter.

use lacuna_base::{Error, KindId, Result};

/// One deviation; its place in [`Quirk::ALL`] is in the envelope, so that an opened fake knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quirk {
    // Correct:
    None,
    Salted,
    Marked,
    // Wrong answers:
    DeniesAKey,
    DeniesTheThird,
    DeniesTheLargest,
    DeniesWideRanges,
    DeniesPoints,
    EmptySaysMaybe,
    InvertedSaysMaybe,
    BatchDiffers,
    PairsDiffer,
    InvertedPairSaysMaybe,
    // Panics:
    PanicsOnZero,
    PanicsOnDamage,
    HangsOnDamage,
    // Wrong bytes, sizes and counts:
    OverBudget,
    NamesTooSmallABudget,
    Unstable,
    IsaDecides,
    BuilderDiffers,
    TakesUnsorted,
    CountsRepeats,
    Miscounts,
    ForgetsItsName,
    // Trust in damaged or newer bytes:
    TakesNewer,
    NeedsAlignment,
    // Cost and rate:
    QueriesAllocate,
    OpeningAllocates,
    LiesAboutRate,
    LiesAboutExactness,
    // State:
    CountsQueries,
}

impl Quirk {
    const ALL: [Self; 32] = [
        Self::None,
        Self::Salted,
        Self::Marked,
        Self::DeniesAKey,
        Self::DeniesTheThird,
        Self::DeniesTheLargest,
        Self::DeniesWideRanges,
        Self::DeniesPoints,
        Self::EmptySaysMaybe,
        Self::InvertedSaysMaybe,
        Self::BatchDiffers,
        Self::PairsDiffer,
        Self::InvertedPairSaysMaybe,
        Self::PanicsOnZero,
        Self::PanicsOnDamage,
        Self::HangsOnDamage,
        Self::OverBudget,
        Self::NamesTooSmallABudget,
        Self::Unstable,
        Self::IsaDecides,
        Self::BuilderDiffers,
        Self::TakesUnsorted,
        Self::CountsRepeats,
        Self::Miscounts,
        Self::ForgetsItsName,
        Self::TakesNewer,
        Self::NeedsAlignment,
        Self::QueriesAllocate,
        Self::OpeningAllocates,
        Self::LiesAboutRate,
        Self::LiesAboutExactness,
        Self::CountsQueries,
    ];

    /// The number of the fake with this quirk in the envelope.
    pub(crate) fn kind(self) -> KindId {
        KindId(0x8000 + self as u16)
    }

    pub(crate) fn of_kind(kind: KindId) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|quirk| quirk.kind() == kind);
        found.ok_or_else(|| Error::unsupported("no such fake"))
    }

    /// The spec's text: `fake:deniesakey`.
    pub(crate) fn text(self) -> String {
        match self {
            Self::None => "fake".to_owned(),
            quirk => format!("fake:{quirk:?}").to_lowercase(),
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|quirk| quirk.text() == text);
        found.ok_or_else(|| Error::invalid_input(format!("there is no fake `{text}`")))
    }
}
