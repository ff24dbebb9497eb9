//! The bound on probes that a spec states: `probes=N`, or `probes=max` for as many as the family's bytes can say.

use lacuna_base::Result;

use crate::spec_text::SpecText;

/// Most probes of a query, unless the spec says otherwise.
pub(crate) const USUAL_PROBES: u32 = 64;

/// The word for the largest bound.
const LARGEST: &str = "max";

/// A bound of 1 to `MAX` probes, if the spec gives one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ProbeBound<const MAX: u32>(Option<u32>);

impl<const MAX: u32> ProbeBound<MAX> {
    /// The bound nearest to `probes`.
    pub(crate) fn new(probes: u32) -> Self {
        Self(Some(probes.clamp(1, MAX)))
    }

    /// Takes the bound from a spec.
    pub(crate) fn from_text(spec: &mut SpecText<'_>) -> Result<Self> {
        match spec.take_word("probes", LARGEST) {
            true => Ok(Self(Some(MAX))),
            false => spec.take("probes", 1, MAX).map(Self),
        }
    }

    /// The bound that was given.
    pub(crate) fn given(self) -> Option<u32> {
        self.0
    }

    /// The bound, which is `usual` if none was given.
    pub(crate) fn or(self, usual: u32) -> u32 {
        self.0.unwrap_or(usual)
    }

    /// `text` of a spec with the bound after its other parameters.
    pub(crate) fn appended_to(self, text: String) -> String {
        let joint = if text.contains(':') { ',' } else { ':' };
        match self.0 {
            None => text,
            Some(probes) if probes == MAX => format!("{text}{joint}probes={LARGEST}"),
            Some(probes) => format!("{text}{joint}probes={probes}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_written_as_it_is_read() {
        for text in ["proteus", "proteus:probes=7", "proteus:probes=max"] {
            let mut spec = SpecText::parse(text).expect("well formed");
            let bound = ProbeBound::<99>::from_text(&mut spec).expect("in range");
            assert_eq!(bound.appended_to("proteus".to_owned()), text);
        }
        assert_eq!(ProbeBound::<99>::new(100), ProbeBound::<99>::new(99));
        assert_eq!(ProbeBound::<99>::default().or(USUAL_PROBES), 64);
    }

    #[test]
    fn a_bound_beyond_the_largest_is_refused() {
        for text in ["proteus:probes=0", "proteus:probes=100", "proteus:probes=most"] {
            let mut spec = SpecText::parse(text).expect("well formed");
            assert!(ProbeBound::<99>::from_text(&mut spec).is_err(), "{text}");
        }
    }
}
